"""How far the rule that scores answers agrees with a judge, and what wrong answers it lets through.

Real answers to LoCoMo's questions, each judged by a model, are scored by the rule. The answers of
the sets `ap-v1` and `ap-v2` are wrong on purpose: another value, or nothing definite. More wrong
ones are made here: the answer of another question, other numbers and dates, a denial. The
file is `judged-answers*.jsonl` in the folder `locomo` below MEMSIM_DATA, or as named.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memsim.scenario import Probe
from memsim.scoring.answer_score import judge_answer

ROOT = Path(__file__).resolve().parent.parent
LEAST_KAPPA, MOST_THROUGH = 0.64, 0.05
"""Agreement on real answers, and the share of wrong answers, that are claimed."""

_NUMBER = re.compile(r"\d+")


class Judged(NamedTuple):
    """An answer, and whether it is right; `made` names the kind of one that is wrong on purpose."""

    conversation: int
    category: str
    question: str
    gold: str
    answer: str
    right: bool
    made: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the rule takes it for right."""
        probe = Probe(id="p", ask=self.question, expect=(self.gold,))
        return judge_answer(probe, self.answer).right


def read_judged(path: Path) -> list[Judged]:
    """The judged answers of a file."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        made = row["source"] if row["source"].startswith("ap-") else ""
        gold, category = str(row["gold"]), str(row["category"])
        about = (row["conversation"], category, row["question"], gold)
        found.append(Judged(*about, str(row["answer"]), bool(row["right"]), made))
    return found


def made_wrong(rows: Iterable[Judged]) -> Iterator[Judged]:
    """Answers that are wrong whatever a judge says of them."""
    asked = list({(row.conversation, row.question): row for row in rows}.values())
    for place, row in enumerate(asked):
        others = (o for o in asked[place + 1 :] + asked[:place] if o.category == row.category)
        other = next((o for o in others if o.gold.casefold() != row.gold.casefold()), None)
        if other and not row._replace(gold=other.gold, answer=row.gold).accepted:
            yield row._replace(answer=other.gold, right=False, made="of another question")
        if _NUMBER.search(row.gold):
            moved = _NUMBER.sub(lambda found: str(int(found[0]) + 3), row.gold)
            yield row._replace(answer=moved, right=False, made="other numbers")
        if not re.match(r"(?i)(?:likely |probably )?(?:yes|no)\b|.*\bn[o']t\b", row.gold):
            denied = f"It is not {row.gold[:1].lower()}{row.gold[1:]}"
            yield row._replace(answer=denied, right=False, made="denied")


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of two verdicts."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    first, second = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    return (agreed - chance) / (1 - chance) if chance < 1 else 1.0


def agreement(rows: Iterable[Judged]) -> dict[str, tuple[int, float, float, float]]:
    """Number, kappa, and accepted shares of the right and of the wrong ones, by category."""
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row in rows:
        pair = (row.accepted, row.right)
        found[f"category {row.category}"].append(pair)
        found["all"].append(pair)
    return {
        name: (
            len(pairs),
            kappa(pairs),
            _accepted(pairs, right=True),
            _accepted(pairs, right=False),
        )
        for name, pairs in sorted(found.items())
    }


def _accepted(pairs: Iterable[tuple[bool, bool]], *, right: bool) -> float:
    taken = [accepted for accepted, judged in pairs if judged == right]
    return sum(taken) / len(taken) if taken else 0.0


def let_through(rows: Iterable[Judged]) -> dict[str, tuple[int, float]]:
    """Number and accepted share of the answers that are wrong on purpose, by kind and in all."""
    found: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        found[row.made].append(row.accepted)
        found["all"].append(found[row.made][-1])
    return {name: (len(taken), sum(taken) / len(taken)) for name, taken in sorted(found.items())}


def main() -> int:
    """Measure, print, and say whether it is as claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true", help="changes nothing: it is quick")
    said: Path | None = parser.parse_args().path
    folder = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data") / "locomo"
    path = said or next(iter(sorted(folder.glob("judged-answers*.jsonl"))), None)
    if path is None:
        print("not measured: there are no judged answers; set MEMSIM_DATA or name their file")
        return 0
    rows = read_judged(path)
    told = agreement(row for row in rows if not row.made)
    for name, (n, agreed, right, wrong) in told.items():
        print(f"{name:12} {n:5,} answers: kappa {agreed:.3f},", end=" ")
        print(f"accepts {right:.1%} of the right ones and {wrong:.1%} of the wrong ones")
    wrong_ones = [*(row for row in rows if row.made), *made_wrong(rows)]
    through = let_through(wrong_ones)
    for name, (n, share) in through.items():
        print(f"wrong on purpose, {name}: {share:.1%} of {n:,} let through")
    return int(told["all"][1] < LEAST_KAPPA or through["all"][1] > MOST_THROUGH)


if __name__ == "__main__":
    sys.exit(main())
