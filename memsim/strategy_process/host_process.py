"""Start a strategy's process, call strategies in it, and note what it looked at."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import memsim.errors
from memsim.errors import MemsimError, RemoteError, StrategyError, UsageError
from memsim.message import block_text
from memsim.strategy import Strategy
from memsim.strategy_process.wire import Wire

if TYPE_CHECKING:
    from memsim.context import Context
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.models import Embedder
    from memsim.strategy import Environment, Query
    from memsim.strategy_process.logbook import Heard

_START = "from memsim.strategy_process.child import main; main({line}, {alarm})"
_LATEST = 16
_PATIENCE = 5.0
_CHUNK = 1 << 16
_NAMED = 3
"""Files that are named where a result is invalid."""


class IsolatedStrategies:
    """Makes strategies of one ref in a process of their own.

    Args:
        ref: of the strategy; its file is executed in that process only.
        guarded: files and folders that the strategy has no business with.
        hear: is told after each call what the process logged, warned of and printed.
    """

    def __init__(
        self,
        ref: StrategyRef,
        guarded: Iterable[Path] = (),
        *,
        hear: Callable[[Heard], None] | None = None,
    ) -> None:
        self._ref = ref
        self._hear = hear
        self._guarded = tuple(path.resolve() for path in guarded)
        self._made = 0
        self._worlds: dict[int, tuple[int, object]] = {}
        self._embedders: dict[int, Embedder] = {}
        self._heard = b""
        self._breaches: dict[str, None] = {}
        self.dead = False

    def __enter__(self) -> Self:
        if sys.platform == "win32":
            raise UsageError("--isolated needs Linux or macOS")
        ours, theirs = Pipe()
        self._alarm, alarm = os.pipe()
        os.set_blocking(self._alarm, False)
        self._place = tempfile.mkdtemp(prefix="memsim-apart-")
        code = _START.format(line=theirs.fileno(), alarm=alarm)
        hidden = {"PWD", "OLDPWD", "PYTEST_CURRENT_TEST"}
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", code],
            cwd=self._place,
            env={k: v for k, v in os.environ.items() if k not in hidden}
            | {"PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": self._place},
            pass_fds=(theirs.fileno(), alarm),
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__,
        )
        theirs.close()
        os.close(alarm)
        self._line: Connection = ours
        self._wire = Wire(ours.fileno(), trusted=False)
        path = [str(Path(p).absolute()) for p in sys.path]
        self._wire.send({"path": path, "ref": self._ref, "hears": self._hear is not None})
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE if not self.dead else 0)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._listen()
        os.close(self._alarm)
        shutil.rmtree(self._place, ignore_errors=True)

    @property
    def breach(self) -> str:
        """What makes the result invalid, such as a file that was read; complete at the end."""
        read = [b for b in self._breaches if not b.startswith("listed")]
        return "; ".join((read or [*self._breaches])[:_NAMED])

    def make(self, env: Environment) -> Strategy:
        """A strategy in the other process, as an object that calls it."""
        world, _ = self._worlds.setdefault(id(env.random), (len(self._worlds), env.random))
        self._made += 1
        start = {
            "chance": env.random.getstate(),
            "now": env.clock.now(),
            "model": env.model.name,
            "tokenizer": env.counter.name,
            "budget": env.budget,
            "services": dict(env.services),
        }
        call = partial(self._call, env, world, self._made)
        methods, promises = call("make", start)
        known = frozenset(m for m in methods if isinstance(m, str))
        told = tuple(sorted((str(k), v) for k, v in promises.items() if _is_plain(v)))
        return _proxy_class(known, told)(env, call)

    def _call(self, env: Environment, world: int, number: int, name: str, *given: object) -> Any:  # noqa: ANN401 - a method's own
        if self.dead:
            raise StrategyError("the process of the strategy has ended")
        try:
            sent = given[0] if name == "make" else given
            counts = _counts(env, given[0]) if name == "observe" else {}
            self._wire.send((number, world, env.clock.now(), name, sent, counts))
            if name == "observe":
                self._wire.know(given[0])  # type: ignore[arg-type]
            return self._heard_from(env, name)
        except (EOFError, OSError):
            self.dead = True
            code = self._process.wait(_PATIENCE)
            raise StrategyError(f"the process of the strategy ended (exit code {code})") from None
        except BaseException as error:
            # In the middle of a call nothing more can be told: all but an answer ends it.
            self.dead = self.dead or not isinstance(error, MemsimError | RemoteError)
            raise

    def _heard_from(self, env: Environment, method: str) -> Any:  # noqa: ANN401 - a method's own
        while True:
            kind, *told = self._wire.receive()
            if kind == "ask":
                self._answer(env, told[0], told[1])
                continue
            value, events, heard = told
            if self._hear is not None:
                self._hear(heard)
            for event in events:
                env.log(event)
            if kind == "done":
                return value
            name, *said = value
            raise _error(name, _CALLED.get(method, method), *said)

    def _answer(self, env: Environment, what: str, given: Sequence[Any]) -> None:
        try:
            value = self._asked(env, what, given)
        except MemsimError as error:
            self._wire.send((False, error))
        else:
            self._wire.send((True, value))

    def _asked(self, env: Environment, what: str, given: Sequence[Any]) -> object:
        if what == "count":
            return env.counter.text(given[0])
        if what == "complete":
            return env.model.complete(given[0])
        if what == "folder":
            return str(env.folder())
        embedder = self._embedders.setdefault(id(env), env.embed())
        return embedder.embed(given[0]) if what == "embed" else (embedder.name, embedder.dimension)

    def _listen(self) -> None:
        with suppress(BlockingIOError, OSError):
            while data := os.read(self._alarm, _CHUNK):
                self._heard += data
        *told, self._heard = self._heard.split(b"\0")
        for each in told:
            if found := self._offence(os.fsdecode(each)):
                self._breaches[found] = None

    def _offence(self, told: str) -> str:
        if told.startswith("program "):
            named = next((p for p in self._guarded if str(p) in told), None)
            return f"started a program with {named.name}" if named else ""
        path = Path(told)
        if path.is_relative_to("/proc") and not path.is_relative_to(f"/proc/{self._process.pid}"):
            return f"read {told}" if path.parts[2:3] and path.parts[2].isdigit() else ""
        for guarded in self._guarded:
            if path == guarded or guarded in path.parents or _same_file(path, guarded):
                return f"{'listed' if path.is_dir() else 'read'} {path.name}"
        return ""


def _counts(env: Environment, message: Any) -> dict[str, int]:  # noqa: ANN401 - a message
    """The tokens of a message's texts, which its strategy is likely to count."""
    texts = (block_text(block) for block in message.blocks)
    return {text: env.counter.text(text) for text in texts}


def _same_file(one: Path, other: Path) -> bool:
    try:
        return other.is_file() and one.samefile(other)
    except OSError:
        return False


def _is_plain(value: object) -> bool:
    return value is None or type(value) in {bool, int, str}


_CALLED = {"make": "__init__", "rank": "context"}
"""Methods of a strategy behind calls with other names."""


def _error(name: str, method: str, said: str, beneath: str, trace: str) -> Exception:
    kind = getattr(memsim.errors, name, None) if name else None
    if isinstance(kind, type) and issubclass(kind, MemsimError):
        return kind(said)
    return RemoteError(said, beneath, method=method, trace=trace)


class _Proxy(Strategy):
    """A strategy in another process."""

    def __init__(self, env: Environment, call: Callable[..., Any]) -> None:
        super().__init__(env)
        self._call = call
        self._given: OrderedDict[int, Context] = OrderedDict()

    def context(self, query: Query) -> Context:
        number, ranks, made = self._call("context", query)
        for section in made.sections:
            counted = self.env.build.tokens(section.messages)
            if section.tokens != counted:
                text = f"the section {section.layer} has {counted} tokens, not {section.tokens}"
                raise StrategyError(text)
        if ranks:
            made = replace(made, rank=lambda: self._call("rank", number))
        self._given[number] = made
        if len(self._given) > _LATEST:
            self._given.popitem(last=False)
        return made  # type: ignore[no-any-return]


def _delivered(self: _Proxy, context: Context) -> None:
    number = next((n for n, made in self._given.items() if made is context), None)
    self._call("delivered", context if number is None else number)


def _forwarded(name: str) -> Callable[..., Any]:
    def forward(self: _Proxy, *given: object) -> Any:  # noqa: ANN401 - a method's own
        return self._call(name, *given)

    return forward


@lru_cache(maxsize=64)
def _proxy_class(methods: frozenset[str], promises: tuple[tuple[str, Any], ...]) -> type[_Proxy]:
    """A class that overrides what the strategy's own class overrides, and promises the same."""
    own: dict[str, Any] = {name: value for name, value in promises if value is not None}
    if "surfaces" in methods:
        methods |= {"locate"}
    for name in sorted(methods - {"context"}):
        own[name] = _delivered if name == "delivered" else _forwarded(name)
    return type("Isolated", (_Proxy,), own)
