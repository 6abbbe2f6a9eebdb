"""Exports checked, and published by the official client to a Hub on this machine that fails to order."""

import hashlib
import os
from pathlib import Path

import pytest

from tests.python.support.command import seamline
from tests.python.support.hub_server import HubServer

REPO = "lab/campaign"
TOKEN = "hf_" + "x" * 34


def write_export(folder: Path, files: dict[str, str]) -> Path:
    """A folder with the lists that an export has."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    lines = "".join(f"{path}\t{len(text.encode())}\n" for path, text in sorted(files.items()))
    (folder / "FILES.txt").write_text(lines)
    sums = {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in [*files, "FILES.txt"]}
    (folder / "SHA256SUMS").write_text("".join(f"{digest}  {path}\n" for path, digest in sorted(sums.items())))
    return folder


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with HubServer() as server:
        for name, value in (server.environment(tmp_path / "hf") | {"HF_TOKEN": TOKEN}).items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_export(tmp_path / "out", {"README.md": "---\ntags:\n- a\n---\n# A\n", "by-arm/a b.csv": "x\n1\n"})


def held(hub: HubServer) -> dict[str, bytes]:
    return {path: data for path, data in hub.repos["dataset", REPO]["main"].items() if path != ".gitattributes"}


def local(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def publish(folder: Path, *options: str):
    done = seamline("publish", folder, REPO, *options, check=False)
    assert TOKEN not in done.stdout + done.stderr and "Traceback" not in done.stderr
    return done


def test_an_export_is_created_updated_and_pruned(hub, folder):
    done = publish(folder)
    assert done.returncode == 1 and "--create" in done.stderr and not hub.repos
    done = publish(folder, "--create", "--dry-run")
    assert done.returncode == 0 and "(private)" in done.stdout and "add     by-arm/a b.csv" in done.stdout
    assert not hub.repos
    assert publish(folder, "--create").returncode == 0
    assert held(hub) == local(folder) and hub.private == {REPO: True} and len(hub.commits) == 1
    done = publish(folder)
    assert done.returncode == 0 and "unchanged: 4 files" in done.stdout and len(hub.commits) == 1

    (folder / "by-arm" / "a b.csv").unlink()
    write_export(folder, {"README.md": "---\ntags:\n- a\n---\n# A\n", "by-arm/b.csv": "y\n2\n"})
    done = publish(folder)
    assert done.returncode == 0 and "--prune" in done.stdout and set(held(hub)) == {*local(folder), "by-arm/a b.csv"}
    assert hub.commits[1] == ["FILES.txt", "by-arm/b.csv", "SHA256SUMS"]  # the README was there already
    done = publish(folder, "--prune", "--dry-run")
    assert "delete  by-arm/a b.csv" in done.stdout and len(hub.commits) == 2
    assert publish(folder, "--prune").returncode == 0
    assert held(hub) == local(folder) and ".gitattributes" in hub.repos["dataset", REPO]["main"]


def test_a_busy_hub_is_asked_again_and_a_commit_whose_answer_was_lost_is_not_sent_twice(hub, folder):
    hub.faults = [("/tree/", 503), ("repos/create", 429), ("preupload", 500), ("commit", "cut"), ("commit", "lost")]
    done = publish(folder, "--create", "--public")
    assert done.returncode == 0, done.stderr
    assert held(hub) == local(folder) and len(hub.commits) == 1 and hub.private == {REPO: False}
    assert not hub.faults and "trying again" in done.stderr


@pytest.mark.parametrize(
    ("place", "status", "says"), [("commit", 403, "write access"), ("repos/create", 401, "hf auth login")]
)
def test_who_may_not_write_is_told_at_once(hub, folder, place, status, says):
    hub.faults = [(place, status)]
    done = publish(folder, "--create")
    assert done.returncode == 1 and says in done.stderr and "trying again" not in done.stderr
    assert len([request for request in hub.requests if place in request]) == 1
    assert publish(folder, "--create").returncode == 0 and held(hub) == local(folder)


def test_an_export_that_is_not_as_it_was_written_is_not_published(hub, folder):
    (folder / "by-arm" / "a b.csv").write_text("x\n2\n")
    (folder / "notes.txt").write_text("mine")
    done = publish(folder, "--create")
    assert done.returncode == 1 and not hub.requests
    assert "by-arm/a b.csv: not the content" in done.stderr and "notes.txt: there but not listed" in done.stderr
    (folder / "FILES.txt").unlink()
    done = publish(Path(os.path.relpath(folder)), "--create")
    assert done.returncode == 1 and "no Seamline export" in done.stderr
