"""Hostile input that once ended in a traceback, a hang or too much memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import fuzz
from benchmarks.fuzz_memories import seal_entries
from benchmarks.fuzz_runs import call
from benchmarks.fuzz_wire import answer_of, turn_of
from memsim.cli.memory_view import look_into
from memsim.cli.serve import open_layers
from memsim.config import load_settings
from memsim.discovery.catalogue import find_strategies
from memsim.discovery.project import Project, find_project
from memsim.discovery.strategy_source import strategies_in
from memsim.errors import BaselineError, MemsimError, StoreError
from memsim.json_input import parse_json
from memsim.memory.codec import pack, unpack
from memsim.memory.compaction.summary import Summary
from memsim.memory.entry import CALLS, PASSAGE, TURN, DamagedRecord, Entry, decode, encode
from memsim.memory.layers.pages import Workspace
from memsim.memory.permissions import Where
from memsim.memory.persistence.memory_file import FILE
from memsim.memory.stores import each_entry
from memsim.memory.stores.markdown.store import Markdown
from memsim.memory.stores.sqlite import rows
from memsim.memory.stores.sqlite.store import SQLite
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.models.live import Call
from memsim.models.live.cost_limit import Price
from memsim.models.live.litellm_client import LiteLLM
from memsim.runs.run_folder import list_runs
from memsim.scaffold import scaffold
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script_files import has_memsim_key
from memsim.service.app import create_app
from memsim.systems.agenticx.workspace_files import Pages
from memsim.systems.prx.brain import BRAIN, Brain
from memsim.systems.prx.settings import read_settings
from memsim.systems.prx.workspace_view import find_workspace
from memsim.testing import Case, world_of
from tests.doubles.hostile_files import SPECIAL

NOW = datetime(2026, 1, 5, tzinfo=UTC)
EVERYTHING = Where(reader=None, archived=None)


def refusal(read: Callable[[], object]) -> str:
    """What a reader says of its input; empty where it takes it."""
    try:
        read()
    except MemsimError as error:
        return str(error)
    return ""


def reading(read: Callable[[], object]) -> fuzz.Target:
    """A target of the fuzzer that always reads the same."""

    def target(_: random.Random) -> None:
        read()

    return target


def test_json_of_many_values_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    """Sixty megabytes of empty lists would become more than a gigabyte."""
    for unit in (b"[],", b'{"a":1},', b"1.5,"):
        data = b"[" + unit * 2_000_000 + b"0]"
        with pytest.raises(BaselineError, match="more than 2,000,000 values"):
            parse_json(data, tmp_path, BaselineError, quick=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = 1\n" * 2**18, "larger than 1 MB"),
        ("a = " + "[" * 9_000, "nested too deeply"),
        ("a." * 900 + "a = 1", "a key has more than 50 parts"),
        ("['a' ." + ' "b" .' * 900 + "a]", "a key has more than 50 parts"),
    ],
    ids=["large", "deep", "a long key", "a long quoted key"],
)
def test_toml_that_takes_long_to_parse_is_refused(tmp_path: Path, text: str, why: str) -> None:
    """As configuration of memsim, in a project that is begun, and as PRX's settings."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.memsim]\n{text}", encoding="utf-8")

    assert why in refusal(lambda: find_project(tmp_path))
    assert why in refusal(lambda: scaffold(tmp_path))
    with pytest.raises(ValueError, match=why):
        read_settings(text)


def test_a_dotted_text_is_no_long_key(tmp_path: Path) -> None:
    """Versions, hosts and ellipses in a configuration."""
    said = "1.2.3 a.b.c " * 200 + "." * 200
    text = f'[tool.memsim]\nmodel = "{said}"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    assert find_project(tmp_path).table == {"model": said}


@pytest.mark.parametrize("text", ["tool = 1\n", "\ufeff[tool.x]\n", "[tool]\nmemsim = 1\n"])
def test_a_project_is_begun_beside_any_valid_configuration(tmp_path: Path, text: str) -> None:
    """Whatever its `tool` is, and with a byte order mark."""
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    assert refusal(lambda: scaffold(tmp_path)).endswith(
        "[tool] must be a table" if text == "tool = 1\n" else ""
    )


def test_what_cannot_be_looked_at_is_refused_at_once(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Pipes, devices, and links whose target no call of the system takes."""
    readers: dict[str, tuple[str, Callable[[Path], object]]] = {
        "a strategy": ("mine.py", lambda home: strategies_in(home / "mine.py")),
        "a configuration": ("pyproject.toml", find_project),
        "a dataset": ("locomo.json", lambda home: load_dataset("locomo", home / "locomo.json")),
        "a chat": ("chat.json", lambda home: load_dataset("beam", home / "chat.json")),
        "a history": ("l.json", lambda home: load_dataset("longmemeval", home / "l.json")),
        "days": ("x.json", lambda home: load_dataset("memdaily", home / "x.json")),
        "a folder of days": ("01_simple_x.json", lambda home: load_dataset("memdaily", home)),
        "facts": ("x.jsonl", lambda home: load_dataset("memoryagentbench", home / "x.jsonl")),
        "a folder of facts": ("x.json", lambda home: load_dataset("memoryagentbench", home)),
        "a packed table": ("x.parquet", lambda home: load_dataset("memoryagentbench", home)),
        "talks": (
            "user_evidence/x.json",
            lambda home: load_dataset("convomem", home / "user_evidence" / "x.json"),
        ),
        "a folder of talks": ("user_evidence/x.json", lambda home: load_dataset("convomem", home)),
        "episodes": ("x.json", lambda home: load_dataset("meme", home / "x.json")),
        "a haystack": ("h/x.json", lambda home: load_dataset("longmemeval_v2", home / "h/x.json")),
        "a table": ("x.csv", lambda home: load_dataset("memfail", home / "x.csv")),
        "a folder of tables": ("a/b/x.csv", lambda home: load_dataset("memfail", home)),
        "a user": ("u.jsonl", lambda home: load_dataset("halumem", home / "u.jsonl")),
        "sessions": (
            "documents.json",
            lambda home: load_dataset("personamem", home / "documents.json"),
        ),
        "pairs": ("p.json", lambda home: load_dataset("locomo_plus", home / "p.json")),
        "a day's page": ("memory/2026-01-05.md", lambda home: Workspace(home).pages()),
        "a page": ("MEMORY.md", lambda home: Workspace(home).pages()),
        "a page of AgenticX": ("memory/2026-01-05.md", Pages.of),
        "PRX's settings": ("config.toml", prx),
        "a page of PRX": ("memory/2026-01-05.md", lambda home: prx(home, "markdown")),
        "a note": ("memory/2026-01-05.md", lambda home: Workspace(home).note("x", NOW)),
        "a memory": (FILE, lambda home: look_into(home, wait=0, readonly=True, tell=print)),
        "runs": ("runs/x", list_runs),
        "strategies": ("strategies", lambda home: find_strategies(Project(root=home, here=home))),
    }
    home = tmp_path / "home"
    for name, (file, read) in readers.items():
        for what in SPECIAL:
            with subtests.test(name=name, what=what):
                (home / file).parent.mkdir(parents=True)
                SPECIAL[what](home / file)
                assert refusal(partial(read, home)).isprintable()
            shutil.rmtree(home)


def test_scenarios_that_are_a_link_to_themselves_are_none(tmp_path: Path) -> None:
    """They are listed with those of memsim."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "scenarios").symlink_to("scenarios")

    call(tmp_path, "list", "scenarios")


def prx(home: Path, backend: str = "") -> None:
    """Open a workspace of PRX, with settings of its own where a backend is named."""
    if backend:
        text = f'[memory]\nbackend = "{backend}"\n'
        (home / "config.toml").write_text(text, encoding="utf-8")
    found = find_workspace(home, now=lambda: NOW, wait=0)
    if found is not None:
        found.close()


def test_a_page_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    """Of a workspace of AgenticX and of PRX."""
    (tmp_path / "MEMORY.md").write_bytes(b"- \xff\n")

    assert "MEMORY.md: cannot be read" in refusal(lambda: Pages.of(tmp_path))
    assert "MEMORY.md: cannot be read" in refusal(lambda: prx(tmp_path, "markdown"))


def test_a_megabyte_of_blanks_is_looked_through_at_once() -> None:
    """Whether a file means to be a scenario is asked of every file of a folder."""
    for blanks in (b" " * 2**20, b"\t{" + b" " * 2**20):
        assert fuzz.one(reading(partial(has_memsim_key, blanks)), "7") == ("loaded", "")
        assert has_memsim_key(blanks + b"memsim: 1")


def test_a_damaged_table_of_prx_is_one_line(tmp_path: Path) -> None:
    """SQLite quotes what it cannot read."""
    path = tmp_path / BRAIN
    path.parent.mkdir()
    Brain(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE \x03' WHERE rootpage = 2")

    told = refusal(partial(prx, tmp_path))
    assert "malformed database schema" in told
    assert told.isprintable()


def test_entries_out_of_order_end(tmp_path: Path) -> None:
    """A row that says another time than its record: pages of it would have no end."""
    path = tmp_path / "store.sqlite3"
    store = SQLite(path)
    entry = Entry(key="k", text="falcon", owner="ana", created=NOW)
    store.write([entry])
    store.close()
    record = encode(Entry(key="k", text="falcon", owner="ana", created=NOW - timedelta(days=9)))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entries SET record = ?", (record,))
        seal_entries(connection)
    store = SQLite(path, readonly=True)

    with pytest.raises(StoreError, match="not in the order"):
        list(islice(each_entry(store, EVERYTHING), 9))
    store.close()


def test_a_vector_that_is_a_text_is_damage() -> None:
    """SQLite keeps any value in any column, and Chroma is filled from there."""
    with pytest.raises(DamagedRecord):
        rows.unpack(["x"], 4)  # type: ignore[list-item]


def test_a_saved_message_of_other_types_is_refused() -> None:
    """It would fail at the next question."""
    call_of = ToolUse(id="c1", name="get", arguments="{}")
    blocks = (Text("x"), call_of, ToolResult(id="c1", text="y"))
    [saved] = pack([Message(id="m1", role="user", blocks=blocks, quotes=("q",))])
    assert isinstance(saved, dict)
    assert unpack([saved])
    for name in saved.keys() - {"blocks", "time"}:
        for wrong in ([["m1"]], {"": None}, "narrator"):
            if not isinstance(wrong, str) or name in {"role", "turn", "composed"}:
                assert refusal(partial(unpack, [{**saved, name: wrong}])), name
    found: Any = saved["blocks"]
    for place, block in enumerate(found):
        for name in block:
            wrong_blocks = [*found[:place], {**block, name: {"": None}}, *found[place + 1 :]]
            assert refusal(partial(unpack, [{**saved, "blocks": wrong_blocks}])), name


def test_a_saved_row_of_prx_that_cannot_be_shown_is_refused() -> None:
    """It would fail when somebody asks for it."""
    world = world_of("prx", Case(events=(turn_of(1),), budget=100))
    world.play(world.case.events)
    whole = json.loads(world.saved())
    [row, *_] = whole["service"]["brain"]["memories"]
    world.memory.load(whole)
    for place in [n for n, value in enumerate(row) if value == '["m1"]' or n in {2, 3, 4}]:
        kept, row[place] = row[place], ["x"] if place < 5 else "{"
        assert refusal(partial(world.memory.load, whole)), place
        row[place] = kept
    world.close()


def test_a_store_of_markdown_names_its_embedder_in_whole_characters(tmp_path: Path) -> None:
    """Half of one cannot be encoded."""
    Markdown(tmp_path, synced=False).close()
    about = {"schema": 1, "embedded": {"name": "\ud800", "dimension": 4}}
    (tmp_path / "store.json").write_text(json.dumps(about), encoding="utf-8")

    assert "store.json" in refusal(partial(Markdown, tmp_path, synced=False))


def test_an_entry_whose_turn_or_calls_cannot_be_read_is_damaged() -> None:
    """It would fail wherever its message is asked for."""
    whole = Entry(key="k", text="x", owner="ana", attributes=((TURN, "3"), (CALLS, '["get"]')))
    assert decode(encode(whole), "entry 1") == whole
    for name, text in (
        (TURN, ""),
        (TURN, "9" * 5_000),
        (PASSAGE, "x"),
        (CALLS, "{"),
        (CALLS, "[1]"),
    ):
        damaged = encode(replace(whole, attributes=((name, text),)))
        with pytest.raises(DamagedRecord, match="entry 1 is damaged"):
            decode(damaged, "entry 1")


def test_a_summary_of_other_sources_than_texts_is_refused() -> None:
    """It would fail at the next question."""
    line = {"text": "x", "sources": ["m1"], "perhaps": []}
    saved = {"lines": [line], "owners": {"m1": "ana"}, "compactions": 1, "time": NOW.isoformat()}
    assert Summary.loaded(saved).sources == ("m1",)
    for wrong in ({**line, "sources": [["m1"]]}, {**line, "perhaps": [1]}):
        assert refusal(partial(Summary.loaded, {**saved, "lines": [wrong]}))
    assert refusal(lambda: Summary.loaded({**saved, "owners": {"m1": ["ana"]}}))


@pytest.mark.parametrize("ref", ["prx", "agenticx:tools=on"])
def test_half_a_character_in_the_arguments_of_a_tool_is_an_error_of_the_tool(ref: str) -> None:
    """A model may write one; and any number."""
    world = world_of(ref, Case(events=(), budget=100))
    for spec in world.memory.tools("ana"):
        for value in ('"\\ud800"', "9" * 4_000, '"' + "9" * 5_000 + '"'):
            names = json.loads(spec.parameters)["properties"]
            arguments = "{" + ",".join(f'"{name}":{value}' for name in names) + "}"
            assert world.memory.call_tool(spec.name, arguments, "ana").isprintable()
    world.close()


def test_an_answer_of_a_provider_without_an_end_is_a_failure_of_the_provider() -> None:
    """And so is one that cost more than a number can say."""
    choice = SimpleNamespace(message=SimpleNamespace(content="x", tool_calls=None))
    usage = SimpleNamespace(prompt_tokens=10**400, completion_tokens=1)
    asked = Call(model="m", task="answer", messages=(), max_tokens=9)
    client = LiteLLM(Price(input=1.0, output=1.0))
    for answer in (
        SimpleNamespace(choices=[choice], usage=None),
        SimpleNamespace(choices={}, usage=None),
        SimpleNamespace(
            choices=[SimpleNamespace(message=choice.message, finish_reason="stop")], usage=usage
        ),
    ):
        assert "no answer" in refusal(partial(client._answer, asked, answer))


def test_a_body_of_any_depth_is_answered() -> None:
    """What is wrong with it is said by repeating it, for which there may be no room."""
    with open_layers({}, embedder="hash:dim=16", exact=True, fixed=True) as layers:
        app = create_app(layers)

        async def answers() -> set[int]:
            bodies = (b"[" * depth + b"]" * depth for depth in range(700, 1_000))
            return {(await answer_of(app, "PUT", "/working-memory/c", b))[0] for b in bodies}

        assert asyncio.run(answers()) <= {400, 422}


def test_a_name_of_a_variable_is_told_in_one_line() -> None:
    """Its bytes can be anything."""
    project = Project()
    told = refusal(lambda: load_settings(project, {}, {"MEMSIM_SE\udcffD\n": "7"}))
    assert told.startswith("unknown variable")
    assert told.isprintable()


def test_what_the_file_system_refuses_is_one_line(tmp_path: Path) -> None:
    """A word that is too long for a path, and a baseline with a byte order mark."""
    with contextlib.suppress(MemsimError):
        call(tmp_path, "compare", "x" * 300, "y" * 300)
    with pytest.raises(MemsimError, match="File name too long"):
        call(tmp_path, "memory", "list", "--memory", "x" * 300)
    assert not list(tmp_path.iterdir())
