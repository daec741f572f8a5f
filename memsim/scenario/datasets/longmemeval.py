"""LongMemEval: one question each about a long history of a user with an assistant.

Published at github.com/xiaowu0162/LongMemEval under MIT: `longmemeval_oracle` and `longmemeval_s`.
A file is a list of questions, each with a history of its own::

    [{"question_id": "q1", "question_type": "single-session-user",
      "question": "Which degree do I have?", "answer": "Botany",
      "question_date": "2023/05/30 (Tue) 23:40",
      "haystack_dates": ["2023/05/20 (Sat) 02:21"],
      "haystack_session_ids": ["answer_1"],
      "haystack_sessions": [[{"role": "user", "content": "My degree is in botany.",
                              "has_answer": true},
                             {"role": "assistant", "content": "Nice."}]],
      "answer_session_ids": ["answer_1"]}]

Each becomes a scenario: the sessions by date, then the question on its own date. Questions whose id
ends with `_abs` have no answer.

Repairs: sessions are named by their place, because the ids of the file tell where the answer is.
Messages without text are left out. Where no message of an answer's sessions is marked, all that the
user said there is evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.message import Message, Role, said
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.dialogue import read_session_date
from memsim.scenario.datasets.json_file import JsonObject, read_json
from memsim.scenario.script import Ability, Probe, Scenario, Turn

DATASET = "longmemeval"
ASKER = "user"
"""Who talks with the assistant, and asks the question."""

ABILITIES: dict[str, Ability] = {
    "single-session-user": "recall",
    "single-session-assistant": "attribution",
    "single-session-preference": "preference",
    "multi-session": "multi-session",
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
}
"""The file's types of questions, and our word for what each asks of a memory."""

MOST_BYTES = 512 * 2**20
"""Twice the size of `longmemeval_s`; the larger `longmemeval_m` is not read as one file."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_NO_ANSWER = "_abs"


def load_longmemeval(path: Path) -> list[Scenario]:
    """The questions of a file of LongMemEval, each as a scenario of its own.

    Raises:
        ScenarioError: the file is missing, too large, not JSON, or not of this schema.
    """
    value = read_json(path, most=MOST_BYTES)
    if not isinstance(value, list) or not value:
        raise ScenarioError("not a list of questions", path=path)
    seen: set[str] = set()
    return [_scenario(path, n, entry, seen) for n, entry in enumerate(value, start=1)]


def _scenario(path: Path, number: int, value: object, seen: set[str]) -> Scenario:
    entry = JsonObject(path, f"question {number}", value)
    name = re.sub(r"[^\w.-]+", "-", entry.text("question_id"))
    entry.check_distinct("question_id", name, seen)
    history = _History(entry)
    turns = tuple(history.turns())
    if not turns:
        entry.reject("has a history without a message")
    probe = _probe(f"{DATASET}-{name}:question", entry, history)
    asked = read_session_date(entry, entry.text("question_date"))
    return recorded_scenario(
        turns,
        (probe,),
        name=f"{DATASET}-{name}",
        path=path,
        dataset=DATASET,
        speakers=f"{ASKER} and assistant",
        contents=[
            [[m.id, m.role, m.session, m.time.isoformat(), m.text] for m in history.messages],
            [probe.ask, probe.expect, probe.evidence, probe.labels["category"], asked.isoformat()],
        ],
        asked=asked,
    )


class _History:
    """The sessions of a question by date, with the messages that hold its answer."""

    def __init__(self, entry: JsonObject) -> None:
        self.messages: list[Message] = []
        self.marked: list[str] = []
        self.said: list[str] = []
        sessions = entry.members("haystack_sessions")
        dates, ids = entry.texts("haystack_dates"), entry.texts("haystack_session_ids")
        if not len(sessions) == len(dates) == len(ids):
            entry.reject(
                f"has {len(sessions)} sessions, {len(dates)} dates and {len(ids)} ids of sessions"
            )
        self._entry = entry
        self._gold = set(entry.texts("answer_session_ids"))
        found = zip(
            (read_session_date(entry, date) for date in dates), range(len(dates)), strict=True
        )
        self._order = [(date, sessions[n], ids[n]) for date, n in sorted(found)]

    def turns(self) -> Iterator[Turn]:
        """The turns in order: what the user said, with the replies that it got."""
        number, now = 0, self._order[0][0] if self._order else None
        for place, (date, session, name) in enumerate(self._order, start=1):
            now = max(date, now or date)
            for exchange in self._exchanges(session, place, name):
                number += 1
                messages = [
                    said(
                        role,
                        text,
                        id=message_id,
                        principal=ASKER,
                        session=f"session-{place}",
                        turn=number,
                        time=now + UTTERANCE * at,
                    )
                    for at, (message_id, role, text) in enumerate(exchange)
                ]
                self.messages += messages
                yield Turn(
                    number=number,
                    session=f"session-{place}",
                    principal=ASKER,
                    time=now,
                    heard=(messages[0],),
                    reply=tuple(messages[1:]),
                )
                now += UTTERANCE * len(messages)

    def _exchanges(
        self, session: object, place: int, name: str
    ) -> Iterator[list[tuple[str, Role, str]]]:
        if not isinstance(session, list):
            self._entry.reject(f"has as session {place} no list of messages")
        is_gold = name in self._gold
        exchange: list[tuple[str, Role, str]] = []
        for n, value in enumerate(session, start=1):
            line = JsonObject(self._entry.path, f"{self._entry.where}: session {place}: {n}", value)
            role, text = line.text("role"), line.text("content")
            if role not in _ROLES:
                line.reject(f"has {role!r} as 'role', not 'user' or 'assistant'")
            if not text.strip():
                continue
            message_id = f"s{place}-m{n}"
            if is_gold and line.fields.get("has_answer") is True:
                self.marked.append(message_id)
            if is_gold and role == "user":
                self.said.append(message_id)
            if role == "user" and exchange:
                yield exchange
                exchange = []
            exchange.append((message_id, _ROLES[role], text))
        if exchange:
            yield exchange


def _probe(probe_id: str, entry: JsonObject, history: _History) -> Probe:
    kind = entry.text("question_type")
    if kind not in ABILITIES:
        entry.reject(f"has {kind!r} as 'question_type', which is none of LongMemEval's")
    unanswerable = entry.text("question_id").endswith(_NO_ANSWER)
    evidence = () if unanswerable else tuple(history.marked or history.said)
    return Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=ASKER,
        expect=() if unanswerable else (entry.printed("answer"),),
        unanswerable=unanswerable,
        ability="abstain" if unanswerable else ABILITIES[kind],
        evidence=evidence,
        excluded="" if evidence or unanswerable else "no valid evidence",
        labels={
            "category": "abstention" if unanswerable else kind,
            "evidence": "message" if history.marked else "session",
        },
    )
