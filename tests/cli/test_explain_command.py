"""`memsim explain`: which probe a name means, and what is said of it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]

CASE = "scenarios/first.yaml::first[sliding_window:messages=12@4k]"


@pytest.fixture
def ran(project: Path, call: Call) -> Result:
    """One run of the scaffolded project."""
    return call("run", "--fail-under", "recall=0.6")


def test_every_command_that_a_run_prints_works_when_pasted(ran: Result, call: Call) -> None:
    """A shell's words are the command's arguments."""
    commands = re.findall(r"^ +memsim (explain .*)$", ran.stdout, re.MULTILINE)

    assert len(commands) == 4
    for command in commands:
        assert call(*shlex.split(command)).exit_code == 0


def test_a_probe_is_told_from_planting_to_answer(ran: Result, call: Call) -> None:
    """The full id, as the run prints it."""
    lines = call("explain", f"{CASE}::order").stdout.splitlines()

    assert lines[0] == CASE
    assert lines[1].startswith('order   "What is the order number?"   ability: recall   asked at')
    assert [line.split()[2] for line in lines[2:4]] == ["planted", "dropped"]
    assert "nowhere: not in the context, not stored" in lines[4]
    assert lines[-1] == "  outcome   MISS, evicted"


@pytest.mark.parametrize("part", ["[mine@4k]::cat", "mine@4k]::c", "first[mine@4k]::cat"])
def test_a_part_that_is_like_no_other_will_do(ran: Result, call: Call, part: str) -> None:
    """Nobody types a whole id."""
    wanted = part if part.endswith("cat") else "mine@4k]::cat"

    assert call("explain", wanted).stdout.splitlines()[1].startswith("cat ")


def test_a_case_without_a_probe_lists_its_failed_ones(ran: Result, call: Call) -> None:
    """With outcome, reason, turns and answer, and the command for the first."""
    result = call("explain", CASE)

    lines = result.stdout.splitlines()
    assert lines[1] == "  5 of 11 probes passed"
    assert [line.split()[0] for line in lines[4:7]] == ["order", "card", "cat"]
    assert lines[-1] == f"  memsim explain '{CASE}::order'"


def test_the_run_may_be_named(ran: Result, call: Call, project: Path) -> None:
    """`latest`, the beginning of an id, or a folder."""
    (folder,) = (project / "reports/runs").iterdir()
    for run in ("latest", folder.name[:12], str(folder), f"reports/runs/{folder.name}"):
        result = call("explain", run, f"{CASE}::order")

        assert result.exit_code == 0, result.stderr


def test_an_ambiguous_name_lists_what_it_could_be(ran: Result, call: Call) -> None:
    """In one line."""
    result = call("explain", "order")

    assert result.exit_code == 4
    assert result.stderr.startswith(
        "memsim: 'order' matches several cases or probes: 'scenarios/first.yaml::"
    )
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (f"{CASE}::ordr", "(did you mean 'order'?)"),
        ("ordr", "(did you mean 'order'?)"),
        (CASE.replace("first[", "frist["), f"(did you mean '{CASE}'?)"),
    ],
)
def test_a_slip_names_the_nearest(ran: Result, call: Call, name: str, hint: str) -> None:
    """Of a probe in its case, of a probe anywhere, of a case."""
    result = call("explain", name)

    assert result.exit_code == 4
    assert hint in result.stderr


def test_without_a_run_it_says_so(project: Path, call: Call) -> None:
    """There is nothing to explain yet."""
    result = call("explain", "order")

    assert result.exit_code == 4
    assert result.stderr == f"{project}/reports/runs: there is no run yet\n"


def test_unquoted_ids_are_guessed_at(ran: Result, call: Call) -> None:
    """More words than two: the brackets were for the shell."""
    result = call("explain", "a", "b", "c")

    assert result.exit_code == 4
    assert "quote the case" in result.stderr


def test_json_carries_the_same_story(ran: Result, call: Call) -> None:
    """For whoever wants to look through many."""
    story = json.loads(call("explain", f"{CASE}::order", "--format", "json").stdout)

    assert (story["case"], story["probe"], story["outcome"]) == (CASE, "order", "MISS")
    assert [step["what"] for step in story["pieces"][0]["steps"]] == ["planted", "dropped"]


def test_the_context_that_was_sent_is_shown_and_whole_on_request(ran: Result, call: Call) -> None:
    """Of a long section the first message and the last ones; -v leaves out nothing."""
    name = f"{CASE}::order"
    short = call("explain", name).stdout.splitlines()
    whole = call("explain", name, "-v").stdout.splitlines()
    document = json.loads(call("explain", name, "--format", "json", "-v").stdout)

    (at,) = (n for n, line in enumerate(short) if line.startswith("  sent      window: "))
    assert "more messages" in short[at + 2]
    assert short[at + 6].startswith("  answer")
    assert not any("more messages" in line for line in whole)
    (section,) = document["sections"]
    count = int(short[at].split()[2])
    assert count == section["count"] == len(section["messages"]) > 6
    told = " ".join(" ".join(line.split()) for line in whole)
    assert all(" ".join(m["text"].split()) in told for m in section["messages"])


def test_evidence_in_the_context_is_marked(ran: Result, call: Call) -> None:
    """With a star, also in the middle of a long section."""
    lines = call("explain", "first[mine@4k]::order").stdout.splitlines()

    (marked,) = (line for line in lines if line.lstrip().startswith("* "))
    assert "order" in marked


def test_damaged_contexts_are_one_line_and_exit_four(
    ran: Result, call: Call, project: Path
) -> None:
    """No traceback of a program that follows wrong numbers."""
    (folder,) = (project / "reports/runs").iterdir()
    path = folder / "contexts.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"sent":[["window",', '"sent":[["widnow",'), encoding="utf-8")

    result = call("explain", f"{CASE}::order")

    assert (4, "") == (result.exit_code, result.stdout)
    assert 1 == result.stderr.count("\n")
