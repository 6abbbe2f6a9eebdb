"""One campaign on both engines: the same marts, row by row, and no plan that gathers all rows in one place."""

import csv
import json
import math
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest

from homes.schema import tables
from tests.python.support.command import ROOT, seamline
from tests.python.support.parity import differences, mart_names

pytestmark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None, reason="NO SPARK: needs seamline[spark] and Java"
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a small campaign, built on DuckDB and on Spark, unit tests included; but for the grains, which are
    those of DuckDB where the tables are equal."""
    folder = tmp_path_factory.mktemp("both")
    home = folder / "home"
    seamline("simulate", folder / "campaign", "--scale", "small", "--seed", 3)
    seamline("ingest", "auto", folder / "campaign", home=home)
    seamline("build", home=home)
    left_out = ("--exclude-resource-type", "exposure", "--exclude", "test_name:unique_grain")
    seamline("build", "--target", "spark", *left_out, home=home)
    return home


def _marts(home: Path) -> list[str]:
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        return mart_names(warehouse)


def test_every_mart_is_the_same_on_both_engines(both: Path) -> None:
    marts = _marts(both)
    assert len(marts) > 80
    built = [folder.name for folder in (both / "spark" / "warehouse").iterdir()]
    assert sorted(marts) == sorted(name for name in built if not name.startswith("stg_"))
    with duckdb.connect(str(both / "warehouse.duckdb"), read_only=True) as warehouse:
        found = {name: differences(warehouse, name, both / "spark" / "warehouse" / name)[:1] for name in marts}
    assert {name: what for name, what in found.items() if what} == {}


def test_an_export_has_the_same_files_from_both_engines(both: Path, tmp_path: Path) -> None:
    for target in ("duckdb", "spark"):
        seamline("export", tmp_path / target, "--target", target, "--no-figures", home=both)
    told = seamline("export", tmp_path / "spark", "--check", "--target", "spark", home=both).stdout
    assert re.search(r"the rows of \d\d+ CSV files equal their marts", told)
    files = {path.relative_to(tmp_path / "spark") for path in (tmp_path / "spark").rglob("*.csv")}
    assert files == {path.relative_to(tmp_path / "duckdb") for path in (tmp_path / "duckdb").rglob("*.csv")}
    assert len(files) > 50
    for file in files:
        with open(tmp_path / "duckdb" / file) as mine, open(tmp_path / "spark" / file) as theirs:
            for left, right in zip(csv.reader(mine), csv.reader(theirs), strict=True):
                assert left == right or all(map(_same_cell, left, right)), file


def _same_cell(left: str, right: str) -> bool:
    """Whether two cells are the same text, or two numbers that differ in their last digits: sums of doubles do."""
    try:
        return left == right or math.isclose(float(left), float(right), rel_tol=1e-9)
    except ValueError:
        return False


def test_a_build_leaves_nothing_outside_its_home(both: Path) -> None:
    assert not [p for p in ("metastore_db", "derby.log", "spark-warehouse", "artifacts") if (ROOT / p).exists()]
    assert sorted(p.name for p in (both / "spark").iterdir()) == ["warehouse"]


def test_the_comparison_sees_a_changed_cell(both: Path, tmp_path: Path) -> None:
    source = f"read_parquet('{both}/spark/warehouse/arm_metrics/*.parquet')"
    changes = {
        "value": "case when training_step = 1 then value * (1 + 1e-8) + 1e-8 else value end",
        "metric": "metric || case when training_step = 1 then '.' else '' end",
        "training_step": "cast(training_step as integer)",
    }
    with duckdb.connect(str(both / "warehouse.duckdb"), read_only=True) as warehouse:
        for column, changed in changes.items():
            folder = tmp_path / column
            folder.mkdir()
            warehouse.execute(f"copy (select * replace ({changed} as {column}) from {source}) to '{folder}/a.parquet'")
            assert differences(warehouse, "arm_metrics", folder), column


@pytest.fixture(scope="module")
def session(both: Path):
    """A Spark session whose catalog holds the built tables, the landed ones and the staging views."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name, value in (
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
        ("spark.sql.warehouse.dir", str(both / "spark" / "plans")),
        ("spark.sql.adaptive.enabled", "false"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.log.level", "ERROR"),
    ):
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    manifest = json.loads((both / "target-spark" / "manifest.json").read_text())
    for source in manifest["sources"].values():
        spark.sql(f"create schema if not exists {source['schema']}")
        columns = ", ".join(f"`{f.name}` {_spark_type(f.type)}" for f in tables()[source["name"]].schema)
        spark.sql(f"create table {source['schema']}.{source['name']} ({columns}) using parquet")
    spark.sql("create schema main")
    for name in _marts(both):
        place = both / "spark" / "warehouse" / name
        spark.sql(f"create table main.{name} using parquet location 'file:{place}'")
    for node in (n for n in manifest["nodes"].values() if n["path"].startswith("staging/")):
        spark.sql(f"create view main.{node['name']} as {node['compiled_code']}")
    yield spark, manifest
    spark.stop()
    shutil.rmtree(both / "spark" / "plans", ignore_errors=True)


def _spark_type(arrow_type: object) -> str:
    names = {"double": "double", "int64": "bigint", "int32": "int", "bool": "boolean", "date32[day]": "date"}
    text = str(arrow_type)
    if text.startswith("list"):
        return f"array<{_spark_type(arrow_type.value_type)}>"
    return names.get(text, "timestamp" if text.startswith("timestamp") else "string")


def gathered(plan) -> list[str]:
    """The parts of a physical plan that put all rows in one place to order them: a window without a partition, a sort
    of everything."""
    found = []
    name = plan.getClass().getSimpleName()
    if name.startswith("Window") and hasattr(plan, "partitionSpec") and plan.partitionSpec().isEmpty():
        found.append("a window with no partition defined")
    if name == "SortExec" and getattr(plan, "global")():
        found.append("a sort of all rows")
    children = [*_each(plan.children()), *_each(plan.subqueries())]
    return found + [what for child in children for what in gathered(child)]


def _each(sequence) -> list:
    return [sequence.apply(i) for i in range(sequence.size())]


def _plan(spark, sql: str):
    return spark.sql(sql)._jdf.queryExecution().sparkPlan()


def test_no_model_gathers_all_rows_in_one_place(session) -> None:
    spark, manifest = session
    models = [n for n in manifest["nodes"].values() if n["resource_type"] == "model"]
    assert len(models) > 100
    found = {node["name"]: gathered(_plan(spark, node["compiled_code"])) for node in models}
    assert {name: what for name, what in found.items() if what} == {}


def test_the_plan_reader_sees_what_gathers(session) -> None:
    spark, _ = session
    numbered = "select arm, row_number() over (order by run_id) as n from main.run_rows"
    assert gathered(_plan(spark, f"select * from ({numbered}) where n > 2")) == ["a window with no partition defined"]
    assert gathered(_plan(spark, "select * from main.run_rows order by run_id")) == ["a sort of all rows"]
    assert (
        gathered(_plan(spark, "select row_number() over (partition by arm order by run_id) from main.run_rows")) == []
    )
