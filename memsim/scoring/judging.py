"""What a judge is asked about which answers, and what its reply is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.models import Request
from memsim.models.judge import read_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.scenario.script import Probe


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
    if probe.match == "all":
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
