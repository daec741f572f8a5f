"""The guard: no other way leads to a memory's files, and none is barred that leads elsewhere."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.memory.file_guard import Guard


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a memory in a folder and another in a file, and other files beside them."""
    home = tmp_path / "home"
    (home / ".memory/memory").mkdir(parents=True)
    (home / "notes").mkdir()
    (home / ".memory/MEMORY.md").write_text("secret", encoding="utf-8")
    (home / ".memory/memory/2026-01-05.md").write_text("secret", encoding="utf-8")
    (home / "brain.db").write_text("secret", encoding="utf-8")
    (home / "brain.db-wal").write_text("secret", encoding="utf-8")
    (home / "notes/todo.md").write_text("tea", encoding="utf-8")
    (home / "readme.md").write_text("hello", encoding="utf-8")
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def guard(home: Path) -> Guard:
    """A guard that knows where both memories are."""
    return Guard([home / ".memory", home / "brain.db"])


PROTECTED = [
    ".memory",
    ".memory/",
    ".memory/MEMORY.md",
    ".memory/memory/2026-01-05.md",
    ".memory/not there yet.md",
    "./notes/../.memory/MEMORY.md",
    "notes/absent/../../.memory/MEMORY.md",
    ".memory//MEMORY.md",
    ".Memory/memory.MD",
    "BRAIN.DB",
    ".\uff2dEMORY/MEMORY.md",
    "\u2024memory/MEMORY.md",
    "brain\uff0edb",
    "\ufb01le:brain.db",
    ".mem\u200bory/MEMORY.md",
    "%2ememory/MEMORY.md",
    "%252ememory%252fMEMORY.md",
    "notes/%2e%2e/.memory/MEMORY.md",
    "notes\\..\\.memory\\MEMORY.md",
    "~/.memory/MEMORY.md",
    "$HOME/.memory/MEMORY.md",
    "${HOME}/brain.db",
    " .memory/MEMORY.md ",
    ".memory./MEMORY.md",
    "brain.db ",
    "brain.db::$DATA",
    "brain.db-wal",
    "brain.db-shm",
    "brain.db-journal",
    "brain.db.lock",
    "brain.db.bak",
    "brain.db~",
    "brain.db.damaged-0123",
    ".brain.db.x1y2.tmp",
    "brain.db-wal/",
    "/proc/self/cwd/.memory/MEMORY.md",
    "/proc/self/cwd/brain.db",
    "/proc/thread-self/cwd/brain.db",
    "/proc/self/mem",
    "/proc/self/environ",
    "/proc/1/root/nobody/knows",
    "x\0y",
    "n" * 5000,
]


def test_a_path_to_the_memory_is_protected_however_it_is_spelled(
    guard: Guard, subtests: pytest.Subtests
) -> None:
    """As text, as bytes, from the root of the file system, and as an URL where it could be one."""
    for path in PROTECTED:
        with subtests.test(path=path):
            assert guard.is_protected(path)
            assert guard.is_protected(path.encode())
            if "\0" not in path and not path.startswith(("/", " ", "~", "$", "\ufb01")):
                assert guard.is_protected(Path(path))
                assert guard.is_protected(f"{os.getcwd()}/{path}")  # noqa: PTH109 - spelled, not joined
                assert guard.is_protected(f"file://{os.getcwd()}/{path}")  # noqa: PTH109 - as above
                assert guard.is_protected(f"FILE://localhost{os.getcwd()}/{path}")  # noqa: PTH109 - as above


@pytest.mark.parametrize(
    "path",
    [
        "readme.md",
        "notes/todo.md",
        "notes",
        "memory",
        "memory/MEMORY.md",
        "MEMORY.md",
        ".memories/x",
        "notes/brain.db",
        "brain.py",
        "abrain.db",
        "100%.md",
        "50%ff.md",
        "caf\u00e9.md",
        "new folder/new file.md",
        "/etc/hostname",
        "/proc/meminfo",
        "..",
        ".",
        "",
    ],
)
def test_what_leads_elsewhere_is_not_protected(guard: Guard, path: str) -> None:
    """Tools that may read everything else must be able to."""
    assert not guard.is_protected(path)


def test_links_are_followed(home: Path, guard: Guard) -> None:
    """To a file, to a folder, over several, to what is not there yet, and past the root's own."""
    (home / "a").symlink_to(".memory/MEMORY.md")
    (home / "b").symlink_to(home / ".memory")
    (home / "c").symlink_to("b/memory")
    (home / "d").symlink_to(".memory/new.md")
    (home / "notes/e").symlink_to("..")
    (home / "f").symlink_to("brain.db-wal")
    (home / "g").symlink_to("readme.md")

    for path in ("a", "b", "b/MEMORY.md", "c/2026-01-05.md", "d", "notes/e/brain.db", "f"):
        assert guard.is_protected(path)
    assert not guard.is_protected("g")
    assert not guard.is_protected("notes/e/readme.md")


def test_dots_mean_what_the_system_takes_them_for(home: Path, guard: Guard) -> None:
    """After a link, `..` is the folder above its target; a tool may take it for the one before."""
    (home / "elsewhere/deep").mkdir(parents=True)
    (home / "link").symlink_to("elsewhere/deep")
    (home / "notes/in").symlink_to(home / ".memory/memory")

    assert guard.is_protected("notes/in/../MEMORY.md")
    assert guard.is_protected("link/../.memory")
    assert guard.is_protected("link/../../brain.db")


def test_hard_links_are_recognised(home: Path, guard: Guard) -> None:
    """Another name for the same file, wherever it is: of a root, below one, and beside one."""
    os.link(".memory/memory/2026-01-05.md", "notes/a")
    os.link("brain.db", "notes/b")
    os.link("brain.db-wal", "notes/c")
    os.link("readme.md", "notes/d")

    assert [True, True, True, False] == [guard.is_protected(f"notes/{n}") for n in "abcd"]
    (home / "notes/e").symlink_to("a")
    assert guard.is_protected("notes/e")


def test_a_root_that_is_a_link_is_protected_at_both_ends(home: Path) -> None:
    """As it was named, and as what it points to; and where it points to later."""
    (home / "link").symlink_to("notes")
    guard = Guard([home / "link"])

    assert guard.is_protected("link/todo.md")
    assert guard.is_protected("notes/todo.md")
    (home / "other").mkdir()
    (home / "link").unlink()
    (home / "link").symlink_to("other")
    assert guard.is_protected("other/file.md")


def test_a_root_that_is_not_there_yet_is_protected_when_it_is(home: Path) -> None:
    """Be it a folder or a file then."""
    guard = Guard(["later", "later.db"])
    for path in ("later", "later/x.md", "later.db", "later.db-wal"):
        assert guard.is_protected(path)
    (home / "later").mkdir()
    (home / "laterlink").symlink_to("later")

    assert guard.is_protected("laterlink/x.md")
    assert not guard.is_protected("laterly.md")


def test_where_a_path_starts_from_may_be_told(home: Path, guard: Guard) -> None:
    """A tool's own folder, not the process's."""
    assert guard.is_protected("MEMORY.md", base=home / ".memory")
    assert guard.is_protected("../brain.db", base=str(home / "notes"))
    assert not guard.is_protected("readme.md", base=home / "notes")


def test_tools_that_go_into_folders_are_kept_from_those_above(home: Path, guard: Guard) -> None:
    """Searching or packing the project would read the memory along with it."""
    for path in (".", "", str(home), str(home.parent), "/", "notes/.."):
        assert guard.is_protected(path, recursive=True)
        assert not guard.is_protected(path)
    assert not guard.is_protected("notes", recursive=True)


def test_what_was_opened_can_be_asked_about(home: Path, guard: Guard) -> None:
    """A link that is turned after the check is found out by its descriptor."""
    os.link("brain.db", "notes/hard")
    for path, expected in (
        (".memory/MEMORY.md", True),
        ("brain.db-wal", True),
        ("notes/hard", True),
        ("readme.md", False),
    ):
        with (home / path).open("rb") as file:
            assert expected == guard.is_protected(file.fileno())
            assert expected == guard.is_protected(f"/dev/fd/{file.fileno()}")
    with (home / ".memory/gone.md").open("wb") as file:
        (home / ".memory/gone.md").unlink()
        assert guard.is_protected(file.fileno())
    assert guard.is_protected(99_999)


def test_what_cannot_be_decided_is_protected(
    home: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of links, and whatever the system refuses to tell."""
    (home / "ring").symlink_to("gnir")
    (home / "gnir").symlink_to("ring")
    assert guard.is_protected("ring")
    assert guard.is_protected("ring/x")
    assert guard.is_protected(None)  # type: ignore[arg-type]
    for name in ("stat", "getcwd"):
        with monkeypatch.context() as patch:

            def refused(*_: object) -> None:
                raise PermissionError(13, "Permission denied")

            patch.setattr(os, name, refused)
            assert guard.is_protected("readme.md")


@pytest.mark.parametrize("root", [".memory", "brain.db"])
def test_a_folder_that_cannot_be_looked_into_hides_no_link(
    home: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    """Where the memory's own files cannot be listed, what has several names is protected."""
    guard = Guard([home / root])
    os.link("readme.md", "notes/other")
    assert not guard.is_protected("notes/other")

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refused)

    assert guard.is_protected("notes/other")


def test_a_path_with_more_spellings_than_can_be_looked_at_is_protected(guard: Guard) -> None:
    """Nobody can say what a tool would make of it."""
    assert guard.is_protected("%" + "25" * 80 + "2freadme.md")
    assert guard.is_protected("%2525252525252525252ememory/MEMORY.md")


def test_a_root_that_is_no_path_is_refused() -> None:
    """A guard that would guard nothing is not made."""
    with pytest.raises(ValueError, match="is no path"):
        Guard(["a\0b"])


def test_every_file_that_sqlite_keeps_is_protected(home: Path) -> None:
    """In each way it has of writing its journal."""
    guard = Guard([home / "notes/store.sqlite"])
    for mode in ("wal", "delete", "persist", "truncate"):
        connection = sqlite3.connect(home / "notes/store.sqlite")
        connection.execute(f"pragma journal_mode={mode}")
        connection.execute("create table if not exists t (x)")
        connection.execute("insert into t values (1)")
        beside = {p.name for p in (home / "notes").iterdir()} - {"todo.md"}
        assert len(beside) > 1 - (mode == "truncate")
        assert all(guard.is_protected(f"notes/{name}") for name in beside)
        connection.close()
    assert not guard.is_protected("notes/todo.md")


def disguised(part: str) -> Iterator[str]:
    """Ways to write a part of a path."""
    yield part
    yield part.swapcase()
    yield "".join(f"%{ord(c):02x}" for c in part)
    yield "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in part)
    yield part[:2] + "\u200d" + part[2:]
    yield f"absent/../{part}"
    yield f"./{part}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_disguises_may_be_combined(guard: Guard, data: st.DataObject) -> None:
    """Each part of a path in another one."""
    parts = data.draw(st.sampled_from([[".memory", "MEMORY.md"], ["notes", "..", "brain.db-wal"]]))
    path = "/".join(data.draw(st.sampled_from([*disguised(part)])) for part in parts)

    assert guard.is_protected(path)
