"""`memsim memory`: inspect a saved memory, with the permissions of a principal."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from memsim.cli.terminal import printable, safe_json
from memsim.memory import MemoryOptions, SavedMemory, open_memory
from memsim.memory.entry import Conversation
from memsim.memory.permissions import ReadGrant
from memsim.message import Message, ToolResult, ToolUse, said
from memsim.models.embedders import HashEmbedder

Call = Callable[..., Result]
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
AS, JSON = ("--as", "ana"), ("--format", "json")
ALARMING = "red \x1b[31m \x9b31m bell \x07 \u202eright to left\u2066 two\nlines \u2028 end"


class Own(HashEmbedder):
    """An embedder of a product's own, which nothing here can load."""

    name = "own-7"


def fill(folder: Path, options: MemoryOptions | None = None) -> SavedMemory:
    """A memory of two principals, open."""
    memory = open_memory(
        folder, now=lambda: NOW, embedder="hash:dim=16", tokenizer="chars/4", options=options
    )
    for number, who in enumerate(("ana", "bo")):
        memory.observe(
            said(
                "user",
                f"My badge is {who}-4711.",
                id=f"m{number}",
                principal=who,
                session=who,
                time=NOW,
            )
        )
    memory.end_turn()
    memory.remember("ana", "style", "Ana prefers four spaces.")
    memory.remember("ana", "lunch", "Soup at noon.", category="daily")
    memory.remember("bo", "secret", "Bo's cat is called Vinterberg.")
    return memory


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal on which nothing is cut off."""
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A saved memory, which the variable names."""
    monkeypatch.setenv("MEMSIM_MEMORY", str(tmp_path / "saved"))
    fill(tmp_path / "saved").close()
    return tmp_path / "saved"


def keys(result: Result) -> list[str]:
    """The keys that a JSON answer holds."""
    assert result.exit_code == 0, result.stderr
    return [record["key"] for record in json.loads(result.stdout)["entries"]]


def test_stats_count_everybodys_entries(folder: Path, call: Call) -> None:
    """Without a principal it is the keeper's view, and says so."""
    result = call("memory", "stats")
    told = json.loads(call("memory", "stats", "--format", "json").stdout)
    own = json.loads(call("memory", "stats", "--as", "bo", "--format", "json").stdout)

    assert "entries of all principals" in result.stdout.splitlines()[0]
    assert told["layers"]["long_term"] == 3
    assert told["categories"]["daily"] == 1
    assert {"ana", "bo"} == set(told["owners"])
    assert {"bo"} == set(own["owners"])
    assert "conversations" not in own


def test_list_shows_what_a_principal_may_see(folder: Path, call: Call) -> None:
    """By category, as far as asked for, oldest first."""
    own = keys(call("memory", "list", "--as", "ana", "--format", "json"))
    daily = keys(call("memory", "list", "--as", "ana", "--category", "daily", "--format", "json"))
    lines = call("memory", "list", "--as", "ana", "--limit", "1").stdout.splitlines()

    assert {"style", "lunch", "m0"} <= set(own)
    assert not {"secret", "m1"} & set(own)
    assert daily == ["lunch"]
    assert lines[0].split()[:3] == ["key", "layer", "category"]
    assert f"and {len(own) - 1} more: --limit {len(own)}" in lines[-1]


def test_search_finds_by_words_and_says_how_well(folder: Path, call: Call) -> None:
    """One line of JSON for each, best first."""
    result = call("memory", "search", "four spaces", "--as", "ana", "--format", "jsonl")
    nothing = call("memory", "search", "Vinterberg's cat", "--as", "ana", "--category", "daily")

    first = json.loads(result.stdout.splitlines()[0])
    assert (first["key"], first["owner"]) == ("style", "ana")
    assert first["score"] > 0
    one = json.loads(call("memory", "search", "Ana", *AS, "--limit", "1", *JSON).stdout)
    assert (len(one["entries"]), one["total"]) == (1, 3)
    assert "Vinterberg" not in nothing.stdout
    assert nothing.exit_code == 0


def test_get_prints_the_text(folder: Path, call: Call) -> None:
    """Or the whole entry."""
    entry = json.loads(call("memory", "get", "style", "--as", "ana", "--format", "json").stdout)

    assert call("memory", "get", "style", "--as", "ana").stdout == "Ana prefers four spaces.\n"
    assert entry["category"] == "core"


@pytest.mark.parametrize("verb", ["get", "forget"])
def test_a_foreign_key_is_answered_as_a_missing_one(folder: Path, call: Call, verb: str) -> None:
    """Byte for byte, with one exit code, and the entry is there still."""
    foreign = call("memory", verb, "secret", "--as", "ana")
    missing = call("memory", verb, "nobody", "--as", "ana")

    assert foreign.exit_code == missing.exit_code == 4
    assert foreign.stdout == missing.stdout == ""
    assert foreign.stderr == missing.stderr.replace("nobody", "secret")
    assert foreign.stderr == "memsim: no entry has the key 'secret'\n"
    assert "Vinterberg" in call("memory", "get", "secret", "--as", "bo").stdout


def test_others_entries_change_no_byte(tmp_path: Path, call: Call) -> None:
    """What ana sees is the same with and without bo's entries, scores too."""
    with fill(tmp_path / "both"):
        pass
    with fill(tmp_path / "alone") as memory:
        memory.forget("bo", ["m1"])
        memory.long_term.forget("bo", "secret")
    for asked in (["list"], ["search", "badge spaces cat"], ["get", "style"], ["export"]):
        both, alone = (
            call("memory", *asked, "--memory", str(tmp_path / name), "--as", "ana")
            for name in ("both", "alone")
        )
        assert (both.exit_code, both.stdout) == (0, alone.stdout)


def test_what_is_shared_is_seen(folder: Path, call: Call) -> None:
    """Grants count, and reading is all that they allow."""
    with open_memory(folder, now=lambda: NOW) as memory:
        memory.grant(ReadGrant(owner="bo", reader="ana"))

    assert "Vinterberg" in call("memory", "get", "secret", "--as", "ana").stdout
    assert call("memory", "forget", "secret", "--as", "ana").exit_code == 4


def test_forget_erases_from_the_disk(folder: Path, call: Call) -> None:
    """Own keys go, the missing one is named, and the rest is done all the same."""
    result = call("memory", "forget", "style", "nothing", "m0", "--as", "ana")

    assert result.exit_code == 4
    lines = result.stdout.splitlines()
    assert lines[0] == "forgot style: 1 long_term"
    assert lines[1].startswith("forgot m0: 1 episodic, ")
    assert "1 window" in lines[1]
    assert result.stderr == "memsim: no entry has the key 'nothing'\n"
    held = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"four spaces" not in held
    assert b"ana-4711" not in held
    assert b"bo-4711" in held


def rows(name: str) -> list[Message]:
    """A tool's call and its long answer, of this id."""
    called = (ToolUse(id="c", name="rows", arguments="{}"),)
    text = "\n".join(f"row {n} holds quux{n} and much beside it" for n in range(99))
    answer = (ToolResult(id="c", text=text, is_error=False),)
    return [
        Message(id=f"{name}?", role="assistant", blocks=called, principal="ana", session="ana"),
        Message(id=name, role="tool", blocks=answer, principal="ana", session="ana"),
    ]


@pytest.mark.parametrize("typed", ["t1", r"t1\n7"])
def test_a_long_message_is_known_by_its_id_and_by_what_is_printed(
    folder: Path, call: Call, typed: str
) -> None:
    """The id means all of its passages, in their order; what is forgotten is all of it."""
    with open_memory(folder, now=lambda: NOW) as memory:
        for message in rows("t1"):
            memory.observe(message)
    assert r"t1\n7" in call("memory", "list", *AS).stdout

    text = call("memory", "get", typed, *AS).stdout
    shown = [word for word in text.split() if word.startswith("quux")]
    passages = json.loads(call("memory", "get", typed, *AS, *JSON).stdout)
    gone = call("memory", "forget", typed, *AS)

    if typed == "t1":
        assert [f"quux{n}" for n in range(99)] == shown
        assert len(passages["entries"]) == passages["total"] > 10
    else:
        assert 0 < len(shown) < 9
        assert passages["key"] == "t1\n7"
    assert gone.exit_code == 0, gone.stderr
    assert "quux" not in call("memory", "export").stdout
    assert call("memory", "get", "t1", *AS).exit_code == 4


def test_forget_tells_all_that_went(folder: Path, call: Call) -> None:
    """What was stored of a message by a name, and how much of everything else."""
    with open_memory(folder, now=lambda: NOW) as memory:
        memory.remember("ana", "badge", "ana-4711", sources=["m0"])
        (folder / "memory.sqlite3.damaged-0123").write_bytes(b"ana-4711")
    first, second = call("memory", "forget", "m0", *AS).stdout.splitlines()

    told = first.partition(": ")[2].split(", ")
    assert {"1 episodic", "1 long_term", "1 window", "1 damaged copies"} <= {*told}
    assert not any(part.startswith("0") for part in told)
    assert second == "  with it badge"


def test_what_is_at_hand_is_shown_to_whose_it_is(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And to the keeper, as long as it lasts; it can be forgotten like the rest."""
    with open_memory(folder, now=lambda: NOW) as memory:
        memory.working.write_scratchpad(Conversation("ana", "talk"), "call Bauer", NOW)
    monkeypatch.setattr("memsim.cli.memory_view._now", lambda: NOW)
    shown = [call("memory", *verb).stdout for verb in (["list", *AS], ["export"])]
    hidden = call("memory", "export", "--as", "bo").stdout
    stats = json.loads(call("memory", "stats", *JSON).stdout)
    gone = call("memory", "forget", r"scratchpad\ntalk", *AS).stdout

    assert all("call Bauer" in text for text in shown)
    assert "Bauer" not in hidden
    assert stats["layers"]["working"] == 1
    assert gone.startswith(r"forgot scratchpad\ntalk: 1 working")
    assert "Bauer" not in call("memory", "export").stdout
    assert b"Bauer" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_without_its_embedder_a_memory_is_searched_by_words(tmp_path: Path, call: Call) -> None:
    """Which is said where it does not stand in the way."""
    own = Own()
    with open_memory(tmp_path / "own", now=lambda: NOW, embedder=own) as memory:
        memory.remember("ana", "style", "Ana prefers four spaces.")
        memory.remember("bo", "secret", "Bo prefers four tabs.")
    found = call("memory", "search", "four", "--memory", str(tmp_path / "own"), *AS, *JSON)

    assert keys(found) == ["style"]
    assert found.stderr.startswith("found by words alone: ")
    assert own.name in found.stderr


def test_export_gives_everything_whole(folder: Path, call: Call) -> None:
    """Everybody's for the keeper, which is said where it does not stand in the way."""
    result = call("memory", "export")
    own = call("memory", "export", "--as", "bo", "--format", "json")

    owners = {json.loads(line)["owner"] for line in result.stdout.splitlines()}
    assert owners == {"ana", "bo"}
    assert result.stderr == "entries of all principals\n"
    assert {"secret", "m1"} <= set(keys(own))
    assert own.stderr == ""


@pytest.mark.parametrize("asked", [["list"], ["search", "x"], ["get", "x"], ["forget", "x"]])
def test_somebody_has_to_ask(folder: Path, call: Call, asked: list[str]) -> None:
    """Access fails closed."""
    for result in (call("memory", *asked), call("memory", *asked, "--as", " ")):
        assert result.exit_code == 4
        assert result.stdout == ""
        assert "--as" in result.stderr
        assert result.stderr.count("\n") == 1


def test_without_access_control_nobody_has_to(tmp_path: Path, call: Call) -> None:
    """It is the memory that says whether there is any."""
    fill(tmp_path / "open", MemoryOptions(acl=False)).close()
    at = ["--memory", str(tmp_path / "open")]

    assert "Vinterberg" in call("memory", "list", *at).stdout
    assert "Vinterberg" in call("memory", "get", "secret", *at).stdout
    assert "secret" in call("memory", "search", "Vinterberg", *at).stdout


def test_a_terminal_obeys_nothing_of_it(folder: Path, call: Call) -> None:
    """Neither escape sequences nor turned letters come through, in a table or as JSON."""
    with open_memory(folder, now=lambda: NOW) as memory:
        memory.remember("ana", f"key{ALARMING}", ALARMING)
    asked = [["list"], ["search", "bell"], ["list", "--format", "json"], ["export"]]

    for words in [*asked, ["get", f"key{ALARMING}"], ["get", ALARMING], ["forget", ALARMING]]:
        result = call("memory", *words, "--as", "ana")
        shown = (result.stdout + result.stderr).replace("\n", "")
        kinds = {unicodedata.category(c) for c in shown}
        assert not kinds & {"Cc", "Cf", "Zl", "Zp"}, words
    (record,) = json.loads(
        call("memory", "search", "bell", "--as", "ana", "--format", "json").stdout
    )["entries"][:1]
    assert record["text"] == ALARMING


def test_printing_keeps_what_is_harmless() -> None:
    """Letters of every script, and emoji that are made of several."""
    family = "👩\u200d👩\u200d👧 ñ é 漢字 עברית"

    assert family == printable(family)
    assert '{"a":"\\u202e","b":"\\u009b"}' == safe_json({"b": "\x9b", "a": "\u202e"})


def test_what_is_no_memory_is_told_in_one_line(tmp_path: Path, call: Call) -> None:
    """Missing, another folder, a file, damaged: exit 4, and nothing is made."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/letter").write_text("Dear Ana", encoding="utf-8")
    fill(tmp_path / "state").close()
    (tmp_path / "state/memory.sqlite3").write_bytes(b"")
    fill(tmp_path / "entries").close()
    (tmp_path / "entries/memory.sqlite3").write_bytes(b"no" * 5000)
    expected = {
        "gone": "there is no memory",
        "other": "is no memory: it holds no memory.sqlite3",
        "other/letter": "is no memory: Not a directory",
        "state": "is damaged: it is empty",
        "entries": "damaged",
    }
    for name, words in expected.items():
        for verb in (["stats"], ["list", "--as", "ana"], ["forget", "x", "--as", "ana"]):
            result = call("memory", *verb, "--memory", str(tmp_path / name))
            assert (result.exit_code, result.stdout) == (4, ""), (name, verb, result.output)
            assert words in result.stderr
            assert result.stderr.count("\n") == 1
    assert not (tmp_path / "gone").exists()
    assert ["letter"] == [path.name for path in (tmp_path / "other").iterdir()]


def test_an_open_memory_can_be_looked_into(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forgetting has to wait, and says for whom."""
    monkeypatch.setattr("memsim.cli.memory.PATIENCE", 0.05)
    with fill(tmp_path / "saved"):
        at = ["--memory", str(tmp_path / "saved"), "--as", "ana"]
        seen = call("memory", "get", "style", *at)
        refused = call("memory", "forget", "style", *at)

    assert seen.stdout == "Ana prefers four spaces.\n"
    assert refused.exit_code == 4
    assert "is in use by process" in refused.stderr


def test_the_audit_trail_knows_who_looked(folder: Path, call: Call) -> None:
    """By digest alone, the keeper as nobody."""
    call("memory", "get", "style", "--as", "ana")
    call("memory", "get", "secret", "--as", "ana")
    call("memory", "export")
    with open_memory(folder, now=lambda: NOW, readonly=True) as memory:
        told = [(r.tool, r.principal, r.outcome) for r in memory.audit.records()]

    assert told == [
        ("memory_get", "ana", "allowed"),
        ("memory_get", "ana", "missing"),
        ("memory_export", "", "allowed"),
    ]
    with closing(sqlite3.connect(folder / "memory.sqlite3")) as connection:
        lines = connection.execute("SELECT line FROM audit").fetchall()
    assert "style" not in str(lines)


def test_slips_are_answered_with_the_nearest(call: Call) -> None:
    """As everywhere on the command line."""
    result = call("memory", "serch", "x")

    assert result.exit_code == 4
    assert "did you mean 'search'" in result.stderr
    assert "memsim memory search" in call("memory", "--help").stdout
    for verb in ("stats", "list", "search", "get", "forget", "export"):
        assert f"memsim memory {verb}" in call("memory", verb, "--help").stdout
