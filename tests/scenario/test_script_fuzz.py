"""Mutated scripts: whatever is done to a file, it loads or gets its one line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.errors import ScenarioError
from memsim.scenario import Scenario, load_scenario

SCRIPTS = 2_000

Mutation = Callable[[random.Random, bytes], bytes]

PLAIN = (
    b"null ~ no 010 12:30:45 1_000 .inf .nan -1 0 1e9 [] {} [ } ' \" | > # % @ ` ? \\ $i {{7*7}} "
    b"{0.__class__} unknown end user turns facts session repeat restart true A-17 the m1 0s 52000w "
    b"9999-12-31T23:59:59Z 99999999999999999999"
).split()

WORDS = [
    *PLAIN,
    b": ",
    b"- ",
    b"\t",
    b"&a ",
    b"*a ",
    b"<<: ",
    b"!!str ",
    b"---\n",
    b"...\n",
    b"\r",
    b"\x00",
    b"\xff",
    "\u202e".encode(),
    "\x85".encode(),
    "\ufeff".encode(),
    b"\xed\xa0\x80",
]


def spot(chance: random.Random, data: bytes) -> int:
    """Somewhere in the data."""
    return chance.randrange(len(data) + 1)


def insert(chance: random.Random, data: bytes) -> bytes:
    """Something that means something, anywhere."""
    at = spot(chance, data)
    return data[:at] + chance.choice(WORDS) + data[at:]


def delete(chance: random.Random, data: bytes) -> bytes:
    """A few bytes are gone."""
    at = spot(chance, data)
    return data[:at] + data[at + chance.randint(1, 12) :]


def flip(chance: random.Random, data: bytes) -> bytes:
    """One byte is another."""
    at = chance.randrange(len(data))
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def truncate(chance: random.Random, data: bytes) -> bytes:
    """The end is gone."""
    return data[: spot(chance, data)]


def swap_value(chance: random.Random, data: bytes) -> bytes:
    """One value is another word."""
    found = list(re.finditer(rb"(?<=: )[^\n,{}]+", data))
    if not found:
        return data
    match = chance.choice(found)
    return data[: match.start()] + chance.choice(WORDS) + data[match.end() :]


def swap_words(chance: random.Random, data: bytes) -> bytes:
    """Two words change places."""
    found = sorted(chance.sample(list(re.finditer(rb"\w+", data)) or [], 2), key=re.Match.start)
    first, second = found
    return (
        data[: first.start()]
        + second[0]
        + data[first.end() : second.start()]
        + first[0]
        + data[second.end() :]
    )


def lines(chance: random.Random, data: bytes) -> bytes:
    """A line is doubled, dropped, moved or indented."""
    rows = data.splitlines(keepends=True)
    at = chance.randrange(len(rows))
    kind = chance.randrange(4)
    if kind == 0:
        rows.insert(chance.randrange(len(rows) + 1), rows[at])
    elif kind == 1:
        del rows[at]
    elif kind == 2:
        rows.insert(chance.randrange(len(rows)), rows.pop(at))
    else:
        rows[at] = b" " * chance.randint(1, 6) + rows[at].lstrip(b" ")
    return b"".join(rows)


MUTATIONS: tuple[Mutation, ...] = (
    insert, delete, flip, truncate, swap_value, swap_value, swap_words, lines, lines,
)  # fmt: skip


def mutated(chance: random.Random, scripts: list[bytes]) -> bytes:
    """A script after one to four mutations, some of them spliced from two."""
    data = chance.choice(scripts)
    if chance.random() < 0.1:
        other = chance.choice(scripts)
        data = data[: spot(chance, data)] + other[spot(chance, other) :]
    for _ in range(chance.choice((1, 1, 2, 4))):
        if len(re.findall(rb"\w+", data)) > 2:
            data = chance.choice(MUTATIONS)(chance, data)
    return data


def fuzz(
    folder: Path,
    corpus: Path,
    seeds: range,
    check: Callable[[Scenario], None],
) -> tuple[int, int]:
    """Loads one mutated script for each seed and plays it; how many loaded, how many did not."""
    scripts = [path.read_bytes() for path in sorted(corpus.glob("good/*.yaml"))]
    path = folder / "mutant.yaml"
    loaded = refused = 0
    for seed in seeds:
        path.write_bytes(mutated(random.Random(seed), scripts))
        try:
            scenario = load_scenario(path)
        except ScenarioError as error:
            refused += 1
            said, line = str(error), error.line
        else:
            said, line = f"{path}: ", None
            loaded += 1
            check(scenario)
        assert said.isprintable(), seed
        assert said.startswith(f"{path}:"), seed
        assert line is None or line >= 1, seed
    return loaded, refused


@pytest.mark.parametrize("part", range(4))
def test_a_mutated_script_loads_or_is_refused_in_one_line(
    part: int, tmp_path: Path, corpus: Path, check: Callable[[Scenario], None]
) -> None:
    """Nothing but a ScenarioError ever comes out, and what loads can be played as announced."""
    share = SCRIPTS // 4

    loaded, refused = fuzz(tmp_path, corpus, range(part * share, (part + 1) * share), check)

    # Both kinds must be there, or the mutations are too mild or too wild to test anything.
    assert loaded > share // 20
    assert refused > share // 4
