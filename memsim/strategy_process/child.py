"""The strategy's process: makes strategies, and calls them as it is told."""

from __future__ import annotations

import os
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.clock import Clock
from memsim.context import Context
from memsim.discovery.loader import prepare
from memsim.errors import MemsimError, StrategyError, describe_error, error_text, traceback_text
from memsim.message import TokenCounter
from memsim.strategy import Environment, Event, Strategy
from memsim.strategy_process.logbook import Logbook
from memsim.strategy_process.wire import Wire

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.models import Reply, Request, Vectors

PROMISES = ("control", "inspectable", "tail", "keeps_system", "isolates")
"""Attributes of a strategy's class that the player reads."""
_PRIMED = 4096
LATEST = 16
"""Contexts that can be named by their number: the last ones."""
_METHODS = tuple(n for n in vars(Strategy) if not n.startswith("_") and callable(vars(Strategy)[n]))


def main(line: int, alarm: int) -> None:
    """Serve the player until the pipe is closed."""
    wire = Wire(line, trusted=True)
    start = wire.receive()
    sys.path[:] = start["path"]
    _watch_files(alarm)
    host = _Host(wire, start)
    if start["hears"]:
        host.book.__enter__()
    try:
        while True:
            host.answer(*wire.receive())
    except (EOFError, OSError):
        os._exit(0)


class _Host:
    """Every strategy of the process, by number."""

    def __init__(self, wire: Wire, start: Mapping[str, Any]) -> None:
        self._wire = wire
        self._ref = start["ref"]
        self._make: Callable[[Environment], Strategy] | None = None
        self._worlds: dict[int, Environment] = {}
        self._tokens: _Tokens | None = None
        self._strategies: dict[int, Strategy] = {}
        self._contexts: OrderedDict[int, Context] = OrderedDict()
        self._given = 0
        self._counter: TokenCounter | None = None
        self.events: list[Event] = []
        self.book = Logbook()

    def answer(
        self,
        number: int,
        world: int,
        now: datetime,
        name: str,
        given: Any,  # noqa: ANN401 - a method's own
        counts: Mapping[str, int],
    ) -> None:
        """Make one call and send what it came to; `counts` are the tokens of the texts in it."""
        self.events = []
        if counts and self._tokens:
            self._tokens.prime(counts)
        if world in self._worlds:
            self._worlds[world].clock.set(now)
        try:
            value = self._called(number, world, name, given)
            self._wire.send(("done", value, self.events, self.book.drain()))
        except (EOFError, OSError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code
            known = isinstance(error, MemsimError)
            said = str(error) if known else describe_error(error)
            kind = type(error).__name__ if known else ""
            events = [e for e in self.events if type(e) is Event]
            told = (kind, said, error_text(error), traceback_text(error))
            self._wire.send(("raised", told, events, self.book.drain()))

    def _called(self, number: int, world: int, name: str, given: Any) -> object:  # noqa: ANN401 - a method's own
        if name == "make":
            return self._made(number, world, given)
        strategy = self._strategies[number]
        if name == "observe":
            self._wire.know(given[0])
        if name == "delivered" and isinstance(given[0], int):
            given = (self._contexts[given[0]],)
        if name == "rank":
            rank = self._contexts[given[0]].rank
            return tuple(rank()) if rank else ()
        value = getattr(strategy, name)(*given)
        if name == "close":
            del self._strategies[number]
        return _PACKED.get(name, _same)(value) if name != "context" else self._context(value)

    def _made(self, number: int, world: int, start: Mapping[str, Any]) -> object:
        if world not in self._worlds:
            self._worlds[world] = self._environment(start)
        if self._make is None:
            self._make = prepare(self._ref)
        strategy = self._make(self._worlds[world])
        self._strategies[number] = strategy
        kind = type(strategy)
        own = [n for n in _METHODS if getattr(kind, n) is not getattr(Strategy, n)]
        return own, {n: getattr(strategy if n == "control" else kind, n, None) for n in PROMISES}

    def _environment(self, start: Mapping[str, Any]) -> Environment:
        chance = random.Random()
        chance.setstate(start["chance"])

        def ask(what: str, *given: object) -> Any:  # noqa: ANN401 - what it is depends on what is asked
            self._wire.send(("ask", what, given))
            answered, value = self._wire.receive()
            if not answered:
                raise value
            return value

        if self._tokens is None or self._counter is None:
            self._tokens = _Tokens(start["tokenizer"], ask)
            self._counter = TokenCounter(self._tokens)
        return Environment(
            clock=Clock(start["now"]),
            model=_Model(start["model"], ask),
            counter=self._counter,
            embed=lambda: _Embedder(ask("embedder"), ask),
            random=chance,
            folder=lambda: Path(ask("folder")),
            budget=start["budget"],
            services=start["services"],
            log=self._log,
        )

    def _log(self, event: Event) -> None:
        self.events.append(event)

    def _context(self, made: object) -> object:
        if not isinstance(made, Context):
            raise StrategyError(f"context returned {type(made).__name__}, not a Context")
        self._given += 1
        self._contexts[self._given] = made
        if len(self._contexts) > LATEST:
            self._contexts.popitem(last=False)
        ranks = made.rank is not None
        return self._given, ranks, replace(made, rank=None) if ranks else made


def _same(value: object) -> object:
    return value


def _listed(value: Any) -> object:  # noqa: ANN401 - any iterable
    return tuple(value)


_PACKED: Mapping[str, Callable[[Any], object]] = {
    "surfaces": _listed,
    "tools": _listed,
    "retention": dict,
    **dict.fromkeys(("observe", "delivered", "end_turn", "elapse", "grant", "load", "close"), bool),
}

_Ask = Callable[..., Any]


class _Tokens:
    """A tokenizer in the other process."""

    def __init__(self, name: str, ask: _Ask) -> None:
        self.name = name
        self._ask = ask
        self._primed: dict[str, int] = {}

    def prime(self, counts: Mapping[str, int]) -> None:
        """Note tokens that are likely to be asked for."""
        if len(self._primed) > _PRIMED:
            self._primed.clear()
        self._primed.update(counts)

    def count(self, text: str) -> int:
        """Tokens in the text."""
        known = self._primed.pop(text, None)
        counted: int = self._ask("count", text) if known is None else known
        return counted


class _Model:
    """The model in the other process."""

    def __init__(self, name: str, ask: _Ask) -> None:
        self.name = name
        self._ask = ask

    def complete(self, request: Request) -> Reply:
        """Answer a request."""
        reply: Reply = self._ask("complete", request)
        return reply


class _Embedder:
    """The embedder in the other process."""

    def __init__(self, known: tuple[str, int], ask: _Ask) -> None:
        self.name, self.dimension = known
        self._ask = ask

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text."""
        vectors: Vectors = self._ask("embed", [*texts])
        return vectors


_READS = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect", "os.rename", "os.link"})
_STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"})


def _watch_files(alarm: int) -> None:
    """Tell the player of every path that is opened or listed, and of every program."""
    quiet = tuple(
        f"{os.path.realpath(place)}{os.sep}"
        for place in (sys.prefix, sys.base_prefix, Path(__file__).parents[1])
    )
    built_in = f"{os.sep}_builtin{os.sep}"

    def heard(event: str, given: tuple[Any, ...]) -> None:
        if event in _READS and given and isinstance(given[0], str | bytes | os.PathLike):
            path = os.path.realpath(os.fsdecode(given[0]))
            if not path.startswith(quiet) or built_in in path:
                os.write(alarm, os.fsencode(f"{path}\0"))
        elif event in _STARTS:
            os.write(alarm, os.fsencode(f"program {given!r}\0".replace("\n", " ")))

    sys.addaudithook(heard)
