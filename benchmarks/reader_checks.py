"""How steady the offline reader is, and what more context costs it.

Each question is asked again with a change that leaves its meaning: lower case, punctuation,
politeness. Answers that differ are flips. Then each question is asked with its evidence alone and
with everything that was said before it: a question that is answered rightly from its evidence and
wrongly from more is led astray. A replay reads such a context again, from its evidence alone; so
the share is given before and after that. The built-in scenarios are asked, and LoCoMo where it is
found.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.comparison import written
from memsim.message import Message, load_tokenizer
from memsim.models import Request
from memsim.models.offline.model import OfflineModel
from memsim.models.offline.reader import read_answer
from memsim.replay.fact_book import FactBook
from memsim.replay.second_answer import read_again
from memsim.scenario import Probe, Scenario, Turn
from memsim.scenario.datasets.locomo import load_locomo
from memsim.scenario.script import Ask
from memsim.scoring.answer_score import judge_answer
from memsim.trace import EvidenceTrace

ROOT = Path(__file__).resolve().parent.parent
MOST_FLIPS, MOST_ASTRAY = 0.01, 0.03
"""Shares of the questions that are claimed."""


_LISTED = re.compile(
    r"\b([A-Z][\w'-]+)() (and|or) ([A-Z][\w'-]+)\b"
    r"|\b([\w'-]+)((?:, [\w'-]+)+),? (and|or) ([\w'-]+)\b"
)
"""Two names, or three words and more."""


def _turned(text: str) -> str:
    """A question whose lists of words stand in another order: `A or B` as `B or A`."""

    def turned(match: re.Match[str]) -> str:
        first, more, joint, last = (part for part in match.groups() if part is not None)
        return f"{last}{more} {joint} {first}"

    return _LISTED.sub(turned, text)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


CHANGES: Mapping[str, Callable[[str], str]] = {
    "lower case": str.lower,
    "lower case, no question mark": lambda q: q.lower().rstrip("?"),
    "upper case": str.upper,
    "no question mark": lambda q: q.rstrip("?"),
    "three dots": lambda q: q.rstrip("?") + "...",
    "two marks": lambda q: q + "?!",
    "blanks around": lambda q: f"  {q} ",
    "curly apostrophes": lambda q: q.replace("'", "\u2019"),
    "please": lambda q: f"Please tell me: {_lower(q)}",
    "could you": lambda q: f"Could you please tell me {_lower(q)}",
    "do you know": lambda q: f"Hi! Do you happen to know {_lower(q)}",
    "thanks": lambda q: f"{q} Thank you very much!",
    "lists in another order": _turned,
    "please, at the end": lambda q: f"{q.rstrip('?')}, please?",
}
"""Other ways to ask the same, by name."""


_MODEL = OfflineModel(load_tokenizer())


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A probe with all that was said before it, and its evidence alone."""

    probe: Probe
    request: Request
    evidence: tuple[Message, ...]
    sources: tuple[str, ...]
    """Ids of the evidence, and of the messages that state earlier values."""
    wrong: tuple[str, ...]

    def answer(self, messages: tuple[Message, ...], ask: str = "") -> str:
        """What the reader answers from some messages."""
        asked = ask or self.probe.ask
        return read_answer(replace(self.request, messages=messages, question=asked)).text

    def again(self) -> str:
        """What the reader answers from the evidence in everything that was said."""
        pieces = [EvidenceTrace(source=m.id, turn=m.turn, verbatim=True) for m in self.evidence]
        texts = {m.id: m.text for m in self.request.messages if m.id in self.sources}
        return read_again(_MODEL, self.request, pieces, texts, self.wrong) or ""

    def right(self, answer: str) -> bool:
        """Whether an answer is right by rule."""
        return judge_answer(self.probe, answer).right


def questions(scenarios: Iterable[Scenario]) -> Iterator[Question]:
    """The probes of scenarios, each with the messages before it."""
    for scenario in scenarios:
        said: list[Message] = []
        facts = FactBook()
        for event in scenario.events(7):
            if isinstance(event, Turn):
                said += (*event.heard, *event.reply)
                for fact in event.facts:
                    facts.plant(fact)
            elif isinstance(event, Ask):
                yield _question(event, tuple(said), facts)


def _question(event: Ask, said: tuple[Message, ...], facts: FactBook) -> Question:
    probe = event.probe
    sources = {source for source, _ in facts.evidence(probe)}
    request = Request(
        task="answer", messages=said, question=probe.ask, now=event.time, asker=probe.principal
    )
    evidence = tuple(message for message in said if message.id in sources)
    return Question(
        probe=probe,
        request=request,
        evidence=evidence,
        sources=facts.stated_for(probe),
        wrong=(*probe.forbid, *facts.superseded(probe)),
    )


def flips(asked: Iterable[Question]) -> tuple[int, Counter[str]]:
    """How many questions were asked, and how many answers differ for each change."""
    n, found = 0, Counter(dict.fromkeys(CHANGES, 0))
    for question in asked:
        n += 1
        for messages in {question.request.messages, question.evidence}:
            usual = question.answer(messages)
            for name, change in CHANGES.items():
                found[name] += question.answer(messages, change(question.probe.ask)) != usual
    return n, found


def astray(asked: Iterable[Question]) -> dict[str, int]:
    """How questions are answered from their evidence, and from everything."""
    found = dict.fromkeys(("asked", "right alone", "right among all", "astray", "astray twice"), 0)
    for question in asked:
        if not question.evidence or question.probe.unanswerable:
            continue
        alone = question.right(question.answer(question.evidence))
        among = question.right(question.answer(question.request.messages))
        found["asked"] += 1
        found["right alone"] += alone
        found["right among all"] += among
        found["astray"] += alone and not among
        found["astray twice"] += alone and not among and not question.right(question.again())
    return found


def main() -> int:
    """Measure, print, and say whether it is as claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every eighth question")
    step = 8 if parser.parse_args().quick else 1
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data") / "locomo"
    sets = {"scenarios": [ref.load() for ref in written()]}
    if data.is_dir():
        sets["locomo"] = load_locomo(data)
    else:
        print("LoCoMo is not here: set MEMSIM_DATA to measure it")
    as_claimed = True
    for name, scenarios in sets.items():
        asked = list(questions(scenarios))[::step]
        n, found = flips(asked)
        print(f"{name}: {n:,} questions, asked with their evidence and with everything")
        for change, count in found.items():
            print(f"  {count / (2 * n):6.2%} flip: {change}")
        told = astray(asked)
        first, second = (told[key] / told["asked"] for key in ("astray", "astray twice"))
        print(f"  {told}: {first:.1%} led astray, {second:.1%} when it is read again\n")
        as_claimed &= max(found.values()) <= MOST_FLIPS * 2 * n
        as_claimed &= told["astray twice"] <= MOST_ASTRAY * told["asked"]
    return int(not as_claimed)


if __name__ == "__main__":
    sys.exit(main())
