"""Broken and hostile files: one line each with its place, and what can be read is read."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from memsim.traces import json_values, trace_files
from memsim.traces.formats import trace_format
from memsim.traces.imported_scenarios import ScenarioFolder
from memsim.traces.trace_files import trace_paths, trace_sources
from memsim.traces.trace_format import ImportCounts
from tests.traces.conftest import Imported, read_trace

GOOD = '{"messages": [{"role": "user", "content": "hi"}]}'
DEEP = '{"messages": [{"role": "user", "content": ' + "[" * 150 + "]" * 150 + "}]}"

BROKEN: dict[str, tuple[bytes, int, str]] = {
    "a bad line": (f"{GOOD}\n{{bad\n{GOOD}".encode(), 2, ":2: not JSON"),
    "a bad first line": (f"{{bad\n{GOOD}\n{GOOD}".encode(), 2, ":1: not JSON"),
    "a bad first line, a blank one": (f"{{bad\n\n \n{GOOD}\n{GOOD}".encode(), 2, ":1: not JSON"),
    "a bad line behind blank ones": (f"{{bad\n\n{{bad\n{GOOD}".encode(), 1, ":3: not JSON"),
    "an object with blank lines": (b'{\n\n "messages": [', 0, ":3:15: not JSON"),
    "not UTF-8": (GOOD.encode() + b'\n{"a": "\xff"}', 1, ":2: not UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), 0, ":1: is not UTF-8 text"),
    "too deep a line": (f"{GOOD}\n{DEEP}".encode(), 1, ":2: nested too deeply"),
    "too deep an element": (f"[{GOOD},\n{DEEP}]".encode(), 1, ":2: nested too deeply"),
    "far too deep": (b"[" + b"[" * 100_000, 0, ":1: nested too deeply"),
    "an open list": (f"[{GOOD},\n{GOOD}".encode(), 2, ":2: not JSON"),
    "a torn element": (f"[{GOOD},\n{GOOD[:20]}".encode(), 1, ":2: not JSON"),
    "a torn object": (b'{\n "messages": [', 0, ":2:15: not JSON"),
    "a bad first line in a list of lines": (f"nothing\n{GOOD}".encode(), 1, ":1: not JSON"),
    "an endless number": (f'{GOOD}\n{{"a": {"9" * 5000}}}'.encode(), 1, ":2: Exceeds"),
    "no number": (f'{GOOD}\n{{"a": NaN}}'.encode(), 1, ":2: NaN is not a JSON number"),
}


@pytest.fixture
def packed(tmp_path: Path) -> Callable[..., Path]:
    """Writes an archive of members."""

    def write(**members: bytes) -> Path:
        path = tmp_path / "trace.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name.replace("__", "/") + ".json", data)
        return path

    return write


def test_what_cannot_be_read_has_its_place(
    written: Callable[[bytes | str], Imported], subtests: pytest.Subtests
) -> None:
    """The rest is imported."""
    for name, (content, conversations, said) in BROKEN.items():
        with subtests.test(case=name):
            found, counts, _ = written(content)
            told = {str(problem) for problem in counts.problems}

            assert all(line.isprintable() for line in told)
            assert [said] == [said for line in told if said in line]
            assert conversations == len(found)


@pytest.mark.parametrize("value", ["7", "{}", "null"])
def test_millions_of_nothing_end_the_file(
    value: str, written: Callable[[bytes | str], Imported], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a list or line by line; a few do not."""
    monkeypatch.setattr(json_values, "MOST_PLAIN", 50)
    few, _, _ = written("\n".join([GOOD, *[value] * 40, GOOD]))
    lines, problems, _ = written("\n".join([GOOD, *[value] * 60, GOOD]))
    listed, others, _ = written(f"[{GOOD}, {','.join([value] * 60)}, {GOOD}]")

    assert (2, 1, 1) == (len(few), len(lines), len(listed))
    assert ":52: 50 values in a row hold nothing" in str(problems.problems[0])
    assert ":1: 50 values in a row hold nothing" in str(others.problems[0])


def test_a_long_line_ends_the_file(
    written: Callable[[bytes | str], Imported], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows cannot be told from it."""
    monkeypatch.setattr(json_values, "MOST_VALUE", 200)
    monkeypatch.setattr(json_values, "_CHUNK", 200)
    found, counts, _ = written(f'{GOOD}\n{{"a": "{"x" * 300}"}}\n{GOOD}\n')
    listed, problems, _ = written(f'[{GOOD}, {{"a": "{"x" * 900}"}}, {GOOD}]')

    assert (1, 1) == (len(found), len(listed))
    assert "the rest of the file is not read" in str(counts.problems[0])
    assert "an element is longer than" in str(problems.problems[0])


def test_an_archive_may_not_unpack_without_end(
    packed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The members of an archive share its room; nothing is written to disk."""
    monkeypatch.setattr(trace_files, "MOST_UNPACKED", 100_000)
    sample = json.dumps({"id": 1, "epoch": 1, "messages": json.loads(GOOD)["messages"]}).encode()
    path = packed(samples__1=sample, samples__2=sample + b" " * 1_000_000)

    found, counts, _ = read_trace(path)

    assert 1 == len(found)
    assert "the archive unpacks to more than" in str(counts.problems[0])
    assert [path] == list(path.parent.iterdir())


def test_names_in_an_archive_lead_nowhere(packed: Callable[..., Path]) -> None:
    """A member is read where it is, whatever its name says."""
    sample = json.dumps({"id": "../../x", "epoch": 1, "messages": json.loads(GOOD)["messages"]})
    path = packed(**{"..__..__etc__x\n": sample.encode()})

    counts = ImportCounts()
    [source] = trace_sources(path, counts)

    assert f"{path}!../../etc/x\\n.json" == source.name
    assert ["../../x"] == [c.id for c in read_trace(path)[0]]


@pytest.mark.parametrize("damage", [slice(0, 60), slice(30, None)])
def test_a_damaged_archive(tmp_path: Path, packed: Callable[..., Path], damage: slice) -> None:
    """It is no archive any more, or its members are damaged."""
    path = packed(samples__1=GOOD.encode() * 50)
    data = path.read_bytes()
    path.write_bytes(b"PK\x03\x04" + data[damage])

    found, counts, _ = read_trace(path)

    assert (0, 1) == (len(found), len(counts.problems))


def test_a_member_with_a_wrong_sum(packed: Callable[..., Path]) -> None:
    """Python's checksum error is one line as well."""
    path = packed(samples__1=GOOD.encode() * 50)
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(bytes(data))

    counts = ImportCounts()
    for source in trace_sources(path, counts):
        list(source.values())

    assert len(counts.problems) == 1
    assert "cannot be" in str(counts.problems[0])


def test_an_encrypted_member(tmp_path: Path) -> None:
    """Nobody has its password."""
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", GOOD)
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    path.write_bytes(bytes(data))

    counts = ImportCounts()
    for source in trace_sources(path, counts):
        list(source.values())

    assert ["cannot be unpacked" in str(problem) for problem in counts.problems] == [True]


def _as_zstandard(path: Path) -> None:
    """Mark a stored member as packed by method 93, as Inspect does."""
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(mark) + place] = 93
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("installed", [True, False])
def test_a_member_that_is_packed_with_zstandard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    """It is unpacked by the library that is there, or the message says what helps."""
    path = tmp_path / "trace.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1.json", GOOD)
    _as_zstandard(path)
    library = ModuleType("zstandard")
    library.open = lambda stream, _mode: stream  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", library if installed else None)

    found, counts, _ = read_trace(path)

    assert int(installed) == len(found)
    said = [] if installed else [f"{path}!samples/1.json: is packed with Zstandard"]
    assert said == [str(problem).partition(": `pip")[0] for problem in counts.problems]


def test_half_a_surrogate_pair(written: Callable[[bytes | str], Imported]) -> None:
    """An escape may hold half a character; it is kept until the conversation is tidied."""
    found, _, _ = written('{"messages": [{"role": "user", "content": "a \\ud800 b"}]}')

    assert "a \ud800 b" == found[0].messages[0].text


def test_a_link_to_nothing_and_a_pipe(tmp_path: Path) -> None:
    """Neither is waited for."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to("gone")
    for name in ("pipe.json", "link.json"):
        counts = ImportCounts()

        assert [] == list(trace_sources(tmp_path / name, counts))
        assert 1 == len(counts.problems)


def test_the_same_id_again_and_again(written: Callable[[bytes | str], Imported]) -> None:
    """Names are made in the time of one pass; reasons and problems are bounded."""
    lines = [
        {
            "id": "x",
            "messages": [{"role": f"r{n}", "content": ""}, {"role": "user", "content": "a"}],
        }
        for n in range(3_000)
    ]
    content = "\n".join(map(json.dumps, lines)) + "\n{bad" * 2_000
    found, counts, _ = written(content)
    folder = ScenarioFolder(None, counts, pace=timedelta(minutes=1))
    for conversation in found:
        folder.add(conversation, trace_format("openai"), "trace")

    [scenario] = folder.scenarios.values()
    assert (3_000, 3_000) == (len(scenario.order), counts.dropped.total())
    assert 2_960 == counts.dropped["other reasons"]
    assert 1_001 == len(counts.problems) + counts.more_problems
    assert "1,000 lines in a row" not in str(counts.problems[-1])


def test_a_folder_is_looked_through(tmp_path: Path) -> None:
    """What is no trace by its name is counted, and hidden folders are left alone."""
    for name in ("b.json", "a.jsonl", "notes.md", ".git/x.json", "sub/c.eval"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(GOOD, encoding="utf-8")
    counts = ImportCounts()

    found = [path.name for path in trace_paths((tmp_path,), counts)]

    assert ["a.jsonl", "b.json", "c.eval"] == found
    assert {"file that is no trace by its name": 1} == counts.left_out


def test_other_members_of_an_archive_are_counted(packed: Callable[..., Path]) -> None:
    """An export holds more than conversations."""
    found, counts, names = read_trace(packed(user=b'{"id": 1}', conversations=GOOD.encode()))

    assert (1, ["openai"], []) == (len(found), names, counts.problems)
    assert {"member of an archive in no known format": 1} == counts.left_out
