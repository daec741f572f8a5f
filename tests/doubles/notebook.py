"""A small honest memory with everything that can go wrong: owners, grants, saving, a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from memsim.context import Context
from memsim.errors import ModelError, StateError
from memsim.memory.codec import check_whole, pack, reading, unpack
from memsim.message import Message, composed
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)

MOST = 24
"""Messages that are held for each person."""


class Notebook(Strategy):
    """Everybody's latest messages, what others let them read, and a note on each turn."""

    isolates: ClassVar[bool] = True
    shown: ClassVar[int] = 6

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.said: dict[str, list[Message]] = {}
        self.grants: list[tuple[str, str, str]] = []
        self.notes: dict[str, tuple[str, str]] = {}
        self.fresh: list[str] = []

    def observe(self, message: Message) -> None:
        own = self.said.setdefault(message.principal, [])
        if any(m.id == message.id for m in own):
            return
        own.append(message)
        self.fresh.append(message.id)
        while len(own) > MOST:
            self._drop(own.pop(0))

    def _drop(self, message: Message) -> None:
        self.notes.pop(message.id, None)
        self.env.log(Event(kind="dropped", sources=(message.id,)))

    def context(self, query: Query) -> Context:
        return self.composed_of(self.own(query.principal), self.granted(query.principal), query)

    def composed_of(self, own: list[Message], granted: list[Message], query: Query) -> Context:
        """A context of one's own messages, and of those that others granted."""
        build = self.env.build
        words = [m for m in own if not m.calls and not m.results]
        noted = [(i, self.notes[i][1]) for i in self.noted(query.principal)]
        notes = [composed("user", t, id=f"note-{i}", derived_from=(i,)) for i, t in noted]
        theirs = [m for m in granted if m.text.strip() and not m.calls and not m.results]
        sections = [
            build.section("summary", notes[-2:]),
            build.section("recalled", theirs[-4:]),
            build.section("window", words[-self.shown :]),
        ]
        whole = build.context(*(s for s in sections if s.messages))
        return build.fit(whole, query.budget)[0]

    def own(self, who: str) -> list[Message]:
        """What somebody said, as far as it is held."""
        return self.said.get(who, [])

    def granted(self, who: str) -> list[Message]:
        """What others let somebody read."""
        allowed = {source for _, viewer, source in self.grants if viewer == who}
        return [m for owner in sorted(self.said) for m in self.said[owner] if m.id in allowed]

    def noted(self, who: str) -> list[str]:
        """Ids of somebody's messages of which there is a note."""
        return [m.id for m in self.own(who) if m.id in self.notes]

    def end_turn(self) -> None:
        fresh, self.fresh = self.fresh, []
        spoken = [m for own in self.said.values() for m in own if m.id in fresh]
        for message in spoken:
            if message.role == "user" and len(message.text) > 30:
                self.notes[message.id] = (message.principal, self.note(message))

    def note(self, message: Message) -> str:
        """A note on a message."""
        return f"{message.principal} said {len(message.text)} characters."

    def forget(self, request: Forget) -> ForgetOutcome:
        own = self.own(request.principal)
        gone = [m for m in own if m.id in request.sources or (m.text == request.text != "")]
        for message in gone:
            own.remove(message)
            self.notes.pop(message.id, None)
            self.fresh = [i for i in self.fresh if i != message.id]
        ids = {m.id for m in gone}
        self.grants = [g for g in self.grants if g[2] not in ids]
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def grant(self, grant: Grant) -> None:
        own = {m.id for m in self.own(grant.owner)}
        meant = own if grant.everything else own & {*grant.sources}
        changed = [(grant.owner, grant.viewer, source) for source in sorted(meant)]
        self.grants = [g for g in self.grants if g not in changed]
        if not grant.revoked:
            self.grants += changed

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for who in sorted(self.said):
            allowed = {source for _, reader, source in self.grants if reader == viewer}
            for message in self.said[who]:
                if viewer in {None, who} or message.id in allowed:
                    yield Surface(tier="window", sources=(message.id,), text=message.text)

    def locate(self, source: str, query: Query) -> Location | None:
        there = any(source in s.sources for s in self.surfaces(query.principal))
        return Location(tier="window") if there else None

    def save(self) -> State:
        return {
            "version": 3,
            "said": {who: pack(self.said[who]) for who in sorted(self.said)},
            "grants": [list(grant) for grant in self.grants],
            "notes": {i: list(self.notes[i]) for i in self.notes},
            "fresh": [*self.fresh],
        }

    def load(self, state: State) -> None:
        read = self.read(state)
        self.said, self.grants, self.notes, self.fresh = read

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        """The parts of a saved state."""
        with reading("it is no notebook"):
            if state["version"] != 3:
                raise StateError("the saved notebook is of another version")
            said = {who: unpack(own) for who, own in state["said"].items()}
            grants = [("" + o, "" + v, "" + s) for o, v, s in state["grants"]]
            notes = {i: ("" + w, "" + t) for i, (w, t) in state["notes"].items()}
            fresh = ["" + i for i in [] + state["fresh"]]
            again = [list(g) for g in grants], {i: list(n) for i, n in notes.items()}
            check_whole((state["grants"], state["notes"]), again, "it is no notebook")
            return said, grants, notes, fresh


class Summarised(Notebook):
    """Has a model write the notes, and lets its errors through."""

    def note(self, message: Message) -> str:
        from memsim.models import Request

        request = Request(task="summarise", messages=(message,), max_tokens=30)
        text = self.env.model.complete(request).text
        if not text.strip() or len(text) > 400:
            raise ModelError("the model wrote no note")
        return text
