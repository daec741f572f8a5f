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

Each becomes a scenario: one turn for each message of the user, with the replies that it got, one
session for each batch, and every question asked after the end. What is expected is every line of
the rubric.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, ScenarioError
from memsim.scenario.datasets.beam_chat import USER, UTTERANCE, read_chat
from memsim.scenario.datasets.beam_questions import read_questions
from memsim.scenario.datasets.json_file import Entry, read_json
from memsim.scenario.script import Ask, Elapsed, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memsim.scenario.script import Probe, ScriptEvent, Turn

DATASET = "beam"
CHAT = "chat.json"
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


def beam_from_options(path: Path, options: Mapping[str, str]) -> list[Scenario]:
    """`load_beam` for a command line; there are no options.

    Raises:
        ConfigError: an option is given.
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    for name in options:
        raise ConfigError(f"beam has no option {name!r}; it has none")
    return load_beam(path)


def _find(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if (path / CHAT).is_file():
        return [path / CHAT]
    found = [p for p in path.glob(f"*/{CHAT}") if p.is_file()]
    if found:
        return sorted(found, key=lambda p: _by_number(p.parent.name))
    sizes = sorted({p.parent.parent for p in path.glob(f"*/*/{CHAT}")})
    if len(sizes) == 1:
        return _find(sizes[0])
    if sizes:
        names = ", ".join(size.name for size in sizes)
        raise ScenarioError(f"several sizes here, name one: {names}", path=path)
    raise ScenarioError(f"no {CHAT} in this folder or the folders in it", path=path)


def _by_number(name: str) -> tuple[bool, int, str]:
    digits = name.isascii() and name.isdigit()
    return not digits, int(name) if digits else 0, name


def _conversation(file: Path) -> Scenario:
    folder = file.absolute().parent.name
    name = "beam-" + re.sub(r"[^\w.-]+", "-", folder)
    turns = read_chat(file, read_json(file))
    known = {message.id for turn in turns for message in (*turn.heard, *turn.reply)}
    asked = _questions(file)
    questions = Entry(asked, "the file", read_json(asked))
    probes = tuple(read_questions(name, questions, known))
    return Scenario(
        name=name,
        path=str(file),
        about=_about(turns, probes),
        play=partial(_play, tuple(turns), probes),
        turns=len(turns),
        probes=probes,
        principals=(USER,),
        fingerprint=_fingerprint(turns, probes),
        dataset=DATASET,
    )


def _questions(chat: Path) -> Path:
    places = [chat.parent / place for place in QUESTIONS]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise ScenarioError(f"no {QUESTIONS[0]} lies beside it", path=chat)
    return found


def _about(turns: Sequence[Turn], probes: Sequence[Probe]) -> str:
    sessions = len({turn.session for turn in turns})
    unfounded = sum(bool(p.excluded) for p in probes)
    parts = [f"{USER} and assistant, {sessions} sessions, {len(probes)} questions"]
    if unfounded:
        parts.append(f"{unfounded} without valid evidence")
    return ", ".join(parts)


def _play(turns: Sequence[Turn], probes: Sequence[Probe], _seed: int) -> Iterator[ScriptEvent]:
    yield turns[0]
    for before, turn in pairwise(turns):
        if turn.session != before.session:
            yield Elapsed(now=turn.time)
        yield turn
    last = turns[-1]
    end = (*last.heard, *last.reply)[-1].time + UTTERANCE
    for probe in probes:
        yield Ask(probe=probe, turn=last.number, session=last.session, time=end)


def _fingerprint(turns: Sequence[Turn], probes: Sequence[Probe]) -> str:
    said_in = [
        [m.id, m.role, m.session, m.time.isoformat(), m.text]
        for turn in turns
        for m in (*turn.heard, *turn.reply)
    ]
    asked = [[p.id, p.ask, p.expect, p.evidence, sorted(p.labels.items())] for p in probes]
    text = json.dumps([said_in, asked], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
