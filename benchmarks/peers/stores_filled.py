"""Fills one system with turns and asks it: `stores_filled.py sqlite 10000`; tells it as JSON."""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchmarks.growth_parts import talk
from memsim.models.embedders import WordLlamaEmbedder

if TYPE_CHECKING:
    from stores_ours import Ours

    from memsim.models import Embedder

OURS = ("memory", "sqlite", "markdown", "chroma", "postgres", "redis")
PACKAGES = {
    "numpy": "numpy",
    "langgraph": "langgraph",
    "llama-index": "llama-index-core",
    "mem0 qdrant": "mem0ai",
    "mem0 faiss": "mem0ai",
}
ONE_BY_ONE = 10_000
"""Turns that are added one by one, all of them; of more, the last `LATEST` are."""

LATEST = 1_000
BLOCK = 100
TOGETHER = 1_000
FOUND = 5
ROUNDS = 2
GROUPS = (1, 10, 100, 1_000)

COLOURS = (
    "red",
    "blue",
    "green",
    "yellow",
    "black",
    "white",
    "silver",
    "orange",
    "purple",
    "striped",
)
THINGS = (
    "kettle",
    "ladder",
    "passport",
    "violin",
    "umbrella",
    "hammer",
    "telescope",
    "blanket",
    "saddle",
    "compass",
)
PLACES = (
    "attic",
    "garage",
    "cellar",
    "wardrobe",
    "drawer",
    "greenhouse",
    "suitcase",
    "cupboard",
    "basement",
    "locker",
)


class System(Protocol):
    """What is filled and asked; some also tell what they keep outside of the process, and erase."""

    def add(self, text: str) -> None: ...
    def fill(self, texts: Sequence[str]) -> None: ...
    def search(self, text: str, k: int) -> list[str]: ...
    def close(self) -> None: ...


def turns(count: int) -> list[str]:
    """So many generated turns, each what was said and answered; some hold what is asked for."""
    said = [m.text for m in talk(count)]
    texts = [f"{said[n]} {said[n + 1]}" for n in range(0, len(said) - 1, 2)]
    for number, (_, answer) in enumerate(planted()):
        texts[(2 * number + 1) * len(texts) // 200] = answer
    return texts


def planted() -> list[tuple[str, str]]:
    """Questions, each with the turn that answers it."""
    pairs = enumerate(itertools.product(COLOURS, THINGS))
    return [
        (
            f"Where do I keep the {colour} {thing}?",
            f"I keep the {colour} {thing} in the {PLACES[(n * 7 + n // 10) % 10]}. All right.",
        )
        for n, (colour, thing) in pairs
    ]


def opened(name: str, folder: Path, embedder: Embedder) -> System:
    """A system by name, empty."""
    if name in OURS:
        from stores_ours import Ours

        return Ours(name, folder, embedder)
    import stores_rivals as rivals

    if name.startswith("mem0"):
        return rivals.Mem0(folder, embedder, name.split()[1])
    kinds: dict[str, Callable[[Path, Embedder], System]] = {
        "numpy": rivals.Numpy,
        "langgraph": rivals.Langgraph,
        "llama-index": rivals.LlamaIndex,
    }
    return kinds[name](folder, embedder)


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not tell."""
    gc.collect()
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if told.exists() else 0


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of wall time and of processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - processor) * 1e3


def added(system: System, texts: Sequence[str], latest: int) -> dict[str, float]:
    """Milliseconds for a turn that is added alone: at the mean, and in the best late block.

    What else a machine does can only make a block slower, and comes and goes within seconds.
    """
    filled = len(texts) - latest
    together, _ = timed(
        lambda: [
            system.fill(texts[start : min(start + TOGETHER, filled)])
            for start in range(0, filled, TOGETHER)
        ]
    )
    blocks: list[tuple[int, float, float]] = []
    for start in range(filled, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        wall, processor = timed(lambda block=block: [system.add(text) for text in block])  # type: ignore[misc]
        blocks.append((len(block), wall, processor))
    late = blocks[-10:]
    return {
        "fill": together / filled if filled else 0.0,
        "add": sum(wall for _, wall, _ in blocks) / latest,
        "add_cpu": sum(cpu for *_, cpu in blocks) / latest,
        "add_last": min(wall / size for size, wall, _ in late),
        "add_last_cpu": min(cpu / size for size, _, cpu in late),
    }


def asked(system: System, seconds: float) -> dict[str, float]:
    """Milliseconds for a question, and the share that found its answer."""
    found, wall, processor = [], [], []
    end = time.perf_counter() + seconds
    for question, answer in _questions():
        began = time.perf_counter(), time.process_time()
        texts = system.search(question, FOUND)
        wall.append((time.perf_counter() - began[0]) * 1e3)
        processor.append((time.process_time() - began[1]) * 1e3)
        found.append(answer in texts)
        if time.perf_counter() > end:
            break
    return {
        "searches": len(found),
        "search": statistics.median(wall),
        "search_p95": sorted(wall)[int(0.95 * (len(wall) - 1))],
        "search_cpu": statistics.median(processor),
        "hits": sum(found) / len(found),
    }


def _questions() -> Iterator[tuple[str, str]]:
    pairs = planted()
    # Spread over the history, so that those asked first stand anywhere in it.
    for _ in range(ROUNDS):
        for number in range(len(pairs)):
            yield pairs[number * 37 % len(pairs)]


def erased(system: Ours, count: int) -> dict[str, float]:
    """Milliseconds to take out one turn, and a hundred in one call."""
    one, _ = timed(lambda: system.erase(count // 2, 1))
    hundred, _ = timed(lambda: system.erase(count // 3, 100))
    return {"erase": one, "erase_100": hundred}


def filled(
    name: str, count: int, seconds: float, latest: int, place: Path | None
) -> dict[str, Any]:
    """All figures of one system at one size."""
    texts = turns(count)
    with tempfile.TemporaryDirectory(prefix="memsim-bench-", dir=place) as folder:
        embedder = WordLlamaEmbedder()
        # What it reads from its table is not the system's. But no text that is to be added: its
        # tokenizer remembers thousands whole, which makes a small history look cheap.
        for text in texts:
            embedder.embed([f"{text} So."])
        system = opened(name, Path(folder), embedder)
        system.add("Is this on? It is.")
        system.search("Is this on?", FOUND)
        before = resident()
        figures: dict[str, Any] = added(system, texts, min(latest, count))
        system.search("Is this on?", FOUND)
        figures |= asked(system, seconds)
        figures["memory"] = resident() - before if before else 0
        figures["kept"] = system.kept() if hasattr(system, "kept") else 0
        figures["exact"] = getattr(system, "exact", True)
        if name in OURS:
            figures |= erased(cast("Ours", system), count)
        system.close()
    figures["version"] = version(PACKAGES[name]) if name in PACKAGES else ""
    return figures


def grouped(name: str, count: int, place: Path | None) -> dict[str, Any]:
    """Milliseconds to write, and to erase, turns by the group; vectors are made beforehand."""
    embedder = WordLlamaEmbedder()
    texts = turns(count + 4 * max(GROUPS))
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="memsim-bench-", dir=place) as folder:
        system = cast("Ours", opened(name, Path(folder), embedder))
        for start in range(0, count, TOGETHER):
            system.fill(texts[start : start + TOGETHER])
        start = count
        for size in GROUPS:
            ready = []
            for _ in range(max(1, min(100, max(GROUPS) // size))):
                group = texts[start : start + size]
                ready.append((system.entries(group), embedder.embed(group)))
                start += size
            wall, processor = timed(lambda ready=ready: [system.store.write(*r) for r in ready])  # type: ignore[misc]
            figures[f"write_{size}"] = wall / len(ready) / size
            figures[f"write_{size}_cpu"] = processor / len(ready) / size
        for number, size in enumerate(GROUPS):
            wall, processor = timed(
                lambda number=number, size=size: system.erase(2_000 * number, size)  # type: ignore[misc]
            )
            figures[f"erase_{size}"], figures[f"erase_{size}_cpu"] = wall, processor
        figures["kept"] = system.kept()
        system.close()
    return figures


def main() -> None:
    """Measure one system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=[*OURS, *PACKAGES])
    parser.add_argument("turns", type=int)
    parser.add_argument("--seconds", type=float, default=30.0, help="for all searches")
    parser.add_argument("--latest", type=int, default=0, help="turns that are added one by one")
    parser.add_argument("--folder", type=Path, help="where files are kept meanwhile")
    parser.add_argument("--groups", action="store_true", help="write and erase by the group")
    given = parser.parse_args()
    alone = given.turns if given.turns <= ONE_BY_ONE else LATEST
    latest = given.latest or alone
    if given.groups:
        figures = grouped(given.system, given.turns, given.folder)
    else:
        figures = filled(given.system, given.turns, given.seconds, latest, given.folder)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
