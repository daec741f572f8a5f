"""More windows that are wrong in one way each: blocks, summaries, owners and events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from memsim.context import Context
from memsim.errors import ModelError
from memsim.message import Message, composed
from memsim.models import Request
from memsim.strategy import (
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    Strategy,
    Surface,
)
from tests.testing.bent import Plain


class Window(Plain, Strategy):
    """The same plain window, said to be a strategy in this file, too."""


class Told(Window):
    """Tells what it holds, which is everything."""

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self.said:
            yield Surface(tier="window", sources=(message.id,))


class Apart(Told):
    """Everybody has messages of their own."""

    isolates = True

    def latest(self, query: Query) -> list[Message]:
        own = [m for m in self.said if m.principal == query.principal]
        kept = [m for m in own if not m.calls and not m.results][-4:]
        while kept and self.env.build.tokens(kept) > query.budget:
            kept = kept[1:]
        return kept

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self.said:
            if viewer in {None, message.principal}:
                yield Surface(tier="window", sources=(message.id,))

    def locate(self, source: str, query: Query) -> Location | None:
        own = any(m.id == source and m.principal == query.principal for m in self.said)
        return Location(tier="window") if own else None


class Noting(Window):
    """Adds a note to what it shows, where there is anything."""

    text = "A note."

    def shown(self, messages: list[Message], query: Query) -> Context:
        note = composed("user", self.text, id="note", derived_from=tuple(m.id for m in messages))
        return super().shown([note, *messages] if messages else [], query)

    def latest(self, query: Query) -> list[Message]:
        return super().latest(query)[-2:] if query.budget > 200 else []


class Doubling(Window):
    """Sends the latest message once more."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        return super().shown([*messages, *messages[-1:]], query)


class Unruly(Window):
    """Says that rules stay, and lets them go with the rest."""

    keeps_system = True


class Short(Window):
    """Says that six messages stay, and keeps four."""

    tail = 6


class Wordless(Noting):
    """Its notes have no words."""

    text = " "


class Exemplary(Noting):
    """Its template's example stands in every note."""

    text = "Such as: the order is K-0001."


class Unfenced(Window):
    """Quotes in a block, as it was said."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        text = "\n".join(m.text for m in messages)
        ids = tuple(m.id for m in messages)
        block = composed("user", f"<summary>\n{text}\n</summary>", id="block", derived_from=ids)
        return super().shown([block] if ids else [], query)


class Swelling(Window):
    """Makes more of less, and calls it a compaction."""

    def end_turn(self) -> None:
        self.env.log(Event(kind="compaction", before=10, after=12))


class Repeating(Told):
    """Compacts the same messages over and over."""

    def end_turn(self) -> None:
        for _ in range(2):
            ids = tuple(m.id for m in self.said[:1])
            self.env.log(Event(kind="compaction", sources=ids, before=12, after=10))


class Credulous(Told):
    """Takes anything for a summary, and drops what it was made of."""

    def end_turn(self) -> None:
        ids = tuple(m.id for m in self.said)
        with suppress(ModelError):
            self.env.model.complete(Request(task="summarise", messages=tuple(self.said)))
        self.env.log(Event(kind="compaction", sources=ids, before=12, after=10))
        self.said = []


class Fading(Told):
    """Tells what its summary takes in, and not what the summary drops."""

    def end_turn(self) -> None:
        ids = tuple(m.id for m in self.said if m.turn == self.said[-1].turn)
        self.env.log(Event(kind="compaction", sources=ids))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        yield Surface(tier="summary", sources=tuple(m.id for m in self.said[-4:]))


class Cleaning(Window):
    """Quotes without what nobody sees."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        def clean(message: Message) -> Message:
            text = message.text.encode("ascii", "ignore").decode().replace("\x00", "") or "-"
            return composed("user", text, id=f"x{message.id}", quotes=(message.id,))

        return super().shown([clean(m) for m in messages], query)


class Rare(Apart):
    """Weighs words by how rare they are in everybody's messages."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        score = composed("user", f"of {len(self.said)} messages", id="score")
        return super().shown([score, *messages], query)


class Trusting(Apart):
    """Takes whoever has no name for the administrator."""

    def latest(self, query: Query) -> list[Message]:
        return super().latest(query) if query.principal else self.said[-1:]


class Gullible(Apart):
    """Reads in the question who is asking."""

    def latest(self, query: Query) -> list[Message]:
        said = re.search(r"principal=(\w+)", query.text)
        return super().latest(replace(query, principal=said[1]) if said else query)


class Obliging(Apart):
    """Erases what anybody names."""

    def forget(self, request: Forget) -> ForgetOutcome:
        self.said = [m for m in self.said if m.id not in request.sources]
        return ForgetOutcome(supported=True)


class Gossiping(Apart):
    """Says of any message where it is."""

    def locate(self, source: str, query: Query) -> Location | None:
        return Location(tier="window") if any(m.id == source for m in self.said) else None


class Generous(Apart):
    """Never takes back what was granted."""

    def __init__(self, env: object) -> None:
        super().__init__(env)
        self.granted: dict[str, set[str]] = {}

    def grant(self, grant: Grant) -> None:
        """As asked, and for good."""
        self.granted.setdefault(grant.viewer, set()).update(grant.sources)

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        granted = self.granted.get(viewer or "", set())
        for message in self.said:
            if viewer in {None, message.principal} or message.id in granted:
                yield Surface(tier="window", sources=(message.id,))


class Partial(Apart):
    """Likes one of them less."""

    def latest(self, query: Query) -> list[Message]:
        kept = super().latest(query)
        return kept[-1:] if query.principal == "ana" else kept


class Numbered(Window):
    """Every instance is another."""

    made: ClassVar[list[int]] = []

    def __init__(self, env: object) -> None:
        super().__init__(env)
        self.made.append(1)
        self.number = len(self.made)

    def shown(self, messages: list[Message], query: Query) -> Context:
        note = composed("user", f"note {self.number}", id="note")
        return super().shown([note], query)


MORE: dict[str, tuple[Callable[..., Strategy], str]] = {
    "adjacency": (Doubling, ""),
    "system_preservation": (Unruly, "diary"),
    "retained_tail": (Short, "sliding_window:messages=6"),
    "provider_validity": (Wordless, ""),
    "summary_containment": (Exemplary, ""),
    "delimiter_safety": (Unfenced, ""),
    "progress": (Swelling, ""),
    "usage_reset": (Repeating, "rolling_summary"),
    "failure_keeps_state": (Credulous, "rolling_summary"),
    "invisible_fidelity": (Cleaning, ""),
    "non_interference": (Rare, "apart"),
    "write_integrity": (Obliging, "apart"),
    "fail_closed": (Trusting, "apart"),
    "principal_source": (Gullible, "apart"),
    "foreign_handle": (Gossiping, "apart"),
    "grant_and_revoke": (Generous, "layered"),
    "symmetry": (Partial, "apart"),
    "determinism": (Numbered, ""),
}
"""By invariant, what breaks it, and what is like it and does not: a plain window if not said."""
