r"""LoCoMo-Plus: something said in passing, and weeks later a remark that only it explains.

Published at github.com/xjtuleeyf/Locomo-Plus without a licence. The file is a list of pairs::

    [{"relation_type": "causal", "time_gap": "two weeks later",
      "cue_dialogue": "A: I learned to say no.\\nB: A great skill.",
      "trigger_query": "A: I took that project on, and now I drown in work."}, ...]

The pairs are placed into the conversations of LoCoMo as its authors place them: the first pair into
the first conversation, the second into the second, and over again. A and B become its speakers. The
remark is made a week after the beginning of the last session, and the cue is said so long before it
as the time gap says: a week has 7 days, a month 30 and a year 365.

Each conversation becomes a scenario, with every cue that was placed into it as a short session of
its own. The authors place one cue into each copy of a conversation: `apart=true` does so too. There
is no right answer to a remark. So the context is searched for what A said in the cue, and the cue
is the evidence.

Repairs: sessions and messages are numbered anew, or else their names would tell which are cues.
`several` in a time gap is three. A cue that would be said during a session follows it. A line break
may be written out as a backslash and an n. B may begin to speak in the middle of a line, and lines
without a speaker go on with what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.json_input import is_folder, is_regular
from memsim.language.numbers import numbers
from memsim.message import said
from memsim.scenario.datasets.dataset_files import only_file
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.datasets.locomo import read_flag, read_talks
from memsim.scenario.script import IN_CONTEXT, Probe, Scenario, Turn

DATASET = "locomo_plus"
LATER = timedelta(days=7)
"""How long after the beginning of the last session the remarks are made."""

_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_GAP = re.compile(rf"\b(\d{{1,3}}|[a-z]+) ({'|'.join(_DAYS)})s?\b")
_SPEAKER = re.compile(r"(?:^|(?<=\s))([AB]):\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A cue and the remark that it explains.

    Attributes:
        number: its place in the file, from 1.
        cue: what A and B said, in order.
        remark: what A says later.
        gap: time between them.
    """

    number: int
    cue: tuple[tuple[str, str], ...]
    remark: str
    gap: timedelta
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What was said at one time; `pair` is the number of its pair, 0 if it is LoCoMo's own."""

    start: datetime
    lines: tuple[tuple[str, str], ...]
    pair: int = 0


def load_locomo_plus(path: Path, *, apart: str = "false", locomo: str = "") -> list[Scenario]:
    """The conversations of LoCoMo with the pairs of a file in them.

    Options are `locomo`, LoCoMo's file or folder, and `apart`, which places each pair into a copy
    of its own. Without `locomo`, the file is looked for beside the pairs, then in the folder
    `locomo` beside theirs.

    Raises:
        ConfigError: an option takes no such value.
        ScenarioError: a file is missing, not JSON, or not of its schema.
    """
    alone = read_flag("apart", apart)
    file = _find(path)
    pairs = _pairs(file)
    talks = list(read_talks(Path(locomo) if locomo else _beside(file)))
    found: list[Scenario] = []
    for place, (talk, turns) in enumerate(talks):
        mine = pairs[place :: len(talks)]
        name = f"{DATASET}-{talk.where}"
        if alone:
            found += [_scenario(file, f"{name}-{p.number}", talk, turns, [p]) for p in mine]
        elif mine:
            found.append(_scenario(file, name, talk, turns, mine))
    return found


def _find(path: Path) -> Path:
    if not is_folder(path):
        return path
    every = [p for p in sorted(path.glob("*.json")) if is_regular(p)]
    named = [p for p in every if p.name.startswith(DATASET)]
    found = named or [p for p in every if not p.name.startswith("locomo")]
    return only_file(found, path, f"{DATASET}*.json")


def _beside(file: Path) -> Path:
    folder = file.absolute().parent
    every = [
        p for p in sorted(folder.glob("locomo*.json")) if is_regular(p) and p != file.absolute()
    ]
    found = [p for p in every if not p.name.startswith(DATASET)]
    if len(found) > 1:
        names = ", ".join(p.name for p in found)
        raise ScenarioError(f"several files of LoCoMo beside it, leave one: {names}", path=file)
    if not found and not is_folder(folder.parent / "locomo"):
        raise ScenarioError(
            "no locomo*.json lies beside it, and no folder 'locomo' beside its folder", path=file
        )
    return found[0] if found else folder.parent / "locomo"


def _pairs(file: Path) -> list[Pair]:
    value = read_json(file)
    if not isinstance(value, list) or not value:
        raise ScenarioError("not a list of pairs", path=file)
    entries = (JsonObject(file, f"pair {n}", each) for n, each in enumerate(value, start=1))
    return [_pair(n, entry) for n, entry in enumerate(entries, start=1)]


def _pair(number: int, entry: JsonObject) -> Pair:
    remark = _spoken(entry, "trigger_query")
    if len(remark) > 1 or remark[0][0] != "A":
        entry.reject("has a 'trigger_query' that is not one remark of A")
    cue = _spoken(entry, "cue_dialogue")
    if not any(speaker == "A" for speaker, _ in cue):
        entry.reject("has a 'cue_dialogue' in which A says nothing")
    return Pair(
        number=number,
        cue=cue,
        remark=remark[0][1],
        gap=_gap(entry),
        relation=entry.text("relation_type"),
    )


def _spoken(entry: JsonObject, name: str) -> tuple[tuple[str, str], ...]:
    text = entry.text(name).replace("\\n", "\n").strip()
    before, *parts = _SPEAKER.split(text)
    found = tuple(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    if before or not found or not all(text for _, text in found):
        entry.reject(f"has a {name!r} that is not like 'A: Hello.'")
    return found


def _gap(entry: JsonObject) -> timedelta:
    text = entry.text("time_gap")
    found = _GAP.search(text.lower())
    many = _number(found[1]) if found else 0
    if found is None or not many:
        entry.reject(f"has {text!r} as 'time_gap', not one such as 'two weeks later'")
    return timedelta(days=many * _DAYS[found[2]])


def _number(word: str) -> int:
    known = {"a": 1, "an": 1, "several": 3}
    return known.get(word) or next((int(number.value) for number in numbers(word)), 0)


def _scenario(
    file: Path, name: str, talk: JsonObject, turns: Sequence[Turn], pairs: Sequence[Pair]
) -> Scenario:
    names = {"A": talk.text("speaker_a"), "B": talk.text("speaker_b")}
    own = list(_own_sessions(turns))
    remark = _shift(talk, own[-1].start, LATER)
    cues = [
        _Session(
            start=_shift(talk, remark, -pair.gap),
            lines=tuple((names[speaker], text) for speaker, text in pair.cue),
            pair=pair.number,
        )
        for pair in pairs
    ]
    placed = sorted([*own, *cues], key=lambda session: session.start)
    made = list(_turns(talk, placed))
    cited: dict[int, list[str]] = {}
    for number, turn in made:
        cited.setdefault(number, []).append(turn.heard[0].id)
    probes = [_probe(name, pair, names["A"], cited[pair.number]) for pair in pairs]
    return recorded_scenario(
        [turn for _, turn in made],
        probes,
        name=name,
        path=file,
        dataset=DATASET,
        speakers=f"{names['A']} and {names['B']}",
        contents=[
            [[m.id, m.principal, m.time.isoformat(), m.text] for _, t in made for m in t.heard],
            [[p.id, p.ask, p.principal, p.expect, p.evidence] for p in probes],
        ],
        asked=remark,
    )


def _shift(talk: JsonObject, moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        talk.reject(f"has a session on {moment:%Y-%m-%d}, too early or too late for its cues")


def _own_sessions(turns: Iterable[Turn]) -> Iterator[_Session]:
    for _, group in groupby(turns, key=lambda turn: turn.session):
        held = list(group)
        lines = tuple((turn.principal, turn.heard[0].text) for turn in held)
        yield _Session(start=held[0].time, lines=lines)


def _turns(talk: JsonObject, sessions: Iterable[_Session]) -> Iterator[tuple[int, Turn]]:
    """Each turn with the number of the pair of which it is the cue."""
    number, now = 0, None
    for place, session in enumerate(sessions, start=1):
        now = session.start if now is None else max(session.start, now)
        for n, (speaker, text) in enumerate(session.lines, start=1):
            number += 1
            message = said(
                "user",
                text,
                id=f"D{place}:{n}",
                principal=speaker,
                session=f"session_{place}",
                turn=number,
                time=now,
            )
            yield (
                session.pair,
                Turn(
                    number=number,
                    session=message.session,
                    principal=speaker,
                    time=now,
                    heard=(message,),
                ),
            )
            now = _shift(talk, now, UTTERANCE)


def _probe(name: str, pair: Pair, asker: str, evidence: Sequence[str]) -> Probe:
    return Probe(
        id=f"{name}:p{pair.number}",
        ask=pair.remark,
        principal=asker,
        expect=(" ".join(text for speaker, text in pair.cue if speaker == "A"),),
        match=IN_CONTEXT,
        ability="open-domain",
        evidence=tuple(evidence),
        labels={"category": pair.relation, "gap": f"{pair.gap.days} days"},
    )
