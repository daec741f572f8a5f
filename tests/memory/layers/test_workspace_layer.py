"""Pages that agents and people share: found by their words, kept with the memory, and forgotten."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memsim.clock import Clock
from memsim.errors import StateError, StoreError
from memsim.memory.layers.pages import Workspace
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions
from memsim.memory.parts import MemorySetup
from memsim.memory.retention import RetentionPolicy
from memsim.message import EPOCH, said
from tests.memory.remembering import COUNTER, Faulty, Scribe, embedder


def memory(folder: Path) -> Memory:
    """A memory with pages."""
    return Memory(
        MemorySetup(
            store=Faulty(),
            model=Scribe(),
            counter=COUNTER,
            embed=embedder,
            now=Clock().now,
            options=MemoryOptions(vectors=False, mode="both"),
            workspace=folder,
        )
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


def test_what_is_written_is_found_at_once(tmp_path: Path) -> None:
    """Also in a context, which changes nothing; what is emptied is found no more."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    pages = ours.workspace.of("ana")
    for place in ("shed", "barn"):  # of one length, within one tick of the file system's clock
        pages.write("MEMORY.md", f"# Keys\n\nThe gate key is in the {place}.\n")
        before = ours.save()
        context = ours.context("gate key", principal="ana", session="s1", budget=500)
        assert place in context.text()
        assert "MEMORY.md" not in context.text()
        assert before == ours.save()
        assert [place in f.entry.text for f in ours.search("gate key", principal="ana")] == [True]
    pages.write("MEMORY.md", "")

    assert [] == ours.search("gate key", principal="ana")


@pytest.mark.parametrize("noticed", ["observe", "end_turn", "elapse", "search"])
def test_what_others_write_in_a_file_is_noticed(tmp_path: Path, noticed: str) -> None:
    """When somebody speaks, a turn ends, time passes, or something is looked for."""
    ours = memory(tmp_path)
    ours.observe(said("user", "Hello.", id="m1", principal="ana"))
    name = ours.note("ana", "The gate key is in the shed.")
    (path,) = tmp_path.rglob(Path(name).name)
    path.write_text("The gate key is up in the attic.\n", encoding="utf-8")

    if noticed == "observe":
        ours.observe(said("user", "And?", id="m2", principal="ana"))
    elif noticed == "end_turn":
        ours.end_turn()
    elif noticed == "elapse":
        ours.elapse(ours.now())
    else:
        ours.search("gate", principal="ana")

    pieces = [e.text for e in ours.entries("ana") if e.layer == "workspace"]
    assert ["The gate key is up in the attic."] == pieces


def test_pages_that_nobody_changed_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: of a folder of pages, a turn reads those alone that are new."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    for day in range(20):
        ours.workspace.note("ana", f"day {day}", EPOCH + timedelta(days=day))
    read: list[str] = []
    (page,) = tmp_path.rglob("2026-01-05.md")
    page.with_name("2025-01-01.md").symlink_to("nowhere")
    as_it_is = Workspace.read

    def noted(self: Workspace, name: str) -> str | None:
        read.append(name)
        return as_it_is(self, name)

    monkeypatch.setattr(Workspace, "read", noted)
    store = ours.vault.store
    assert isinstance(store, Faulty)
    writes = store.writes
    ours.search("day", principal="ana")
    assert ([], 0) == (read, store.writes - writes)

    ours.workspace.note("ana", "new", EPOCH + timedelta(days=20))

    assert ["memory/2026-01-25.md"] == read


def test_a_failed_index_is_made_up_for(tmp_path: Path) -> None:
    """The page stands, and is found once the store is back."""
    ours = memory(tmp_path)
    store = ours.vault.store
    assert isinstance(store, Faulty)
    ours.note("ana", "A violin.")
    store.failing = True
    with pytest.raises(StoreError):
        ours.note("ana", "A kettle.")
    store.failing = False

    assert 1 == len(ours.search("violin kettle", principal="ana"))
    assert 1 == len(ours.search("kettle", principal="ana"))


def test_a_days_page_is_as_old_as_the_day(tmp_path: Path) -> None:
    """Whenever it is read, so that retention counts from there."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    ours.workspace.of("ana").write("memory/1969-11-01.md", "x")
    ours.workspace.of("ana").write("MEMORY.md", "y")

    found = {e.text: e.created for e in ours.entries("ana")}

    assert found == {"x": EPOCH.replace(1969, 11, 2, 12), "y": ours.now()}


def test_contexts_show_who_the_agent_is_and_whom_it_serves(tmp_path: Path) -> None:
    """To whom it belongs, with no more authority than theirs, after the pins, and once."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    pages = ours.workspace.of("ana")
    pages.write("USER.md", "\ufeffAna likes *tea*.\n")
    pages.write("SOUL.md", "Be terse.")
    pages.write("IDENTITY.md", "You are Quill.")
    ours.core.pin("ana", "rule", "Speak French.", now=EPOCH, role="system")

    context = ours.context("Who likes tea?", principal="ana", session="s1", budget=500)

    (core,) = context.sections
    assert [("system", "Speak French."), *(("user", t) for t in (
        "IDENTITY.md:\nYou are Quill.", "SOUL.md:\nBe terse.", "USER.md:\nAna likes *tea*.\n",
    ))] == [(m.role, m.text) for m in core.messages]  # fmt: skip
    assert () == ours.context("Who likes tea?", principal="ben", session="s1", budget=500).sections


@pytest.mark.parametrize("budget", [3, 40, 400, 4_000, 40_000])
def test_pages_keep_to_their_share(tmp_path: Path, budget: int) -> None:
    """And say what is left out; a file shows 8,000 characters at most."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    pages = ours.workspace.of("ana")
    pages.write("IDENTITY.md", "abc " * 500)
    (path,) = tmp_path.rglob("IDENTITY.md")
    path.with_name("USER.md").write_text("xyz " * 3_000, encoding="utf-8")

    context = ours.context("?", principal="ana", session="s1", budget=budget)

    shown = context.text()
    assert context.tokens <= budget / 4
    assert (budget > 40) == ("abc abc" in shown)
    assert (budget > 4_000) == ("USER.md, the first 8,000 of 12,000 characters:\n" in shown)
    assert (budget == 400) == ("IDENTITY.md, the first" in shown)


def test_a_page_that_cannot_be_read_holds_up_nobody_else(tmp_path: Path) -> None:
    """It is named, and what others wrote is found, and what was said is recorded."""
    ours = memory(tmp_path)
    for who in ("ana", "ben"):
        ours.note(who, "x")
        ours.observe(said("user", "Hello.", id=who, principal=who))
    assert ours.workspace is not None
    bad, good = ours.workspace.of("ana").folder, ours.workspace.of("ben").folder
    (bad / "USER.md").write_bytes(b"\xff")
    (good / "USER.md").write_text("A kettle.", encoding="utf-8")
    ours.observe(said("user", "Hello again.", id="m3", principal="ana"))

    with pytest.raises(StoreError, match=r"USER.md: is not UTF-8"):
        ours.end_turn()

    assert 3 == sum(e.layer == "episodic" for e in ours.entries(None))
    assert "A kettle." in [e.text for e in ours.entries("ben")]


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


def test_lines_go_with_any_message_that_they_were_noted_of(tmp_path: Path) -> None:
    """In whatever words; people's own lines and others' notes stay, the same ones among them."""
    ours = memory(tmp_path)
    for who in ("ana", "ben"):
        chilli = "I could eat chilli all day."
        ours.observe(said("user", chilli, id="m1", principal=who, session=who))
        name = ours.note(who, "# Food\n\nlikes it spicy\n- - -")
    ours.end_turn()
    ours.observe(said("user", "Milk is out.", id="m2", principal="ana"))
    ours.note("ana", "- - -\nbuy milk")
    ours.end_turn()
    ours.note("ana", "of no message")
    assert ours.workspace is not None
    pages = ours.workspace.of("ana")
    assert "# 2026-01-05\n# Food\n\nlikes it spicy\n- - -\n- - -\nbuy milk\nof no message\n" == (
        pages.read(name)
    )
    pages.write("MEMORY.md", "\ufeff  likes it spicy \r\n# Food\r\n")
    again = memory(tmp_path / "again")
    again.load(json.loads(json.dumps(ours.save())))

    for one in (ours, again):
        assert one.workspace is not None
        pages = one.workspace.of("ana")
        assert {"workspace": 2} == {
            k: v for k, v in one.forget("ana", ["m1"]).beside.items() if k == "workspace"
        }
        assert "# 2026-01-05\n\n- - -\n- - -\nbuy milk\nof no message\n" == pages.read(name)
        assert "\ufeff  likes it spicy \r\n# Food\r\n" == pages.read("MEMORY.md")
        assert "likes it spicy" in (one.workspace.of("ben").read(name) or "")
        assert ["  likes it spicy"] == [f.entry.text for f in one.search("spicy", principal="ana")]
        assert ["ben"] == [f.entry.owner for f in one.search("spicy", principal="ben")]


def test_a_line_that_was_moved_goes_where_it_is_the_only_one(tmp_path: Path) -> None:
    """Of several elsewhere, and of one that was noted elsewhere, nobody knows which it is."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    pages = ours.workspace.of("ana")
    ours.observe(said("user", "Hello.", id="m1", principal="ana"))
    name = ours.note("ana", "moved\ncopied\nlater")
    ours.end_turn()
    ours.observe(said("user", "Again.", id="m2", principal="ana"))
    tomorrow = EPOCH + timedelta(days=1)
    other = ours.workspace.note("ana", "later", tomorrow, ours.current_messages("ana"))
    ours.end_turn()
    pages.write("MEMORY.md", "moved\ncopied\n")
    pages.write("USER.md", "copied\n")
    pages.write(name, "mine\n")

    ours.forget("ana", ["m1"])

    assert ["mine\n", "copied\n", "copied\n", "# 2026-01-06\nlater\n"] == [
        pages.read(page) for page in (name, "MEMORY.md", "USER.md", other)
    ]
    ours.forget("ana", ["m2"])
    assert "# 2026-01-06\n" == pages.read(other)
    assert {} == ours.save()["noted"]


def test_a_note_that_stands_there_is_not_written_again(tmp_path: Path) -> None:
    """The same day, byte for byte, as lines of its own; it is of both messages from then on."""
    ours = memory(tmp_path)
    name = ours.note("ana", "likes tea")
    for number, text in enumerate(("likes tea\n", "Likes tea", "tea", "a\nlikes", "a\nlikes")):
        ours.observe(said("user", "Yes.", id=f"m{number}", principal="ana"))
        assert name == ours.note("ana", text)
        ours.end_turn()
    assert ours.workspace is not None
    page = ours.workspace.of("ana")
    assert "# 2026-01-05\nlikes tea\nLikes tea\ntea\na\nlikes\n" == page.read(name)
    with pytest.raises(ValueError, match="blank"):
        ours.note("ana", " \n")
    tomorrow = EPOCH + timedelta(days=1)
    assert name != ours.workspace.note("ana", "likes tea", tomorrow)

    ours.forget("ana", ["m0", "m4"])

    assert "# 2026-01-05\nLikes tea\ntea\n" == page.read(name)
    assert "# 2026-01-06\nlikes tea\n" == page.read("memory/2026-01-06.md")


def test_nothing_is_kept_of_lines_that_are_gone(tmp_path: Path) -> None:
    """Taken out by people, refused, or forgotten; what was only moved is known still."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    ours.observe(said("user", "Hello.", id="m1", principal="ana"))
    name = ours.note("ana", "one\ntwo\nthree")

    def known() -> int:
        saved = ours.save()["noted"]
        assert isinstance(saved, dict)
        assert "one" not in json.dumps(saved)
        return len(json.loads(json.dumps(saved)).get("ana", ()))

    assert 3 == known()
    ours.workspace.of("ana").write("MEMORY.md", "two\n")
    ours.workspace.of("ana").write(name, "three\n")
    assert 2 == known()
    with pytest.raises(StoreError, match="too many"):
        ours.note("ana", "x" * 9_000)
    assert 2 == known()
    ours.forget("ana", ["m1"])
    assert {} == ours.save()["noted"]
    assert ["", ""] == [ours.workspace.of("ana").read(n) for n in ("MEMORY.md", name)]


def test_notes_outlast_the_messages_that_they_are_of(tmp_path: Path) -> None:
    """A page is for whoever keeps it, and does not grow old; another message may have the id."""
    ours = memory(tmp_path)
    assert ours.workspace is not None
    ours.observe(said("user", "I could eat chilli all day.", id="m1", principal="ana"))
    name = ours.note("ana", "likes it spicy")
    ours.end_turn()
    ours.options = replace(ours.options, hygiene=RetentionPolicy())

    ours.elapse(EPOCH + timedelta(days=400))

    assert [] == [e for e in ours.entries(None) if e.layer == "episodic" and e.key == "m1"]
    again = memory(tmp_path / "again")
    again.load(json.loads(json.dumps(ours.save())))
    for one in (ours, again):
        one.observe(said("user", "It is late.", id="m1", principal="ana"))
        assert one.forget("ana", ["m1"]).by_tier["workspace"] == 0
        assert one.workspace is not None
        assert "spicy" in (one.workspace.of("ana").read(name) or "")


def test_a_state_of_before_does_not_tell_where_its_lines_were_noted(tmp_path: Path) -> None:
    """Each goes where it is the only one."""
    ours = memory(tmp_path)
    ours.observe(said("user", "Hello.", id="m1", principal="ana"))
    name = ours.note("ana", "one\ntwo")
    ours.end_turn()
    assert ours.workspace is not None
    ours.workspace.of("ana").write("MEMORY.md", "two\n")
    state = json.loads(json.dumps(ours.save()))
    of = {line: next(iter(places.values())) for line, places in state["noted"]["ana"].items()}
    ours.load({**state, "noted": {"ana": of}})

    ours.forget("ana", ["m1"])

    assert "# 2026-01-05\ntwo\n" == ours.workspace.of("ana").read(name)
    assert "two\n" == ours.workspace.of("ana").read("MEMORY.md")


def test_a_state_of_before_knows_nothing_of_notes(tmp_path: Path) -> None:
    """And is loaded; one that is damaged is refused."""
    ours, again = memory(tmp_path / "one"), memory(tmp_path / "two")
    ours.note("ana", "The kettle is from Oslo.")
    again.observe(said("user", "Hello.", id="m1", principal="ana"))
    again.note("ana", "likes it spicy")
    state = ours.save()
    known = (3, [3], {"x": 3}, {"x": [3]})
    for damaged in (None, 3, {"ana": 3}, *({"ana": {"x": of}} for of in known)):
        with pytest.raises(StateError):
            again.load({**state, "noted": damaged})
    assert again.save()["noted"] != {}

    again.load({name: part for name, part in state.items() if name != "noted"})

    assert {} == again.save()["noted"]
    assert 1 == len(again.search("kettle", principal="ana"))


def test_a_page_may_be_as_long_as_people_make_it(tmp_path: Path) -> None:
    """It is saved, loaded, and loses the lines that name what is forgotten."""
    ours, again = memory(tmp_path / "one"), memory(tmp_path / "two")
    ours.observe(said("user", "My code is A-7741.", id="m1", principal="ana"))
    name = ours.note("ana", "code A-7741")
    (path,) = (tmp_path / "one").rglob(Path(name).name)
    path.write_text("code A-7741\n" + "buy milk\n" * 1_000, encoding="utf-8")
    ours.end_turn()

    again.load(ours.save())
    again.forget("ana", ["m1"])

    assert again.workspace is not None
    assert "buy milk\n" * 1_000 == again.workspace.of("ana").read(name)


def test_pages_are_saved_with_the_memory(tmp_path: Path) -> None:
    """And loaded into another folder, where the next note finds them; damaged ones are refused."""
    ours, again = memory(tmp_path / "one"), memory(tmp_path / "two")
    ours.note("ana", "The kettle is from Oslo.")
    assert ours.workspace is not None
    ours.workspace.of("cleo").write("USER.md", "")
    state = json.loads(json.dumps(ours.save()))

    again.load(state)
    assert ours.save() == again.save()
    assert ours.save() == again.save()
    again.note("ana", "Buy milk.")
    assert 1 == len(again.search("kettle", principal="ana"))
    before = again.save()
    for damaged in (None, 3, {"ana": 3}, {"ana": {"MEMORY.md": 3}}):
        with pytest.raises(StateError):
            again.load({**state, "workspace": damaged})
    assert before == again.save()
