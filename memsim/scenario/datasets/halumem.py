"""HaluMem: years of a user with an assistant, what each session told, and questions after it.

Published at huggingface.co/datasets/IAAR-Shanghai/HaluMem under CC BY-NC-ND 4.0: `HaluMem-Medium`
and `HaluMem-Long`. A file has a user on each line::

    {"uuid": "u1", "sessions": [
      {"start_time": "Jan 15, 2029, 15:12:20",
       "memory_points": [{"memory_content": "Ana moved to Oslo.", "memory_type": "Event Memory",
                          "memory_source": "secondary", "is_update": "True",
                          "original_memories": ["Ana lives in Bergen."]}],
       "dialogue": [{"role": "user", "content": "I moved to Oslo.",
                     "timestamp": "Jan 15, 2029, 15:12:20"},
                    {"role": "assistant", "content": "Nice.",
                     "timestamp": "Jan 15, 2029, 15:12:20"}],
       "questions": [{"question": "Where does Ana live?", "answer": "Oslo",
                      "evidence": [{"memory_content": "Ana moved to Oslo."}],
                      "difficulty": "easy", "question_type": "Dynamic Update"}]}]}

Each user becomes a scenario: the sessions in the order of the file, and a session's questions right
after it. Questions of the type `Memory Boundary` have no answer.

Memory points are planted as facts, as `halumem_facts` says.

Repairs: a question names memory points and no message, so `halumem_points` finds the message that
told each. A point that several sessions told counts for the last of them before the question. A
message without a time, or with one before that of the message before it, comes a minute after that
message. Sessions without points or questions, as inserted in `HaluMem-Long`, are played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.language.lexicon import MONTHS
from memsim.scenario.datasets.chat_turns import ASKER, ROLES, ChatLine, chat_turns
from memsim.scenario.datasets.dataset_files import find_file
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.halumem_facts import plant_points
from memsim.scenario.datasets.halumem_points import MemoryPoint, read_points
from memsim.scenario.datasets.json_file import JsonObject, read_json_lines
from memsim.scenario.script import Ability, Probe, Scenario, Turn

DATASET = "halumem"

ABILITIES: dict[str, Ability] = {
    "Basic Fact Recall": "recall",
    "Dynamic Update": "update",
    "Generalization & Application": "open-domain",
    "Memory Boundary": "abstain",
    "Memory Conflict": "conflict",
    "Multi-hop Inference": "multi-session",
}
"""The file's types of questions, and our word for what each asks of a memory."""

_DATE = re.compile(r"([A-Z][a-z]{2}) (\d{1,2}), (\d{4}), (\d\d):(\d\d):(\d\d)")
_LAST_YEAR = 9000
"""Later years leave no room for the time that a conversation takes."""


def load_halumem(path: Path) -> list[Scenario]:
    """The users of a file of HaluMem, or of a folder that holds one, each as a scenario.

    Raises:
        ScenarioError: the file is missing, not JSON Lines, or not of this schema.
    """
    file = find_file(path, "*.jsonl")
    users = [
        JsonObject(file, f"user {n}", value)
        for n, (_, value) in enumerate(read_json_lines(file), start=1)
    ]
    if not users:
        raise ScenarioError("holds no user", path=file)
    return [_scenario(user, f"{DATASET}-{n}") for n, user in enumerate(users, start=1)]


def _scenario(user: JsonObject, name: str) -> Scenario:
    sessions = _Sessions(user)
    lines = [line for session in sessions.lines for line in session]
    if not lines:
        user.reject("has no message")
    turns = plant_points(chat_turns(lines), sessions.points)
    asked = list(sessions.probes(name, turns))
    return recorded_scenario(
        turns,
        [probe for probe, _ in asked],
        name=name,
        path=user.path,
        dataset=DATASET,
        speakers=f"{ASKER} and assistant",
        contents=[
            [[line.id, line.role, line.time.isoformat(), line.text] for line in lines],
            [
                [f.id, f.value, f.source, f.replaces, f.contradicts, f.kind]
                for turn in turns
                for f in turn.facts
            ],
            [
                [p.id, p.ask, p.expect, p.evidence, sorted(p.labels.items()), after]
                for p, after in asked
            ],
        ],
        asked_after={probe.id: after for probe, after in asked},
    )


class _Sessions:
    """The sessions of a user: their messages, and what they told."""

    def __init__(self, user: JsonObject) -> None:
        self.lines: list[list[ChatLine]] = []
        self.points: list[list[MemoryPoint]] = []
        self._entries: list[JsonObject] = []
        now: datetime | None = None
        for place, value in enumerate(user.members("sessions"), start=1):
            entry = JsonObject(user.path, f"{user.where}: session {place}", value)
            lines = list(_read_lines(entry, place, now))
            # The questions after a session take a minute, before the next begins.
            now = lines[-1].time + UTTERANCE if lines else now
            self._entries.append(entry)
            self.lines.append(lines)
            self.points.append(read_points(entry, place, lines))

    def probes(self, name: str, turns: list[Turn]) -> Iterator[tuple[Probe, int]]:
        """The questions of all sessions, each with the turn after which it is asked."""
        last = {turn.session: turn.number for turn in turns}
        told: dict[str, MemoryPoint] = {}
        after = 0
        for place, entry in enumerate(self._entries, start=1):
            after = last.get(f"session-{place}", after)
            told |= {point.text: point for point in self.points[place - 1]}
            if "questions" not in entry:
                continue
            for n, value in enumerate(entry.members("questions"), start=1):
                question = JsonObject(entry.path, f"{entry.where}: question {n}", value)
                yield _probe(f"{name}:s{place}-q{n}", question, told), after


def _read_lines(session: JsonObject, place: int, before: datetime | None) -> Iterator[ChatLine]:
    now = before
    for n, value in enumerate(session.members("dialogue"), start=1):
        entry = JsonObject(session.path, f"{session.where}: message {n}", value)
        role, text = entry.text("role"), entry.text("content")
        if role not in ROLES:
            entry.reject(f"has {role!r} as 'role', not 'user' or 'assistant'")
        now = _time(entry, session, now)
        if text.strip():
            yield ChatLine(
                id=f"s{place}-m{n}",
                role=ROLES[role],
                text=text,
                session=f"session-{place}",
                time=now,
            )


def _time(entry: JsonObject, session: JsonObject, before: datetime | None) -> datetime:
    next_minute = before + UTTERANCE if before else None
    if "timestamp" in entry:
        said = _date(entry, "timestamp")
    elif next_minute:
        return next_minute
    else:
        said = _date(session, "start_time")
    return max(said, next_minute) if next_minute else said


def _date(entry: JsonObject, name: str) -> datetime:
    text = entry.text(name)
    try:
        return _instant(text)
    except ValueError:
        entry.reject(f"has {text!r} as {name!r}, not a date such as 'Jan 15, 2029, 15:12:20'")


def _instant(text: str) -> datetime:
    # strptime would read the names of months in the machine's own language.
    found = _DATE.fullmatch(text.strip())
    if found is None or int(found[3]) > _LAST_YEAR:
        raise ValueError(text)
    month = [name[:3] for name in MONTHS].index(found[1].lower()) + 1
    day, year, hour, minute, second = map(int, found.groups()[1:])
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def _probe(probe_id: str, entry: JsonObject, told: Mapping[str, MemoryPoint]) -> Probe:
    kind = entry.text("question_type")
    if kind not in ABILITIES:
        entry.reject(f"has {kind!r} as 'question_type', which is none of HaluMem's")
    unanswerable = ABILITIES[kind] == "abstain"
    points = [] if unanswerable else _cited(entry, told)
    evidence = tuple(dict.fromkeys(source for point in points for source in point.evidence))
    clear = all(point.clear for point in points)
    return Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=ASKER,
        expect=() if unanswerable else (entry.printed("answer"),),
        unanswerable=unanswerable,
        ability=ABILITIES[kind],
        evidence=evidence,
        excluded="" if evidence or unanswerable else "no valid evidence",
        labels={
            "category": re.sub(r"\W+", "-", kind.lower()),
            "difficulty": entry.text("difficulty"),
            "evidence": "none" if not evidence else "message" if clear else "session",
        },
    )


def _cited(entry: JsonObject, told: Mapping[str, MemoryPoint]) -> list[MemoryPoint]:
    named = (
        JsonObject(entry.path, f"{entry.where}: evidence {n}", value).text("memory_content")
        for n, value in enumerate(entry.members("evidence"), start=1)
    )
    return [told[text] for text in named if text in told]
