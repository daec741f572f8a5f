"""What is written about the memory names all that it has."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.persistence.open_memory import open_memory
from memsim.memory.tools import TOOLS
from memsim.message import said
from strategies.layered import Layered
from tests.memory.history.test_shorten import LONG, NOW

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"


@pytest.mark.parametrize("kind", ["option", "tool"])
def test_its_page_names_every_option_and_tool(kind: str) -> None:
    """None is missing, and none is there that it does not have."""
    text = PAGE.read_text(encoding="utf-8")
    options = {f.name for f in fields(MemoryOptions)}
    part = text.split("## Options")[1].split("## Tools")[0]
    if kind == "tool":
        part = text.split("## Tools")[1].split("## In a folder")[0]
    names = set(re.findall(r"`([a-z_]+)`", part)) - {
        "layered",
        "agent",
        "both",
        "framework",
        "principal",
        "workspace",
    }

    assert (options if kind == "option" else set(TOOLS)) == names


def test_what_its_page_shows_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As somebody who copies it."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for code in blocks:
        exec(compile(code, str(PAGE), "exec"), {})  # noqa: S102 - our own page

    said = capsys.readouterr().out
    assert ["ana: My order is A-17.", "Ana likes the aisle."] == said.splitlines()[:2]
    assert "Answer in Norwegian." in said
    assert "A-17" in said


def test_its_page_names_stores_that_there_are() -> None:
    """By where they are imported from."""
    table = PAGE.read_text(encoding="utf-8").split("## Over another store")[1]
    named = re.findall(r"`(memsim\.[a-z_.]+)\.([A-Z]\w+)\(", table)

    assert 5 == len(named)
    assert all(callable(getattr(import_module(module), name)) for module, name in named)


def test_every_option_is_a_parameter_of_layered() -> None:
    """Under its own name, and so are the fields of the policy."""
    parameters = set(signature(Layered.parameters).parameters)
    options = {f.name for f in fields(MemoryOptions)} - {"policy"}
    policy = {f.name for f in fields(RecallPolicy)} - {"limit"}

    assert options | policy | {"k"} <= parameters


def test_its_page_names_every_file_of_a_folder(tmp_path: Path) -> None:
    """As a memory has them after a turn with a long message, and a note."""
    options = MemoryOptions(vectors=False)
    with open_memory(tmp_path / "it", now=lambda: NOW, workspace=True, options=options) as memory:
        for number, text in enumerate((LONG, "And now?")):
            memory.observe(said("user", text, id=f"m{number}", principal="ana"))
            memory.observe(said("assistant", "Yes.", id=f"a{number}", principal="ana"))
        memory.note("ana", "likes it short")
        memory.record_audit("memory_get", principal="ana", outcome="allowed")
        memory.end_turn()
        names = {p.name for p in (tmp_path / "it").iterdir() if p.suffix != ".lock"}
    table = PAGE.read_text(encoding="utf-8").split("| file |")[1].split("\n\n")[0]
    told = {name.rstrip("/") for name in re.findall(r"`([a-z0-9.]+/?)`", table)}
    assert told == {name.partition("-")[0] for name in names}
