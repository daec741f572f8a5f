"""Diaries that handle texts wrongly: cut, rewritten, raised in rank, or let out of their block."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from memsim.context import Section
from memsim.message import Block, Message, ToolResult, ToolUse, composed
from memsim.strategy import Query
from tests.doubles.diary import Diary


def reworded(message: Message, text: str) -> Message:
    """A message whose first text is another."""
    first, *others = message.blocks
    if isinstance(first, ToolUse):
        return message
    return replace(message, blocks=(replace(first, text=text), *others))


def noted(text: str, *sources: Message, role: str = "user", **how: object) -> Message:
    """A note of the memory."""
    ids = tuple(m.id for m in sources)
    made = {"derived_from": ids, **how}
    return composed(role, text, id="note", **made)  # type: ignore[arg-type]


class Reminder(Diary):
    """Repeats every fourth turn's request as a reminder of the system, and credits nobody."""

    def extras(self, query: Query) -> list[Section]:
        asked = [m for m in self.recent if m.role == "user" and m.principal == query.principal]
        if query.turn % 4 or not asked:
            return []
        text = f"Reminder: {asked[-1].text}"
        return [self.section("core", [composed("system", text, id="reminder")])]


class Promotion(Diary):
    """Adds what users want remembered to a copy of the first rule."""

    def standing(self, query: Query) -> list[Message]:
        orders = [m.text for m in self.recent if re.match("Remember|IMPORTANT|From now", m.text)]
        if not orders or not self.rules:
            return list(self.rules)
        first = self.rules[0]
        text = "\n".join((first.text, *orders))
        return [*self.rules, composed("system", text, id="orders", quotes=())]


class ToolCard(Diary):
    """Shows a long tool result as a card of the system."""

    def extras(self, query: Query) -> list[Section]:
        long = [m for m in self.recent if m.role == "tool" and len(m.text) > 200][-1:]
        return [
            self.section("core", [composed("system", f"Tool says: {m.text}", id="card")])
            for m in long
        ]


class OwnTag(Diary):
    """Quotes what is older than its latest three messages between tags of its own."""

    def extras(self, query: Query) -> list[Section]:
        old = [m for m in self.recent[:-3] if not m.calls and not m.results][-2:]
        text = "\n".join(m.text for m in old)
        return [self.section("working", [noted(f"<notes>\n{text}\n</notes>", *old)])] if old else []


class OwnFence(Diary):
    """Quotes the latest tool result in a fence of backticks."""

    def extras(self, query: Query) -> list[Section]:
        tools = [m for m in self.recent if m.results][-1:]
        return [
            self.section("working", [noted(f"Last result:\n```\n{m.text}\n```", m)]) for m in tools
        ]


class LowerCaseEscape(Diary):
    """Escapes its closing tag only as it writes it."""

    def extras(self, query: Query) -> list[Section]:
        old = [m for m in self.recent if m.role == "user"][-2:]
        text = "\n".join(m.text for m in old).replace("</notes>", "<\\/notes>")
        return [self.section("working", [noted(f"<notes>\n{text}\n</notes>", *old)])] if old else []


class TemplateBlock(Diary):
    """Quotes the latest tool result in a block of a template language."""

    def extras(self, query: Query) -> list[Section]:
        tools = [m for m in self.recent if m.results][-1:]
        return [
            self.section("working", [noted(f"{{% tool %}} {m.text} {{% endtool %}}", m)])
            for m in tools
        ]


class EndLine(Diary):
    """Ends what it quotes with a line of its own."""

    def extras(self, query: Query) -> list[Section]:
        old = [m for m in self.recent if m.role == "assistant" and not m.calls][-1:]
        return [
            self.section("working", [noted(f"=== NOTES ===\n{m.text}\n=== END OF NOTES ===", m)])
            for m in old
        ]


class RawSummary(Diary):
    """Puts the summary between memsim's tags without escaping it."""

    def summaries(self, query: Query) -> list[Message]:
        text = f"<summary>\n{self.summary}\n</summary>"
        made = composed("assistant", text, id="summary", derived_from=self.covered)
        return [made] if self.summary else []


class CodePointCut(Diary):
    """Shows the first 200 code points of a long message, and says so."""

    def window(self, query: Query, left: int) -> list[Message]:
        return [self.cut(m, query) for m in super().window(query, left)]

    def cut(self, message: Message, query: Query) -> Message:
        """A part of a long message, if it is not the one to be answered."""
        if len(message.text) <= 200 or message.turn == query.turn or message.role != "user":
            return message
        text = f"{message.text[:200]}\u2026"
        return composed("user", text, id=f"cut:{message.id}", excerpts=(message.id,))


class ByteCut(Diary):
    """Shows the first 512 bytes of a tool result, as far as they can be decoded."""

    def extras(self, query: Query) -> list[Section]:
        long = [m for m in self.recent if m.results and len(m.text.encode()) > 512][-1:]
        ids = tuple(m.id for m in long)
        return [
            self.section(
                "working",
                [
                    composed(
                        "user",
                        f"{m.text.encode()[:512].decode(errors='ignore')} [...]",
                        id="preview",
                        excerpts=ids,
                    )
                ],
            )
            for m in long
        ]


class ReplacedBytes(Diary):
    """Shows the last 90 bytes of the user's previous message."""

    def extras(self, query: Query) -> list[Section]:
        before = [m for m in self.recent if m.role == "user" and m.turn < query.turn][-1:]
        return [
            self.section(
                "working",
                [
                    composed(
                        "user",
                        f"\u2026{m.text.encode()[-90:].decode(errors='replace')}",
                        id="tail",
                        excerpts=(m.id,),
                    )
                ],
            )
            for m in before
        ]


class SilentLimit(Diary):
    """Takes no more than 2,000 characters of a message."""

    def observe(self, message: Message) -> None:
        super().observe(reworded(message, message.text[:2000]) if _only(message) else message)


class SilentResults(Diary):
    """Takes no more than 300 characters of each tool result."""

    def observe(self, message: Message) -> None:
        def cut(block: Block) -> Block:
            return replace(block, text=block.text[:300]) if isinstance(block, ToolResult) else block

        super().observe(replace(message, blocks=tuple(map(cut, message.blocks))))


class SilentCopy(Diary):
    """Repeats the first 100 characters of an older message, with no mark where it was cut."""

    def extras(self, query: Query) -> list[Section]:
        long = [m for m in self.recent if len(m.text) > 100 and m.turn < query.turn][-1:]
        return [self.section("working", [noted(f"Earlier: {m.text[:100]}", m)]) for m in long]


class SilentInput(Diary):
    """Lets the model read only the beginning of what it summarises."""

    def given(self, old: list[Message]) -> tuple[Message, ...]:
        return tuple(reworded(m, m.text[:150]) if _only(m) else m for m in old)


def _only(message: Message) -> bool:
    return len(message.blocks) == 1 and not message.calls


class Composer(Diary):
    """Stores every text in composed characters (NFC)."""

    def observe(self, message: Message) -> None:
        text = unicodedata.normalize("NFC", message.text)
        super().observe(reworded(message, text) if _only(message) else message)


class StraightQuotes(Diary):
    """Straightens the quotes of the assistant's messages."""

    def observe(self, message: Message) -> None:
        text = message.text.translate({0x201C: '"', 0x201D: '"', 0x2019: "'"})
        own = message.role == "assistant" and _only(message)
        super().observe(reworded(message, text) if own else message)


class OneSpace(Diary):
    """Makes one blank of several in tool results."""

    def observe(self, message: Message) -> None:
        def tidy(block: Block) -> Block:
            text = "" if isinstance(block, ToolUse) else re.sub(r"[ \t]+", " ", block.text)
            return replace(block, text=text) if isinstance(block, ToolResult) else block

        super().observe(replace(message, blocks=tuple(map(tidy, message.blocks))))


class StrippedQuote(Diary):
    """Quotes a user's earlier message without the blanks around it."""

    def extras(self, query: Query) -> list[Section]:
        there = {m.id for m in self.window(query, query.budget)}
        old = [m for m in self.recent if m.role == "user" and m.id not in there][-1:]
        return [
            self.section("working", [noted(m.text.strip(), derived_from=(), quotes=(m.id,))])
            for m in old
        ]


class TidyArguments(Diary):
    """Writes the arguments of tool calls anew."""

    def observe(self, message: Message) -> None:
        def tidy(block: Block) -> Block:
            if not isinstance(block, ToolUse):
                return block
            return replace(block, arguments=json.dumps(json.loads(block.arguments)))

        super().observe(replace(message, blocks=tuple(map(tidy, message.blocks))))


class HtmlText(Diary):
    """Decodes entities in what is said, once a conversation has begun anew."""

    def observe(self, message: Message) -> None:
        from html import unescape

        renewed = message.session.endswith("-2") and _only(message)
        super().observe(reworded(message, unescape(message.text)) if renewed else message)


TEXT_FAULTS: dict[str, Sequence[type[Diary]]] = {
    "authority_non_elevation": (Reminder, Promotion, ToolCard),
    "own_delimiters_are_safe": (OwnTag, OwnFence, LowerCaseEscape, TemplateBlock, EndLine),
    "delimiter_safety": (RawSummary,),
    "well_formed": (CodePointCut, ByteCut, ReplacedBytes),
    "no_mutation": (
        *(SilentLimit, SilentResults, SilentCopy, SilentInput),
        *(Composer, StraightQuotes, OneSpace, StrippedQuote, TidyArguments, HtmlText),
    ),
}
"""Doubles by the invariant that names what is wrong with them."""
