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
a reply. A question is asked on behalf of a speaker: a memory that keeps one memory for each person
has nothing of a stranger.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, ScenarioError
from memsim.json_input import is_regular
from memsim.language.lexicon import MONTHS
from memsim.message import said
from memsim.scenario.datasets.dataset_files import find_file
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.datasets.locomo_audit import Audit, read_audit
from memsim.scenario.script import Ability, Probe, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from memsim.scenario.datasets.locomo_audit import Finding


# Repairs the message ids that LoCoMo's questions cite: a few are written unlike the turns' own.


_ID = re.compile(r"D:?(\d+):(\d+)")


def repair_evidence(cited: Iterable[str], known: Container[str]) -> tuple[str, ...]:
    """The cited messages that exist, each once, in the order cited.

    One string may cite several (`D8:6; D9:17`), have a colon too many (`D:11:26`) or a zero
    (`D30:05`); what then names no message of the conversation is dropped.
    """
    found: dict[str, None] = {}
    for text in cited:
        if text in known:
            found[text] = None
            continue
        for session, turn in _ID.findall(text):
            message = f"D{int(session)}:{int(turn)}"
            if message in known:
                found[message] = None
    return tuple(found)


# Reads the questions of a LoCoMo conversation as probes, with what an audit found about them.


CATEGORIES: dict[int, tuple[str, Ability]] = {
    1: ("multi-hop", "multi-session"),
    2: ("temporal", "temporal"),
    3: ("open-domain", "open-domain"),
    4: ("single-hop", "recall"),
    5: ("adversarial", "abstain"),
}
"""The file's category numbers, with their names and our word for what they ask of a memory."""


WRONG = "audited-wrong"
"""The label of a gold answer, or of a citation, that an audit found wrong."""


def read_question(
    probe_id: str, entry: JsonObject, known: Container[str], speakers: Sequence[str]
) -> Probe:
    """A question as a probe, on behalf of the speaker whom it is about.

    Raises:
        ScenarioError: it is not of the schema.
    """
    number = entry.number("category")
    if number not in CATEGORIES:
        entry.reject(f"has the 'category' {number}, not 1 to {len(CATEGORIES)}")
    category, ability = CATEGORIES[number]
    unanswerable = category == "adversarial"
    tempting = unanswerable and "adversarial_answer" in entry
    question = entry.text("question")
    probe = Probe(
        id=probe_id,
        ask=question,
        principal=speaker_named(question, speakers),
        expect=() if unanswerable else (entry.printed("answer"),),
        forbid=(entry.printed("adversarial_answer"),) if tempting else (),
        unanswerable=unanswerable,
        ability=ability,
        labels={"category": category},
    )
    return _cite(probe, repair_evidence(entry.texts("evidence"), known))


def speaker_named(question: str, speakers: Sequence[str]) -> str:
    """The speaker whom a question names first, in full or short (`Mel`); or the first speaker."""
    for word in re.findall(r"\w+", question):
        for speaker in speakers:
            if word.startswith(speaker) or (len(word) > 2 and speaker.startswith(word)):
                return speaker
    return speakers[0]


def label_audited(
    probe: Probe, finding: Finding | None, known: Container[str], *, correct_evidence: bool
) -> Probe:
    """A probe of an audited file, labelled with what the audit found."""
    labels = {**probe.labels, "gold": "ok", "citation": "ok"}
    if finding is None:
        return replace(probe, labels=labels)
    labels["citation" if finding.citation else "gold"] = WRONG
    labelled = replace(probe, labels=labels)
    if not (correct_evidence and finding.citation):
        return labelled
    return _cite(labelled, repair_evidence(finding.evidence, known))


def gold_is_wrong(probe: Probe) -> bool:
    """Whether an audit found the probe's gold answer wrong."""
    return probe.labels.get("gold") == WRONG


def _cite(probe: Probe, evidence: tuple[str, ...]) -> Probe:
    excluded = "" if evidence else "no valid evidence"
    return replace(probe, evidence=evidence, excluded=excluded)


# Reads the talk of a LoCoMo conversation as turns: who said what, in which session, and when.


_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d\d) ?([ap])m on (\d{1,2}) ([a-z]+), ?([12]\d{3})")


def read_talk(talk: JsonObject, name: str) -> list[Turn]:
    """The turns of a conversation, in order, one for each utterance.

    Raises:
        ScenarioError: it is not of the schema, or has no turn.
    """
    turns: list[Turn] = []
    seen: set[str] = set()
    for session, lines in _sessions(talk):
        now = _date(talk, f"{session}_date_time")
        for n, line in enumerate(lines, start=1):
            entry = JsonObject(talk.path, f"{name}: {session}: turn {n}", line)
            turn = _turn(entry, len(turns) + 1, session, now)
            entry.check_distinct("dia_id", turn.heard[0].id, seen)
            turns.append(turn)
            now += UTTERANCE
    if not turns:
        talk.reject("has no turn")
    return turns


def _sessions(talk: JsonObject) -> Iterator[tuple[str, list[object]]]:
    """The sessions that have turns; dates without a session are common in the file."""
    numbers = sorted(int(m[1]) for key in talk.fields if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        lines = talk.members(f"session_{number}")
        if lines:
            yield f"session_{number}", lines


def _date(talk: JsonObject, name: str) -> datetime:
    text = talk.text(name)
    try:
        return _instant(text)
    except ValueError:
        talk.reject(f"has {text!r} as {name!r}, not a date such as '1:56 pm on 8 May, 2023'")


def _instant(text: str) -> datetime:
    # strptime would read the names of months in the machine's own language.
    found = _DATE.fullmatch(" ".join(text.lower().split()))
    if found is None or not 1 <= int(found[1]) <= 12:
        raise ValueError(text)
    hour = int(found[1]) % 12 + (12 if found[3] == "p" else 0)
    month = MONTHS.index(found[5]) + 1
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)


def _turn(entry: JsonObject, number: int, session: str, now: datetime) -> Turn:
    speaker = entry.text("speaker")
    words = entry.text("text")
    if "blip_caption" in entry:
        words = f"{words} [shares {entry.text('blip_caption')}]".strip()
    message = said(
        "user",
        words,
        id=entry.text("dia_id"),
        principal=speaker,
        session=session,
        turn=number,
        time=now,
    )
    return Turn(number=number, session=session, principal=speaker, time=now, heard=(message,))


DATASET = "locomo"
_FLAGS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


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
    file = find_file(Path(path), "locomo*.json")
    listed = Path(audit) if audit is not None else _beside(file)
    if listed is None and (mask_bad_gold or correct_evidence):
        raise ScenarioError("no audit-errors*.json lies beside it", path=file)
    entries = _entries(file)
    found = read_audit(listed, _questions(entries)) if listed else None
    scenarios = []
    for entry in entries:
        turns = read_talk(
            JsonObject(file, f"{entry.where}: conversation", _talk(entry)), entry.where
        )
        asked = list(_ask(entry, turns, found, correct_evidence=correct_evidence))
        kept = [p for p in asked if not (mask_bad_gold and gold_is_wrong(p))]
        scenarios.append(
            recorded_scenario(
                turns,
                kept,
                name=entry.where,
                path=file,
                dataset=DATASET,
                speakers=" and ".join(dict.fromkeys(turn.principal for turn in turns)),
                contents=_contents(turns, kept),
                left_out=len(asked) - len(kept),
            )
        )
    return scenarios


def read_talks(path: Path) -> Iterator[tuple[JsonObject, list[Turn]]]:
    """Each conversation of a LoCoMo file, called by its name, with its turns.

    Raises:
        ScenarioError: the file is missing, not JSON, or not of this schema.
    """
    file = find_file(path, "locomo*.json")
    for entry in _entries(file):
        talk = JsonObject(file, entry.where, _talk(entry))
        yield talk, read_talk(talk, entry.where)


def locomo_from_options(
    path: Path, *, audit: str = "", correct_evidence: str = "false", mask_bad_gold: str = "false"
) -> list[Scenario]:
    """`load_locomo` with its options as written on a command line.

    `mask_bad_gold` takes `true`, `false` or the audit file itself.

    Raises:
        ConfigError: an option takes no such value.
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    named = mask_bad_gold.strip().lower() not in _FLAGS
    return load_locomo(
        path,
        audit=mask_bad_gold if named else audit or None,
        mask_bad_gold=named or read_flag("mask_bad_gold", mask_bad_gold),
        correct_evidence=read_flag("correct_evidence", correct_evidence),
    )


def read_flag(name: str, text: str) -> bool:
    """Read an option that is true or false.

    Raises:
        ConfigError: it is neither.
    """
    value = _FLAGS.get(text.strip().lower())
    if value is None:
        raise ConfigError(f"{name} is true or false, not {text!r}")
    return value


def _beside(file: Path) -> Path | None:
    found = sorted(p for p in file.parent.glob("audit-errors*.json") if is_regular(p))
    if len(found) > 1:
        names = ", ".join(p.name for p in found)
        raise ScenarioError(f"several audits here, name one: {names}", path=file.parent)
    return found[0] if found else None


def _entries(file: Path) -> list[JsonObject]:
    value = read_json(file)
    if not isinstance(value, list):
        raise ScenarioError("not a list of conversations", path=file)
    if not value:
        raise ScenarioError("holds no conversation", path=file)
    entries = [JsonObject(file, f"conversation {n}", v) for n, v in enumerate(value, start=1)]
    seen: set[str] = set()
    for entry in entries:
        name = entry.text("sample_id")
        if not re.fullmatch(r"[\w.-]+", name):
            entry.reject(f"has {name!r} as 'sample_id', not letters, digits, '-', '_' and '.'")
        entry.check_distinct("sample_id", name, seen)
        entry.where = name
    return entries


def _questions(entries: Iterable[JsonObject]) -> dict[str, list[str]]:
    return {entry.where: [qa.text("question") for qa in _qas(entry)] for entry in entries}


def _qas(entry: JsonObject) -> list[JsonObject]:
    where = f"{entry.where}: question"
    return [JsonObject(entry.path, f"{where} {n}", qa) for n, qa in enumerate(entry.members("qa"))]


def _talk(entry: JsonObject) -> object:
    if "conversation" not in entry:
        entry.reject("has no 'conversation'")
    return entry.fields["conversation"]


def _ask(
    entry: JsonObject, turns: Sequence[Turn], audit: Audit | None, *, correct_evidence: bool
) -> Iterator[Probe]:
    known = {message.id for turn in turns for message in turn.heard}
    speakers = list(dict.fromkeys(turn.principal for turn in turns))
    for place, qa in enumerate(_qas(entry)):
        probe = read_question(f"{entry.where}:q{place}", qa, known, speakers)
        if audit is None:
            yield probe
        else:
            finding = audit.get((entry.where, place))
            yield label_audited(probe, finding, known, correct_evidence=correct_evidence)


def _contents(turns: Iterable[Turn], probes: Iterable[Probe]) -> list[object]:
    said_in = [
        [m.id, m.principal, m.session, m.time.isoformat(), m.text] for t in turns for m in t.heard
    ]
    asked = [
        [p.id, p.ask, p.principal, p.expect, p.forbid, p.evidence, sorted(p.labels.items())]
        for p in probes
    ]
    return [said_in, asked]
