"""Write imported conversations as scenarios: a YAML file and a conversation file for each person.

The conversations of one person are the sessions of one scenario, by their time. Where a trace does
not say whose a conversation is, each is a scenario of its own.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from memsim.clock import stamp
from memsim.errors import ConfigError
from memsim.message import EPOCH
from memsim.traces.conversation_file import SessionLine, header_line, session_lines
from memsim.traces.records import SPOKEN, TraceConversation
from memsim.traces.tidy import BETWEEN_SESSIONS, tidied
from memsim.traces.trace_format import ImportCounts, TraceFormat

_LONGEST_NAME = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


@dataclass(slots=True)
class ImportedScenario:
    """A scenario while it is written.

    Attributes:
        people: the principal of each speaker.
        taken: names that principals have.
        sessions: names that sessions have.
        order: of each session, when it begins and ends, and where its lines are in the file.
        latest: when the latest of them begins.
        paced: whether times were made up.
        recalls: whether the trace tells what the agent's own memory sent.
    """

    name: str
    format: TraceFormat
    people: dict[str, str] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    principals: dict[str, None] = field(default_factory=dict)
    order: list[tuple[datetime, int, int, datetime]] = field(default_factory=list)
    latest: datetime = EPOCH
    messages: int = 0
    size: int = 0
    first: datetime | None = None
    last: datetime = EPOCH
    paced: bool = False
    recalls: bool = False


class ScenarioFolder:
    """A folder of imported scenarios.

    Args:
        folder: where they are written; None counts them only.
        counts: what is dropped or changed is counted there.
        pace: from message to message, where a trace has no times.
        person: whose conversations are that name nobody; empty for a scenario each.
        force: whether files that are there are replaced.
    """

    def __init__(
        self,
        folder: Path | None,
        counts: ImportCounts,
        *,
        pace: timedelta,
        person: str = "",
        force: bool = False,
    ) -> None:
        self._folder = folder
        self._counts = counts
        self._pace = pace
        self._person = person
        self._force = force
        self._names: dict[str, int] = {}
        self.scenarios: dict[tuple[str, str], ImportedScenario] = {}

    def add(self, conversation: TraceConversation, format_: TraceFormat, source: str) -> int:
        """Write a conversation, and return how many of its messages can be played."""
        person = conversation.person or self._person
        # Without an id, two conversations of a file are two scenarios.
        named = person or conversation.id or f"{source}-{len(self.scenarios) + 1}"
        key = "person" if person else "session", named
        known = self.scenarios.get(key)
        made, paced = tidied(conversation, self._counts, pace=self._pace, begins=_next_begin(known))
        spoken = sum(message.role in SPOKEN for message in made.messages)
        if not spoken:
            self._counts.drop("in a conversation without a word", len(made.messages))
            return 0
        if known is None:
            name = _distinct(named, self._names, "conversation")
            known = self.scenarios[key] = ImportedScenario(name=name, format=format_)
        known.paced = known.paced or paced
        known.messages += spoken
        self._write(known, _safely_named(made, known, person))
        return spoken

    def _write(self, scenario: ImportedScenario, conversation: TraceConversation) -> None:
        messages = conversation.messages
        begun, ended = messages[0].time or EPOCH, messages[-1].time or EPOCH
        scenario.last = max(scenario.last, ended) if scenario.order else ended
        scenario.recalls = scenario.recalls or any(m.role not in SPOKEN for m in messages)
        line = SessionLine(conversation.id, conversation.person, conversation.title)
        data = session_lines(line, conversation).encode()
        if not scenario.order:
            pace = self._pace.total_seconds() if scenario.paced else None
            head = header_line(scenario.format.name, scenario.format.version, pace).encode()
            scenario.size = len(head)
            self._put(scenario, head, new=True)
        scenario.order.append((begun, scenario.size, len(data), ended))
        scenario.latest = begun if len(scenario.order) == 1 else max(scenario.latest, begun)
        scenario.size += len(data)
        self._put(scenario, data)

    def _put(self, scenario: ImportedScenario, data: bytes, *, new: bool = False) -> None:
        if self._folder is None:
            return
        path = self._folder / f"{scenario.name}.jsonl"
        if new and not self._force:
            for there in (path, path.with_suffix(".yaml")):
                if there.exists():
                    raise ConfigError("is there already; --force replaces it", path=there)
        with path.open("wb" if new else "ab") as file:
            file.write(data)

    def finish(self) -> None:
        """Sort the sessions of each scenario by time, and write the YAML files."""
        for scenario in self.scenarios.values():
            ordered = sorted(scenario.order)
            overlaps = sum(two[0] < one[3] for one, two in pairwise(ordered))
            if overlaps:
                self._counts.adjusted["session begins before the end of another"] += overlaps
            if self._folder is not None:
                path = self._folder / f"{scenario.name}.jsonl"
                if scenario.order != ordered:
                    data = path.read_bytes()
                    pieces = [data[at : at + size] for _, at, size, _ in ordered]
                    path.write_bytes(data[: scenario.order[0][1]] + b"".join(pieces))
                path.with_suffix(".yaml").write_text(scenario_text(scenario), encoding="utf-8")


def scenario_text(scenario: ImportedScenario) -> str:
    """The YAML file of an imported scenario."""
    first = min(begun for begun, *_ in scenario.order)
    sessions = len(scenario.order)
    about = [
        f"{scenario.messages:,} messages in {sessions:,} session{'s' if sessions > 1 else ''}",
        f"imported from {scenario.format.name} {scenario.format.version}",
        "times made by --pace" if scenario.paced else f"{stamp(first)} to {stamp(scenario.last)}",
    ]
    people = ", ".join(map(_quoted, scenario.principals))
    return (
        "memsim: 1\n"
        f"name: {_quoted(scenario.name)}\n"
        f"about: {_quoted('; '.join(about))}\n"
        f"tags: [imported, {scenario.format.name}]\n"
        f"principals: [{people}]\n"
        f"start: {stamp(first)}\n"
        "turns:\n"
        f"  - conversation: {_quoted(f'{scenario.name}.jsonl')}\n"
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _next_begin(scenario: ImportedScenario | None) -> datetime:
    if scenario is None:
        return EPOCH
    return max(scenario.latest + BETWEEN_SESSIONS, scenario.last)


def _safely_named(
    conversation: TraceConversation, scenario: ImportedScenario, person: str
) -> TraceConversation:
    """The conversation with names that a scenario can have, the same for the same."""
    names: dict[str, str] = {}
    for each in dict.fromkeys([person, *(m.speaker for m in conversation.messages)]):
        names[each] = scenario.people.setdefault(
            each, _distinct(each or "user", scenario.taken, "user")
        )
    heard = [m for m in conversation.messages if m.role in SPOKEN]
    scenario.principals |= dict.fromkeys(names[m.speaker or person] for m in heard)
    scenario.principals.setdefault(names[person], None)
    session = _session_name(conversation.id, scenario)
    messages = tuple(
        replace(m, speaker=names[m.speaker]) if m.speaker else m for m in conversation.messages
    )
    return replace(conversation, id=session, person=names[person], messages=messages)


def _session_name(named: str, scenario: ImportedScenario) -> str:
    return _distinct(named or f"s{len(scenario.order) + 1}", scenario.sessions, "s")


def _distinct(text: str, taken: dict[str, int], otherwise: str) -> str:
    """A name of letters, digits, `_`, `-` and `.` that differs from those that are taken."""
    plain = unicodedata.normalize("NFC", text[:_LONGEST_NAME])
    kept = "".join(c if c.isalnum() or c in "_-." else "_" for c in plain)
    name = kept.strip("._-") or otherwise
    name = f"{otherwise}-{name}" if _RESERVED.match(name) else name
    made, number = name, taken.get(_folded(name), 0)
    while _folded(made) in taken:
        number += 1
        made = f"{name}-{number + 1}"
    taken[_folded(name)] = number
    taken.setdefault(_folded(made), 0)
    return made


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
