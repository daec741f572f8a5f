"""Make a recorded conversation a scenario: its turns as they were, then every question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from memsim.scenario.script import (
    Ask,
    ElapseEvent,
    GrantEvent,
    Probe,
    Scenario,
    ScriptEvent,
    Turn,
)

UTTERANCE = timedelta(minutes=1)
"""Virtual time that a message takes; the files date sessions only."""


def recorded_scenario(
    turns: Sequence[Turn],
    probes: Sequence[Probe],
    *,
    name: str,
    path: Path,
    dataset: str,
    speakers: str,
    contents: object,
    left_out: int = 0,
    note: str = "",
    asked: datetime | None = None,
    asked_after: Mapping[str, int] | None = None,
) -> Scenario:
    """The scenario of a recorded conversation.

    Args:
        turns: in order, at least one.
        probes: asked in this order.
        name: unique in the dataset.
        path: the file it came from.
        dataset: the dataset's name.
        speakers: who talks, as the description says it.
        contents: everything that the fingerprint covers, as JSON values.
        left_out: questions that were left out for a wrong gold answer.
        note: what else the description says; empty for nothing.
        asked: when the questions are asked, if that is after the last message; None for then.
        asked_after: numbers of the turns after which questions are asked, by the question's id;
            all others are asked at the end.
    """
    sessions = len({turn.session for turn in turns})
    unfounded = sum(bool(p.excluded) for p in probes)
    about = [f"{speakers}, {sessions} sessions, {len(probes)} questions"]
    about += [f"{unfounded} without valid evidence"] if unfounded else []
    about += [f"{left_out} left out for a wrong gold answer"] if left_out else []
    about += [note] if note else []
    text = json.dumps(contents, ensure_ascii=False)
    return Scenario(
        name=name,
        path=str(path),
        about=", ".join(about),
        play=partial(_play, tuple(turns), tuple(probes), asked, asked_after or {}),
        turns=len(turns),
        probes=tuple(probes),
        principals=tuple(
            dict.fromkeys([*(t.principal for t in turns), *(p.principal for p in probes)])
        ),
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        dataset=dataset,
    )


def _play(
    turns: Sequence[Turn],
    probes: Sequence[Probe],
    asked: datetime | None,
    asked_after: Mapping[str, int],
    _seed: int,
) -> Iterator[ScriptEvent]:
    # Who asks a question may know all that others said.
    for speaker in dict.fromkeys(turn.principal for turn in turns):
        for asker in dict.fromkeys(probe.principal for probe in probes):
            if speaker != asker:
                yield GrantEvent(owner=speaker, viewer=asker, everything=True)
    between: dict[int, list[Probe]] = {}
    for probe in probes:
        between.setdefault(asked_after.get(probe.id, 0), []).append(probe)
    before = turns[0]
    for turn in turns:
        if turn.session != before.session:
            yield ElapseEvent(now=turn.time)
        yield turn
        yield from _ask(between.get(turn.number, ()), turn, _end(turn))
        before = turn
    end = _end(before)
    if asked is not None and asked > end:
        end = asked
        yield ElapseEvent(now=end)
    yield from _ask(between.get(0, ()), before, end)


def _end(turn: Turn) -> datetime:
    return (*turn.heard, *turn.reply)[-1].time + UTTERANCE


def _ask(probes: Sequence[Probe], turn: Turn, time: datetime) -> Iterator[Ask]:
    for probe in probes:
        yield Ask(probe=probe, turn=turn.number, session=turn.session, time=time, apart=True)
