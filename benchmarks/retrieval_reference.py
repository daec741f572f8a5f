"""Do our rankers find the evidence in LoCoMo as often as the reference rows say they should?

The rows are for the same five conversations. The path is LoCoMo's file or folder, by default
`locomo` below MEMSIM_DATA, or below `../shared/data` where that is there; without data nothing is
measured. A plain row that is off by more than 0.01 anywhere makes it end with 1; the rows without a
reference are for comparison. Recall is the share of a question's evidence turns among the first k
turns of its own conversation; questions without valid evidence are left out.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memsim.errors import MemsimError
from memsim.language.text import plain_terms
from memsim.memory.index import Hit, Ranker
from memsim.memory.index.bm25 import Bm25
from memsim.memory.index.vector_index import VectorIndex
from memsim.memory.recall.ranking import reciprocal_ranks, weighted_scores, with_neighbours
from memsim.models import Embedder
from memsim.models.registry import load_embedder
from memsim.scenario.datasets.locomo import load_locomo
from memsim.scenario.script import Scenario, Turn

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = 0.01
DEPTHS = (5, 10, 25, 50)
COLUMNS = ("R@5", "R@10", "R@25", "R@50", "MRR", "nDCG@10")

# Measured elsewhere on the same questions, with plain and untuned rankers.
REFERENCE = {
    "BM25, lower": (0.4601, 0.5409, 0.6357, 0.6978, 0.3704, 0.3922),
    "BM25, stop + stem": (0.5568, 0.6346, 0.7262, 0.7728, 0.4731, 0.4919),
    "wordllama": (0.3159, 0.3939, 0.5174, 0.6124, 0.2743, 0.2835),
    "fusion of stem and wordllama": (0.4295, 0.5276, 0.6681, 0.7664, 0.3693, 0.3839),
}

Search = Callable[[str], list[Hit]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Texts by turn id, in order, and questions with the ids of their evidence."""

    texts: dict[str, str]
    questions: tuple[tuple[str, frozenset[str]], ...]

    def filled(self, ranker: Ranker) -> Ranker:
        """The ranker, with every turn in it."""
        for source, text in self.texts.items():
            ranker.add(source, text)
        return ranker


def main(path: Path) -> int:
    """Print the rows; 1 when a plain one is off."""
    conversations = [conversation(scenario) for scenario in load_locomo(path)]
    embedder = load_embedder("wordllama")
    rows = {name: measured(conversations, make) for name, make in rankers(embedder).items()}
    asked = sum(len(c.questions) for c in conversations)
    print(f"LoCoMo, {len(conversations)} conversations, {asked} questions with evidence\n")
    print(f"{'':30}" + "".join(f"{column:>16}" for column in COLUMNS))
    off = []
    for name, row in rows.items():
        reference = REFERENCE.get(name)
        print(f"{name:30}" + "".join(cells(row, reference)))
        if reference and max(abs(a - b) for a, b in zip(row, reference, strict=True)) > ALLOWED:
            off.append(name)
    print(
        "\n" + (f"off by more than {ALLOWED}: {', '.join(off)}" if off else "all plain rows agree")
    )
    return 1 if off else 0


def cells(row: tuple[float, ...], reference: tuple[float, ...] | None) -> Iterator[str]:
    """Each figure, with its difference from the reference where there is one."""
    for place, value in enumerate(row):
        difference = f" ({value - reference[place]:+.4f})" if reference else ""
        yield f"{value:.4f}{difference}".rjust(16)


def conversation(scenario: Scenario) -> Conversation:
    """The parts of a scenario that rankers are measured on."""
    messages = [m for e in scenario.events(0) if isinstance(e, Turn) for m in e.heard]
    texts = {m.id: f"{m.principal}: {m.text}" for m in messages}
    questions = tuple(
        (probe.ask, frozenset(probe.evidence))
        for probe in scenario.probes
        if probe.evidence and not probe.excluded
    )
    return Conversation(texts, questions)


def rankers(embedder: Embedder) -> dict[str, Callable[[Conversation], Search]]:
    """What is measured: each makes a search over one conversation."""

    def single(make: Callable[[], Ranker]) -> Callable[[Conversation], Search]:
        return lambda talk: talk.filled(make()).ranking

    def both(talk: Conversation) -> tuple[Ranker, Ranker, Callable[[str], int]]:
        order = {source: place for place, source in enumerate(talk.texts)}
        return talk.filled(Bm25()), talk.filled(VectorIndex(lambda: embedder)), order.__getitem__

    def fused(talk: Conversation) -> Search:
        words, meaning, order = both(talk)
        return lambda q: reciprocal_ranks([words.ranking(q), meaning.ranking(q)], order)

    def mixed(talk: Conversation) -> Search:
        words, meaning, order = both(talk)
        return lambda q: weighted_scores(
            [words.ranking(q), meaning.ranking(q)], order, scaling="zscore"
        )

    def beside(talk: Conversation) -> Search:
        words, _, order = both(talk)
        ids = list(talk.texts)

        def neighbours(source: str) -> list[str]:
            place = order(source)
            return [ids[p] for p in (place - 1, place + 1) if 0 <= p < len(ids)]

        return lambda q: with_neighbours(words.ranking(q), neighbours, order)

    return {
        "BM25, lower": single(lambda: Bm25(plain_terms)),
        "BM25, stop + stem": single(Bm25),
        "wordllama": single(lambda: VectorIndex(lambda: embedder)),
        "fusion of stem and wordllama": fused,
        "z-scores of stem and wordllama": mixed,
        "BM25 stem with neighbours": beside,
    }


def measured(
    conversations: list[Conversation], make: Callable[[Conversation], Search]
) -> tuple[float, ...]:
    """The mean over all questions of each of `COLUMNS`."""
    rows = []
    for talk in conversations:
        search = make(talk)
        for question, gold in talk.questions:
            ranks = [r for r, hit in enumerate(search(question), 1) if hit.id in gold]
            rows.append(scored(ranks, len(gold)))
    return tuple(math.fsum(column) / len(rows) for column in zip(*rows, strict=True))


def scored(ranks: list[int], gold: int) -> tuple[float, ...]:
    """One question's figures, from the ranks of its evidence, ascending."""
    recall = [sum(r <= depth for r in ranks) / gold for depth in DEPTHS]
    gain = math.fsum(1 / math.log2(r + 1) for r in ranks if r <= 10)
    ideal = math.fsum(1 / math.log2(r + 1) for r in range(1, min(gold, 10) + 1))
    return (*recall, 1 / ranks[0], gain / ideal)


def given() -> Path | None:
    """Where LoCoMo is: as said, or below MEMSIM_DATA; None when it is nowhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true", help="changes nothing: it is quick")
    said: Path | None = parser.parse_args().path
    usual = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data") / "locomo"
    return said or (usual if usual.exists() else None)


if __name__ == "__main__":
    path = given()
    if path is None:
        print("not measured: LoCoMo is not here; set MEMSIM_DATA or name its file")
        sys.exit(0)
    try:
        sys.exit(main(path))
    except MemsimError as error:
        sys.exit(str(error))
