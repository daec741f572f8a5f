"""What was said, message by message, and what conversations came to."""

from __future__ import annotations

from datetime import timedelta

from memsim.memory.deletion import original_of
from memsim.memory.entry import passage_of, read_message
from memsim.memory.layers.episodic import Episode, Episodic, exchange, tools_called
from memsim.memory.permissions import Permissions
from memsim.memory.vault import Vault
from memsim.message import EPOCH, Message, Text, ToolResult, ToolUse, said
from tests.memory.remembering import COUNTER, Faulty


def episodic(permissions: Permissions | None = None) -> Episodic:
    """An empty one."""
    vault = Vault(Faulty(), embed=None, permissions=permissions or Permissions())
    return Episodic(vault, permissions, COUNTER.text)


def test_a_message_comes_back_as_it_was_said() -> None:
    """Its text may begin as its entry's does."""
    for text in ("hello", "ana: hello", "", " \n"):
        message = said("assistant", text, id="m1", principal="ana", session="s9", turn=3)
        assert message == read_message(exchange(message))


def test_what_was_not_said_says_what_it_was_made_from() -> None:
    """An episode is no quotation."""
    layer = episodic()
    entry = layer.conclude("ana", "s1", Episode(summary="They met.", sources=("m1", "m2")), EPOCH)

    message = read_message(entry)

    assert (True, (), ("m1", "m2")) == (message.composed, message.quotes, message.derived_from)


def test_long_results_are_kept_in_passages_of_their_message() -> None:
    """Each can be found, and all of them say which message they are of."""
    layer = episodic()
    text = "\n".join(f"Line {n} of a long report says something else again." for n in range(200))
    result = Message(id="m2", role="tool", principal="ana", blocks=(ToolResult(id="c", text=text),))

    entries = layer.record([result])

    assert len(entries) > 1
    assert {("m2",)} == {e.sources for e in entries}
    assert [*range(len(entries))] == [passage_of(e) for e in entries]
    assert {"m2"} == {read_message(e).id for e in entries}
    assert {"m2"} == {original_of(e) for e in entries}
    assert (
        original_of(layer.conclude("ana", "s1", Episode(summary="x", sources=("m2",)), EPOCH))
        is None
    )


def test_an_episode_takes_the_place_of_the_one_before() -> None:
    """It keeps when the conversation was first concluded; others' episodes stay."""
    layer = episodic()
    later = EPOCH + timedelta(days=1)
    layer.conclude("ana", "s1", Episode(summary="One."), EPOCH)
    layer.conclude("ben", "s1", Episode(summary="Ben's."), EPOCH)
    again = Episode(
        summary="Two.",
        key_decisions=("We go.",),
        entities=("Oslo", "Åse"),
        tools_called=("look_up",),
        sources=("m1",),
    )

    entry = layer.conclude("ana", "s1", again, later)

    assert (EPOCH, later) == (entry.created, entry.updated)
    assert [again] == layer.episodes("ana")
    assert ["Ben's."] == [e.summary for e in layer.episodes("ben")]


def test_who_takes_part_may_read_what_was_said() -> None:
    """Everybody who is there when it is recorded."""
    permissions = Permissions()
    permissions.joins("ana", "s1")
    permissions.joins("ben", "s1")

    (entry,) = episodic(permissions).record([said("user", "hello", id="m1", principal="ana")])

    assert ("ben",) == entry.readers


def test_tools_are_named_once_in_order() -> None:
    """As they were called."""
    uses = [ToolUse(id=str(n), name=name, arguments="{}") for n, name in enumerate("bab")]
    message = Message(id="m1", role="assistant", blocks=(Text("so"), *uses))

    assert ("b", "a") == tools_called([message, message])
