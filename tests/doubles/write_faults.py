"""Doubles that let somebody change or erase what is another's, and two that measure nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from memsim.context import Context
from memsim.errors import StrategyError
from memsim.message import Message
from memsim.strategy import Forget, ForgetOutcome, Query, Strategy
from tests.doubles.honest import Honest
from tests.doubles.honest_tiers import Drawer


class DedupAcrossOwners(Honest):
    """What two people say in the same words is one row, and goes with the first who erases it."""

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        held = drawer.messages
        texts = {held[source].text for source in ids if source in held}
        super().erase(drawer, ids)
        for other in self.drawers.values():
            same = [m.id for m in other.messages.values() if m.text in texts]
            if same:
                super().erase(other, same)


class KeyTakeover(Honest):
    """A key is unique over everybody: who stores under it last has it."""

    def store(self, principal: str, key: str, text: str, given: Mapping[str, Any]) -> str:
        for drawer in self.drawers.values():
            if drawer.owner != principal and key in drawer.stored:
                self.erase_stored(drawer, [drawer.stored[key].id])
        return super().store(principal, key, text, given)


class ResetsAll(Honest):
    """To erase all that is one's own, everything is."""

    def forget(self, request: Forget) -> ForgetOutcome:
        if "everything" not in request.text:
            return super().forget(request)
        gone = [*self.drawer(request.principal).history]
        self.drawers.clear()
        self.talks.clear()
        return ForgetOutcome(supported=True, removed=tuple(gone))


class Amnesiac(Strategy):
    """Keeps nothing, so nothing can come out of it: that is no merit."""

    def context(self, query: Query) -> Context:
        return Context()


class AlwaysRaises(Strategy):
    """Does nothing but fail, so nothing comes out of it either."""

    def observe(self, message: Message) -> None:
        self._fail()

    def context(self, query: Query) -> Context:
        self._fail()

    def _fail(self) -> NoReturn:
        raise StrategyError("the store is not there")
