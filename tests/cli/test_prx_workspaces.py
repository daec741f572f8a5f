"""Rules for `memsim memory` where the memory is a workspace of PRX."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.systems.prx.brain import BRAIN, Brain
from memsim.systems.prx.markdown_files import MarkdownFiles
from memsim.systems.prx.schema import AccessStamp

Call = Callable[..., Result]
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SECRET = "rosehip-7731"


def settings(folder: Path, *lines: str, audit: bool = False) -> Path:
    """Write PRX's settings; the file."""
    path = folder / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    rest = "[security.audit]\nenabled = true\n" if audit else ""
    path.write_text("\n".join(["[memory]", *lines, rest]), "utf-8")
    return path


def filled(folder: Path) -> Path:
    """A workspace with rows of two."""
    brain = Brain(folder / BRAIN)
    for key, text, category, owner in (
        ("deadline", "Project deadlines are on Fridays", "core", "ana"),
        ("code", f"The door code is {SECRET}", "core", "ana"),
        ("cat", "Project cat", "daily", "ben"),
    ):
        brain.store(key, text, category, now=NOW, stamp=AccessStamp(sender_id=owner))
    brain.connection.execute("INSERT INTO shared VALUES ('ben', 'ana', '*')")
    brain.close()
    return folder


@pytest.fixture
def call() -> Call:
    """`memsim memory` with these words."""

    def called(*words: object) -> Result:
        return CliRunner().invoke(program, ["memory", *map(str, words)])

    return called


def told(done: Result) -> Any:  # noqa: ANN401 - whatever is printed
    """What a command printed as JSON."""
    assert 0 == done.exit_code, done.output
    return json.loads(done.stdout)


def keys(done: Result) -> list[str]:
    """The keys of what was listed."""
    return [entry["key"] for entry in told(done)["entries"]]


def test_a_workspace_is_looked_into_as_it_stands(tmp_path: Path, call: Call) -> None:
    """The documented verbs work on the folder that PRX keeps its database in."""
    at = ("--memory", filled(tmp_path), "--format", "json")

    stats = told(call("stats", *at))
    assert {"core": 2, "daily": 1} == stats["categories"]
    assert "sqlite" == stats["backend"]
    assert ["deadline", "code"] == keys(call("list", "--category", "core", *at))
    assert ["deadline", "cat"] == keys(call("search", "project deadlines", *at))
    assert "Project cat" == told(call("get", "cat", *at))["text"]
    assert ["deadline", "code", "cat"] == keys(call("export", *at))


@pytest.mark.parametrize("named", ["folder", "settings", "home"])
def test_its_settings_say_who_sees_what(tmp_path: Path, call: Call, named: str) -> None:
    """Under access control one sees what is one's own or shared with one."""
    inside = named != "home"
    folder = filled(tmp_path if inside else tmp_path / "workspace")
    config = settings(tmp_path, "acl_enabled = true")
    at = ("--memory", config if named == "settings" else tmp_path, "--format", "json")

    assert folder.exists()
    assert 4 == call("list", *at).exit_code
    assert ["cat"] == keys(call("list", "--as", "ben", *at))
    assert [] == keys(call("search", "project deadlines", "--as", "carl", *at))
    assert ["deadline", "cat"] == keys(call("search", "project deadlines", "--as", "ana", *at))
    assert 4 == call("get", "deadline", "--as", "ben", *at).exit_code


def test_looking_changes_nothing(tmp_path: Path, call: Call) -> None:
    """Whatever is asked, not a byte of the workspace is another one."""
    folder = filled(tmp_path)
    settings(folder, "acl_enabled = true")
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    for verb in (["stats"], ["list"], ["search", "project"], ["get", "code"], ["export"]):
        assert 0 == call(*verb, "--memory", folder, "--as", "ana").exit_code

    assert before == {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_is_forgotten_leaves_the_disk(tmp_path: Path, call: Call) -> None:
    """Rows, words and files hold nothing of it; another's stays, and looks as if it were not."""
    folder = filled(tmp_path)
    settings(folder, "acl_enabled = true")
    MarkdownFiles(folder, stamped=True).append("code", f"The door code is {SECRET}", "core", NOW)

    assert 4 == call("forget", "code", "--memory", folder, "--as", "ben").exit_code
    assert 0 == call("forget", "code", "--memory", folder, "--as", "ana").exit_code

    for path in folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()
    left = call("list", "--as", "ana", "--memory", folder, "--format", "json")
    assert ["deadline", "cat"] == keys(left)


def test_who_looked_is_noted_where_the_settings_want_it(tmp_path: Path, call: Call) -> None:
    """As `security.audit.enabled` has it."""
    folder = filled(tmp_path)
    settings(folder, audit=True)

    call("get", "cat", "--memory", folder, "--as", "ben")
    call("get", "dog", "--memory", folder, "--as", "ben")

    with sqlite3.connect(folder / BRAIN) as database:
        noted = database.execute("SELECT requester, action, query, result FROM access_audit_log")
        assert [
            ("ben", "memory_get", "cat", "allowed"),
            ("ben", "memory_get", "dog", "missing"),
        ] == noted.fetchall()


def test_a_workspace_of_files_is_looked_into(tmp_path: Path, call: Call) -> None:
    """With `backend = "markdown"` there is no database."""
    settings(tmp_path, 'backend = "markdown"')
    files = MarkdownFiles(tmp_path, stamped=False)
    files.append("deadline", "Project deadlines are on Fridays", "core", NOW)
    files.append("cat", "Project cat", "daily", NOW)
    at = ("--memory", tmp_path, "--format", "json")

    assert ["deadline", "cat"] == keys(call("list", *at))
    assert ["deadline", "cat"] == keys(call("search", "project deadlines", *at))
    assert 0 == call("forget", "cat", "--as", "ana", "--memory", tmp_path).exit_code
    assert ["deadline"] == keys(call("list", *at))


def test_an_older_database_is_read(tmp_path: Path, call: Call) -> None:
    """Columns that it has not got yet are taken as empty, and stay missing."""
    (tmp_path / BRAIN).parent.mkdir()
    with sqlite3.connect(tmp_path / BRAIN) as database:
        database.execute(
            "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT"
            " NOT NULL, category TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)"
        )
        at = NOW.isoformat()
        database.execute("INSERT INTO memories VALUES ('1', 'k', 'v', 'core', ?, ?)", (at, at))
    database.close()

    assert ["k"] == keys(call("list", "--memory", tmp_path, "--format", "json"))
    assert 0 == call("forget", "k", "--as", "ana", "--memory", tmp_path).exit_code
    assert [] == keys(call("list", "--memory", tmp_path, "--format", "json"))


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (['backend = "postgres"'], "its backend is postgres: nothing is kept here"),
        (["acl = true"], "[memory] takes no 'acl'"),
        ([], "brain.db: is missing"),
    ],
)
def test_what_cannot_be_looked_into_is_told_in_one_line(
    tmp_path: Path, call: Call, lines: list[str], wrong: str
) -> None:
    """Settings without their rows are somebody's mistake."""
    settings(tmp_path, *lines)
    done = call("list", "--memory", tmp_path)

    assert 4 == done.exit_code
    assert wrong in done.stderr
    assert 1 == len(done.stderr.strip().split("\n"))


def test_a_damaged_database_is_told_in_one_line(tmp_path: Path, call: Call) -> None:
    """As any other file that is not what it is to be."""
    (tmp_path / BRAIN).parent.mkdir()
    (tmp_path / BRAIN).write_bytes(b"no database at all" * 100)
    done = call("list", "--memory", tmp_path)

    assert 4 == done.exit_code
    assert "brain.db: file is not a database" in done.stderr
