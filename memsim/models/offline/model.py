"""The offline model: performs by rules what a live model does by prompts, without a network.

It is pure: the same request gives the same reply, on any machine and in any order. It says nothing
that its input does not contain, so measured recall is recall of the memory, not knowledge of the
model.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from memsim.errors import ModelError
from memsim.language.text import content, sentences
from memsim.message import TokenCounter, Tokenizer, ToolUse
from memsim.models import IDK, Reply, Request, Usage
from memsim.models.offline.judge import judge
from memsim.models.offline.reader import read_answer
from memsim.models.offline.statements import sentence
from memsim.models.offline.summariser import extract, join_lines, states_fact, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import Message
    from memsim.models import ToolSpec
    from memsim.models.offline.summariser import SourcedLine


# The agent stores a statement of the user, searches for a question, and otherwise answers.


NOTED = "Noted."
"""The reply if there is nothing to store, to search or to answer."""

_STORES = (
    "store",
    "remember",
    "record",
    "save",
    "add",
    "write",
    "note",
    "insert",
    "create",
    "update",
)
_SEARCHES = ("search", "recall", "retrieve", "find", "lookup", "query", "read", "get")
"""Words at the beginning or end of the names of search tools, best first."""

_MEMORY = re.compile(r"memor|note|fact|remember|recall|knowledge", re.IGNORECASE)
_PARTS = re.compile(r"[^a-z0-9]+")
_ASKED = ("query", "question", "q", "keywords")
_TOLD = ("content", "text", "fact", "memory", "value", "note", "input")
_KEY_WORDS = 6


class AgentAction(NamedTuple):
    """A step of the agent: words, calls, and the messages on which the words are based."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    sources: tuple[str, ...] = ()


def act(request: Request) -> AgentAction:
    """The next step after the last user message: a tool call, or an answer after its results."""
    at = _last_user(request.messages)
    if at is None:
        return AgentAction(NOTED)
    message = request.messages[at]
    facts, questions = _parted(message)
    if any(m.calls for m in request.messages[at + 1 :]):
        return _answered(request, questions)
    store, search = _tool(request.tools, _STORES), _tool(request.tools, _SEARCHES)
    if facts and store:
        return AgentAction("", (_call(store, message, " ".join(facts), _TOLD),))
    if questions and search:
        return AgentAction("", (_call(search, message, " ".join(questions), _ASKED),))
    return _answered(request, questions)


def _last_user(messages: Sequence[Message]) -> int | None:
    return next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "user"), None)


def _parted(message: Message) -> tuple[list[str], list[str]]:
    found = [sentence(s) for line in message.text.splitlines() for s in sentences(line)]
    facts = [s.text for s in found if states_fact(s)]
    return facts, [s.text for s in found if s.question]


def _answered(request: Request, questions: Sequence[str]) -> AgentAction:
    if not questions:
        return AgentAction(NOTED)
    from dataclasses import replace

    said = read_answer(replace(request, question=questions[-1]))
    return AgentAction(said.text, sources=said.sources)


def _tool(tools: Sequence[ToolSpec], verbs: Sequence[str]) -> ToolSpec | None:
    about = [t for t in tools if _MEMORY.search(f"{t.name} {t.description}")]
    for verb in verbs:
        for tool in about:
            if verb in _PARTS.split(tool.name.lower()):
                return tool
    return None


def _call(tool: ToolSpec, message: Message, text: str, usual: Sequence[str]) -> ToolUse:
    arguments = json.dumps(_arguments(tool, text, usual), ensure_ascii=False, sort_keys=True)
    digest = hashlib.blake2b(f"{message.id}\n{tool.name}\n{arguments}".encode(), digest_size=6)
    return ToolUse(id=f"call_{digest.hexdigest()}", name=tool.name, arguments=arguments)


def _arguments(tool: ToolSpec, text: str, usual: Sequence[str]) -> dict[str, object]:
    """The arguments of a tool: the text for its text parameter, names for other required ones."""
    properties, required = _schema(tool)
    known = [name for name in (*usual, *_ASKED, *_TOLD) if name in properties]
    main = next(iter([*known, *required, *properties]), usual[0])
    given: dict[str, object] = {main: _typed(properties.get(main), text)}
    for name in required:
        given.setdefault(name, _typed(properties.get(name), _key(text)))
    return given


def _schema(tool: ToolSpec) -> tuple[dict[str, object], list[str]]:
    try:
        schema = json.loads(tool.parameters or "{}")
    except (ValueError, RecursionError):
        schema = None
    if not isinstance(schema, dict):
        return {}, []
    properties, required = schema.get("properties"), schema.get("required")
    return (
        dict(properties) if isinstance(properties, dict) else {},
        [str(name) for name in required] if isinstance(required, list) else [],
    )


def _typed(schema: object, text: str) -> object:
    listed = isinstance(schema, dict) and schema.get("type") == "array"
    return [text] if listed else text


def _key(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return "_".join([*content(text)[:_KEY_WORDS], digest])


class OfflineModel:
    """Summarises, extracts, answers, judges and acts by rules.

    Args:
        tokenizer: counts usage and limits; a caching counter may be shared.
        seed: with the repeat and the question, determines which questions are missed.
        miss: share of questions that the reader misses in any context, from 0 to 1.

    Raises:
        ValueError: the share is not between 0 and 1.
    """

    def __init__(
        self, tokenizer: Tokenizer | TokenCounter, seed: int = 0, miss: float = 0.0
    ) -> None:
        if not 0.0 <= miss <= 1.0:
            raise ValueError(f"miss must be a share between 0 and 1, not {miss}")
        self._counter = (
            tokenizer if isinstance(tokenizer, TokenCounter) else TokenCounter(tokenizer)
        )
        self._seed = seed
        self._miss = miss

    @property
    def name(self) -> str:
        """The ref of the model: `offline`, or `offline:miss=0.05`."""
        return f"offline:miss={self._miss:g}" if self._miss else "offline"

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: the request's task is unknown.
        """
        match request.task:
            case "summarise":
                return self._sourced_reply(request, summarise(request, self._counter))
            case "extract":
                return self._sourced_reply(request, extract(request, self._counter))
            case "answer":
                return self._answered(request)
            case "judge":
                return self._reply(request, judge(request))
            case "act":
                done = act(request)
                return self._reply(request, done.text, done.sources, calls=done.calls)
            case _:
                raise ModelError(f"the offline model has no task {request.task!r}")

    def _sourced_reply(self, request: Request, lines: Sequence[SourcedLine]) -> Reply:
        sources = tuple(dict.fromkeys(i for said in lines for i in said.sources))
        by_line = tuple(said.sources for said in lines)
        return self._reply(request, join_lines(lines), sources, by_line=by_line)

    def _answered(self, request: Request) -> Reply:
        if self._misses(request):
            return self._reply(request, IDK)
        said = read_answer(request)
        return self._reply(request, self._short(said.text, request.max_tokens), said.sources)

    def _short(self, text: str, limit: int | None) -> str:
        while limit is not None and text and self._counter.text(text) > limit:
            text = text.rpartition(" ")[0]
        return text

    def _misses(self, request: Request) -> bool:
        if not self._miss:
            return False
        key = f"{self._seed}\n{request.repeat}\n{request.question}"
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self._miss * 2**64

    def _reply(
        self,
        request: Request,
        text: str,
        sources: tuple[str, ...] = (),
        *,
        by_line: tuple[tuple[str, ...], ...] | None = None,
        calls: tuple[ToolUse, ...] = (),
    ) -> Reply:
        count = self._counter.text
        given = (request.previous, request.question, request.expected, request.given)
        spoken = sum(count(m.text) for m in request.messages) + sum(count(g) for g in given if g)
        called = sum(count(f"{call.name}({call.arguments})") for call in calls)
        usage = Usage(input=spoken, output=(count(text) if text else 0) + called)
        return Reply(
            text=text, tool_calls=calls, usage=usage, sources=sources, line_sources=by_line
        )
