"""How much evidence does the recall policy bring into so many tokens, and how much does BM25?

Both rank the messages of a conversation for each of its questions, and whole messages are quoted,
best first, as far as they fit. LoCoMo and BEAM are looked for below MEMSIM_DATA, or below
`../shared/data`. Ideas were tried on one half of the conversations, and kept where the other half
agreed; both are shown. It ends with 1 where the policy brings less than 5 points more on all of a
dataset, from 500 tokens on.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from memsim.memory.index import Hit
from memsim.memory.index.bm25 import Bm25
from memsim.memory.index.postings import MESSAGE_B
from memsim.memory.index.vector_index import VectorIndex
from memsim.memory.options import RecallPolicy
from memsim.memory.recall.outline_columns import microseconds
from memsim.memory.recall.overview import WIDER, ConversationPlaces, asks_overview, matter
from memsim.memory.recall.ranking import fit_to_room, recall
from memsim.memory.recall.timeline import MessageFacts, Neighbours, is_standing, question_terms
from memsim.message import Message, TokenCounter, load_tokenizer
from memsim.models.registry import load_embedder
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Probe, Scenario, Turn

ROOT = Path(__file__).resolve().parents[1]
LEVELS = (250, 500, 1000, 2000, 4000, 8000)
CLAIMED, LEAD = 500, 0.05
FIRST_HALF = {
    "locomo": ("conv-26", "conv-41", "conv-43"),
    "beam": ("beam-1", "beam-3", "beam-5"),
}
FOLDERS = {"locomo": "locomo", "beam": "beam/100K"}

ALL = RecallPolicy(floor=0.0)
"""Everything that fits is quoted."""

Rank = Callable[[str], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A conversation with what finds its messages."""

    plain: Bm25
    words: Bm25
    meaning: VectorIndex
    talk: Neighbours
    about: dict[str, MessageFacts]
    probes: tuple[Probe, ...]
    end: Message

    def bm25(self, question: str) -> list[Hit]:
        """Every message that holds a word of the question."""
        return self.plain.search(question, len(self.about))

    def policy(self, question: str, policy: RecallPolicy = ALL) -> list[Hit]:
        """What the policy makes of both rankings."""
        overview = policy.opening > 0 and asks_overview(question)
        depth = policy.depth * (WIDER if overview else 1)
        return recall(
            question,
            lexical=self.words.search(matter(question) if overview else question, depth),
            nearest=self.meaning.search(question, depth),
            about=self.about.get,
            beside=self.talk.beside,
            places=ConversationPlaces(self.talk.place, self._reply) if overview else None,
            policy=policy,
            now=self.end.time + timedelta(minutes=1),
        )

    def _reply(self, source: str) -> str | None:
        after = self.talk.answered_by(source)
        return after if after and self.about[after].role == "assistant" else None


def indexed(scenario: Scenario, counter: TokenCounter) -> Indexed:
    """Index a conversation, as strategies do: `principal: text`."""
    events = [e for e in scenario.events(0) if isinstance(e, Turn)]
    messages = [m for turn in events for m in (*turn.heard, *turn.reply)]
    plain, words, talk, about = Bm25(), Bm25(b=MESSAGE_B), Neighbours(), {}
    meaning = VectorIndex(lambda: load_embedder("wordllama"))
    for order, message in enumerate(messages):
        text = f"{message.principal}: {message.text}"
        tokens = counter.text(f"[{message.time.date()}] {text}\n")
        plain.add(message.id, text)
        words.add(message.id, text)
        meaning.add(message.id, text)
        talk.add(
            message.id,
            message.text,
            session=message.session,
            tokens=tokens,
            turn=message.turn,
        )
        about[message.id] = MessageFacts(
            order=order,
            tokens=tokens,
            created=microseconds(message.time),
            principal=message.principal,
            role=message.role,
            asked=question_terms(message.text),
            standing=message.role == "user" and is_standing(message.text),
        )
    probes = tuple(p for p in scenario.probes if p.evidence and not p.excluded)
    return Indexed(plain, words, meaning, talk, about, probes, messages[-1])


def curve(found: Indexed, rank: Rank) -> list[list[float]]:
    """For each question, its evidence recall at each level, and the mean's tokens at the end."""
    rows = []
    for probe in found.probes:
        hits = rank(probe.ask)
        row = []
        for level in LEVELS:
            ids = fit_to_room(hits, tokens=lambda i: found.about[i].tokens, room=level, policy=ALL)
            row.append(share(probe, whole(ids, found, level)))
        ids = fit_to_room(hits, tokens=lambda i: found.about[i].tokens, room=LEVELS[-1])
        rows.append([*row, share(probe, ids), float(sum(found.about[i].tokens for i in ids))])
    return rows


def whole(ids: Iterable[str], found: Indexed, level: int) -> list[str]:
    """Without the one that would be clipped."""
    return [i for i in ids if found.about[i].tokens <= level]


def share(probe: Probe, ids: Iterable[str]) -> float:
    """The share of a question's evidence among these."""
    return len(set(probe.evidence).intersection(ids)) / len(probe.evidence)


def means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Of each column."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def measured(name: str, scenarios: Sequence[Scenario]) -> bool:
    """Print a dataset's curves; whether the lead is as claimed."""
    counter = TokenCounter(load_tokenizer())
    rows: dict[str, dict[bool, list[list[float]]]] = {}
    for scenario in scenarios:
        found = indexed(scenario, counter)
        half = scenario.name in FIRST_HALF[name]
        for ranker, rank in (("bm25", found.bm25), ("policy", found.policy)):
            rows.setdefault(ranker, {}).setdefault(half, []).extend(curve(found, rank))
    print(f"{name}: evidence recall in so many tokens; and with the usual floor, and its tokens")
    print(f"  {'':24}" + "".join(f"{level:8,}" for level in LEVELS) + f"{'floor':>8}{'tokens':>8}")
    whole_of = {}
    for ranker, halves in rows.items():
        for label, chosen in (("one half", [True]), ("the other", [False]), ("all", [True, False])):
            kept = [row for half in chosen for row in halves.get(half, ())]
            if kept:
                whole_of[ranker] = figures = means(kept)
                cells = "".join(f"{x:8.3f}" for x in figures[:-1])
                print(f"  {ranker:8}{label:10}{len(kept):5} {cells}{figures[-1]:8,.0f}")
    leads = [b - a for a, b in zip(whole_of["bm25"], whole_of["policy"], strict=True)]
    print(f"  {'lead':24}" + "".join(f"{lead:+8.3f}" for lead in leads[: len(LEVELS)]) + "\n")
    claimed = zip(LEVELS, leads, strict=False)
    return all(lead >= LEAD for level, lead in claimed if level >= CLAIMED)


def main() -> int:
    """Measure what there is; 1 where a lead is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two conversations of each dataset")
    quick = parser.parse_args().quick
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data")
    missed = []
    for name, folder in FOLDERS.items():
        if not (data / folder).is_dir():
            print(f"not measured: {name} is not here; set MEMSIM_DATA\n")
            continue
        scenarios = load_dataset(name, data / folder)
        if not measured(name, scenarios[:2] if quick else scenarios):
            missed.append(name)
    print(f"less than {LEAD} more: {', '.join(missed)}" if missed else "as claimed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
