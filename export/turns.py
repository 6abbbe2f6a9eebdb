"""Exports turns: a CSV of token accounting per arm with saved rollouts, parts of INDEX.md and README.md."""

from pathlib import Path

import duckdb

from export.tables import escape, markdown_table, shown, write_csv
from homes.names import file_stems, short_digest

KEYS = ("training_step", "step_idx")
REASONS = ("rolled_back", "never_trained", "other_lineage", "excluded")


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> str:
    """Write `by-arm/<arm>_turns.csv` and add to INDEX.md; returns the README section, empty without rollouts."""
    if not warehouse.execute("select 1 from rollout_runs limit 1").fetchone():
        return ""
    arms = [arm for (arm,) in warehouse.execute("select distinct arm from arm_turns order by arm").fetchall()]
    files = _files(warehouse, arms)
    columns = [name for name, *_ in warehouse.execute("describe arm_turns").fetchall() if name not in ("arm", *KEYS)]
    columns = [*KEYS, *columns]
    for arm in arms:
        turns = warehouse.execute(
            f"select {', '.join(columns)} from arm_turns where arm = ? order by training_step", [arm]
        )
        write_csv(folder / files[arm], columns, turns.fetchall())
    with open(folder / "INDEX.md", "a", encoding="utf-8") as index:
        index.write(_index(warehouse, files))
    return _section(warehouse, files)


def _files(warehouse: duckdb.DuckDBPyConnection, arms: list[str]) -> dict[str, str]:
    """The file of each arm's turns: that of its curve with `_turns`, unless another arm's curve has that name."""
    curves = file_stems(arm for (arm,) in warehouse.execute("select arm from arms").fetchall())
    stems = file_stems([*curves, *arms]) | curves
    taken = {stem.casefold() for stem in curves.values()}
    files = {}
    for arm in arms:
        stem = f"{stems[arm]}_turns"
        if stem.casefold() in taken:
            stem = f"{stems[arm]}-{short_digest(arm)}_turns"
        taken.add(stem.casefold())
        files[arm] = f"by-arm/{stem}.csv"
    return files


def row_counts(warehouse: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows that the marts hold for each CSV file."""
    counts = dict(warehouse.execute("select arm, count(*) from arm_turns group by arm").fetchall())
    return {file: counts[arm] for arm, file in _files(warehouse, sorted(counts)).items()}


def _index(warehouse: duckdb.DuckDBPyConnection, files: dict[str, str]) -> str:
    counts = ", ".join(f"{reason}_rollout_count" for reason in REASONS)
    runs = warehouse.execute(
        f"""select arm, run_name, started_at, model_name, rollout_count, kept_rollout_count, {counts}
        from rollout_run_counts order by arm, started_at nulls last, run_name"""
    ).fetchall()
    rows = [
        [escape(arm), escape(run), escape(started), escape(model) or "–", *map(shown, numbers)]
        for arm, run, started, model, *numbers in runs
    ]
    header = ["arm", "run", "started (UTC)", "model", "rollouts", "kept", *(r.replace("_", " ") for r in REASONS)]
    without = [
        escape(arm) for (arm,) in warehouse.execute("select arm from arms order by arm").fetchall() if arm not in files
    ]
    lines = [
        "\n## Rollouts\n",
        "Saved rollouts by run; what a restart redid and what was never trained on is not in the turns.\n",
        markdown_table(header, rows),
    ]
    if without:
        lines.append(f"Arms without saved rollouts that count, so without turns: {', '.join(without)}.\n")
    return "\n".join(lines)


def _section(warehouse: duckdb.DuckDBPyConnection, files: dict[str, str]) -> str:
    [(rollouts, kept, split, first, last)] = warehouse.execute(
        """select rollout_count, kept_rollout_count, split_rollout_count, first_training_step, last_training_step
        from rollout_totals"""
    ).fetchall()
    parts = [
        "## Assistant turns\n",
        f"Token accounting of {shown(kept)} rollouts (of {shown(rollouts)} saved), training steps {shown(first)} to "
        f"{shown(last)}: how long an assistant turn is, without the tool output that a trainer's own lengths mix in.\n",
        markdown_table(
            ["path", "what"],
            [[f"`{path}`", f"{escape(arm)}, a line per training step"] for arm, path in files.items()],
        ),
        "### How the tokens were split\n",
        _split(warehouse),
        "### Traps\n",
        _traps(warehouse, kept - split),
    ]
    return "\n".join(parts)


def _split(warehouse: duckdb.DuckDBPyConnection) -> str:
    """The rule, with the shortest run that the build took for tool output and how well other lengths would do."""
    lengths = warehouse.execute(
        """select min_run_tokens, rollout_count, matching_rollout_count, matching_fraction, is_used
        from zero_run_calibration order by min_run_tokens"""
    ).fetchall()
    if not lengths:
        return "They were not: no rollout that counts has a logprob for every token.\n"
    (used,) = (shown(length) for length, *_, is_used in lengths if is_used)
    return (
        "Inserted tool output was never sampled, so its tokens carry a logprob of exactly 0 in one stretch. A policy "
        f"that is certain writes zeros too, but in shorter runs: a run of at least {used} counts as tool output. A "
        "turn (`assistant_segments_total`) is a maximal stretch of tokens between tool outputs. How often the "
        "stretches found equal the calls reported, by the length asked:\n\n"
    ) + markdown_table(
        ["shortest run", "rollouts", "equal", "share"],
        [[shown(length), shown(count), shown(equal), shown(share, 4)] for length, count, equal, share, _ in lengths],
    )


def _traps(warehouse: duckdb.DuckDBPyConnection, unsplit: int) -> str:
    [(blocks, calls, worst)] = warehouse.execute(
        "select block_count, call_count, worst_block_call_difference_fraction from rollout_totals"
    ).fetchall()
    traps = [
        "- `training_step` counts from 1 as the curves do, `step_idx` from 0 as the shards do. Join by the former.",
        "- `num_calls_total` counts dispatched calls and format-error feedback, so it is not the number of turns: "
        f"{shown(calls)} calls reported, {shown(blocks)} tool outputs found; the worst "
        f"step differs by a share of {shown(worst)}.",
        "- A call that is never closed is counted to the end of the response and inflates "
        "`mean_tool_call_length_tokens`; `mean_closed_tool_call_length_tokens` leaves it out.",
        "- Tool output shorter than the run asked for counts as the policy's, and a stretch of certain zeros next to "
        "tool output counts as inserted.",
        "- An empty cell is unknown, not 0: tool-call tokens are not declared, or there was nothing to divide by.",
    ]
    if unsplit:
        traps.append(
            f"- {shown(unsplit)} kept rollouts have no logprob for every token. They are in `n_rollouts` and "
            "`response_tokens_mean_per_rollout` only; `n_split_rollouts` is the denominator of the rest."
        )
    bins = warehouse.execute(
        """select arm, first_training_step, last_training_step, malformed_fraction, malformed_count,
            malformed_stop_count
        from malformed_tool_calls order by arm, first_training_step"""
    ).fetchall()
    table = markdown_table(
        ["arm", "training steps", "share that ends inside a tool call", "of these, finish reason `stop`"],
        [
            [escape(arm), f"{first} to {last}", shown(share), f"{shown(stopped)} of {shown(count)}"]
            for arm, first, last, share, count, stopped in bins
        ],
    )
    return "\n".join(traps) + ("\n\n### Rollouts that end inside a tool call\n\n" + table if bins else "\n")
