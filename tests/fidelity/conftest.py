"""What the published systems really did, replayed from recordings where these are at hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fidelity.recordings import Comparison, Recordings

ROOT = Path(__file__).resolve().parents[2]
RECORDED_MISSING = (
    "needs_data: the recorded behaviour of the published systems is not here; set MEMSIM_RECORDED"
    " to the folder that holds fixed_inputs.json, out/, ..."
)
# Read before tests run: each of them is without a developer's MEMSIM_* variables.
RECORDED_SET = "MEMSIM_RECORDED" in os.environ
BESIDE = ROOT.parent / "shared" / "seeds" / "recorded"
RECORDED = Path(os.environ.get("MEMSIM_RECORDED") or BESIDE).resolve()
COUNTED = "fields"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what asks for `recordings`, so that `-m 'not needs_data'` leaves it out."""
    for item in items:
        if "recordings" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs_data)


@pytest.fixture(scope="session")
def recordings() -> Recordings:
    """The folder of the recordings; skips where it is absent.

    A MEMSIM_RECORDED that points nowhere is a mistake and fails instead.
    """
    if RECORDED.is_dir():
        return Recordings(RECORDED, BESIDE)
    if RECORDED_SET:
        pytest.fail(f"MEMSIM_RECORDED is not a folder: {RECORDED}")
    pytest.skip(RECORDED_MISSING)


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Iterator[Comparison]:
    """Compares fields with the recorded ones, counts them, and fails where one differs."""
    comparison = Comparison()
    yield comparison
    for file, (equal, all_of_it) in sorted(comparison.counts.items()):
        request.node.user_properties.append((COUNTED, (file, equal, all_of_it)))
    assert not comparison.differences, comparison.told()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tells how many of the recorded fields were reproduced, by file."""
    counts: dict[str, tuple[int, int]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "teardown":
                continue
            for name, value in report.user_properties:
                if name == COUNTED:
                    equal, all_of_it = counts.get(value[0], (0, 0))
                    counts[value[0]] = (equal + value[1], all_of_it + value[2])
    for file, (equal, all_of_it) in sorted(counts.items()):
        terminalreporter.write_line(f"recorded {file}: {equal} of {all_of_it} fields reproduced")
