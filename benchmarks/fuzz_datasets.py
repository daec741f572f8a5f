"""Fuzz the loaders of datasets that are more than one JSON file of one shape."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from memsim.scenario.datasets import load_dataset
from tests.doubles.hostile_files import clear, damage_json

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


DATASETS: dict[str, Callable[[Path, ExitStack], Target]] = {"memdaily": memdaily}
"""Makes each target in a folder of its own."""
