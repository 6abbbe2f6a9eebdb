"""Every mart and column is described; every published file belongs to an exposure."""

import fnmatch
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from tests.python.support.command import ROOT
from tests.python.support.models import MARTS

DOCUMENTS = {path: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "models").rglob("*.yml"))}
MODELS = {model["name"]: model for document in DOCUMENTS.values() for model in document.get("models", [])}
SOURCES = [source for document in DOCUMENTS.values() for source in document.get("sources", [])]
EXPOSURES = DOCUMENTS[ROOT / "models" / "exposures.yml"]["exposures"]


def is_told(text: object) -> bool:
    return isinstance(text, str) and len(text.strip()) >= 3


def test_every_mart_and_column_is_described():
    assert sorted(set(MARTS) - MODELS.keys()) == []
    silent = [name for name in MARTS if not is_told(MODELS[name].get("description"))]
    silent += [
        f"{name}.{column['name']}"
        for name in MARTS
        for column in MODELS[name]["columns"]
        if not is_told(column.get("description"))
    ]
    assert silent == []


def test_every_source_and_its_columns_are_described():
    silent = []
    for source in SOURCES:
        for table in source["tables"]:
            silent += [table["name"]] if not is_told(table.get("description")) else []
            silent += [f"{table['name']}.{c['name']}" for c in table["columns"] if not is_told(c.get("description"))]
    assert silent == []


def test_every_published_file_belongs_to_an_exposure(demo):
    patterns = [(exposure["name"], p) for exposure in EXPOSURES for p in exposure["config"]["meta"]["files"]]
    folder = demo / "exports"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    files -= {"FILES.txt", "SHA256SUMS"}
    matched = {file: [name for name, p in patterns if fnmatch.fnmatch(file, p)] for file in files}
    assert [file for file, names in matched.items() if not names] == []
    assert [p for name, p in patterns if not any(fnmatch.fnmatch(file, p) for file in files)] == []


def test_exposures_name_every_mart_that_exports_read():
    named = {ref for e in EXPOSURES for ref in re.findall(r"ref\('(\w+)'\)", " ".join(e["depends_on"]))}
    code = "\n".join(p.read_text() for p in (ROOT / "export").rglob("*.py") if "report" not in p.parts)
    read = {name for name in re.findall(r"\b(?:from|join) (\w+)", code) if name in MARTS}
    assert read - named == set()
    assert named - set(MODELS) - {p.stem for p in (ROOT / "models").rglob("*.sql")} == set()


def test_the_docs_page_is_built_and_holds_every_mart(demo, tmp_path):
    command = re.search(r"^docs:\n(?:\t.*\n)*?\t\$\(BIN\)/(dbt .*)\n", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    arguments = [*shlex.split(command)[1:], "--target-path", str(tmp_path)]
    environment = os.environ | {"SEAMLINE_HOME": str(demo), "DBT_LOG_PATH": str(tmp_path / "logs")}
    dbt = Path(sys.executable).parent / "dbt"
    done = subprocess.run([dbt, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "static_index.html").read_text()
    assert all(f"model.seamline.{mart}" in page for mart in MARTS)
    assert not re.search(r"""<(?:script|link|img)[^>]+(?:src|href)=["']?(?:https?:)?//""", page)
