"""Fuzz the loaders of datasets that are more than one JSON file of one shape."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from memsim.scenario.datasets import load_dataset
from tests.doubles.damage import hostile_json, mutated_bytes
from tests.doubles.hostile_files import clear, damage_file, damage_json

Target = Callable[[random.Random], None]


def _play(name: str, path: Path) -> None:
    for scenario in load_dataset(name, path):
        list(scenario.events(7))


def memdaily(folder: Path, _closing: ExitStack) -> Target:
    """A file of MemDaily for each kind, and the one of all kinds."""
    message = {"message": "我养了一只猫。", "time": "2024年04月01日 周一 08:30", "place": "北京"}
    asked = {
        "qid": 0,
        "question": "我养了什么?",
        "answer": "猫",
        "target_step_id": [0],
        "choices": {"A": "猫", "B": "狗", "C": "狗"},
        "ground_truth": "A",
        "time": "2024年04月05日 周五 18:34",
    }
    lines = [{"mid": n, **message} for n in range(2)]
    failed = {**asked, "choices": "[ERRORC]"}
    listed = [
        {"tid": n, "message_list": lines, "question_list": [q]}
        for n, q in ((0, asked), (1, failed))
    ]
    merged = {"simple": {"events": [{"tid": 0, "message_list": lines, "QA": asked}]}}
    path = folder / "01_simple_events.json"

    def target(chance: random.Random) -> None:
        clear(path)
        damage_json(chance, path, chance.choice((listed, merged)))
        _play("memdaily", path)

    return target


def memfail(folder: Path, _closing: ExitStack) -> Target:
    """A file of each kind of MemFail."""
    persona = {"text": "And Ben?", "is_misleading": True, "distractor": "Ben"}
    known = {"text": "Ana?", "is_misleading": False, "ground_truth_answer": "She sings."}
    hops = {
        **dict.fromkeys(("fact_3", "fact_4", "choice_d", "choice_e"), ""),
        "fact_1": "Tea calms me.",
        "fact_2": "Calm, I sing.",
        "hop_count": "1",
        "choice_a": "sing",
        "choice_b": "run",
        "choice_c": "cook",
        "correct_choice": "A",
        "graded_question": "After tea?\n\nOptions:\nA. sing",
    }
    tables: list[list[dict[str, str]]] = [
        [
            {
                "preferences": '["tea", "milk"]',
                "preference_facts": '["I drink tea.", "I drink milk."]',
                "question": "What do I drink?",
            }
        ],
        [{"entity_facts": '["Ana sings when glad."]', "question": "?", "condition_met": "yes"}],
        [{"entity": "Ana", "entity_facts": '["x"]', "questions": json.dumps([persona, known])}],
        [hops],
    ]
    sources = [_table(rows * 2) for rows in tables]
    path = folder / "memfail.csv"

    def target(chance: random.Random) -> None:
        clear(path)
        if chance.random() < 0.5:
            damage_file(chance, path, sources)
        else:
            path.write_bytes(_table(_hurt(chance, chance.choice(tables))))
        _play("memfail", path)

    return target


def _table(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode(errors="surrogatepass")


def _hurt(chance: random.Random, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The rows with the value of one cell mutated: as JSON where it is JSON."""
    row, name = dict(rows[0]), chance.choice([*rows[0]])
    data = row[name].encode()
    hurt = hostile_json(chance, json.loads(data)) if data[:1] == b"[" else b""
    hurt = hurt or mutated_bytes(chance, [data])
    return [{**row, name: hurt.decode(errors="replace")}, *rows]


def convomem(folder: Path, _closing: ExitStack) -> Target:
    """An item of ConvoMem, and a test case."""
    told = {"speaker": "User", "text": "My boat is called Tern."}
    talk = {"id": "c1", "messages": [told, {"speaker": "Assistant", "text": "Nice."}]}
    item = {
        "question": "Which boat do I have?",
        "answer": "Tern",
        "message_evidences": [told],
        "conversations": [talk],
    }
    case = {"contextSize": 2, "conversations": [talk, talk], "evidenceItems": [item]}
    path = folder / "user_evidence" / "1_evidence" / "x.json"
    path.parent.mkdir(parents=True)

    def target(chance: random.Random) -> None:
        clear(path)
        damage_json(chance, path, chance.choice(({"evidence_items": [item]}, [case])))
        _play("convomem", path)

    return target


def longmemeval_v2(folder: Path, _closing: ExitStack) -> Target:
    """The folder of LongMemEval-V2, with one of its three files damaged."""
    question = {
        "id": "q1",
        "domain": "web",
        "question": "Which tab has the taxes?",
        "image": None,
        "question_type": "static-environment",
        "answer": "Sales; Taxes",
        "eval_function": "norm_phrase_set_match|separators=;",
    }
    state = {"url": "http://shop/", "thought": "In Sales.", "action": "click('12')"}
    trajectory = {
        "id": "t1",
        "goal": "Raise the tax.",
        "start_url": "http://shop/",
        "outcome": "success",
        "states": [{**state, "accessibility_tree": "[12] tab 'Sales'"}],
    }
    files: dict[Path, object] = {
        folder / "haystacks/lme_v2_small.json": {"q1": ["t1"], "q2": ["t1", "t2"]},
        folder / "questions.jsonl": question,
        folder / "trajectories.jsonl": trajectory,
    }
    seconds = {
        folder / "questions.jsonl": {**question, "id": "q2", "eval_function": "mc_choice_match"},
        folder / "trajectories.jsonl": {**trajectory, "id": "t2"},
    }
    (folder / "haystacks").mkdir(exist_ok=True)

    def target(chance: random.Random) -> None:
        damaged = chance.choice([*files])
        for path, value in files.items():
            clear(path)
            second = json.dumps(seconds[path]).encode() + b"\n" if path in seconds else b""
            if path == damaged:
                damage_file(chance, path, [hostile_json(chance, value) + b"\n" + second])
            else:
                path.write_bytes(json.dumps(value).encode() + b"\n" + second)
        _play("longmemeval_v2", folder)

    return target


def meme(folder: Path, _closing: ExitStack) -> Target:
    """A file of MEME."""
    said = [{"role": "user", "content": "Ben leads."}, {"role": "assistant", "content": "Good."}]
    session = {"timestamp": "2023/03/05 (Sun) 11:55", "conversation": said}
    fact = {"entity": "lead", "value": "Ben", "conveyed_in_turn": 0}
    asked = {"task_type": "Cas", "entity": ["reviewer"], "hop": 1, "question": "Who reviews?"}
    block = {"timestamp": "2023/03/19 (Sun) 00:18", "position_after_session": 1}
    questions = [{**asked, "expected_answer": "Ana", "gold_answer": "Eli"}]
    episode = {
        "episode_id": "pl_001",
        "dependency_edges_used": [{"source": "lead", "target": "reviewer"}],
        "sessions": [{**session, "gold_facts": [fact]}, session],
        "before_questions": {**block, "questions": questions},
        "after_questions": {
            **block,
            "questions": [*questions, {**questions[0], "task_type": "Abs"}],
        },
    }
    path = folder / "meme.json"

    def target(chance: random.Random) -> None:
        clear(path)
        damage_json(chance, path, [episode])
        _play("meme", path)

    return target


def memoryagentbench(folder: Path, _closing: ExitStack) -> Target:
    """A file of MemoryAgentBench, also as Parquet where pyarrow is installed."""
    row: dict[str, object] = {
        "context": "Facts:\n0. Ana lives in Oslo.\n1. Ben sings.\n2. Ana lives in Rome.\n",
        "questions": ["Where does Ana live?", "What does Ben do?"],
        "answers": [["Rome"], ["sings"]],
        "metadata": {"source": "factconsolidation_sh_6k", "question_types": ["a", "b"]},
    }
    other = {**row, "metadata": {"source": "eventqa_full", "question_types": None}}
    packed = _parquet([row, other])
    whole, lines = folder / "rows.json", folder / "rows.jsonl"
    table = folder / "rows.parquet"

    def target(chance: random.Random) -> None:
        drawn = chance.random()
        if packed and drawn < 0.3:
            clear(table)
            damage_file(chance, table, [packed])
            _play("memoryagentbench", table)
        elif drawn < 0.8:
            clear(whole)
            damage_json(chance, whole, [row, other])
            _play("memoryagentbench", whole)
        else:
            clear(lines)
            said = json.dumps(row).encode() + b"\n" + hostile_json(chance, other) + b"\n"
            damage_file(chance, lines, [said])
            _play("memoryagentbench", lines)

    return target


def _parquet(rows: list[dict[str, object]]) -> bytes:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        return b""
    sink = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


def halumem(folder: Path, _closing: ExitStack) -> Target:
    """A line of a file of HaluMem."""
    stamp = "Jan 15, 2029, 15:12:20"
    point = {
        "memory_content": "Ana moved to Oslo.",
        "memory_type": "Event Memory",
        "memory_source": "secondary",
        "is_update": "True",
        "original_memories": ["Ana lives in Bergen."],
    }
    false = {
        "memory_source": "interference",
        "is_update": "False",
        "original_memories": [],
        "reference_memory_content": "Ana moved to Oslo.",
    }
    asked = {"question": "Where does Ana live?", "answer": "Oslo", "difficulty": "easy"}
    session = {
        "start_time": stamp,
        "memory_points": [point, {**point, **false}],
        "dialogue": [
            {"role": "user", "content": "I moved to Oslo.", "timestamp": stamp},
            {"role": "assistant", "content": "Nice."},
        ],
        "questions": [
            {**asked, "evidence": [point], "question_type": "Dynamic Update"},
            {**asked, "evidence": [], "question_type": "Memory Boundary"},
        ],
    }
    user = {"uuid": "u1", "sessions": [session, {**session, "questions": []}]}
    path = folder / "halumem.jsonl"

    def target(chance: random.Random) -> None:
        clear(path)
        if chance.random() < 0.4:
            damage_file(chance, path, [json.dumps(user).encode()])
        else:
            path.write_bytes(hostile_json(chance, user) + b"\n")
        _play("halumem", path)

    return target


def personamem(folder: Path, _closing: ExitStack) -> Target:
    """The two files of PersonaMem."""
    asked = "User: Ana\n\nAny idea?"
    meta = {"question_type": "suggest_new_ideas", "topic": "art", "retrieval_query": asked}
    content = "[SYSTEM] Name: Ana\n\n[USER] User: I paint.\n\n[ASSISTANT] Nice."
    query = {
        "id": "q1",
        "user_id": "u1",
        "query": f"{asked}\n\n(a) Paint.\n(b) Run.",
        "gold_answers": ["(a) Paint.", "a"],
        "gold_ids": ["u1_0"],
        "meta": meta,
    }
    document = {"user_id": "u1", "content": content, "timestamp": None}
    files: Mapping[str, Any] = {
        "32k-documents.json": [{"id": name, **document} for name in ("u1_0", "u1_1")],
        "32k-queries.json": [query, {**query, "gold_ids": ["u1_0", "u1_1"]}],
    }

    def target(chance: random.Random) -> None:
        hurt = chance.choice(sorted(files))
        for name, value in files.items():
            clear(folder / name)
            (folder / name).write_text(json.dumps(value), encoding="utf-8")
        damage_json(chance, folder / hurt, files[hurt])
        _play("personamem", folder / "32k-documents.json")

    return target


def locomo_plus(folder: Path, _closing: ExitStack) -> Target:
    """The pairs of LoCoMo-Plus, and a conversation of LoCoMo beside them."""
    talk = {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Hello."}],
    }
    pair = {
        "relation_type": "causal",
        "time_gap": "two weeks later",
        "cue_dialogue": "A: I sold my canoe.\nB: A pity.",
        "trigger_query": "A: The lake looks empty.",
    }
    files: Mapping[str, Any] = {
        "locomo10.json": [{"sample_id": "conv-1", "conversation": talk, "qa": []}],
        "locomo_plus.json": [pair, {**pair, "time_gap": "about one year later"}],
    }

    def target(chance: random.Random) -> None:
        hurt = chance.choice(sorted(files))
        for name, value in files.items():
            clear(folder / name)
            (folder / name).write_text(json.dumps(value), encoding="utf-8")
        damage_json(chance, folder / hurt, files[hurt])
        options = {"apart": "true", "locomo": str(folder / "locomo10.json")}
        if chance.random() < 0.3:
            options = {}
        for scenario in load_dataset("locomo_plus", folder / "locomo_plus.json", options):
            list(scenario.events(7))

    return target


DATASETS: dict[str, Callable[[Path, ExitStack], Target]] = {
    "convomem": convomem,
    "halumem": halumem,
    "locomo_plus": locomo_plus,
    "longmemeval_v2": longmemeval_v2,
    "memdaily": memdaily,
    "memfail": memfail,
    "meme": meme,
    "memoryagentbench": memoryagentbench,
    "personamem": personamem,
}
"""Makes each target in a folder of its own."""
