"""Landing rows of a sweep that a test spells out, without files or readers in between."""

import tempfile
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from tests.python.support.models import Models

START = datetime(2026, 8, 3, 6)
OK, BAD = [248044, 248046], [248044]
HOURS = "select model_id, round(hour, 9), hour_source, hour_upper_bound from checkpoints order by checkpoint_key"
KINDS = "select kind, subject from checkpoint_findings order by all"


def at(hour: float) -> datetime:
    """The moment `hour` hours after START."""
    return START + timedelta(hours=hour)


@cache
def checkpoint_models() -> Models:
    """The marts of checkpoints, compiled once for every test module."""
    marts = ["checkpoint_findings", "frontier_scores", "manifest_entries", "arm_checkpoints", "companion_repos"]
    with tempfile.TemporaryDirectory() as home:
        return Models(Path(home), marts)


SPENT = "select source_name, line_number, spent_tokens, drop_reason from driver_spending order by 1, 2"


class Rows:
    """Gathers rows of source tables. Times are hours after START; every cell folder is its own source."""

    def __init__(self):
        self.tables: dict[str, list[dict]] = {}
        self.add("tokenizers", model_pattern="qwen3_5*", end_of_turn_id=248046)
        self._folders: dict[str, int] = {}

    def add(self, table: str, **row) -> None:
        self.tables.setdefault(table, []).append(row)

    def cell(self, name="kimi", start=0.0, end=100.0, submitted=None, fallback=None, source=None, **row) -> None:
        times = {"started_at": None if start is None else at(start), "ended_at": None if end is None else at(end)}
        row = {"org": "org", "submitted": submitted, "fallback": fallback, **times, **row}
        self.add("checkpoint_cells", source_name=source or name, cell=name, **row)

    def checkpoint(self, path, hours=(), cell="kimi", eos=OK, source=None, **row) -> dict:
        """A checkpoint of a sweep with a file for each of `hours`; `eos` stands in generation_config.json."""
        family, step_name = path.split("/")
        key = self._folder(source or cell, "sweep", org="org", cell=cell, family=family, step_name=step_name, **row)
        for number, hour in enumerate(hours):
            self.add("checkpoint_files", **key, file_name=f"{number}.bin", modified_at=at(hour))
        self.config(key, "config.json", model_type="qwen3_5")
        if eos is not None:
            self.config(key, "generation_config.json", eos_token_ids=eos)
        return key

    def model(self, model_id, kind="folder", repo=None, branch=None, eos=None, source=None, **row) -> dict:
        """A bare folder, or a revision of a Hub repo."""
        row = {"model_id": model_id, "repo": repo, "branch": branch, "folder_path": "x", **row}
        key = self._folder(source or "models", kind, **row)
        if eos is not None:
            self.config(key, "config.json", model_type="qwen3_5", eos_token_ids=eos)
        return key

    def tensors(self, key, file_name="model.safetensors", is_sampled=False, **digests) -> None:
        """Tensors of a safetensors file, each `name=digest`."""
        for name, digest in digests.items():
            row = {"tensor_name": name, "dtype": "BF16", "shape": "2", "size_bytes": 4, "digest": digest}
            self.add("checkpoint_tensors", **key, file_name=file_name, is_sampled=is_sampled, **row)

    def files(self, key, *names, problem=None) -> None:
        for name in names:
            self.add("checkpoint_files", **key, file_name=name, problem=problem)

    def _folder(self, source, kind, **row) -> dict:
        idx = self._folders.get(source, -1) + 1
        self._folders[source] = idx
        key = {"source_name": source, "folder_idx": idx}
        self.add("checkpoint_folders", **key, source_kind=kind, **row)
        return key

    def config(self, key, file_name, is_readable=True, **row) -> None:
        self.add("checkpoint_configs", **key, file_name=file_name, is_readable=is_readable, **row)

    def archive(self, path, hour, action="archived", cell="kimi", line=1) -> None:
        family, step_name = path.split("/")
        row = {"line_number": line, "logged_at": at(hour), "action": action}
        self.add("checkpoint_archives", source_name=cell, family=family, step_name=step_name, **row)

    def usage(self, hour, tokens, log="a", cell="kimi", usage_format="plain", **row) -> None:
        """A token report; `tokens` is (input, cached, output)."""
        line = 1 + sum(r["source_name"] == log for r in self.tables.get("driver_usage", []))
        counts = dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), tokens, strict=True))
        row = {"cell": cell, "line_number": line, "usage_format": usage_format, "logged_at": at(hour), **counts, **row}
        self.add("driver_usage", source_name=log, **row)

    def score(self, path, score, suite="suite", harness="pi", cell="kimi", model_id=None, file="scores") -> None:
        line = 1 + sum(r["source_name"] == file for r in self.tables.get("evaluation_scores", []))
        if line == 1:
            self.add("landed_sources", source_name=file, path=file, kind="scores")
        named = {"model_id": model_id}
        if path:
            named |= {"cell": cell, "family": path.split("/")[0], "step_name": path.split("/")[1]}
        row = {"line_number": line, "suite": suite, "score": score, "harness": harness, **named}
        self.add("evaluation_scores", source_name=file, **row)

    def baseline(self, score, suite="suite", harness="pi", model_id="Qwen/base") -> None:
        self.add("baselines", suite=suite, model_id=model_id, score=score, harness=harness)

    def published(self, model_id, hour=None, hour_source=None, **row) -> None:
        number = 1 + len(self.tables.get("published_checkpoints", []))
        row = {"row_number": number, "hour": hour, "hour_source": hour_source, **row}
        self.add("published_checkpoints", source_name="manifest", model_id=model_id, **row)
