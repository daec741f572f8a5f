"""`--isolated`: a strategy in a process of its own gives the same bytes, and nothing more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forks import COMMAND, PLAYING, ROOT, Forks

Run = Callable[..., list[dict[str, Any]]]
CHEATS = ROOT / "tests/doubles/cheats.py"
SCENARIO = """\
memsim: 1
name: station
about: A code is said once, and asked for after other talk.
turns:
  - user: Before I forget it, the locker at the station has the code 7731.
    facts: {locker: "7731"}
  - assistant: I have it.
  - filler: {turns: 4}
probes:
  locker: {ask: What is the code of the locker at the station?, expect: "7731"}
"""
QUICK = ("--tokenizer", "chars/4", "--embedder", "hash")
IMPOSSIBLE = (
    "OpensMany",
    "WalksStack",
    "SearchesObjects",
    "ImportsScenarios",
    "PatchesScorer",
    "PatchesReader",
)
"""Tricks that find nothing to work on."""
NOTICED = {
    "ReadsScenario": "read station.yaml",
    "WritesRun": "read probes.jsonl",
    "ReadsByFolder": "read station.yaml",
    "LoadsNative": "loaded native code: the symbols of this program",
    "ClosesPipe": "closed the pipe that reports what it opens",
}
"""Tricks that make a result invalid, by what is said of them."""
REFUSED = {
    "PatchesTokens": "the section window has",
    "PatchesClock": "the section window has",
    "SendsObjects": "which cannot leave its process",
    "RewritesMessages": "which cannot leave its process",
    "Writes": "sent what cannot be read",
}
"""Tricks that end the case as an error of the strategy."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one scenario and a finished run."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", "utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/station.yaml").write_text(SCENARIO, "utf-8")
    old = tmp_path / "reports/runs/old"
    old.mkdir(parents=True)
    (old / "probes.jsonl").write_text("{}\n", "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """What forks processes that run memsim."""
    with Forks(PLAYING) as started:
        yield started


@pytest.fixture
def run(project: Path, forks: Forks) -> Run:
    """The cases of a run in a process of its own, controls left out; `out` is its folder."""

    def played(*flags: str, of: str = "station") -> list[dict[str, Any]]:
        fixed = [
            "--tokenizer",
            "chars/4",
            "--format",
            "jsonl",
            "--no-report",
            "--no-resume",
            "-o",
            "out",
            "-j",
            "1",
        ]
        env = {"CHEAT": f"{project}/scenarios {project}/reports"}
        done = forks.run(COMMAND, "run", of, *flags, *QUICK, *fixed, cwd=project, env=env)
        assert done.returncode in {0, 1, 7}, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return [case | {"code": done.returncode} for case in found if not case["control"]]

    return played


def _refs(*names: str) -> list[str]:
    return [flag for name in names for flag in ("-s", f"{CHEATS}@{name}")]


@pytest.mark.processes
def test_no_trick_gives_an_answer(run: Run) -> None:
    """Each scores as without it, or has no score and is said to be invalid."""
    every = ("Plain", *IMPOSSIBLE, *NOTICED, *REFUSED)

    cases = run("--isolated", *_refs(*every))

    found = dict(zip(every, cases, strict=True))
    plain = found["Plain"]["metrics"]
    assert 0 == plain["recall"]
    assert {7} == {case["code"] for case in cases}
    for name in IMPOSSIBLE:
        assert ("scored", plain) == (found[name]["state"], found[name]["metrics"]), name
    for name, said in NOTICED.items():
        assert ("invalid", f"invalid: {said}") == (found[name]["state"], found[name]["error"]), name
    for name, said in REFUSED.items():
        assert "error" == found[name]["state"], name
        assert said in found[name]["error"], name


@pytest.mark.processes
@pytest.mark.parametrize(
    "trick", ["WalksStack", "PatchesScorer", "PatchesReader", "ReadsScenario", "PatchesTokens"]
)
def test_the_trick_works_in_the_same_process(run: Run, trick: str) -> None:
    """What is shown above is not that it is badly made."""
    (case,) = run(*_refs(trick))

    assert 1 == case["metrics"]["recall"]


RAISES = """\
from memsim import Context, Query, Strategy


class Raises(Strategy):
    \"\"\"Raises in its third question.\"\"\"

    count = 0

    def context(self, query: Query) -> Context:
        self.count += 1
        if self.count == 3:
            raise ValueError("no more") from KeyError("this")
        return Context()
"""


@pytest.mark.processes
def test_an_error_is_told_in_the_same_words(project: Path, run: Run) -> None:
    """With the place in the strategy's file."""
    (project / "raises.py").write_text(RAISES, "utf-8")
    own = ("-s", "raises.py@Raises")

    here, apart = run(*own), run("--isolated", *own)

    assert [(c["state"], c["error"]) for c in here] == [(c["state"], c["error"]) for c in apart]
    assert "raises.py:12: ValueError: no more (in context, turn " in apart[0]["error"]
    for found in (here, apart):
        (trace,) = found[0]["tracebacks"]
        assert "KeyError: 'this'" in trace
        assert 'raises.py", line 12, in context' in trace


ENDS = RAISES.replace(
    'raise ValueError("no more") from KeyError("this")', "__import__('os')._exit(0)"
)


@pytest.mark.processes
def test_a_process_that_ends_itself_is_an_error(project: Path, run: Run) -> None:
    """And no success."""
    (project / "raises.py").write_text(ENDS, "utf-8")

    (case,) = run("--isolated", "-s", "raises.py@Raises")

    assert ("error", 7) == (case["state"], case["code"])
    assert "the process of the strategy ended (exit code 0)" in case["error"]


@pytest.mark.processes
def test_the_records_are_the_same_bytes(tmp_path: Path, forks: Forks) -> None:
    """With several people, tools and messages of the strategies' own, and in two processes.

    The scenario is told with less small talk in between, and a budget that this still fills.
    """
    text = (ROOT / "scenarios/two_customers.yaml").read_text("utf-8")
    short = re.sub(r"filler: \{turns: \d+", "filler: {turns: 2", text)
    (tmp_path / "short.yaml").write_text(short, encoding="utf-8")
    words = [
        "run",
        "short.yaml",
        "--no-report",
        "--tokenizer",
        "chars/4",
        "--embedder",
        "hash",
        "--budget",
        "1k",
        "-q",
    ]
    for ref in ("layered:acl=on", "prx", "agentscope"):
        words += ["-s", ref]
    for name, more in (("here", ["-j", "1"]), ("apart", ["-j", "2", "--isolated"])):
        done = forks.run(COMMAND, *words, "-o", name, *more, cwd=tmp_path)
        assert 0 == done.returncode, done.stderr

    for name in ("probes.jsonl", "turns.jsonl", "contexts.jsonl"):
        here, apart = (tmp_path / place / name for place in ("here", "apart"))
        assert here.read_bytes() == apart.read_bytes(), name


LOGS = """\
import logging

from memsim import Context, Message, Query, Strategy

LOG = logging.getLogger("theirs")
LOG.propagate = False


class Logs(Strategy):
    \"\"\"Logs whatever it hears, and shows it to whoever said it.\"\"\"

    def __init__(self, env):
        super().__init__(env)
        self.heard = []

    def observe(self, message: Message) -> None:
        LOG.error("kept %s", message.text)
        self.heard.append(message)

    def context(self, query: Query) -> Context:
        own = [m for m in self.heard[-40:] if m.principal == query.principal]
        return Context(sections=(self.env.build.section("window", own),))
"""


@pytest.mark.processes
def test_a_channel_hears_what_the_process_logs(project: Path, run: Run) -> None:
    """The findings are the same as in one process."""
    (project / "logs.py").write_text(LOGS, "utf-8")
    flags = ("-s", "logs.py@Logs", "-k", "L14 or L4", "--leak-attempts", "0.05")

    here, apart = (run(*flags, *more, of="leakage") for more in ((), ("--isolated",)))

    assert [c["metrics"] for c in here] == [c["metrics"] for c in apart]
    assert 0.5 == next(c["metrics"]["plr"] for c in apart if "L14" in c["id"])


@pytest.mark.processes
def test_users_strategies_are_isolated_in_leakage(project: Path, run: Run) -> None:
    """Those of memsim are not; the run folder names who was, and a flag turns it off."""
    (project / "logs.py").write_text(LOGS, "utf-8")
    flags = ("-s", "logs.py@Logs", "-s", "no_memory", "-k", "L4", "--leak-attempts", "0.05")
    isolated = []
    for more in ((), ("--no-isolated",)):
        run(*flags, *more, of="leakage")
        isolated.append(json.loads((project / "out/run.json").read_text()).get("isolated"))
        (project / "out").rename(project / f"out{len(isolated)}")

    assert [["logs.py@Logs"], None] == isolated


@pytest.mark.processes
def test_what_is_kept_elsewhere_is_residue(project: Path, run: Run) -> None:
    """A file that the strategy wrote outside of its folder is searched as its own are."""
    flags = (*_refs("KeepsElsewhere"), "-k", "L7", "--leak-attempts", "0.05")

    (apart,) = run(*flags, of="leakage")
    (project / "out").rename(project / "before")
    (here,) = run(*flags, "--no-isolated", of="leakage")

    assert (True, False) == tuple(bool(case["metrics"]["plr"]) for case in (apart, here))


@pytest.mark.processes
def test_talk_to_a_server_is_told_or_invalid(project: Path, run: Run) -> None:
    """In a run it is told; where answers are attacked, the strategy has to declare the host."""
    both = _refs("AsksServer", "AsksDeclaredServer")

    runs = run("--isolated", *both)
    (project / "out").rename(project / "before")
    attacked = run(*both, "-k", "L4", "--leak-attempts", "0.05", of="leakage")

    assert [("scored", ["127.0.0.1"])] * 2 == [(c["state"], c["hosts"]) for c in runs]
    assert "invalid: talked to 127.0.0.1" == attacked[0]["error"]
    assert "invalid" != attacked[1]["state"]
    assert ["127.0.0.1"] == attacked[1]["hosts"]
