"""The baseline of a recorded conversation: what its own agent really sent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile

from memsim import (
    Context,
    Environment,
    Forget,
    ForgetOutcome,
    Message,
    Query,
    Section,
    State,
    Strategy,
    Surface,
    composed,
)
from memsim.memory.codec import part, reading
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window


class Recorded(Strategy):
    """What the agent of an imported conversation really sent, replayed turn by turn.

    That is its instructions, the text that stood for compacted messages, what its own memory
    returned, and the messages of the session since then. In other scenarios it sends nothing.
    """

    control = "recorded"

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._said = Window(env.counter)

    def observe(self, message: Message) -> None:
        self._said.add(message)

    def context(self, query: Query) -> Context:
        sections = (self._system(query), self._recalled(query), self._session(query))
        return Context(sections=tuple(section for section in sections if section.messages))

    def _system(self, query: Query) -> Section:
        texts = (query.sent.system, query.sent.summary) if query.sent else ()
        made = [
            composed("system", text, id=f"sent:{name}:{query.turn}", time=query.time)
            for name, text in zip(("system", "summary"), texts, strict=False)
            if text
        ]
        return self.env.build.section("summary", made)

    def _recalled(self, query: Query) -> Section:
        recalled = query.sent.recalled if query.sent else ()
        made = [
            composed(
                "system",
                text,
                id=f"sent:recalled:{query.turn}:{place}",
                quotes=tuple(source for source in sources if source in self._said),
                time=query.time,
            )
            for place, (text, sources) in enumerate(recalled, start=1)
        ]
        return self.env.build.section("recalled", made)

    def _session(self, query: Query) -> Section:
        since = query.sent.since if query.sent else ""
        said = (m for m in self._said if m.session == query.session)
        sent = dropwhile(lambda message: message.id != since, said) if since else ()
        window = Window(self.env.counter)
        for message in sent:
            window.add(message)
        return window.section(query.budget)

    def forget(self, request: Forget) -> ForgetOutcome:
        own = self._said.own(request.principal)
        gone = self._said.remove(requested_message(request.text, request.sources, own))
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for message in self._said:
            if viewer in {None, message.principal}:
                yield Surface(tier="window", sources=(message.id,), text=message.text)

    def save(self) -> State:
        return {"said": self._said.save()}

    def load(self, state: State) -> None:
        said = Window(self.env.counter)
        with reading("its messages are damaged"):
            said.load(part(state, "said"))
        self._said = said
