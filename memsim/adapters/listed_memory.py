"""A black box that lists everything it keeps, so that its store can be inspected."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memsim.adapters.black_box import BlackBox
from memsim.adapters.credit import ForeignText
from memsim.strategy import Surface


class ListedMemory(BlackBox):
    """Shows its window, and what `kept` returns."""

    inspectable = True

    @abstractmethod
    def kept(self, viewer: str | None) -> Sequence[ForeignText]:
        """Everything that the memory keeps of this case, and a viewer may see."""

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for owner in self._rules if viewer is None else (viewer,):
            for rule in self._rules.get(owner, {}).values():
                yield Surface(tier="system", sources=(rule.id,), text=rule.text)
        for window in self._windows.visible(viewer):
            for message in window:
                yield Surface(tier="window", sources=(message.id,), text=message.text)
        for text in self.kept(viewer):
            sources = text.sources or self._credit.of(text).sources
            yield Surface(tier=text.tier or "store", sources=sources, text=text.text)


@lru_cache(maxsize=16)
def listed(kind: type[BlackBox]) -> type[BlackBox]:
    """The class of a strategy whose memory lists what it keeps; `kind` has the method `kept`."""
    return type(kind.__name__, (kind, ListedMemory), {"__module__": kind.__module__, **_SHOWN})


_SHOWN = {"inspectable": True, "surfaces": ListedMemory.surfaces}
"""What `BlackBox` says otherwise, and stands before `ListedMemory` in the order of classes."""
