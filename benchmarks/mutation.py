"""How many small changes to matcher, scores and access control do the tests notice?

    python benchmarks/mutation.py matcher
    python benchmarks/mutation.py scores access --keep 1 --of 4

One at a time, every comparison, operator, number, condition, returned value and bare call of the
modules named below is changed. The tests are collected once; each change is tried in a process of
its own, on the tests that run the changed line, fastest first, until one fails. What no test
notices is tried once more from scratch, because what a module made while it was imported is what it
was. Prints `killed of all`, and each survivor with its line. `--keep 1 --of 4` tries each fourth.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import re
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
SLOW = 2.0
"""Seconds of the processor: tests that take longer are left out; what only they notice survives."""
PATIENCE = 20
"""Seconds of the processor beyond twice the usual ones, after which a change counts as noticed: it
made something endless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Modules, and the tests that are to notice changes to them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "matcher": Target(
        modules=tuple(f"memsim.canary.{n}" for n in ("match", "normalise", "decode", "codecs")),
        tests=("tests/canary",),
    ),
    "scores": Target(
        modules=("memsim.leakage.scores", "memsim.canary.choice"),
        tests=("tests/leakage/test_leak_scores.py", "tests/canary/test_canary_choice.py"),
    ),
    "access": Target(
        modules=("memsim.memory.permissions", "memsim.memory.entry"),
        tests=(
            "tests/memory/test_permissions.py",
            "tests/memory/test_retention.py",
            "tests/memory/layers",
            "tests/memory/stores/test_codec.py",
        ),
    ),
}

_PLAIN = int | float | str | bytes | tuple | frozenset | dict | set | list | re.Pattern
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change to a module.

    Attributes:
        line: where.
        tree: the module as it is then.
        what: in words.
    """

    module: str
    line: int
    tree: ast.Module
    what: str


def changes(module: str, source: str) -> Iterator[Change]:
    """Every change to a module, in the order of its lines."""
    whole = ast.parse(source)
    for number, node in enumerate(list(_telling(whole))):
        for way in range(len(_ways(node))):
            tree = copy.deepcopy(whole)
            there = list(_telling(tree))[number]
            before = ast.unparse(there)
            _ways(there)[way]()
            after = ast.unparse(there)
            yield Change(
                module=module,
                line=getattr(there, "lineno", 0),
                tree=ast.fix_missing_locations(tree),
                what=f"{before[:60]} => {after[:60]}",
            )


def _telling(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes of what runs: annotations, imports for types, decorators and class lines do not."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "bases", "keywords_of_class"}:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _is_for_types(node):
                continue
            yield node
            yield from _telling(node)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _ways(node: ast.AST) -> list[Callable[[], None]]:  # noqa: PLR0911 - one for each kind
    """What can be changed about one node."""
    if isinstance(node, ast.Compare):
        return [_set(node, "ops", [new(), *node.ops[1:]]) for new in _COMPARED[type(node.ops[0])]]
    if isinstance(node, ast.BinOp | ast.AugAssign):
        other = _COMPUTED.get(type(node.op))
        return [_set(node, "op", other())] if other else []
    if isinstance(node, ast.BoolOp):
        return [_set(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())]
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [_set(node, "test", ast.UnaryOp(op=ast.Not(), operand=node.test))]
    if isinstance(node, ast.Return) and node.value is not None:
        return [_set(node, "value", ast.Constant(value=None))]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [_set(node, "value", ast.Constant(value=None))]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [_set(node, "value", not node.value)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [_set(node, "value", node.value + 1)]
    if isinstance(node, ast.Continue | ast.Break):
        return []
    return []


def _set(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


class Trial:
    """Collects tests once, and tries changes on them."""

    def __init__(self, target: Target, keep: int, of: int) -> None:
        self._target = target
        self._keep, self._of = keep, of
        self._cost: dict[str, float] = {}
        self._lines: dict[str, set[tuple[str, int]]] = {}
        self._tried = 0
        self.survivors: list[Change] = []

    @property
    def tried(self) -> int:
        """How many changes were tried."""
        return self._tried

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests: learn what each runs, and then try every change."""
        items = [item for item in session.items if self._learnt(item)]
        # A test that fails when it is run again would seem to notice anything.
        items = [item for item in items if _passes(item)]
        for module in self._target.modules:
            source = Path(str(sys.modules[module].__file__))
            whole = ast.parse(source.read_text("utf-8"))
            same = Change(module=module, line=0, tree=whole, what="nothing")
            if self._noticed(same, items) or _noticed_afresh(same, self._target, items):
                raise pytest.UsageError(f"{module}: the tests fail where nothing has changed")
            every = list(changes(module, source.read_text("utf-8")))[self._keep - 1 :: self._of]
            missed = [c for c in every if not self._noticed(c, self._telling(items, c, source))]
            left = [c for c in missed if not _noticed_afresh(c, self._target, items)]
            self._tried += len(every)
            self.survivors += left
            print(f"{module}: {len(every) - len(left)} of {len(every)}", flush=True)
            for change in left:
                print(f"  {source.name}:{change.line}: {change.what}", flush=True)
        return True

    def _learnt(self, item: pytest.Item) -> bool:
        """What a test runs and how long it takes; whether it passes and is fast enough."""
        files = {str(sys.modules[m].__file__) for m in self._target.modules}
        lines: set[tuple[str, int]] = set()

        def local(frame: types.FrameType, event: str, _: object) -> object:
            if event == "line":
                lines.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def entered(frame: types.FrameType, *_: object) -> object:
            return local if frame.f_code.co_filename in files else None

        began = time.process_time()
        sys.settrace(entered)
        signal.signal(signal.SIGVTALRM, _raise)
        signal.setitimer(signal.ITIMER_VIRTUAL, 5 * SLOW)
        try:
            passed = _passes(item)
        except TimeoutError:
            passed = False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            sys.settrace(None)
        self._cost[item.nodeid] = time.process_time() - began
        self._lines[item.nodeid] = lines
        return passed and self._cost[item.nodeid] < 3 * SLOW

    def _telling(self, items: list[pytest.Item], change: Change, file: Path) -> list[pytest.Item]:
        there = (str(file), change.line)
        found = [i for i in items if there in self._lines[i.nodeid]] or items
        return sorted(found, key=lambda item: self._cost[item.nodeid])

    def _noticed(self, change: Change, items: list[pytest.Item]) -> bool:
        child = os.fork()
        if not child:
            signal.signal(signal.SIGVTALRM, _give_up)
            likely = sum(self._cost[item.nodeid] for item in items)
            signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE + 2 * likely)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - for its life
            try:
                _put_in(change)
            except BaseException:  # noqa: BLE001 - it has to be tried afresh
                os._exit(0)
            try:
                noticed = any(not _passes(item) for item in items)
            except BaseException:  # noqa: BLE001 - whatever it breaks, it was noticed
                noticed = True
            os._exit(1 if noticed else 0)
        _, status = os.waitpid(child, 0)
        return status != 0


def _passes(item: pytest.Item) -> bool:
    from _pytest.runner import runtestprotocol

    # A test passes where its subtests fail: the session alone counts them.
    failed = item.session.testsfailed
    passed = all(report.passed for report in runtestprotocol(item, log=False, nextitem=None))
    return passed and item.session.testsfailed == failed


def _raise(*_: object) -> NoReturn:
    raise TimeoutError


def _give_up(*_: object) -> NoReturn:
    os._exit(1)


def _put_in(change: Change) -> None:
    """Let a module's functions be those of the changed one, wherever they are known."""
    module = sys.modules[change.module]
    names: dict[str, Any] = {k: v for k, v in vars(module).items() if k.startswith("__")}
    exec(compile(change.tree, str(module.__file__), "exec"), names)  # noqa: S102 - that is the point
    for name, new in names.items():
        old = vars(module).get(name)
        if name.startswith("__") or old is None:
            continue
        if isinstance(old, types.FunctionType):
            _swap(old, new)
        elif isinstance(old, type) and old.__module__ == change.module:
            _swap_class(old, new)
        elif hasattr(old, "__wrapped__") and hasattr(old, "cache_clear"):
            _swap(old.__wrapped__, new.__wrapped__)
        elif isinstance(old, _PLAIN) and old != new:
            _everywhere(name, old, new)
    for known in [m for n, m in sys.modules.items() if n.startswith("memsim")]:
        for held in list(vars(known).values()):
            if hasattr(held, "cache_clear") and getattr(held, "__module__", "") == change.module:
                held.cache_clear()


def _swap(old: types.FunctionType, new: types.FunctionType) -> None:
    # What a dataclass makes for itself speaks of the classes beside it.
    made = new.__code__.co_filename == "<string>"
    if not made and len(old.__code__.co_freevars) == len(new.__code__.co_freevars):
        old.__code__ = new.__code__
        if all(isinstance(value, _PLAIN | None) for value in new.__defaults__ or ()):
            old.__defaults__ = new.__defaults__
        given = new.__kwdefaults__ or {}
        if all(isinstance(value, _PLAIN | None) for value in given.values()):
            old.__kwdefaults__ = new.__kwdefaults__


def _swap_class(old: type, new: type) -> None:
    for name, held in list(vars(new).items()):
        made, mine = held, vars(old).get(name)
        for kind in ("__func__", "fget", "func"):
            made, mine = getattr(made, kind, made), getattr(mine, kind, mine)
        if isinstance(made, types.FunctionType) and isinstance(mine, types.FunctionType):
            _swap(mine, made)


def _everywhere(name: str, old: object, new: object) -> None:
    for known in [m for n, m in sys.modules.items() if n.startswith(("memsim", "tests"))]:
        if vars(known).get(name) is old:
            setattr(known, name, new)


def _noticed_afresh(change: Change, target: Target, items: list[pytest.Item]) -> bool:
    """Whether the tests notice a change that is there when everything is imported."""
    folder = ROOT / ".mutation"
    folder.mkdir(exist_ok=True)
    code = folder / "change.py"
    code.write_text(ast.unparse(change.tree), encoding="utf-8")
    chosen = [item.nodeid for item in items]
    (folder / "tests.txt").write_text("\n".join(chosen), encoding="utf-8")
    command = [sys.executable, __file__, *target.tests, "--afresh", change.module, str(code)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, check=False, capture_output=True, timeout=100 * PATIENCE
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def _afresh(tests: list[str], module: str, file: Path) -> int:
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec, PathFinder

    class Changed(Loader):
        def exec_module(self, made: types.ModuleType) -> None:
            exec(compile(file.read_text("utf-8"), str(file), "exec"), vars(made))  # noqa: S102

    class Finder(MetaPathFinder):
        def find_spec(self, name: str, path: Any = None, _: Any = None) -> ModuleSpec | None:  # noqa: ANN401
            if name != module:
                return None
            spec = PathFinder.find_spec(name, path)
            assert spec is not None
            spec.loader = Changed()
            return spec

    class Fast:
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            items[:] = [item for item in items if item.nodeid in known]

    sys.meta_path.insert(0, Finder())
    known = set(file.with_name("tests.txt").read_text("utf-8").splitlines())
    return int(pytest.main(["-x", *_OPTIONS, *tests], plugins=[Fast()]))


_OPTIONS = ("-q", "-s", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist")


def main() -> int:
    """Try the changes of one or several targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--keep", type=int, default=1)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--afresh", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["CI"] = "true"
    sys.path.insert(0, str(ROOT))
    if asked.afresh:
        return _afresh(asked.names, asked.afresh[0], Path(asked.afresh[1]))
    for name in asked.names:
        trial = Trial(TARGETS[name], asked.keep, asked.of)
        pytest.main([*_OPTIONS, *TARGETS[name].tests], plugins=[trial])
        killed = trial.tried - len(trial.survivors)
        share = killed / trial.tried if trial.tried else 0.0
        print(f"{name}: {killed} of {trial.tried} changes are noticed ({share:.1%})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
