"""Long messages of a conversation: offloaded, shortened, said once, and got back by reference."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memsim.errors import StateError, StoreError
from memsim.memory.compaction.blobs import NOTHING_OFFLOADED, MemoryBlobs, stored
from memsim.memory.history.conversations import OFFLOADED, SessionHistory
from memsim.memory.history.shorten import MOST, Shortener
from memsim.memory.history.window import text_bytes
from memsim.memory.history.working_memory import LIMIT, TTL
from memsim.memory.options import MemoryOptions
from memsim.memory.persistence.open_memory import open_memory
from memsim.memory.persistence.saved_memory import SavedMemory
from memsim.message import Message, ToolResult, ToolUse, said
from memsim.models.registry import load_model
from tests.memory.remembering import COUNTER, Remembering

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
MODEL = load_model("offline", "o200k_base")
SECRET = "heliotrope-7741"
LONG = "It began in the spring. " * 400 + SECRET + " was the word. " + "And so on. " * 400


def session(
    *, keep: int | None = None, messages: int = 4, deduplicate: bool = False
) -> SessionHistory:
    """A conversation that begins."""
    thinning = Shortener(counter=COUNTER, room=600, options=MemoryOptions(deduplicate=deduplicate))
    return SessionHistory(COUNTER, messages=messages, keep=keep, limit=60, thinning=thinning)


def shown(ours: SessionHistory, budget: int = 4000, now: datetime = NOW) -> str:
    """The words that a context has of it."""
    return "\n".join(m.text for s in ours.sections(budget, now) for m in s.messages)


def looked_up(text: str, name: str = "c1") -> tuple[Message, Message]:
    """A call and its result."""
    use = ToolUse(id=name, name="look_up", arguments="{}")
    result = ToolResult(id=name, text=text)
    return (
        Message(id=f"call-{name}", role="assistant", blocks=(use,), principal="ana"),
        Message(id=f"result-{name}", role="tool", blocks=(result,), principal="ana"),
    )


def reference(text: str) -> str:
    """The reference that stands in a text."""
    return text[text.index("<offloaded") : text.index("/>") + 2]


def test_what_is_large_is_offloaded_once_it_was_answered_and_comes_back_whole() -> None:
    """A reference with its beginning stands in its place; what was said comes back as it was."""
    ours = session()
    ours.add(message := said("user", LONG, id="m1", principal="ana"), NOW)
    assert [] == ours.compact(MODEL, NOW)
    assert LONG in shown(ours, 100_000)

    ours.add(said("assistant", "I see.", id="m2", principal="ana"), NOW)
    ours.add(said("user", "And now?", id="m3", principal="ana"), NOW)
    (happened,) = ours.compact(MODEL, NOW)

    assert ("offloaded", ("m1",)) == (happened.kind, happened.sources)
    assert happened.after is not None
    assert happened.before is not None
    assert happened.after < happened.before / 10
    text = shown(ours)
    assert text.startswith("It began in the spring.")
    assert SECRET not in text
    assert (message,) == ours.reload(reference(text))
    assert ours.is_new(said("user", "x", id="m9"))
    assert not ours.is_new(message)
    with pytest.raises(ValueError, match="another message"):
        ours.is_new(replace(message, blocks=()))


def test_results_of_tools_are_shown_by_beginning_and_end_once_they_were_answered() -> None:
    """They stay beside their calls; what is not long stays as it is."""
    ours = session()
    for message in looked_up("It begins. " + "x" * 3000 + " It ends."):
        ours.add(message, NOW)
    assert [] == ours.compact(MODEL, NOW)

    for n, text in enumerate(["Found.", "Thanks.", "Yes."]):
        ours.add(said("user" if n % 2 else "assistant", text, id=f"a{n}", principal="ana"), NOW)
    (happened,) = ours.compact(MODEL, NOW)

    assert ("shortened", ("result-c1",)) == (happened.kind, happened.sources)
    _, result, *others = ours.window
    assert ("c1",) == result.results
    assert result.text.startswith("It begins.")
    assert result.text.endswith(" It ends.")
    assert len(result.text) < 2000
    assert ["Found.", "Thanks.", "Yes."] == [m.text for m in others]


def test_what_is_said_twice_on_a_day_stands_once_where_that_is_wanted() -> None:
    """Word for word, by one speaker; it is no new message when it is observed again."""
    again = "My flight leaves at half past nine on Monday."
    plain, once = session(messages=8), session(messages=8, deduplicate=True)
    for ours in (plain, once):
        for n, text in enumerate(
            [again, "Noted.", again, "Noted again.", "Thanks a lot for that."]
        ):
            ours.add(said("assistant" if n % 2 else "user", text, id=f"m{n}"), NOW)
        ours.compact(MODEL, NOW)

    assert [2, 1] == [shown(ours).count(again) for ours in (plain, once)]
    assert not once.is_new(said("user", again, id="m2"))


def test_a_message_that_is_too_large_for_a_window_is_cut_before_it_is_taken_in() -> None:
    """Its beginning and end are shown until it was answered, and a reference to all of it then."""
    huge = "It begins here. " + "word " * 40_000 + "The word is Heliotrope."
    ours = session()
    ours.add(message := said("user", huge, id="m1", principal="ana"), NOW)

    (stands,) = ours.window
    assert text_bytes(stands) <= MOST
    assert stands.composed
    assert stands.text.startswith("It begins here.")
    assert stands.text.endswith("The word is Heliotrope.")
    assert not ours.is_new(message)

    ours.compact(MODEL, NOW)
    assert [stands] == [*ours.window]
    ours.add(said("assistant", "I see.", id="m2", principal="ana"), NOW)
    ours.add(said("user", "And now?", id="m3", principal="ana"), NOW)
    ours.compact(MODEL, NOW)
    assert (message,) == ours.reload(reference(shown(ours)))


def test_what_cannot_be_cut_is_left_out_with_its_results() -> None:
    """The arguments of a call are its own words; what was said is on record all the same."""
    ours = session()
    use = ToolUse(id="c1", name="write", arguments=json.dumps({"text": "x" * MOST}))
    ours.add(Message(id="m1", role="assistant", blocks=(use,), principal="ana"), NOW)
    ours.add(looked_up("done")[1], NOW)

    assert 0 == len(ours.window)
    assert [] == [*ours.offloaded()]


def test_a_call_makes_no_room_for_its_own_results() -> None:
    """They stay together; where they are too large, each is shown in part."""
    ours = session()
    ids = [f"c{n}" for n in range(4)]
    uses = tuple(ToolUse(id=i, name="look_up", arguments="{}") for i in ids)
    ours.add(said("user", "Look all of it up.", id="m0", principal="ana"), NOW)
    ours.add(Message(id="m1", role="assistant", blocks=uses, principal="ana"), NOW)
    told = []
    for n, call in enumerate(ids):
        block = ToolResult(id=call, text=f"{n} begins. " + "é" * 15_000 + f" {n} ends.")
        told.append(Message(id=f"r{n}", role="tool", blocks=(block,), principal="ana"))
        ours.add(told[-1], NOW)
        assert sum(map(text_bytes, ours.window)) <= LIMIT

    assert ["m1", "r0", "r1", "r2", "r3"] == [m.id for m in ours.window]
    assert all(m.text.endswith(f"{n} ends.") for n, m in enumerate([*ours.window][1:]))
    assert not any(map(ours.is_new, told))
    ours.add(said("assistant", "There it is.", id="m2", principal="ana"), NOW)
    ours.compact(MODEL, NOW)
    assert told == [ours.reload(reference(m.text))[0] for m in [*ours.window][1:-1]]


def test_the_latest_of_what_was_offloaded_is_kept_however_it_was() -> None:
    """What was cut when it came counts as well, though nothing is thinned after it."""
    ours = session(messages=1)
    for n in range(OFFLOADED + 30):
        ours.add(said("user", f"{n} " + "é" * MOST, id=f"m{n}", principal="ana"), NOW)
        ours.compact(MODEL, NOW)

    assert OFFLOADED <= len([*ours.offloaded()]) <= OFFLOADED + len(ours.window) + 1


def test_what_was_answered_last_is_shown_by_its_beginning_too() -> None:
    """Whoever spoke last has had an answer."""
    ours = session()
    ours.add(said("user", LONG, id="m1", principal="ana"), NOW)
    ours.add(said("assistant", "I see.", id="m2", principal="ana"), NOW)
    ours.compact(MODEL, NOW)

    assert shown(ours, 600).startswith("It began in the spring.")
    assert LONG == ours.reload(reference(shown(ours, 600)))[0].text


def test_a_used_id_is_no_stale_one() -> None:
    """What was forgotten may come again, and is shown then."""
    ours = session(keep=500)
    ours.add(said("user", "My dog is called Rex.", id="m1", principal="ana"), NOW)
    ours.add(said("user", "Hello.", id="m2", principal="ana"), NOW + TTL)
    ours.remove(["m1", "m2"], "ana")
    ours.add(said("user", "My cat is called Tom.", id="m1", principal="ana"), NOW + TTL)

    assert "Tom" in shown(ours, now=NOW + TTL)


def test_the_window_is_never_larger_than_it_may_be() -> None:
    """The oldest leave before a message is taken in, however many may stand there."""
    ours = session(messages=50)
    for n in range(40):
        ours.add(said("user", f"{n} " + "é" * 5000, id=f"m{n}", principal="ana"), NOW)
        assert sum(map(text_bytes, ours.window)) <= LIMIT
    assert ["m34", "m39"] == [[m.id for m in ours.window][i] for i in (0, -1)]


@pytest.mark.parametrize("keep", [None, 500])
def test_unused_for_a_day_the_latest_messages_are_shown_no_more(keep: int | None) -> None:
    """Shown and said both count as use; with a summary, they are in it from then on."""
    ours = session(keep=keep)
    ours.add(said("user", "My dog is called Rex.", id="m1", principal="ana"), NOW)
    almost = NOW + TTL - timedelta(seconds=1)
    assert "Rex" in shown(ours, now=almost)
    assert "" == shown(ours, now=NOW + TTL)

    ours.touch(almost)
    assert "Rex" in shown(ours, now=almost + TTL - timedelta(seconds=1))
    ours.touch(almost + TTL)
    assert "" == shown(ours, now=almost + TTL)

    later = almost + TTL
    ours.add(said("user", "Good morning.", id="m2", principal="ana"), later)
    assert "Good morning." == shown(ours, now=later)
    again = session(keep=keep)
    again.load(json.loads(json.dumps(ours.save())))
    for one in (ours, again):
        one.compact(MODEL, later)
        assert ["m2"] == [m.id for m in one.window]
        assert (keep is not None) == ("Rex" in shown(one, now=later))


def test_a_clock_that_goes_back_expires_nothing() -> None:
    """What counts is when it was last used, as it was told."""
    ours = session()
    ours.add(said("user", "My dog is called Rex.", id="m1"), NOW)
    assert "Rex" in shown(ours, now=NOW - timedelta(days=400))


def test_only_so_much_stays_offloaded() -> None:
    """Nothing grows for ever: what is older is on record, and can be searched."""
    ours = session()
    for n in range(OFFLOADED + 20):
        ours.add(said("user", f"{n} {LONG}", id=f"m{n}", principal="ana"), NOW)
        ours.add(said("assistant", "Yes.", id=f"a{n}", principal="ana"), NOW)
        ours.compact(MODEL, NOW)
    kept = [m.id for m in ours.offloaded()]
    assert OFFLOADED <= len(kept) <= OFFLOADED + len(ours.window)
    assert "m0" not in kept


def remembering(it: Remembering) -> Remembering:
    """A memory in which something is offloaded: what Ana said first."""
    for number, text in enumerate((LONG, "And now?")):
        for role in ("user", "assistant"):
            said_now = text if role == "user" else "I see."
            message = it.message(said_now, role=role, id=f"{role}{number}")
            it.memory.observe(message)
        it.memory.end_turn()
    return it


def whole() -> Remembering:
    """A memory with tools."""
    return Remembering(options=MemoryOptions(vectors=False, mode="both"), budget=8192)


def test_an_agent_reloads_piece_by_piece_what_its_conversation_offloaded() -> None:
    """There is such a tool from then on; others' references and none are answered alike."""
    it = whole()
    it.say("Hello.", who="ben")
    assert "memory_reload" not in {s.name for s in it.memory.tools("ana").specs()}
    remembering(it)
    text = "\n".join(m.text for s in it.asked("And then?").sections for m in s.messages)
    where = reference(text)

    assert "memory_reload" in {s.name for s in it.memory.tools("ana").specs()}
    first = it.call("memory_reload", reference=where)
    start = int(first.rpartition("start = ")[2].rstrip("]"))
    assert LONG == first[:start] + it.call("memory_reload", reference=where, start=start)
    assert SECRET in LONG
    assert "There is nothing more." == it.call("memory_reload", reference=where, start=10**6)

    asked = json.dumps({"reference": where})
    no_tool = "Error: there is no tool 'memory_reload'"
    assert no_tool == it.memory.tools("ben", "ana's").call("memory_reload", asked)
    none = it.call("memory_reload", reference="sha256:" + "0" * 64)
    assert "Nothing is offloaded under this reference." == none
    for principal, name in (("ben", "ana's"), ("ana", "ben's"), ("ana", "none")):
        with pytest.raises(StoreError, match=NOTHING_OFFLOADED):
            it.memory.reload(where, principal=principal, session=name)


def test_what_was_offloaded_is_saved_and_forgotten_with_its_message() -> None:
    """It is part of the whole memory, and goes when its message does."""
    it, again = remembering(whole()), whole()
    saved = json.loads(it.saved())
    again.memory.load(saved)
    (message,) = [m for _, s in again.memory.conversations for m in s.offloaded()]
    assert LONG == message.text

    again.memory.forget("ana", [message.id])
    assert SECRET not in again.saved()
    assert {} == again.memory.save()["offloaded"]

    with pytest.raises(StateError, match="saved without offloaded"):
        again.memory.load({name: part for name, part in saved.items() if name != "offloaded"})
    assert {} == again.memory.save()["offloaded"]  # and nothing has changed
    with pytest.raises(StateError):
        again.memory.load({**saved, "offloaded": {"ana's": {"0" * 64: "eA=="}}})


def opened(folder: Path) -> SavedMemory:
    """The memory in a folder."""
    return open_memory(folder, now=lambda: NOW, options=MemoryOptions(vectors=False))


def say(memory: SavedMemory, *texts: str) -> None:
    """Turns of one conversation."""
    for text in texts:
        number = len([*memory.entries(None)])
        memory.observe(said("user", text, id=f"m{number}", principal="ana", session="s1", time=NOW))
        memory.observe(
            said("assistant", "Yes.", id=f"a{number}", principal="ana", session="s1", time=NOW)
        )
        memory.end_turn()


def on_disk(folder: Path, text: str) -> list[str]:
    """The files in which a text stands."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    found = [p for p in files if text.encode() in p.read_bytes()]
    return [p.relative_to(folder).parts[0] for p in found]


def test_a_folder_keeps_what_was_offloaded_and_forgets_it(tmp_path: Path) -> None:
    """It is there after a restart, outside of the state that is written in every turn."""
    with opened(tmp_path / "it") as memory:
        say(memory, LONG, "And now?")
    assert ["memory.sqlite3"] == on_disk(tmp_path / "it", SECRET)

    with opened(tmp_path / "it") as memory:
        context = memory.context("Well?", principal="ana", session="s1", budget=40_000)
        text = "\n".join(m.text for s in context.sections for m in s.messages)
        (message,) = memory.reload(reference(text), principal="ana", session="s1")
        assert (LONG, "m0") == (message.text, message.id)
        memory.forget("ana", ["m0"])
    assert [] == on_disk(tmp_path / "it", SECRET)


def test_damaged_content_goes_with_its_message(tmp_path: Path) -> None:
    """It is never given out, and may hold most of what was said."""
    folder = tmp_path / "it"
    with opened(folder) as memory:
        say(memory, LONG, "And now?")
        (digest,) = memory._file.blobs("s1").digests()
        with memory._file.writing() as connection:
            connection.execute("UPDATE offloaded SET data = data || x'20'")
        with pytest.raises(StateError, match="damaged"):
            memory.reload(digest, principal="ana", session="s1")

        memory.forget("ana", ["m0"])
    assert [] == on_disk(folder, SECRET)


def test_what_a_killed_process_had_offloaded_is_found_or_removed(tmp_path: Path) -> None:
    """Nothing stays on a disk that no conversation knows of, so that none outlives forgetting."""
    folder = tmp_path / "it"
    with opened(folder) as memory:
        say(memory, "Hello.")
    with opened(folder) as memory:
        for name in ("s1", "begun"):
            memory._file.blobs(name).put(SECRET.encode())
    assert ["memory.sqlite3"] == on_disk(folder, SECRET)

    with opened(folder) as memory:
        assert [(), ()] == [memory._file.blobs(name).digests() for name in ("s1", "begun")]
        assert [] == on_disk(folder, SECRET)


@pytest.mark.parametrize("pinned", ["", "Always answer in verse. " * 8])
def test_what_is_not_summarised_yet_is_shown(pinned: str) -> None:
    """Nothing that was said lately stands in neither, whatever else stands in a context."""
    options = MemoryOptions(vectors=False, summary=True, recall=False)
    it = Remembering(options=options, budget=1000)
    if pinned:
        it.memory.core.pin("ana", "rule", pinned, now=it.clock.now(), kind="rule")
    for n in range(30):
        it.say(f"Project {n} is painted in colour {n * 7}, as we agreed in the meeting.")
        session = it.memory.conversations.get("ana's")
        assert session is not None
        shown_now = {m.id for s in it.asked("Well?").sections for m in s.messages}
        assert {m.id for m in session.window} <= shown_now
    layers = {s.layer: s.tokens for s in it.asked("Well?").sections}
    assert layers["window"] <= 150
    assert 75 < layers["summary"] <= 100


def test_what_would_take_more_than_half_of_a_window_is_offloaded_too() -> None:
    """Though it has fewer than 5 KB: it would be shown nowhere otherwise."""
    ours = session()
    for name, role in (("m1", "user"), ("m2", "assistant")):
        ours.add(said(role, "It began. " * 300, id=name, principal="ana"), NOW)  # type: ignore[arg-type]
    ours.compact(MODEL, NOW)

    assert ["m1"] == [m.id for m in ours.offloaded()]


def test_what_a_failed_offloading_left_goes_with_its_message() -> None:
    """It is of a message that still stands in the window as it was said."""
    blobs = MemoryBlobs()
    ours = SessionHistory(COUNTER, messages=4, keep=None, limit=60, blobs=blobs)
    ours.add(message := said("user", SECRET, id="m1", principal="ana"), NOW)
    blobs.put(stored((message,)))

    ours.remove(["m1"], "ana")

    assert () == blobs.digests()


def test_what_was_sent_keeps_the_latest_messages_and_time_drops_them() -> None:
    """A day counts from when a context with them was delivered; then nothing of them is kept."""
    it = Remembering(options=MemoryOptions(vectors=False, recall=False))
    it.say("My dog is called Rex.")
    it.clock.advance(timedelta(hours=23))
    it.memory.delivered(it.asked("Well?"), principal="ana")
    it.clock.advance(timedelta(hours=23))
    assert "Rex" in it.asked("Well?").text()

    it.clock.advance(timedelta(hours=1))
    assert "Rex" not in it.asked("Well?").text()
    it.memory.elapse(it.clock.now())
    assert "Rex" not in json.dumps(it.memory.save()["conversations"])


def test_one_character_may_be_longer_than_what_is_reloaded_at_once() -> None:
    """An agent that reads on comes to the end of it."""
    it = whole()
    huge = "e" + "\u0301" * 20_000 + " the end"
    for name, role, text in (("m1", "user", huge), ("m2", "assistant", "I see.")):
        it.memory.observe(it.message(text, role=role, id=name))  # type: ignore[arg-type]
    it.memory.end_turn()
    (message,) = [m for _, s in it.memory.conversations for m in s.offloaded()]
    reference_to = f"sha256:{hashlib.sha256(stored((message,))).hexdigest()}"

    first = it.call("memory_reload", reference=reference_to)

    assert first.endswith("start = 8000]")
    assert it.call("memory_reload", reference=reference_to, start=16_000).endswith("the end")


def spoken(sizes: list[int]) -> list[Message]:
    """Looked-up results of so many characters, each with an answer to it."""
    messages: list[Message] = []
    for n, size in enumerate(sizes):
        text = f"Result {n}. " + "Row after row. " * (size // 15)
        messages += looked_up(text, f"c{n}")
        messages.append(said("assistant", f"Answer {n}.", id=f"a{n}", principal="ana"))
        messages.append(said("user", f"Question {n}?", id=f"q{n}", principal="ana"))
    return messages


@pytest.mark.parametrize("room", [400, 1200])
def test_without_an_agent_short_forms_never_make_a_window_longer(room: int) -> None:
    """Whatever was said, and also once the state was saved and read back."""
    off = MemoryOptions(offload=False, shorten=False)
    seen = saved = 0
    for sizes in ([3000] * 4, [30, 9000, 30, 1500], [1200, 12_000], [6000, 300, 2600, 300]):
        plain, ours = (
            SessionHistory(
                COUNTER,
                messages=12,
                keep=None,
                limit=60,
                thinning=Shortener(counter=COUNTER, room=room, options=options),
                references=False,
            )
            for options in (off, MemoryOptions())
        )
        for message in spoken(sizes):
            for it in (plain, ours):
                it.add(message, NOW)
                it.compact(MODEL, NOW)
            again = SessionHistory(COUNTER, messages=12, keep=None, limit=60, references=False)
            again.load(json.loads(json.dumps(ours.save())))
            (whole_tokens, short, read) = (
                sum(s.tokens for s in it.sections(room, NOW)) for it in (plain, ours, again)
            )
            assert short == read
            assert short <= whole_tokens
            seen, saved = seen + 1, saved + (short < whole_tokens)
    assert 0 < saved < seen


def test_only_a_memory_with_an_agent_refers_to_what_would_not_fit() -> None:
    """Nobody else could read what is behind the reference."""
    texts = []
    for mode in ("framework", "both"):
        options = MemoryOptions(vectors=False, recall=False, mode=mode)
        it = remembering(Remembering(options=options, budget=8192))
        sections = it.asked("And then?").sections
        texts.append("\n".join(m.text for s in sections for m in s.messages))

    assert [0, 1] == [text.count("<offloaded") for text in texts]
