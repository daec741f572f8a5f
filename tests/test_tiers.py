"""Every slow test that is named is there, under one kind."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis.internal import charmap

from tests.tiers import (
    FAST,
    FAST_ROWS,
    GROUPS,
    KINDS,
    PARTLY_SLOW,
    SLOW_TESTS,
    slow_row,
    unlisted_slow,
    worker_group,
)

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


def test_tests_with_fast_rows_exist_and_are_fast() -> None:
    """One that was renamed would have only fast rows, and one that is slow has none."""
    listed = {test for tests in SLOW_TESTS.values() for test in tests}
    for named in FAST_ROWS:
        file, _, test = named.partition("::")
        assert f"def {test}(" in (TESTS / file).read_text("utf-8")
        assert not {file, named} & listed


def test_a_row_is_fast_where_its_id_says_so() -> None:
    """Tests that are not listed have fast rows only."""
    listed = "faults/test_areas.py::test_whatever_fails_it_is_one_state_or_the_next"

    assert not slow_row(listed, "test_whatever[run-crash]")
    assert slow_row(listed, "test_whatever[run-power]")
    assert not slow_row("test_clock.py::test_any", "test_any[run-power]")


def test_tests_that_share_something_run_in_one_worker() -> None:
    """A file, an import or a server; other slow tests are shared out one by one."""
    weather, faults = "models/test_live_weather.py", "models/test_live_faults.py"
    slow = (
        "tests/gate/test_compare_command.py::test_a",
        "tests/plugin/test_lost_workers.py::test_a[1]",
    )

    assert "test_clock.py" == worker_group("tests/test_clock.py::test_any[a/b.py::c]")
    assert "litellm" == worker_group(f"tests/{weather}::a") == worker_group(f"tests/{faults}::b")
    assert "servers" == worker_group("tests/memory/stores/test_x.py::test_y[redis]")
    assert ["gate/test_compare_command.py", slow[1]] == [worker_group(test) for test in slow]
    row = "tests/faults/test_areas.py::test_whatever_fails_it_is_one_state_or_the_next[a-power]"
    assert row == worker_group(row)


def test_files_of_a_group_exist() -> None:
    """A file that was renamed would import again what its group shares."""
    files = [file for files in GROUPS.values() for file in files]

    assert [] == [file for file in files if not (TESTS / file).is_file()]


def test_each_kind_is_declared_and_each_test_listed_once() -> None:
    """A kind that is not declared is no marker; a test of two kinds would have one of them."""
    listed = Counter(test for tests in SLOW_TESTS.values() for test in tests)

    assert set(SLOW_TESTS) <= set(KINDS)
    assert [] == [test for test, count in listed.items() if count > 1]


@pytest.mark.parametrize(("worker", "from_the_end"), [("gw0", False), ("gw1", True), ("", False)])
def test_two_workers_read_the_files_from_both_ends(
    worker: str,
    from_the_end: bool,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each finds compiled what the other has read; xdist fails where their tests differ."""
    conftest = request.config.pluginmanager.get_plugin(str(TESTS / "conftest.py"))
    config = SimpleNamespace(args=["tests"], args_source=pytest.Config.ArgsSource.TESTPATHS)
    monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)

    conftest.pytest_collection(SimpleNamespace(config=config))  # type: ignore[union-attr]

    everything = sorted(map(str, TESTS.iterdir()), reverse=True)
    assert (everything if from_the_end else ["tests"]) == config.args


def test_a_slow_test_in_a_file_that_is_not_listed_is_noticed() -> None:
    """Such a file is not read by `make test-slow`: its slow test would never run."""

    def item(file: str, *, slow: bool) -> Any:  # noqa: ANN401 - as much of an item as is looked at
        return SimpleNamespace(path=TESTS / file, get_closest_marker=lambda _: slow or None)

    items = [item(file, slow=True) for file in (*PARTLY_SLOW, "test_wheel.py", "test_resume.py")]

    assert [] == unlisted_slow([*items, item("test_clock.py", slow=False)])
    assert ["test_clock.py"] == unlisted_slow([*items, item("test_clock.py", slow=True)])
    assert [] == [file for file in PARTLY_SLOW if not (TESTS / file).is_file()]


def test_ci_runs_both_tiers() -> None:
    """Together they are all tests."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    ci = (ROOT / ".ci" / "run").read_text("utf-8")

    assert f'$(PYTEST) -m "{FAST}" $(PYTEST_FLAGS)' in makefile
    assert "$(PYTEST) -m slow $(PYTEST_FLAGS)" in makefile
    assert ["make test", "make test-slow"] == [
        " ".join(line.split()[:2]) for line in ci.splitlines() if line.startswith("make test")
    ]


def test_hypothesis_draws_what_utf_8_encodes() -> None:
    """What it would find out by trying every character is known here, to save the time."""
    encodable, lossy = charmap.intervals_from_codec("utf-8")

    for code in (0, 0xD7FF, 0xD800, 0xDFFF, 0xE000, sys.maxunicode):
        assert (code in encodable) == bool(chr(code).encode("utf-8", "ignore"))
    assert not len(lossy)
