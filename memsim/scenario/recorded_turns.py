"""Turns of a recorded conversation, with what the recorded agent itself sent in each.

A user's message begins a turn; what the agent says and does until the next one is its reply. Every
message keeps its own time. Tool calls are numbered anew, because agents use ids again. A call
without a result becomes text, and so does a result without a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from memsim.errors import ScenarioError
from memsim.message import Block, Message, Role, Text, ToolResult, ToolUse
from memsim.scenario.conversation_step import RecordedConversation
from memsim.scenario.narrator import Narrator
from memsim.scenario.script import Turn
from memsim.strategy import SentContext
from memsim.traces.conversation_file import SessionLine, read_conversation_file
from memsim.traces.records import TraceDocument, TraceMessage

_SPOKEN: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}


@dataclass(slots=True)
class _Draft:
    """A turn before it has its place in the script."""

    session: SessionLine
    sent: SentContext
    messages: list[TraceMessage] = field(default_factory=list)


def recorded_turns(
    step: RecordedConversation, narrator: Narrator
) -> Iterator[tuple[Turn, SentContext]]:
    """Each turn, with what the agent sent in the next one; after the last turn, in that one.

    Raises:
        ScenarioError: the file is damaged, or does not fit into the script.
    """
    before: _Draft | None = None
    for draft in _located(step, _drafts(step, narrator.messages)):
        if before is not None:
            yield _turn(before, narrator, step.line), draft.sent
        before = draft
    if before is not None:
        yield _turn(before, narrator, step.line), before.sent


def _located(step: RecordedConversation, drafts: Iterator[_Draft]) -> Iterator[_Draft]:
    """The drafts; an error names the line of the file behind that of the step."""
    try:
        yield from drafts
    except ScenarioError as error:
        said = f"{step.file}:{error.line}: {error.message}"
        raise ScenarioError(said, line=step.line) from None


def _drafts(step: RecordedConversation, said: int) -> Iterator[_Draft]:
    lane = _Lane(said)
    draft: _Draft | None = None
    session = SessionLine("", "")
    for _, line in read_conversation_file(step.data, step.file):
        if isinstance(line, SessionLine):
            session = line
            lane.begin()
        elif line.role not in _SPOKEN:
            lane.note(line)
        else:
            if draft is None or draft.session is not session or line.role == "user":
                if draft is not None:
                    yield draft
                lane.begin_turn()
                draft = _Draft(session, lane.sent)
            draft.messages.append(line)
            lane.hear(line)
            if line.role != "user":
                draft.sent = lane.sent
    if draft is not None:
        yield draft


class _Lane:
    """What the recorded agent sent, as far as its trace tells; `said` messages came before."""

    def __init__(self, said: int) -> None:
        self._said = said
        self._texts: dict[str, str] = {}
        self._fresh: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self.sent = SentContext()

    def begin(self) -> None:
        """A session begins: nothing is sent any more."""
        self.sent, self._fresh = SentContext(), ()

    def begin_turn(self) -> None:
        """What was recalled before the last answer belongs to the turn before."""
        since = self.sent.since or f"m{self._said + 1}"
        self.sent = replace(self.sent, since=since, recalled=self._fresh)
        self._fresh = ()

    def hear(self, message: TraceMessage) -> None:
        """A message is said; an answer was given what has been recalled."""
        self._said += 1
        self._texts.setdefault(message.text.strip(), f"m{self._said}")
        if message.role != "user" and self._fresh:
            self.sent = replace(self.sent, recalled=(*self.sent.recalled, *self._fresh))
            self._fresh = ()

    def note(self, message: TraceMessage) -> None:
        """The agent gets instructions, asks its memory, or compacts."""
        if message.role == "system":
            self.sent = replace(self.sent, system=message.text)
        elif message.role == "compaction":
            self.sent = replace(self.sent, summary=message.text, since=f"m{self._said + 1}")
        else:
            self._fresh = (*self._fresh, *map(self._recalled, message.documents))

    def _recalled(self, document: TraceDocument) -> tuple[str, tuple[str, ...]]:
        """A document, with the messages that it holds as a whole or in a line."""
        lines = (document.text, *document.text.splitlines())
        found = (self._texts.get(line.strip()) for line in lines if line.strip())
        return document.text, tuple(dict.fromkeys(source for source in found if source))


def _turn(draft: _Draft, narrator: Narrator, line: int | None) -> Turn:
    session, first = draft.session, draft.messages[0]
    began = max(narrator.now, first.time or narrator.now)
    if (session.session, session.principal) != (narrator.session, narrator.principal):
        narrator.join(session.session, session.principal, began, line)
    who = narrator.known(first.speaker, line) if first.speaker else narrator.principal
    narrator.now = began
    narrator.limit(1, line)
    narrator.turn += 1
    pairs = _pairs(draft.messages, narrator)
    heard: list[Message] = []
    reply: list[Message] = []
    for place, message in enumerate(draft.messages):
        narrator.messages += 1
        narrator.now = max(narrator.now, message.time or narrator.now)
        role = _SPOKEN[message.role]
        made = Message(
            id=f"m{narrator.messages}",
            role="assistant" if role == "tool" and (place, -1) not in pairs else role,
            blocks=_blocks(message, place, pairs),
            principal=who,
            session=session.session,
            turn=narrator.turn,
            time=narrator.now,
        )
        (heard if role == "user" else reply).append(made)
    return Turn(
        number=narrator.turn,
        session=session.session,
        principal=who,
        time=began,
        heard=tuple(heard),
        reply=tuple(reply),
        sent=draft.sent,
    )


_Pairs = dict[tuple[int, int], str]
"""The new id of each call that has a result, by message and place, and of its result, at -1."""


def _pairs(messages: list[TraceMessage], narrator: Narrator) -> _Pairs:
    waiting: dict[str, tuple[int, int]] = {}
    pairs: _Pairs = {}
    for place, message in enumerate(messages):
        waiting.update({call.id: (place, n) for n, call in enumerate(message.calls)})
        if message.role == "tool" and (called := waiting.pop(message.answers, None)):
            pairs[called] = pairs[place, -1] = f"call_{narrator.next_call()}"
    return pairs


def _blocks(message: TraceMessage, place: int, pairs: _Pairs) -> tuple[Block, ...]:
    if (place, -1) in pairs:
        result = ToolResult(id=pairs[place, -1], text=message.text, is_error=message.is_error)
        return (result,)
    blocks: list[Block] = [Text(message.text)] if message.text or not message.calls else []
    for number, call in enumerate(message.calls):
        new = pairs.get((place, number))
        if new is None:
            blocks.append(Text(f"{call.name}({call.arguments})"))
        else:
            blocks.append(ToolUse(id=new, name=call.name, arguments=call.arguments))
    return tuple(blocks)
