"""`memsim limit`: where a memory breaks, found in a tenth of the tries of a grid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.limit_search import LimitSearch
from memsim.cli.program import program
from memsim.suite.staircase import NEAR, StaircaseResult, staircase

OWN = """\
from memsim import Strategy

class Last(Strategy):
    most = 80

    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def observe(self, message):
        self.seen.append(message)

    def context(self, query):
        return self.env.build.context(self.env.build.section("window", self.seen[-self.most:]))

class More(Last):
    most = 240

class Broken(Last):
    def context(self, query):
        raise RuntimeError("no")
"""
Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls `memsim limit` in a small project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(program, ["limit", "-j", "1", *arguments])

    return run


def _climbed(
    least: int, most: int, broken: int, start: int | None = None, hole: range = range(0)
) -> StaircaseResult:
    """The end of a staircase where every setting from `broken` on fails, and those of a hole."""
    stairs = staircase(least, most, start)
    tried = next(stairs)
    while True:
        assert least <= tried <= most
        try:
            tried = stairs.send(tried < broken and tried not in hole)
        except StopIteration as stop:
            result: StaircaseResult = stop.value
            return result


@pytest.mark.parametrize(
    ("least", "most"), [(0, 400), (0, 100), (1, 6), (2, 20), (0, 20_000), (5, 5)]
)
def test_a_staircase_finds_what_a_grid_finds(least: int, most: int) -> None:
    """Within a tenth of it, wherever it breaks, in a tenth of the tries where there are many."""
    step = max(1, (most - least) // 150)
    for broken in range(least + 1, most + 1, step):
        result = _climbed(least, most, broken)

        assert result.holds is not None
        assert 0 <= broken - 1 - result.holds <= max(0, NEAR * (broken - 1))
        assert not result.open
        assert result.tries <= max(14, (most - least) // 10)


@pytest.mark.parametrize("start", [0, 1, 7, 40, 399, 400])
def test_a_staircase_may_begin_anywhere(start: int) -> None:
    """What it finds is as near from any start, and near its limit it takes few tries."""
    for broken in range(1, 401, 3):
        result = _climbed(0, 400, broken, start)

        assert result.holds is not None
        assert 0 <= broken - 1 - result.holds <= NEAR * (broken - 1)
    assert _climbed(0, 400, start + 1, start).tries <= 8
    assert _climbed(0, 400, 0, start).holds is None


def test_a_hundred_settings_take_a_tenth_of_their_grid() -> None:
    """Where three stories break near each other: most take 30 runs of 303, and none 32."""
    runs = [
        _climbed(0, 100, broken).tries + 2 * _climbed(0, 100, broken + more, broken - 1).tries
        for broken in range(3, 95)
        for more in (-2, 0, 3)
    ]

    assert 0.95 * len(runs) < sum(tries <= 30 for tries in runs)
    assert 32 > max(runs)


def test_what_breaks_and_passes_again_has_broken() -> None:
    """The limit lies before the first setting that fails, as in a grid, from two thirds on."""
    for fails in range(48, 62):
        held = _climbed(0, 400, 70, hole=range(fails, fails + 6)).holds

        assert held is not None
        assert 0 <= fails - 1 - held <= NEAR * fails


def test_the_other_stories_begin_where_the_first_broke(tmp_path: Path, call: Call) -> None:
    """They take fewer tries. Before a plot, what one story tried is played with the others too."""
    (tmp_path / "filled").mkdir()
    search = LimitSearch(folder=tmp_path / "filled", budget=1_000, jobs=1)
    climbs = search.climbed(["bm25"], ["updates"], None)
    before = [dict(climb.shares) for climb in climbs]
    search.fill(climbs)

    assert all(len(shares) < len(before[0]) for shares in before[1:])
    assert len({tuple(sorted(climb.shares)) for climb in climbs}) == 1
    assert len({tuple(sorted(shares)) for shares in before}) > 1
    for climb, shares in zip(climbs, before, strict=True):
        assert shares.items() <= climb.shares.items()


def test_what_was_never_told_is_not_held_against_a_memory(tmp_path: Path) -> None:
    """A story asks that as well, and no context can hold it."""
    search = LimitSearch(folder=tmp_path, budget=100_000, jobs=1)
    (climb, *_) = search.climbed(["full_context"], ["steps"], None)

    assert {*climb.shares.values()} == {1.0}


def test_the_ends_of_a_staircase() -> None:
    """What fails at once holds nothing, and what never fails is open."""
    nothing, everything = _climbed(3, 50, 3), _climbed(3, 50, 51)

    assert (nothing.holds, nothing.open, nothing.tries) == (None, False, 1)
    assert (everything.holds, everything.open) == (50, True)


def test_each_memory_has_its_limit(call: Call) -> None:
    """A wider window holds more other talk."""
    both = ("-s", "own.py@Last", "-s", "own.py@More")
    done = call(*both, "--dial", "distance", "--budget", "32k")

    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if " distance " in line]
    last, more = (int(row[2]) for row in rows)
    assert 0 < last < more


def test_a_plot_shows_the_controls(call: Call, tmp_path: Path) -> None:
    """Beside the strategies, in a panel for the dial."""
    done = call("-s", "bm25", "--dial", "updates", "--plot", "limit.svg")

    assert done.exit_code == 0, done.output
    drawn = (tmp_path / "limit.svg").read_text("utf-8")
    assert all(f">{word}<" in drawn for word in ("updates", "bm25", "oracle", "no_memory"))


def test_a_memory_without_a_limit_is_marked(call: Call) -> None:
    """The evidence alone holds every hop, and no memory not even one."""
    done = call("-s", "oracle", "-s", "no_memory", "--dial", "hops")

    assert done.exit_code == 0, done.output
    rows = [line.split()[:5] for line in done.stdout.splitlines() if " hops " in line]
    assert ["oracle", "hops", "6+", "[6+", "6+]"] in rows
    assert ["no_memory", "hops", "none", "[none", "none]"] in rows
    assert "it holds at the largest setting that is tried" in done.stdout
    assert "it does not hold the least setting" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--dial", "hop"], 4, "no dial is called 'hop' (did you mean 'hops'?)"),
        (["--dial", "hops", "--family", "tempora"], 4, "(did you mean 'temporal'?)"),
        (["--dial", "hops", "--family", "temporal"], 4, "memsim: temporal has no dial hops"),
        (["--dial", "hops", "--budget", "1k,2k"], 4, "--budget is one number here"),
        (["--dial", "hops", "--budget", "0"], 4, "--budget must be a positive number of tokens"),
        (["--dial", "hops", "--budget", "x"], 4, "such as 4k or 4000, not 'x'"),
        (["--dial", "asked"], 4, "asked makes no question harder; dials: facts, "),
        (["--dial", "hops", "--plot", "x.pdf"], 4, "must end with .svg or .png"),
        (["--dial", "hops", "--plot", "no/x.svg"], 4, "no folder no"),
        (["--dial", "hops", "-j", "many"], 4, "many"),
        (["--dial", "hops", "-s", "own.py@Broken"], 7, "not measured, so there is no limit"),
    ],
)
def test_a_slip_gets_one_line(call: Call, arguments: list[str], code: int, said: str) -> None:
    """With the exit code of its kind; what was not measured has no limit."""
    strategy = [] if "-s" in arguments else ["-s", "bm25"]
    done = call(*strategy, *arguments)

    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output
