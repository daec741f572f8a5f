"""The cases of a run as conversations, with what each memory sent, for export to other tools.

A case is one conversation: what was said, and before each answer what the memory sent. A question
is a conversation of its own, `CASE::PROBE`: the context, the question and the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memsim.clock import read_stamp
from memsim.errors import RunFolderError
from memsim.report.playback import Playback, PlaybackFrame, PlaybackMessage
from memsim.runs import Run
from memsim.runs.case_log import CONTEXTS
from memsim.traces.records import TraceConversation, TraceDocument, TraceMessage, TraceRole

_ROLES: Mapping[str, TraceRole] = {"user": "user", "system": "system"}


def run_conversations(run: Run) -> Iterator[TraceConversation]:
    """The conversations of every case of a run.

    Raises:
        RunFolderError: the records are damaged.
    """
    for case in run.cases:
        try:
            yield from _of_case(run, case.key)
        except (LookupError, TypeError, ValueError) as error:
            said = f"is damaged: the contexts of {case.key!a} cannot be followed: {error}"
            raise RunFolderError(said, path=run.folder / CONTEXTS) from error


def _of_case(run: Run, case: str) -> Iterator[TraceConversation]:
    turns: dict[Any, Mapping[str, Any]] = {line["turn"]: line for line in run.turns(case)}
    probes: dict[Any, Mapping[str, Any]] = {line["probe"]: line for line in run.probes(case)}
    playback = Playback(run.contexts(case))
    said: list[TraceMessage] = []
    asked: list[TraceConversation] = []
    person = ""
    for frame in playback.frames():
        if frame.probe:
            asked.append(_question(case, frame, probes[frame.probe], playback.messages))
            continue
        line = turns[frame.turn]
        time, person = read_stamp(line["time"]), person or line["principal"]
        heard = [playback.messages[number] for number in frame.said]
        first = next((n for n, m in enumerate(heard) if m.role != "user"), len(heard))
        said += [_message(m, time) for m in heard[:first]]
        if frame.sent is not None:
            query = heard[first - 1].text if first else ""
            said.append(_recall(query, frame, playback.messages, time))
        said += [_message(m, time) for m in heard[first:]]
    yield TraceConversation(id=case, messages=tuple(said), person=person)
    yield from asked


def _message(message: PlaybackMessage, time: datetime) -> TraceMessage:
    # Records hold texts, not which call a tool's result answers: results read as the agent's words.
    return TraceMessage(_ROLES.get(message.role, "assistant"), message.text, time)


def _recall(
    query: str, frame: PlaybackFrame, known: Sequence[PlaybackMessage], time: datetime
) -> TraceMessage:
    numbers = [number for section in frame.sent or () for number in section.messages]
    documents = tuple(TraceDocument(known[n].text, known[n].id) for n in numbers)
    return TraceMessage("recall", query, time, documents=documents)


def _question(
    case: str, frame: PlaybackFrame, line: Mapping[str, Any], known: Sequence[PlaybackMessage]
) -> TraceConversation:
    time, ask = read_stamp(line["time"]), line["ask"]
    answer = line["answer"] or ""
    messages = (
        TraceMessage("user", ask, time),
        _recall(ask, frame, known, time),
        TraceMessage("assistant", answer, time),
    )
    return TraceConversation(
        id=f"{case}::{frame.probe}", messages=messages, person=line["principal"]
    )
