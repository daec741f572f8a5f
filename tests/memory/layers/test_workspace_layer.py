"""Pages that agents and people share: found by their words, kept with the memory, and forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memsim.clock import Clock
from memsim.errors import StateError
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions
from memsim.message import EPOCH, said
from tests.memory.remembering import COUNTER, Faulty, Scribe, embedder


def memory(folder: Path) -> Memory:
    """A memory with pages."""
    return Memory(
        Faulty(),
        model=Scribe(),
        counter=COUNTER,
        embed=embedder,
        now=Clock().now,
        options=MemoryOptions(vectors=False, mode="both"),
        workspace=folder,
    )


def test_notes_are_found_by_their_owner_alone(tmp_path: Path) -> None:
    """By search, and in no one else's folder."""
    ours = memory(tmp_path)
    name = ours.note("ana", "The kettle is from Oslo.")
    ours.note("ben", "Nothing.")

    assert ["ana"] == [f.entry.owner for f in ours.search("kettle", principal="ana")]
    assert [] == ours.search("kettle", principal="ben")
    assert ours.workspace is not None
    assert "kettle" in (ours.workspace.of("ana").read(name) or "")
    assert "kettle" not in (ours.workspace.of("ben").read(name) or "")
    assert [] == [p for p in tmp_path.rglob("*") if "ana" in p.name]


def test_the_index_follows_what_people_change(tmp_path: Path) -> None:
    """What is gone from a page is not found any more."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    ours.workspace.of("ana").write("MEMORY.md", "# Home\n\nA violin.\n\n# Work\n\nA kettle.\n")
    assert 2 == ours.workspace.index("ana", EPOCH)
    assert 1 == len(ours.search("violin", principal="ana"))
    ours.workspace.of("ana").write("MEMORY.md", "# Work\n\nA kettle.\n")

    ours.workspace.index("ana", EPOCH)

    assert [] == ours.search("violin", principal="ana")
    (found,) = ours.search("kettle", principal="ana")
    assert found.entry.text.startswith("Work\n")


def test_lines_that_name_what_is_forgotten_go(tmp_path: Path) -> None:
    """From the page and from the index; the lines around them stay, and so do another's pages."""
    ours = memory(tmp_path)
    ours.observe(said("user", "My code is A-7741.", id="m1", principal="ana"))
    ours.end_turn()
    name = ours.note("ana", "code A-7741")
    ours.note("ana", "buy milk")
    ours.note("ben", "code A-7741")

    ours.forget("ana", ["m1"])

    assert ours.workspace is not None
    page = ours.workspace.of("ana").read(name) or ""
    assert ("7741" in page, "milk" in page) == (False, True)
    assert [] == ours.search("7741", principal="ana")
    assert 1 == len(ours.search("7741", principal="ben"))


def test_pages_are_saved_with_the_memory(tmp_path: Path) -> None:
    """And loaded into another folder, where the next note finds them; damaged ones are refused."""
    ours, again = memory(tmp_path / "one"), memory(tmp_path / "two")
    ours.note("ana", "The kettle is from Oslo.")
    state = json.loads(json.dumps(ours.save()))

    again.load(state)
    assert ours.save() == again.save()
    again.note("ana", "Buy milk.")
    assert 1 == len(again.search("kettle", principal="ana"))
    before = again.save()
    for damaged in (None, 3, {"ana": 3}, {"ana": {"MEMORY.md": 3}}):
        with pytest.raises(StateError):
            again.load({**state, "workspace": damaged})
    assert before == again.save()
