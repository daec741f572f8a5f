"""The conversations of a scenario as records, for export in the formats of other tools."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.scenario.script import Scenario, Turn
from memsim.traces.conversation_file import SessionLine, read_conversation_file
from memsim.traces.records import TraceCall, TraceConversation, TraceMessage


def scenario_conversations(scenario: Scenario, seed: int) -> Iterator[TraceConversation]:
    """The sessions of a scenario in order; imported ones with all that their trace told.

    Raises:
        ScenarioError: a conversation file is damaged.
    """
    if scenario.recorded:
        for data in scenario.recorded:
            yield from _recorded(data, scenario)
        return
    sessions: dict[str, list[TraceMessage]] = {}
    people: dict[str, str] = {}
    for event in scenario.events(seed):
        if isinstance(event, Turn):
            owner = people.setdefault(event.session, event.principal)
            sessions.setdefault(event.session, []).extend(_messages(event, owner))
    for session, messages in sessions.items():
        yield TraceConversation(id=session, messages=tuple(messages), person=people[session])


def _recorded(data: bytes, scenario: Scenario) -> Iterator[TraceConversation]:
    session, messages = SessionLine("", ""), list[TraceMessage]()
    for _, line in read_conversation_file(data, scenario.path):
        if isinstance(line, TraceMessage):
            messages.append(line)
            continue
        if messages:
            yield _conversation(session, messages)
        session, messages = line, []
    if messages:
        yield _conversation(session, messages)


def _conversation(session: SessionLine, messages: list[TraceMessage]) -> TraceConversation:
    return TraceConversation(
        id=session.session,
        messages=tuple(messages),
        person=session.principal,
        title=session.title,
    )


def _messages(turn: Turn, owner: str) -> Iterator[TraceMessage]:
    for message in (*turn.heard, *turn.reply):
        yield trace_message(message, owner)


def trace_message(message: Message, owner: str) -> TraceMessage:
    """A played message as a record; `owner` is whose session it is."""
    calls = tuple(
        TraceCall(b.id, b.name, b.arguments) for b in message.blocks if isinstance(b, ToolUse)
    )
    results = [b for b in message.blocks if isinstance(b, ToolResult)]
    other = message.role == "user" and message.principal != owner
    return TraceMessage(
        message.role,
        results[0].text
        if results
        else "\n".join(b.text for b in message.blocks if isinstance(b, Text)),
        message.time,
        calls,
        answers=results[0].id if results else "",
        is_error=bool(results and results[0].is_error),
        speaker=message.principal if other else "",
    )
