"""Every probe that was not answered rightly, with its way through the turns: data for the script.

Two kinds of block::

    cases      {"keys": [[key, scenario, strategy, budget, repeat, passed, asked, error], ...],
                "rows": [[key's number, probe, ability, outcome, reason, said, turn, chunk, place]],
                "about": {scenario: what it is about}}
    cases-3    {"texts": ["...", ...], "probes": [{"ask": ..., "pieces": [...], ...}, ...]}

A row whose chunk is -1 has no story here: there was no room for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from memsim.gate.comparison import MovedProbe
from memsim.leakage import LEAKAGE
from memsim.report.html.markup import Markup, compact_json, data_block, element, packed_size
from memsim.report.html.page_content import PageContent, section
from memsim.report.probe_answers import ProbeAnswer, answer_of
from memsim.report.sent_context import Context, evidence_of, sent_contexts_of
from memsim.report.story import story_of
from memsim.runs import Run
from memsim.suite.cases import CaseResult

CHUNK = 200
"""Stories in one block of data."""
ROOM = 900_000
"""Most packed characters that all stories may take in the page."""
LONGEST, MADE = 2_000, 6
"""Characters of a text that are kept, and texts of a context that the strategy made."""

Line = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class _Chunk:
    texts: dict[str, int] = field(default_factory=dict)
    probes: list[dict[str, object]] = field(default_factory=list)

    def text(self, said: str) -> int:
        return self.texts.setdefault(cut(said), len(self.texts))


@dataclass(slots=True, kw_only=True)
class Cases:
    """What the script shows cases from."""

    keys: list[list[object]] = field(default_factory=list)
    rows: list[list[object]] = field(default_factory=list)
    blocks: list[Markup] = field(default_factory=list)
    about: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0
    _chunk: _Chunk = field(default_factory=_Chunk)
    _room: int = ROOM

    def add(
        self,
        answer: ProbeAnswer,
        line: Line,
        turns: Sequence[Line],
        base: MovedProbe | None,
        sent: Context = (),
    ) -> None:
        """Add one probe of the case that was named last."""
        place = (-1, -1)
        if self.has_room:
            story = _story(line, turns, answer.budget, self._chunk, base)
            story["sections"] = _sections(sent, self._chunk)
            self._chunk.probes.append(story)
            place = len(self.blocks), len(self._chunk.probes) - 1
        else:
            self.left_out += 1
        said = answer.said
        of = (answer.probe, answer.ability, answer.outcome, answer.reason, said, line["turn"])
        self.rows.append([len(self.keys) - 1, *of, *place])
        if len(self._chunk.probes) == CHUNK:
            self.close()

    @property
    def has_room(self) -> bool:
        """Whether another story fits into the page."""
        return self._room > 0

    def close(self) -> None:
        """Write the stories added since the last block into a new block."""
        if not self._chunk.probes:
            return
        text = compact_json({"texts": list(self._chunk.texts), "probes": self._chunk.probes})
        made = data_block(f"cases-{len(self.blocks)}", text)
        self.blocks.append(made)
        self._room -= packed_size(text)
        self._chunk = _Chunk()

    def data(self) -> Markup:
        """Join all blocks of data."""
        known = {"keys": self.keys, "rows": self.rows, "about": self.about}
        index = data_block("cases", compact_json(known))
        return Markup("".join([index, *self.blocks]))


def cases_of(subject: PageContent) -> Cases:
    """Collect the probes that were missed, hallucinated, leaked or not scored."""
    comparison = subject.summary.comparison
    moved = {m.id: m for m in comparison.moved} if comparison else {}
    found = Cases()
    found.about = subject.about
    for case in sorted(subject.run.cases, key=subject.order):
        if case.dataset != LEAKAGE:
            _add_case(found, case, subject, moved)
    found.close()
    return found


def _add_case(
    found: Cases, case: CaseResult, subject: PageContent, moved: Mapping[str, MovedProbe]
) -> None:
    lines = [(answer_of(case, line), line) for line in subject.run.probes(case.key)]
    wrong = [(answer, line) for answer, line in lines if answer.wrong or not answer.measured]
    passed = len(lines) - len(wrong)
    said = [case.key, case.scenario, case.strategy, case.budget, case.repeat]
    found.keys.append([*said, passed, len(lines), case.error])
    if not wrong:
        return
    turns = turns_told(subject.run, case, [line for _, line in wrong])
    asked = {answer.probe: evidence_of(line) for answer, line in wrong}
    sent = sent_contexts_of(subject.run, case.key, asked) if found.has_room else {}
    for answer, line in wrong:
        base = moved.get(f"{case.key}::{answer.probe}")
        found.add(answer, line, turns, base, sent.get(answer.probe, ()))


LONG = 16 * 2**20
"""Bytes of a case's turns above which only those are read that its stories tell of."""
_TURN = re.compile(rb'"turn":(\d+)')


def turns_told(run: Run, case: CaseResult, probes: Sequence[Line]) -> list[Line]:
    """The turns that the stories of some probes may tell of; all turns of a case that is not long.

    They state evidence, are on its way, or have an event that names it.
    """
    if run.turn_bytes(case.key) <= LONG:
        return list(run.turns(case.key))
    pieces = [piece for probe in probes for piece in probe["evidence"]]
    named = {json.dumps(piece["source"], ensure_ascii=False).encode() for piece in pieces}
    numbers = {piece["turn"] for piece in pieces} | {s[0] for p in pieces for s in p["path"]}

    def told(line: bytes) -> bool:
        number = _TURN.search(line)
        if number is None or int(number[1]) in numbers:
            return True
        if b'"sources":[' not in line:
            return False
        parts = line.split(b'"sources":[')[1:]
        return any(not named.isdisjoint(p.partition(b"]")[0].split(b",")) for p in parts)

    return list(run.turns(case.key, only=told))


def _story(
    line: Line, turns: Sequence[Line], budget: int, chunk: _Chunk, base: MovedProbe | None
) -> dict[str, object]:
    story = asdict(story_of(line, turns, budget))
    context = line["context"] or {}
    return {
        **story,
        **{key: cut(story[key]) for key in ("ask", "answer", "expected", "error")},
        "tokens": context.get("tokens", {}),
        "made": list(_made(context.get("composed", ()), chunk)),
        "leaks": [[leak["fact"], leak["in"]] for leak in line["leaks"]],
        "base": None if base is None else [base.base, base.now],
    }


def _sections(sent: Context, chunk: _Chunk) -> list[list[object]]:
    """Encode a context: name, tokens, messages, and [id, role, text, evidence, left out before]."""
    return [
        [
            section.name,
            section.tokens,
            section.count,
            [
                [m.id, m.role, chunk.text(m.text), int(m.evidence), m.before]
                for m in section.messages
            ],
        ]
        for section in sent
    ]


def _made(composed: Sequence[Line], chunk: _Chunk) -> Iterator[list[object]]:
    for message in composed[:MADE]:
        yield [message["layer"], chunk.text(message["text"])]


def cut(text: str) -> str:
    """Cut a text to the length that the page keeps."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"


def cases(subject: PageContent, found: Cases) -> Markup:
    """Render the empty section of missed probes, which the script fills."""
    said = "This part is filled by a script, and scripts are turned off here."
    inside: list[str] = [
        element("noscript", element("p", said, " `memsim explain` tells the same.")),
        element("form", id="cases-filters", class_="filters screen", hidden=True),
        element("p", id="cases-count", class_="note", role="status"),
        element("div", id="cases-list"),
        element("nav", id="cases-pages", class_="pages screen", aria_label="Pages of cases"),
    ]
    if found.left_out:
        note = f"{found.left_out:,} stories did not fit into this file; memsim explain tells them."
        inside.insert(0, element("p", note, class_="unmeasured"))
    if not found.rows:
        asked = (case for case in subject.run.cases if case.dataset != LEAKAGE)
        probes = sum(case.counts.get("probes", 0) for case in asked)
        told = "Every probe was answered rightly." if probes else "No probe was asked."
        inside = [element("p", told, class_="note")]
    question = "Why did this probe fail under that strategy?"
    return section("cases", "Cases", question, *inside)
