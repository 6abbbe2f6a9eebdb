"""README.md against the command line, the Makefile and the files that it names."""

import re
import shlex

import pytest
import typer.main

import seamline
from homes.schema import declared_tables
from tests.python.support.command import ROOT

README = (ROOT / "README.md").read_text()
CODE = "\n".join(re.findall(r"```\w*\n(.*?)```", README, re.DOTALL))
INLINE = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL))
MENTIONS = [
    line.split("#")[0].strip().removeprefix(".venv/bin/")
    for line in [*CODE.splitlines(), *INLINE]
    if re.match(r"(\.venv/bin/)?seamline ", line)
]
COMMANDS = typer.main.get_command(seamline.app)


def find(words: list[str]):
    """The command that the words name, and the words after it."""
    command = COMMANDS
    while words and hasattr(command, "commands"):
        if command.name == "ingest" and words[0] not in command.commands:  # a path: its kind is found by content
            return command.commands["auto"], words
        assert words[0] in command.commands, f"no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def options(command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts if option.startswith("--")}


def paths(command=COMMANDS, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Every command's words and options."""
    if not hasattr(command, "commands"):
        return {path: options(command)}
    return {k: v for name, sub in command.commands.items() for k, v in paths(sub, (*path, name)).items()}


@pytest.mark.parametrize("mention", MENTIONS)
def test_every_command_in_the_readme_exists_with_its_options(mention):
    command, rest = find(shlex.split(mention)[1:])
    if command.name != "build":  # its further arguments are dbt's
        assert {word for word in rest if word.startswith("--")} <= options(command)
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        assert bool(arguments) or not [word for word in rest if not word.startswith("-")]


def test_every_command_and_option_is_in_the_readme():
    mentioned: dict[tuple[str, ...], set[str]] = {}
    for mention in MENTIONS:
        words = shlex.split(mention)[1:]
        name = tuple(words[: 2 if words[0] == "ingest" else 1])
        mentioned.setdefault(name, set()).update(word for word in words if word.startswith("--"))
    for path, known in paths().items():
        assert path in mentioned, f"{' '.join(path)} is not in the README"
        assert known - {"--home"} <= mentioned[path], f"{' '.join(path)}: options missing in the README"


def test_every_make_target_in_the_readme_exists_and_the_other_way():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"\.PHONY: (.*)", makefile)[1].split())
    mentioned = set(re.findall(r"\bmake ([\w-]+)", CODE + "\n".join(INLINE)))
    assert mentioned == targets


def test_every_declared_file_is_described():
    assert set(re.findall(r"^\| `(\w+)\.csv` \|", README, re.MULTILINE)) == set(declared_tables())
    assert {path.stem for path in (ROOT / "seeds").glob("*.csv")} == set(declared_tables())


def test_every_mart_that_a_query_reads_exists():
    marts = {path.stem for path in (ROOT / "models" / "marts").rglob("*.sql")}
    assert set(re.findall(r"\b(?:from|join) (\w+)", CODE + "\n".join(INLINE))) - marts == set()


def test_links_and_paths_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
    for text in INLINE:
        if re.fullmatch(r"(models|macros|tests|seeds|ingest|export|simulate|warehouse)/[\w/.]*|\w+\.(yml|toml)", text):
            assert (ROOT / text).exists(), text


def test_the_changelog_names_the_version():
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
