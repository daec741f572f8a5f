"""Names of people and conversations are names, wherever they are kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.leakage.attack_world import AttackWorld, Setting
from tests.leakage.payload_corpus import PATHS

KEEPING = (
    "layered:acl=on,store=markdown",
    "layered:acl=on,store=sqlite",
    "prx:version=0.3.0",
    "prx:backend=markdown",
    "agentscope:fixed=true",
    "agenticx",
    "cogtrix:fixed=true",
    "aegis",
)


@pytest.mark.parametrize("strategy", KEEPING)
def test_no_id_of_a_conversation_is_a_path(
    setting: Callable[[str], Setting], tmp_path: Path, strategy: str
) -> None:
    """Whoever calls themselves a folder gets none: all files are where they belong."""
    made = setting(strategy)
    there = {p for p in tmp_path.rglob("*") if p.is_file()}
    with AttackWorld(made) as world:
        for number, name in enumerate(PATHS):
            world.say(name, f"My locker is number {number}, near the stairs.", session=name)
            world.say("ana", "The plumber comes on Monday.", session=PATHS[-number - 1])
        world.ask(PATHS[0], "Which locker is mine?", session=PATHS[0])
        files = {p for p in tmp_path.rglob("*") if p.is_file()} - there
        inside = world.folder

    assert not [p for p in files if inside is None or not p.is_relative_to(inside)]
    assert not [
        p.name for p in files if re.search(r"escaped|passwd|absolute|touch|%2e|aaaa", p.name)
    ]
