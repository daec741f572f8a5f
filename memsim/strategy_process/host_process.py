"""Start a strategy's process, call strategies in it, and note what it looked at."""

from __future__ import annotations

import json
import os
import select
import shutil
import sys
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import memsim.errors
from memsim.adapters.environments import FOLDER_VARIABLE, run_folder
from memsim.context import Context
from memsim.discovery.project import find_project
from memsim.errors import MemsimError, RemoteError, StrategyError, UsageError
from memsim.message import ENCODINGS, block_text
from memsim.models.embedders import CachedEmbedder
from memsim.models.model_ref import read_embedder
from memsim.strategy import Strategy
from memsim.strategy_process.conduct import Conduct
from memsim.strategy_process.fork_server import fork_server
from memsim.strategy_process.wire import Wire

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.message import TokenCounter
    from memsim.models import Embedder
    from memsim.strategy import Environment, Query
    from memsim.strategy_process.logbook import Heard

_LATEST = 16
_PATIENCE = 5.0
_CHUNK = 1 << 16
_HIDDEN = frozenset({"PWD", "OLDPWD", "PYTEST_CURRENT_TEST"})
NOT_HERE = "strategies are not isolated on this system: that needs Linux or macOS"


def can_isolate() -> bool:
    """Whether this system has what processes of strategies need."""
    return hasattr(os, "fork") and sys.platform != "win32"


class IsolatedStrategies:
    """Makes strategies of one ref in a process of their own.

    Args:
        ref: of the strategy; its file is executed in that process only.
        guarded: files and folders that the strategy has no business with.
        hear: is told after each call what the process logged, warned of and printed.
        offline: talking to a host that the strategy does not declare makes a result invalid.
        probe: a module whose functions `probe` calls in the process; imported before the strategy.
        interpreter: variables of the environment that its interpreter starts with.
        recounts: whether a section with other tokens than it has is an error.

    Attributes:
        fault: why the process cannot be asked any more; empty while it can.
    """

    def __init__(
        self,
        ref: StrategyRef,
        guarded: Iterable[Path] = (),
        *,
        hear: Callable[[Heard], None] | None = None,
        offline: bool = False,
        probe: str = "",
        interpreter: Mapping[str, str] | None = None,
        recounts: bool = True,
    ) -> None:
        self._ref = ref
        self._hear = hear
        self._probe = probe
        self._interpreter = dict(interpreter or {})
        self._conduct = Conduct(guarded, offline=offline)
        self._made = 0
        self._worlds: dict[int, int] = {}
        self._world_count = 0
        self._left: list[int] = []
        self._times: dict[int, datetime] = {}
        self._embedders: dict[int, Embedder] = {}
        self._reports = b""
        self._blind = False
        self._code: int | None = None
        self._recounts = recounts
        self.dead = False
        self.fault = ""

    def __enter__(self) -> Self:
        if not can_isolate():
            raise UsageError("--isolated needs Linux or macOS")
        ours, theirs = Pipe()
        self._alarm, alarm = os.pipe()
        os.set_blocking(self._alarm, False)
        self._place = tempfile.mkdtemp(prefix="memsim-apart-")
        env = {k: v for k, v in os.environ.items() if k not in _HIDDEN}
        env |= {"TMPDIR": self._place, FOLDER_VARIABLE: str(run_folder()), **self._interpreter}
        self._server = fork_server(self._interpreter)
        self._conduct.pid = self._server.start(self._place, env, theirs.fileno(), alarm)
        theirs.close()
        os.close(alarm)
        self._line: Connection = ours
        self._poll = select.poll()
        self._poll.register(ours.fileno(), select.POLLIN)
        self._poll.register(self._alarm, select.POLLIN)
        self._wire = Wire(ours.fileno(), trusted=False, wait=self._wait)
        path = [str(Path(p).absolute()) for p in sys.path]
        hears = self._hear is not None
        start = {"path": path, "ref": self._ref, "hears": hears, "probe": self._probe}
        self._wire.send(start | {"base": str(find_project().base)})
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()
        self._end()
        self._listen()
        os.close(self._alarm)
        shutil.rmtree(self._place, ignore_errors=True)

    def _end(self) -> int:
        """End the process, if it has not ended; its exit code."""
        if self._code is None:
            patience, self.dead = 0 if self.dead else _PATIENCE, True
            try:
                self._code = self._server.end(self._conduct.pid, patience)
            except (EOFError, OSError):
                self._code = 1
        return self._code

    @property
    def breach(self) -> str:
        """What makes the result invalid, such as a file that was read; complete at the end."""
        return self._conduct.breach

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that the strategy talked to; complete at the end."""
        return self._conduct.hosts

    def written(self) -> Iterator[Path]:
        """Files that the strategy wrote outside of the folders that it was given."""
        self._listen()
        return self._conduct.written()

    def try_parameters(self) -> None:
        """Refuse parameters that the strategy refuses.

        Raises:
            RefError: the strategy's constructor raised a ValueError.
        """
        self._exchange(None, (0, 0, None, "try", (), {}))

    def probe(self, name: str, *given: object, number: int = 0) -> Any:  # noqa: ANN401 - a function's own
        """Call a function of the probe's module in the process.

        Args:
            name: the function; it gets the process, the strategy or None, and what is given.
            given: its other arguments.
            number: of a strategy that was made here.
        """
        return self._exchange(None, (number, 0, None, "probe", (name, *given), {}))

    def make(self, env: Environment) -> Strategy:
        """A strategy in the other process, as an object that calls it."""
        world = self._world_of(env)
        self._made += 1
        self._conduct.serve(env.services)
        start = {
            "chance": env.random.getstate(),
            "now": env.clock.now(),
            "model": env.model.name,
            "tokenizer": _tokenizer_of(env.counter),
            "budget": env.budget,
            "services": dict(env.services),
        }
        call = partial(self._call, env, world, self._made)
        made = call("make", start)
        if not isinstance(made, tuple) or [type(m) for m in made] != [list, dict, list]:
            raise self._unreadable()
        methods, promises, modules = made
        self._server.warm(str(name) for name in modules)
        self._conduct.allowed |= _hosts(promises.pop("hosts", None))
        known = frozenset(m for m in methods if isinstance(m, str))
        told = tuple(sorted((str(k), v) for k, v in promises.items() if _is_plain(v)))
        strategy = _proxy_class(known, told)(env, call)
        strategy.probe = partial(self.probe, number=self._made)
        strategy.recounts = self._recounts
        return strategy

    def _world_of(self, env: Environment) -> int:
        # Strategies of one world share its random numbers, also after a restart.
        chance = id(env.random)
        if chance not in self._worlds:
            self._world_count += 1
            self._worlds[chance] = self._world_count
            weakref.finalize(env.random, self._leave, chance)
        return self._worlds[chance]

    def _leave(self, chance: int) -> None:
        world = self._worlds.pop(chance)
        self._left.append(world)
        self._times.pop(world, None)
        self._embedders.pop(world, None)

    def _call(self, env: Environment, world: int, number: int, name: str, *given: object) -> Any:  # noqa: ANN401 - a method's own
        sent = given[0] if name == "make" else given
        counts = {}
        if name == "observe" and isinstance(_tokenizer_of(env.counter), str):
            counts = _counts(env, given[0])
        now: datetime | None = env.clock.now()
        if self._times.get(world) == now and name != "make":
            now = None
        else:
            self._times[world] = env.clock.now()
        return self._exchange(env, (number, world, now, name, sent, counts))

    def _exchange(self, env: Environment | None, frame: tuple[Any, ...]) -> Any:  # noqa: ANN401 - a method's own
        if self.dead:
            raise StrategyError("the process of the strategy has ended")
        try:
            if self._left:
                left, self._left = self._left, []
                self._exchange(None, (0, 0, None, "leave", left, {}))
            self._wire.send(frame)
            if frame[3] == "observe":
                self._wire.know(frame[4][0])
            return self._heard_from(env, frame[3])
        except (EOFError, OSError):
            self.fault = f"the process of the strategy ended (exit code {self._end()})"
            raise StrategyError(self.fault) from None
        except BaseException as error:
            # In the middle of a call nothing more can be told: all but an answer ends it.
            self.dead = self.dead or not isinstance(error, MemsimError | RemoteError)
            raise

    def _heard_from(self, env: Environment | None, method: str) -> Any:  # noqa: ANN401 - a method's own
        while True:
            kind, *told = self._frame()
            if self._blind:
                self._conduct.blind()
            if kind == "ask" and env is not None:
                self._answer(env, told[0], told[1])
                continue
            value, events, heard = told
            if self._hear is not None and heard is not None:
                self._hear(heard)
            for event in events if env is not None else ():
                env.log(event)  # type: ignore[union-attr]
            if kind == "done":
                return value
            name, *said = value
            raise _error(name, _CALLED.get(method, method), *said)

    def _frame(self) -> tuple[Any, ...]:
        try:
            frame = self._wire.receive()
        except StrategyError:
            self.dead, self.fault = True, "sent what cannot be read"
            raise
        lengths = {"ask": 3, "done": 4, "raised": 4}
        if not isinstance(frame, tuple) or not frame or lengths.get(frame[0]) != len(frame):
            raise self._unreadable()
        return frame

    def _unreadable(self) -> StrategyError:
        self.dead, self.fault = True, "sent what cannot be read"
        return StrategyError(self.fault)

    def _answer(self, env: Environment, what: str, given: Sequence[Any]) -> None:
        try:
            value = self._asked(env, what, given)
        except MemsimError as error:
            self._wire.send((False, error, env.clock.now()))
        else:
            # A model that is slow moves the clock.
            self._wire.send((True, value, env.clock.now()))

    def _asked(self, env: Environment, what: str, given: Sequence[Any]) -> object:
        if what == "count":
            return env.counter.text(given[0])
        if what == "complete":
            return env.model.complete(given[0])
        if what == "folder":
            folder = env.folder()
            self._conduct.folders[folder.resolve()] = None
            return str(folder)
        world = self._worlds[id(env.random)]
        if world not in self._embedders:
            self._embedders[world] = env.embed()
        embedder = self._embedders[world]
        if what == "embed":
            return embedder.embed(given[0])
        # Hashing gives the same vectors anywhere.
        local = type(embedder) is CachedEmbedder and read_embedder(embedder.name).kind == "hash"
        return embedder.name, embedder.dimension, local

    def _wait(self) -> None:
        """Wait until the process says something; take its reports meanwhile."""
        line = self._line.fileno()
        while True:
            ready = dict(self._poll.poll())
            if self._alarm in ready:
                self._listen()
                if ready[self._alarm] & select.POLLHUP:
                    self._poll.unregister(self._alarm)
                    self._blind = True
            if line in ready:
                return

    def _listen(self) -> None:
        with suppress(BlockingIOError, OSError):
            while data := os.read(self._alarm, _CHUNK):
                self._reports += data
        *reports, self._reports = self._reports.split(b"\0")
        for report in reports:
            self._conduct.note(report.decode("utf-8", "surrogateescape"))


def _tokenizer_of(counter: TokenCounter) -> object:
    """The tokenizer, where the process can count by itself; else its name."""
    tokenizer = counter.tokenizer
    return tokenizer.name if vars(tokenizer) or tokenizer.name in ENCODINGS else tokenizer


def _counts(env: Environment, message: Any) -> dict[str, int]:  # noqa: ANN401 - a message
    """The tokens of a message's texts, which its strategy is likely to count."""
    texts = (block_text(block) for block in message.blocks)
    return {text: env.counter.text(text) for text in texts}


def _hosts(declared: object) -> set[str]:
    names = (declared,) if isinstance(declared, str) else declared
    return {str(name) for name in names} if isinstance(names, tuple | list) else set()


def _is_plain(value: object) -> bool:
    return value is None or type(value) in {bool, int, str}


_CALLED = {"make": "__init__", "rank": "context"}
"""Methods of a strategy behind calls with other names."""


def _error(
    name: str, method: str, said: str, given: Sequence[Any], beneath: str, trace: str
) -> Exception:
    kind = getattr(memsim.errors, name, None) if name else None
    if isinstance(kind, type) and issubclass(kind, MemsimError):
        for arguments in (given, (said,)):
            with suppress(TypeError, ValueError):
                error = kind(*arguments)
                if str(error) == said:
                    return error
    return RemoteError(said, beneath, method=method, trace=trace)


class StrategyProxy(Strategy):
    """A strategy in another process.

    Attributes:
        probe: calls a function of the probe's module about it.
        recounts: whether a section with other tokens than it has is an error.
    """

    probe: Callable[..., Any]
    recounts = True

    def __init__(self, env: Environment, call: Callable[..., Any]) -> None:
        super().__init__(env)
        self._call = call
        self._given: OrderedDict[int, Context] = OrderedDict()

    def context(self, query: Query) -> Context:
        given = self._call("context", query)
        if not isinstance(given, tuple) or [type(g) for g in given] != [int, bool, Context]:
            raise StrategyError("sent what cannot be read")
        made: Context
        number, ranks, made = given
        for section in made.sections if self.recounts else ():
            counted = self.env.build.tokens(section.messages)
            if section.tokens != counted:
                text = f"the section {section.layer} has {counted} tokens, not {section.tokens}"
                raise StrategyError(text)
        if ranks:
            made = replace(made, rank=lambda: self._call("rank", number))
        self._given[number] = made
        if len(self._given) > _LATEST:
            self._given.popitem(last=False)
        return made


def _delivered(self: StrategyProxy, context: Context) -> None:
    number = next((n for n, made in self._given.items() if made is context), None)
    self._call("delivered", context if number is None else number)


def _save(self: StrategyProxy) -> Any:  # noqa: ANN401 - whatever it gives for a state
    state = self._call("save")
    if not isinstance(state, str):
        return state
    try:
        return json.loads(state)
    except (ValueError, RecursionError):
        return state


def _forwarded(name: str) -> Callable[..., Any]:
    def forward(self: StrategyProxy, *given: object) -> Any:  # noqa: ANN401 - a method's own
        return self._call(name, *given)

    return forward


_OWN_WAY: Mapping[str, Callable[..., Any]] = {"delivered": _delivered, "save": _save}


@lru_cache(maxsize=64)
def _proxy_class(
    methods: frozenset[str], promises: tuple[tuple[str, Any], ...]
) -> type[StrategyProxy]:
    """A class that overrides what the strategy's own class overrides, and promises the same."""
    own: dict[str, Any] = {name: value for name, value in promises if value is not None}
    if "surfaces" in methods:
        methods |= {"locate"}
    for name in sorted(methods - {"context"}):
        own[name] = _OWN_WAY.get(name) or _forwarded(name)
    return type("Isolated", (StrategyProxy,), own)
