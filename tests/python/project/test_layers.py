"""Marts read staging, exporters read marts: nothing reads past the layer below it."""

import ast
import re
from pathlib import Path

from tests.python.support.command import ROOT

MODELS, EXPORT = ROOT / "models", ROOT / "export"
MARTS = {path.stem for path in (MODELS / "marts").rglob("*.sql")}
SOURCE = re.compile(r"""source\(\s*['"](\w+)['"]""")
QUERY = re.compile(r"\bselect\b.*?\bfrom\b", re.DOTALL | re.IGNORECASE)
READ = re.compile(r"""\b(?:from|join)\s+([\w."]+\(?)""", re.IGNORECASE)
PAST_STAGING = re.compile(r"\b(?:landing|declared|quarantine)\.\w|\bstg_\w", re.IGNORECASE)
OWN_TABLES = {"wide_rows"}
"""Temporary tables that exporters make of marts."""


def landing_sources(models: Path) -> list[str]:
    """The marts below `models` that read a source which no person declared, with the source."""
    return [
        f"{path.name} reads {source}"
        for path in sorted((models / "marts").rglob("*.sql"))
        for source in SOURCE.findall(path.read_text())
        if source != "declared"
    ]


def past_marts(code: str, marts: set[str]) -> list[str]:
    """What the queries in Python strings read that is no mart. Examples in Markdown, between fences, are no queries."""
    found = []
    for text in map(_without_fences, _strings(ast.parse(code))):
        found += PAST_STAGING.findall(text)
        if QUERY.search(text):
            names = {name.strip('"').removeprefix("main.") for name in READ.findall(text)}
            found += sorted(names - marts - OWN_TABLES - {""})
    return found


def _strings(tree: ast.AST) -> list[str]:
    """Every text that is no docstring; an f-string is one text, with `{}` where a value is put in."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in ast.walk(node) if part is not node}
    texts = ["".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values) for node in joined]
    return texts + [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (told | parts)
    ]


def _without_fences(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def test_no_mart_reads_a_landing_source() -> None:
    assert landing_sources(MODELS) == []


def test_a_mart_that_reads_a_landing_source_is_seen(tmp_path: Path) -> None:
    mart = tmp_path / "marts" / "curves" / "planted.sql"
    mart.parent.mkdir(parents=True)
    mart.write_text("select * from {{ source('declared', 'arms') }} join {{ source( 'history', 'history_rows') }}")
    assert landing_sources(tmp_path) == ["planted.sql reads history"]


def test_exporters_read_marts_alone() -> None:
    found = {path.relative_to(ROOT).as_posix(): past_marts(path.read_text(), MARTS) for path in EXPORT.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


def test_an_exporter_that_reads_past_the_marts_is_seen() -> None:
    code = """
CELLS = f"select metric from landing.history_values where metric not in {AUDIT}"
FILES = "select x from read_parquet('landing/*.parquet')"
JOINED = "select * from arms inner join stg_history__logs as logs on true"
SIMPLE = f"select {columns} from {mart} order by {keys}"
"\""From the landing.history_values of old."\""
TEXT = "```sql\\nselect * from read_csv('all_arms_wide.csv')\\n```"
"""
    found = past_marts(code, MARTS)
    assert sorted(found) == ["landing.h", "landing.history_values", "read_parquet(", "stg_h", "stg_history__logs"]
