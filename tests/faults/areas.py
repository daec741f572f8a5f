"""Everything of memsim that keeps something in a folder, as areas that faults are tried on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memsim.config import Settings
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ExitCode
from memsim.gate.baseline_file import read_baseline, write_baseline
from memsim.gate.score_sheet import ScoreSheet
from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.entry import Entry
from memsim.memory.layers.pages import Workspace
from memsim.memory.permissions import Where
from memsim.memory.stores import Store
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import EPOCH, said
from memsim.runs import list_runs, load_run, open_run
from memsim.runs.run_folder import prepare_reports
from memsim.suite.case_plan import CasePlan
from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec
from memsim.suite.scenarios import ScenarioRef
from tests.doubles.exploration import Area

EVERYTHING = Where(reader=None, archived=None)
DIMENSION = 4


def leftovers(*endings: str) -> Callable[[Path], Sequence[str]]:
    """Tells the files that a writer began and nobody will read."""

    def found(folder: Path) -> list[str]:
        names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
        return [n for n in names if any(end in n for end in endings)]

    return found


def workspaces() -> Area[Workspace]:
    """Pages of an agent."""
    return Area(
        open=lambda folder: Workspace(folder / "pages"),
        operations={
            "write": lambda w: w.write("USER.md", "Likes green."),
            "note": lambda w: w.note("She came at nine.", EPOCH),
            "remember": lambda w: w.remember("Likes tea.", EPOCH),
        },
        again=False,  # a line that was told to have failed may stand there
        look=lambda folder: {p.name: p.text for p in Workspace(folder / "pages").pages()},
    )


def entry(n: int, text: str = "") -> Entry:
    """An entry; the same number is the same key."""
    return Entry(
        key=f"k{n}",
        text=text or f"falcon {n}",
        owner="ann",
        created=EPOCH + timedelta(minutes=n),
    )


def vectors(count: int) -> Any:  # noqa: ANN401 - as numpy has it
    """So many unit vectors."""
    return np.eye(DIMENSION, dtype=np.float32)[np.arange(count) % DIMENSION]


def stores(make: Callable[[Path], Store], *endings: str) -> Area[Store]:
    """A store of entries."""
    from memsim.memory.stores import EmbedderInfo

    def look(folder: Path) -> object:
        store = make(folder)
        try:
            found = store.find(EVERYTHING)
            words = [h.id for h in store.lexical("falcon", EVERYTHING, 9)]
            return [(e.id, e.text) for e in found], sorted(words), store.count(EVERYTHING)
        finally:
            store.close()

    def embedded(store: Store) -> None:
        made = [replace(entry(n, f"falcon vector {n}")) for n in (1, 2)]
        store.embedded_by(EmbedderInfo("hash", DIMENSION))
        store.write(made, vectors(2))

    return Area(
        open=make,
        operations={
            "one": lambda s: s.write([entry(1)]),
            "several": lambda s: s.write([entry(n, f"falcon again {n}") for n in (1, 2, 3)]),
            "erase": lambda s: s.erase([entry(1).id]),
            "embedded": embedded,
        },
        look=look,
        close=lambda s: s.close(),
        left=leftovers(*endings),
    )


def sqlite_store() -> Area[Store]:
    """Entries in a database."""
    return stores(lambda folder: SQLite(folder / "memory.db"), ".new-")


def markdown_store() -> Area[Store]:
    """Entries as files."""
    return stores(lambda folder: Markdown(folder / "memory"), ".new-", "journal.json")


def saved_memory(folder: Path, store: Store | None = None) -> SavedMemory:
    """The memory in a folder, small."""
    return open_memory(
        folder / "memory",
        now=lambda: EPOCH + timedelta(days=1),
        embedder="hash:dim=16",
        tokenizer="chars/4",
        options=MemoryOptions(window=1, episodes=False),
        wait=0.05,
        store=store,
    )


class Talk:
    """A memory, and how far the talk has come."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.memory = saved_memory(folder, store)
        self._heard = 0
        self._ended = 0

    def turn(self) -> None:
        """One more turn; the same one again where it did not end."""
        if self._heard == self._ended:
            at = EPOCH + timedelta(minutes=self._heard)
            text = f"My order number {self._heard} is A-{7 * self._heard}."
            self.memory.observe(said("user", text, id=f"m{self._heard}", principal="ana", time=at))
            self._heard += 1
        self.memory.end_turn()
        self._ended = self._heard

    def forget(self) -> None:
        """Forget the first thing that was said."""
        self.memory.forget("ana", ["m0"])

    def share(self) -> None:
        """Let another see it."""
        self.memory.share("ana", "bo", ["m0"])

    def unshare(self) -> None:
        """Take it back."""
        self.memory.unshare("ana", "bo", ["m0"])


def memories() -> Area[Talk]:
    """A whole memory: its entries, its state, its order and its audit trail."""

    def look(folder: Path) -> object:
        memory = saved_memory(folder)
        try:
            memory.end_turn()
            asked = [
                memory.context("Which order number?", principal=who, session="s1", budget=500)
                for who in ("ana", "bo")
            ]
            kept = memory.vault.store.find(EVERYTHING)
            return [c.text() for c in asked], [e.text for e in kept], memory.permissions.save()
        finally:
            memory.close()

    return Area(
        open=Talk,
        operations={
            "turn": Talk.turn,
            "forget": Talk.forget,
            "share": Talk.share,
            "unshare": Talk.unshare,
        },
        look=look,
        close=lambda talk: talk.memory.close(),
        left=leftovers(".tmp", ".new-"),
    )


EMPTY = ScoreSheet(name="run", place="", instruments={}, scenarios={}, strategies={}, columns={})


def baselines() -> Area[Path]:
    """What later runs are compared with."""

    def look(folder: Path) -> object:
        path = folder / "baselines" / "main.json"
        kept = read_baseline(path).created if path.exists() else None
        for beginning in folder.rglob("*.tmp"):
            os.utime(beginning, (0, 0))  # long ago
        write_baseline(path, replace(EMPTY, created=kept or ""))  # whoever writes next sweeps
        if kept is None:
            path.unlink()
        return kept

    def save(created: str) -> Callable[[Path], None]:
        return lambda path: write_baseline(path, replace(EMPTY, created=created))

    return Area(
        open=lambda folder: folder / "baselines" / "main.json",
        operations={"one": save("2026-01-05"), "two": save("2026-01-06" * 900)},
        look=look,
        left=leftovers(".tmp"),
    )


CASES = 4


def plan() -> CasePlan:
    """A few cases."""
    made = tuple(
        CaseSpec(
            scenario=ScenarioRef(source="s", name=str(n)),
            strategy=StrategyRef(name="b"),
            budget=4096,
        )
        for n in range(CASES)
    )
    return CasePlan(cases=made, settings=Settings(), fingerprints=("p",) * CASES, fingerprint="f")


def outcome(spec: CaseSpec) -> CaseOutcome:
    """What came of a case: more turns the later it is."""
    number = int(spec.scenario.name)
    lines = b"".join(b'{"turn":%d}\n' % n for n in range(number))
    return CaseOutcome(
        result=CaseResult(
            id=spec.id, scenario=spec.scenario.name, strategy="b", budget=4096, seconds=5.0
        ),
        turn_lines=lines,
        probe_lines=b'{"probe":"p","case":"%d"}\n' % number,
    )


class Running:
    """A run in the making, until it is finished."""

    def __init__(self, folder: Path) -> None:
        self.writer = open_run(plan(), folder)
        self._over = False

    def keep(self, which: int) -> None:
        """Keep one of the cases that are lacking."""
        if self.writer.lacking and not self._over:
            place = self.writer.lacking[which]
            self.writer.keep(place, outcome(plan().cases[place]))

    def finish(self) -> None:
        """Say that it is over."""
        if not self._over:
            self.writer.finish(ExitCode.PASSED, "passed")
        self._over = True


def runs() -> Area[Running]:
    """A run in the making."""

    def look(folder: Path) -> object:
        for beginning in (folder / "runs").glob(".new-*"):
            os.utime(beginning, (0, 0))  # long ago
        if (folder / "runs").exists():
            prepare_reports(folder)
        if not list_runs(folder):
            return [], (*range(CASES),), False
        kept = [(c.id, c.state) for c in load_run("latest", folder).cases]
        finished = load_run("latest", folder).finished
        if finished:
            return kept, (), finished
        with open_run(plan(), folder) as writer:
            return kept, writer.lacking, finished

    return Area(
        open=Running,
        operations={
            "next": lambda running: running.keep(0),
            "last": lambda running: running.keep(-1),
            "finish": Running.finish,
        },
        look=look,
        close=lambda running: running.writer.close(),
        left=leftovers(".new-"),
        again=False,
        synced=False,
    )


AREAS: Mapping[str, Callable[[], Area[Any]]] = {
    "workspace": workspaces,
    "sqlite": sqlite_store,
    "markdown": markdown_store,
    "memory": memories,
    "baseline": baselines,
    "run": runs,
}
