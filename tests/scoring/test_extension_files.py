"""Extension by one file: a metric and a probe type are found by their files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memsim
from memsim.scoring.probe_types import needs_every

METRIC = '''"""Number of probes."""

from memsim.scoring.metric import amount, measured

METRICS = {"probes_asked": amount("probes that were asked", "count", "higher")}


def measure(records):
    return {"probes_asked": measured(len(records.probes), 1)}
'''
USE_METRIC = """
from memsim.scoring.metrics import METRICS, summarise
measures = summarise([], [])
assert list(measures) == list(METRICS)
name = list(measures)[-1]
print(name, METRICS[name], measures[name].value)
"""

PROBE_TYPE = '''"""Compare the beginning of an answer."""

from memsim.scoring.answer_match import AnswerMatch


def match(_probe, expected, answer):
    right = answer.startswith(expected)
    return AnswerMatch(right=right, share=float(right))
'''
USE_PROBE_TYPE = """
from memsim.scenario import MATCHES, load_scenario
from memsim.scoring.answer_score import judge_answer
[probe] = load_scenario("mine.yaml").probes
print(MATCHES[-1], probe.match, *(judge_answer(probe, a).outcome for a in ("A-17.", "It is A-17.")))
"""
SCENARIO = """memsim: 1
name: mine
turns:
  - user: My order is A-17.
    facts: {order: A-17}
  - assistant: Noted.
probes:
  order:
    ask: What is my order?
    expect: A-17
    match: prefix
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of memsim to which a file can be added."""
    source = Path(memsim.__file__).parent
    copied = tmp_path / "memsim"
    shutil.copytree(source, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def run(package: Path, code: str) -> str:
    """What a program prints that imports the copy."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout.strip()


def test_a_metric_needs_one_new_file(package: Path) -> None:
    """It is in the catalogue, and is measured after the others."""
    (package / "scoring" / "metrics" / "probes_asked.py").write_text(METRIC, "utf-8")

    found = run(package, USE_METRIC)

    assert found == "probes_asked probes that were asked (count, higher is better) 0"


def test_a_probe_type_needs_one_new_file(package: Path) -> None:
    """A scenario may name it, and answers are compared by it."""
    (package / "scoring" / "probe_types" / "match_prefix.py").write_text(PROBE_TYPE, "utf-8")
    (package.parent / "mine.yaml").write_text(SCENARIO, "utf-8")

    assert run(package, USE_PROBE_TYPE) == "prefix prefix PASS MISS"


def test_a_record_may_name_a_type_that_is_not_known() -> None:
    """A report shows the record of a stranger, and imports nothing that it names."""
    assert needs_every("all")
    assert not needs_every("any")
    assert not needs_every("prefix<style>")
