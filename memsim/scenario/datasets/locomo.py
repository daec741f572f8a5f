"""LoCoMo: long recorded conversations between two people, with questions about them.

The published file is a list of conversations::

    [{"sample_id": "conv-26",
      "conversation": {"speaker_a": "Ana", "speaker_b": "Ben",
                       "session_1_date_time": "1:56 pm on 8 May, 2023",
                       "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Hi!",
                                      "blip_caption": "a photo of a dog"}, ...], ...},
      "qa": [{"question": "...", "answer": "...", "category": 2, "evidence": ["D1:3"]},
             {"question": "...", "adversarial_answer": "...", "category": 5, "evidence": []}, ...]}]

Each becomes a scenario: one turn for each utterance, and every question asked after the end.
Question `conv-26:q17` is the one at place 17, counted from 0. Nobody's model speaks, so no turn has
a reply.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, ScenarioError, nearest
from memsim.scenario.datasets.json_file import Entry, read_json
from memsim.scenario.datasets.locomo_audit import Audit, read_audit
from memsim.scenario.datasets.locomo_questions import (
    ASKER,
    gold_is_wrong,
    label_audited,
    read_question,
)
from memsim.scenario.datasets.locomo_talk import UTTERANCE, read_talk
from memsim.scenario.script import Ask, Elapsed, Granted, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memsim.scenario.script import Probe, ScriptEvent, Turn

DATASET = "locomo"
_FLAGS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_OPTIONS = ("audit", "correct_evidence", "mask_bad_gold")


def load_locomo(
    path: Path | str,
    *,
    audit: Path | str | None = None,
    mask_bad_gold: bool = False,
    correct_evidence: bool = False,
) -> list[Scenario]:
    """The conversations of a LoCoMo file.

    Args:
        path: the JSON file, or a folder that holds exactly one `locomo*.json`.
        audit: a list of gold answers and citations that are known to be wrong; by default the
            `audit-errors*.json` beside the file, where there is one. Probes are then labelled
            `gold` and `citation`: `ok` or `audited-wrong`.
        mask_bad_gold: leave out the questions whose gold answer the audit found wrong.
        correct_evidence: take the audit's evidence where it found the citation wrong.

    Raises:
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    file = _find(Path(path))
    listed = Path(audit) if audit is not None else _beside(file)
    if listed is None and (mask_bad_gold or correct_evidence):
        raise ScenarioError("no audit-errors*.json lies beside it", path=file)
    entries = _entries(file)
    found = read_audit(listed, _questions(entries)) if listed else None
    scenarios = []
    for entry in entries:
        turns = read_talk(Entry(file, f"{entry.where}: conversation", _talk(entry)), entry.where)
        asked = list(_ask(entry, turns, found, correct_evidence=correct_evidence))
        kept = [p for p in asked if not (mask_bad_gold and gold_is_wrong(p))]
        scenarios.append(_scenario(entry, turns, kept, left_out=len(asked) - len(kept)))
    return scenarios


def locomo_from_options(path: Path, options: Mapping[str, str]) -> list[Scenario]:
    """`load_locomo` with its options as written on a command line.

    `mask_bad_gold` takes `true`, `false` or the audit file itself.

    Raises:
        ConfigError: there is no such option, or it takes no such value.
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    for name in options:
        if name not in _OPTIONS:
            raise ConfigError(f"locomo has no option {name!r}", hint=nearest(name, _OPTIONS))
    mask = options.get("mask_bad_gold", "false")
    named = mask.strip().lower() not in _FLAGS
    return load_locomo(
        path,
        audit=mask if named else options.get("audit"),
        mask_bad_gold=named or _flag("mask_bad_gold", mask),
        correct_evidence=_flag("correct_evidence", options.get("correct_evidence", "false")),
    )


def _flag(name: str, text: str) -> bool:
    value = _FLAGS.get(text.strip().lower())
    if value is None:
        raise ConfigError(f"{name} is true or false, not {text!r}")
    return value


def _find(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(p for p in path.glob("locomo*.json") if p.is_file())
    if len(found) == 1:
        return found[0]
    if not found:
        raise ScenarioError("no locomo*.json in this folder", path=path)
    names = ", ".join(p.name for p in found)
    raise ScenarioError(f"several files here, name one: {names}", path=path)


def _beside(file: Path) -> Path | None:
    found = sorted(p for p in file.parent.glob("audit-errors*.json") if p.is_file())
    if len(found) > 1:
        names = ", ".join(p.name for p in found)
        raise ScenarioError(f"several audits here, name one: {names}", path=file.parent)
    return found[0] if found else None


def _entries(file: Path) -> list[Entry]:
    value = read_json(file)
    if not isinstance(value, list):
        raise ScenarioError("not a list of conversations", path=file)
    if not value:
        raise ScenarioError("holds no conversation", path=file)
    entries = [Entry(file, f"conversation {n}", v) for n, v in enumerate(value, start=1)]
    seen: set[str] = set()
    for entry in entries:
        name = entry.text("sample_id")
        if not re.fullmatch(r"[\w.-]+", name):
            entry.reject(f"has {name!r} as 'sample_id', not letters, digits, '-', '_' and '.'")
        if name in seen:
            entry.reject(f"has the 'sample_id' {name!r} of another")
        seen.add(name)
        entry.where = name
    return entries


def _questions(entries: Iterable[Entry]) -> dict[str, list[str]]:
    return {entry.where: [qa.text("question") for qa in _qas(entry)] for entry in entries}


def _qas(entry: Entry) -> list[Entry]:
    where = f"{entry.where}: question"
    return [Entry(entry.path, f"{where} {n}", qa) for n, qa in enumerate(entry.members("qa"))]


def _talk(entry: Entry) -> object:
    if "conversation" not in entry:
        entry.reject("has no 'conversation'")
    return entry.fields["conversation"]


def _ask(
    entry: Entry, turns: Iterable[Turn], audit: Audit | None, *, correct_evidence: bool
) -> Iterator[Probe]:
    known = {message.id for turn in turns for message in turn.heard}
    for place, qa in enumerate(_qas(entry)):
        probe = read_question(f"{entry.where}:q{place}", qa, known)
        if audit is None:
            yield probe
        else:
            finding = audit.get((entry.where, place))
            yield label_audited(probe, finding, known, correct_evidence=correct_evidence)


def _scenario(
    entry: Entry, turns: Sequence[Turn], probes: Sequence[Probe], *, left_out: int
) -> Scenario:
    speakers = tuple(dict.fromkeys(turn.principal for turn in turns))
    return Scenario(
        name=entry.where,
        path=str(entry.path),
        about=_about(speakers, turns, probes, left_out=left_out),
        play=partial(_play, tuple(turns), tuple(probes)),
        turns=len(turns),
        probes=tuple(probes),
        principals=(*speakers, ASKER),
        fingerprint=_fingerprint(turns, probes),
        dataset=DATASET,
    )


def _about(
    speakers: Sequence[str], turns: Sequence[Turn], probes: Sequence[Probe], *, left_out: int
) -> str:
    sessions = len({turn.session for turn in turns})
    unfounded = sum(bool(p.excluded) for p in probes)
    parts = [f"{' and '.join(speakers)}, {sessions} sessions, {len(probes)} questions"]
    if unfounded:
        parts.append(f"{unfounded} without valid evidence")
    if left_out:
        parts.append(f"{left_out} left out for a wrong gold answer")
    return ", ".join(parts)


def _play(turns: Sequence[Turn], probes: Sequence[Probe], _seed: int) -> Iterator[ScriptEvent]:
    # Who asks the questions took no part in what was said, and may know all of it.
    for speaker in dict.fromkeys(turn.principal for turn in turns):
        yield Granted(owner=speaker, viewer=ASKER, everything=True)
    yield turns[0]
    for before, turn in pairwise(turns):
        if turn.session != before.session:
            yield Elapsed(now=turn.time)
        yield turn
    last = turns[-1]
    for probe in probes:
        yield Ask(probe=probe, turn=last.number, session=last.session, time=last.time + UTTERANCE)


def _fingerprint(turns: Iterable[Turn], probes: Iterable[Probe]) -> str:
    said_in = [
        [m.id, m.principal, m.session, m.time.isoformat(), m.text] for t in turns for m in t.heard
    ]
    asked = [
        [p.id, p.ask, p.expect, p.forbid, p.evidence, sorted(p.labels.items())] for p in probes
    ]
    text = json.dumps([said_in, asked], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
