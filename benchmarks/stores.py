"""What it costs to add a turn to each store and to search it, beside other memories for agents.

Every system gets the same generated turns, one by one, and the same embedder (WordLlama, 256
numbers), in a process of its own with one thread for linear algebra, and is asked the same hundred
questions, whose answers were planted among the turns. memsim's stores search by words and by
vectors and fuse both; the others search by vectors. Times hold embedding. Of 100,000 turns the last
1,000 are added one by one, and of 10,000 PostgreSQL's last 1,000, llama-index's last 500 and
faiss's last 100; those before them come by the thousand.

Files are kept in memory where the system has a place for that, so that what a busy disk takes to
sync does not count: mem0 waits for it twice at every turn, and memsim's SQLite store does not.
Adding to a disk is measured apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "benchmarks" / "peers" / "stores_filled.py"
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory

STORES = ("memory", "sqlite", "markdown", "chroma", "postgres", "redis")
SERVERS = ("postgres", "redis")
RIVALS = ("langgraph", "llama-index", "mem0 faiss", "mem0 qdrant")
SIZES = (1_000, 10_000, 100_000)
MOST = {"markdown": 10_000, **dict.fromkeys(RIVALS, 10_000)}
"""Turns that a system is given at most: beyond, the others take many minutes."""

LATEST = {
    ("postgres", 10_000): 1_000,
    ("llama-index", 10_000): 500,
    ("mem0 faiss", 10_000): 100,
}
"""Turns that are added one by one where all of them would take long: faiss writes its whole file,
and llama-index its whole list of nodes, at each."""

UNFIT = ("mem0 faiss",)
"""What takes so long to add to 10,000 turns that nobody would let it come to that; its search is
told of apart."""

FASTER_ADD, FASTER_SEARCH, FLAT = 10.0, 5.0, 1.3
"""What is claimed: how many times as fast as mem0, and as the fastest other search; how many times
dearer adding may become from the smallest size to the largest."""

KEEPS = 0.95
"""The share of numpy's answers that a search has to find in order to count."""

DISK_TURNS = 10_000
DISK_SYSTEMS = ("sqlite", "mem0 qdrant")
PATIENCE = 3_600.0
"""Seconds that one system may take at one size."""

MEGA = 1e6

Figures = dict[str, Any]
Found = dict[tuple[str, int], Figures]


class Bench:
    """Runs systems, each in a process of its own.

    Args:
        peers: a Python that has the other tools; None where there is none.
        seconds: for all searches of one system.
    """

    def __init__(self, peers: Path | None, seconds: float) -> None:
        self._peers, self._seconds = peers, seconds
        self._urls: dict[str, str] = {}

    def run(self, name: str, turns: int, *more: str, disk: bool = False) -> Figures | None:
        """The figures of one system; None where it failed, which is said."""
        other = name in RIVALS
        python = str(self._peers) if other else sys.executable
        latest = LATEST.get((name, turns), 0)
        options = [f"--latest={latest}", f"--seconds={self._seconds}"]
        if not disk and IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK):
            options.append(f"--folder={IN_MEMORY}")
        options += more
        try:
            done = subprocess.run(
                [python, str(WORKER), name, str(turns), *options],
                env={**os.environ, **self._environ()},
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            print(f"{name} LEFT OUT at {turns:,}: not done in {PATIENCE:g} s", flush=True)
            return None
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            print(f"{name} FAILED at {turns:,}: {lines[-1] if lines else done.returncode}")
            return None
        figures: Figures = json.loads(done.stdout.splitlines()[-1])
        return figures

    def served(self, urls: dict[str, str]) -> None:
        """Where servers are, by the variable that says so."""
        self._urls = urls

    def _environ(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        return {"PYTHONPATH": path, **threads, **self._urls}


@contextmanager
def servers(wanted: list[str]) -> Iterator[dict[str, str]]:
    """The addresses of servers: those that the environment names, else servers of one's own."""
    sys.path.insert(0, str(ROOT))
    started, urls = [], {}
    try:
        for name in wanted:
            variable = f"MEMSIM_{name.upper()}_URL"
            if os.environ.get(variable):
                continue
            try:
                from tests.memory.stores import servers as kept

                own = kept.start_redis() if name == "redis" else kept.start_postgres()
            except (ImportError, OSError, RuntimeError, subprocess.CalledProcessError) as error:
                print(f"{name} LEFT OUT: set {variable}, or install the dev requirements ({error})")
                continue
            started.append(own)
            urls[variable] = own.url
        yield urls
    finally:
        for server in started:
            server.stop()


HEADS = ("turns", "add", "cpu", "late", "search", "p95", "cpu", "found", "RSS", "kept", "erase")
UNITS = ("", "ms", "ms", "ms", "p50 ms", "ms", "ms", "%", "MB", "MB", "1 / 100, ms")


def header() -> None:
    """Print what the columns are."""
    for names in (HEADS, UNITS):
        print(
            f"{'':<13}", *(f"{n:>12}" if n.startswith(("er", "1 /")) else f"{n:>8}" for n in names)
        )


def row(name: str, turns: int, f: Figures) -> None:
    """Print one system at one size."""
    erase = f"{f['erase']:.1f} / {f['erase_100']:.1f}" if "erase" in f else "-"
    cells = [f"{f[k]:>8.3f}" for k in ("add", "add_cpu", "add_last")]
    cells += [f"{f[k]:>8.2f}" for k in ("search", "search_p95", "search_cpu")]
    cells.append(f"{100 * f['hits']:>8.0f}")
    cells += [f"{f[k] / MEGA:>8.1f}" if f[k] else f"{'-':>8}" for k in ("memory", "kept")]
    print(f"{name:<13} {turns:>8,}", *cells, f"{erase:>12}", flush=True)


def measured(bench: Bench, names: list[str], sizes: list[int]) -> Found:
    """Every system at every size that it can take."""
    found: Found = {}
    header()
    for turns in sizes:
        for name in names:
            if turns > MOST.get(name, turns):
                continue
            figures = bench.run(name, turns)
            if figures is not None:
                found[name, turns] = figures
                row(name, turns, figures)
    return found


def ratios(found: Found, turns: int) -> None:
    """How many times as fast as each other tool memsim's stores are, at one size."""
    others = [n for n in ("numpy", *RIVALS) if (n, turns) in found]
    ours = [n for n in STORES if (n, turns) in found]
    if not others or not ours:
        return
    print(f"\nAt {turns:,}: times as fast at adding / at searching as")
    print(f"{'':<13}", *(f"{o:>16}" for o in others))
    for name in ours:
        cells = (" / ".join(_times(found, turns, name, other)) for other in others)
        print(f"{name:<13}", *(f"{cell:>16}" for cell in cells))


def _times(found: Found, turns: int, name: str, other: str) -> list[str]:
    ours, theirs = found[name, turns], found[other, turns]
    return [f"{theirs[key] / ours[key]:.2f}" for key in ("add", "search")]


def groups(bench: Bench, turns: int) -> None:
    """Print what the default store costs by the group."""
    f = bench.run("sqlite", turns, "--groups")
    if f is None:
        return
    sizes = [key.removeprefix("erase_") for key in f if key.startswith("erase_")]
    sizes = [size for size in sizes if size.isdecimal()]
    print(f"\nSQLite with {turns:,} turns, {f['kept'] / MEGA:.0f} MB, by the group (cpu)")
    print(f"{'turns at once':<24}", *(f"{size:>16}" for size in sizes))
    for key, title in (("write", "write, ms for each"), ("erase", "erase, ms for all")):
        cells = (f"{f[f'{key}_{s}']:.3g} ({f[f'{key}_{s}_cpu']:.3g})" for s in sizes)
        print(f"{title:<24}", *(f"{cell:>16}" for cell in cells), flush=True)


def say(text: str, *, kept: bool | None) -> bool:
    """Print a claim with how it went; whether it was not missed."""
    how = "not measured" if kept is None else "kept" if kept else "MISSED"
    print(f"  {how:<13} {text}")
    return kept is not False


def claims(found: Found, disk: Found, sizes: list[int]) -> bool:
    """Print each claim; whether none was missed."""
    turns = 10_000
    print("\nClaims")
    held = [_adding(found, disk, turns), _searching(found, turns), *_growth(found, sizes)]
    return all(held)


def _adding(found: Found, disk: Found, turns: int) -> bool:
    title = f"sqlite adds {turns:,} turns to a disk at least {FASTER_ADD:g} times as fast as mem0"
    ours, theirs = disk.get(("sqlite", turns)), disk.get(("mem0 qdrant", turns))
    if ours is None or theirs is None:
        return say(title, kept=None)
    times = theirs["add"] / ours["add"]
    more = [f"by the thousand {theirs['add'] / ours['fill']:.1f}"] if ours["fill"] else []
    if ("sqlite", turns) in found and ("mem0 qdrant", turns) in found:
        without = found["mem0 qdrant", turns]["add"] / found["sqlite", turns]["add"]
        more.append(f"where nothing waits for a disk {without:.1f}")
    return say(f"{title}: {times:.1f} ({', '.join(more)})", kept=times >= FASTER_ADD)


def _searching(found: Found, turns: int) -> bool:
    title = f"sqlite's hybrid search of {turns:,} at least {FASTER_SEARCH:g} times as fast as"
    exact, ours = found.get(("numpy", turns)), found.get(("sqlite", turns))
    keeping = {
        n: found[n, turns]["search"]
        for n in RIVALS
        if exact and (n, turns) in found and found[n, turns]["hits"] >= KEEPS * exact["hits"]
    }
    if not keeping or ours is None:
        return say(f"{title} the fastest other that finds as much", kept=None)
    usable = [n for n in keeping if n not in UNFIT]
    held = []
    for best in dict.fromkeys(
        min(some, key=keeping.__getitem__) for some in (usable, [*keeping]) if some
    ):
        add = found[best, turns]["add"]
        times = keeping[best] / ours["search"]
        busy = found[best, turns]["search_cpu"] / ours["search_cpu"]
        text = f"{title} {best}'s, which adds in {add:.1f} ms: {times:.1f}"
        text = f"{text} (processor time: {busy:.1f})"
        held.append(say(text, kept=times >= FASTER_SEARCH))
    return all(held)


def _growth(found: Found, sizes: list[int]) -> Iterator[bool]:
    for name in STORES:
        here = [turns for turns in sizes if (name, turns) in found]
        if len(here) < 2:
            continue
        small, before, large = here[0], here[-2], here[-1]
        key = "add_last" if name in SERVERS else "add_last_cpu"
        grown = found[name, large][key] / found[name, small][key]
        text = (
            f"{name}: adding to {large:,} costs at most {FLAT:g} times what it costs at {small:,}"
        )
        yield say(f"{text}: {grown:.2f}", kept=grown <= FLAT)
        key = "search" if name in SERVERS else "search_cpu"
        grown = found[name, large][key] / found[name, before][key]
        text = f"{name}: searching {large:,} costs less than {large // before} times {before:,}"
        yield say(f"{text}: {grown:.2f}", kept=grown < large / before)


def on_disk(bench: Bench, names: list[str]) -> Found:
    """Measure those whose files a disk keeps; sqlite by the thousand as well."""
    print(f"\nOn the disk of {tempfile.gettempdir()}")
    header()
    found: Found = {}
    for name in names:
        figures = bench.run(name, DISK_TURNS, disk=True)
        if figures is not None:
            found[name, DISK_TURNS] = figures
            row(name, DISK_TURNS, figures)
    grouped = bench.run("sqlite", DISK_TURNS, "--latest=100", disk=True)
    if grouped is not None and ("sqlite", DISK_TURNS) in found:
        found["sqlite", DISK_TURNS]["fill"] = grouped["fill"]
        print(f"sqlite by the thousand: {grouped['fill']:.3f} ms for each turn")
    return found


def load() -> str:
    """How busy the machine is, where it tells."""
    return (
        ", ".join(f"{n:.1f}" for n in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    )


def chosen(*, quick: bool, peers: Path | None) -> list[str]:
    """The systems to measure; those left out are named."""
    names = ["numpy", "memory", "sqlite"] if quick else ["numpy", *STORES]
    if peers is None:
        print("mem0, llama-index and langgraph LEFT OUT: make peers, or --peers-python PATH")
        return names
    return [*names, "langgraph"] if quick else [*names, *RIVALS]


def main() -> int:
    """Measure and report; 1 when a claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="up to 10,000, few systems, no verdict"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[])
    parser.add_argument("--systems", nargs="+", default=[], help="only these")
    parser.add_argument("--peers-python", type=Path, default=ROOT / ".venv-peers/bin/python")
    parser.add_argument("--keep", type=Path, help="write all figures to this file, as JSON")
    given = parser.parse_args()
    peers = given.peers_python if given.peers_python.exists() else None
    sizes = given.sizes or list(SIZES[:2] if given.quick else SIZES)
    names = chosen(quick=given.quick, peers=peers)
    names = [n for n in names if not given.systems or n in given.systems]
    began, busy = time.monotonic(), load()
    bench = Bench(peers, 5.0 if given.quick else 30.0)
    with servers([n for n in names if n in SERVERS]) as urls:
        bench.served(urls)
        found = measured(bench, names, sizes)
    for turns in sizes:
        ratios(found, turns)
    disk = {} if given.quick else on_disk(bench, [n for n in DISK_SYSTEMS if n in names])
    if "sqlite" in names:
        for turns in sizes[1:]:
            groups(bench, turns)
    held = claims(found, disk, sizes)
    print(f"\n{time.monotonic() - began:.0f} s; load {busy} at first, {load()} at last")
    if given.keep:
        told = {f"{name} {turns}": f for (name, turns), f in found.items()}
        given.keep.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 0 if held or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
