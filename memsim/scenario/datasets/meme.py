"""MEME: what a change of one thing does to others, asked before it and after it.

Published at huggingface.co/datasets/meme-benchmark/MEME under CC BY 4.0: `meme_nofiller.json`,
`meme_filler32k.json` and `meme_filler128k.json`. A file is a list of episodes::

    [{"episode_id": "pl_001", "domain": "personal_life",
      "dependency_edges_used": [{"source": "lead", "target": "reviewer", "hop": 1}],
      "sessions": [{"session_id": "e1", "type": "evidence", "timestamp": "2023/03/05 (Sun) 11:55",
                    "conversation": [{"role": "user", "content": "Ana reviews; Ben leads."}],
                    "gold_facts": [{"entity": "lead", "value": "Ben", "conveyed_in_turn": 0}]}],
      "before_questions": {"timestamp": "2023/03/19 (Sun) 00:18", "position_after_session": 0,
                           "questions": [{"task_type": "Cas", "entity": ["reviewer"], "hop": 1,
                                          "question": "Who reviews?", "expected_answer": "Ana"}]},
      "after_questions": {...,
                          "questions": [{..., "gold_answer": "Eli"}]}}]

Each becomes two scenarios: the sessions up to the questions of before, with these, and the sessions
up to those of after, with those. What fields of a session tell of its type is not read.

Evidence is where the facts about a question's entities are told, and for a cascade or an absence
also those that they depend on. Of a deletion and an absence the right answer after the change is
that it is not known: the values that were told are wrong.

Not done: the published scores count such an answer only if that of before was right too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.message import Role
from memsim.scenario.datasets.dataset_scenario import recorded_scenario
from memsim.scenario.datasets.dialogue import (
    ASKER,
    Line,
    dialogue_turns,
    messages_of,
    read_session_date,
)
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

DATASET = "meme"

TASKS: dict[str, tuple[str, Ability]] = {
    "ER": ("exact-recall", "recall"),
    "Agg": ("aggregation", "multi-session"),
    "Tr": ("tracking", "order"),
    "Del": ("deletion", "abstain"),
    "Cas": ("cascade", "update"),
    "Abs": ("absence", "abstain"),
}
"""The file's task types, with their names and our word for what each asks after the change."""

_PHASES = {"before": "expected_answer", "after": "gold_answer"}
"""When questions are asked, and the field of their answers."""

_DEPENDENT = ("Cas", "Abs")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


def load_meme(path: Path) -> list[Scenario]:
    """The episodes of a file of MEME, each as a scenario before the change and one after it.

    Raises:
        ScenarioError: the file is missing, not JSON, or not of this schema.
    """
    value = read_json(path)
    if not isinstance(value, list) or not value:
        raise ScenarioError("not a list of episodes", path=path)
    seen: set[str] = set()
    return [
        _Episode(JsonObject(path, f"episode {n}", member), seen).scenario(phase)
        for n, member in enumerate(value, start=1)
        for phase in _PHASES
    ]


class _Episode:
    """An episode, with where each fact of it is told."""

    def __init__(self, entry: JsonObject, seen: set[str]) -> None:
        self._entry = entry
        self._name = f"{DATASET}-" + re.sub(r"[^\w.-]+", "-", entry.printed("episode_id"))
        self._seen = seen
        self._sessions = _objects(entry, "sessions", "session")
        self._sources: dict[str, list[str]] = {}
        for edge in _objects(entry, "dependency_edges_used", "edge"):
            self._sources.setdefault(edge.text("target"), []).append(edge.text("source"))

    def scenario(self, phase: str) -> Scenario:
        """The scenario of the questions before or after the change."""
        asked = JsonObject(
            self._entry.path,
            f"{self._entry.where}: {phase}_questions",
            self._entry.fields.get(f"{phase}_questions"),
        )
        name = f"{self._name}-{phase}"
        self._entry.check_distinct("episode_id", name, self._seen)
        last = asked.number("position_after_session")
        if not 0 <= last < len(self._sessions):
            asked.reject(f"comes after session {last}, and there are {len(self._sessions)}")
        told = _Told(self._sessions[: last + 1])
        turns = dialogue_turns(told.sessions)
        if not turns:
            asked.reject("comes before any message")
        instant = read_session_date(asked, asked.text("timestamp"))
        probes = [
            self._probe(f"{name}:question-{n}", question, phase, told)
            for n, question in enumerate(_objects(asked, "questions", "question"), start=1)
        ]
        messages = messages_of(turns)
        return recorded_scenario(
            turns,
            probes,
            name=name,
            path=self._entry.path,
            dataset=DATASET,
            speakers=f"{ASKER} and assistant",
            contents=[
                [[m.id, m.role, m.session, m.time.isoformat(), m.text] for m in messages],
                [[p.id, p.ask, p.expect, p.forbid, p.evidence, dict(p.labels)] for p in probes],
                instant.isoformat(),
            ],
            asked=instant,
        )

    def _probe(self, probe_id: str, question: JsonObject, phase: str, told: _Told) -> Probe:
        task = question.text("task_type")
        if task not in TASKS:
            question.reject(f"has {task!r} as 'task_type', which is none of MEME's")
        category, ability = TASKS[task]
        entities = question.texts("entity")
        unanswerable = phase == "after" and ability == "abstain"
        asked = self._with_sources(entities) if task in _DEPENDENT else entities
        evidence = () if unanswerable else told.where(asked)
        labels = {"category": category, "phase": phase}
        if "hop" in question:
            labels["hop"] = str(question.number("hop"))
        return Probe(
            id=probe_id,
            ask=question.text("question"),
            principal=ASKER,
            expect=() if unanswerable else _answer(question, _PHASES[phase]),
            match="all",
            forbid=told.values(entities) if unanswerable else (),
            unanswerable=unanswerable,
            ability="recall" if phase == "before" and task in {"Del", "Cas", "Abs"} else ability,
            evidence=evidence,
            excluded="" if evidence or unanswerable else "no valid evidence",
            labels=labels,
        )

    def _with_sources(self, entities: Sequence[str]) -> list[str]:
        """Some entities with all that they depend on."""
        found = dict.fromkeys(entities)
        waiting = [*entities]
        while waiting:
            new = [name for name in self._sources.get(waiting.pop(), ()) if name not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return [*found]


class _Told:
    """What some sessions say, with the messages and values of each entity."""

    def __init__(self, sessions: Sequence[JsonObject]) -> None:
        self.sessions = []
        self._messages: list[tuple[str, str]] = []
        self._values: list[tuple[str, str]] = []
        number = 0
        for session in sessions:
            date = read_session_date(session, session.text("timestamp"))
            lines: list[Line] = []
            ids: dict[int, str] = {}
            for place, message in enumerate(_objects(session, "conversation", "message")):
                role, text = message.text("role"), message.text("content").strip()
                if role not in _ROLES:
                    message.reject(f"has {role!r} as 'role', not 'user' or 'assistant'")
                if text:
                    number += 1
                    ids[place] = f"m{number}"
                    lines.append((_ROLES[role], text))
            self.sessions.append((date, lines))
            if "gold_facts" in session:
                self._note(_objects(session, "gold_facts", "fact"), ids)

    def _note(self, facts: Sequence[JsonObject], ids: Mapping[int, str]) -> None:
        for fact in facts:
            entity = fact.text("entity")
            self._values += [(entity, value) for value in _texts(fact.fields.get("value"))]
            if "conveyed_in_turn" in fact:
                message = ids.get(fact.number("conveyed_in_turn"))
                self._messages += [(entity, message)] if message else []

    def where(self, entities: Sequence[str]) -> tuple[str, ...]:
        """The messages that tell of some entities, in order."""
        return tuple(dict.fromkeys(m for entity, m in self._messages if entity in entities))

    def values(self, entities: Sequence[str]) -> tuple[str, ...]:
        """What was said of some entities."""
        return tuple(dict.fromkeys(v for entity, v in self._values if entity in entities))


def _answer(question: JsonObject, name: str) -> tuple[str, ...]:
    """What is expected: every text of a list, or the one that there is."""
    if not isinstance(question.fields.get(name), list):
        return (question.printed(name),)
    return tuple(question.texts(name))


def _texts(value: object) -> Iterator[str]:
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and text.strip():
            yield text.strip()


def _objects(entry: JsonObject, name: str, kind: str) -> list[JsonObject]:
    return [
        JsonObject(entry.path, f"{entry.where}: {kind} {n}", value)
        for n, value in enumerate(entry.members(name), start=1)
    ]
