"""Tells whoever wrote a strategy which of its methods cannot be called as memsim calls it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memsim.errors import RefError
from memsim.strategy import Strategy


def check_signatures(kind: type[Strategy], file: Path | None, shown: str) -> None:
    """Refuse a class whose methods do not take what they are given.

    Args:
        kind: the class.
        file: where it is defined.
        shown: how to name that file.

    Raises:
        RefError: one does not; with the file and line of the method.
    """
    for name, method, given in _overridden(kind):
        try:
            inspect.signature(method).bind(*given)
        except (TypeError, ValueError):
            raise _error(f"{kind.__name__}.{name}", method, given, {str(file): shown}) from None


def _overridden(kind: type[Strategy]) -> Iterator[tuple[str, Callable[..., Any], list[str]]]:
    for name, declared in vars(Strategy).items():
        if name.startswith("_") or not inspect.isfunction(declared):
            continue
        method = getattr(kind, name)
        if method is declared or not callable(method):
            continue
        given = list(inspect.signature(declared).parameters)
        bound = inspect.ismethod(method) or isinstance(vars(kind).get(name), staticmethod)
        yield name, method, given[1:] if bound else given


def _error(
    name: str, method: Callable[..., Any], given: list[str], files: dict[str, str]
) -> RefError:
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
    wanted = ", ".join(each for each in given if each != "self")
    try:
        takes = str(inspect.signature(method))
    except (TypeError, ValueError):
        takes = "something else"
    return RefError(
        f"{name} is called with ({wanted}), and takes {takes}",
        path=files.get(code.co_filename, code.co_filename) if code else None,
        line=code.co_firstlineno if code else None,
    )
