"""Execute strategy files, and make strategies from refs.

A file becomes the module `memsim_strategies.<stem>_<8 hex digits of its real path>`, because two
folders may both hold a `mine.py`. The module is registered before it is executed. `sys.path` is not
changed, and no bytecode is written beside the file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memsim.clock import Clock
from memsim.discovery.catalogue import locate
from memsim.discovery.params import read_params
from memsim.discovery.project import Project, find_project
from memsim.discovery.strategy_ref import StrategyRef, parse_ref
from memsim.discovery.strategy_source import Param, strategies_in
from memsim.errors import ModelError, RefError
from memsim.memory.places import addresses
from memsim.message import CharsOverFour, TokenCounter
from memsim.strategy import Environment, Strategy

if TYPE_CHECKING:
    from types import ModuleType

    from memsim.models import Reply, Request

# Check the signatures of a strategy's methods.


def check_signatures(kind: type[Strategy], file: Path | None, shown: str) -> None:
    """Refuse a class with methods that cannot be called as memsim calls them.

    Raises:
        RefError: a method has the wrong parameters, or is asynchronous; with file and line of the
            method.
    """
    for name, method, given in _overridden(kind):
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise _async_error(f"{kind.__name__}.{name}", method, {str(file): shown})
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
    wanted = ", ".join(each for each in given if each != "self")
    try:
        takes = str(inspect.signature(method))
    except (TypeError, ValueError):
        takes = "something else"
    return _at(method, f"{name} is called with ({wanted}), and takes {takes}", files)


def _async_error(name: str, method: Callable[..., Any], files: dict[str, str]) -> RefError:
    said = (
        f"{name} is an async def, and memsim calls plain methods:"
        " write def, and wait in it for the coroutine (docs/wrap-a-memory.md, section 5)"
    )
    return _at(method, said, files)


def _at(method: Callable[..., Any], said: str, files: dict[str, str]) -> RefError:
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
    return RefError(
        said,
        path=files.get(code.co_filename, code.co_filename) if code else None,
        line=code.co_firstlineno if code else None,
    )


class _Loader(SourceFileLoader):
    def path_stats(self, path: str) -> NoReturn:
        # Without stats no bytecode is used or written: the file itself is executed.
        raise OSError(path)


def load_file(path: Path, shown: str = "") -> ModuleType:
    """The module of a strategy file, executed once per process.

    Raises:
        RefError: the file raised while it was executed; with the line.
    """
    real = path.resolve()
    name = module_name(real)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, real, loader=_Loader(name, str(real)))
    if spec is None or spec.loader is None:
        raise RefError("is not a Python file", path=shown or real.name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_error(error, real, shown or real.name) from error
    except BaseException:
        del sys.modules[name]
        raise
    return module


_Stamp = tuple[int, int]
_PINNED: dict[Path, _Stamp] = {}
"""Content of strategy files when this process first read them."""


def pin(path: Path) -> _Stamp:
    """The content of a file that is used until `reload_changed`."""
    known = _PINNED.get(path)
    if known is None:
        known = _PINNED[path] = _stamp(path)
    return known


def reload_changed() -> None:
    """Forget edited strategy files, so that they are executed again when needed.

    It is called at the beginning of a run and never within one, so that a run uses one version.
    """
    for path, known in [*_PINNED.items()]:
        if _stamp(path) != known:
            del _PINNED[path]
            sys.modules.pop(module_name(path.resolve()), None)


def _stamp(path: Path) -> _Stamp:
    try:
        stat = path.stat()
    except OSError:
        return 0, -1
    return stat.st_mtime_ns, stat.st_size


def module_name(real: Path) -> str:
    """The name under which a file is registered."""
    stem = "".join(c if c.isalnum() else "_" for c in real.stem)
    return f"memsim_strategies.{stem}_{hashlib.sha256(str(real).encode()).hexdigest()[:8]}"


def _import_error(error: BaseException, path: Path, shown: str) -> RefError:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = lines[-1] if lines else None
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = error.lineno
    said = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        said += " (install it beside memsim, or name its folder in PYTHONPATH)"
    kind = type(error).__name__
    return RefError(f"{kind}: {said}" if said else kind, path=shown, line=line)


def load_strategy(ref: StrategyRef | str, project: Project | None = None) -> type[Strategy]:
    """The class of a ref.

    Args:
        ref: such as `sliding_window` or `my.py@Mine`; its parameters are checked but not used.
        project: where to search; None for the project of the current folder.

    Raises:
        RefError: there is no such strategy, or its file cannot be executed.
    """
    project = project or find_project()
    return _load(resolve(ref, project), project)


def _load(ref: StrategyRef, project: Project) -> type[Strategy]:
    if ref.file is None:
        return _load_entry(ref)
    shown = project.show(ref.file)
    if ref.entry:
        return _load_entry(ref)
    found = getattr(load_file(ref.file, shown), ref.class_name, None)
    kind = _checked(found, f"{shown}: {ref.class_name}")
    check_signatures(kind, ref.file.resolve(), shown)
    return kind


def _load_entry(ref: StrategyRef) -> type[Strategy]:
    module, _, attribute = ref.entry.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        message = f"{ref.handle} ({ref.entry}): {type(error).__name__}: {said}"
        raise RefError(message) from error
    kind = _checked(found, f"{ref.handle} ({ref.entry})")
    check_signatures(kind, None, "")
    return kind


def check_class(kind: type) -> None:
    """Refuse a class that is no strategy, or whose methods cannot be called.

    Raises:
        RefError: with file and line of the method where it is one.
    """
    check_signatures(_checked(kind, kind.__name__), None, "")


def _checked(found: object, name: str) -> type[Strategy]:
    if not (isinstance(found, type) and issubclass(found, Strategy)):
        raise RefError(f"{name} is not a memsim.Strategy")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise RefError(f"{name} does not implement {missing}")
    return found


def resolve(ref: StrategyRef | str, project: Project | None = None) -> StrategyRef:
    """Find the file of a ref, and check and sort its parameters, without executing the file.

    Raises:
        RefError: there is no such strategy, or a parameter is unknown, missing or of the wrong
            type.
    """
    ref = parse_ref(ref) if isinstance(ref, str) else ref
    if ref.class_name:
        return ref
    found = locate(ref, project or find_project())
    params = ref.params
    if found.path is not None:
        read_params(params, found.params, ref.handle)
        given = dict(params)
        params = tuple((p.name, given[p.name]) for p in found.params if p.name in given)
    return StrategyRef(
        name=ref.name,
        path=ref.path,
        params=params,
        file=found.path,
        entry=found.entry,
        class_name=found.class_name,
        control=found.control,
    )


def prepare(
    ref: StrategyRef | str, project: Project | None = None
) -> Callable[[Environment], Strategy]:
    """A function that makes a strategy from its environment; file and parameters are read once.

    Raises:
        RefError: as `load_strategy`. The returned function raises it too if the strategy refuses
            its parameters with a ValueError.
    """
    project = project or find_project()
    ref = resolve(ref, project)
    kind = _load(ref, project)
    if not ref.params:
        return kind
    values = read_params(ref.params, tuple(_signature(kind)), ref.handle)

    def refusing(env: Environment) -> Strategy:
        try:
            return kind(env, **values)
        except ValueError as error:
            raise RefError(f"{ref}: {' '.join(str(error).split())}") from error

    return refusing


def _signature(kind: type[Strategy]) -> Iterator[Param]:
    described = {}
    if (file := inspect.getsourcefile(kind)) is not None:
        inside = strategies_in(Path(file))
        described = {p.name: p for f in inside if f.class_name == kind.__name__ for p in f.params}
    record = kind.parameters
    given = list(inspect.signature(record or kind).parameters.values())
    for parameter in given if record else given[1:]:  # after env
        default = parameter.default
        plain = Param(
            name=parameter.name,
            default=None if default is parameter.empty else repr(default),
            annotation=inspect.formatannotation(parameter.annotation).strip("'"),
        )
        yield described.get(parameter.name, plain)


def make(ref: StrategyRef | str, env: Environment, project: Project | None = None) -> Strategy:
    """Make a strategy in its environment.

    Raises:
        RefError: as `prepare`.
    """
    return prepare(ref, project)(env)


# A strategy is made once before the run, so that refused parameters are reported at once.

_BUDGET = 4096


class _Absent:
    """Placeholder of a model or embedder that a constructor must not use yet."""

    name = "absent"

    def complete(self, request: Request) -> Reply:
        raise ModelError("no case is running yet: do not use it in the constructor")


def _nothing() -> NoReturn:
    raise ModelError("no case is running yet: do not use it in the constructor")


def try_parameters(ref: StrategyRef, project: Project | None = None) -> None:
    """Refuse a ref whose parameters its strategy refuses.

    Other errors of the constructor are reported by the case, because they are errors of the
    strategy.

    Raises:
        RefError: the strategy's constructor raised a ValueError.
    """
    if not ref.params:
        return
    try:
        make = prepare(ref, project)
    except RefError:
        return
    env = Environment(
        clock=Clock(),
        model=_Absent(),
        counter=TokenCounter(CharsOverFour()),
        embed=_nothing,
        folder=_nothing,
        budget=_BUDGET,
        services=addresses(os.environ),
    )
    try:
        strategy = make(env)
    except RefError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - a constructor of a user may raise anything
        return
    with suppress(Exception):
        strategy.close()
