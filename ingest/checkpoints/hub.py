"""Reader of checkpoints on the Hub: each branch of a model repo, by its small metadata files alone."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from homes.errors import SourceError
from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from ingest.checkpoints.companions import entry_rows, stem_of
from ingest.checkpoints.files import read_metadata
from ingest.checkpoints.names import JSON_FILES, STATE_FILES, is_checkpoint_file, is_part_name, step_of
from ingest.formats.rows import rows_to_batches

PREFIX = "hf:"
_TIMEOUT_SECONDS = 60.0
_LAST = "last-checkpoint"
"""Where transformers pushes the newest checkpoint of a run that goes on."""

Rows = dict[str, list[dict[str, Any]]]


def find(place: str) -> list[str]:
    """What `hf:ORG` or `hf:ORG/REPO` names: `hf:ORG/REPO` for each repo of checkpoints, `hf:ORG` for its companions."""
    parts = place.removeprefix(PREFIX).strip("/").split("/")
    if not all(parts) or len(parts) > 2:
        raise SourceError(f"{place}: no such place on the Hub; write hf:ORG or hf:ORG/REPO")
    from huggingface_hub import HfApi

    with _explained_failures(place):
        if len(parts) == 2:
            HfApi().list_repo_refs("/".join(parts))
            return [PREFIX + "/".join(parts)]
        models = [model.id for model in HfApi().list_models(author=parts[0])]
    repos = [f"{PREFIX}{name}" for name in sorted(models) if not stem_of(name)]
    return [*repos, PREFIX + parts[0]]


def identify(place: str, kind: str) -> Source:
    """The source at a place that `find` gave; its digest changes when a branch moves.

    A repo that is listed but refused is a source too: `read` quarantines it.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    name = place.removeprefix(PREFIX)
    if "/" in name:
        with _explained_failures(place):
            try:
                state = [[branch, commit] for branch, commit in _branches(HfApi(), name)]
            except HfHubHTTPError as error:
                state = [["refused", _first_line(error)]]
    else:
        state = [[str(value) for value in companion] for companion in _companions(name)]
    digest = hashlib.sha256(json.dumps(state).encode()).hexdigest()
    return Source(kind, f"{file_stem(name.replace('/', '--'))}-{short_digest(f'{kind}:{place}')}", place, digest, 0)


def read(source: Source) -> Batches:
    """Rows of one repo (a checkpoint for each branch that holds one), or of an organisation's companion repos."""
    name = source.path.removeprefix(PREFIX)
    if "/" not in name:
        yield from _read_companions(name)
    else:
        with tempfile.TemporaryDirectory() as cache, _explained_failures(source.path):
            yield from _read_repo(name, Path(cache))


def _read_repo(repo: str, cache: Path) -> Batches:
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    rows: Rows = {f"checkpoint_{name}": [] for name in ("folders", "files", "configs", "states")}
    try:
        branches = _branches(api, repo)
    except HfHubHTTPError as error:
        yield quarantine("line 1", f"the Hub refuses it: {_first_line(error)}")
        return
    for branch, commit in branches:
        try:
            info = api.model_info(repo, revision=commit, timeout=_TIMEOUT_SECONDS)
            names = sorted(sibling.rfilename for sibling in info.siblings or ())
            for folder in _folders(names):
                held = {name.removeprefix(folder): name for name in names if name.startswith(folder)}
                found = [
                    (name, Path(hf_hub_download(repo, held[name], revision=commit, cache_dir=cache)).read_bytes())
                    for name in (*JSON_FILES, *STATE_FILES)
                    if name in held
                ]
                yield from _add(rows, repo, branch, folder, held, found)
        except HfHubHTTPError as error:
            yield quarantine(f"line 1 of branch {branch}", f"the Hub refuses it: {_first_line(error)}")
    yield from rows_to_batches(rows)


def _folders(names: list[str]) -> list[str]:
    """Where checkpoints lie in a repo: at its top (the empty text), and in folders that are named for a step or hold an
    adapter, each with its last slash."""
    found = {name.rpartition("/")[0] for name in names if is_checkpoint_file(name.rpartition("/")[2])}
    adapters = {name.rpartition("/")[0] for name in names if name.endswith("/adapter_config.json")}
    return sorted(f"{folder}/" if folder else "" for folder in found if _is_own(folder) or folder in adapters)


def _is_own(folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return not folder or name == _LAST or step_of(name) is not None


def _add(
    rows: Rows, repo: str, branch: str, folder: str, held: Iterable[str], found: list[tuple[str, bytes]]
) -> Batches:
    """Add the rows of one checkpoint in a repo; yields what can't be read."""
    idx = len(rows["checkpoint_folders"])
    inner = folder.rstrip("/")
    model_id = "/".join(part for part in (repo, inner) if part) + ("" if branch == "main" else f"@{branch}")
    rows["checkpoint_folders"].append(
        {
            "folder_idx": idx,
            "source_kind": "hub",
            "org": repo.split("/")[0],
            "repo": repo,
            "branch": branch,
            "model_id": model_id,
            "step_name": step_of(inner.rpartition("/")[2]),
            "folder_path": f"{PREFIX}{repo}@{branch}" + (f"/{inner}" if inner else ""),
        }
    )
    rows["checkpoint_files"] += [{"folder_idx": idx, "file_name": name} for name in held if is_part_name(name)]
    for name, raw in found:
        table, row, problem = read_metadata(idx, name, f"{folder}{name} on branch {branch}", raw)
        rows[table].append(row)
        if problem:
            yield quarantine(*problem)


def _read_companions(org: str) -> Batches:
    """Rows of an organisation's companion repos, and of what each holds."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    rows: Rows = {"hub_companions": [], "companion_entries": []}
    for repo, kind, commit in _companions(org):
        rows["hub_companions"].append({"repo": repo, "repo_type": kind, "source_kind": "hub"})
        try:
            read = api.model_info if kind == "model" else api.dataset_info
            info = read(repo, revision=commit or "main", timeout=_TIMEOUT_SECONDS, files_metadata=True)
        except HfHubHTTPError as error:
            yield quarantine(f"line 1 of {repo}", f"the Hub refuses it: {_first_line(error)}")
            continue
        contents = [(sibling.rfilename, sibling.size) for sibling in info.siblings or ()]
        rows["companion_entries"] += entry_rows(repo, kind, contents)
    yield from rows_to_batches(rows)


def _branches(api: Any, repo: str) -> Iterable[tuple[str, str]]:
    """(branch, commit) of each branch, by name."""
    return sorted((ref.name, ref.target_commit) for ref in api.list_repo_refs(repo).branches)


def _companions(org: str) -> list[tuple[str, str, str | None]]:
    """(repo, type, commit of its main branch) of each companion of an organisation's cells, by name."""
    from huggingface_hub import HfApi

    api = HfApi()
    with _explained_failures(PREFIX + org):
        found = [(m.id, "model", m.sha) for m in api.list_models(author=org, full=True)]
        found += [(d.id, "dataset", d.sha) for d in api.list_datasets(author=org, full=True)]
    return sorted((row for row in found if stem_of(row[0])), key=lambda row: row[:2])


@contextmanager
def _explained_failures(place: str) -> Iterator[None]:
    """Turns what the client raises where the Hub does not answer into a SourceError that says what to do."""
    from huggingface_hub.errors import HfHubHTTPError, HTTPError

    try:
        yield
    except HfHubHTTPError as error:
        raise SourceError(
            f"{place}: the Hub refuses it ({_first_line(error)}); check the name, and log in where it is private"
        ) from error
    except (HTTPError, OSError) as error:
        raise SourceError(f"{place}: the Hub does not answer ({_first_line(error)}); try again later") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
