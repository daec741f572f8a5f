"""What others compact conversations with, as strategies that `memsim check` can be pointed at.

    memsim check benchmarks/peers/compactors.py@TrimMessages --profile ci

Needs `langchain` (with `langchain-core`) or `llama-index-core` beside memsim, each only where its
class is used. docs/peers.md has the versions that were tried and what was found.

What every adapter assumes: a call is handed on once it is answered, with its results behind it;
what is never answered, or answered late, is not handed on, since none of the tools says what it
does with that. Tokens are counted by memsim on both sides. Who is asked for a summary is the model
of the case. `departs` names what a tool does not claim, which is measured all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from benchmarks.peers.handover import Peer, uses
from memsim import Environment, Message, Strategy
from memsim.message import Text, ToolResult


class LangChain(Peer):
    """Messages of langchain-core."""

    def part(self, message: Message, block: Text | ToolResult, id: str) -> Any:  # noqa: A002, ANN401
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

        if isinstance(block, ToolResult):
            return ToolMessage(content=block.text, tool_call_id=block.id, id=id)
        kinds: dict[str, Any] = {"system": SystemMessage, "user": HumanMessage}
        return kinds.get(message.role, AIMessage)(content=block.text, id=id)

    def calling(self, message: Message, text: str, id: str) -> Any:  # noqa: A002, ANN401
        from langchain_core.messages import AIMessage

        calls = [
            {"id": u.id, "name": u.name, "args": json.loads(u.arguments)} for u in uses(message)
        ]
        return AIMessage(content=text, tool_calls=calls, id=id)

    def id_of(self, sent: Any) -> str:  # noqa: ANN401
        return sent.id if sent.id and sent.id.partition("/")[0] in self._said else ""


class TrimMessages(LangChain, Strategy):
    """langchain-core's `trim_messages`, set as its documentation recommends for chat histories."""

    def compacted(self, history: list[Any], budget: int) -> list[Any]:
        from langchain_core.messages import trim_messages

        kept: list[Any] = trim_messages(
            history,
            max_tokens=budget,
            token_counter=self.tokens,
            strategy="last",
            start_on="human",
            include_system=True,
        )
        return kept


class SummarizationMiddleware(LangChain, Strategy):
    """langchain's middleware of that name: at 80 % of the budget, the latest 30 % are kept."""

    keeps = True
    departs: ClassVar[Mapping[str, str]] = {
        "within_budget": "it claims when it begins, and not what it ends at",
        "delimiter_safety": "it claims no block",
    }

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        from langchain.agents.middleware import SummarizationMiddleware as Middleware
        from langchain_core.language_models.fake_chat_models import FakeListChatModel

        self._middleware = Middleware(
            model=FakeListChatModel(responses=["never asked"]),
            trigger=("tokens", max(1, env.budget * 8 // 10)),
            keep=("tokens", max(1, env.budget * 3 // 10)),
            token_counter=self.tokens,
            summarizer=self._summarizer,
        )

    def _summarizer(self, messages: list[Any]) -> str:
        own = [self.text_of(m) for m in messages if not self.id_of(m)]
        previous = own[0].partition("\n\n")[2] if own else ""
        return self.summarised(self.originals(messages), previous)

    def compacted(self, history: list[Any], budget: int) -> list[Any]:
        update = self._middleware.before_model({"messages": history}, None)  # type: ignore[arg-type]
        return history if update is None else list(update["messages"][1:])


class SummaryMemoryBuffer(Peer, Strategy):
    """llama-index's `ChatSummaryMemoryBuffer`: half of the budget verbatim, the rest summarised."""

    keeps = True
    voice = "system"
    departs: ClassVar[Mapping[str, str]] = {
        "within_budget": "its limit is of what stays verbatim, without the summary",
        "authority_non_elevation": "its summary is a system message",
        "delimiter_safety": "it claims no block",
    }

    def part(self, message: Message, block: Text | ToolResult, id: str) -> Any:  # noqa: A002, ANN401
        from llama_index.core.llms import ChatMessage

        more = {"memsim": id}
        if isinstance(block, ToolResult):
            more["tool_call_id"] = block.id
        return ChatMessage(role=message.role, content=block.text, additional_kwargs=more)

    def calling(self, message: Message, text: str, id: str) -> Any:  # noqa: A002, ANN401
        from llama_index.core.llms import ChatMessage

        calls = [{"id": u.id, "name": u.name, "arguments": u.arguments} for u in uses(message)]
        more = {"memsim": id, "tool_calls": calls}
        return ChatMessage(role="assistant", content=text, additional_kwargs=more)

    def id_of(self, sent: Any) -> str:  # noqa: ANN401
        return str(sent.additional_kwargs.get("memsim", ""))

    def compacted(self, history: list[Any], budget: int) -> list[Any]:
        from llama_index.core.memory import ChatSummaryMemoryBuffer

        buffer = ChatSummaryMemoryBuffer.from_defaults(
            chat_history=list(history),
            llm=_llm(lambda prompt: self._told(prompt, history)),
            token_limit=max(1, budget // 2),
            tokenizer_fn=lambda text: [0] * self.env.counter.text(text),
        )
        return list(buffer.get())

    def _told(self, prompt: str, history: list[Any]) -> str:
        # It is given one text: which messages are meant is to be read off it.
        meant = [m for m in history if not self.id_of(m) or str(m.content) in prompt]
        own = [self.text_of(m) for m in meant if not self.id_of(m)]
        return self.summarised(self.originals(meant), own[0] if own else "")


def _llm(answer: Callable[[str], str]) -> Any:  # noqa: ANN401
    from llama_index.core.llms import (
        ChatMessage,
        ChatResponse,
        CompletionResponse,
        CustomLLM,
        LLMMetadata,
    )

    class Answering(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def chat(self, messages: Any, **_more: Any) -> ChatResponse:  # noqa: ANN401
            told = answer(str(messages[-1].content))
            return ChatResponse(message=ChatMessage(role="assistant", content=told))

        def complete(self, prompt: str, **_more: Any) -> CompletionResponse:  # noqa: ANN401
            return CompletionResponse(text=answer(prompt))

        def stream_complete(self, prompt: str, **_more: Any) -> Any:  # noqa: ANN401
            raise NotImplementedError

    return Answering()
