"""Reads the probing questions of a BEAM conversation as probes, with their rubrics as answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.errors import nearest
from memsim.scenario.datasets.beam_chat import USER, message_id
from memsim.scenario.datasets.json_file import Entry
from memsim.scenario.script import Ability, Probe

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

ABILITIES: dict[str, Ability] = {
    "abstention": "abstain",
    "contradiction_resolution": "conflict",
    "event_ordering": "order",
    "information_extraction": "recall",
    "instruction_following": "instruction",
    "knowledge_update": "update",
    "multi_session_reasoning": "multi-session",
    "preference_following": "preference",
    "summarization": "multi-session",
    "temporal_reasoning": "temporal",
}
"""The file's abilities, and our word for what each asks of a memory."""

_ORDER = tuple(ABILITIES)
_LEAD = re.compile(r"\s*LLM response should [a-z ]{1,40}:\s*", re.IGNORECASE)


def read_questions(name: str, questions: Entry, known: Container[str]) -> Iterator[Probe]:
    """The questions of a conversation; `beam-1:knowledge_update-2` is the second of its ability.

    Args:
        name: the conversation's name.
        questions: the file's object: a list of questions for each ability.
        known: ids of the conversation's messages.

    Raises:
        ScenarioError: it is not of the schema.
    """
    for ability in questions.fields:
        if ability not in ABILITIES:
            hint = nearest(ability, ABILITIES)
            meant = f" (did you mean {hint!r}?)" if hint else ""
            questions.reject(f"has the ability {ability!r}, which is none of BEAM's{meant}")
    for ability in _ORDER:
        if ability not in questions.fields:
            continue
        for n, value in enumerate(questions.members(ability), start=1):
            entry = Entry(questions.path, f"{ability}: question {n}", value)
            yield _probe(f"{name}:{ability}-{n}", ability, entry, known)


def _probe(probe_id: str, ability: str, entry: Entry, known: Container[str]) -> Probe:
    unanswerable = ABILITIES[ability] == "abstain"
    nuggets = tuple(_LEAD.sub("", text).strip() for text in entry.texts("rubric"))
    expect = tuple(dict.fromkeys(text for text in nuggets if text))
    if not expect:
        entry.reject("has an empty 'rubric'")
    evidence = () if unanswerable else _cited(entry, known)
    return Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=USER,
        expect=() if unanswerable else expect,
        unanswerable=unanswerable,
        ability=ABILITIES[ability],
        match="all",
        evidence=evidence,
        excluded="" if evidence or unanswerable else "no valid evidence",
        labels={"category": ability.replace("_", "-"), "difficulty": entry.text("difficulty")},
    )


def _cited(entry: Entry, known: Container[str]) -> tuple[str, ...]:
    """The cited messages that exist, each once, in the order cited, however they are nested."""
    if "source_chat_ids" not in entry:
        return ()
    names = (message_id(n) for n in _numbers(entry, entry.fields["source_chat_ids"]))
    return tuple(dict.fromkeys(name for name in names if name in known))


def _numbers(entry: Entry, value: object) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(entry, part)
    else:
        entry.reject("has in 'source_chat_ids' what is no message's number")
