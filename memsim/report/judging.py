"""What a run's judge is worth: how it did on known answers, and how far the rules agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memsim.errors import RunFolderError
from memsim.report import numbers
from memsim.report.rows import Judging
from memsim.runs.folder import INFO
from memsim.scoring.votes import agreement, flipped, majority, votes_in

if TYPE_CHECKING:
    from memsim.report.answers import Answer
    from memsim.runs import Run

KNOWN = {
    "right": "{} of {} right answers known",
    "specific": "{} of {} wrong ones refused",
    "vague": "{} of {} vague ones refused",
}


def judging_of(run: Run, answers: Iterable[Answer]) -> Judging | None:
    """What is known of a run's judge; None where it had none.

    Args:
        run: as saved.
        answers: all its probes.

    Raises:
        RunFolderError: what it says of the judge is damaged.
    """
    told = run.info.get("judge")
    if told is None:
        return None
    try:
        return _read(told, answers)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = "is damaged: what it says of the judge cannot be read"
        raise RunFolderError(said, path=run.folder / INFO) from error


def _read(record: Mapping[str, Any], answers: Iterable[Answer]) -> Judging:
    ballots = [(a, votes_in(a.votes)) for a in answers if a.votes]
    verdicts = [(a.score("recall"), majority(votes)) for a, votes in ballots]
    pairs = [(verdict, bool(rule)) for rule, verdict in verdicts if None not in (rule, verdict)]
    agreed = agreement([(bool(verdict), rule) for verdict, rule in pairs])
    flips = [f for _, votes in ballots if (f := flipped(votes)) is not None]
    return Judging(
        judge=str(record["judge"]),
        draws=int(record["draws"]),
        prompt=str(record.get("prompt", "")),
        floor=float(record["floor"]),
        unfit=str(record["unfit"]),
        known={kind: (int(k["told"]), int(k["n"])) for kind, k in record["known"].items()},
        known_flips=record["flips"],
        answers=len(ballots),
        unread=sum(verdict is None for _, verdict in verdicts),
        flips=sum(flips) / len(flips) if flips else None,
        agreement=agreed.raw,
        kappa=agreed.kappa,
        compared=agreed.n,
    )


def judge_sentences(judging: Judging) -> Iterator[str]:
    """What is to be known of a judge before its numbers are read; what it is not, if it is not."""
    prompt = f", prompt {judging.prompt}" if judging.prompt else ""
    yield f"judge {judging.judge}, majority of {judging.draws}{prompt}"
    if judging.unfit:
        yield f"unmeasured: the judge is not believed: {judging.unfit}"
    if known := list(_known(judging)):
        flips = "" if judging.known_flips is None else f"; {_flips(judging.known_flips)}"
        yield f"known answers (floor {numbers.share(judging.floor)}): {', '.join(known)}{flips}"
    if judging.answers:
        yield _beside(judging)


def _known(judging: Judging) -> Iterator[str]:
    for kind, (told, n) in judging.known.items():
        yield KNOWN.get(kind, "{} of {} others told").format(told, n)


def _beside(judging: Judging) -> str:
    parts = [f"{numbers.plural(judging.answers, 'answer')} judged"]
    if judging.agreement is not None:
        kappa = "not defined" if judging.kappa is None else numbers.share(judging.kappa)
        said = numbers.share(judging.agreement)
        parts.append(f"agrees with the rules on {said} of {judging.compared:,} (kappa {kappa})")
    if judging.flips is not None:
        parts.append(_flips(judging.flips))
    if judging.unread:
        parts.append(f"{judging.unread:,} without a verdict, not measured")
    return "; ".join(parts)


def _flips(share: float) -> str:
    return f"opinions differ on {numbers.share(share)}"
