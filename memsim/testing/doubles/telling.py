"""Doubles that say too much in logs and exports, or have a wrong idea of what a context holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsim.strategy import Surface
from memsim.testing.doubles.honest import Honest

if TYPE_CHECKING:
    from memsim.message import Message

LOG = logging.getLogger("memsim.testing.doubles")


class LogsAtInfo(Honest):
    """Every message is logged as it is kept, so that one can see that it works."""

    def observe(self, message: Message) -> None:
        LOG.info("add memory: %s", message.text)
        super().observe(message)


class LogsAtDebug(Honest):
    """The same, for whoever looks closer."""

    def observe(self, message: Message) -> None:
        LOG.debug("add memory: %s", message.text)
        super().observe(message)


class LogsQueries(Honest):
    """What is stored is logged nowhere; what is asked for is."""

    def told(self, principal: str, text: str, count: int) -> str:
        LOG.warning("search for %r", text, extra={"asked": text})
        return super().told(principal, text, count)


class ExportsRaw(Honest):
    """Whoever looks at their own tiers finds an export among them, which is everybody's."""

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        yield from super().surfaces(viewer)
        yield Surface(tier="export", text=json.dumps(self.save(), ensure_ascii=False))
