"""Strategies that look for the answers instead of remembering them; each names its trick."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim import Context, Environment, Message, Query, Strategy
from memsim.context import Section
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Iterator


class Plain(Strategy):
    """Shows the last message and no more: what no cheat may do better than."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.heard: list[Message] = []

    def observe(self, message: Message) -> None:
        self.heard.append(message)

    def context(self, query: Query) -> Context:
        shown = [*self.heard[-1:], *self.stolen(query)]
        return Context(sections=(self.env.build.section("window", shown),))

    def stolen(self, query: Query) -> Iterator[Message]:
        """The answers that were found, as messages."""
        try:
            texts = [str(text) for text in self.answers(query)]
        except Exception:  # noqa: BLE001 - where a trick fails it gives nothing
            texts = []
        for number, text in enumerate(texts):
            yield composed("user", f"{query.text} {text}", id=f"stolen{number}", time=query.time)

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        """What the trick gives."""
        return ()


def _expected(probes: Any, query: Query) -> list[str]:  # noqa: ANN401 - whatever was found
    return [e for p in probes if p.ask == query.text for e in p.expect]


class ReadsScenario(Plain):
    """Looks for the scenario's file below the folders that it knows of, and reads it."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        places = [*map(Path, os.environ.get("CHEAT", "").split()), Path.cwd()]
        files = [f for p in places for f in ([p] if p.is_file() else p.rglob("*.yaml"))]
        lines = [line for f in files for line in f.read_text("utf-8").splitlines()]
        return [line for line in lines if "locker" in line]


class WalksStack(Plain):
    """Goes up the stack, to whoever asks."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        frame: Any = sys._getframe()
        while frame is not None:
            for value in [*frame.f_locals.values()]:
                probe = getattr(value, "probe", value)
                if type(probe).__name__ == "Probe":
                    return _expected([probe], query)
            frame = frame.f_back
        return ()


class SearchesObjects(Plain):
    """Looks through everything that the process holds."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        probes = [o for o in gc.get_objects() if type(o).__name__ == "Probe"]
        return _expected(probes, query)


class ImportsScenarios(Plain):
    """Takes the scenarios that the loader has read before."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        from memsim.scenario.script import Scenario

        read = [o for o in gc.get_referrers(Scenario) if isinstance(o, Scenario)]
        found = read or [o for o in gc.get_objects() if isinstance(o, Scenario)]
        return _expected([p for s in found for p in s.probes], query)


class PatchesScorer(Plain):
    """Makes every answer right."""

    def end_turn(self) -> None:
        import memsim.scoring.probes as scoring
        from memsim.scoring.answer_score import AnswerScore

        right = AnswerScore(outcome="PASS", detail="")
        scoring.judge_answer = lambda *_: right  # type: ignore[attr-defined]


class PatchesReader(Plain):
    """Makes the reader answer what it wants to."""

    def end_turn(self) -> None:
        from memsim.models import Reply
        from memsim.models.offline.model import OfflineModel

        OfflineModel.complete = lambda *_: Reply(text="7731")  # type: ignore[method-assign]


class PatchesTokens(Plain):
    """Says that all it ever heard takes no tokens."""

    def context(self, query: Query) -> Context:
        return Context(sections=(Section(layer="window", messages=(*self.heard,), tokens=0),))


class PatchesClock(Plain):
    """Stops the clock of whoever plays it, and counts nothing as long."""

    def end_turn(self) -> None:
        self.env.clock.now = lambda: None  # type: ignore[method-assign,assignment,return-value]
        self.env.counter.text = lambda text: 0 * len(text)  # type: ignore[method-assign]

    def context(self, query: Query) -> Context:
        return Context(sections=(self.env.build.section("window", self.heard),))


class WritesRun(Plain):
    """Writes into the run's folder."""

    def end_turn(self) -> None:
        for place in os.environ.get("CHEAT", "").split():
            for path in Path(place).rglob("probes.jsonl"):
                path.write_text("", "utf-8")


class SendsObjects(Plain):
    """Gives the player an object that acts when it is read."""

    def context(self, query: Query) -> Context:
        class Acts:
            def __reduce__(self) -> tuple[Any, tuple[str]]:
                return os.system, ("true",)

        return Context(sections=(), ranking=(Acts(),))  # type: ignore[arg-type]
