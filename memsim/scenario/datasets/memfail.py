"""MemFail: facts of many people in one memory, each file adverse to one part of a memory.

Published at github.com/ishirgarg/MemFail, which states no licence: five CSV files in `datasets`,
told apart by their columns. A cell of several texts is a JSON list.

========================  =========================================================================
kind                      columns that are read
========================  =========================================================================
coexisting facts          `preferences`, `preference_facts`, `question`
conditional facts         `entity_facts`, `question`, `condition_met` (`yes` or `no`)
persona retrieval         `entity`, `entity_facts`, `questions`: a JSON list of `text`,
                          `is_misleading`, `distractor` and `ground_truth_answer`
long hop                  `fact_1` to `fact_4`, `graded_question`, `choice_a` to `choice_e`,
                          `correct_choice`, `hop_count`
========================  =========================================================================

Each file becomes a scenario, because the published evaluation stores all of a file in one memory.
As there, all first facts are told, then all second ones, ten in a session, so that facts of one row
share no session. Then every question is asked.

Repairs: the options that follow a question of long hop are shown as options. A misleading question
about a person whom another row describes is left out. Files of drafts, `*_raw.csv`, are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.message import EPOCH, said
from memsim.scenario.datasets.csv_file import json_cell, read_csv
from memsim.scenario.datasets.dataset_files import find_files
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject
from memsim.scenario.script import Probe, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DATASET = "memfail"
ASKER = "user"
"""Who tells and asks everything."""

FACTS_OF_SESSION = 10
"""As in the published evaluation."""

_DRAFT = "_raw"
_OPTIONS = re.compile(r"\s*\n\s*Options:.*", re.DOTALL)
_LETTERS = "abcde"
_FACTS = ("fact_1", "fact_2", "fact_3", "fact_4")
_YES_OR_NO = ("yes", "no")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The facts of a row, and its questions without evidence."""

    facts: tuple[str, ...]
    questions: tuple[Probe, ...]


def load_memfail(path: Path) -> list[Scenario]:
    """The files of MemFail at a path, or in a folder and two levels of folders in it.

    Raises:
        ScenarioError: a file is missing, not CSV, or of none of the schemas.
    """
    files = find_files(path, ".csv", levels=3)
    kept = [file for file in files if not file.stem.endswith(_DRAFT)] or files
    seen: set[str] = set()
    return [_scenario(file, seen) for file in kept]


def _scenario(path: Path, seen: set[str]) -> Scenario:
    name = f"{DATASET}-" + re.sub(r"[^\w.-]+", "-", path.stem)
    if name in seen:
        raise ScenarioError("has the name of another file", path=path)
    seen.add(name)
    entries = read_csv(path)
    kind, read = _kind(entries[0])
    rows = [read(entry) for entry in entries]
    rows, left_out = _without_known(rows, entries)
    if not any(row.questions for row in rows):
        raise ScenarioError("holds no question", path=path)
    turns, places = _turns(rows)
    probes = [
        replace(
            probe,
            id=f"{name}:row-{n}-{m}",
            evidence=() if probe.unanswerable else places[n - 1],
            labels={"category": kind, **probe.labels},
        )
        for n, row in enumerate(rows, start=1)
        for m, probe in enumerate(row.questions, start=1)
    ]
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=path,
        dataset=DATASET,
        speakers=ASKER,
        contents=[
            [[m.id, m.session, m.time.isoformat(), m.text] for t in turns for m in t.heard],
            [[p.id, p.ask, p.expect, p.choices, p.evidence, dict(p.labels)] for p in probes],
        ],
        note=f"{left_out} left out, whose person is known" if left_out else "",
    )


def _kind(row: JsonObject) -> tuple[str, Callable[[JsonObject], _Row]]:
    found = next((kind for column, kind in _KINDS.items() if column in row.fields), None)
    if found is None:
        row.reject(f"has none of MemFail's columns {', '.join(map(repr, _KINDS))}")
    return found


def _facts(entry: JsonObject, name: str) -> tuple[str, ...]:
    facts = tuple(json_cell(entry, name).texts(name))
    if not facts or not all(fact.strip() for fact in facts):
        entry.reject(f"has no fact, or an empty one, as {name!r}")
    return facts


def _coexisting(entry: JsonObject) -> _Row:
    facts = _facts(entry, "preference_facts")
    probe = Probe(
        id="",
        ask=entry.text("question"),
        expect=_facts(entry, "preferences"),
        ability="preference",
        match="all",
        labels={"facts": str(len(facts))},
    )
    return _Row(facts=facts, questions=(probe,))


def _conditional(entry: JsonObject) -> _Row:
    met = entry.text("condition_met").strip().lower()
    if met not in _YES_OR_NO:
        entry.reject(f"has {met!r} as 'condition_met', not 'yes' or 'no'")
    probe = Probe(
        id="",
        ask=entry.text("question"),
        expect=(met,),
        match="choice",
        choices=_YES_OR_NO,
        labels={"condition": "met" if met == "yes" else "not met"},
    )
    return _Row(facts=_facts(entry, "entity_facts"), questions=(probe,))


def _persona(entry: JsonObject) -> _Row:
    cell = json_cell(entry, "questions")
    listed = [
        JsonObject(entry.path, f"{entry.where}: question {n}", value)
        for n, value in enumerate(cell.members("questions"), start=1)
    ]
    return _Row(facts=_facts(entry, "entity_facts"), questions=tuple(map(_about_person, listed)))


def _about_person(question: JsonObject) -> Probe:
    misleads = question.fields.get("is_misleading")
    if not isinstance(misleads, bool):
        question.reject("has as 'is_misleading' neither true nor false")
    return Probe(
        id="",
        ask=question.text("text"),
        expect=() if misleads else (question.text("ground_truth_answer"),),
        unanswerable=misleads,
        ability="abstain" if misleads else "recall",
        labels={"person": question.text("distractor").strip() if misleads else ""},
    )


def _long_hop(entry: JsonObject) -> _Row:
    letter = entry.text("correct_choice").strip().lower()
    choices = {each: entry.text(f"choice_{each}").strip() for each in _LETTERS}
    if not choices.get(letter):
        entry.reject(f"has {letter!r} as 'correct_choice', which is none of its choices")
    facts = tuple(text for name in _FACTS if (text := entry.text(name)).strip())
    if not facts:
        entry.reject("has no fact")
    probe = Probe(
        id="",
        ask=_OPTIONS.sub("", entry.text("graded_question")),
        expect=(choices[letter],),
        ability="multi-session",
        match="choice",
        choices=tuple(dict.fromkeys(filter(None, choices.values()))),
        labels={"hops": entry.text("hop_count")},
    )
    return _Row(facts=facts, questions=(probe,))


_KINDS: dict[str, tuple[str, Callable[[JsonObject], _Row]]] = {
    "preference_facts": ("coexisting-facts", _coexisting),
    "condition_met": ("conditional-facts", _conditional),
    "questions": ("persona-retrieval", _persona),
    "graded_question": ("long-hop", _long_hop),
}
"""What reads the rows of each kind, by a column that no other kind has."""


def _without_known(rows: Sequence[_Row], entries: Sequence[JsonObject]) -> tuple[list[_Row], int]:
    """The rows without misleading questions about a person of the file, and how many those were."""
    known = {str(entry.fields.get("entity", "")).strip() for entry in entries} - {""}
    kept = []
    for row in rows:
        asked = (p for p in row.questions if not (p.unanswerable and p.labels["person"] in known))
        # Who is asked about is for this check only: reports would slice by it.
        bare = tuple(
            replace(p, labels={n: v for n, v in p.labels.items() if n != "person"}) for p in asked
        )
        kept.append(replace(row, questions=bare))
    before, after = (sum(len(row.questions) for row in listed) for listed in (rows, kept))
    return kept, before - after


def _turns(rows: Sequence[_Row]) -> tuple[list[Turn], list[tuple[str, ...]]]:
    """A turn for each fact by its place in its row, and the messages of each row."""
    turns: list[Turn] = []
    places: list[list[str]] = [[] for _ in rows]
    session = 0
    for place in range(max(len(row.facts) for row in rows)):
        told = [n for n, row in enumerate(rows) if place < len(row.facts)]
        for at, n in enumerate(told):
            session += at % FACTS_OF_SESSION == 0
            number = len(turns) + 1
            places[n].append(f"m{number}")
            turns.append(_turn(number, session, at % FACTS_OF_SESSION, rows[n].facts[place]))
    return turns, [tuple(ids) for ids in places]


def _turn(number: int, session: int, at: int, text: str) -> Turn:
    now = EPOCH + timedelta(days=session) + UTTERANCE * at
    message = said(
        "user",
        text,
        id=f"m{number}",
        principal=ASKER,
        session=f"session-{session}",
        turn=number,
        time=now,
    )
    return Turn(number=number, session=message.session, principal=ASKER, time=now, heard=(message,))
