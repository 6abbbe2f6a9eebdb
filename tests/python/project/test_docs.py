"""README.md, CONTRIBUTING.md and docs/ against the command line, the Makefile and the files that they name."""

import re
import shlex
from itertools import pairwise

import pytest
import typer.main

import seamline
from homes.schema import declared_tables
from tests.python.support.command import ROOT
from tests.python.support.models import MARTS

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
}
FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
CODE = {page: "\n".join(FENCE.findall(text)) for page, text in PAGES.items()}
INLINE = {page: re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) for page, text in PAGES.items()}
MENTIONS = [
    (page, found[1].split("#")[0].strip())
    for page in PAGES
    for line in [*CODE[page].splitlines(), *INLINE[page]]
    if (found := re.match(r"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(seamline .*)", line))
]
"""(page, command) of everything that is written as a command."""
EVERYTHING = "\n".join([*CODE.values(), *(text for texts in INLINE.values() for text in texts)])
COMMANDS = typer.main.get_command(seamline.app)
ROOMS = "homes|ingest|warehouse|models|macros|seeds|tests|export|simulate|docs"


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


def is_placeholder(words: list[str]) -> bool:
    """Whether this speaks of a command as such: `seamline ingest`, `seamline ingest <kind>`."""
    return words == ["ingest"] or any(word.startswith("<") for word in words)


@pytest.mark.parametrize(("page", "mention"), MENTIONS)
def test_every_command_exists_with_its_options(page, mention):
    words = shlex.split(mention)[1:]
    if is_placeholder(words):
        return
    command, rest = find(words)
    if command.name != "build":  # its further arguments are dbt's
        assert {word for word in rest if word.startswith("--")} <= options(command)
        has_arguments = any(p.param_type_name == "argument" for p in command.params)
        with_value = {o for p in command.params for o in p.opts if not getattr(p, "is_flag", True)}
        given = [word for before, word in pairwise(["", *rest]) if word[:1] != "-" and before not in with_value]
        assert has_arguments or not given


def test_every_command_and_option_is_documented():
    mentioned: dict[tuple[str, ...], set[str]] = {}
    for _, mention in MENTIONS:
        words = shlex.split(mention)[1:]
        name = tuple(words[: 2 if words[0] == "ingest" else 1])
        mentioned.setdefault(name, set()).update(word for word in words if word.startswith("--"))
    for path, known in paths().items():
        assert path in mentioned, f"{' '.join(path)} is on no page"
        assert known - {"--home"} <= mentioned[path], f"{' '.join(path)}: options that are on no page"
    assert "--home" in EVERYTHING


def test_every_make_target_exists_and_the_other_way():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"\.PHONY: (.*)", makefile)[1].split())
    assert set(re.findall(r"\bmake ([\w-]+)", EVERYTHING)) == targets


def test_every_declared_file_is_described():
    described = re.findall(r"^\| `(\w+)\.csv` \|", PAGES["docs/declare.md"], re.MULTILINE)
    assert sorted(described) == sorted(declared_tables())
    assert {path.stem for path in (ROOT / "seeds").glob("*.csv")} == set(declared_tables())


def test_every_mart_that_a_query_reads_exists():
    queries = [sql for text in PAGES.values() for sql in re.findall(r"```sql\n(.*?)```", text, re.DOTALL)]
    queries += [text for texts in INLINE.values() for text in texts if text.startswith("select ")]
    queries += re.findall(r'seamline sql "(.*?)"', EVERYTHING)
    assert set(re.findall(r"\b(?:from|join) (\w+)", "\n".join(queries))) - MARTS.keys() == set()


@pytest.mark.parametrize("page", PAGES)
def test_links_and_paths_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        path, _, _ = target.partition("#")
        assert target.startswith("https://") or ((ROOT / page).parent / path).exists(), target
    made_there = set(re.findall(r"`([\w/.-]+)`:\n\n```", PAGES[page]))  # a toy's files
    for text in set(INLINE[page]) - made_there:
        if re.fullmatch(rf"({ROOMS})/[\w/.-]*|\w+\.(yml|toml)|docs/[\w-]+\.\w+", text):
            assert (ROOT / text).exists(), text


def test_the_front_page_is_short_and_leads_to_every_page():
    assert len(PAGES["README.md"].splitlines()) <= 150
    linked = set(re.findall(r"\]\(([^)#]+)\)", PAGES["README.md"]))
    assert PAGES.keys() - linked == {"README.md"}


def test_the_changelog_and_the_citation_name_the_version():
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
