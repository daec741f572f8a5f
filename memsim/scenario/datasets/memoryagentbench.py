r"""MemoryAgentBench: a long text told piece by piece, then many questions about it.

Published at huggingface.co/datasets/ai-hyz/MemoryAgentBench under MIT, a Parquet file for each of
`Accurate_Retrieval`, `Test_Time_Learning`, `Long_Range_Understanding` and `Conflict_Resolution`.
Parquet needs `memsim[parquet]`; the same rows are read as a JSON list or as JSON lines::

    {"context": "Here is a list of facts:\n0. Ana lives in Oslo.\n1. Ana lives in Rome.\n",
     "questions": ["Where does Ana live?"], "answers": [["Rome"]],
     "metadata": {"source": "factconsolidation_sh_6k", "question_types": null}}

Each row becomes a scenario: the text as messages of the user, then every question. A message is a
fact of a numbered list with its number, else about `MOST_CHARACTERS` of the text. A session has
about as much as a piece of 4,096 tokens, as the published evaluation sends.

Repairs: the files cite no evidence. For single-hop questions about facts it is derived: the fact
that holds an answer, every name and the rarest words of the question. What older facts in the same
words say must not be the answer. Where a newer fact in the same words says something else than the
gold answer, there is no evidence, and the probe has the label `gold: contradicted`. A row with one
question takes all its answers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.json_input import parse_json, read_lines
from memsim.message import EPOCH, Message, said
from memsim.scenario.datasets.dataset_files import find_files
from memsim.scenario.datasets.dataset_scenario import UTTERANCE, recorded_scenario
from memsim.scenario.datasets.fact_list import FactList
from memsim.scenario.datasets.json_file import MOST_BYTES, JsonObject, check_texts, read_json
from memsim.scenario.datasets.parquet_file import read_parquet
from memsim.scenario.script import Ability, Probe, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DATASET = "memoryagentbench"
ASKER = "user"
"""Who tells and asks everything."""

MOST_CHARACTERS = 2_000
"""Of a message; about 500 tokens."""

SESSION_CHARACTERS = 16_000
"""Of a session, about."""

MOST_MESSAGES = 200_000
"""Ten times as many as the longest published list of facts."""

MOST_LINES = 10_000
"""Of a file of JSON lines; 146 rows are published."""

_COLUMNS = ("context", "questions", "answers", "metadata.source", "metadata.question_types")
_BESIDE = "entity2id.json"
_FACTS = re.compile(r"factconsolidation_(sh|mh)_(\w+)")
_HOPS = {"sh": "facts-single-hop", "mh": "facts-multi-hop"}
_NUMBERED = re.compile(r"\d+\. (.*)", re.DOTALL)
_PIECE = re.compile(rf".{{1,{MOST_CHARACTERS}}}(?:\s|\Z)|.{{{MOST_CHARACTERS}}}", re.DOTALL)

_ABILITIES: tuple[tuple[str, Ability], ...] = (
    ("factconsolidation_sh", "update"),
    ("factconsolidation_mh", "multi-session"),
    ("icl_", "instruction"),
    ("recsys_", "preference"),
    ("infbench_", "multi-session"),
    ("detective_", "multi-session"),
)
"""What each source asks of a memory, by the beginning of its name; the others ask for recall."""


def load_memoryagentbench(path: Path) -> list[Scenario]:
    """The rows of a file of MemoryAgentBench or of a folder of them, each as a scenario.

    Raises:
        ConfigError: a file is Parquet and pyarrow is missing.
        ScenarioError: a file is missing, or not of this schema.
    """
    files = find_files(path, ".parquet", ".json", ".jsonl", levels=2)
    seen: Counter[str] = Counter()
    found = [
        _scenario(JsonObject(file, f"row {n}", row), seen)
        for file in files
        if file == path or file.name != _BESIDE
        for n, row in enumerate(_rows(file), start=1)
    ]
    if not found:
        raise ScenarioError("holds no row", path=path)
    return found


def _rows(path: Path) -> list[object]:
    if path.suffix == ".parquet":
        return read_parquet(path, _COLUMNS)
    if path.suffix == ".jsonl":
        return list(_lines(path))
    value = read_json(path)
    if not isinstance(value, list):
        raise ScenarioError("not a list of rows", path=path)
    return value


def _lines(path: Path) -> Iterator[object]:
    try:
        for number, data in enumerate(read_lines(path, ScenarioError, most=MOST_BYTES), start=1):
            if number > MOST_LINES:
                raise ScenarioError(f"has more than {MOST_LINES:,} lines", path=path)
            if data.strip():
                value: object = parse_json(data, path, ScenarioError, line=number)
                check_texts(path, data, value)
                yield value
    except FileNotFoundError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", path=path) from None


def _scenario(row: JsonObject, seen: Counter[str]) -> Scenario:
    metadata = JsonObject(row.path, f"{row.where}: metadata", row.fields.get("metadata"))
    source = metadata.text("source")
    slug = re.sub(r"[^\w.-]+", "-", source)
    seen[slug] += 1
    name = f"{DATASET}-{slug}-{seen[slug]}"
    text = _Text(row, source)
    probes = list(_probes(row, metadata, name, text))
    return recorded_scenario(
        text.turns,
        probes,
        name=name,
        path=row.path,
        dataset=DATASET,
        speakers=ASKER,
        contents=[
            [[m.id, m.session, m.time.isoformat(), m.text] for m in text.messages],
            [[p.id, p.ask, p.expect, p.forbid, p.evidence, dict(p.labels)] for p in probes],
        ],
    )


class _Text:
    """The text of a row as messages, with what its numbered facts answer."""

    def __init__(self, row: JsonObject, source: str) -> None:
        self.source = source
        context = row.text("context")
        listed = _FACTS.fullmatch(source)
        pieces = context.split("\n") if listed else list(_pieces(context))
        pieces = [piece for piece in pieces if piece.strip()]
        if not pieces:
            row.reject("has an empty 'context'")
        if len(pieces) > MOST_MESSAGES:
            row.reject(f"has more than {MOST_MESSAGES:,} messages")
        self.messages = list(_messages(pieces))
        self.turns = [
            Turn(number=m.turn, session=m.session, principal=ASKER, time=m.time, heard=(m,))
            for m in self.messages
        ]
        self._listed = listed
        self._facts = FactList([_unnumbered(piece) for piece in pieces] if listed else [])

    def labels(self) -> dict[str, str]:
        """The slices that the name of the source says."""
        if self._listed is None:
            return {"category": self.source}
        return {"category": _HOPS[self._listed[1]], "size": self._listed[2]}

    def found(self, question: str, answers: Sequence[str]) -> _Found:
        """What the facts say of a single-hop question; nothing for another."""
        if self._listed is None or self._listed[1] != "sh":
            return _Found()
        fact = self._facts.answer(question, answers)
        if fact is None:
            return _Found()
        if fact.contradicted:
            return _Found(gold="contradicted")
        return _Found(evidence=(self.messages[fact.place].id,), forbid=fact.superseded)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    evidence: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    gold: str = "ok"


def _unnumbered(line: str) -> str:
    found = _NUMBERED.fullmatch(line)
    return found[1] if found else line


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces that end with a line where they can, else with a word."""
    piece = ""
    for line in text.split("\n"):
        for part in _PIECE.findall(line + "\n"):
            if piece and len(piece) + len(part) > MOST_CHARACTERS:
                yield piece.rstrip("\n")
                piece = ""
            piece += part
    yield piece.rstrip("\n")


def _messages(pieces: Sequence[str]) -> Iterator[Message]:
    session, told, now = 1, 0, EPOCH
    for number, piece in enumerate(pieces, start=1):
        if told and told + len(piece) > SESSION_CHARACTERS:
            session, told = session + 1, 0
            now = max(now, EPOCH + timedelta(days=session - 1))
        told += len(piece)
        yield said(
            "user",
            piece,
            id=f"m{number}",
            principal=ASKER,
            session=f"session-{session}",
            turn=number,
            time=now,
        )
        now += UTTERANCE


def _probes(row: JsonObject, metadata: JsonObject, name: str, text: _Text) -> Iterator[Probe]:
    questions = row.texts("questions")
    kinds = metadata.texts("question_types") if "question_types" in metadata else []
    for n, (question, answers) in enumerate(zip(questions, _answers(row), strict=True), start=1):
        found = text.found(question, answers)
        labels = text.labels()
        if len(kinds) == len(questions):
            labels["type"] = kinds[n - 1]
        if found.gold != "ok":
            labels["gold"] = found.gold
        yield Probe(
            id=f"{name}:question-{n}",
            ask=question,
            principal=ASKER,
            expect=answers,
            forbid=found.forbid,
            ability=_ability(text.source),
            evidence=found.evidence,
            excluded="" if found.evidence else "no valid evidence",
            labels=labels,
        )


def _answers(row: JsonObject) -> list[tuple[str, ...]]:
    questions, members = row.texts("questions"), row.members("answers")
    if not questions:
        row.reject("has no question")
    listed = [
        JsonObject(row.path, row.where, {"answers": each}).texts("answers") for each in members
    ]
    if len(questions) == 1:
        listed = [[answer for each in listed for answer in each]]
    if len(listed) != len(questions):
        row.reject(f"has {len(questions)} questions and answers to {len(listed)}")
    kept = [tuple(dict.fromkeys(a.strip() for a in each if a.strip())) for each in listed]
    for n, answers in enumerate(kept, start=1):
        if not answers:
            row.reject(f"has no answer to question {n}")
    return kept


def _ability(source: str) -> Ability:
    return next((a for start, a in _ABILITIES if source.startswith(start)), "recall")
