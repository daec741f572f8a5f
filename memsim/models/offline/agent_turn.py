"""The offline agent's work on one message: what it says, and what was called and found for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memsim.language.text import sentences
from memsim.message import ToolResult
from memsim.models import IDK
from memsim.models.offline.reader import ReaderAnswer, read_answer
from memsim.models.offline.statements import sentence
from memsim.models.offline.summariser import states_fact
from memsim.models.offline.tool_purpose import ToolPurpose, ToolUsage, tool_usages, with_purpose
from memsim.models.offline.tool_results import (
    AnsweredCall,
    FoundEntry,
    answered_calls,
    found_entries,
    next_place,
    without_next_place,
)

if TYPE_CHECKING:
    from memsim.message import Block, Message
    from memsim.models import Request
    from memsim.models.offline.statements import Sentence

_FORGET: Final = re.compile(
    r"^\W{0,9}(?:(?:please|ok|okay|now|so|then|also|and|\w{1,40}\shere)\b[\s,.:]{0,9}){0,3}"
    r"(?:(?:can|could|would|will)\syou\s(?:please\s)?)?forget\b(?!\s(?:to|not)\b)"
    r"|\bplease\s(?:\w+\s)?forget\b|\b(?:you\s(?:can|should|may|must)|want\syou\sto)\sforget\b"
    r"|\b(?:delete|erase|remove|wipe)\b.{0,60}\b(?:from\s(?:your\s)?(?:memory|notes)|about\sme)\b",
    re.IGNORECASE,
)
_CUT: Final = ".\u2026 "


@dataclass(frozen=True)
class AgentTurn:
    """The work on one message: what it says, and what the agent has done about it."""

    request: Request
    at: int

    @property
    def message(self) -> Message:
        return self.request.messages[self.at]

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages without the agent's own rounds."""
        return self.request.messages[: len(self.request.messages) - 2 * self.request.round]

    @cached_property
    def usages(self) -> tuple[ToolUsage, ...]:
        return tool_usages(self.request.tools)

    @cached_property
    def done(self) -> tuple[AnsweredCall, ...]:
        own = self.request.messages[len(self.messages) :]
        return answered_calls(own, self.usages)

    @cached_property
    def said(self) -> list[Sentence]:
        return [sentence(s) for line in self.message.text.splitlines() for s in sentences(line)]

    @cached_property
    def facts(self) -> list[str]:
        return [s.text for s in self.said if states_fact(s)]

    @cached_property
    def questions(self) -> list[str]:
        return [s.text for s in self.said if s.question]

    @cached_property
    def to_forget(self) -> str:
        """The sentences that ask for something to be forgotten."""
        return " ".join(s.text for s in self.said if _FORGET.search(s.text))

    @cached_property
    def answer(self) -> ReaderAnswer | None:
        """The reader's answer to the last question, from the context and what was found."""
        if not self.questions:
            return None
        return read_answer(
            replace(
                self.request, question=self.questions[-1], messages=(*self.messages, *self.found)
            )
        )

    @cached_property
    def found(self) -> tuple[Message, ...]:
        """The answers of the agent's tools, without those that say that there is nothing."""
        useful = {call.text for call in self.done if call.found_something}
        own = self.request.messages[len(self.messages) :]
        kept = ((m, tuple(b for b in m.blocks if _tells(b, useful))) for m in own)
        return tuple(
            replace(message, blocks=tuple(map(_whole_page, blocks)))
            for message, blocks in kept
            if blocks
        )

    @property
    def is_answered(self) -> bool:
        """Whether the reader has an answer, and not out of what was shown in part."""
        if self.answer is None or self.answer.text == IDK:
            return False
        reloaded = self.tried("reload")
        if reloaded and next_place(reloaded[-1].text) is not None:
            # Else it is the beginning of the content, which stood in the context already.
            return not {m.id for m in self.found}.isdisjoint(self.answer.sources)
        said = self.answer.text.rstrip(_CUT)
        cut = (
            [] if self.tried("get") else [e.text.rstrip(_CUT) for e in shown_entries(self) if e.cut]
        )
        return not any(said in text or text in said for text in cut)

    def of(self, *purposes: ToolPurpose) -> tuple[ToolUsage, ...]:
        """The usages of the first purpose for which there is any."""
        return next((u for p in purposes if (u := with_purpose(self.usages, p))), ())

    def tried(self, purpose: ToolPurpose) -> tuple[AnsweredCall, ...]:
        """The agent's calls of a purpose."""
        return tuple(call for call in self.done if call.purpose == purpose)


def _tells(block: Block, useful: Collection[str]) -> bool:
    return isinstance(block, ToolResult) and block.text in useful


def _whole_page(block: Block) -> Block:
    if not isinstance(block, ToolResult):
        return block
    return replace(block, text=without_next_place(block.text))


def shown_entries(turn: AgentTurn) -> list[FoundEntry]:
    """The entries that the agent's searches have shown."""
    answers = [*turn.tried("search"), *turn.tried("list")]
    return [entry for call in answers if call.found_something for entry in found_entries(call.text)]


def is_there(turn: AgentTurn, entry: FoundEntry) -> bool:
    """Whether an entry was there when it was looked up by its key, or was not looked up."""
    looked = [call for call in turn.tried("get") if entry.key in call.arguments]
    return not looked or any(call.found_something for call in looked)
