"""The agent: a model that calls the tools of the memory under test.

It is shown the context and the user's message or question, calls tools round by round, and gets
their results. Whose tools it calls is the session's to say, never an argument's. Nothing that a
model writes badly ends a case: each call has one of these outcomes, which the record keeps. A tool
that fails on what its own schema allows is the strategy's error, as any other of its methods' is.

=========  =======================================================================================
outcome    what happened
=========  =======================================================================================
`done`     the tool answered
`refused`  the memory answered with an error, such as an argument that it does not take
`failed`   the tool raised, or gave no text, on arguments that its schema does not allow: the
           agent is told so in one line
`unknown`  no tool of that name is offered here: nothing was called
`skipped`  one call too many of its round: nothing was called, and the agent is told nothing
=========  =======================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memsim.errors import MemsimError, ModelError, StrategyError, describe_error
from memsim.message import Block, Message, Text, TokenCounter, ToolResult, ToolUse, paired, said
from memsim.models import AGENT_CALLS, AGENT_ROUNDS, Model, Request, ToolSpec
from memsim.replay.contract import watch_sent
from memsim.strategy import Event, Strategy
from memsim.trace import AgentRound, ToolCallRecord, ToolOutcome

# Whether a tool's arguments are such as its schema allows: what fails on others is no bug of it.

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def arguments_allowed(arguments: str, parameters: str) -> bool:
    """Whether a tool may be given these arguments.

    Args:
        arguments: as a model wrote them.
        parameters: the tool's JSON Schema as text; what is none allows whatever is an object.
    """
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return False
    try:
        schema = json.loads(parameters or "{}")
    except (ValueError, RecursionError):
        schema = {}
    return isinstance(given, dict) and _fits(given, schema)


def _fits(value: object, schema: Any) -> bool:  # noqa: ANN401 - a strategy's own JSON
    if not isinstance(schema, dict):
        return True
    kinds = schema.get("type")
    named = kinds if isinstance(kinds, list) else [kinds]
    known = [name for name in named if isinstance(name, str) and name in _TYPES]
    if known and not any(_is(value, name) for name in known):
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        return _object_fits(value, schema)
    if isinstance(value, list):
        return all(_fits(item, schema.get("items")) for item in value)
    return _within(value, schema)


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _object_fits(value: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    described = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    if isinstance(required, list) and any(name not in value for name in required):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= described.keys():
        return False
    return all(_fits(each, described.get(name)) for name, each in value.items())


def _within(value: object, schema: Mapping[str, Any]) -> bool:
    size, least, most = value, "minimum", "maximum"
    if isinstance(value, str):
        if any("\ud800" <= c <= "\udfff" for c in value):
            return False  # half an emoji is no text
        size, least, most = len(value), "minLength", "maxLength"
    if not isinstance(size, int | float):
        return True
    low, high = schema.get(least), schema.get(most)
    if isinstance(low, int | float) and not size >= low:
        return False
    return not isinstance(high, int | float) or size <= high


NO_MORE = f"stopped: it may call tools in {AGENT_ROUNDS} rounds"
_NAMED = 60
"""Characters of a tool's name that an error repeats."""
_LONGEST_TOKEN = 24
"""Characters of a token, but for such as nobody reads."""


@dataclass(slots=True)
class AgentTask:
    """The task of an agent."""

    tools: tuple[ToolSpec, ...]
    principal: str
    now: datetime
    room: int


class ToolAgent:
    """Lets a model decide which tools to call, and carries the calls out."""

    def __init__(
        self,
        model: Model,
        strategy: Strategy,
        *,
        repeat: int,
        counter: TokenCounter,
        hold: AbstractContextManager[None],
        log: Callable[[Event], None],
        keep: Callable[[AgentRound], None],
    ) -> None:
        self._model = model
        self._strategy = strategy
        self._repeat = repeat
        self._counter = counter
        self._hold = hold
        self._log = log
        self._keep = keep

    def work(self, messages: Sequence[Message], task: AgentTask) -> tuple[Message, ...]:
        """Let the model call tools until it calls none.

        Raises:
            ModelError: the model failed; the record tells in which round.
        """
        # Of a pair that the memory shows in part, a provider takes neither half.
        messages = paired(tuple(messages))
        traffic: list[Message] = []
        for number in range(1, AGENT_ROUNDS + 1):
            sent = (*messages, *traffic)
            watch_sent(sent)
            text, calls = self._decided(sent, task, number)
            if not calls:
                self._keep(AgentRound(number=number, said=text))
                break
            used = _with_own_ids(calls[:AGENT_CALLS], sent)
            done = [self._carried_out(call, task) for call in used]
            left = [ToolCallRecord(c.name, c.arguments, "skipped") for c in calls[AGENT_CALLS:]]
            note = NO_MORE if number == AGENT_ROUNDS else ""
            kept = tuple([told for told, _ in done] + left)
            self._keep(AgentRound(number=number, said=text, calls=kept, note=note))
            said_first: tuple[Block, ...] = (Text(text),) if text.strip() else ()
            traffic += [
                _message(f"call:{number}", "assistant", (*said_first, *used), task),
                _message(f"result:{number}", "tool", tuple(r for _, r in done), task),
            ]
        return tuple(traffic)

    def replaced(self, message: Message, calls: dict[str, ToolUse], principal: str) -> Message:
        """A scripted tool message with the results of the strategy's own tools in its place."""
        with self._hold:
            own = {t.name: t for t in self._strategy.tools(principal)}
        blocks: list[Block] = []
        kept: list[ToolCallRecord] = []
        for block in message.blocks:
            call = calls.get(block.id) if isinstance(block, ToolResult) else None
            if call is None or call.name not in own:
                blocks.append(block)
                continue
            outcome, text = self._called(call, own, principal)
            kept.append(ToolCallRecord(call.name, call.arguments, outcome, text))
            blocks.append(_result(call, outcome, text))
        if not kept:
            return message
        self._keep(AgentRound(number=0, calls=tuple(kept)))
        return replace(message, blocks=tuple(blocks))

    def _decided(
        self, sent: tuple[Message, ...], task: AgentTask, number: int
    ) -> tuple[str, tuple[ToolUse, ...]]:
        request = Request(
            task="act",
            messages=sent,
            tools=task.tools,
            asker=task.principal,
            now=task.now,
            repeat=self._repeat,
            round=number - 1,
        )
        try:
            with self._hold:
                reply = self._model.complete(request)
        except ModelError as error:
            self._keep(AgentRound(number=number, note=f"the model failed: {error}"))
            raise
        return reply.text, reply.tool_calls

    def _carried_out(self, call: ToolUse, task: AgentTask) -> tuple[ToolCallRecord, ToolResult]:
        offered = {t.name: t for t in task.tools}
        outcome, text = self._called(call, offered, task.principal)
        shown = shorten_text(text, task.room, self._counter)
        task.room -= self._counter.text(shown)
        told = ToolCallRecord(call.name, call.arguments, outcome, shown, len(text) - len(shown))
        if told.cut:
            shown = f"{shown}\n[cut: {told.cut:,} of {len(text):,} characters are left out]"
        return told, _result(call, outcome, shown)

    def _called(
        self, call: ToolUse, offered: Mapping[str, ToolSpec], principal: str
    ) -> tuple[ToolOutcome, str]:
        if call.name not in offered:
            return "unknown", f"Error: there is no tool {call.name[:_NAMED]!r}"
        self._log(Event(kind="tool", detail=call.name))
        try:
            with self._hold:
                text = self._strategy.call_tool(call.name, call.arguments, principal)
                if not isinstance(text, str):
                    raise StrategyError(f"{call.name} gave a {type(text).__name__}, not a text")
        except ModelError:
            raise
        except MemsimError as error:
            if arguments_allowed(call.arguments, offered[call.name].parameters):
                raise
            # The model is told what went wrong, and not in which turn.
            raised = error.__cause__ if isinstance(error, StrategyError) else None
            return "failed", f"Error: {describe_error(raised) if raised else error}"
        return ("refused" if text.casefold().startswith("error") else "done"), text


def shorten_text(text: str, tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of a text within a number of tokens.

    Args:
        text: any text.
        tokens: none are left where they are 0 or less.
        counter: measures it.
    """
    most, least = min(len(text), max(0, tokens) * _LONGEST_TOKEN), 0
    if most == len(text) and counter.text(text) <= tokens:
        return text
    count = counter.tokenizer.count
    while least < most:
        middle = (least + most + 1) // 2
        if count(text[:middle]) <= tokens:
            least = middle
        else:
            most = middle - 1
    return text[:least]


def question_message(
    text: str, *, principal: str, session: str, turn: int, now: datetime
) -> Message:
    """A question as a user message for the agent."""
    return said(
        "user", text, id="question", principal=principal, session=session, turn=turn, time=now
    )


def results_text(traffic: Sequence[Message]) -> str:
    """The results of tools as one text, without errors."""
    blocks = (b for m in traffic for b in m.blocks)
    return "\n".join(b.text for b in blocks if isinstance(b, ToolResult) and not b.is_error)


def _with_own_ids(calls: Sequence[ToolUse], sent: Sequence[Message]) -> tuple[ToolUse, ...]:
    # Many models count their calls anew in each reply, and a script has calls of its own.
    taken = {i for message in sent for i in message.calls}
    found: list[ToolUse] = []
    for call in calls:
        own, number = call.id or "call_1", 1
        while own in taken:
            number += 1
            own = f"{call.id or 'call'}_{number}"
        taken.add(own)
        found.append(call if own == call.id else replace(call, id=own))
    return tuple(found)


def _result(call: ToolUse, outcome: ToolOutcome, text: str) -> ToolResult:
    return ToolResult(id=call.id, text=text, is_error=outcome != "done")


def _message(name: str, role: str, blocks: tuple[Block, ...], task: AgentTask) -> Message:
    return Message(
        id=name,
        role="assistant" if role == "assistant" else "tool",
        blocks=blocks,
        principal=task.principal,
        time=task.now,
    )
