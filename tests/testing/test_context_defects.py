"""Defects of contexts: each broken diary is found at the default profile, the honest one not."""

from __future__ import annotations

from typing import ClassVar

import pytest

from memsim.context import Section
from memsim.message import Message, composed
from memsim.strategy import Query
from memsim.testing import PROFILES, Case, Violation
from memsim.testing.checks import case_of
from memsim.testing.claims import claims_of
from memsim.testing.invariants import invariant
from memsim.testing.worlds import Subject, Trial
from tests.doubles.context_faults import CONTEXT_FAULTS
from tests.doubles.diary import Diary
from tests.doubles.text_faults import TEXT_FAULTS

COMMIT = PROFILES["commit"]
FAULTS = {**TEXT_FAULTS, **CONTEXT_FAULTS}
PAIRS = [(name, kind) for name, kinds in FAULTS.items() for kind in kinds]
QUICK = [(name, kinds[0]) for name, kinds in FAULTS.items() if name in {"order", "adjacency"}]


def broken(name: str, kind: type[Diary], case: Case) -> str:
    """What an invariant finds in a case; empty where it holds."""
    subject = Subject(ref=kind.__name__, make=kind, claims=claims_of(kind, "diary", {}))
    trial = Trial(subject, case)
    try:
        invariant(name).measure(trial)
    except Violation as found:
        return str(found)
    finally:
        trial.close()
    return ""


def found_in(name: str, kind: type[Diary]) -> Case:
    """The first case of the default profile that tells."""
    for number in range(COMMIT.examples):
        case = case_of("strategy", COMMIT.steps, 7, number)
        assert isinstance(case, Case)
        if broken(name, kind, case):
            return case
    raise AssertionError(f"{kind.__name__} is not found by {name}")


@pytest.mark.parametrize(("name", "kind"), QUICK)
def test_a_broken_diary_is_found(name: str, kind: type[Diary]) -> None:
    """And in the case that tells, nothing is found in the honest diary."""
    assert not broken(name, Diary, found_in(name, kind))


@pytest.mark.parametrize(("name", "kind"), [pair for pair in PAIRS if pair not in QUICK])
def test_each_defect_of_a_context_is_found(name: str, kind: type[Diary]) -> None:
    """By the invariant that names it, which accuses the honest diary of nothing."""
    assert not broken(name, Diary, found_in(name, kind))


class Referring(Diary):
    """Names the latest tool result in a comment, and quotes what was said beside it."""

    inside: ClassVar[str] = ""

    def extras(self, query: Query) -> list[Section]:
        tools = [m for m in self.recent if m.results][-1:]
        return [self.section("working", [self.reference(m)]) for m in tools]

    def reference(self, message: Message) -> Message:
        """A message with a comment."""
        text = f"<!-- kept as {message.id} {self.inside.format(message.text)}-->\n{message.text}"
        return composed("user", text, id="reference", quotes=(message.id,))


class Commented(Referring):
    """Quotes within the comment, too."""

    inside: ClassVar[str] = "{} "


def test_only_what_stands_within_a_comment_can_close_it() -> None:
    """A reference that is whole is no block that anybody could break out of."""
    found = found_in("own_delimiters_are_safe", Commented)

    assert not broken("own_delimiters_are_safe", Referring, found)
