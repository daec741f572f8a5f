"""MemDaily: what a Chinese user tells an assistant day by day, and a multiple-choice question.

Published at github.com/nuster1128/MemSim, which states no licence: a file for each kind of question
in `data_generation/final_dataset/messages_and_QAs`, such as `04_aggregative_hybrid.json`, and all
of them in one `memdaily.json`. A file is a list of trajectories, each of a user of its own::

    [{"tid": 0,
      "message_list": [{"mid": 0, "message": "...", "place": "...",
                        "time": "2024年04月01日 周一 08:30"}],
      "question_list": [{"qid": 0, "question": "...", "answer": "...", "target_step_id": [0],
                         "choices": {"A": "...", "B": "..."}, "ground_truth": "B",
                         "time": "2024年04月05日 周五 18:34"}]}]

`memdaily.json` has such lists as `{"simple": {"events": [...]}}`, with one question as `QA`.

Each trajectory becomes a scenario: a turn for each message with its place and time, written as the
published benchmark writes them, a session for each day, then the question on its own date.

Repairs: questions that hold `[ERRORQ]`, `[ERRORA]`, `[ERRORC]` or `[ERRORG]` are left out, as in
the published benchmark, and their trajectories with them. Options that are the same text are
shown once. A message that is dated before an earlier one follows it by a minute. Cited messages
that do not exist are dropped.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.message import said
from memsim.scenario.datasets.dataset_files import find_files
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import Path

DATASET = "memdaily"
ASKER = "user"
"""Who tells and asks everything."""

ABILITIES: dict[str, Ability] = {
    "simple": "recall",
    "conditional": "recall",
    "comparative": "multi-session",
    "aggregative": "multi-session",
    "post-processing": "open-domain",
    "noisy": "recall",
}
"""The kinds of questions, and our word for what each asks of a memory."""

_KIND = re.compile(rf"(?:\d+[-_])?({'|'.join(ABILITIES)})[-_](\w+)")
_TIME = re.compile(r"([12]\d{3})年(\d\d)月(\d\d)日 \w+ (\d\d):(\d\d)")
_FAILED = re.compile(r"\[ERROR[A-Z]\]")
"""What the generator left in place of a text that it could not make."""

_Kind = tuple[str, str]
"""The kind of the questions, and what they are about."""


def load_memdaily(path: Path) -> list[Scenario]:
    """The trajectories of a file of MemDaily or of a folder of them, each as a scenario.

    Raises:
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    seen: set[str] = set()
    found = [s for file in find_files(path, ".json") for s in _file(file, seen)]
    if not found:
        raise ScenarioError("holds no question", path=path)
    return found


def _file(path: Path, seen: set[str]) -> Iterator[Scenario]:
    value = read_json(path)
    if not isinstance(value, dict):
        yield from _list(path, _kind(path), value, "", seen)
        return
    for name, topics in value.items():
        kind = name.replace("_", "-")
        if kind not in ABILITIES:
            raise ScenarioError(f"has {name!r}, which is none of MemDaily's kinds", path=path)
        for topic, listed in JsonObject(path, name, topics).fields.items():
            yield from _list(path, (kind, topic), listed, f"{name}: {topic}: ", seen)


def _kind(path: Path) -> _Kind:
    found = _KIND.fullmatch(path.stem.replace("post_processing", "post-processing"))
    if found is None:
        raise ScenarioError("is not named after its kind, as 01_simple_events.json is", path=path)
    return found[1], found[2]


def _list(path: Path, kind: _Kind, value: object, where: str, seen: set[str]) -> Iterator[Scenario]:
    if not isinstance(value, list):
        raise ScenarioError(f"{where}not a list of trajectories", path=path)
    entries = [JsonObject(path, f"{where}trajectory {n}", v) for n, v in enumerate(value, start=1)]
    asked = [(entry, _questions(entry)) for entry in entries]
    left_out = sum(_failed(question) for _, found in asked for question in found)
    for entry, found in asked:
        kept = [question for question in found if not _failed(question)]
        if kept:
            yield _scenario(entry, kept, kind, left_out, seen)


def _questions(entry: JsonObject) -> list[JsonObject]:
    found = [entry.fields["QA"]] if "QA" in entry else entry.members("question_list")
    where = f"{entry.where}: question"
    return [JsonObject(entry.path, f"{where} {n}", v) for n, v in enumerate(found, start=1)]


def _failed(question: JsonObject) -> bool:
    texts = (question.fields.get(n) for n in ("question", "answer", "choices", "ground_truth"))
    return any(isinstance(text, str) and _FAILED.search(text) for text in texts)


def _scenario(
    entry: JsonObject,
    questions: Sequence[JsonObject],
    kind: _Kind,
    left_out: int,
    seen: set[str],
) -> Scenario:
    name = re.sub(r"[^\w.-]+", "-", "-".join((DATASET, *kind, str(entry.number("tid")))))
    entry.check_distinct("tid", name, seen)
    turns = list(_turns(entry))
    if not turns:
        entry.reject("has no message")
    known = {message.id for turn in turns for message in turn.heard}
    probes = [
        _probe(f"{name}:question-{n}", question, kind, known)
        for n, question in enumerate(questions, start=1)
    ]
    asked = max(_instant(question) for question in questions)
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=entry.path,
        dataset=DATASET,
        speakers=ASKER,
        contents=[
            [[m.id, m.session, m.time.isoformat(), m.text] for t in turns for m in t.heard],
            [[p.id, p.ask, p.expect, p.choices, p.evidence, p.labels["category"]] for p in probes],
            asked.isoformat(),
        ],
        note=f"{left_out} of its kind left out, which the generator failed on" if left_out else "",
        asked=asked,
    )


def _turns(entry: JsonObject) -> Iterator[Turn]:
    seen: set[int] = set()
    days = 0
    now = None
    for number, value in enumerate(entry.members("message_list"), start=1):
        line = JsonObject(entry.path, f"{entry.where}: message {number}", value)
        line.check_distinct("mid", line.number("mid"), seen)
        before, told = now, _instant(line)
        now = told if before is None else max(told, before + UTTERANCE)
        days += before is None or before.date() != now.date()
        text, place = line.text("message"), line.text("place")
        message = said(
            "user",
            f"{text} (消息地点 {place}, 消息时间 {line.text('time')})",
            id=_message_id(line.number("mid")),
            principal=ASKER,
            session=f"day-{days}",
            turn=number,
            time=now,
        )
        yield Turn(
            number=number,
            session=message.session,
            principal=ASKER,
            time=now,
            heard=(message,),
        )


def _message_id(number: int) -> str:
    return f"m{number}"


def _probe(probe_id: str, entry: JsonObject, kind: _Kind, known: Container[str]) -> Probe:
    options = JsonObject(entry.path, f"{entry.where}: choices", entry.fields.get("choices"))
    choices = {letter: options.text(letter).strip() for letter in sorted(options.fields)}
    right = entry.text("ground_truth")
    if right not in choices:
        entry.reject(f"has {right!r} as 'ground_truth', which is none of its choices")
    evidence = _cited(entry, known)
    return Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=ASKER,
        expect=(choices[right],),
        ability=ABILITIES[kind[0]],
        match="choice",
        choices=tuple(dict.fromkeys(choices.values())),
        evidence=evidence,
        excluded="" if evidence else "no valid evidence",
        labels={"category": kind[0], "topic": kind[1]},
    )


def _cited(entry: JsonObject, known: Container[str]) -> tuple[str, ...]:
    numbers = entry.members("target_step_id")
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        entry.reject("has in 'target_step_id' what is no message's number")
    return tuple(dict.fromkeys(i for i in map(_message_id, numbers) if i in known))


def _instant(entry: JsonObject) -> datetime:
    found = _TIME.fullmatch(entry.text("time").strip())
    try:
        year, month, day, hour, minute = map(int, found.groups() if found else ())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        entry.reject("has a 'time' that is not one such as '2024年04月01日 周一 08:30'")
