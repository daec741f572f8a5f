"""Two worlds in lockstep: the first byte that differs, and how it came there."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.context import Context
from memsim.message import EPOCH, Message, composed, said
from memsim.strategy import Environment, Query, Strategy
from memsim.testing.check_cases import Case, CaseTurn
from memsim.testing.checks import CheckProfile
from memsim.testing.claims import claims_of
from memsim.testing.invariants.isolation import WAYS, observer
from memsim.testing.lockstep import LockstepResult, compared, look
from memsim.testing.subjects import subject_of
from memsim.testing.worlds import Subject
from tests.doubles.catalogue import AMNESIAC, HONEST, load

FEW = CheckProfile(name="few", examples=8, steps=30, patience=150)
OPEN = '''
"""A window of everybody's, of which strangers see whose turn it was."""
from memsim import Context, Strategy

class Open(Strategy):
    def __init__(self, env):
        super().__init__(env)
        self.said = []
    def observe(self, message):
        self.said.append(message)
    def context(self, query):
        own = [m for m in self.said if m.principal == query.principal]
        return self.env.build.context(self.env.build.section("window", own[-1:]))
    def call_tool(self, name, arguments, principal):
        return "nothing"

class Blind(Open):
    def context(self, query):
        return Context()

class Counting(Open):
    def context(self, query):
        count = len({m.principal for m in self.said})
        own = super().context(query)
        return own if count < 2 else Context(sections=own.sections, ranking=("m1",) * count)
'''


class Summing(Strategy):
    """One summary for everybody."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.said: list[Message] = []

    def observe(self, message: Message) -> None:
        self.said.append(message)

    def context(self, query: Query) -> Context:
        """How much was said, and from what that is known."""
        ids = tuple(m.id for m in self.said)
        made = composed("user", f"So it was, {len(ids)} times.", id="s", derived_from=ids)
        return self.env.build.context(self.env.build.section("summary", [made]))


def looked(path: str) -> LockstepResult:
    """What came of looking at a double."""
    kind = load(path)
    return look(Subject(ref=path, make=kind, claims=claims_of(kind, "double", {})), FEW, 7)


# One case ends when all that was said in it is so old that PRX has erased it.
@pytest.mark.parametrize(
    ("ref", "erased"), [("layered:acl=on,mode=both", 0), ("prx:acl=on,fixed=true", 1)]
)
def test_who_keeps_principals_apart_shows_the_same(ref: str, erased: int) -> None:
    """Contexts, tools and tiers, in pairs of every kind, each of which is shown what is theirs."""
    found = look(subject_of(ref), FEW, 7)

    assert (None, "") == (found.parting, found.why)
    assert 0 < found.informative == found.pairs - erased
    assert not found.pairs % len(WAYS)
    assert found.views > 100 * found.pairs


def test_the_first_byte_is_shown_with_its_way() -> None:
    """PRX ranks before it filters, so that others take the place of what is one's own."""
    parting = look(subject_of("prx:acl=on"), FEW, 2).parting

    assert parting is not None
    assert parting.left != parting.right
    assert len(parting.case.events) <= 4
    assert parting.who == observer(parting.case)
    assert f" by {parting.who}" not in parting.path[0]
    way = f"missing because of it for {parting.who} after turn {parting.turn} in the "
    assert parting.path[-1].startswith(way)


def test_a_summary_on_the_way_is_named() -> None:
    """As a stop of its own, with the turns that it was made of."""
    claims = claims_of(Summing, "summing", {})
    parting = look(Subject(ref="summing", make=Summing, claims=claims), FEW, 7).parting

    assert parting is not None
    said, made, seen = parting.path
    assert said.startswith("said at turn ")
    assert made == f"a summary of turn {said.split()[3]}"
    assert seen.startswith(f"seen by {parting.who} after turn {parting.turn} in the ")
    assert seen.endswith(", summary")


def test_a_model_that_begins_to_fail_fails_in_both_worlds() -> None:
    """A conversation that is summed up after others spoke is no leak of their turns."""
    first, later = EPOCH + timedelta(hours=11), EPOCH + timedelta(days=1, hours=13)
    words = said("user", "x", id="m1", principal="ana", session="ana-1", turn=3, time=first)
    case = Case(
        events=(
            CaseTurn(number=3, who="ana", session="ana-1", time=first, heard=(words,)),
            CaseTurn(number=4, who="ben", session="ben-1", time=first + timedelta(minutes=3)),
            CaseTurn(number=5, who="ben", session="ben-1", time=later),
        ),
        budget=443,
        behaviour="truncated",
        good_first=3,
        questions=("Where is the order?",),
    )

    for way in WAYS:
        assert compared(subject_of("layered"), case, way).parting is None, way


def test_who_shows_nothing_is_not_measured() -> None:
    """Two worlds in which nobody sees anything say nothing of each other."""
    found = looked(AMNESIAC)

    assert (None, 0) == (found.parting, found.informative)
    assert found.why
    assert not looked(HONEST).why


@pytest.mark.parametrize(
    ("kind", "code", "word"),
    [("Open", 0, "the same"), ("Blind", 7, "UNMEASURED"), ("Counting", 1, "DIFFERS")],
)
def test_the_command_says_so_by_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, code: int, word: str
) -> None:
    """And in both formats."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("memsim.testing.checks.PROFILES", {"commit": FEW})
    Path("mine.py").write_text(OPEN, encoding="utf-8")
    asked = ["check", "--noninterference", f"mine.py@{kind}", "--progress", "none"]

    told = CliRunner().invoke(program, asked)
    value = json.loads(CliRunner().invoke(program, [*asked, "--format", "json"]).stdout)

    assert (code, "") == (told.exit_code, told.stderr)
    assert told.stdout.startswith(word)
    assert code == value["exit"]
    assert (code == 1) == bool(value["subjects"][0]["parting"])
    assert ("  path          said at turn " in told.stdout) == (kind == "Counting")


@pytest.mark.parametrize("wrong", [[], ["memory"], ["layered", "-k", "acl"], ["no_such"]])
def test_the_command_wants_strategies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: list[str]
) -> None:
    """One line, and the code of a wrong use."""
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(program, ["check", "--noninterference", *wrong])

    assert (4, 1) == (done.exit_code, len(done.stderr.splitlines()))
