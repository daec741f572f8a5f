"""Making one message of several that the same speaker said one after the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memsim.context import date_line
from memsim.memory.compaction.plan import plan
from memsim.memory.compaction.step import (
    Compaction,
    CompactionState,
    History,
    Means,
    changed,
    unchanged,
)
from memsim.message import Message, Text

# Leaving out what was said before in the same words on the same day.


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduplicate:
    """Drops messages that one speaker said before on the same day; the first of them stays.

    Only messages of plain words are compared; the words of an offloaded or shortened message are
    not all there, so these are not. Messages are the same when their first `prefix` characters are,
    whatever the case; None compares the whole text, byte for byte. A prefix loses what differs
    after it: it is there to measure designs that do so. Messages of fewer than `least` characters
    stay: two times `yes` may be two answers.
    """

    prefix: int | None = None
    least: int = 24
    last: int | None = None
    name: str = "deduplicate"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Drop repetitions, as `Step` has it."""
        means = means.keeping(self.last)
        taken = frozenset(plan(history, means.keep, means.counter).taken)
        seen: set[Hashable] = set()
        gone: set[int] = set()
        for place, message in enumerate(history):
            key = self.key(message)
            if key is None:
                continue
            if key in seen and place in taken:
                gone.add(place)
            seen.add(key)
        if not gone:
            return unchanged(self.name, history, state, means, "nothing was said twice")
        left = tuple(m for place, m in enumerate(history) if place not in gone)
        sources = tuple(history[place].id for place in sorted(gone))
        return changed(self.name, (history, state), (left, state), means, sources)

    def key(self, message: Message) -> Hashable | None:
        """What two messages that are the same have in common; None for one that is never."""
        plain = all(isinstance(block, Text) for block in message.blocks)
        if message.composed or not plain or len(message.text) < self.least:
            return None
        speaker = (message.role, message.principal, message.session)
        return (*speaker, message.time.date(), _same(message.text, self.prefix))


def deduplicated(text: str, prefix: int | None = None) -> str:
    """The lines of a daily file without the list items that it has already.

    Headings, blank lines and all else stay, byte for byte.
    """
    seen: set[str] = set()
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        item = line.strip()
        if item.startswith("- "):
            key = _same(item, prefix)
            if key in seen:
                continue
            seen.add(key)
        kept.append(line)
    return "".join(kept)


def _same(text: str, prefix: int | None) -> str:
    return text if prefix is None else text[:prefix].lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeAdjacent:
    """Merges neighbours of one role, principal and session, word for word.

    The merged message has the id of its first one and quotes all of them. Calls and their results
    are never merged. A merged message that opens a day begins with the day. With `smaller`, it
    merges only where that saves tokens, and not to have fewer messages alone.
    """

    last: int | None = None
    smaller: bool = True
    name: str = "merge adjacent"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Merge neighbours, as `Step` has it."""
        means = means.keeping(self.last)
        taken = frozenset(plan(history, means.keep, means.counter).taken)
        merged: list[Message] = []
        sources: list[str] = []
        for run in _runs(history, taken):
            if len(run) == 1:
                merged.append(run[0])
                continue
            before = merged[-1] if merged else None
            merged.append(_one(run, before))
            sources.extend(m.id for m in run)
        if not sources:
            return unchanged(self.name, history, state, means, "no neighbours to merge")
        new = (tuple(merged), state)
        old = (history, state)
        return changed(self.name, old, new, means, tuple(sources), smaller=self.smaller)


def _runs(history: Sequence[Message], taken: frozenset[int]) -> Iterator[list[Message]]:
    run = list(history[:1])
    for (place, left), (_, right) in pairwise(enumerate(history)):
        if place in taken and place + 1 in taken and _alike(left, right):
            run.append(right)
        else:
            yield run
            run = [right]
    if run:
        yield run


def _alike(left: Message, right: Message) -> bool:
    return (
        (left.role, left.principal, left.session) == (right.role, right.principal, right.session)
        and left.role in {"user", "assistant"}
        and left.time.date() == right.time.date()
        and _is_plain(left)
        and _is_plain(right)
    )


def _is_plain(message: Message) -> bool:
    merged = message.quotes and not message.derived_from
    return all(isinstance(b, Text) for b in message.blocks) and bool(merged or not message.composed)


def _one(run: Sequence[Message], before: Message | None) -> Message:
    first = run[0]
    blocks = tuple(block for message in run for block in message.blocks)
    day = first.time.date()
    told = before is not None and not before.composed and before.time.date() == day
    if not told and not first.composed:
        blocks = (Text(date_line(day).rstrip("\n")), *blocks)
    return replace(
        first,
        blocks=blocks,
        quotes=tuple(dict.fromkeys(i for m in run for i in m.verbatim)),
        derived_from=tuple(dict.fromkeys(i for m in run for i in m.derived_from)),
        composed=True,
    )
