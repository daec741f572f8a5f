"""What is written about the memory names all that it has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from memsim.memory.options import MemoryOptions
from memsim.memory.saved import open_memory
from memsim.memory.tools import TOOLS
from memsim.message import said
from tests.memory.test_thinning import LONG, NOW

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"


@pytest.mark.parametrize("kind", ["option", "tool"])
def test_its_page_names_every_option_and_tool(kind: str) -> None:
    """None is missing, and none is there that it does not have."""
    text = PAGE.read_text(encoding="utf-8")
    options = {f.name for f in fields(MemoryOptions)}
    part = text.split("## Options")[1].split("## Tools")[0]
    if kind == "tool":
        part = text.split("## Tools")[1].split("## In a folder")[0]
    names = set(re.findall(r"`([a-z_]+)`", part)) - {"layered", "both", "framework", "principal"}

    assert (options if kind == "option" else set(TOOLS)) == names


def test_its_page_names_every_file_of_a_folder(tmp_path: Path) -> None:
    """As a memory has them after a turn with a long message, and a note."""
    options = MemoryOptions(vectors=False)
    with open_memory(tmp_path / "it", now=lambda: NOW, workspace=True, options=options) as memory:
        for number, text in enumerate((LONG, "Yes.", "And now?", "Yes.")):
            role = "assistant" if number % 2 else "user"
            memory.observe(said(role, text, id=f"m{number}", principal="ana", session="one"))
        memory.note("ana", "likes it short")
        memory.audited("memory_get", principal="ana", outcome="allowed")
        memory.end_turn()
        names = {p.name for p in (tmp_path / "it").iterdir() if p.suffix != ".lock"}
    table = PAGE.read_text(encoding="utf-8").split("| file |")[1].split("\n\n")[0]
    told = {name.rstrip("/") for name in re.findall(r"`([a-z0-9.]+/?)`", table)}
    assert told == {name.partition("-")[0] for name in names}
