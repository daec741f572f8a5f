"""Answers of which it is known whether they are right: what a judge is tried on in every run."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from memsim.language.lexicon import STOP
from memsim.models import Request
from memsim.models.offline.judge import read_verdict
from memsim.scenario.script import Probe
from memsim.scoring.answer_score import judge_answer
from memsim.scoring.metrics.audits import AUDITED_WRONG
from memsim.scoring.probe_types import probe_type
from memsim.scoring.votes import flipped, majority

# What a judge is asked about which answers, and what its reply is worth.


def vote_of(text: str | None) -> bool | None:
    """The vote that a judge's reply is; None for no reply and for one that cannot be read."""
    return None if text is None else read_verdict(text)


def to_be_judged(probes: Sequence[Probe]) -> frozenset[str]:
    """Ids of the probes of one scenario whose answers a judge is asked about.

    Those that say so, where any does; else all that have an answer and do not say no. Whether an
    unknown answer was rightly not given is told by rule alone.
    """
    able = [p for p in probes if p.expect and not p.unanswerable and p.judge is not False]
    chosen = [p for p in able if p.judge]
    return frozenset(p.id for p in chosen or able)


def question_of(
    probe: Probe, answer: str, superseded: Sequence[str] = (), *, repeat: int = 0, draw: int = 0
) -> Request:
    """What a judge is asked about an answer."""
    wanted = [_line(text) for text in probe.expect]
    if probe_type(probe.match).needs_every:
        wanted = [" and ".join(wanted)]
    known = {_line(text).casefold() for text in probe.expect}
    old = dict.fromkeys(map(_line, (*probe.forbid, *superseded)))
    return Request(
        task="judge",
        question="\n- ".join([probe.ask, *probe.choices]),
        expected="\n".join(wanted),
        outdated="\n".join(text for text in old if text.casefold() not in known),
        given=answer,
        repeat=repeat,
        draw=draw,
    )


def _line(text: str) -> str:
    return " ".join(text.split())


KnownKind = Literal["right", "specific", "vague"]
KINDS: tuple[KnownKind, ...] = get_args(KnownKind)
"""Known to be right; known to be wrong and as definite as a right one; wrong by saying nothing."""

EACH = 6
"""Known answers of each kind that a scenario gives."""

SCENARIOS = 8
"""Scenarios that known answers are taken from, at most."""

FLOOR = 0.8
"""Share of each kind that a judge has to tell, or nothing that it says counts."""

RULES = 1
"""Counted up whenever other answers would be drawn, or verdicts read otherwise."""

_RIGHT = (
    "{}",
    "It is {}.",
    "You said: {}.",
    "{}, as you told me.",
    "As far as I recall, {}.",
    "The answer is {}.",
)
_VERDICTS = ("{}", "{}, as you told me.")
_VAGUE = (
    "The one that you told me about earlier.",
    "Something to do with {}, as you said.",
    "It is what it was when we talked about {}.",
    "You said quite a lot about {}; it was one of those things.",
    "The usual one, as always.",
    "Something of that kind, with {} in it.",
)
_ELSEWHERE = ("a lighthouse", "the green folder", "Tuesday at noon", "Valparaíso", "walnut oil")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_TOPIC = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An answer of which it is known whether it is right."""

    scenario: str
    probe: Probe
    kind: KnownKind
    given: str

    @property
    def right(self) -> bool:
        """Whether a judge has to accept it."""
        return self.kind == "right"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScore:
    """How a judge did on the known answers of one kind."""

    n: int = 0
    correct: int = 0
    unread: int = 0

    @property
    def share(self) -> float:
        """Of all that it judged as it had to."""
        return self.correct / self.n if self.n else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrial:
    """How a judge did on all known answers of a run.

    Attributes:
        flips: share of the answers on which its opinions differed; None where it gave only one.
        unfit: why nothing that it says counts, in a phrase; empty where it may be believed.
    """

    kinds: Mapping[str, KindScore] = field(default_factory=dict)
    flips: float | None = None
    unfit: str = ""


def known_answers(scenario: str, probes: Sequence[Probe], seed: int) -> tuple[KnownAnswer, ...]:
    """The known answers that a scenario gives: the same for the same seed, whatever else is run."""
    sound = [p for p in probes if p.labels.get("gold") != AUDITED_WRONG]
    if not sound:
        return ()
    chance = random.Random(f"{seed}/judge/{scenario}")
    order = chance.sample(sound, len(sound))
    return tuple(
        KnownAnswer(scenario=scenario, probe=probe, kind=kind, given=given)
        for kind in KINDS
        for probe, given in _drawn(kind, order, chance)
    )


def scenarios_tried(names: Iterable[str], seed: int) -> tuple[str, ...]:
    """The scenarios that known answers are taken from: some of them, where there are many.

    Which these are depends on each name alone, so that a part of a run asks nothing new.
    """
    found = list(dict.fromkeys(names))
    drawn = sorted(found, key=lambda name: (random.Random(f"{seed}/{name}").random(), name))
    kept = set(drawn[:SCENARIOS])
    return tuple(name for name in found if name in kept)


def _drawn(
    kind: KnownKind, order: Sequence[Probe], chance: random.Random
) -> Iterable[tuple[Probe, str]]:
    make = {"right": _right, "specific": _specific, "vague": _vague}[kind]
    left = [(probe, make(probe, order, chance)) for probe in order]
    found: dict[tuple[str, str], tuple[Probe, str]] = {}
    while len(found) < EACH and left:
        for probe, answers in left:
            if answers and len(found) < EACH:
                given = answers.pop(0)
                found.setdefault((probe.id, given), (probe, given))
        left = [(probe, answers) for probe, answers in left if answers]
    return found.values()


def _right(probe: Probe, _order: Sequence[Probe], chance: random.Random) -> list[str]:
    every = probe_type(probe.match).needs_every
    gold = " and ".join(probe.expect) if every else probe.expect[0]
    frames = _VERDICTS if gold.casefold().startswith(("yes", "no")) else _RIGHT
    return [frame.format(gold.rstrip(" .")) for frame in chance.sample(frames, len(frames))]


def _specific(probe: Probe, order: Sequence[Probe], chance: random.Random) -> list[str]:
    others = [text for other in order if other.id != probe.id for text in other.expect]
    alike = bool(_NUMBER.search(probe.expect[0]))
    others = chance.sample(others, len(others))
    others.sort(key=lambda text: _unlike(text, probe.expect[0]))
    decoys = chance.sample(_ELSEWHERE, len(_ELSEWHERE))
    near = [_other_number(probe.expect[0])] if alike else []
    made = dict.fromkeys([*probe.forbid, *near, *others, *decoys])
    frames = chance.sample(_RIGHT, len(_RIGHT))
    said = [frames[n % len(frames)].format(text) for n, text in enumerate(made)]
    return [text for text in said if _wrong(probe, text)]


def _vague(probe: Probe, _order: Sequence[Probe], chance: random.Random) -> list[str]:
    said = {word.casefold() for text in probe.expect for word in _WORD.findall(text)}
    words = [w for w in _WORD.findall(probe.ask) if w.casefold() not in said | STOP]
    topic = " ".join(words[-_TOPIC:]) or "it"
    made = [frame.format(topic) for frame in chance.sample(_VAGUE, len(_VAGUE))]
    return [text for text in made if _wrong(probe, text)]


def _unlike(text: str, gold: str) -> tuple[bool, bool, int]:
    digits = bool(_NUMBER.search(text)) != bool(_NUMBER.search(gold))
    return digits, text[:1].isupper() != gold[:1].isupper(), abs(len(text) - len(gold))


def _wrong(probe: Probe, text: str) -> bool:
    # What the rules take for right, or as saying that nothing is known, is no known wrong answer.
    score = judge_answer(probe, text)
    return not (score.right or score.abstained)


def _other_number(text: str) -> str:
    def moved(found: re.Match[str]) -> str:
        old = found[0]
        number = int(old[-6:])
        new = number - 2 if number > 27 else number + 2
        return old[:-6] + str(new).zfill(len(old[-6:]))

    return _NUMBER.sub(moved, text, count=1)


# -- how a judge did


def try_judge(known: Sequence[KnownAnswer], votes: Sequence[Sequence[bool | None]]) -> JudgeTrial:
    """How a judge did."""
    verdicts = [majority(opinions) for opinions in votes]
    kinds: dict[str, KindScore] = {
        kind: _score([(k, v) for k, v in zip(known, verdicts, strict=True) if k.kind == kind])
        for kind in KINDS
    }
    flips = [f for opinions in votes if (f := flipped(opinions)) is not None]
    return JudgeTrial(
        kinds=kinds,
        flips=sum(flips) / len(flips) if flips else None,
        unfit=_unfit(kinds),
    )


def _score(found: Sequence[tuple[KnownAnswer, bool | None]]) -> KindScore:
    return KindScore(
        n=len(found),
        correct=sum(verdict is known.right for known, verdict in found),
        unread=sum(verdict is None for _, verdict in found),
    )


_DID = {
    "right": "knew {} of {} right answers",
    "specific": "refused {} of {} wrong answers",
    "vague": "refused {} of {} vague answers",
}


def _unfit(kinds: Mapping[str, KindScore]) -> str:
    if missing := [kind for kind, score in kinds.items() if not score.n]:
        return f"there is no known answer of the kind {missing[0]!r} to try it on"
    below = [
        _DID[kind].format(score.correct, score.n)
        + (f" ({score.unread} unread)" if score.unread else "")
        for kind, score in kinds.items()
        if score.share < FLOOR
    ]
    return f"it {', '.join(below)}: the floor is {FLOOR:.0%}" if below else ""
