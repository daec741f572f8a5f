"""Terminal and Markdown tell one story: the same numbers of the same records, word for word.

The snapshots show both as they are read. Where a change of them is meant, delete them, run this
module, which then fails and writes them anew, and look at what changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.report import number_format
from memsim.report.frames import TOKENS, Frames
from memsim.runs import Run, load_run
from memsim.scaffold import scaffold
from tests.gate.lockers import lockers

RULE = re.compile(r"\|( :?-+:? \|)+")
SNAPSHOTS = Path(__file__).parent / "snapshots"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A run, and both ways in which it was told."""

    run: Run
    terminal: str
    markdown: str


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Two strategies on two scenarios at two budgets; one became worse and broke a bound."""
    place = tmp_path_factory.mktemp("told")
    scaffold(place)
    (place / "scenarios" / "lockers.yaml").write_text(lockers(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("COLUMNS", "220")
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            patch.delenv(name, raising=False)
        common = ("-s", "mine", "--budget", "500,4k", "--progress", "none", "-j", "1")
        before = _call("run", *common, "-s", "sliding_window:messages=24")
        saved = _call("baseline", "save")
        bound = ("--fail-under", "recall=0.45")
        after = _call("run", *common, "-s", "sliding_window:messages=12", *bound, *_AGAINST)
        assert (0, 0, 1) == (before[0], saved[0], after[0]), before[1] + saved[1] + after[1]
        run = load_run("latest", place / "reports")
        markdown = (run.folder / "report.md").read_text(encoding="utf-8")
    return Told(run=run, terminal=after[1], markdown=markdown)


_AGAINST = ("--baseline", "main")


def _call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(program, list(arguments))
    return result.exit_code, result.stdout


def cells(markdown: str) -> Iterator[list[str]]:
    """The rows of every table, heads left out, as they are read."""
    lines = markdown.splitlines()
    ruled = {place for place, line in enumerate(lines) if RULE.fullmatch(line)}
    for place, line in enumerate(lines):
        if line.startswith("| ") and not {place, place + 1} & ruled:
            parts = re.split(r"(?<!\\)\|", line)[1:-1]
            yield [re.sub(r"\\(.)", r"\1", part).strip() for part in parts]


def test_every_row_of_a_table_stands_in_the_terminal(told: Told) -> None:
    """In the same order of columns, with nothing rounded otherwise."""
    lines = [" ".join(line.split()) for line in told.terminal.splitlines()]
    rows = [" ".join(" ".join(row).split()) for row in cells(told.markdown)]

    # What was missed has no row there, but a line and a command: its numbers are held below.
    tables = [row for row in rows if "::" not in row]
    assert [] == [row for row in tables if not any(_within(row, line) for line in lines)]
    assert len(tables) == 10 + 4 + 5 + 8


def _within(row: str, line: str) -> bool:
    words = iter(line.split())
    return all(word in words for word in row.split())


def test_every_number_stands_in_the_terminal(told: Told) -> None:
    """Of tables, notes, failures and what was missed alike."""
    known = set(_numbers(told.terminal))
    body = told.markdown.partition("\n\n")[2].partition("## Reproduce")[0]

    assert [] == [number for number in _numbers(body) if number not in known]


def _numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])[\N{MINUS SIGN}-]?[\d,]*\.?\d+[k%]?", text)


def test_the_numbers_are_those_of_the_records(told: Told) -> None:
    """Recomputed from the frames, without the code that makes tables."""
    frames = Frames(told.run)
    rows = {(row[1], budget): row for budget, row in _boards(told.markdown)}
    asked = frames.probes.groupby(["strategy", "budget"])
    turns = frames.turns.groupby(["strategy", "budget"])

    for (strategy, budget), row in rows.items():
        probes, sent = asked.get_group((strategy, budget)), turns.get_group((strategy, budget))
        shown = sent.filter(like=TOKENS).sum(axis=1).groupby(sent["case"]).mean()
        assert number_format.share(float(probes["recall"].astype(float).mean())) == row[2]
        # The oracle sends something where it is asked, and in no other turn.
        assert strategy == "oracle" or number_format.tokens(float(shown.mean())) == row[-6]
        assert number_format.tokens(float(probes["sent"].mean())) == row[-4]
    assert 10 == len(rows)


def _boards(markdown: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of each leaderboard, with its budget."""
    for part in markdown.split("\n## ")[1:]:
        title = re.match(r"scenarios · budget (\w+) ", part)
        if title:
            budget = 500 if title[1] == "500" else 4096
            table = part.partition("\n\n")[2].partition("\n\n")[0]
            yield from ((budget, row) for row in cells(table))


@pytest.mark.parametrize("way", ["terminal", "markdown"])
def test_it_reads_as_it_did(told: Told, way: str) -> None:
    """A change of what users read is seen before it is merged."""
    text = steady(told.terminal if way == "terminal" else told.markdown, told.run.id)
    path = SNAPSHOTS / f"{way}.txt"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path.name} was not there, and was written")

    assert path.read_text(encoding="utf-8") == text


def steady(text: str, run: str) -> str:
    """A text without what every run has anew: its id, its time, the version."""
    text = text.replace(run, "RUN")
    text = re.sub(r"memsim (\d[\w.]*|\(not installed\)|not installed)", "memsim VERSION", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( [0-9a-f]{7})?", "DATE", text)
    text = re.sub(r" in [\d.]+ m?s\b", " in TIME", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
