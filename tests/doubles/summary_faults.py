"""Doubles that write summaries for the wrong reader, in the wrong role, or lose a rule."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from memsim.memory.entry import digest_of
from memsim.message import Text
from memsim.models import ToolSpec
from tests.doubles.honest import Found, Honest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.message import Message
    from memsim.strategy import Environment, Query
    from tests.doubles.honest_tiers import Drawer

_ORDER = re.compile(
    r"\b(always|remember|from now on|permanent|answer|reply|say|save|policy|confirmed|agreed)\b",
    re.IGNORECASE,
)

_FOLDER = "memory"
_FILE_READ = ToolSpec(
    name="file_read",
    description="Read a file.",
    parameters=json.dumps(
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    ),
    reads=True,
)


class SharedSummary(Honest):
    """One summary of what everybody said, for everybody."""

    def summary_of(self, principal: str) -> dict[str, str]:
        every = [line for d in self.drawers.values() for line in d.summary.items()]
        return dict(every)


class SystemSummary(Honest):
    """Its summary, and what it recalls, speak as the system."""

    voice: Literal["user", "system"] = "system"


class UnpinnedRule(Honest):
    """A standing rule is a message like any other, and leaves with the others."""

    def pin(self, drawer: Drawer, message: Message) -> None:
        drawer.history[message.id] = message
        drawer.take_in(message)
        self.talk(message.principal, message.session).window.add(message)


class PromotesOrders(Honest):
    """Whatever sounds like an order, a web page's too, becomes a standing rule of the system's."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        if message.role in {"user", "tool"} and _ORDER.search(message.text):
            order = replace(message, role="system", blocks=(Text(message.text),))
            self.pin(self.drawer(message.principal), order)


class OpenBlock(Honest):
    """Its summary stands in a block that the words in it can close."""

    def _made(
        self,
        id: str,  # noqa: A002 - the message's own
        lines: Sequence[str],
        query: Query,
        *,
        quotes: tuple[str, ...] = (),
        derived_from: tuple[str, ...] = (),
    ) -> Message:
        block = ("<summary>", *lines, "</summary>")
        return super()._made(id, block, query, quotes=quotes, derived_from=derived_from)


class TellsAll(Honest):
    """Everything that it knows of somebody goes into every context, as far as it fits."""

    def ranked(self, principal: str, text: str, count: int) -> Found:
        return tuple((1.0, message) for message in self.readable(principal))


class ReadsFiles(Honest):
    """It writes what it keeps into files, and has a tool that refuses their plain names alone."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env, files=True)

    def write_files(self) -> None:
        folder = self.env.folder() / _FOLDER
        folder.mkdir(exist_ok=True)
        for drawer in self.drawers.values():
            texts = {name: message.text for name, message in drawer.history.items()}
            path = folder / f"{digest_of(drawer.owner)}.json"
            path.write_text(json.dumps(texts, indent=1, sort_keys=True), encoding="utf-8")

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return (*super().tools(principal), _FILE_READ)

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name != _FILE_READ.name:
            return super().call_tool(name, arguments, principal)
        told = str(json.loads(arguments).get("path", ""))
        if told.startswith(f"{_FOLDER}/"):
            return "Access denied."
        try:
            return (self.env.folder() / told).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return "There is no such file."
