"""Show code under test another clock, environment and folder than the process has.

Only modules that belong neither to Python, nor to installed packages, nor to memsim see the
disguise: they import other `time`, `datetime` and `os` modules.
"""

from __future__ import annotations

import builtins
import datetime as dt
import os
import sysconfig
import time as real_time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

AHEAD = 400_000_000.5
"""Seconds that the other clock is ahead of the real one: more than twelve years."""

STEP = 5_000.25
"""Seconds by which each look at the other clock moves it."""

_OWN = Path(__file__).resolve().parents[1]


def disguise() -> None:
    """From now on strangers import modules that show another clock and environment."""
    clock = _Clock()
    modules = {"time": _time(clock), "datetime": _datetime(clock), "os": _os()}
    _replace_imports(modules)


def _replace_imports(modules: Mapping[str, ModuleType]) -> None:
    real = builtins.__import__

    def imported(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - as the built-in function
        locals: Mapping[str, object] | None = None,  # noqa: A002 - as the built-in function
        fromlist: Any = (),  # noqa: ANN401 - as the built-in function
        level: int = 0,
    ) -> ModuleType:
        if name in modules and level == 0 and _is_stranger((globals or {}).get("__file__")):
            return modules[name]
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = imported


@lru_cache(maxsize=256)
def _is_stranger(file: object) -> bool:
    if not isinstance(file, str):
        return False
    path = Path(file).resolve()
    return not any(path.is_relative_to(folder) for folder in _trusted())


@lru_cache(maxsize=1)
def _trusted() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = sysconfig.get_paths()
    return (_OWN, *(Path(paths[name]).resolve() for name in names))


class _Clock:
    """A clock that is far ahead, and moves with each look."""

    def __init__(self) -> None:
        self._looks = 0

    def ahead(self) -> float:
        """Seconds ahead of the real time."""
        self._looks += 1
        return AHEAD + self._looks * STEP


def _copy(module: ModuleType, **changed: object) -> ModuleType:
    made = ModuleType(module.__name__, module.__doc__)
    made.__dict__.update({**vars(module), **changed})
    return made


def _time(clock: _Clock) -> ModuleType:
    def later(read: Callable[[], float]) -> Callable[[], float]:
        return lambda: read() + clock.ahead()

    def later_ns(read: Callable[[], int]) -> Callable[[], int]:
        return lambda: read() + int(clock.ahead() * 1e9)

    def at(convert: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: convert(*(given or (real_time.time() + clock.ahead(),)))

    def formatted(form: str, *given: Any) -> str:  # noqa: ANN401 - as strftime
        moment = given or (real_time.localtime(real_time.time() + clock.ahead()),)
        return real_time.strftime(form, *moment)

    def asctime(*given: Any) -> str:  # noqa: ANN401 - as asctime
        return real_time.asctime(*(given or (real_time.gmtime(clock.ahead()),)))

    reads = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    changed: dict[str, object] = {n: later(getattr(real_time, n)) for n in reads}
    changed |= {f"{n}_ns": later_ns(getattr(real_time, f"{n}_ns")) for n in reads}
    changed |= {n: at(getattr(real_time, n)) for n in ("localtime", "gmtime", "ctime")}
    return _copy(real_time, **changed, strftime=formatted, asctime=asctime)


def _datetime(clock: _Clock) -> ModuleType:
    class _Like(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, cls.__mro__[1])

    def ahead() -> dt.timedelta:
        return dt.timedelta(seconds=clock.ahead())

    class OtherDatetime(dt.datetime, metaclass=_Like):
        def __new__(cls, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - a real one
            return dt.datetime(*given, **named)  # noqa: DTZ001 - whatever was given

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:  # noqa: ANN401 - a real one
            return dt.datetime.now(tz) + ahead()

        @classmethod
        def utcnow(cls) -> Any:  # noqa: ANN401 - a real one
            return dt.datetime.now(dt.UTC).replace(tzinfo=None) + ahead()

        @classmethod
        def today(cls) -> Any:  # noqa: ANN401 - a real one
            return dt.datetime.now() + ahead()  # noqa: DTZ005 - as `today`

    class OtherDate(dt.date, metaclass=_Like):
        def __new__(cls, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - a real one
            return dt.date(*given, **named)

        @classmethod
        def today(cls) -> Any:  # noqa: ANN401 - a real one
            return (dt.datetime.now() + ahead()).date()  # noqa: DTZ005 - as `today`

    return _copy(dt, datetime=OtherDatetime, date=OtherDate)


class _Environ(dict[str, str]):
    """The environment, in which every variable has a value."""

    def __missing__(self, name: str) -> str:
        return "7"

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - as `dict.get`
        return self[name]


def _os() -> ModuleType:
    seen = _Environ(os.environ)

    def getenv(name: str, default: object = None) -> Any:  # noqa: ANN401 - as `os.getenv`
        return seen.get(name, default)

    return _copy(os, environ=seen, getenv=getenv)
