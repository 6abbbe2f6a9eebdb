"""The export of curves against a campaign planted row by row: every expected cell is written out by hand."""

import csv
import hashlib
import math
import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from tests.python.support.command import query, seamline
from tests.python.support.planted import Text, declare, land_run

NAN, INF = math.nan, math.inf
WILD_ARM = "../evil | arm\n`x` <b>"
WILD_RUN = "../../up"
LONG_ARM = "n" * 300
SEAMS = [  # the gap at the seam is 5 and 2 of a median gap of 100; in the second a step of 50 was real
    ("seam-a", [100.0, 200.0, 300.0, 400.0], [405.0, 505.0, 605.0]),
    ("seam-b", [100.0, 200.0, 250.0, 350.0, 450.0], [452.0, 552.0, 652.0]),
]
LEADS = ["training_step", "position", "run_id"]
LAST = ["logged_training_step", "word"]
AUDIT = ["_log_id", "_row_idx", "_drop_reason", "_position_source", "_training_step"]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a resumed arm, arms with hostile names, an excluded arm, a run without rows, a stray log."""
    home = tmp_path_factory.mktemp("campaign") / "it's a ☃ home"
    first = [
        {"global_step": 100.0, "scores": 0.5, "dead": 0.0, "training_step": 1.0, "arm": 7.0},
        {"global_step": 200.0, "scores": NAN, "dead": 0.0, 'odd,"key"': Text('["x", 2]')},
        {"global_step": 300.0, "scores": None, "dead": 0.0, "big": Text("9007199254740993")},
        {"global_step": 400.0, "scores": 0.7, "dead": 0.0},
        {"global_step": 500.0, "scores": 0.8, "dead": 0.0},
    ]
    second = [
        {"global_step": 400.0, "scores": 0.1, "dead": -0.0, "_runtime": 3.5, "_log_id": Text('"of an export"')},
        {"global_step": 500.0, "scores": 1e-300, "a.b": 1.0, ("a", "b"): 2.0},
        {"global_step": 600.0, "scores": -INF, "word": Text('"abc"')},
        {"global_step": 700.0, "scores": INF, "big": Text("true")},
    ]
    land_run(home, "run-a", first, arm="alpha", hour=0, name="first launch", config={"lr": "0.5"})
    land_run(home, "run-b", second, arm="alpha", hour=1, lost_tail_bytes=12)
    land_run(home, WILD_RUN, [{"global_step": 1.0, "scores": 1.0}], arm=WILD_ARM, hour=2)
    land_run(home, "upper", [{"global_step": 1.0, "scores": 2.0}], arm="Alpha", hour=3)
    land_run(home, "long", [{"global_step": 1.0, "Scores": 3.0}], arm=LONG_ARM, hour=4)
    land_run(home, "bad-parser", [{"global_step": 1.0, "scores": 9.0}], arm="excluded-arm", hour=5)
    land_run(home, "no-rows", [], arm="alpha", hour=6)
    land_run(home, None, [], log_id="stray", hour=7, unreadable=[("byte 7", "cut inside a record")], lost_tail_bytes=3)
    for arm, before, after in SEAMS:
        land_run(home, f"{arm}-1", [{"global_step": position} for position in before], arm=arm, hour=8)
        land_run(home, f"{arm}-2", [{"global_step": position} for position in after], arm=arm, hour=9)
    land_run(home, "probe-1", [{"global_step": 1.0, "scores": 4.0}], arm="probe", hour=10)
    declare(home, "run_roles", "probe-*,diagnostic,checks the cluster\n")
    declare(home, "run_exclusions", "bad-parser,,,,wrong | tool parser,a colleague\n")
    declare(home, "arms", "alpha,7,,false,,,,slow cluster\nAlpha,5,,false,,,,\n")
    declare(home, "metric_notes", "scores,fresh rubrics each step,false\n")
    declare(home, "frozen_recipe", "*,lr,0.25,true,halved by mistake\n")
    seamline("build", home=home)
    return home


@pytest.fixture(scope="module")
def out(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "export"
    seamline("export", folder, home=campaign)
    return folder


def read(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as handle:
        return list(csv.reader(handle, strict=True))


def files_of(out: Path) -> dict[str, str]:
    """arm -> file, as arms.csv says."""
    header, *rows = read(out / "arms.csv")
    return {row[0]: row[header.index("file")] for row in rows}


def test_by_arm_file_holds_the_stitched_curve_under_original_keys(out):
    assert read(out / files_of(out)["alpha"]) == [
        [*LEADS, "a.b", "logged_arm", "big", "dead", "global_step", 'odd,"key"', "scores", *LAST],
        ["1", "100", "run-a", "", "7", "", "0", "100", "", "0.5", "1", ""],
        ["2", "200", "run-a", "", "", "", "0", "200", '["x", 2]', "NaN", "", ""],
        ["3", "300", "run-a", "", "", "9007199254740993", "0", "300", "", "", "", ""],
        ["4", "400", "run-b", "", "", "", "-0.0", "400", "", "0.1", "", ""],
        ["5", "500", "run-b", "1", "", "", "", "500", "", "1e-300", "", ""],
        ["6", "600", "run-b", "", "", "", "", "600", "", "-inf", "", '"abc"'],
        ["7", "700", "run-b", "", "", "true", "", "700", "", "inf", "", ""],
    ]


def test_by_run_file_holds_every_row_with_its_label_and_every_key(out):
    folder = out / "by-run" / Path(files_of(out)["alpha"]).stem
    assert read(folder / "run-a.csv") == [
        [*AUDIT, "arm", "big", "dead", "global_step", 'odd,"key"', "scores", "training_step"],
        [LOG_A, "0", "", "logged", "1", "7", "", "0", "100", "", "0.5", "1"],
        [LOG_A, "1", "", "logged", "2", "", "", "0", "200", '["x", 2]', "NaN", ""],
        [LOG_A, "2", "", "logged", "3", "", "9007199254740993", "0", "300", "", "", ""],
        [LOG_A, "3", "rolled_back", "logged", "", "", "", "0", "400", "", "0.7", ""],
        [LOG_A, "4", "rolled_back", "logged", "", "", "", "0", "500", "", "0.8", ""],
    ]
    header, *rows = read(folder / "run-b.csv")
    # `_log_id` of an earlier export is not a key of the run; a nested key that clashes is headed by its path
    assert header == [*AUDIT, '["a","b"]', "_runtime", "a.b", "big", "dead", "global_step", "scores", "word"]
    assert rows[0][3:] == ["logged", "4", "", "3.5", "", "", "-0.0", "400", "0.1", ""]
    assert rows[1][3:] == ["logged", "5", "2", "", "1", "", "", "500", "1e-300", ""]
    assert len(rows) == 4


LOG_A = hashlib.sha256(b"run-a").hexdigest()[:8] + "-log"


def test_wide_file_is_the_by_arm_files_one_below_the_other(out):
    wide = pd.read_csv(out / "all_arms_wide.csv", dtype=str, keep_default_na=False)
    assert list(wide.columns[:4]) == ["arm", "training_step", "position", "run_id"]
    metrics = ["Scores", "a.b", "logged_arm", "big", "dead", "global_step", 'odd,"key"', "scores"]
    assert list(wide.columns[4:]) == [*metrics, "logged_training_step", "word"]
    seen = 0
    for arm, file in files_of(out).items():
        if not file or arm == "probe":  # the diagnostic is in no figure
            continue
        own = pd.read_csv(out / file, dtype=str, keep_default_na=False)
        below = wide[wide.arm == arm].reset_index(drop=True)
        pd.testing.assert_frame_equal(below[list(own.columns)], own)
        absent = [c for c in wide.columns if c not in own.columns and c != "arm"]
        assert (below[absent] == "").all(axis=None)
        seen += len(own)
    assert seen == len(wide) == 7 + 1 + 1 + 1 + 6 + 7


def test_pandas_and_duckdb_read_the_numbers_back(out):
    curve = pd.read_csv(out / files_of(out)["alpha"])
    expected = [0.5, NAN, NAN, 0.1, 1e-300, -INF, INF]
    assert [repr(v) for v in curve.scores] == [repr(v) for v in expected]
    assert math.copysign(1, curve.dead[3]) == -1
    file = str(out / files_of(out)["alpha"])
    scores = duckdb.sql(f"select scores from read_csv('{file}') order by training_step").fetchall()
    assert [repr(v) for (v,) in scores] == [repr(v) for v in [0.5, NAN, None, 0.1, 1e-300, -INF, INF]]


def test_names_from_data_stay_inside_and_apart(out):
    files = files_of(out)
    assert set(files) == {"alpha", "Alpha", WILD_ARM, LONG_ARM, "excluded-arm", "seam-a", "seam-b", "probe"}
    assert files["excluded-arm"] == ""
    folded = {file.casefold() for file in files.values() if file}
    assert len(folded) == 7
    assert all(Path(file).parent == Path("by-arm") and len(file) < 160 for file in files.values() if file)
    assert {p.relative_to(out).as_posix() for p in (out / "by-arm").iterdir()} == set(files.values()) - {""}
    assert len(list((out / "by-run").rglob("*.csv"))) == 7 + 4
    assert all(len(p.relative_to(out).parts) == 3 for p in (out / "by-run").rglob("*.csv"))
    assert not (out.parent / "up.csv").exists()


def test_arms_csv_is_the_mart(out, campaign):
    header, *rows = read(out / "arms.csv")
    columns = [c for (c,) in query(campaign, "select column_name from (describe arms)")]
    assert header == [*columns, "file"]
    alpha = dict(zip(header, rows[[row[0] for row in rows].index("alpha")], strict=True))
    assert (alpha["step_count"], alpha["is_complete"], alpha["is_running"]) == ("7", "true", "false")
    assert (alpha["run_count"], alpha["logged_row_count"], alpha["median_gap"]) == ("3", "9", "100")


def test_a_diagnostic_run_is_in_no_count(out, campaign):
    told = "7 arms, stitched out of 11 runs, and beside them 1 diagnostic runs"
    readme, index = ((out / name).read_text() for name in ("README.md", "INDEX.md"))
    assert told in readme and told in index and "| probe |" in index and "| diagnostic |" in index
    assert query(campaign, "select arm from arms where is_diagnostic") == [("probe",)]
    counts = dict(query(campaign, "select thing, thing_count from campaign_counts"))
    assert query(campaign, "select count(*) from headline_steps where arm = 'probe'") == [(0,)]
    assert query(campaign, "select count(*) from run_rows") == [(counts["logged_rows"] + 1,)]


def test_index_tells_of_every_arm_and_run(out):
    text = (out / "INDEX.md").read_text()
    section = text.split("\n## alpha\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    run_file = f"by-run/{Path(files_of(out)['alpha']).stem}/run-a.csv"
    what = [f"[run-a]({run_file})", "first launch", "2026-09-01 00:00:00"]
    logs, first, last, rows, kept, rolled_back = ["1", "100", "500", "5", "3", "2"]
    assert cells[0] == [*what, logs, first, last, rows, kept, rolled_back, "0", "0", "0", "0", "0", "finished"]
    assert cells[1][5:9] == ["700", "4", "4", "0"] and cells[1][-1] == "unfinished"
    assert cells[2][0] == "no-rows (no rows)"
    assert "Note: slow cluster" in section
    assert "Config lr is 0.5 where the recipe says 0.25 (affects learning; runs run-a): halved by mistake" in section
    assert "## excluded-arm\n\nNo curve" in text
    assert (
        "wrong \\| tool parser" in text
        and "fresh rubrics each step" in text
        and "runs/stray.wandb" in text
        and "/runs/stray.wandb" not in text
    )
    assert "dead\\_metric" in text
    assert "\n## ../evil \\| arm \\`x\\` \\<b\\>\n" in text
    for line in text.splitlines():
        if line.startswith("| "):
            assert line.replace("\\|", "").count("|") in (5, 4, 6, 7, 3, 12, 16)


def test_readme_names_the_traps_of_this_campaign(out):
    text = (out / "README.md").read_text()
    assert (
        "global\\_step, which open-instruct counts in episodes, not in optimizer steps: alpha runs from 100 to" in text
    )
    assert "100 to 700 over its 7 steps" in text
    assert "- dead is zero wherever it was logged (arms: 1)" in text
    assert "1 of 2 arms with a declared number of steps land exactly on it" in text
    assert "The widest pair taken for one step lay 0.05 of a median gap apart (seam-a); the tightest" in text
    assert "the tightest pair taken for two lay 0.5 apart (seam-b)." in text


def test_lists_and_checksums_cover_every_file(out):
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    listed = dict(line.split("\t") for line in (out / "FILES.txt").read_text().splitlines())
    assert set(listed) == files - {"FILES.txt", "SHA256SUMS"}
    assert list(listed) == sorted(listed)
    assert all((out / path).stat().st_size == int(size) for path, size in listed.items())
    sums = [line.split("  ", 1)[1] for line in (out / "SHA256SUMS").read_text().splitlines()]
    assert sorted(sums) == sorted(files - {"SHA256SUMS"})
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=out, check=True)


def test_the_same_campaign_gives_the_same_bytes(out, campaign, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    seamline("export", tmp_path / "again", home=campaign)
    assert (tmp_path / "again" / "SHA256SUMS").read_bytes() == (out / "SHA256SUMS").read_bytes()


def test_files_are_the_same_whatever_the_batch(out, campaign, tmp_path, monkeypatch):
    from export import run, wide
    from homes.paths import Home

    monkeypatch.setattr(wide, "BATCH_CELLS", 7)
    run.export(Home(campaign), tmp_path / "small", ["curves"])
    assert (tmp_path / "small" / "SHA256SUMS").read_bytes() == (out / "SHA256SUMS").read_bytes()


def test_an_earlier_export_is_replaced_and_other_files_stay(out, campaign, tmp_path):
    folder = tmp_path / "export"
    seamline("export", folder, home=campaign)
    (folder / "by-arm" / "gone.csv").write_text("old\n")
    (folder / "old").mkdir()
    (folder / "old" / "deep.csv").write_text("old\n")
    outside = tmp_path / "precious.txt"
    outside.write_text("keep\n")
    with open(folder / "FILES.txt", "a") as handle:
        handle.write("by-arm/gone.csv\t4\nold/deep.csv\t4\n../precious.txt\t5\n")
    (folder / "all_arms_wide.csv").write_text("damaged\n")
    (folder / ".notes").write_text("mine\n")
    seamline("export", folder, home=campaign)
    assert not (folder / "by-arm" / "gone.csv").exists() and not (folder / "old").exists()
    assert outside.read_text() == "keep\n" and (folder / ".notes").read_text() == "mine\n"
    assert (folder / "SHA256SUMS").read_bytes() == (out / "SHA256SUMS").read_bytes()
    assert (folder / "all_arms_wide.csv").read_bytes() == (out / "all_arms_wide.csv").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["export", "precious.txt"]


def test_a_folder_that_holds_something_else_is_refused(campaign, tmp_path):
    (tmp_path / "thesis.tex").write_text("do not lose me")
    done = seamline("export", tmp_path, home=campaign, check=False)
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr and "no Seamline export" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
    done = seamline("export", tmp_path / "thesis.tex", home=campaign, check=False)
    assert done.returncode == 1 and "a file" in done.stderr


def test_a_home_without_a_build_or_without_data_says_what_to_do(home, tmp_path):
    done = seamline("export", tmp_path / "out", home=home, check=False)
    assert done.returncode == 1 and "run `seamline build`" in done.stderr
    seamline("build", home=home)
    done = seamline("export", tmp_path / "out", "--only", "curves", home=home, check=False)
    assert done.returncode == 1 and "curves: nothing to export" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_domain_or_profile_is_wrong_usage(home, tmp_path):
    for wrong in (["--only", "curves,curls"], ["--profile", "huge"], ["--only", ""]):
        done = seamline("export", tmp_path / "out", *wrong, home=home, check=False)
        assert done.returncode == 2 and "Traceback" not in done.stderr


def test_by_run_files_ingested_again_give_the_same_curve(out, campaign, home):
    seamline("ingest", "wandb", out, home=home)
    seamline("build", "--select", "+arm_metrics", "+arm_steps", "--resource-type", "model", home=home)
    renamed = Path(files_of(out)["alpha"]).stem
    curve = "select training_step, position, run_id from arm_steps where arm = '{}' order by all"
    assert query(home, curve.format(renamed)) == query(campaign, curve.format("alpha"))
    # a logged null and an absent value are one empty cell; the key that clashed got its path for a name
    values = """select training_step, metric, value, value_text from arm_metrics
        where arm = '{}' and metric <> '["a","b"]' and (value is not null or value_text is not null) order by all"""
    again = query(home, values.format(renamed))
    assert len(again) == 7 + 6 + 4 + 2 + 5  # global_step, scores, dead, big, and one each of five others
    assert repr(again) == repr(query(campaign, values.format("alpha")))
