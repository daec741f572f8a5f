"""The folder of markdown files: readable, editable, loud where damaged, whole after a crash."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.errors import SchemaError, StoreError
from memsim.memory.stores import SCHEMA_VERSION, EmbedderInfo
from memsim.memory.stores.markdown.entry_files import EntryFolder
from memsim.memory.stores.markdown.store import Markdown
from tests.memory.stores.made import ALL, array, entry, unit

VECTOR = array([unit(1, 2, 0, 0)])[0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with 5 entries, closed."""
    root = tmp_path / "memory"
    store = Markdown(root, synced=False)
    store.embedded_by(EmbedderInfo("hash", 4))
    entries = [entry(f"{n}", f"falcon {n}", minute=n) for n in range(5)]
    store.write(entries, array([unit(1, n, 0, 0) for n in range(5)]))
    store.close()
    return root


def file_of(root: Path, key: str) -> Path:
    """Where an entry stands."""
    return root / "long_term" / f"{entry(key).id}.md"


def test_a_file_reads_well(tmp_path: Path) -> None:
    """Fields that YAML can read, then the text as it is; the vector stands elsewhere."""
    drink = entry("tea", "# Tea\n\nAnn drinks *green* tea.", sources=("m1",))
    store = Markdown(tmp_path)
    store.write([drink], array([unit(1, 0, 0, 0)]))

    content = file_of(tmp_path, "tea").read_text()

    assert content.startswith('---\nkey: "tea"\nowner: "ann"\nlayer: "long_term"\n')
    assert 'sources: ["m1"]\n' in content
    assert content.endswith("\n---\n# Tea\n\nAnn drinks *green* tea.\n")


def test_a_folder_may_be_named_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several entries are written there at once, and there they stay when one goes elsewhere."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    store = Markdown(Path("../rel/entries"))
    store.write([entry("one", "1"), entry("two", "2")])
    monkeypatch.chdir(tmp_path)
    store.write([entry("three", "3"), entry("four", "4")])
    store.close()

    assert 4 == len([*(tmp_path / "rel" / "entries").rglob("*.md")])


def test_names_of_files_hold_nothing_of_a_user(tmp_path: Path) -> None:
    """They are digests, whatever keys and owners hold."""
    store = Markdown(tmp_path, synced=False)
    store.write([entry("../../escape", owner="../ann"), entry("nul\x00", owner="a/b\\c")])

    names = sorted(p.name for p in tmp_path.rglob("*.md"))

    assert 2 == len(names)
    assert all(len(name) == 35 and int(name[:32], 16) for name in names)
    assert not list(tmp_path.parent.glob("escape*"))


def test_who_edits_takes_out_the_check(root: Path) -> None:
    """The edited text is remembered and found; its vector was of another text."""
    edit(file_of(root, "2"), "falcon 2", "river 2")

    store = Markdown(root, synced=False)

    assert [entry("2").id] == [h.id for h in store.lexical("river", ALL, 9)]
    assert 4 == len(store.nearest(VECTOR, ALL, 9))


def test_an_open_store_sees_what_another_one_wrote(root: Path) -> None:
    """And an edit of a file, once something is written."""
    one, two = Markdown(root, synced=False), Markdown(root, synced=False)
    edit(file_of(root, "3"), "falcon 3", "a river bank")
    two.write([entry("new", "river")])

    assert {entry(n).id for n in ("new", "3")} == {h.id for h in one.lexical("river", ALL, 9)}
    assert 6 == one.count(ALL)


def edit(path: Path, was: str, becomes: str) -> None:
    """Change a file as the documentation says: without its line `check`."""
    lines = [line for line in path.read_text().split("\n") if not line.startswith("check: ")]
    path.write_text("\n".join(lines).replace(was, becomes))


def swap(root: Path) -> None:
    """Put the file of an entry as it was before its last change."""
    path = file_of(root, "2")
    before = path.read_bytes()
    store = Markdown(root, synced=False)
    store.write([entry("2", "falcon, again")])
    store.close()
    path.write_bytes(before)


def resurrect(root: Path) -> None:
    """Put back the file of an entry that was erased."""
    path = file_of(root, "2")
    before = path.read_bytes()
    store = Markdown(root, synced=False)
    store.erase([entry("2").id])
    store.close()
    path.write_bytes(before)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _journal(root: Path) -> None:
    (root.parent / "mine.txt").write_text("mine")
    (root / "journal.json").write_text('{"moves": [], "gone": ["../mine.txt"]}')


LOSSES: dict[str, tuple[Callable[[Path], object], str]] = {
    "an entry": (lambda root: file_of(root, "2").unlink(), r"\.md: is missing"),
    "a vector": (lambda root: next(root.glob("vectors/*")).unlink(), r"\.f32: is missing"),
    "all vectors": (lambda root: shutil.rmtree(root / "vectors"), r"\.f32: is missing"),
    "a layer": (lambda root: shutil.rmtree(root / "long_term"), r"\.md: is missing"),
    "the manifest": (lambda root: (root / "manifest").unlink(), "was not written by this store"),
    "swapped": (swap, r"\.md: is not what was written last"),
    "resurrected": (resurrect, r"\.md: was not written by this store"),
    "a wrong line": (lambda root: (root / "manifest").write_bytes(b"x" * 85), "manifest:1: is dam"),
    "a pipe": (lambda root: _pipe(file_of(root, "2")), "is not a regular file"),
    "a journal": (_journal, "is no file of the store"),
    "an infinite dimension": (
        lambda root: (root / "store.json").write_text(
            '{"schema": 1, "embedded": {"name": "a", "dimension": 1e999}}'
        ),
        "cannot be read",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_file_that_is_not_as_it_was_left_is_loud(root: Path, name: str) -> None:
    """Removed, swapped or put back: one line names it, and nothing outside is touched."""
    lose, told = LOSSES[name]
    lose(root)

    for _ in range(2):
        with pytest.raises(StoreError, match=told) as raised:
            Markdown(root, synced=False)
        assert "\n" not in str(raised.value)
    assert name != "a journal" or (root.parent / "mine.txt").exists()


@pytest.mark.parametrize("name", ["an entry", "a vector", "the manifest", "swapped"])
def test_a_user_can_accept_the_files_as_they_are(root: Path, name: str) -> None:
    """By making the file `accept`, which is gone afterwards."""
    LOSSES[name][0](root)
    (root / "accept").touch()

    for _ in range(2):
        store = Markdown(root, synced=False)
        assert (4 if name == "an entry" else 5) == store.count(ALL)
        store.close()
    assert not (root / "accept").exists()


@pytest.mark.parametrize("at", range(1, 9))
def test_a_crash_between_the_manifest_and_the_files_is_no_damage(
    root: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Whichever write or move is the last, the next process finds the old state or the new one."""
    left = [at]

    def last(call: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return call(*arguments, **named)

        return counted

    changes: tuple[Callable[[Markdown], object], ...] = (
        lambda s: s.write([entry("2", "river")], array([unit(0, 1, 0, 0)])),
        lambda s: s.erase([entry("2").id]),
        lambda s: s.write([entry("x", "river"), entry("y", "river")]),
        lambda s: s.embedded_by(EmbedderInfo("other", 4)),
    )
    for change in changes:
        folder = root.parent / f"copy{id(change)}"
        shutil.copytree(root, folder)
        store = Markdown(folder, synced=False)
        left[0] = at
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", last(os.pwrite))
            patch.setattr(Path, "replace", last(Path.replace))
            patch.setattr(Path, "unlink", last(Path.unlink))
            with contextlib.suppress(KeyboardInterrupt):
                change(store)
        assert {*store.find(ALL)} == {*Markdown(folder, synced=False).find(ALL)}
        assert {*store.find(ALL)} == {*Markdown(folder, synced=False).find(ALL)}


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "zeros": lambda c: bytes(len(c)),
    "truncated": lambda c: c[: len(c) // 2],
    "a text cut short": lambda c: c[:-2],
    "a changed text": lambda c: c.replace(b"falcon", b"falcom"),
    "a changed owner": lambda c: c.replace(b'"ann"', b'"bob"'),
    "no utf-8": lambda c: c.replace(b"falcon", b"f\xff\xfecon"),
    "a field gone": lambda c: c.replace(b"pinned: false\n", b""),
    "a field more": lambda c: c.replace(b"pinned: false\n", b"pinned: false\nodd: 1\n"),
    "line ends changed": lambda c: c.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_loud(root: Path, name: str) -> None:
    """Opening names the file, keeps a copy of it, and never gives a smaller memory."""
    path = file_of(root, "2")
    damaged = DAMAGES[name](path.read_bytes())
    path.write_bytes(damaged)

    for _ in range(2):
        with pytest.raises(StoreError, match=path.name):
            Markdown(root, synced=False)

    assert damaged == path.read_bytes()
    assert [damaged] == [p.read_bytes() for p in (root / "damaged").iterdir()]


@pytest.mark.parametrize("name", ["store.json", "vector", "journal.json"])
def test_damage_of_what_stands_beside_is_loud(root: Path, name: str) -> None:
    """The file that says what the store is, a vector, a journal."""
    path = next(root.glob("vectors/*")) if name == "vector" else root / name
    path.write_bytes(b"{")

    with pytest.raises(StoreError, match=path.name):
        Markdown(root, synced=False)


def test_a_store_without_its_description_is_damaged(root: Path) -> None:
    """It may be a newer one's."""
    (root / "store.json").unlink()

    with pytest.raises(StoreError, match=r"no store\.json"):
        Markdown(root, synced=False)


def test_a_newer_schema_is_refused(root: Path) -> None:
    """Before anything is read or written."""
    (root / "store.json").write_text(json.dumps({"schema": SCHEMA_VERSION + 1, "embedded": None}))

    with pytest.raises(SchemaError, match="upgrade memsim"):
        Markdown(root, synced=False)


def test_an_older_layout_is_migrated(root: Path) -> None:
    """Files without check are written with one."""
    store = Markdown(root, synced=False)
    known = store.find(ALL)
    store.close()
    for path in root.rglob("*.md"):
        lines = [line for line in path.read_text().split("\n") if not line.startswith("check: ")]
        path.write_text("\n".join(lines))
    (root / "store.json").write_text('{"schema": 0, "embedded": null}')

    for _ in range(2):
        assert known == Markdown(root, synced=False).find(ALL)

    assert all("check: " in path.read_text() for path in root.rglob("*.md"))
    assert SCHEMA_VERSION == json.loads((root / "store.json").read_text())["schema"]


def test_unfinished_files_are_swept(root: Path) -> None:
    """Whatever a process left that died while it wrote."""
    for folder in (root, root / "long_term", root / "vectors"):
        (folder / ".new-abc").write_text("half")
    (root / "vectors" / f"{entry('1').id}-0123456789abcdef-01234567.f32").write_bytes(b"old")

    Markdown(root, synced=False).close()

    assert [] == list(root.rglob(".new-*"))
    assert 5 == len(list(root.glob("vectors/*")))


@pytest.mark.parametrize("moved", [0, 1, 3])
def test_a_change_that_was_decided_is_finished(
    root: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    """The process dies after its journal is written, with none, some or all files moved."""
    carry_out = EntryFolder._carry_out

    def dying(self: EntryFolder, moves: list[tuple[Path, Path]], gone: list[Path]) -> None:
        if len(moves) == 1:  # the journal
            return carry_out(self, moves, gone)
        carry_out(self, moves[:moved], [])
        raise KeyboardInterrupt

    store = Markdown(root, synced=False)
    monkeypatch.setattr(EntryFolder, "_carry_out", dying)
    with pytest.raises(KeyboardInterrupt):
        store.write([entry(f"{n}", f"river {n}") for n in range(3)])
    monkeypatch.undo()

    other = Markdown(root, synced=False)

    assert 3 == len(other.lexical("river", ALL, 9)) == len(store.lexical("river", ALL, 9))
    assert 2 == len(other.nearest(VECTOR, ALL, 9))
    assert not (root / "journal.json").exists()


def test_a_failed_write_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the third of five files, or at the journal."""
    for full in (3, 5):
        store = Markdown(root, synced=False)
        known = store.find(ALL)
        stage = EntryFolder.stage
        staged: list[Path] = []

        def failing(
            self: EntryFolder, path: Path, content: bytes, full: int = full
        ) -> tuple[Path, Path]:
            if len(staged) == full:  # noqa: B023 - used within its round
                raise OSError(28, "No space left on device")
            staged.append(path)  # noqa: B023 - as above
            return stage(self, path, content)  # noqa: B023 - as above

        monkeypatch.setattr(EntryFolder, "stage", failing)
        with pytest.raises(StoreError, match="No space left"):
            store.write([entry(f"{n}", f"river {n}") for n in range(5)])
        monkeypatch.undo()

        assert [] == list(root.rglob(".new-*"))
        assert known == store.find(ALL) == Markdown(root, synced=False).find(ALL)
