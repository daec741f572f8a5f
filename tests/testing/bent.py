"""Windows that are wrong in one way each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from memsim.context import Context
from memsim.memory.codec import pack, unpack
from memsim.message import Message, Text, composed
from memsim.strategy import Query, State, Strategy, Surface


class Plain(Strategy):
    """The latest four messages of everybody, and nothing wrong with them but their pairs."""

    def __init__(self, env: object) -> None:
        super().__init__(env)  # type: ignore[arg-type]
        self.said: list[Message] = []
        self.ids: set[str] = set()

    def observe(self, message: Message) -> None:
        if message.id not in self.ids:
            self.ids.add(message.id)
            self.said.append(message)

    def context(self, query: Query) -> Context:
        """What is shown."""
        return self.shown(self.latest(query), query)

    def latest(self, query: Query) -> list[Message]:
        """Words alone, as far as they fit."""
        words = [m for m in self.said if not m.calls and not m.results]
        kept = words[-4:]
        while kept and self.env.build.tokens(kept) > query.budget:
            kept = kept[1:]
        return kept

    def shown(self, messages: list[Message], query: Query) -> Context:
        """A context of messages."""
        build = self.env.build
        return build.context(build.section("window", messages))


class Torn(Plain):
    """Cuts where it likes."""

    def latest(self, query: Query) -> list[Message]:
        return self.said[-3:]


class Inventing(Plain):
    """Credits what nobody said."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        extra = composed("user", "so it was", id="note", derived_from=("m9999",))
        return super().shown([*messages[1:], extra], query)


class Backwards(Plain):
    """The newest first."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        return super().shown(messages[::-1], query)


class Elevating(Plain):
    """Repeats as the system."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        ids = tuple(m.id for m in messages[:1])
        note = composed("system", "noted", id="note", derived_from=ids)
        return super().shown([note] if ids else [], query)


class Altering(Plain):
    """Cuts without a word."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        return super().shown([replace(m, blocks=(Text("..."),)) for m in messages], query)


class Clipping(Plain):
    """Makes room by cutting what is to be answered, and says so."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        def cut(message: Message) -> Message:
            ids = (message.id,)
            text = message.text[:8] or "-"
            return composed("user", text, id="cut", derived_from=ids, excerpts=ids)

        now = [m for m in messages if m.turn == query.turn]
        return super().shown([cut(m) if m in now else m for m in messages], query)


class Overrunning(Plain):
    """Knows no budget."""

    def latest(self, query: Query) -> list[Message]:
        return [m for m in self.said if not m.calls and not m.results]


class Remembering(Plain):
    """Notices that it was asked."""

    asked = 0

    def latest(self, query: Query) -> list[Message]:
        self.asked += 1
        return super().latest(query)[self.asked % 2 :]


class Miscounting(Plain):
    """Forgets what a message costs."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        whole = super().shown(messages, query)
        return replace(whole, sections=tuple(replace(s, tokens=0) for s in whole.sections))


class Silent(Plain):
    """Drops what it held, and tells nobody."""

    def surfaces(self, viewer: str | None = None) -> list[Surface]:
        return [Surface(tier="window", sources=(m.id,)) for m in self.said[-4:]]


class Sharing(Plain):
    """Counts on, whatever case it is in."""

    made: ClassVar[list[str]] = []

    def shown(self, messages: list[Message], query: Query) -> Context:
        self.made.append(query.text)
        note = composed("user", f"note {len(self.made)}", id="note")
        return super().shown([note], query)


class Leaking(Plain):
    """Says that it keeps principals apart."""

    isolates = True


class Amnesiac(Plain):
    """Saves nothing, and loads anything."""

    def save(self) -> State:
        return {}

    def load(self, state: State) -> None:
        self.said = []


class Lenient(Plain):
    """Saves what it holds, and takes what it cannot read for an empty memory."""

    def save(self) -> State:
        return {"said": pack(self.said)}

    def load(self, state: State) -> None:
        said = state.get("said")
        self.said = unpack(said) if isinstance(said, list) else []


class Quadratic(Plain):
    """Goes through everything for every message."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        for known in self.said:
            known.verbatim  # noqa: B018 - the work is the point


class Raising(Plain):
    """Expects words."""

    def observe(self, message: Message) -> None:
        if not message.text.strip():
            raise KeyError("no words")
        super().observe(message)


class Splitting(Plain):
    """Cuts characters in two."""

    def shown(self, messages: list[Message], query: Query) -> Context:
        def cut(message: Message) -> Message:
            text = message.text[: len(message.text) // 2]
            return composed("user", text or "-", id=f"x{message.id}", derived_from=(message.id,))

        return super().shown([cut(m) for m in messages], query)


BENT: dict[str, Callable[..., Strategy]] = {
    "pair_closure": Torn,
    "no_invention": Inventing,
    "order": Backwards,
    "authority_non_elevation": Elevating,
    "no_mutation": Altering,
    "current_input": Clipping,
    "within_budget": Overrunning,
    "idempotence": Remembering,
    "token_accounting": Miscounting,
    "closed_world_recall_floor": Silent,
    "isolation_between_cases": Sharing,
    "save_and_load": Amnesiac,
    "corruption_is_loud": Lenient,
    "scale": Quadratic,
    "degenerates": Raising,
    "well_formed": Splitting,
}
"""By invariant, what breaks it."""
