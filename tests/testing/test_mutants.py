"""Mutants: whatever is bent is found by its own invariant, and what it was bent from is not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from memsim.testing import PROFILES, Violation, verify
from memsim.testing.case_search import draw_cases
from memsim.testing.check_cases import AnyCase
from memsim.testing.checks import generated
from memsim.testing.invariant_catalogue import PARTS, On
from memsim.testing.invariants import invariant, known
from memsim.testing.invariants import step_bench as steps_of
from tests.doubles.broken_notebooks import BROKEN
from tests.doubles.context_faults import CONTEXT_FAULTS
from tests.doubles.text_faults import TEXT_FAULTS
from tests.testing.bent import BENT
from tests.testing.bent_more import MORE
from tests.testing.bent_parts import BENT_PARTS

HERE = Path(__file__).parent
CI = PROFILES["ci"]
PLAIN = f"{HERE / 'bent.py'}@Plain"
DIARY = f"{HERE.parent / 'doubles' / 'diary.py'}@Diary"
APART = f"{HERE / 'bent_more.py'}@Apart"
NAMED = {"": PLAIN, "apart": APART, "diary": DIARY}
TWINS = {
    "closed_world_recall_floor": "sliding_window",
    "save_and_load": "sliding_window",
    "corruption_is_loud": "sliding_window",
}


@cache
def case_of(on: On, number: int) -> AnyCase:
    """The case of that number in the profile that stands for every commit."""
    return draw_cases(generated(on, CI), 7, number)


def broken(name: str, subject: str, case: AnyCase) -> bool:
    """Whether an invariant finds something."""
    steps_of.forget()
    try:
        verify(name, subject, case)
    except Violation:
        return True
    return False


def killed(name: str, subject: str) -> AnyCase:
    """The first case that kills, of as many as the profile has."""
    on = invariant(name).on
    for number in range(CI.examples):
        if broken(name, subject, case_of(on, number)):
            return case_of(on, number)
    raise AssertionError(f"{subject} survives {CI.examples} cases of {name}")


STRATEGIES = {
    **{n: (f"{HERE / 'bent.py'}@{k.__name__}", TWINS.get(n, PLAIN)) for n, k in BENT.items()},
    **{
        n: (f"{HERE / 'bent_more.py'}@{k.__name__}", NAMED.get(twin, twin))
        for n, (k, twin) in MORE.items()
    },
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_bent_strategy_is_killed_and_its_twin_is_not(name: str) -> None:
    """By the very case that kills the one, nothing is found in the other."""
    bent, twin = STRATEGIES[name]

    case = killed(name, bent)

    assert not broken(name, twin, case)


def test_a_summary_that_lets_lines_fade_has_to_say_so() -> None:
    """That it said so when it took them in is not enough."""
    case = killed("closed_world_recall_floor", f"{HERE / 'bent_more.py'}@Fading")

    assert not broken("closed_world_recall_floor", "rolling_summary", case)


@pytest.mark.parametrize("name", BENT_PARTS)
def test_a_bent_part_is_killed_and_the_part_itself_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is bent back holds in the case that told."""
    BENT_PARTS[name](monkeypatch.setattr)
    case = killed(name, PARTS)
    monkeypatch.undo()

    assert not broken(name, PARTS, case)


def test_every_invariant_has_a_mutant() -> None:
    """Sixty and more, one at least for each."""
    bent = {*STRATEGIES, *BENT_PARTS, *BROKEN, *CONTEXT_FAULTS, *TEXT_FAULTS}

    assert set() == {i.name for i in known()} - bent
    assert len(bent) >= 60
