"""The offline model: performs by rules what a live model does by prompts, without a network.

It is pure: the same request gives the same reply, on any machine and in any order. It says nothing
that its input does not contain, so measured recall is recall of the memory, not knowledge of the
model.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.message import TokenCounter, Tokenizer
from memsim.models import IDK, Reply, Request, Usage
from memsim.models.offline.agent import act
from memsim.models.offline.judge import judge
from memsim.models.offline.reader import read_answer
from memsim.models.offline.summariser import extract, join_lines, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import ToolUse
    from memsim.models.offline.summariser import SourcedLine


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
