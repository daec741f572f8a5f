"""BEAM: long chats of a user with an assistant, and probing questions on ten abilities of a memory.

Each conversation is a folder. Its `chat.json` is a list of batches::

    [{"batch_number": 1, "time_anchor": null,
      "turns": [[{"role": "user", "id": 0, "time_anchor": "March-15-2024",
                  "content": "Which bus goes there? ->-> 1,1"},
                 {"role": "assistant", "id": 1, "content": "The 31."}], ...]}, ...]

and its `probing_questions.json` has a list of questions for each ability::

    {"knowledge_update": [{"question": "When does it leave?", "difficulty": "easy",
                           "rubric": ["LLM response should state: at nine"],
                           "source_chat_ids": {"original_info": [2], "updated_info": [8]}}], ...}

A chat of 10M tokens is a list of plans instead, each a list of batches of its own::

    [{"plan-1": [{"batch_number": 1, ...}, ...]}, {"plan-2": [...]}, ...]

Published at github.com/mohammadtavakoli78/BEAM, whose `download_dataset.py` writes a folder for
each size. Where a conversation has a `chat_trunecated.json`, that is the chat, as in the published
evaluation.

Each becomes a scenario: one turn for each message of the user, with the replies that it got, one
session for each batch, and every question asked after the end. What is expected is every line of
the rubric.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError, nearest
from memsim.json_input import is_folder, is_regular
from memsim.language.lexicon import MONTHS
from memsim.message import EPOCH, Message, said
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence


# Reads the chat of a BEAM conversation as turns: what the user said, and what was replied.


_ROLES = ("user", "assistant")
ASKER = "user"
"""Who talks with the assistant, and asks the questions."""
_DATE = re.compile(r"([A-Za-z]+)-(\d{1,2})-([12]\d{3})")
_START = timedelta(hours=9)
_NEXT = timedelta(days=1) + _START

_PLAN = re.compile(r"plan-\d{1,3}")

# The generator's own numbering stands at the end of what users say.
_MARKER = re.compile(r"\s*->->\s*\w+\s*,\s*[\w/]+\s*\Z")


def message_id(number: int) -> str:
    """What a message of the file's `id` is called."""
    return f"m{number}"


def read_chat(path: Path, value: object) -> list[Turn]:
    """The turns of a chat, in order: one for each message of the user, with the replies to it.

    Raises:
        ScenarioError: it is not of the schema, or has no turn.
    """
    turns: list[Turn] = []
    seen: set[int] = set()
    now = EPOCH
    for entry, session in _batches(path, value):
        now = _begin(entry, now, first=not turns)
        for lines in _exchanges(entry):
            turn = _turn(lines, len(turns) + 1, session, now, seen)
            turns.append(turn)
            now += UTTERANCE * len(lines)
    if not turns:
        raise ScenarioError("holds no turn", path=path)
    return turns


def _batches(path: Path, value: object) -> Iterator[tuple[JsonObject, str]]:
    """Every batch of a chat with the name of its session, in order."""
    if not isinstance(value, list):
        raise ScenarioError("not a list of batches", path=path)
    for n, member in enumerate(value, start=1):
        entry = JsonObject(path, f"batch {n}", member)
        plans = [name for name in entry.fields if _PLAN.fullmatch(name) and name in entry]
        if not plans:
            yield entry, f"batch-{n}"
        for plan in plans:  # the others of an exported row are null
            for m, batch in enumerate(entry.members(plan), start=1):
                yield JsonObject(path, f"{plan}: batch {m}", batch), f"{plan}-batch-{m}"


def _begin(batch: JsonObject, now: datetime, *, first: bool) -> datetime:
    """When a batch begins: on its day, or on the day after the last message."""
    anchor = _anchor(batch)
    if anchor is not None:
        day = _day(batch, anchor)
        return day if first else max(day, now)
    return now if first else datetime(now.year, now.month, now.day, tzinfo=UTC) + _NEXT


def _anchor(batch: JsonObject) -> str | None:
    if "time_anchor" in batch:
        return batch.text("time_anchor")
    for group in batch.members("turns"):
        for line in group if isinstance(group, list) else ():
            if isinstance(line, dict) and isinstance(line.get("time_anchor"), str):
                return str(line["time_anchor"])
    return None


def _day(batch: JsonObject, text: str) -> datetime:
    try:
        return _instant(text)
    except ValueError:
        batch.reject(f"has {text!r} as 'time_anchor', not a date such as 'March-15-2024'")


def _instant(text: str) -> datetime:
    # strptime would read the names of months in the machine's own language.
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    month = MONTHS.index(found[1].lower()) + 1
    return datetime(int(found[3]), month, int(found[2]), tzinfo=UTC) + _START


def _exchanges(batch: JsonObject) -> Iterator[list[JsonObject]]:
    for g, group in enumerate(batch.members("turns"), start=1):
        if not isinstance(group, list):
            batch.reject(f"has as turn {g} no list of messages")
        exchange: list[JsonObject] = []
        for m, line in enumerate(group, start=1):
            entry = JsonObject(batch.path, f"{batch.where}: turn {g}: message {m}", line)
            role = entry.text("role")
            if role not in _ROLES:
                entry.reject(f"has {role!r} as 'role', not {' or '.join(map(repr, _ROLES))}")
            if role == "user" and exchange:
                yield exchange
                exchange = []
            if role == "assistant" and not exchange:
                entry.reject("replies to nothing")
            exchange.append(entry)
        if exchange:
            yield exchange


def _turn(
    lines: list[JsonObject], number: int, session: str, now: datetime, seen: set[int]
) -> Turn:
    messages = [
        _message(entry, number, session, now + UTTERANCE * place, seen)
        for place, entry in enumerate(lines)
    ]
    return Turn(
        number=number,
        session=session,
        principal=ASKER,
        time=now,
        heard=(messages[0],),
        reply=tuple(messages[1:]),
    )


def _message(
    entry: JsonObject, number: int, session: str, now: datetime, seen: set[int]
) -> Message:
    entry.check_distinct("id", entry.number("id"), seen)
    role, text = entry.text("role"), entry.text("content")
    return said(
        "user" if role == "user" else "assistant",
        _MARKER.sub("", text) if role == "user" else text,
        id=message_id(entry.number("id")),
        principal=ASKER,
        session=session,
        turn=number,
        time=now,
    )


# Reads the probing questions of a BEAM conversation as probes, with their rubrics as answers.


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


def read_questions(name: str, questions: JsonObject, known: Container[str]) -> Iterator[Probe]:
    """The questions of a conversation; `beam-1:knowledge_update-2` is the second of its ability.

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
            entry = JsonObject(questions.path, f"{ability}: question {n}", value)
            yield _probe(f"{name}:{ability}-{n}", ability, entry, known)


def _probe(probe_id: str, ability: str, entry: JsonObject, known: Container[str]) -> Probe:
    unanswerable = ABILITIES[ability] == "abstain"
    nuggets = tuple(_LEAD.sub("", text).strip() for text in entry.texts("rubric"))
    expect = tuple(dict.fromkeys(text for text in nuggets if text))
    if not expect:
        entry.reject("has an empty 'rubric'")
    evidence = () if unanswerable else _cited(entry, known)
    return Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=ASKER,
        expect=() if unanswerable else expect,
        unanswerable=unanswerable,
        ability=ABILITIES[ability],
        match="all",
        evidence=evidence,
        excluded="" if evidence or unanswerable else "no valid evidence",
        labels={"category": ability.replace("_", "-"), "difficulty": entry.text("difficulty")},
    )


def _cited(entry: JsonObject, known: Container[str]) -> tuple[str, ...]:
    """The cited messages that exist, each once, in the order cited, however they are nested."""
    if "source_chat_ids" not in entry:
        return ()
    names = (message_id(n) for n in _numbers(entry, entry.fields["source_chat_ids"]))
    return tuple(dict.fromkeys(name for name in names if name in known))


def _numbers(entry: JsonObject, value: object) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _numbers(entry, part)
    else:
        entry.reject("has in 'source_chat_ids' what is no message's number")


DATASET = "beam"
CHAT = "chat.json"
CUT = "chat_trunecated.json"
"""The chat, cut to its size; spelt so where it is published."""
QUESTIONS = ("probing_questions.json", "probing_questions/probing_questions.json")
"""Where the questions of a conversation lie, beside its chat."""


def load_beam(path: Path | str) -> list[Scenario]:
    """The conversations of BEAM, those of a folder by number or name.

    Args:
        path: a `chat.json`, the folder of one conversation, a folder of such folders, or the folder
            of one of these.

    Raises:
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    return [_conversation(file) for file in _find(Path(path))]


def _find(path: Path) -> list[Path]:
    if not is_folder(path):
        return [path]
    chat = _chat(path)
    if chat is not None:
        return [chat]
    found = _chats(path)
    if found:
        return sorted(found, key=lambda p: _by_number(p.parent.name))
    sizes = sorted(size for size in path.iterdir() if is_folder(size) and _chats(size))
    if len(sizes) == 1:
        return _find(sizes[0])
    if sizes:
        names = ", ".join(size.name for size in sizes)
        raise ScenarioError(f"several sizes here, name one: {names}", path=path)
    raise ScenarioError(f"no {CHAT} in this folder or the folders in it", path=path)


def _chats(path: Path) -> list[Path]:
    # `glob` raises for a link that leads to too long a name.
    found = (_chat(folder) for folder in path.iterdir() if is_folder(folder))
    return [chat for chat in found if chat is not None]


def _chat(folder: Path) -> Path | None:
    return next((folder / name for name in (CUT, CHAT) if is_regular(folder / name)), None)


def _by_number(name: str) -> tuple[bool, int, str]:
    digits = name.isascii() and name.isdigit()
    return not digits, int(name) if digits else 0, name


def _conversation(file: Path) -> Scenario:
    folder = file.absolute().parent.name
    name = "beam-" + re.sub(r"[^\w.-]+", "-", folder)
    turns = read_chat(file, read_json(file))
    known = {message.id for turn in turns for message in (*turn.heard, *turn.reply)}
    asked = _questions(file)
    questions = JsonObject(asked, "the file", read_json(asked))
    probes = tuple(read_questions(name, questions, known))
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=file,
        dataset=DATASET,
        speakers=f"{ASKER} and assistant",
        contents=_contents(turns, probes),
    )


def _questions(chat: Path) -> Path:
    places = [chat.parent / place for place in QUESTIONS]
    found = next((place for place in places if is_regular(place)), None)
    if found is None:
        raise ScenarioError(f"no {QUESTIONS[0]} lies beside it", path=chat)
    return found


def _contents(turns: Sequence[Turn], probes: Sequence[Probe]) -> list[object]:
    said_in = [
        [m.id, m.role, m.session, m.time.isoformat(), m.text]
        for turn in turns
        for m in (*turn.heard, *turn.reply)
    ]
    asked = [[p.id, p.ask, p.expect, p.evidence, sorted(p.labels.items())] for p in probes]
    return [said_in, asked]
