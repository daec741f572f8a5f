"""`memsim twist`: a memory that a twist throws is shown with the question, and fails the gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.scenario.relations import RELATIONS

SCENARIO = """\
memsim: 1
name: desk
turns:
  - user: My order is A-17.
    facts: {order: A-17}
  - user: My city is Bergen.
    facts: {city: Bergen}
  - filler: 4
probes:
  order: {ask: What is my order?, expect: A-17}
  city: {ask: Which city is mine?, expect: Bergen}
"""
OWN = """\
from memsim import Strategy

class All(Strategy):
    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def observe(self, message):
        self.seen.append(message)

    def shown(self, query):
        return self.seen

    def context(self, query):
        shown = self.shown(query)
        return self.env.build.context(self.env.build.section("window", shown))

class HatesThanks(All):
    def shown(self, query):
        return [] if "Thanks" in query.text else self.seen

class Crowded(All):
    def shown(self, query):
        return self.seen if len(self.seen) < 100 else self.seen[-2:]

class Broken(All):
    def context(self, query):
        raise RuntimeError("no")
"""
Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls `memsim twist` in a small project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/desk.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(program, ["twist", *arguments])

    return run


def _flags(names: list[str]) -> list[str]:
    return [flag for name in names for flag in ("--relation", name)]


def test_a_plain_memory_flips_nothing(call: Call) -> None:
    """Each relation has its row; one that is named and changes nothing is not green.

    A slip in a word and a user with a name throw the reader.
    """
    idle = ("speakers", "sessions", "split", "others")
    names = [name for name in RELATIONS if name not in {"typo", "ids"}]
    there = [name for name in names if name not in idle]
    done = call("-s", "oracle", *_flags(names), "--max-flips", "0")
    green = call("-s", "oracle", *_flags(there), "--max-flips", "0")

    assert 7 == done.exit_code, done.output
    assert "; 4 relations unmeasured" in done.output
    assert 0 == green.exit_code, green.output
    assert "unmeasured" not in green.output
    assert all(f"  {name}  " in done.output for name in there)
    assert f"unmeasured, with nothing to change here: {', '.join(idle)}" in done.output
    assert f"0 of {2 * len(there)} pairs flipped" in done.output


def test_what_a_twist_throws_is_shown_and_fails(call: Call) -> None:
    """Question by question; only the relation that threw it counts."""
    done = call("-s", "own.py@HatesThanks", "--relation", "thanks", "--relation", "quick")
    judged = call("-s", "own.py@HatesThanks", "--relation", "thanks", "--max-flips", "0.5")

    assert 0 == done.exit_code, done.output
    assert "2 of 4 pairs flipped" in done.output
    assert "thanks  own.py@HatesThanks  scenarios/desk.yaml::desk::order" in done.output
    assert "What is my order? Thanks a lot, have a nice day!" in done.output
    assert 1 == judged.exit_code
    assert "thanks flips 100.0%, more than 50.0%" in judged.output


def test_a_bound_may_be_of_one_relation_and_stand_in_the_project(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flag wins over the variable, and that over `[tool.memsim]`, as for every flag."""
    twist = ("-s", "own.py@HatesThanks", "--relation", "thanks", "--relation", "quick")
    named = call(*twist, "--max-flips", "0", "--max-flips", "thanks=1")
    others = call(*twist, "--max-flips", "quick=0")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.memsim]\nmax_flips = [0.02, "quick=0"]\n', encoding="utf-8"
    )
    project = call(*twist)
    flag = call(*twist, "--max-flips", "1")
    monkeypatch.setenv("MEMSIM_MAX_FLIPS", "0.5,thanks=1")
    variable = call(*twist)

    assert [0, 0, 1, 0, 0] == [
        done.exit_code for done in (named, others, project, flag, variable)
    ], project.output
    assert "thanks flips 100.0%, more than 2.0%" in project.output


def test_a_relation_that_a_bound_names_has_to_be_measured(call: Call) -> None:
    """As where `--relation` names it, if it is played at all."""
    idle = call("-s", "oracle", "--max-flips", "speakers=0.1")
    alone = call("-s", "oracle", "--relation", "quick", "--max-flips", "speakers=0.1")

    assert (7, 0) == (idle.exit_code, alone.exit_code), idle.output


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (["2"], "--max-flips must be a share such as 0.02, or typo=0.03, not '2'"),
        (["typo=x"], "--max-flips must be a share such as 0.02, or typo=0.03, not 'typo=x'"),
        (["typo=0", "typo=1"], "--max-flips sets the bound of typo twice: remove one"),
        (["0", "1"], "--max-flips sets the bound of all relations twice: remove one"),
        (["tipo=0"], "no relation is called 'tipo' (did you mean 'typo'?)"),
    ],
)
def test_a_wrong_bound_is_one_line(call: Call, bounds: list[str], said: str) -> None:
    """Before anything is played."""
    done = call(*(part for bound in bounds for part in ("--max-flips", bound)))

    assert (4, 1) == (done.exit_code, done.output.count("\n")), done.output
    assert said in done.output


def test_strangers_may_push_nobody_out(call: Call) -> None:
    """A memory of which others take the room loses what it knew."""
    done = call("-s", "own.py@Crowded", "--relation", "strangers")

    assert "2 of 2 pairs flipped" in done.output


def test_what_was_not_measured_is_not_green(call: Call) -> None:
    """A strategy that fails has no pairs."""
    done = call("-s", "own.py@Broken", "--relation", "quick", "--max-flips", "0")

    assert 7 == done.exit_code, done.output


def test_a_slip_in_a_name_is_one_line(call: Call) -> None:
    """With the nearest relation."""
    done = call("--relation", "thank")

    assert 4 == done.exit_code
    assert "no relation is called 'thank' (did you mean 'thanks'?)" in done.output


def test_a_flip_is_shrunk_to_a_file_that_flips(call: Call, tmp_path: Path) -> None:
    """The turns that matter are left; the file is played as any other one."""
    twist = ("-s", "own.py@HatesThanks", "--relation", "thanks")
    done = call("desk", *twist, "--shrink", "flips")
    (file,) = (tmp_path / "flips").iterdir()
    again = call(f"flips/{file.name}", *twist)

    assert f"thanks: {Path('flips') / file.name}  1 of 6 turns" in done.output, done.output
    assert "1 of 1 pair of questions flipped" in again.output, again.output
    assert 1 == file.read_text(encoding="utf-8").count("user: ")


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        (("--shrink", "scenarios"), "--shrink: scenarios is not empty; name a new folder"),
        (("--save", "none/flips.json"), "--save: no folder none"),
    ],
)
def test_where_nothing_may_be_written_is_told_first(
    call: Call, tmp_path: Path, flag: tuple[str, str], said: str
) -> None:
    """Before anything is played, and no file is replaced."""
    before = {path: path.read_bytes() for path in (tmp_path / "scenarios").iterdir()}
    done = call("desk", "-s", "own.py@HatesThanks", "--relation", "thanks", *flag)

    assert (4, f"memsim: {said}\n") == (done.exit_code, done.output)
    assert before == {path: path.read_bytes() for path in (tmp_path / "scenarios").iterdir()}


def test_a_relation_that_changes_nothing_is_named(call: Call, tmp_path: Path) -> None:
    """A message of one sentence cannot be split."""
    said = SCENARIO.replace("  - filler: 4\n", "")
    (tmp_path / "short.yaml").write_text(said, encoding="utf-8")
    done = call("short.yaml", "-s", "own.py@HatesThanks", "--relation", "split")

    assert 7 == done.exit_code
    assert "no question was measured in both ways: split had nothing to change" in done.output


def test_what_flips_beside_others_only_has_no_file(call: Call, tmp_path: Path) -> None:
    """As where it takes all of the talk: no file is written that would not flip."""
    done = call("desk", "-s", "own.py@Crowded", "--relation", "quick", "--shrink", "flips")

    assert 0 == done.exit_code, done.output
    assert not (tmp_path / "flips").exists()


def test_flips_are_held_against_those_before(call: Call, tmp_path: Path) -> None:
    """The same flips pass; more fail; nothing in common is unmeasured; another file is one line."""
    source = tmp_path / "own.py"
    steady = OWN.replace('if "Thanks" in query.text', "if False")
    source.write_text(steady, encoding="utf-8")
    keys = (f"  - user: Key {n} is K-{n}.\n    facts: {{k{n}: K-{n}}}\n" for n in range(12))
    text = SCENARIO.replace("  - filler: 4\n", "".join(keys))
    text += "".join(f"  k{n}: {{ask: What is key {n}?, expect: K-{n}}}\n" for n in range(12))
    (tmp_path / "scenarios/desk.yaml").write_text(text, encoding="utf-8")
    twist = ("desk", "-s", "own.py@HatesThanks", "--relation", "thanks")
    saved = call(*twist, "--save", "flips.json")
    same = call(*twist, "--baseline", "flips.json")
    source.write_text(OWN, encoding="utf-8")
    worse = call(*twist, "--baseline", "flips.json")
    strange = call(*twist[:3], "--relation", "polite", "--baseline", "flips.json")
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    refused = call(*twist, "--baseline", "no.json")

    assert 0 == saved.exit_code, saved.output
    assert 0 == same.exit_code, same.output
    assert "against flips.json: 1 relations compared" in same.output
    assert 1 == worse.exit_code, worse.output
    assert "  worse  own.py@HatesThanks thanks  0.000 -> " in worse.output
    assert 7 == strange.exit_code, strange.output
    assert "against flips.json: 0 relations compared" in strange.output
    assert (4, 1) == (refused.exit_code, refused.output.count("\n"))
    assert "no.json: was not written by memsim twist --save" in refused.output
