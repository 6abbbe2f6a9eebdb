"""`seamline publish`: an export to a dataset repository of the Hugging Face Hub, with the official client."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from export.check import check_files
from export.run import SUMS
from homes.console import warn
from homes.errors import ExportError

T = TypeVar("T")

WAITS = (2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds before each new attempt, where the Hub is busy or out of reach; a longer Retry-After is kept to."""

TIMEOUT_SECONDS = 300.0
"""For one answer of the Hub; the client itself would wait for ever."""

COMMIT_FILES = 2000
"""Files in one commit: most exports are one."""

_HUBS_OWN = {".gitattributes"}


@dataclass
class Plan:
    """What the repository lacks. `extra` is there and not in the export."""

    added: list[str]
    changed: list[str]
    same: list[str]
    extra: list[str]
    prune: bool

    @property
    def deleted(self) -> list[str]:
        return self.extra if self.prune else []

    @property
    def is_done(self) -> bool:
        return not (self.added or self.changed or self.deleted)

    def lines(self) -> Iterator[str]:
        yield from (f"add     {path}" for path in self.added)
        yield from (f"change  {path}" for path in self.changed)
        yield from (f"delete  {path}" for path in self.deleted)
        if self.extra and not self.prune:
            yield f"kept: {len(self.extra)} files that are not in the export (--prune removes them)"
        yield f"unchanged: {len(self.same)} files"


def publish(
    folder: Path, repo_id: str, create: bool = False, public: bool = False, dry_run: bool = False, prune: bool = False
) -> list[str]:
    """Make the repository hold what the export at `folder` holds; returns what was done, or would be (`dry_run`).

    Raises ExportError where the export is not as it was written, the Hub refuses, or keeps failing.
    """
    folder = folder.expanduser().resolve()
    local = [*sorted(check_files(folder)), SUMS]
    api = _client()
    plan = _plan(api, folder, repo_id, local, prune)
    if plan is None and not create:
        raise ExportError(
            f"{repo_id}: no such dataset on the Hub, or your login may not see it; --create makes it (private, unless "
            "--public)"
        )
    if dry_run:
        begins = [f"create  {repo_id} ({'public' if public else 'private'})"] if plan is None else []
        return [*begins, *(plan or Plan(local, [], [], [], prune)).lines(), "dry run: nothing was sent"]
    if plan is None:
        _retried(repo_id, lambda: api.create_repo(repo_id, repo_type="dataset", private=not public, exist_ok=True))
        plan = _plan(api, folder, repo_id, local, prune) or Plan(local, [], [], [], prune)
    planned = list(plan.lines())
    commits = _upload(api, folder, repo_id, local, plan)
    left = _plan(api, folder, repo_id, local, prune)
    if left is None or not left.is_done:
        wrong = [*left.added, *left.changed, *left.deleted] if left else [repo_id]
        raise ExportError(f"{repo_id}: after uploading, {wrong[0]} is not what the export holds; run the command again")
    return [*planned, f"{repo_id}: holds the {len(local)} files of {folder} ({commits} commits)"]


def _upload(api: Any, folder: Path, repo_id: str, local: list[str], plan: Plan) -> int:
    """Commit what the plan lacks; returns the number of commits.

    After a failure the listing is read again: a commit whose answer was lost exists all the same.
    """
    waits, commits = list(WAITS), 0
    while not plan.is_done:
        try:
            _commit(api, folder, repo_id, plan)
            commits += 1
        except Exception as error:
            _wait_or_raise(repo_id, error, waits)
        plan = _plan(api, folder, repo_id, local, plan.prune) or plan
    return commits


def _commit(api: Any, folder: Path, repo_id: str, plan: Plan) -> None:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    # The lists go last, so that they never tell of files that are not there yet.
    changes = sorted([*plan.added, *plan.changed], key=lambda path: (path == SUMS, path))[:COMMIT_FILES]
    operations: list[CommitOperationAdd | CommitOperationDelete]
    operations = [CommitOperationAdd(path, folder / path) for path in changes]
    operations += [CommitOperationDelete(path) for path in plan.deleted[: COMMIT_FILES - len(changes)]]
    message = f"Export: {len(changes)} files, {len(operations) - len(changes)} removed"
    api.create_commit(repo_id, operations, commit_message=message, repo_type="dataset")


def _plan(api: Any, folder: Path, repo_id: str, local: list[str], prune: bool) -> Plan | None:
    """What the repository lacks; None where there is none."""
    from huggingface_hub.errors import RepositoryNotFoundError

    def listing() -> dict[str, Any] | None:
        try:
            found = api.list_repo_tree(repo_id, repo_type="dataset", recursive=True)
            return {file.path: file for file in found if hasattr(file, "blob_id")}
        except RepositoryNotFoundError:
            return None

    remote = _retried(repo_id, listing)
    if remote is None:
        return None
    shared = [path for path in local if path in remote]
    same = [path for path in shared if _is_same(folder / path, remote[path])]
    return Plan(
        added=[path for path in local if path not in remote],
        changed=[path for path in shared if path not in set(same)],
        same=same,
        extra=sorted(set(remote) - set(local) - _HUBS_OWN),
        prune=prune,
    )


def _is_same(path: Path, remote: Any) -> bool:
    """Whether the Hub's file has this content: by SHA-256 where it is kept in LFS, else by git's own digest."""
    size = path.stat().st_size
    if size != remote.size:
        return False
    with open(path, "rb") as handle:
        if remote.lfs:
            return hashlib.file_digest(handle, "sha256").hexdigest() == remote.lfs.sha256
        return hashlib.sha1(b"blob %d\0" % size + handle.read()).hexdigest() == remote.blob_id


def _client() -> Any:
    """The official client, with its own login, and a limit to its patience."""
    import httpx2
    from huggingface_hub import HfApi, set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    def patient() -> httpx2.Client:
        client = default_client_factory()
        client.timeout = httpx2.Timeout(TIMEOUT_SECONDS, connect=30.0)
        return client

    set_client_factory(patient)
    return HfApi()


def _retried(repo_id: str, work: Callable[[], T]) -> T:
    waits = list(WAITS)
    while True:
        try:
            return work()
        except Exception as error:
            _wait_or_raise(repo_id, error, waits)


def _wait_or_raise(repo_id: str, error: Exception, waits: list[float]) -> None:
    """Wait (a time taken from `waits`) where another attempt may succeed; else raise what to do."""
    import httpx2

    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    is_busy = status == 429 or (status is not None and status >= 500)
    is_passing = is_busy or (status is None and isinstance(error, (httpx2.TransportError, OSError)))
    if not is_passing or not waits:
        raise ExportError(f"{repo_id}: {_explain(repo_id, error, status, is_passing)}") from error
    seconds = max(waits.pop(0), _retry_after(response))
    warn(f"{repo_id}: {_first_line(error)}; trying again in {seconds:g} s")
    time.sleep(seconds)


def _explain(repo_id: str, error: Exception, status: int | None, is_passing: bool) -> str:
    message = _first_line(error)
    if status == 401:
        return f"the Hub does not know who asks ({message}); log in with `hf auth login`, or set HF_TOKEN"
    if status == 403:
        return f"your Hub login may not write there ({message}); use a token with write access to {repo_id}"
    if is_passing:
        return f"the Hub keeps failing ({message}); run the command again: what is there is not sent twice"
    return f"the Hub refuses it ({message})"


def _retry_after(response: Any) -> float:
    text = response.headers.get("Retry-After", "") if response is not None else ""
    return min(float(text), 600.0) if text.isdigit() else 0.0


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
