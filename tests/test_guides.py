"""The guides for authors: their programs are written, and their commands give what they show."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.scenario import ScenarioBuilder
from memsim.scoring.answer_score import judge_answer
from memsim.scoring.outcomes import OUTCOMES, REASONS
from memsim.suite.single import run as play_case

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WORDS = 1200


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a page, and the lines that the page shows of its output."""

    command: str
    lines: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The arguments of the command, without `memsim`."""
        return shlex.split(self.command)[1:]


def page(name: str) -> str:
    """The text of a guide."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str) -> list[tuple[str, str]]:
    """The language and the text of each code block of a guide."""
    return BLOCK.findall(page(name))


def shown(block: str) -> Iterator[Shown]:
    """The commands of a console block that begin with `$ `, each with its lines."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield Shown(command, tuple(line for line in lines if line.strip()))


def plain(name: str) -> Iterator[Shown]:
    """The commands of a guide's first block, which shows no output."""
    _, text = blocks(name)[0]
    yield from (Shown(line.partition("#")[0], ()) for line in text.splitlines())


def squeezed(text: str) -> str:
    """A text with one space in the place of several."""
    return " ".join(text.split())


def row_cells(name: str, heads: int, first: str) -> Iterator[list[str]]:
    """The cells of each row of the table whose first column is headed so."""
    table = page(name).partition(f"\n| {first} | ")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        cells = [cell.strip() for cell in row[1:-1].split("|")]
        assert len(cells) == heads, row
        yield cells


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that `memsim init` made, as the working folder."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(program, ["init"])
    assert done.exit_code == 0, done.output
    return tmp_path


def assert_shows(example: Shown) -> None:
    """Run a command here, and look for the lines that the page shows."""
    done = CliRunner().invoke(program, [*example.words])
    assert done.exit_code in {0, 1, 7}, done.output
    for line in example.lines:
        assert squeezed(line) in squeezed(done.stdout), f"{example.command}\n{done.stdout}"


class GrownStrategy:
    """The strategy of `write-a-strategy.md`, as far as the page has come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.top: list[str] = []
        self.methods: list[str] = []

    def add(self, block: str) -> None:
        """Add a block: methods of the class where it is indented, else a part of the module."""
        (self.methods if block.startswith("    ") else self.top).append(block)
        begun, *rest = self.top
        self.path.write_text("\n".join((begun, *self.methods, *rest)), encoding="utf-8")


def grow(path: Path) -> Iterator[Shown]:
    """Write the strategy step by step; after each, the commands that show what was gained."""
    strategy = GrownStrategy(path)
    for language, text in blocks("write-a-strategy"):
        if language == "python":
            strategy.add(text)
        else:
            yield from shown(text)


def test_a_strategy_grows_as_the_guide_says(project: Path) -> None:
    """After each step the commands show what the page says that one gains."""
    found = []
    for example in grow(project / "strategies" / "desk.py"):
        found.append(example.words[0])
        if example.words[0] != "check":
            assert_shows(example)

    assert found.count("explain") >= 8
    assert found[-1] == "check"


def test_the_grown_strategy_passes_the_check(project: Path) -> None:
    """Saved and loaded, it holds what the page says."""
    *_, last = grow(project / "strategies" / "desk.py")
    done = subprocess.run(
        [sys.executable, "-m", "memsim", *last.words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert last.lines
    for line in last.lines:
        assert squeezed(line) in squeezed(done.stdout)


def test_every_outcome_has_an_example_that_is_true(subtests: pytest.Subtests) -> None:
    """Each answer comes to the outcome of its row."""
    told = set()
    for outcome, said, asked, expected, answer, _ in row_cells(
        "outcomes-and-reasons", 6, "outcome"
    ):
        told.add(outcome)
        with subtests.test(outcome=outcome, answer=answer):
            expect, _, forbidden = expected.partition(", not ")
            built = ScenarioBuilder("example")
            for sentence in re.findall(r".+?\.(?: |$)", said):
                built = built.user(sentence.strip())
            extra = {"not": forbidden} if forbidden else {}
            [probe] = built.probe("it", ask=asked, expect=expect, **extra).build().probes

            assert judge_answer(probe, answer).outcome == outcome

    assert told | {"LEAK", "RETAINED", "ERROR"} == set(OUTCOMES)


def toy(project: Path) -> None:
    """Write the scenario and the strategy of `outcomes-and-reasons.md`."""
    for language, text in blocks("outcomes-and-reasons"):
        if language == "yaml":
            (project / "scenarios" / "toy.yaml").write_text(text, encoding="utf-8")
        elif language == "python":
            (project / "strategies" / "toy.py").write_text(text, encoding="utf-8")


def test_every_reason_has_an_example_that_is_true(project: Path, subtests: pytest.Subtests) -> None:
    """Each strategy of the table misses its probe for the reason of its row."""
    toy(project)
    told = set()
    for reason, strategy, probe, *_ in row_cells("outcomes-and-reasons", 5, "reason"):
        told.add(reason.replace(" ", "-"))
        with subtests.test(reason=reason):
            played = play_case("toy", strategy.strip("`"))
            [record] = [p for p in played.probes if p["probe"] == probe.strip("`")]

            assert (record["outcome"], record["reason"]) == ("MISS", reason.replace(" ", "-"))

    assert told == set(REASONS)


def test_the_toy_leaks_and_raises_as_the_guide_says(project: Path) -> None:
    """The two outcomes that no answer alone has."""
    toy(project)
    outcomes = {p["probe"]: p["outcome"] for p in play_case("toy", "toy").probes}
    raised = {p["outcome"] for p in play_case("toy", "toy:way=raises").probes}

    assert outcomes == {"order": "PASS", "parcel": "MISS", "theirs": "LEAK"}
    assert raised == {"ERROR"}


def test_commands_about_outcomes_show_what_the_guide_says(project: Path) -> None:
    """The output of each command holds the lines below it."""
    toy(project)
    for language, text in blocks("outcomes-and-reasons"):
        for example in shown(text) if language == "console" else ():
            assert_shows(example)
    for example in plain("outcomes-and-reasons"):
        assert_shows(example)


class MemoryServer(BaseHTTPRequestHandler):
    """The server that `wrap-a-memory.md` talks to: texts by space and id, found by their words."""

    spaces: ClassVar[dict[str, dict[str, tuple[str, str]]]] = {}

    def do_POST(self) -> None:
        """Answer `/add`, `/search` and `/clear`."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kept = self.spaces.setdefault(body["space"], {})
        found: list[str] = []
        if self.path == "/add":
            kept[body["id"]] = (body["user"], body["text"].lower())
        elif self.path == "/clear":
            del self.spaces[body["space"]]
        else:
            asked = set(body["text"].lower().rstrip("?").split())
            mine = {key: text for key, (user, text) in kept.items() if user == body["user"]}
            found = sorted(mine, key=lambda key: -len(asked & set(mine[key].split())))[:3]
        answer = json.dumps({"ids": found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library has it
        """Print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a running `MemoryServer`."""
    with HTTPServer(("127.0.0.1", 0), MemoryServer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_memories_are_wrapped_as_the_guide_says(
    project: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrapper runs as it is written, and the server is left empty."""
    monkeypatch.setenv("MEMORY_URL", address)
    shows = 0
    for language, text in blocks("wrap-a-memory"):
        if language == "python" and text.startswith("# strategies/"):
            name = text.partition("\n")[0].removeprefix("# ")
            (project / name).write_text(text, encoding="utf-8")
        elif language == "python":
            with (project / "strategies" / "wrapped.py").open("a", encoding="utf-8") as file:
                file.write("\n" + text)
        for example in shown(text) if language == "console" else ():
            shows += 1
            assert_shows(example)

    for example in plain("wrap-a-memory"):
        assert_shows(example)

    assert shows == 9
    assert MemoryServer.spaces == {}


def test_the_leakage_table_is_as_the_guide_says(project: Path) -> None:
    """Tables, sentences and grades that the page explains are what the commands print."""
    assert project.is_dir()
    found = [
        example
        for language, text in blocks("read-leakage")
        if language == "console"
        for example in shown(text)
    ]
    for example in (*found, *plain("read-leakage")):
        assert_shows(example)

    assert len(found) == 4


@pytest.mark.parametrize(
    "name", ["write-a-strategy", "wrap-a-memory", "outcomes-and-reasons", "read-leakage"]
)
def test_a_guide_is_short(name: str) -> None:
    """A stranger reads at most 1,200 words."""
    assert len(page(name).split()) <= WORDS
