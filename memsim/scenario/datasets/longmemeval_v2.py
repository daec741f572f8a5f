"""LongMemEval-V2: what an agent learns about a site from the many tasks that it did there.

Published at huggingface.co/datasets/xiaowu0162/longmemeval-v2 under Apache 2.0, with the code that
reads it at github.com/xiaowu0162/LongMemEval-V2. A folder holds `questions.jsonl` and
`trajectories.jsonl`, with an object on each line, and `haystacks/lme_v2_small.json` and
`haystacks/lme_v2_medium.json`, which say which trajectories are told before a question::

    {"id": "q1", "domain": "web", "question": "Which tab has the taxes?", "image": null,
     "question_type": "static-environment", "answer": "Sales; Taxes",
     "eval_function": "norm_phrase_set_match|separators=;"}

    {"id": "t1", "domain": "web", "goal": "Raise the tax.", "start_url": "http://shop/",
     "outcome": "success",
     "states": [{"url": "http://shop/", "thought": "Taxes are in Sales.", "action": "click('12')",
                 "accessibility_tree": "[12] tab 'Sales'", "screenshot": "screenshots/t1/0.png"}]}

    {"q1": ["t1"]}

Questions with the same trajectories in the same order are asked in one scenario. A trajectory is a
session of it, a day after the one before: the files have no dates. What the agent is told, its goal
and each page as text, is heard; its thought and action are the reply.

Pictures are not read, and questions that show one are left out. No evidence is published.

Not done: the published order of phrases is not asked for, and questions on a wrong premise or on
experience are matched by words. A judge decides these there.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from memsim.errors import ScenarioError
from memsim.json_input import is_folder
from memsim.message import EPOCH
from memsim.scenario.datasets.dataset_scenario import recorded_scenario
from memsim.scenario.datasets.dialogue import ASKER, Line, dialogue_turns
from memsim.scenario.datasets.json_file import JsonObject, read_json, read_json_lines
from memsim.scenario.script import Ability, Match, Probe, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

DATASET = "longmemeval_v2"
SMALL = "haystacks/lme_v2_small.json"

ABILITIES: dict[str, Ability] = {
    "static-environment": "recall",
    "static-environment-abs": "conflict",
    "dynamic-environment": "order",
    "dynamic-environment-abs": "conflict",
    "procedure": "instruction",
    "procedure-abs": "conflict",
    "errors-gotchas": "multi-session",
}
"""The file's question types, and our word for what each asks of a memory."""

_PHRASES = ("norm_phrase_set_match", "norm_phrase_set_match_ordered")
_LETTERS = "mc_choice_set_match"
_MATCHES: dict[str, Match] = {
    **dict.fromkeys(_PHRASES, "all"),
    _LETTERS: "all",
    "mc_choice_match": "tokens",
    "llm_abstention_checker": "tokens",
    "llm_gotchas_checker": "tokens",
}
"""The published ways to compare an answer, and how memsim does it."""

_Told = dict[str, tuple[str, list[Line]]]
"""The digest and the lines of each trajectory, by its id."""


def load_longmemeval_v2(path: Path) -> list[Scenario]:
    """The questions of LongMemEval-V2, with a scenario for each history that some share.

    Args:
        path: the folder, for the small histories, or a file of its `haystacks`.

    Raises:
        ScenarioError: a file is missing, not JSON, or not of this schema.
    """
    haystack = path / SMALL if is_folder(path) else path
    root = haystack.absolute().parent.parent
    histories = JsonObject(haystack, "the file", read_json(haystack))
    asked: dict[tuple[str, ...], list[JsonObject]] = {}
    pictured: dict[tuple[str, ...], int] = {}
    for question in _questions(root / "questions.jsonl"):
        history = tuple(histories.texts(question.text("id")))
        if not history:
            question.reject("has no trajectory in its haystack")
        if "image" in question:
            pictured[history] = pictured.get(history, 0) + 1
        else:
            asked.setdefault(history, []).append(question)
    if not asked:
        raise ScenarioError("holds no question without a picture", path=root / "questions.jsonl")
    told = _trajectories(root / "trajectories.jsonl", {name for names in asked for name in names})
    name = re.sub(r"[^\w.-]+", "-", f"{DATASET}-{haystack.stem}")
    return [
        _scenario(f"{name}-{n}", haystack, told, history, asked[history], pictured)
        for n, history in enumerate(asked, start=1)
    ]


def _questions(path: Path) -> Iterator[JsonObject]:
    seen: set[str] = set()
    for number, value in read_json_lines(path):
        question = JsonObject(path, f"line {number}", value)
        question.check_distinct("id", question.text("id"), seen)
        yield question


def _trajectories(path: Path, wanted: set[str]) -> _Told:
    told: _Told = {}
    seen: set[str] = set()
    for number, value in read_json_lines(path):
        entry = JsonObject(path, f"line {number}", value)
        name = entry.text("id")
        entry.check_distinct("id", name, seen)
        if name in wanted:
            lines = [*_lines(entry)]
            digest = hashlib.sha256(json.dumps(lines, ensure_ascii=False).encode()).hexdigest()
            told[name] = (digest, lines)
    missing = wanted.difference(told)
    if missing:
        raise ScenarioError(f"has no trajectory {min(missing)!r}", path=path)
    return told


def _lines(entry: JsonObject) -> Iterator[Line]:
    yield "user", f"Goal: {entry.text('goal')}\nStart: {entry.text('start_url')}"
    for n, member in enumerate(entry.members("states"), start=1):
        state = JsonObject(entry.path, f"{entry.where}: state {n}", member)
        yield "user", f"{state.text('url')}\n{state.text('accessibility_tree')}"
        did = [state.text(name) for name in ("thought", "action") if name in state]
        if reply := "\n".join(text for text in did if text.strip()):
            yield "assistant", reply
    if "outcome" in entry:
        yield "user", f"Outcome: {entry.text('outcome')}"


def _scenario(
    name: str,
    path: Path,
    told: _Told,
    history: tuple[str, ...],
    questions: Sequence[JsonObject],
    pictured: Mapping[tuple[str, ...], int],
) -> Scenario:
    turns = dialogue_turns(
        (EPOCH + timedelta(days=day), told[trajectory][1]) for day, trajectory in enumerate(history)
    )
    probes = [_probe(f"{name}:question-{n}", q) for n, q in enumerate(questions, start=1)]
    unread = pictured.get(history, 0)
    contents: list[Any] = [
        [told[trajectory][0] for trajectory in history],
        [[p.id, p.ask, p.expect, p.match, dict(p.labels)] for p in probes],
    ]
    return recorded_scenario(
        turns,
        probes,
        name=name,
        path=path,
        dataset=DATASET,
        speakers="an agent",
        contents=contents,
        note=f"{unread} left out for their picture" if unread else "",
    )


def _probe(probe_id: str, question: JsonObject) -> Probe:
    kind = question.text("question_type")
    if kind not in ABILITIES:
        question.reject(f"has {kind!r} as 'question_type', which is none of LongMemEval-V2's")
    rule, *settings = [part.strip() for part in question.text("eval_function").split("|")]
    if rule not in _MATCHES:
        question.reject(f"has {rule!r} as 'eval_function', which is none of LongMemEval-V2's")
    expect = _expected(rule, settings, question.text("answer"))
    if not expect:
        question.reject("has no words in its 'answer'")
    return Probe(
        id=probe_id,
        ask=question.text("question"),
        principal=ASKER,
        expect=expect,
        match=_MATCHES[rule],
        ability=ABILITIES[kind],
        excluded="no valid evidence",
        labels={
            "question": question.text("id"),
            "category": kind,
            "domain": question.text("domain"),
            "rule": rule,
        },
    )


def _expected(rule: str, settings: Sequence[str], answer: str) -> tuple[str, ...]:
    """The phrases or letters that are all needed, or the one text."""
    parts = [answer]
    if rule == _LETTERS:
        parts = re.findall("[A-Z]", answer.upper())
    elif rule in _PHRASES and (separators := _separators(settings)):
        parts = re.split("|".join(map(re.escape, separators)), answer)
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _separators(settings: Sequence[str]) -> list[str]:
    """What parts the phrases: what the rule names, else commas and semicolons.

    A rule names characters, or a list of texts in quotes.
    """
    for text in settings:
        name, _, named = (part.strip() for part in text.partition("="))
        if name == "separators":
            listed = named.startswith("[") and named.endswith("]")
            return re.findall('"([^"]+)"', named) if listed else [*"".join(named.split())]
    return [",", ";"]
