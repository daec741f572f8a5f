"""What memsim says of a strategy that somebody brings: as little as was looked at, and no less."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.context import wrong_name
from memsim.report.frames import Frames
from memsim.report.plots import pictures
from memsim.report.plots.palette import SECTION_COLOURS, section_colours
from memsim.report.plots.style import Picture
from memsim.report.summarise import summarise
from memsim.runs import Run, load_run

SCENARIO = """
memsim: 1
name: moving
turns:
  - user: My order is A-17, please send it to Bergen.
    facts: {order: A-17, city: Bergen}
  - filler: 12
  - user: My cat is called Silvester.
    facts: {cat: Silvester}
probes:
  order: {ask: What is my order number?, expect: A-17}
  city: {ask: Where should my order be sent?, expect: Bergen}
  cat: {ask: What is my cat called?, expect: Silvester}
"""
STRATEGIES = """
from memsim import Strategy, composed

class Plain(Strategy):
    "Keeps every message, shows the last four, and implements nothing else."
    section = "window"

    def __init__(self, env):
        super().__init__(env)
        self.kept = []

    def observe(self, message):
        self.kept.append(message)

    def shown(self):
        return self.kept[-4:]

    def context(self, query):
        return self.env.build.context(self.env.build.section(self.section, self.shown()))

class Notes(Plain):
    "Everything, in a section with a name of its own."
    section = "notes"

    def shown(self):
        return self.kept

class Digest(Plain):
    "A text that names no sources: what was said first, and what was said last."
    section = "lost"

    def shown(self):
        text = "\\n".join(m.text for m in self.kept[:1] + self.kept[-2:])
        return [composed("user", text, id="digest")] if self.kept else []
"""
NAMES = ("Plain", "Notes", "Digest")
UNREPORTED = "this strategy does not report its stores (implement surfaces())"
Tell = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of somebody's own, in which it was played with a page."""
    place = tmp_path_factory.mktemp("own")
    (place / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (place / "scenarios").mkdir()
    (place / "scenarios" / "moving.yaml").write_text(SCENARIO, encoding="utf-8")
    (place / "own.py").write_text(STRATEGIES, encoding="utf-8")
    flags = [flag for name in NAMES for flag in ("-s", f"own.py@{name}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        done = CliRunner().invoke(program, ["run", *flags, "--budget", "300", "--html"])
        assert 0 == done.exit_code, done.output
    return place


@pytest.fixture(scope="module")
def run(place: Path) -> Run:
    """The run as saved."""
    return load_run("latest", place / "reports")


@pytest.fixture
def probes(run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """The probe records, by strategy and probe."""
    return {
        (case.strategy.rpartition("@")[2], str(line["probe"])): line
        for case in run.cases
        for line in run.probes(case.key)
    }


@pytest.fixture
def tell(place: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Calls `memsim explain` in the project."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "160")

    def call(strategy: str, probe: str) -> str:
        case = f"scenarios/moving.yaml::moving[own.py@{strategy}@300]::{probe}"
        done = CliRunner().invoke(program, ["explain", "latest", case])
        assert 0 == done.exit_code, done.output
        return done.output

    return call


@pytest.fixture(scope="module")
def drawn(run: Run) -> dict[str, Picture]:
    """The plots of the run, by name."""
    return {picture.name: picture for picture in pictures(run, summarise(run))}


def test_what_was_not_looked_at_is_unknown(
    probes: dict[tuple[str, str], dict[str, Any]], tell: Tell
) -> None:
    """A strategy without `surfaces` keeps the message: nobody says that it lost it."""
    line = probes["Plain", "order"]

    assert ("unknown", "not-in-context") == (line["whereabouts"], line["reason"])
    told = tell("Plain", "order")
    assert f"left the context; {UNREPORTED}" in told
    assert "nowhere" not in told


def test_the_chart_shows_the_unknown_as_unknown(drawn: dict[str, Picture], place: Path) -> None:
    """In a colour of its own, and no caption or page calls it lost."""
    picture = drawn["whereabouts"]
    (run,) = (place / "reports" / "runs").iterdir()

    assert "own.py@Plain does not show where .67 of the evidence is" in picture.caption
    assert "lost" not in picture.caption
    assert "for good" not in (run / "report.html").read_text(encoding="utf-8")


def test_a_text_without_sources_is_searched_for_the_values(
    probes: dict[tuple[str, str], dict[str, Any]], tell: Tell
) -> None:
    """What it states is there; what it does not state is not in the context, and no more."""
    there = probes["Digest", "order"]

    assert ("other", "lost") == (there["whereabouts"], there["evidence"][0]["presence"])
    assert "in the section lost, in other words" in tell("Digest", "order")
    assert {"not-written"}.isdisjoint(line["reason"] for line in probes.values())


def test_a_section_may_have_any_name(
    run: Run, drawn: dict[str, Picture], tell: Tell, place: Path
) -> None:
    """It is counted, cut to the budget, drawn and told of."""
    turns = Frames(run).turns
    (legend,) = drawn["context-over-time"].figure.legends
    page = next((place / "reports" / "runs").iterdir()) / "report.html"

    assert {"window", "notes", "lost"} == {text.get_text() for text in legend.get_texts()}
    assert 0 < turns["tokens.notes"].max() <= 300
    assert all((c.metrics["context_peak"] or 0) <= 300 for c in run.cases if not c.control)
    other = {c.strategy.rpartition("@")[2]: c.metrics["context_own"] for c in run.cases}
    assert other["Notes"]
    assert other["Plain"] == 0
    assert "in the section notes, in its own words" in tell("Notes", "cat")
    assert "notes" in page.read_text(encoding="utf-8")


def test_sections_of_ones_own_have_colours_of_their_own() -> None:
    """In one order, wherever they are drawn."""
    found = section_colours(["notes", "window", "digest"])

    assert ["window", "digest", "notes"] == list(found)
    assert 3 == len(set(found.values()))
    assert {*found.values()} & {*SECTION_COLOURS.values()} == {SECTION_COLOURS["window"]}


def test_a_name_that_cannot_be_shown_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case ends with one line that says what to change."""
    monkeypatch.chdir(place)
    (place / "wrong.py").write_text(
        STRATEGIES.replace('section = "notes"', 'section = "absent"'), encoding="utf-8"
    )
    flags = ("-s", "wrong.py@Notes", "-k", "Notes", "--format", "jsonl")
    done = CliRunner().invoke(program, ["run", *flags])

    assert 7 == done.exit_code
    (case,) = map(json.loads, done.stdout.splitlines())
    assert "a section is called 'absent'" in case["error"]
    assert all(wrong_name(name) for name in ("", "  ", "a\nb", "n" * 41, 3))
    assert not any(wrong_name(name) for name in ("notes", "Meine Notizen", "n" * 40))


RAISING = """
import json, tempfile
from memsim import Strategy

def price(order):
    prices = {}
    return prices[order]

class Base(Strategy):
    def context(self, query):
        return self.env.build.context()

class Helper(Base):
    def observe(self, message):
        if message.turn == 3:
            price("A-17")

class Library(Base):
    def context(self, query):
        if query.text.startswith("What is my cat"):
            json.loads("{")
        return super().context(query)

class Unmade(Base):
    def __init__(self, env):
        super().__init__(env)
        price("none")
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Helper", "raising.py:7: KeyError: 'A-17' (in observe, turn 3)"),
        ("Library", "raising.py:21: JSONDecodeError: Expecting property name enclosed in double"),
        ("Unmade", "raising.py:7: KeyError: 'none' (in __init__)"),
    ],
)
def test_an_error_names_the_users_own_line(
    name: str, line: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deepest one, the method and the turn; `-v`, the report and `explain` have the rest."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "160")
    (place / "raising.py").write_text(RAISING, encoding="utf-8")
    call = CliRunner().invoke
    flags = ("-s", f"raising.py@{name}", "-k", name, "-o", f"out/{name}", "--budget", "300")
    short, long = call(program, ["run", *flags]), call(program, ["run", "-v", *flags])
    report = (place / "out" / name / "report.md").read_text(encoding="utf-8")
    case = f"scenarios/moving.yaml::moving[raising.py@{name}@300]"
    explained = call(program, ["explain", f"out/{name}", case])

    assert (7, 7, 0) == (short.exit_code, long.exit_code, explained.exit_code)
    assert line in short.stdout
    assert "Traceback" not in short.stdout
    assert "the whole traceback: report.md, or -v" in short.stdout
    for told in (long.stdout, report, explained.stdout):
        assert "Traceback (most recent call last):" in told
        assert f'{place / "raising.py"}", line {line.split(":")[1]}, in ' in told


def test_an_async_method_is_refused_in_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what to write instead; a coroutine that nobody awaits would store nothing."""
    monkeypatch.chdir(place)
    text = STRATEGIES.replace("    def observe", "    async def observe")
    (place / "awaited.py").write_text(text, encoding="utf-8")

    done = CliRunner().invoke(program, ["run", "-s", "awaited.py@Plain", "-k", "awaited"])

    assert 7 == done.exit_code
    assert "awaited.py:12: Plain.observe is an async def" in done.stdout
    assert (
        "write def, and wait in it for the coroutine (docs/wrap-a-memory.md, section 5)"
        in done.stdout
    )
