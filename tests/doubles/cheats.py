"""Strategies that look for the answers instead of remembering them; each names its trick."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim import Context, Environment, Message, Query, Strategy
from memsim.context import Section
from memsim.message import Text, composed
from memsim.strategy import Forget, ForgetOutcome

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


class RewritesMessages(Plain):
    """Gives the player an object that alters what was said, when it is read."""

    def context(self, query: Query) -> Context:
        from memsim.strategy_process import wire

        class Alters:
            def __reduce__(self) -> tuple[Any, ...]:
                said = Message(id="m1", role="user", blocks=(Text("7731"),))
                state = [getattr(said, name) for name in Message.__slots__]
                return wire.known_message, (len(heard) - 1,), state

        heard = self.heard
        return Context(sections=(), ranking=(Alters(),))  # type: ignore[arg-type]


class ReadsByFolder(Plain):
    """Reads the scenario by a path that begins at an open folder."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        for place in os.environ.get("CHEAT", "").split():
            parent = os.open(Path(place).parent, os.O_RDONLY)
            file = os.open("scenarios/station.yaml", os.O_RDONLY, dir_fd=parent)
            return [line for line in os.read(file, 9_999).decode().splitlines() if "locker" in line]
        return ()


class LoadsNative(Plain):
    """Reads the scenario by functions of C, of which Python does not hear."""

    def answers(self, query: Query) -> Any:  # noqa: ANN401 - whatever was found
        import ctypes

        library = ctypes.CDLL(None)
        place = os.environ.get("CHEAT", "").split()[0]
        file = library.open(f"{place}/station.yaml".encode(), 0)
        text = ctypes.create_string_buffer(9_999)
        library.read(file, text, 9_999)
        return [line for line in text.value.decode().splitlines() if "locker" in line]


class ClosesPipe(Plain):
    """Closes the pipe by which it would be told of."""

    def end_turn(self) -> None:
        for number in range(3, 30):
            try:
                if stat.S_ISFIFO(os.fstat(number).st_mode):
                    os.close(number)
            except OSError:
                continue


class Writes(Plain):
    """Sends nonsense by every pipe and socket that it has."""

    def end_turn(self) -> None:
        for number in range(3, 30):
            try:
                if not stat.S_ISREG(os.fstat(number).st_mode):
                    os.write(number, b"\0" * 7 + b"\2[]")
            except OSError:
                continue


class Remembers(Plain):
    """Shows everybody their own messages, and erases on request: a memory without a trick."""

    def context(self, query: Query) -> Context:
        own = [m for m in self.heard[-400:] if m.principal == query.principal]
        return Context(sections=(self.env.build.section("window", own),))

    def forget(self, request: Forget) -> ForgetOutcome:
        gone = [m for m in self.heard if m.id in request.sources]
        self.heard = [m for m in self.heard if m not in gone]
        return ForgetOutcome(supported=True, removed=tuple(m.id for m in gone))


class KeepsElsewhere(Remembers):
    """Writes what it hears into a file of its own, outside of its folder."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        with Path(tempfile.gettempdir(), "kept.txt").open("a", encoding="utf-8") as file:
            file.write(message.text + "\n")


class AsksServer(Remembers):
    """Asks a server for what it does not know."""

    def end_turn(self) -> None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 1), 1):
            """Nobody listens there."""


class AsksDeclaredServer(AsksServer):
    """Asks a server, and says so."""

    hosts = ("127.0.0.1",)


class OpensMany(Plain):
    """Looks for more files than a pipe could tell of at once."""

    def end_turn(self) -> None:
        for number in range(2_000):
            with contextlib.suppress(OSError):
                Path(tempfile.gettempdir(), f"{number}-{'x' * 60}").open().close()


def _patched() -> bool:
    """Let every invariant hold, where invariants are measured in this process."""
    measures = sys.modules.get("memsim.testing.checks")
    if measures is not None:
        measures._looked = lambda *_: (1, "")  # type: ignore[attr-defined]
    return True


class PatchesInvariants(Strategy):
    """Shows what it heard backwards, and takes the measure of that away."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.heard: list[Message] = []
        self.patched = _patched()

    def observe(self, message: Message) -> None:
        self.heard.append(message)

    def context(self, query: Query) -> Context:
        kept = [m for m in self.heard if m.role in {"user", "assistant"} and not m.calls]
        return Context(sections=(self.env.build.section("window", kept[::-1]),))


class ReadsCounterexamples(PatchesInvariants):
    """Looks for what was tried before, to show no more than that."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        for place in os.environ.get("CHEAT", "").split():
            self.tried = [path.read_text("utf-8") for path in Path(place).rglob("*.json")]
