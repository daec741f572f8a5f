"""The strategy's process: makes strategies, and calls them as it is told."""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.clock import Clock
from memsim.context import Context
from memsim.discovery.loader import prepare, try_parameters
from memsim.discovery.project import find_project
from memsim.errors import MemsimError, StrategyError, describe_error, error_text, traceback_text
from memsim.message import TokenCounter
from memsim.models.registry import load_embedder
from memsim.strategy import Environment, Event, Strategy
from memsim.strategy_process.logbook import Logbook
from memsim.strategy_process.watch import watch
from memsim.strategy_process.wire import Wire

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.models import Embedder, Reply, Request, Vectors
    from memsim.strategy_process.logbook import Heard

PROMISES = ("control", "inspectable", "tail", "keeps_system", "isolates", "hosts")
"""Attributes of a strategy's class that the player reads."""
_OWN = frozenset({"control", "hosts"})
"""Those that may depend on its parameters."""
_PRIMED = 4096
LATEST = 16
"""Contexts that can be named by their number: the last ones."""
_METHODS = tuple(n for n in vars(Strategy) if not n.startswith("_") and callable(vars(Strategy)[n]))


def main(line: int, alarm: int) -> None:
    """Serve the player until the pipe is closed."""
    wire = Wire(line, trusted=True)
    start = wire.receive()
    sys.path[:] = start["path"]
    sys.dont_write_bytecode = True
    watch(alarm)
    host = StrategyHost(wire, start)
    if start["hears"]:
        host.book.__enter__()
    try:
        while True:
            host.answer(*wire.receive())
    except (EOFError, OSError):
        os._exit(0)


class StrategyHost:
    """Every strategy of the process, by number.

    Attributes:
        ref: what is made here.
        project: in which the ref has its meaning.
        around: is entered around each call of a strategy.
        embedders: those of this process, by name.
    """

    def __init__(self, wire: Wire, start: Mapping[str, Any]) -> None:
        self._wire = wire
        self.ref: StrategyRef = start["ref"]
        self.project = find_project(Path(start["base"]))
        self._probe = importlib.import_module(start["probe"]) if start["probe"] else None
        self._make: Callable[[Environment], Strategy] | None = None
        self._worlds: dict[int, Environment] = {}
        self._counters: dict[str, TokenCounter] = {}
        self._strategies: dict[int, Strategy] = {}
        self._contexts: dict[int, OrderedDict[int, Context]] = {}
        self._given = 0
        self.embedders: dict[str, Embedder] = {}
        self.events: list[Event] = []
        self.book = Logbook()
        self._hears: bool = start["hears"]
        self.around: Callable[[], AbstractContextManager[object]] = nullcontext

    def answer(
        self,
        number: int,
        world: int,
        now: datetime | None,
        name: str,
        given: Any,  # noqa: ANN401 - a method's own
        counts: Mapping[str, int],
    ) -> None:
        """Make one call and send what it came to; `counts` are the tokens of the texts in it."""
        self.events = []
        if world in self._worlds:
            env = self._worlds[world]
            if now is not None:
                env.clock.set(now)
            if counts and isinstance(env.counter.tokenizer, _Tokens):
                env.counter.tokenizer.prime(counts)
        try:
            value = self._called(number, world, name, given)
            self._wire.send(("done", value, self.events, self._heard()))
        except (EOFError, OSError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code
            events = [e for e in self.events if type(e) is Event]
            self._wire.send(("raised", _told(error), events, self._heard()))

    def _heard(self) -> Heard | None:
        return self.book.drain() if self._hears else None

    def _called(self, number: int, world: int, name: str, given: Any) -> object:  # noqa: ANN401 - a method's own
        if name == "make":
            return self._made(number, world, given)
        if name == "leave":
            return [self._worlds.pop(each, None) is None for each in given]
        strategy = self._strategies.get(number)
        if name == "probe":
            return getattr(self._probe, given[0])(self, strategy, *given[1:])
        if name == "try":
            try_parameters(self.ref, self.project)
            return True
        if strategy is None:
            raise StrategyError("it was closed before")
        if name == "observe":
            self._wire.know(given[0])
        if name == "delivered" and isinstance(given[0], int):
            given = (self._contexts[number][given[0]],)
        if name == "rank":
            rank = self._contexts[number][given[0]].rank
            return tuple(rank()) if rank else ()
        with self.around():
            value = getattr(strategy, name)(*given)
        if name == "close":
            del self._strategies[number]
            self._contexts.pop(number, None)
        return (
            _PACKED.get(name, _same)(value) if name != "context" else self._context(number, value)
        )

    def _made(self, number: int, world: int, start: Mapping[str, Any]) -> object:
        if world not in self._worlds:
            self._worlds[world] = self._environment(start)
        if self._make is None:
            self._make = prepare(self.ref, self.project)
        strategy = self._make(self._worlds[world])
        self._strategies[number] = strategy
        kind = type(strategy)
        own = [n for n in _METHODS if getattr(kind, n) is not getattr(Strategy, n)]
        promises = {n: getattr(strategy if n in _OWN else kind, n, None) for n in PROMISES}
        return own, promises, [n for n in sys.modules if n == "numpy" or n.startswith("memsim.")]

    def _environment(self, start: Mapping[str, Any]) -> Environment:
        clock = Clock(start["now"])
        chance = random.Random()
        chance.setstate(start["chance"])

        def ask(what: str, *given: object) -> Any:  # noqa: ANN401 - what it is depends on what is asked
            value, now = self._ask(what, given)
            clock.set(now)
            return value

        tokenizer = start["tokenizer"]
        name = tokenizer if isinstance(tokenizer, str) else tokenizer.name
        if name not in self._counters:
            own = _Tokens(name, self._ask) if isinstance(tokenizer, str) else tokenizer
            self._counters[name] = TokenCounter(own)
        return Environment(
            clock=clock,
            model=_Model(start["model"], ask),
            counter=self._counters[name],
            embed=lambda: self._embedder(ask),
            random=chance,
            folder=lambda: Path(ask("folder")),
            budget=start["budget"],
            services=start["services"],
            log=self._log,
        )

    def _ask(self, what: str, given: Sequence[object]) -> tuple[Any, datetime]:
        self._wire.send(("ask", what, given))
        answered, value, now = self._wire.receive()
        if not answered:
            raise value
        return value, now

    def _embedder(self, ask: _Ask) -> Embedder:
        name, dimension, local = ask("embedder")
        if not local:
            return _Embedder(name, dimension, ask)
        if name not in self.embedders:
            self.embedders[name] = load_embedder(name)
        return self.embedders[name]

    def _log(self, event: Event) -> None:
        self.events.append(event)

    def _context(self, number: int, made: object) -> object:
        if not isinstance(made, Context):
            raise StrategyError(f"context returned {type(made).__name__}, not a Context")
        self._given += 1
        latest = self._contexts.setdefault(number, OrderedDict())
        latest[self._given] = made
        if len(latest) > LATEST:
            latest.popitem(last=False)
        ranks = made.rank is not None
        return self._given, ranks, replace(made, rank=None) if ranks else made


def _told(error: BaseException) -> tuple[str, str, tuple[object, ...], str, str]:
    """An error: the class of memsim's that it is, what it says, its arguments, causes and trace."""
    known = [kind for kind in type(error).__mro__ if kind.__module__ == MemsimError.__module__]
    if not isinstance(error, MemsimError) or not known:
        return "", describe_error(error), (), error_text(error), traceback_text(error)
    plain = all(type(each) in {str, int, type(None)} for each in error.args)
    return known[0].__name__, str(error), error.args if plain else (), error_text(error), ""


def _same(value: object) -> object:
    return value


def _listed(value: Any) -> object:  # noqa: ANN401 - any iterable
    return tuple(value)


def _state(value: object) -> object:
    """A state as JSON text, which is read faster; as it is where that would change it."""
    try:
        text = json.dumps(value)
        return text if isinstance(value, dict) and json.loads(text) == value else value
    except (TypeError, ValueError, RecursionError):
        return value


_PACKED: Mapping[str, Callable[[Any], object]] = {
    "surfaces": _listed,
    "tools": _listed,
    "retention": dict,
    "save": _state,
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
        counted: int = self._ask("count", (text,))[0] if known is None else known
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

    def __init__(self, name: str, dimension: int, ask: _Ask) -> None:
        self.name = name
        self.dimension = dimension
        self._ask = ask

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text."""
        vectors: Vectors = self._ask("embed", [*texts])
        return vectors
