"""ConvoMem: talks of a user with an assistant in which one to six messages answer a question.

Published at huggingface.co/datasets/Salesforce/ConvoMem, with code at
github.com/SalesforceAIResearch/ConvoMem under Apache 2.0. Others state CC BY-NC 4.0 for the data;
its card was not seen. Files lie below a folder of their
category and one of their number of evidence messages, such as `user_evidence/1_evidence`. Those of
`evidence_questions` have a talk for each question::

    {"evidence_items": [
        {"question": "Which boat do I have?", "answer": "Tern", "category": "Personal Life",
         "message_evidences": [{"speaker": "User", "text": "My boat is called Tern."}],
         "conversations": [{"id": "c1", "containsEvidence": true,
                            "messages": [{"speaker": "User", "text": "My boat is called Tern."},
                                         {"speaker": "Assistant", "text": "Nice."}]}]}]}

and those of `pre_mixed_testcases` some questions over talks, most of them about something else::

    [{"contextSize": 2, "conversations": [...], "evidenceItems": [{"question": ..., ...}]}]

Each item, or test case, becomes a scenario with a session for each talk, a day apart: the files
have no dates. Fields that tell which talk holds the answer are not read.

Repairs: evidence is given as text. It is the message of the same words, whatever their case, quotes
and blanks, or else the only message that holds them or is part of them. A question of which a text
is not found has no evidence. Questions of `abstention_evidence` have no answer.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.json_input import is_folder
from memsim.message import EPOCH, Role
from memsim.scenario.datasets.dataset_files import find_files
from memsim.scenario.datasets.dataset_scenario import recorded_scenario
from memsim.scenario.datasets.dialogue import ASKER, Line, dialogue_turns, messages_of
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from memsim.message import Message

DATASET = "convomem"

ABILITIES: dict[str, Ability] = {
    "user_evidence": "recall",
    "assistant_facts_evidence": "attribution",
    "changing_evidence": "update",
    "abstention_evidence": "abstain",
    "preference_evidence": "preference",
    "implicit_connection_evidence": "multi-session",
}
"""The folders of the categories, and our word for what each asks of a memory."""

LEAST_PART = 20
"""Characters of a message that is found as a part of an evidence text."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_COUNT = re.compile(r"(\d+)_evidence")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def load_convomem(path: Path) -> list[Scenario]:
    """The items and test cases of a file of ConvoMem, or of a folder of them.

    Raises:
        ScenarioError: a file is missing, lies below no category, or is not of this schema.
    """
    files = find_files(path, ".json", levels=5)
    if is_folder(path):
        # The folder of fillers has talks without questions.
        files = [file for file in files if _category(file)]
    found = [scenario for file in files for scenario in _file(file)]
    if not found:
        raise ScenarioError("holds no question", path=path)
    return found


def _category(path: Path) -> str:
    return next((part for part in reversed(path.absolute().parts) if part in ABILITIES), "")


def _file(path: Path) -> Iterator[Scenario]:
    category = _category(path)
    if not category:
        names = ", ".join(ABILITIES)
        raise ScenarioError(f"lies below no folder of a category, which are {names}", path=path)
    folder = path.absolute().parent.name
    name = re.sub(r"[^\w.-]+", "-", f"{DATASET}-{category}-{folder}-{path.stem}")
    for n, (entry, items) in enumerate(_cases(path), start=1):
        yield _scenario(f"{name}-{n}", category, entry, items)


def _cases(path: Path) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    """What holds talks, and the questions about them."""
    value = read_json(path)
    if isinstance(value, list):
        for n, member in enumerate(value, start=1):
            case = JsonObject(path, f"test case {n}", member)
            yield case, _objects(case, "evidenceItems", "item")
        return
    for item in _objects(JsonObject(path, "the file", value), "evidence_items", "item"):
        yield item, [item]


def _objects(entry: JsonObject, name: str, kind: str) -> list[JsonObject]:
    where = "" if entry.where == "the file" else f"{entry.where}: "
    return [
        JsonObject(entry.path, f"{where}{kind} {n}", value)
        for n, value in enumerate(entry.members(name), start=1)
    ]


def _scenario(name: str, category: str, entry: JsonObject, items: Sequence[JsonObject]) -> Scenario:
    talks = [_lines(talk) for talk in _objects(entry, "conversations", "conversation")]
    turns = dialogue_turns((EPOCH + timedelta(days=n), lines) for n, lines in enumerate(talks))
    if not turns:
        entry.reject("has no conversation with a message")
    if not items:
        entry.reject("has no question")
    messages = messages_of(turns)
    known = [(message, _plain(message.text)) for message in messages]
    labels = {"category": category.removesuffix("_evidence").replace("_", "-")}
    count = _COUNT.fullmatch(entry.path.absolute().parent.name)
    if count:
        labels["evidence"] = count[1]
    if "contextSize" in entry:
        labels["conversations"] = str(entry.number("contextSize"))
    probes = [
        _probe(f"{name}:question-{n}", category, item, known, labels)
        for n, item in enumerate(items, start=1)
    ]
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=entry.path,
        dataset=DATASET,
        speakers=f"{ASKER} and assistant",
        contents=[
            [[m.id, m.role, m.session, m.time.isoformat(), m.text] for m in messages],
            [[p.id, p.ask, p.expect, p.evidence, dict(p.labels)] for p in probes],
        ],
    )


def _lines(talk: JsonObject) -> list[Line]:
    lines: list[Line] = []
    for message in _objects(talk, "messages", "message"):
        speaker = message.text("speaker")
        role = _ROLES.get(speaker.strip().lower())
        if role is None:
            message.reject(f"has {speaker!r} as 'speaker', not 'User' or 'Assistant'")
        if text := message.text("text").strip():
            lines.append((role, text))
    return lines


def _probe(
    probe_id: str,
    category: str,
    item: JsonObject,
    known: Sequence[tuple[Message, str]],
    labels: Mapping[str, str],
) -> Probe:
    unanswerable = ABILITIES[category] == "abstain"
    evidence = () if unanswerable else _evidence(item, known)
    return Probe(
        id=probe_id,
        ask=item.text("question"),
        principal=ASKER,
        expect=() if unanswerable else (item.printed("answer"),),
        unanswerable=unanswerable,
        ability=ABILITIES[category],
        evidence=evidence,
        excluded="" if evidence or unanswerable else "no valid evidence",
        labels=labels,
    )


def _evidence(item: JsonObject, known: Sequence[tuple[Message, str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in _objects(item, "message_evidences", "evidence"):
        message = _find(_plain(text.text("text")), known)
        if message is None:
            return ()
        found[message.id] = None
    return tuple(found)


def _find(text: str, known: Sequence[tuple[Message, str]]) -> Message | None:
    same = [message for message, said in known if said == text]
    if same:
        return same[0]
    near = [
        message
        for message, said in known
        if text and (text in said or (len(said) >= LEAST_PART and said in text))
    ]
    return near[0] if len(near) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())
