"""Facts that hold again, because a message says that something is back as it once was.

Such a message does not say the value again. The fact that it brings back is a version of its own,
with the words of the earlier one and the sources of both:

    {"text": "ana: My desk is 4A.", "sources": ["m9", "m1"], "attributes": [["returned", "again"]]}

The first source says that it is so again, and the last states it. Both are in force, and each is
recalled together with the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.language.change_cues import is_unsure
from memsim.language.exact_values import exact_values
from memsim.language.return_cues import is_only_talk, returning_stems, returns_to
from memsim.language.text import split_head
from memsim.memory.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from memsim.language.return_cues import Return
    from memsim.memory.layers.entry_outline import EntryOutline

RETURNED: Final = ("returned", "again")
"""The attribute of a fact that a message brought back."""


class ReturnedFacts:
    """The facts in force that were brought back, by the messages that they are from."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}

    def clear(self) -> None:
        """Forget all of them."""
        self._of.clear()

    def put(self, entry: Entry | EntryOutline) -> tuple[str, ...]:
        """Take in a fact as it stands now; the messages of which other partners are known now."""
        if RETURNED not in entry.attributes:
            return ()
        for source in entry.sources:
            self._of.get((entry.owner, source), {}).pop(entry.id, None)
        if entry.superseded is None and len(entry.sources) > 1:
            said, stated = entry.sources[0], entry.sources[-1]
            for one, other in ((said, stated), (stated, said)):
                self._of.setdefault((entry.owner, one), {})[entry.id] = entry.subject, other
        return entry.sources

    def remove(self, entry: Entry) -> None:
        """A fact is gone."""
        for source in entry.sources:
            self._of.get((entry.owner, source), {}).pop(entry.id, None)

    def free(self, owner: str, sources: Iterable[str]) -> None:
        """Note that messages are gone, and others may have their ids."""
        gone = frozenset(sources)
        for source in gone:
            for fact, (_, other) in self._of.pop((owner, source), {}).items():
                self._of.get((owner, other), {}).pop(fact, None)

    def partners(self, owner: str, source: str) -> Iterator[str]:
        """The messages that are recalled together with one."""
        found = self._of.get((owner, source), {})
        return (other for _, other in sorted(found.values()))

    def holds(self, owner: str, source: str, subject: str) -> bool:
        """Whether what a message states of a subject is in force again."""
        return any(about == subject for about, _ in self._of.get((owner, source), {}).values())


def returning(stated: Sequence[Entry]) -> Iterator[tuple[int, Return, frozenset[str]]]:
    """The statements of a message that bring something back: their places, and what they name.

    Where one has no words of its own for what it is, those of the statement before it count.
    """
    texts = [said_text(entry) for entry in stated]
    for place, text in enumerate(texts):
        kind = returns_to(text)
        if kind is not None:
            thing = returning_stems(text)
            yield place, kind, thing or returning_stems(texts[place - 1] if place else "")


def said_text(entry: Entry) -> str:
    """The words of a fact, without who said it."""
    return split_head(entry.text)[0].strip()


class EarlierVersion(NamedTuple):
    """The statement that holds again, and those in force that it replaces; none if it holds now."""

    meant: Entry
    undone: tuple[Entry, ...]


def earlier_version(
    said: Entry, kind: Return, versions: Collection[Entry]
) -> EarlierVersion | None:
    """What a statement brings back of the versions of a fact; None where no other is known.

    A value that is said again decides which it is. Two statements that no link makes versions of
    one fact state two values.
    """
    ordered = sorted(versions, key=lambda one: (one.created, one.id))
    real = [one for one in ordered if (one.subject or _values(one)) and not _is_unreal(one)]
    if not real:
        return None
    now = real[-1]
    before = [one for one in real[:-1] if _is_another(one, now)]
    named = _values(said) - _values(now)
    if named:
        found = [one for one in before if not named.isdisjoint(_values(one))][-1:]
    elif kind == "first":
        found = [*before, now][:1]
    else:
        found = before[-1:]
    if not found:
        return None
    meant = found[0]
    since = [one for one in ordered if one.superseded is None and one.created >= meant.created]
    undone = (one for one in since if one is meant or _is_another(one, meant))
    holds = said_text(meant) == said_text(now)
    return EarlierVersion(meant, () if holds else tuple(undone))


def _is_another(one: Entry, other: Entry) -> bool:
    """Whether one fact is a version of another, as is known or as it states another value."""
    linked = bool(one.subject) and one.subject == other.subject
    return linked or bool(_values(one) - _values(other))


def _is_unreal(entry: Entry) -> bool:
    text = said_text(entry)
    return is_unsure(text) or is_only_talk(text)


def _values(entry: Entry) -> frozenset[str]:
    return frozenset(value.text for value in exact_values(said_text(entry)))
