"""The audit trail: nothing in it can be changed, left out or moved unnoticed, or tells a secret."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.errors import StateError, StoreError
from memsim.memory.audit import OUTCOMES, AuditBreak, AuditHead, AuditTrail, InProcessLines
from memsim.memory.codec import canonical
from memsim.memory.persistence.audit_lines import AuditLines
from memsim.memory.persistence.memory_file import MemoryFile
from memsim.testing.faults import Schedule, failing_database

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SALT = b"salt"


def in_file(folder: Path) -> AuditLines:
    """The lines of the audit trail in the file of a memory, which is made where there is none."""
    if not (folder / "memory.sqlite3").exists():
        new = MemoryFile(folder, readonly=False)
        new.open(1)
        new.begin()
        new.close()
    file = MemoryFile(folder, readonly=True)
    file.open(0)
    return AuditLines(file)


def trail_of(lines: list[bytes]) -> AuditTrail:
    """A trail that has these lines."""
    kept = InProcessLines()
    kept.append(lambda _: lines)
    trail = AuditTrail(SALT)
    trail._lines = kept
    return trail


def written(records: int = 5) -> list[bytes]:
    """The lines of a sound trail, the header first."""
    trail = AuditTrail(SALT)
    for number in range(records):
        trail.record(
            "memory_store",
            principal="ana",
            outcome="allowed",
            now=NOW + timedelta(minutes=number),
            key=f"key {number}",
        )
    return list(trail._lines.lines())


def test_what_was_recorded_is_told() -> None:
    """Time, tool, category, principal and outcome in words; the key as a digest."""
    trail = AuditTrail(SALT)
    head = trail.record(
        "memory_get", principal="ana", outcome="denied", now=NOW, key="diagnosis", category="core"
    )
    (record,) = trail.records()

    assert ("memory_get", "ana", "denied", "core") == (
        record.tool,
        record.principal,
        record.outcome,
        record.category,
    )
    assert record.time == "2026-03-01T12:00:00+00:00"
    assert record.key == trail.digest("diagnosis")
    assert head == trail.head() == AuditHead(number=1, hash=record.hash)
    assert trail.verify() is None
    assert trail.verify(head) is None


def test_an_empty_trail_is_sound() -> None:
    """Nothing was done, and nothing is missing."""
    assert AuditTrail().verify() is None
    assert AuditTrail().verify(AuditHead()) is None
    assert list(AuditTrail().records()) == []


def test_a_digest_says_nothing_across_trails() -> None:
    """With another salt the same key is another digest; without one, none can be tried out."""
    one, other = AuditTrail(), AuditTrail()

    assert one.digest("diagnosis") != other.digest("diagnosis")
    assert one.digest("diagnosis") != hashlib.sha256(b"diagnosis").hexdigest()[:32]


@given(st.text(min_size=5), st.text(min_size=5), st.text(min_size=5))
def test_no_key_tool_or_category_of_users_own_is_in_the_trail(
    key: str, tool: str, category: str
) -> None:
    """Whatever words a model puts into the arguments, the trail holds none of them."""
    marked = [f"\u2603{word}" for word in (key, tool, category)]
    trail = AuditTrail(SALT)
    trail.record(
        marked[1], principal="ana", outcome="refused", now=NOW, key=marked[0], category=marked[2]
    )
    text = json.dumps([line.decode() for line in trail._lines.lines()])

    assert "\u2603" not in text
    assert "2603" not in text.replace(trail.digest(marked[0]), "").replace(trail.head().hash, "")
    assert [("unknown", "custom")] == [(r.tool, r.category) for r in trail.records()]


def test_a_name_that_cannot_be_encoded_is_recorded_all_the_same() -> None:
    """No principal, and no key, can keep what they do out of the trail."""
    trail = AuditTrail(SALT)
    trail.record("memory_get", principal="\ud800", outcome="denied", now=NOW, key="\udfff")

    assert ["\\ud800"] == [r.principal for r in trail.records()]
    assert trail.verify() is None


def test_an_unknown_outcome_is_refused() -> None:
    """Outcomes are a closed list, so that none can carry a message."""
    with pytest.raises(ValueError, match="an outcome is one of allowed, denied") as caught:
        AuditTrail().record("memory_get", principal="ana", outcome="no!", now=NOW)  # type: ignore[arg-type]

    assert "no!" not in str(caught.value)
    assert len(OUTCOMES) == 5


@pytest.mark.parametrize("name", ["time", "tool", "key", "category", "principal", "outcome"])
@pytest.mark.parametrize("place", [1, 3, 5])
def test_a_change_is_found_where_it_was_made(name: str, place: int) -> None:
    """Every field of every record counts."""
    lines = written()
    record = json.loads(lines[place])
    record[name] += "x"
    lines[place] = canonical(record).encode()

    assert trail_of(lines).verify() == AuditBreak(number=place, why="it was changed")


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_a_change_with_a_new_hash_breaks_the_link_after_it(place: int) -> None:
    """Who changes a record would have to write all that follow anew."""
    lines = written()
    record = json.loads(lines[place])
    record["principal"] = "bo"
    signed = {name: value for name, value in record.items() if name != "hash"}
    record["hash"] = hashlib.sha256(canonical(signed).encode()).hexdigest()
    lines[place] = canonical(record).encode()

    assert trail_of(lines).verify() == AuditBreak(
        number=place + 1, why="it does not follow the one before it"
    )


def test_every_order_but_the_right_one_is_found() -> None:
    """As is every record left out or doubled within the trail."""
    lines = written(3)
    for order in itertools.product(range(4), repeat=4):
        if order != (0, 1, 2, 3):
            broken = trail_of([lines[n] for n in order]).verify()
            right = [n for n, place in enumerate(order) if n != place]
            assert broken is not None
            assert broken.number == right[0]


@pytest.mark.parametrize("kept", range(6))
def test_a_trail_that_was_cut_is_found_by_its_head(kept: int) -> None:
    """The chain alone is sound; the head that was kept apart says that more was there."""
    lines = written()
    head = trail_of(lines).head()
    cut = trail_of(lines[:kept])

    assert cut.verify() is None
    assert cut.verify(head) == AuditBreak(number=kept, why="the trail was cut off")


def test_a_trail_written_anew_is_found_by_its_head() -> None:
    """A whole chain of other records is sound in itself, and not the one that the head is of."""
    head = trail_of(written()).head()
    forged = AuditTrail(SALT)
    for _ in range(9):
        forged.record("memory_get", principal="bo", outcome="allowed", now=NOW)

    assert forged.verify() is None
    assert forged.verify(head) == AuditBreak(
        number=5, why="it is not the one that the head was taken of"
    )


@pytest.mark.parametrize("number", range(1, 6))
def test_a_trail_may_be_ahead_of_a_head(number: int) -> None:
    """A head that was kept before a crash, or a week ago, is led to and passed."""
    lines = written()
    head = trail_of(lines[: number + 1]).head()

    assert trail_of(lines).verify(head) is None


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b"\xff", b"null", b'{"number":1}', b"{" * 9999, bytes(300)]
)
def test_a_line_that_is_no_record_is_named(line: bytes) -> None:
    """Zeros, half a record, or another kind of text."""
    lines = written()
    lines[2] = line

    assert trail_of(lines).verify() == AuditBreak(number=2, why="it is not a record")
    with pytest.raises(StateError):
        list(trail_of(lines).records())


@settings(max_examples=300)
@given(st.data())
def test_any_bit_that_flips_is_found(data: st.DataObject) -> None:
    """At its record or at the one after it, whatever it turned into."""
    lines = written(3)
    place = data.draw(st.integers(0, 3))
    at = data.draw(st.integers(0, len(lines[place]) - 1))
    bit = data.draw(st.integers(0, 7))
    flipped = lines[place][at] ^ 1 << bit
    lines[place] = lines[place][:at] + bytes([flipped]) + lines[place][at + 1 :]
    broken = trail_of(lines).verify()

    assert broken is not None
    assert broken.number == place


def test_a_trail_of_another_salt_is_not_gone_on_with(tmp_path: Path) -> None:
    """Digests of two salts in one trail could not be told apart."""
    trail = AuditTrail(SALT, in_file(tmp_path))
    trail.record("t", principal="a", outcome="allowed", now=NOW)

    with pytest.raises(StateError, match="not of this salt"):
        AuditTrail(b"other", in_file(tmp_path))
    assert AuditTrail(SALT, in_file(tmp_path)).verify() is None


def test_nothing_follows_a_damaged_record() -> None:
    """A record after it would hide that something is wrong."""
    lines = written()
    lines[-1] = lines[-1][:-9]
    trail = trail_of(lines)
    with pytest.raises(StateError):
        trail.record("memory_get", principal="ana", outcome="allowed", now=NOW)

    assert lines == list(trail._lines.lines())


def test_a_saved_trail_is_the_same_when_loaded() -> None:
    """And is gone on with as if nothing had been."""
    trail = trail_of(written())
    saved = json.loads(json.dumps(trail.save()))
    loaded = AuditTrail.load(saved)

    assert trail.save() == loaded.save() == saved
    loaded.record("memory_get", principal="ana", outcome="allowed", now=NOW)
    assert loaded.verify(trail.head()) is None
    assert AuditTrail.load(AuditTrail(SALT).save()).head() == AuditHead()


@pytest.mark.parametrize(
    "change",
    [
        lambda saved: saved["lines"].pop(2),
        lambda saved: saved.pop("salt"),
        lambda saved: saved.update(salt="00"),
        lambda saved: saved.update(salt="xyz"),
        lambda saved: saved.update(lines={}),
        lambda saved: saved.update(lines=[1]),
        lambda saved: saved.update(lines=""),
    ],
)
def test_what_is_no_trail_is_not_loaded(change: Callable[[dict[str, Any]], Any]) -> None:
    """A saved trail that was tampered with is a typed error."""
    saved = json.loads(json.dumps(trail_of(written()).save()))
    change(saved)
    with pytest.raises(StateError):
        AuditTrail.load(saved)


def test_a_trail_in_a_file_is_there_for_the_next_process(tmp_path: Path) -> None:
    """The header first, and readable by its owner alone."""
    for _ in range(3):
        trail = AuditTrail(SALT, in_file(tmp_path))
        trail.record("memory_get", principal="ana", outcome="allowed", now=NOW)

    assert 4 == len([*in_file(tmp_path).lines()])
    assert [1, 2, 3] == [r.number for r in AuditTrail(SALT, in_file(tmp_path)).records()]
    assert (tmp_path / "memory.sqlite3").stat().st_mode & 0o777 == 0o600


def test_lines_that_cannot_be_made_are_not_there(tmp_path: Path) -> None:
    """Whoever makes them is given the last one, and may fail."""
    lines = in_file(tmp_path)
    assert lines.last() is None
    lines.append(lambda last: [b"one", str(last).encode()])

    def failing(last: bytes | None) -> list[bytes]:
        raise KeyError(last)

    with pytest.raises(KeyError, match="None"):
        lines.append(failing)
    lines.append(lambda last: [last or b""])

    assert [b"one", b"None", b"None"] == [*lines.lines()] == [*in_file(tmp_path).lines()]


APPEND = """
import pathlib, sys
from datetime import datetime, UTC
from memsim.memory.audit import AuditTrail
from memsim.memory.persistence.audit_lines import AuditLines
from memsim.memory.persistence.memory_file import MemoryFile

file = MemoryFile(pathlib.Path(sys.argv[1]), readonly=True)
file.open(0)
trail = AuditTrail(b"salt", AuditLines(file))
for _ in range(25):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    trail.record("t", principal=sys.argv[2], outcome="allowed", now=now)
"""


def test_writers_at_once_make_one_chain(tmp_path: Path) -> None:
    """Three processes and two threads lose no record and fork no link."""
    in_file(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), f"p{n}"], env=environment)
        for n in range(3)
    ]

    def add() -> None:
        trail = AuditTrail(SALT, in_file(tmp_path))
        for _ in range(25):
            trail.record("t", principal="thread", outcome="allowed", now=NOW)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    trail = AuditTrail(SALT, in_file(tmp_path))

    assert trail.verify() is None
    assert trail.head().number == 125


@pytest.mark.parametrize("statement", ["BEGIN", "INSERT", "COMMIT"])
def test_a_record_that_cannot_be_written_is_an_error_without_content(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, statement: str
) -> None:
    """The path is named; key and principal are neither in the error, its traceback nor a log."""
    caplog.set_level(logging.DEBUG)
    secret = f"6PXW-{4}B5K-WJKR"
    schedule = Schedule(at=10**6, mode="persistent")
    with failing_database(schedule):
        trail = AuditTrail(SALT, in_file(tmp_path))
        trail.record("memory_get", principal="ana", outcome="allowed", now=NOW)
        seen = len(schedule.seen)
        trail.record("memory_get", principal="ana", outcome="allowed", now=NOW)
        of_one = schedule.seen[seen:]
        place = next(n for n, what in enumerate(of_one, 1) if what.startswith(statement))
        schedule.at = len(schedule.seen) + place
        with pytest.raises(StoreError, match=r"memory\.sqlite3") as caught:
            trail.record("memory_get", principal=secret, outcome="allowed", now=NOW, key=secret)

    said = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert secret not in said
    assert 2 == AuditTrail(SALT, in_file(tmp_path)).head().number
