"""Imports run one way: seamline -> simulate -> export, ingest, warehouse -> homes; and no circle within a room."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.python.support.command import ROOT

LEVELS = {"homes": 0, "ingest": 1, "warehouse": 1, "export": 1, "simulate": 2, "seamline": 3, "tests": 4}
"""A room imports itself and rooms of lower levels."""


def imports(root: Path) -> dict[str, set[str]]:
    """Every module of the rooms below `root`, and the modules of the rooms that it imports, inside functions too."""
    files = [root / "seamline.py", *(f for room in LEVELS if room != "tests" for f in (root / room).rglob("*.py"))]
    modules = {_name(file.relative_to(root)): file for file in files if file.exists()}
    return {name: set(_imported(name, ast.parse(file.read_text()), modules)) for name, file in modules.items()}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(name: str, tree: ast.Module, modules: dict[str, Path]) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: name the room, `from .{node.module or ''} import` does not"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [path if path in modules else node.module for path in inner]
    return [module for module in found if module.split(".")[0] in LEVELS]


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Each import of a room that stands beside or above, as `module -> module`."""
    return [
        f"{module} -> {other}"
        for module, others in sorted(graph.items())
        for other in sorted(others)
        if (room := module.split(".")[0]) != other.split(".")[0] and LEVELS[room] <= LEVELS[other.split(".")[0]]
    ]


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle of imports, the first again at its end; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_room_imports_one_beside_or_above_it():
    assert upward(imports(ROOT)) == []


def test_no_modules_import_each_other():
    assert circle(imports(ROOT)) == []


@pytest.mark.parametrize(
    ("planted", "told_upward", "told_circle"),
    [
        ({"homes/paths.py": "from ingest.run import ingest"}, ["homes.paths -> ingest.run"], False),
        ({"export/run.py": "import warehouse.build"}, ["export.run -> warehouse.build"], False),
        ({"ingest/run.py": "def late():\n    from seamline import main"}, ["ingest.run -> seamline"], False),
        ({"simulate/demo.py": "from tests import data"}, ["simulate.demo -> tests"], False),
        ({"ingest/a.py": "from ingest import b", "ingest/b.py": "def late():\n    import ingest.a"}, [], True),
        ({"seamline.py": "import simulate.demo", "simulate/demo.py": "from ingest.run import ingest"}, [], False),
    ],
)
def test_a_planted_upward_import_or_circle_is_told(planted, told_upward, told_circle, tmp_path):
    for place, code in planted.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(code)
    graph = imports(tmp_path)
    assert upward(graph) == told_upward
    assert bool(circle(graph)) == told_circle
