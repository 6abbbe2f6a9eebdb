"""Native metrics and W&B beside them, on rows worked out by hand."""

from datetime import timedelta

from tests.python.support.models import Models
from tests.python.support.round_marts import START, candidate, candidates, file, findings, round_marts, source

NAN, INF = float("nan"), float("inf")


def natives(files: list[tuple[str, str | None]], lines: list[tuple[str, int, int, dict]], **tables: list[dict]) -> dict:
    """Landing tables of native files (name, launch) and their lines (file, line, step, metrics), beside `tables`."""
    landed = {
        "history_logs": [
            {"source_name": name, "producer": "verl", "run_id": "run", "source_kind": "log", "launch_name": launch}
            | {"history_row_count": sum(line[0] == name for line in lines)}
            for name, launch in files
        ],
        "history_rows": [
            {"source_name": f, "row_idx": line - 1, "record_number": line, "step": step} for f, line, step, _ in lines
        ],
        "history_values": [
            {"source_name": f, "row_idx": line - 1, "metric": metric}
            | ({"value_text": value} if isinstance(value, str) else {"value": value})
            for f, line, _, data in lines
            for metric, value in data.items()
        ],
        "landed_sources": [source(name, "native-metrics") for name, _ in files],
    }
    shared = {name: landed[name] + tables[name] for name in landed.keys() & tables.keys()}
    return landed | tables | shared


def built(tables: dict) -> Models:
    models = round_marts()
    models.run(tables)
    return models


def test_the_later_launch_stands_and_the_file_without_a_part_is_the_last() -> None:
    files = [("z_first", "b1"), ("a_second", "pause"), ("last", None), ("b_same", "again")]
    lines = [
        ("z_first", 1, 1, {"m": 1.0}),
        ("z_first", 2, 2, {"m": 1.0}),
        ("a_second", 1, 2, {"m": 2.0, "same": 5.0}),
        ("a_second", 2, 3, {"m": 2.0, "same": 5.0}),
        ("b_same", 1, 2, {"m": 3.0, "same": 5.0}),
        # The last launch began before the others by its first step, and wrote step 3 twice.
        ("last", 1, 0, {"m": 4.0}),
        ("last", 2, 3, {"m": 5.0, "same": 5.0}),
        ("last", 3, 3, {"m": 6.0, "same": 5.0}),
    ]
    models = built(natives(files, lines))
    rows = "source_name, line_number, launch_number, drop_reason, superseded_by_source_name"
    assert models.rows(f"select {rows} from native_rows order by launch_number, line_number") == [
        ("z_first", 1, 1, None, None),
        ("z_first", 2, 1, "superseded", "b_same"),
        ("a_second", 1, 2, "superseded", "b_same"),
        ("a_second", 2, 2, "superseded", "last"),
        ("b_same", 1, 3, None, None),
        ("last", 1, 4, None, None),
        ("last", 2, 4, "superseded", "last"),
        ("last", 3, 4, None, None),
    ]
    assert models.rows("select step, metric, native_value, source_file from training_metrics order by 1, 2") == [
        (0, "m", 4.0, "/runs/last"),
        (1, "m", 1.0, "/runs/z_first"),
        (2, "m", 3.0, "/runs/b_same"),
        (2, "same", 5.0, "/runs/b_same"),
        (3, "m", 6.0, "/runs/last"),
        (3, "same", 5.0, "/runs/last"),
    ]
    details = models.rows("select subject, detail from run_findings where kind = 'step_in_two_launches' order by 1")
    assert [(subject, detail.split()[0]) for subject, detail in details] == [("run step 2", "2"), ("run step 3", "2")]


def test_launches_that_agree_are_no_finding_and_diagnostics_are_no_figure() -> None:
    lines = [("a", 1, 1, {"m": 1.0, "t": '"x"'}), ("b", 1, 1, {"m": 1.0, "t": '"x"'})]
    models = built(natives([("a", "b1"), ("b", None)], lines))
    assert findings(models) == set()
    changed = [lines[0], ("b", 1, 1, {"m": 1.0, "t": '"y"'})]
    assert findings(built(natives([("a", "b1"), ("b", None)], changed))) == {("step_in_two_launches", "run step 1")}
    roles = [{"run_id": "run", "role": "diagnostic"}]
    models = built(natives([("a", "b1"), ("b", None)], changed, run_roles=roles))
    assert findings(models) == {("diagnostic_run", "run")}
    assert models.rows("select count(*) from native_rows") == [(2,)]
    assert models.rows("select count(*) from training_metrics") == [(0,)]


def history(rows: list[tuple[str, int, int | None, dict]], starts: dict[str, int]) -> dict:
    """W&B landing tables: rows (log, row index, `_step`, values), logs starting so many hours after START."""
    return {
        "history_logs": [
            {
                "source_name": log,
                "producer": "wandb",
                "run_id": "tracked",
                "source_kind": "log",
                "started_at": START + timedelta(hours=hours),
                "history_row_count": sum(row[0] == log for row in rows),
            }
            for log, hours in starts.items()
        ],
        "history_rows": [
            {
                "source_name": log,
                "row_idx": idx,
                "step": step,
                "logged_at": START + timedelta(hours=starts[log], minutes=idx),
            }
            for log, idx, step, _ in rows
        ],
        "history_values": [
            {"source_name": log, "row_idx": idx, "metric": metric}
            | ({"value_text": value} if isinstance(value, str) else {"value": value})
            for log, idx, _, data in rows
            for metric, value in data.items()
        ],
        "landed_sources": [source(log, "wandb") for log in starts],
        "run_aliases": [{"run_id": "tracked", "alias_of": "run"}],
    }


def test_native_metrics_are_held_against_wandb_value_by_value() -> None:
    native = {
        "same": 1.0,
        "off": 1.0,
        "nan": None,
        "inf": None,
        "null": None,
        "gone": None,
        "text": '"a"',
        "other": '"a"',
        "mixed": '"a"',
    }
    lines = [("n", 1, 1, native | {"native_only": 1.0}), ("n", 2, 2, {"same": 2.0}), ("n", 3, 9, {"same": 9.0})]
    tracked = {
        "same": 1.0,
        "off": 1.5,
        "nan": NAN,
        "inf": INF,
        "null": None,
        "gone": 3.0,
        "text": '"a"',
        "other": '"b"',
        "mixed": None,
    }
    rows = [
        # An earlier launch got to step 1 too: the later one stands.
        ("a", 0, 1, {"same": 7.0}),
        ("b", 0, 1, tracked | {"_runtime": 5.0, "wandb_only": 1.0}),
        # The trainer's own counter counts, where the row has it.
        ("b", 1, 77, {"same": 2.0, "training/global_step": 2.0}),
        ("b", 2, None, {"same": 3.0}),
        ("b", 3, 55, {"same": 4.0, "training/global_step": NAN}),
    ]
    models = built(natives([("n", None)], lines, **history(rows, {"a": 0, "b": 3})))
    assert models.rows("select step, metric, wandb_value, agrees from metric_reconciliation order by 1, 2") == [
        (1, "gone", 3.0, False),
        (1, "inf", INF, True),
        (1, "mixed", None, False),
        (1, "nan", _Nan(), True),
        (1, "null", None, True),
        (1, "off", 1.5, False),
        (1, "other", None, False),
        (1, "same", 1.0, True),
        (1, "text", None, True),
        (2, "same", 2.0, True),
    ]
    summary = "native_step_count, native_value_count, step_count, shared_value_count, disagreement_count"
    assert models.rows(f"select {summary} from metric_reconciliation_summary") == [(3, 12, 2, 10, 4)]
    assert findings(models) == {("wandb_differs", "run")}


class _Nan:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and other != other


def test_a_run_without_wandb_shares_nothing() -> None:
    models = built(natives([("n", None)], [("n", 1, 1, {"m": 1.0})]))
    summary = "native_step_count, step_count, shared_value_count, disagreement_count"
    assert models.rows(f"select {summary} from metric_reconciliation_summary") == [(1, 0, 0, 0)]


def test_native_figures_are_held_against_the_candidates() -> None:
    outcomes = ["ok", "error", "error", "late", "ok", "error", "error", "error"]
    rows = [
        candidate(
            "r1", n + 1, 1, f"g{n // 2}", n % 2, outcome=outcomes[n], is_valid=outcomes[n] == "ok",
            is_better_than_anchor=n != 3, is_behavior=n % 2 == 0, behavior_action="advance" if n < 2 else "keep",
        )
        for n in range(8)
    ]  # fmt: skip
    rows.append(candidate("cut", 1, 1, "g0", 0, is_valid=True, outcome="ok"))
    right = {
        "ours_env/valid_rate": 0.25,
        "ours_env/candidate_anchor_improved": 7.0,
        "ours_env/candidate_anchor_improved_rate": 0.875,
        "ours_env/behavior_advance_rate": 0.25,
        "ours_env/outcome/ok": 2.0,
        "ours_env/outcome/error": 5.0,
        "ours_env/outcome/late": 1.0,
        "ours_env/outcome/never": 0.0,
        "actor/entropy": 0.5,
    }
    cut = [file("cut", number=1, attempt=1)]

    def verdicts(figures: dict) -> list[tuple]:
        tables = natives([("n", None)], [("n", 1, 1, figures), ("n", 2, 2, figures)])
        models = candidates(rows, cut, **tables)
        return models.rows("select metric, native_value, candidate_value, agrees from native_checks order by 1")

    assert verdicts(right) == sorted((m, v, v, True) for m, v in right.items() if m.startswith("ours_env/"))
    for metric in list(right)[:-1]:
        wrong = verdicts(right | {metric: right[metric] + 0.1})
        assert [row[0] for row in wrong if not row[3]] == [metric]
    without = {m: v for m, v in right.items() if m not in ("ours_env/outcome/late", "ours_env/valid_rate")}
    assert [row for row in verdicts(without) if not row[3]] == [("ours_env/outcome/late", None, 1.0, False)]
    assert verdicts({"actor/entropy": 0.5}) == []
    assert verdicts({"ours_env/valid_rate": 0.25}) == [("ours_env/valid_rate", 0.25, 0.25, True)]
    assert ("native_figure_differs", "run step 1 ours_env/outcome/late") in findings(
        candidates(rows, cut, **natives([("n", None)], [("n", 1, 1, without)]))
    )


def test_three_counts_of_system_records_stand_side_by_side() -> None:
    exports = [("e1", "run"), ("e2", None)]
    fields = [("e1", "history_line_count", 9.0), ("e1", "counters.eventsLineCount", 193.0), ("e2", "event_count", 4.0)]
    samples = [("log", 0, "cpu"), ("log", 0, "gpu"), ("log", 1, "cpu"), ("api", 0, "cpu")]
    tables = {
        "rounds_tracker_exports": [
            {"source_name": name, "export_name": name, "run_id": run, "system_row_count": 314 if run else None}
            for name, run in exports
        ],
        "rounds_tracker_fields": [{"source_name": s, "field": f, "value": v} for s, f, v in fields],
        "history_system_values": [{"source_name": s, "sample_idx": n, "metric": m} for s, n, m in samples],
        "history_logs": [
            {"source_name": name, "run_id": run, "source_kind": name, "history_row_count": 1}
            for name, run in (("log", "run"), ("api", "run"))
        ],
        "landed_sources": [source("log"), source("api")],
    }
    models = built(tables)
    columns = "run_id, exported_row_count, logged_row_count, server_event_count"
    assert models.rows(f"select {columns} from system_metric_counts order by 1") == [
        ("e2", None, None, 4),
        ("run", 314, 2, 193),
    ]
    older = {"source_name": "e0", "export_name": "e0", "run_id": "run", "system_row_count": 10}
    again = built(tables | {"rounds_tracker_exports": [*tables["rounds_tracker_exports"], older]})
    assert again.rows("select exported_row_count from system_metric_counts where run_id = 'run'") == [(314,)]
    models = built(tables)
    assert findings(models) - {("sources_disagree", "run")} == {("system_counts_differ", "run")}
    # Two logged samples: the counter differs from them alone, then from the export alone, then from nothing.
    for exported, counter, is_found in ((None, 3.0, True), (3, 3.0, True), (2, 3.0, True), (2, 2.0, False)):
        export = {"source_name": "e1", "export_name": "e1", "run_id": "run", "system_row_count": exported}
        count = {"source_name": "e1", "field": "eventsLineCount", "value": counter}
        counted = built(tables | {"rounds_tracker_exports": [export], "rounds_tracker_fields": [count]})
        assert (("system_counts_differ", "run") in findings(counted)) == is_found
    uncounted = built(tables | {"rounds_tracker_fields": []})
    assert uncounted.rows(f"select {columns} from system_metric_counts order by 1") == [
        ("e2", None, None, None),
        ("run", 314, 2, None),
    ]
    models = built(tables | {"run_roles": [{"run_id": "run", "role": "diagnostic"}]})
    assert models.rows("select run_id from system_metric_counts") == [("e2",)]
