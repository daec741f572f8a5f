"""Fuzz the readers of single files, and of the words of a command line."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from memsim.config import load_settings, parse_threshold
from memsim.discovery.loader import resolve
from memsim.discovery.project import Project, find_project
from memsim.discovery.strategy_source import strategies_in
from memsim.errors import MemsimError, UnrecordedCall
from memsim.gate.baseline_file import encode, read_baseline
from memsim.gate.score_sheet import ProbeScores, ScoreSheet, SheetColumn
from memsim.leakage.attack_files import read_sheet
from memsim.memory.places import addresses
from memsim.message import load_tokenizer
from memsim.models.cassette.embedder_recordings import RecordedEmbedder
from memsim.models.cassette.tape import read_tape
from memsim.models.model_ref import read_embedder, read_judge, read_model
from memsim.models.registry import load_embedder
from memsim.scaffold import scaffold
from memsim.scenario import load_scenario
from memsim.scenario.datasets import load_dataset
from memsim.scenario.outline import outlines
from memsim.systems.prx.settings import settings_at
from tests.doubles.damage import hostile_json, mutated_bytes
from tests.doubles.hostile_files import clear, damage_file, damage_json

Target = Callable[[random.Random], None]

ROOT = Path(__file__).resolve().parents[1]


def _bytes(path: Path, sources: list[bytes], load: Callable[[Path], Any]) -> Target:
    def target(chance: random.Random) -> None:
        damage_file(chance, path, sources)
        load(path)

    return target


def _sources(*patterns: str) -> list[bytes]:
    found = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return [data for path in found if len(data := path.read_bytes()) < 20_000]


def scenarios(folder: Path, _closing: ExitStack) -> Target:
    """Scenario files: the corpus, good and bad, and the built-in ones; what is loaded begins."""
    sources = _sources("tests/corpus/scenarios/*/*.yaml", "scenarios/**/*.yaml")

    def load(path: Path) -> None:
        for _ in islice(load_scenario(path).events(7), 20):
            pass

    return _bytes(folder / "mutant.yaml", sources, load)


def suites(folder: Path, _closing: ExitStack) -> Target:
    """A folder of scenario files, as `memsim list` reads it."""
    sources = _sources("tests/corpus/scenarios/*/*.yaml")

    def load(path: Path) -> None:
        problems = [found for _, found in outlines(path.parent) if isinstance(found, MemsimError)]
        if problems:
            raise problems[0]

    return _bytes(folder / "mutant.yaml", sources, load)


def sheets(folder: Path, _closing: ExitStack) -> Target:
    """Sheets of a user's own attacks."""
    return _bytes(folder / "sheet.yaml", _sources("scenarios/leakage/*.yaml"), read_sheet)


def programs(folder: Path, _closing: ExitStack) -> Target:
    """Python files of strategies, which are looked through and not run."""
    sources = [path.read_bytes() for path in sorted(ROOT.glob("strategies/*.py"))]

    return _bytes(folder / "mine.py", sources, strategies_in)


_CONFIGURATION = b"""[project]
name = "x"
[tool.memsim]
scenarios = ["a.yaml"]
strategies = ["bm25:k=3", "hybrid"]
budget = ["4k", 8000]
repeat = 3
seed = 7
timeout = 30.5
max_errors = 0.1
max_cost = 2.5
model = "offline"
record = "new"
judge = "offline"
baseline = "main"
reports = "out"
[tool.memsim.expect]
recall = ">= 0.8"
"context.peak" = "<= 4k"
[tool.memsim.gate]
margin = 0.02
metrics = ["recall"]
confidence = 0.95
"""


def configurations(folder: Path, _closing: ExitStack) -> Target:
    """Configuration files, read by every command and extended by `memsim init`."""
    path = folder / "pyproject.toml"

    def target(chance: random.Random) -> None:
        sources = [_CONFIGURATION, _CONFIGURATION.replace(b"tool.memsim", b"tool.else")]
        damage_file(chance, path, sources)
        if chance.random() < 0.2:
            scaffold(folder)
        else:
            load_settings(find_project(folder), {}, {})

    return target


_VALUES = {
    "scenarios": "a.yaml,b.yaml",
    "strategies": "bm25:k=3 hybrid layered:acl=on,window=3",
    "model": "offline:seed=3",
    "embedder": "hash:dim=16",
    "tokenizer": "chars/4",
    "budget": "4k,8000,1.5m",
    "repeat": "3",
    "seed": "7",
    "jobs": "2",
    "timeout": "30.5",
    "max_errors": "0.1",
    "max_cost": "2.50",
    "judge": "offline",
    "record": "new",
    "redis_url": "redis://localhost:6379/0",
}
_READERS: tuple[Callable[[str], object], ...] = (
    *(resolve, read_model, read_embedder, read_judge, load_tokenizer, parse_threshold),
)


def words(_folder: Path, _closing: ExitStack) -> Target:
    """Variables of the environment, and the words of a command line."""
    refs = [value.encode() for value in (*_VALUES.values(), "recall >= 0.8", "my.py@Mine:k=3")]

    def target(chance: random.Random) -> None:
        if chance.random() < 0.5:
            chance.choice(_READERS)(_word(chance, refs))
            return
        name, value = chance.choice([*_VALUES.items()])
        given = _word(chance, [value.encode()]).replace("\0", "")
        if chance.random() < 0.05:
            name = _word(chance, [name.encode()])
        environ = {f"MEMSIM_{name.upper()}": given}
        addresses(environ)
        load_settings(Project(here=ROOT), {}, environ)

    return target


def _word(chance: random.Random, sources: list[bytes]) -> str:
    if chance.random() < 0.01:
        return chance.choice(("9" * 5_000, "x" * 1_000_000, "1e999", "nan", "-inf", "a:" * 9_000))
    return mutated_bytes(chance, sources).decode(errors="surrogateescape")[:1_000_000]


def baselines(folder: Path, _closing: ExitStack) -> Target:
    """Baselines."""
    seen = ProbeScores(scores={"recall": (1.0, 0.0)}, reason="lost", said=3, gone=4)
    column = SheetColumn(
        probes={("a.yaml::a", "first"): seen},
        amounts={"a.yaml::a": {"context_peak": (3812.0,)}},
        questions=1,
        dataset="",
    )
    sheet = ScoreSheet(
        name="run",
        place="",
        instruments={"model": "offline"},
        scenarios={"a.yaml": "1f"},
        strategies={"bm25": "2f"},
        columns={("bm25", 4096): column},
        noise={"bm25@4k": {"recall": 0.1}},
    )
    value, path = json.loads(encode(sheet, "main")), folder / "main.json"

    def target(chance: random.Random) -> None:
        damage_json(chance, path, value)
        read_baseline(path)

    return target


def locomo(folder: Path, _closing: ExitStack) -> Target:
    """The file of LoCoMo, and of the audit of its answers."""
    lines = [
        {"speaker": "Ana", "dia_id": f"D1:{n}", "text": f"{n} cats.", "blip_caption": "a cat"}
        for n in (1, 2)
    ]
    talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1": lines}
    talk["session_1_date_time"] = "1:56 pm on 8 May, 2023"
    asked = {"question": "How many?", "answer": 2, "category": 1, "evidence": ["D1:2"]}
    whole = [{"sample_id": "conv-1", "conversation": talk, "qa": [asked, {**asked, "category": 5}]}]
    finding = {"question_id": "locomo_0_qa0", "question": "How many?"}
    audit = [{**finding, "error_type": "WRONG_CITATION", "correct_evidence": ["D1:1"]}]
    path, beside = folder / "locomo.json", folder / "audit.json"

    def target(chance: random.Random) -> None:
        options = {}
        clear(path)
        path.write_text(json.dumps(whole), encoding="utf-8")
        if chance.random() < 0.3:
            damage_json(chance, beside, audit)
            options = {"mask_bad_gold": str(beside)}
        else:
            damage_json(chance, path, whole)
        for scenario in load_dataset("locomo", path, options):
            list(scenario.events(7))

    return target


def beam(folder: Path, _closing: ExitStack) -> Target:
    """The two files of a conversation of BEAM."""
    batch = {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [
            [
                {"role": "user", "id": 0, "content": "Which bus goes there? ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "The 31."},
            ]
        ],
    }
    asked = {"question": "When?", "difficulty": "easy", "rubric": ["LLM response should state: 9"]}
    batches = [batch, {**batch, "time_anchor": "April-1-2024", "turns": []}]
    plans = [{"plan-1": [batch], "plan-2": None}, {"plan-1": None, "plan-2": batches[1:]}]
    files: dict[str, Any] = {
        "chat.json": batches,
        "probing_questions.json": {
            "knowledge_update": [{**asked, "source_chat_ids": {"original_info": [0]}}],
            "abstention": [asked],
        },
    }

    def target(chance: random.Random) -> None:
        hurt = chance.choice(sorted(files))
        files["chat.json"] = chance.choice((batches, plans))
        for name, value in files.items():
            clear(folder / name)
            (folder / name).write_text(json.dumps(value), encoding="utf-8")
        damage_json(chance, folder / hurt, files[hurt])
        for scenario in load_dataset("beam", folder):
            list(scenario.events(7))

    return target


def longmemeval(folder: Path, _closing: ExitStack) -> Target:
    """A file of LongMemEval."""
    lines = [
        {"role": "user", "content": "My degree is in botany.", "has_answer": True},
        {"role": "assistant", "content": "Nice."},
    ]
    whole = [
        {
            "question_id": name,
            "question_type": "single-session-user",
            "question": "Which degree do I have?",
            "answer": "Botany",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 10:00"],
            "haystack_session_ids": ["answer_1", "talk_2"],
            "haystack_sessions": [lines, lines[:1]],
            "answer_session_ids": ["answer_1"],
        }
        for name in ("q1", "q2_abs")
    ]
    path = folder / "longmemeval_oracle.json"

    def target(chance: random.Random) -> None:
        clear(path)
        damage_json(chance, path, whole)
        for scenario in load_dataset("longmemeval", path):
            list(scenario.events(7))

    return target


def cassettes(folder: Path, _closing: ExitStack) -> Target:
    """Recordings of a provider's answers."""
    sources = [path.read_bytes() for path in sorted(ROOT.glob("tests/live/recorded/**/*.jsonl"))]
    path = folder / "case.jsonl"

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [_changed_line(chance, chance.choice(sources))])
        read_tape(path)

    return target


def vectors(folder: Path, _closing: ExitStack) -> Target:
    """Recordings of an embedder's vectors."""
    made = load_embedder("hash:dim=16")
    path = folder / "vectors.jsonl"
    recorded = RecordedEmbedder(made, path, "new", "vectors.jsonl")
    recorded.embed(["one", "two"])
    recorded.keep()
    source = path.read_bytes()

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [_changed_line(chance, source)])
        with contextlib.suppress(UnrecordedCall):
            RecordedEmbedder(made, path, "none", "vectors.jsonl").embed(["one"])

    return target


def _changed_line(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines()
    if chance.random() < 0.6:
        place = chance.randrange(len(lines))
        lines[place] = hostile_json(chance, json.loads(lines[place]))
    return b"".join(line + b"\n" for line in lines)


_PRX = b"""[memory]
backend = "sqlite"
acl_enabled = true
min_relevance_score = 0.4
max_recall_items = 5
[security.audit]
enabled = true
"""


def prx_settings(folder: Path, _closing: ExitStack) -> Target:
    """PRX's settings file."""
    path = folder / "config.toml"

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [_PRX])
        try:
            settings_at(str(path), chance.choice(("0.3.0", "document")))
        except ValueError as error:  # the loader of strategies makes one line of it
            raise MemsimError(str(error)) from error

    return target


FILES: dict[str, Callable[[Path, ExitStack], Target]] = {
    "scenario": scenarios,
    "suite": suites,
    "attack sheet": sheets,
    "strategy file": programs,
    "configuration": configurations,
    "words": words,
    "baseline": baselines,
    "locomo": locomo,
    "beam": beam,
    "longmemeval": longmemeval,
    "cassette": cassettes,
    "vectors": vectors,
    "prx settings": prx_settings,
}
"""Makes each target in a folder of its own."""
