"""Measure how the code is laid out, and how many of its files one call runs through.

    python benchmarks/house.py

Prints, as one table: lines and modules of `memsim/`, their sizes, modules named with "-ing", names
that several modules or public classes share, groups of modules that import each other (imports for
types and late imports counted), and the files that are executed by `memsim run -s layered`, by one
`Memory.context` and by one `Memory.forget`. A file counts as executed when one of its functions
ran; what only runs because a module is imported does not count.
"""

from __future__ import annotations

import ast
import contextlib
import io
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memsim.memory import SavedMemory, open_memory  # noqa: E402 - the root has to be on the path
from memsim.message import said  # noqa: E402
from tests.imports import edges, read_tree  # noqa: E402

OURS = (str(ROOT / "memsim") + "/", str(ROOT / "strategies") + "/")
SCENARIO = "support_desk"
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Executed:
    """The files of ours in which a function ran, and the steps from one file to another."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.hops = 0

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Count what runs in this block, in every thread."""
        threading.setprofile(self._call)
        sys.setprofile(self._call)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def _call(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        name = frame.f_code.co_filename
        if not name.startswith(OURS) or frame.f_code.co_qualname.split(".")[-1] == "__annotate__":
            return
        if _is_class_body(frame) or _is_importing(frame):
            return
        self.files.add(name)
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        if caller != name and caller.startswith(OURS):
            self.hops += 1


def _is_importing(frame: FrameType) -> bool:
    above = frame.f_back
    while above is not None:
        if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(OURS):
            return True
        above = above.f_back
    return False


def _is_class_body(frame: FrameType) -> bool:
    return "__module__" in frame.f_code.co_names and "__qualname__" in frame.f_code.co_names


def layout() -> Iterator[tuple[str, object]]:
    """Sizes and names of the package's modules."""
    paths = sorted((ROOT / "memsim").rglob("*.py"))
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in paths]
    yield "lines of memsim/", sum(sizes)
    yield "modules", len(paths)
    yield "module median / largest", f"{statistics.median(sizes):.0f} / {max(sizes)}"
    named = [path.stem for path in paths if path.stem not in {"__init__", "__main__"}]
    yield "modules named -ing", sum(stem.endswith("ing") for stem in named)
    yield "module names used twice or more", sum(n > 1 for n in Counter(named).values())
    yield "class names used twice or more", sum(n > 1 for n in Counter(_classes(paths)).values())
    yield "circles of modules", len(circles())
    strategies = [
        len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "strategies").glob("*.py")
    ]
    yield "longest strategy file", max(strategies)


def _classes(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def circles() -> list[list[str]]:
    """Groups of modules that import each other, however late."""
    modules = read_tree(ROOT / "memsim", "memsim")
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for module, _, target in edges(modules):
        if target.name != module.name:
            graph[module.name].add(target.name)
    return [sorted(group) for group in _components(graph) if len(group) > 1]


def _components(graph: dict[str, set[str]]) -> list[set[str]]:
    """Tarjan's strongly connected components, without recursion."""
    found: list[set[str]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for start, reached in graph.items():
        if start in number:
            continue
        number[start] = low[start] = len(number)
        stack.append(start)
        work = [(start, iter(sorted(reached)))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group: set[str] = set()
                    while node not in group:
                        group.add(stack.pop())
                    found.append(group)
    return found


def executed() -> Iterator[tuple[str, object]]:
    """Files that a run, a context and an erasure go through."""
    run = Executed()
    with tempfile.TemporaryDirectory() as folder, run.watch():
        _run(folder)
    yield "files of `memsim run -s layered`", len(run.files)
    with tempfile.TemporaryDirectory() as folder, _filled(folder) as memory:
        ask = {"principal": "ana", "session": "s3", "budget": 4096}
        context = _watched(lambda: memory.context("Where do I live?", **ask))
        forget = _watched(lambda: memory.forget("ana", ["m0-2"]))
    yield "files of one Memory.context", f"{len(context.files)} ({context.hops} hops between files)"
    yield "files of one Memory.forget", f"{len(forget.files)} ({forget.hops} hops between files)"
    if "--files" in sys.argv:
        for name, seen in (("run", run), ("context", context), ("forget", forget)):
            print(f"\n{name}:", *sorted(f.removeprefix(f"{ROOT}/") for f in seen.files), sep="\n  ")


def _watched(call: Callable[[], object]) -> Executed:
    seen = Executed()
    with seen.watch():
        call()
    return seen


def _run(folder: str) -> None:
    from memsim.cli.program import program

    arguments = ["run", SCENARIO, "-s", "layered", "-o", f"{folder}/run", "--progress", "none"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        program(arguments)


def _filled(folder: str) -> SavedMemory:
    """A memory of four conversations, with something to recall and something to erase."""
    memory = open_memory(folder, now=lambda: NOW + timedelta(days=4), embedder="hash")
    for day in range(4):
        for turn in range(8):
            told = "I live in Oslo." if day + turn == 2 else f"Task {turn} of day {day} is done."
            told_at = NOW + timedelta(days=day, minutes=turn)
            place = {"principal": "ana", "session": f"s{day}"}
            memory.observe(said("user", told, id=f"m{day}-{turn}", time=told_at, **place))
            memory.end_turn()
    return memory


def main() -> None:
    """Print the table."""
    rows = [*layout(), *executed()]
    for name, value in rows:
        print(f"{name:40} {value:>12}" if isinstance(value, int) else f"{name:40} {value}")


if __name__ == "__main__":
    main()
