"""Calibrate the judge of a run on known answers, and ask it about every case."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.errors import CostLimitError, ModelError, UnrecordedCall
from memsim.leakage import LEAKAGE
from memsim.message import TokenCounter
from memsim.models.model_access import (
    NO_SPENDING,
    CallAccount,
    CaseModel,
    Spending,
    add_spending,
)
from memsim.models.model_ref import JudgeRef, LiveRef, read_judge
from memsim.scoring.calibration import (
    FLOOR,
    RULES,
    JudgeTrial,
    KnownAnswer,
    known_answers,
    question_of,
    scenarios_tried,
    to_be_judged,
    try_judge,
    vote_of,
)
from memsim.scoring.probes import counted_answer
from memsim.scoring.votes import Ballot, words_of
from memsim.suite.cases import CaseSpec
from memsim.trace import CallRecord

if TYPE_CHECKING:
    from memsim.models import Model, Request
    from memsim.scenario.script import Scenario
    from memsim.trace import Trace

ROLE = "judge"
"""Begins the name of the folder with a judge's recordings: the same model may be under test."""

_KNOWN = "known answers"


class JudgeUnavailable(Exception):  # noqa: N818 - what became of a judge
    """The judge could not be asked; no answer is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts of a judge on one case.

    Attributes:
        ballots: by probe, for every probe that it was to be asked about.
        why: why it was not, in one line; empty when it was.
    """

    ballots: Mapping[str, Ballot] = field(default_factory=dict)
    why: str = ""


NO_JUDGEMENT = Judgement()


class Judge:
    """Asks a judge about the answers of one case."""

    def __init__(self, opened: CaseModel, draws: int, at_once: int = 1) -> None:
        self._opened = opened
        self._draws = draws
        self._at_once = at_once

    @property
    def spent(self) -> Spending:
        """The cost of its calls."""
        return self._opened.account.spent

    def ballots(self, questions: Sequence[Request]) -> list[Ballot]:
        """Its votes on each answer.

        Raises:
            JudgeUnavailable: a recording is missing, or nobody answered.
        """
        asked = [replace(q, draw=draw) for q in questions for draw in range(self._draws)]
        try:
            # What litellm prints must not end up among the results.
            with redirect_stdout(sys.stderr):
                said = self._all(asked)
        except (UnrecordedCall, ModelError) as error:
            raise JudgeUnavailable(" ".join(str(error).split())) from None
        starts = range(0, len(said), self._draws)
        return [_ballot(said[start : start + self._draws]) for start in starts]

    def _all(self, asked: Sequence[Request]) -> list[_Opinion]:
        model = self._opened.model
        if self._at_once < 2:
            return [_opinion(model, request) for request in asked]
        # The first one by itself: what is wrong with a key or an address is wrong once, and
        # litellm's client is made by one thread.
        first = [_opinion(model, request) for request in asked[:1]]
        with ThreadPoolExecutor(max_workers=self._at_once) as pool:
            futures = [pool.submit(_opinion, model, request) for request in asked[1:]]
            try:
                return first + [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


_Opinion = tuple[bool | None, CallRecord | None]


def _opinion(model: Model, request: Request) -> _Opinion:
    from memsim.models.live import Outage, RefusalError

    try:
        reply = model.complete(request)
    except (Outage, RefusalError):
        raise
    except ModelError:
        # It was asked, and what it said is of no use: no verdict.
        return None, None
    call = CallRecord(
        phase="judge",
        task="judge",
        input=reply.usage.input,
        output=reply.usage.output,
        cost=reply.cost,
    )
    return vote_of(reply.text), call


def _ballot(opinions: Sequence[_Opinion]) -> Ballot:
    return Ballot(
        votes=tuple(vote for vote, _ in opinions),
        calls=tuple(call for _, call in opinions if call is not None),
    )


# -- one case


@contextmanager
def open_judge(
    spec: CaseSpec, counter: TokenCounter, *, case: str = "", repeat: int | None = None
) -> Iterator[Judge]:
    """Open the judge that a case names.

    Args:
        spec: the case.
        counter: token counts.
        case: whose recordings they are; the case's own by default.
        repeat: likewise.

    Raises:
        RefError: there is no such judge.
        CassetteError: recordings are damaged or cannot be written.
    """
    from memsim.models.registry import load_model

    ref = read_judge(spec.judge)
    if not isinstance(ref.model, LiveRef):
        yield Judge(CaseModel(load_model("offline", counter, spec.seed), CallAccount()), ref.draws)
        return
    from memsim.models.live.litellm_client import AT_ONCE
    from memsim.models.provider_models import open_dry, open_live

    if spec.access.dry:
        opened = open_dry(ref.model, tokenizer=counter, seed=spec.seed, budget=spec.budget)
        yield Judge(opened, ref.draws)
        return
    with open_live(
        ref.model,
        spec.access,
        case=case or spec.id,
        repeat=spec.repeat if repeat is None else repeat,
        seed=spec.seed,
        role=ROLE,
    ) as opened:
        yield Judge(opened, ref.draws, 1 if spec.access.mode == "none" else AT_ONCE)


@contextmanager
def judge_of(spec: CaseSpec, counter: TokenCounter) -> Iterator[Judge | None]:
    """The judge of a case; None without a judge, or with one that failed calibration."""
    if not spec.judge or spec.unfit or spec.scenario.dataset == LEAKAGE:
        yield None
        return
    with open_judge(spec, counter) as judge:
        yield judge


def judge_case(spec: CaseSpec, scenario: Scenario, trace: Trace, judge: Judge | None) -> Judgement:
    """Judge the answers of a case.

    Args:
        spec: the case.
        scenario: what was played.
        trace: what was seen of it.
        judge: who is asked; None where the case names none, or one that is not believed.
    """
    if not spec.judge:
        return NO_JUDGEMENT
    wanted = to_be_judged(scenario.probes)
    if not wanted:
        return NO_JUDGEMENT
    found = [p for p in trace.probes if p.probe.id in wanted and p.answer is not None]
    nothing = {p.probe.id: Ballot() for p in trace.probes if p.probe.id in wanted}
    if judge is None:
        return Judgement(ballots=nothing, why=f"not judged: {spec.unfit}")
    questions = [
        question_of(p.probe, counted_answer(p), p.superseded, repeat=spec.repeat) for p in found
    ]
    try:
        ballots = judge.ballots(questions)
    except JudgeUnavailable as error:
        return Judgement(ballots=nothing, why=f"not judged: {error}")
    by_probe = {p.probe.id: ballot for p, ballot in zip(found, ballots, strict=True)}
    return Judgement(ballots=nothing | by_probe)


# -- known answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The result of trying a judge on known answers.

    Attributes:
        ballots: its opinions on each; empty where it could not be asked.
        spent: what that came to, here and now.
    """

    judge: str
    trial: JudgeTrial
    known: tuple[KnownAnswer, ...] = ()
    ballots: tuple[Ballot, ...] = ()
    spent: Spending = NO_SPENDING

    def record(self) -> dict[str, object]:
        """As JSON values, with every known answer and its verdict."""
        calls = [call for ballot in self.ballots for call in ballot.calls]
        costs = [call.cost for call in calls if call.cost is not None]
        return {
            **describe_judge(read_judge(self.judge)),
            "floor": FLOOR,
            "asked": bool(self.ballots),
            "unfit": self.trial.unfit,
            "known": {
                kind: {"n": score.n, "told": score.correct, "unread": score.unread}
                for kind, score in self.trial.kinds.items()
            },
            "flips": self.trial.flips,
            "calls": len(calls),
            "input": sum(call.input for call in calls),
            "output": sum(call.output for call in calls),
            "cost": round(sum(costs), 12) if len(costs) == len(calls) else None,
            "answers": [
                _answer_record(known, ballot)
                for known, ballot in zip(self.known, self.ballots, strict=bool(self.ballots))
            ],
        }


def _answer_record(known: KnownAnswer, ballot: Ballot) -> dict[str, object]:
    question = question_of(known.probe, known.given)
    return {
        "scenario": known.scenario,
        "probe": known.probe.id,
        "kind": known.kind,
        "ask": question.question,
        "expect": question.expected.splitlines(),
        "given": known.given,
        "votes": words_of(ballot.votes),
    }


def describe_judge(ref: JudgeRef) -> dict[str, object]:
    """The identity of a judge: its model, number of draws, and prompt."""
    found: dict[str, object] = {"judge": ref.name, "draws": ref.draws, "rules": RULES}
    if isinstance(ref.model, LiveRef):
        from memsim.models.live.task_prompts import JUDGE, JUDGE_VERSION

        found |= {"prompt": JUDGE_VERSION, "instructions": JUDGE}
    return found


def instrument(judge: str) -> str:
    """The judge's part of a fingerprint, with its prompt."""
    found = describe_judge(read_judge(judge))
    said = f"{found['judge']}, majority of {found['draws']}"
    prompt = f", prompt {found['prompt']}" if "prompt" in found else ""
    return f"{said}{prompt}, rules {RULES}"


def calibrate(
    cases: Sequence[CaseSpec], counter: TokenCounter, scenario: Scenario | None = None
) -> Calibration | None:
    """Try the judge that cases name on known answers of their own scenarios.

    Args:
        cases: of a run, or as many of it as are known.
        counter: token counts.
        scenario: the scenario of all cases, where it is in no file.

    Returns:
        How it did; None where no case names a judge, or none has an answer to be judged.

    Raises:
        CostLimitError: it would have cost too much.
        RefError: there is no such judge.
        CassetteError: recordings are damaged or cannot be written.
    """
    found = [spec for spec in cases if spec.judge and spec.scenario.dataset != LEAKAGE]
    first = {str(spec.scenario): spec for spec in reversed(found)}
    known: dict[str, tuple[KnownAnswer, ...]] = {}
    for name in scenarios_tried((str(spec.scenario) for spec in found), _seed(found)):
        played = scenario or first[name].scenario.load()
        wanted = to_be_judged(played.probes)
        chosen = [p for p in played.probes if p.id in wanted]
        if drawn := known_answers(played.name, chosen, first[name].seed):
            known[name] = drawn
    if not known:
        return None
    everything = tuple(k for drawn in known.values() for k in drawn)
    bare = Calibration(judge=found[0].judge, trial=JudgeTrial(), known=everything)
    return _asked(bare, {name: (first[name], drawn) for name, drawn in known.items()}, counter)


def _seed(cases: Sequence[CaseSpec]) -> int:
    return cases[0].seed if cases else 0


def _asked(
    bare: Calibration,
    known: Mapping[str, tuple[CaseSpec, tuple[KnownAnswer, ...]]],
    counter: TokenCounter,
) -> Calibration:
    from memsim.models.live.cost_limit import OutOfMoney

    spent, ballots = NO_SPENDING, list[Ballot]()
    try:
        for name, (spec, drawn) in known.items():
            with open_judge(spec, counter, case=f"{name}[{_KNOWN}]", repeat=0) as judge:
                try:
                    ballots += judge.ballots([question_of(k.probe, k.given) for k in drawn])
                finally:
                    spent = add_spending(spent, judge.spent)
    except JudgeUnavailable as error:
        trial = JudgeTrial(unfit=f"it could not be tried: {error}")
        return replace(bare, trial=trial, known=(), spent=replace(spent, failed=()))
    except OutOfMoney as end:
        raise CostLimitError(str(end)) from None
    trial = try_judge(bare.known, [ballot.votes for ballot in ballots])
    return replace(bare, trial=trial, ballots=tuple(ballots), spent=spent)


def with_calibration(cases: Sequence[CaseSpec], unfit: str) -> tuple[CaseSpec, ...]:
    """The cases, with the calibration of their judge.

    Args:
        cases: any.
        unfit: why the judge is not to be believed; empty where it is.
    """
    return tuple(replace(case, unfit=unfit) if case.judge else case for case in cases)
