"""Every slow test that is named is there, under one kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.tiers import FAST, KINDS, SLOW_TESTS

TESTS = Path(__file__).parent
ROOT = TESTS.parent


@pytest.mark.parametrize("kind", sorted(SLOW_TESTS))
def test_the_slow_tests_exist(kind: str) -> None:
    """A test that was renamed would otherwise become a fast one."""
    missing = []
    for listed in SLOW_TESTS[kind]:
        file, _, test = listed.partition("::")
        path = TESTS / file
        code = path.read_text("utf-8") if path.is_file() else ""
        if not code or (test and f"def {test}(" not in code):
            missing.append(listed)

    assert [] == missing


def test_each_kind_is_declared_and_each_test_listed_once() -> None:
    """A kind that is not declared is no marker; a test of two kinds would have one of them."""
    listed = Counter(test for tests in SLOW_TESTS.values() for test in tests)

    assert set(SLOW_TESTS) <= set(KINDS)
    assert [] == [test for test, count in listed.items() if count > 1]


def test_ci_runs_both_tiers() -> None:
    """Together they are all tests."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    ci = (ROOT / ".ci" / "run").read_text("utf-8")

    assert f'$(PYTEST) -m "{FAST}" $(PYTEST_FLAGS)' in makefile
    assert "$(PYTEST) -m slow $(PYTEST_FLAGS)" in makefile
    assert ["make test", "make test-slow"] == [
        line.partition(" PYTEST_FLAGS")[0]
        for line in ci.splitlines()
        if line.startswith("make test")
    ]
