"""Does a memory work as well in other languages as in English?

In each of 47 languages, a place is stated and changed, a number is stated, and 57 turns of other
talk in that language follow. Then both are asked for. Each row is a language. It gives the share of
the questions that a strategy answered, and in brackets the mean reciprocal rank of the evidence
where the strategy ranks.

`oracle` should answer everything and `no_memory` nothing. A strategy that answers everything in
English should do so in every language. The script ends with 1 where one does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsim.suite.single import run
from tests.language.sentences import SENTENCES, write_script
from tests.language.small_talk import SMALL_TALK

STRATEGIES = (
    "no_memory",
    "sliding_window",
    "rolling_summary",
    "bm25",
    "hybrid",
    "layered",
    "oracle",
)
QUICK = ("en", "ar", "de", "fi", "he", "hi", "hu", "ja", "ko", "ru", "ta", "th", "tr", "zh")
BUDGET = "1k"
TURNS = 57


@dataclass(frozen=True, slots=True)
class Cell:
    """A strategy in a language: `mrr` is None where it does not rank."""

    recall: float
    mrr: float | None

    def __str__(self) -> str:
        """The recall, and the reciprocal rank in brackets."""
        rank = "" if self.mrr is None else f" ({self.mrr:.2f})"
        return f"{self.recall:.2f}{rank}"


Table = dict[str, dict[str, Cell]]


def main() -> int:
    """Print the table; 1 where a language is worse off than English."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = {
            code: {strategy: measured(code, strategy, Path(folder)) for strategy in STRATEGIES}
            for code in (QUICK if given.quick else SENTENCES)
        }
    show(table)
    missed = list(problems(table))
    print("\n".join(missed) if missed else "every language is as good as English")
    return int(bool(missed))


def measured(code: str, strategy: str, folder: Path) -> Cell:
    """A strategy's recall and reciprocal rank in one language."""
    talk = SMALL_TALK[code].split("|")
    script = write_script(folder / f"{code}.yaml", SENTENCES[code], turns=TURNS, talk=talk)
    report = run(script, strategy, budget=BUDGET)
    if report.error:
        sys.exit(f"{report.id}: {report.error}")
    ranks = [p["scores"]["mrr"] for p in report.probes if p["scores"].get("mrr") is not None]
    return Cell(float(report.recall), sum(ranks) / len(ranks) if ranks else None)


def show(table: Table) -> None:
    """A row for each language, and the means."""
    print("".join(f"{name:>17}" for name in ("", *STRATEGIES)))
    for code, cells in table.items():
        print("".join(f"{text:>17}" for text in (code, *map(str, cells.values()))))
    means = [mean([cells[strategy] for cells in table.values()]) for strategy in STRATEGIES]
    print("".join(f"{text:>17}" for text in ("mean", *map(str, means))))


def mean(cells: Sequence[Cell]) -> Cell:
    """Their means."""
    ranks = [cell.mrr for cell in cells if cell.mrr is not None]
    recall = sum(cell.recall for cell in cells) / len(cells)
    return Cell(recall, sum(ranks) / len(ranks) if ranks else None)


def problems(table: Table) -> Iterator[str]:
    """Where a strategy does worse in a language than in English."""
    for code, cells in table.items():
        for strategy, cell in cells.items():
            english = 1.0 if strategy == "oracle" else table["en"][strategy].recall
            wanted = 0.0 if strategy == "no_memory" else english
            worse = cell.recall != wanted if strategy == "no_memory" else cell.recall < wanted
            if worse and wanted in {0.0, 1.0}:
                yield f"{strategy} answers {cell.recall:.2f} in {code}, and should {wanted:.2f}"


if __name__ == "__main__":
    sys.exit(main())
