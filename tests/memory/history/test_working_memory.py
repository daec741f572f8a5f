"""Working memory: a day unused, 64 KB at most, each conversation by itself."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import AccessError, StateError
from memsim.memory.entry import Conversation, digest_of
from memsim.memory.history.working_memory import (
    LIMIT,
    InProcessTexts,
    WorkingFull,
    WorkingMemory,
    size_of,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
ANA = Conversation("ana", "monday")

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # What looks like JSON must stay the text that it is.
    | names
    | st.sampled_from(["123", "true", "[]", "null", '{"a":1}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, values, max_size=4), st.dictionaries(names, values, max_size=4))
def test_fields_come_back_as_they_were_written(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """A write merges by field, and a value keeps its type, whatever it looks like."""
    memory = WorkingMemory(types={}, limit=10**9)
    memory.put(ANA, first, NOW)
    memory.put(ANA, second, NOW)

    expected = first | second
    assert expected == memory.get(ANA, NOW)
    assert {n: type(v) for n, v in expected.items()} == {
        n: type(v) for n, v in memory.get(ANA, NOW).items()
    }


def test_it_is_there_until_just_before_a_day_and_gone_at_a_day() -> None:
    """The boundary is exact to the microsecond."""
    for age, expected in ((DAY - timedelta(microseconds=1), {"a": 1}), (DAY, {}), (DAY * 9, {})):
        memory = WorkingMemory()
        memory.put(ANA, {"a": 1}, NOW)

        assert expected == memory.get(ANA, NOW + age)


@pytest.mark.parametrize("refresh", ["get", "put", "remove"])
def test_every_use_makes_it_last_another_day(refresh: str) -> None:
    """Reading, writing and removing a field each begin the day anew, for all fields."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1, "b": 2}, NOW)
    later = NOW + DAY - SECOND
    if refresh == "get":
        memory.get(ANA, later)
    elif refresh == "put":
        memory.put(ANA, {"b": 3}, later)
    else:
        memory.remove(ANA, ["b"], later)

    assert memory.get(ANA, later + DAY - SECOND)["a"] == 1


def test_looking_leaves_no_trace() -> None:
    """Who only looks sees the same, and does not make it last."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW)
    before = memory.save()

    assert memory.peek(ANA, NOW + DAY - SECOND) == {"a": 1}
    assert memory.peek(ANA, NOW + DAY) == {}
    assert before == memory.save()


def test_what_has_expired_is_not_revived_by_a_write() -> None:
    """A field that is written after a day stands alone."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW)
    memory.put(ANA, {"b": 2}, NOW + DAY)

    assert memory.get(ANA, NOW + DAY) == {"b": 2}


def test_reading_what_is_gone_leaves_nothing_behind() -> None:
    """Expired fields are dropped by whoever finds them, and by a sweep."""
    store = InProcessTexts()
    memory = WorkingMemory(store)
    memory.put(ANA, {"a": 1}, NOW)
    memory.put(Conversation("bo", "x"), {"a": 1}, NOW)
    memory.get(ANA, NOW + DAY)

    assert [Conversation("bo", "x")] == store.conversations()
    assert (0, 1, 0) == tuple(memory.sweep(NOW + age) for age in (DAY - SECOND, DAY, DAY))
    assert store.conversations() == []


def test_a_clock_that_goes_back_loses_nothing_and_promises_a_day_from_then() -> None:
    """What was used at noon by a clock that now says ten is there until ten tomorrow."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW)
    earlier = NOW - timedelta(hours=2)

    assert memory.get(ANA, earlier) == {"a": 1}
    assert memory.get(ANA, earlier + DAY) == {}


def test_the_day_is_24_hours_in_any_zone() -> None:
    """Where a clock is put forward the day is no shorter, and zones name one instant."""
    zone = timezone(timedelta(hours=9))
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW.astimezone(zone))

    assert memory.get(ANA, NOW + DAY - SECOND) == {"a": 1}


def test_a_moment_without_a_zone_is_refused() -> None:
    """An instant that could be any of 26 is none."""
    with pytest.raises(ValueError, match="no time zone"):
        WorkingMemory().put(ANA, {"a": 1}, datetime(2026, 3, 1))  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize("extra", [0, 1])
def test_the_limit_is_met_before_anything_is_written(extra: int) -> None:
    """65,536 bytes are kept; one more is refused, and what was there stays as it was."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": "x"}, NOW)
    rest = LIMIT - size_of({"a": "x", "b": ""})
    text = "é" * (rest // 2) + "x" * (rest % 2 + extra)
    if not extra:
        assert memory.put(ANA, {"b": text}, NOW) == LIMIT
        return
    with pytest.raises(WorkingFull, match="65,537 bytes, and may hold 65,536") as caught:
        memory.put(ANA, {"b": text}, NOW)

    assert memory.get(ANA, NOW) == {"a": "x"}
    assert (LIMIT + 1, LIMIT) == (caught.value.size, caught.value.limit)


def test_a_memory_may_write_first_and_then_complain() -> None:
    """As AEGIS does: the write stays, and every later one complains too."""
    memory = WorkingMemory(limit=20, refuse_first=False)
    for text in ("x" * 30, "y" * 30):
        with pytest.raises(WorkingFull):
            memory.put(ANA, {"a": text}, NOW)

        assert memory.get(ANA, NOW) == {"a": text}


@pytest.mark.parametrize(
    "bad",
    [float("nan"), float("inf"), "\ud800", {1: 2}, {"\udfff": 1}, (1,), {1}, b"x", NOW],
)
def test_what_json_cannot_say_is_refused_before_it_changes_anything(bad: Any) -> None:  # noqa: ANN401
    """Texts with surrogates among it; and the error says nothing of the value."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW)
    wrapped: tuple[Any, ...] = (bad, [bad], {"deep": [bad]})
    for value in wrapped:
        with pytest.raises(ValueError, match=r"^a (number|text|key|value) "):
            memory.put(ANA, {"fine": 1, "b": value}, NOW)

    assert memory.get(ANA, NOW) == {"a": 1}


def test_nesting_without_end_is_refused() -> None:
    """A value that would end the stack is bad input, not a crash."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="nested deeper"):
        WorkingMemory().put(ANA, {"a": value}, NOW)


def test_typed_fields_hold_their_types() -> None:
    """A scratchpad is a text, entities are mappings, and others may be given a type."""
    memory = WorkingMemory(types={"well": str})
    memory.write_scratchpad(ANA, "notes", NOW)
    memory.put(ANA, {"entities": [{"type": "well", "id": "7"}]}, NOW)

    assert memory.scratchpad(ANA, NOW) == "notes"
    assert memory.entities(ANA, NOW) == [{"type": "well", "id": "7"}]
    wrong: dict[str, Any] = {"scratchpad": 1, "entities": {}, "well": 7}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"{name} has to be a"):
            memory.put(ANA, {name: value}, NOW)
    with pytest.raises(ValueError, match="have to be mappings"):
        memory.put(ANA, {"entities": ["well"]}, NOW)


def test_what_is_not_there_reads_as_nothing() -> None:
    """No notes are None, no entities are an empty list, as AEGIS has it."""
    memory = WorkingMemory()

    assert memory.scratchpad(ANA, NOW) is None
    assert memory.entities(ANA, NOW) == []
    assert memory.remove(ANA, None, NOW) == 0


def test_fields_are_taken_out_by_name_or_all() -> None:
    """Names that are not there do not count; the last field takes its conversation along."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1, "b": 2, "c": 3}, NOW)

    assert memory.remove(ANA, ["a", "x"], NOW) == 1
    assert memory.remove(ANA, None, NOW) == 2
    assert memory.store.conversations() == []


@given(st.lists(st.tuples(names, names), min_size=2, max_size=2, unique=True))
def test_conversations_share_nothing_whatever_their_names(pairs: list[tuple[str, str]]) -> None:
    """`a` + `b:c` is not `a:b` + `c`, neither as a record nor as a digest."""
    one, other = (Conversation(*pair) for pair in pairs)
    memory = WorkingMemory()
    memory.put(one, {"a": 1}, NOW)

    assert memory.get(other, NOW) == {}
    assert one.id != other.id


@given(st.lists(st.sampled_from(["", "a", ":", "a:", ":a", "\0", "1", "11"]), max_size=4))
def test_a_digest_is_that_of_its_parts_alone(parts: list[str]) -> None:
    """Joining or splitting parts gives another digest."""
    assert digest_of("".join(parts)) != digest_of(*parts) or len(parts) == 1


@pytest.mark.parametrize("pair", [("", "x"), ("x", "")])
def test_nobody_has_no_working_memory(pair: tuple[str, str]) -> None:
    """A conversation without a principal or a session is refused, in words that hold neither."""
    with pytest.raises(AccessError, match="without a principal or a session"):
        Conversation(*pair)


def test_forgetting_a_principal_leaves_the_others() -> None:
    """Every session of theirs goes, and no one else's, be the name ever so alike."""
    memory = WorkingMemory()
    for pair in (("ana", "1"), ("ana", "2"), ("ana ", "1"), ("bo", "ana")):
        memory.put(Conversation(*pair), {"a": 1}, NOW)

    assert memory.forget("ana") == 2
    assert memory.store.conversations() == [Conversation("ana ", "1"), Conversation("bo", "ana")]


@given(
    st.dictionaries(
        st.builds(Conversation, names, names),
        st.dictionaries(names, values, min_size=1, max_size=3),
        max_size=3,
    )
)
def test_a_saved_memory_is_the_same_when_loaded(
    conversations: dict[Conversation, dict[str, Any]],
) -> None:
    """Fields and expiry come back, and save gives the same value again."""
    memory = WorkingMemory(types={})
    for of, fields in conversations.items():
        memory.put(of, {f"x{name}": value for name, value in fields.items()}, NOW)
    saved = json.loads(json.dumps(memory.save()))
    loaded = WorkingMemory(types={})
    loaded.put(Conversation("older", "state"), {"a": 1}, NOW)
    loaded.load(saved)

    assert memory.save() == loaded.save() == saved
    assert all(loaded.get(of, NOW + DAY) == {} for of in conversations)


@pytest.mark.parametrize(
    "saved",
    [
        None,
        {},
        [["ana"]],
        [["ana", "s", {}]],
        [["", "s", {"fields": {"a": 1}, "until": None}]],
        [["ana", "s", {"fields": [], "until": None}]],
        [["ana", "s", {"fields": {"a": 1}, "until": "soon"}]],
        [["ana", "s", {"fields": {"a": 1}, "until": "2026-01-01T00:00:00"}]],
    ],
)
def test_what_is_no_working_memory_is_not_loaded(saved: Any) -> None:  # noqa: ANN401
    """A damaged state is a typed error, and changes nothing."""
    memory = WorkingMemory()
    memory.put(ANA, {"a": 1}, NOW)
    with pytest.raises((StateError, AccessError)):
        memory.load(saved)

    assert memory.get(ANA, NOW) == {"a": 1}


def test_a_damaged_text_is_never_taken_for_an_empty_memory() -> None:
    """What the store gives back must be a working memory; otherwise nothing is overwritten."""
    store = InProcessTexts()
    store.swap(ANA, "", None, '{"fields":{"a":1}')
    memory = WorkingMemory(store)
    for act in (lambda: memory.get(ANA, NOW), lambda: memory.put(ANA, {"b": 1}, NOW)):
        with pytest.raises(StateError):
            act()

    assert store.read(ANA) == {"": '{"fields":{"a":1}'}


def test_two_writers_lose_nothing() -> None:
    """Each of 200 writes of its own field, by eight threads at once, is there in the end."""
    memory = WorkingMemory()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: memory.put(ANA, {f"f{n}": n}, NOW), range(200)))

    assert {f"f{n}": n for n in range(200)} == memory.get(ANA, NOW)


def test_a_write_that_comes_between_read_and_swap_is_kept() -> None:
    """The swap fails, and the merge is made again on what is there now."""

    class Busy(InProcessTexts):
        """A store in which another writer is always a little faster, once."""

        other = WorkingMemory()

        def read(self, of: Conversation) -> dict[str, str]:
            """The text as it is before the other writes."""
            texts = super().read(of)
            if not self.other.store.conversations():
                self.other.put(ANA, {"theirs": 1}, NOW)
                super().swap(of, "", texts.get(""), self.other.store.read(of)[""])
            return texts

    memory = WorkingMemory(Busy())
    memory.put(ANA, {"mine": 2}, NOW)

    assert memory.get(ANA, NOW) == {"mine": 2, "theirs": 1}
