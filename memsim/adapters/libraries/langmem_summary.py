"""LangMem's summarisation: a model extends a running summary of the messages that leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_openai import ChatOpenAI
from langmem.short_term import RunningSummary, SummarizationResult, summarize_messages


class LangmemSummary:
    """`summarize_messages` after each turn of a user, as an agent calls it before it answers."""

    PACKAGE = "langmem"
    SOURCES = True

    def __init__(
        self, options: dict[str, Any], _embed: Callable[[list[str]], list[list[float]]]
    ) -> None:
        self._tokens: int = options["tokens"]
        self._summary_tokens: int = options["summary"]
        model = ChatOpenAI(model="memsim", base_url=options["models"], api_key="memsim")
        self._model = model.bind(max_tokens=self._summary_tokens)
        self._said: dict[str, list[AnyMessage]] = {}
        self._results: dict[str, SummarizationResult] = {}
        self._turn: dict[str, None] = {}

    def add(self, message: dict[str, Any]) -> None:
        """Note a message for the end of its turn."""
        if message["text"].strip():
            kind = AIMessage if message["role"] == "assistant" else HumanMessage
            said = self._said.setdefault(message["principal"], [])
            said.append(kind(message["text"], id=message["id"]))
            self._turn[message["principal"]] = None

    def end_turn(self) -> None:
        """Summarise, if there are too many messages."""
        for user in self._turn:
            self._results[user] = summarize_messages(
                self._said[user],
                running_summary=self._summary(user),
                model=self._model,
                max_tokens=self._tokens,
                max_summary_tokens=self._summary_tokens,
            )
        self._turn = {}

    def search(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """The summary, and the messages that are not in it; the newest comes first."""
        user = question["principal"]
        summary = self._summary(user)
        texts = [{"text": summary.summary}] if summary else []
        within = summary.summarized_message_ids if summary else set()
        left = [m for m in self._said.get(user, []) if m.id not in within]
        return texts + [{"text": m.content, "sources": [m.id]} for m in reversed(left)]

    def _summary(self, user: str) -> RunningSummary | None:
        return self._results[user].running_summary if user in self._results else None


MEMORY = LangmemSummary
