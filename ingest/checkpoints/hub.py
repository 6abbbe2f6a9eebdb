"""Reader of checkpoints on the Hub: each branch of a model repo, by its small metadata files alone."""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from homes.errors import SourceError
from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from ingest.checkpoints.files import JSON_FILES, is_checkpoint_file, read_config
from ingest.formats.rows import rows_to_batches

PREFIX = "hf:"
_COMPANION = re.compile(r"-(record|data)$")
_TIMEOUT_SECONDS = 60.0


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
    repos = [f"{PREFIX}{name}" for name in sorted(models) if not _COMPANION.search(name)]
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
        state = [list(companion.values()) for companion in _companions(name)]
    digest = hashlib.sha256(json.dumps(state).encode()).hexdigest()
    return Source(kind, f"{file_stem(name.replace('/', '--'))}-{short_digest(f'{kind}:{place}')}", place, digest, 0)


def read(source: Source) -> Batches:
    """Rows of one repo (a checkpoint for each branch that holds one), or of an organisation's companion repos."""
    name = source.path.removeprefix(PREFIX)
    if "/" not in name:
        yield from rows_to_batches({"hub_companions": _companions(name)})
    else:
        with tempfile.TemporaryDirectory() as cache, _explained_failures(source.path):
            yield from _read_repo(name, Path(cache))


def _read_repo(repo: str, cache: Path) -> Batches:
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    org = repo.split("/")[0]
    rows: dict[str, list[dict[str, Any]]] = {"checkpoint_folders": [], "checkpoint_configs": []}
    idx = 0
    try:
        branches = _branches(api, repo)
    except HfHubHTTPError as error:
        yield quarantine("line 1", f"the Hub refuses it: {_first_line(error)}")
        return
    for branch, commit in branches:
        try:
            info = api.model_info(repo, revision=commit, timeout=_TIMEOUT_SECONDS)
            names = {sibling.rfilename for sibling in info.siblings or ()}
            if not any(is_checkpoint_file(name) for name in names):
                continue
            found = [
                (name, Path(hf_hub_download(repo, name, revision=commit, cache_dir=cache)).read_bytes())
                for name in JSON_FILES
                if name in names
            ]
        except HfHubHTTPError as error:
            yield quarantine(f"line 1 of branch {branch}", f"the Hub refuses it: {_first_line(error)}")
            continue
        folder = {"cell": None, "family": None, "step_name": None, "source_kind": "hub", "org": org, "repo": repo}
        model_id = repo if branch == "main" else f"{repo}@{branch}"
        place = f"{PREFIX}{repo}@{branch}"
        rows["checkpoint_folders"].append(
            folder | {"folder_idx": idx, "model_id": model_id, "branch": branch, "folder_path": place}
        )
        for name, raw in found:
            row, problem = read_config(idx, name, f"{name} on branch {branch}", raw)
            rows["checkpoint_configs"].append(row)
            if problem:
                yield quarantine(*problem)
        idx += 1
    yield from rows_to_batches(rows)


def _branches(api: Any, repo: str) -> Iterable[tuple[str, str]]:
    """(branch, commit) of each branch, by name."""
    return sorted((ref.name, ref.target_commit) for ref in api.list_repo_refs(repo).branches)


def _companions(org: str) -> list[dict[str, Any]]:
    from huggingface_hub import HfApi

    api = HfApi()
    with _explained_failures(PREFIX + org):
        found = [(m.id, "model") for m in api.list_models(author=org)]
        found += [(d.id, "dataset") for d in api.list_datasets(author=org)]
    return [{"repo": name, "repo_type": kind} for name, kind in sorted(found) if _COMPANION.search(name)]


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
