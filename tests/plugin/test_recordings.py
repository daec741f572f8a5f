"""`--memsim-record`: a live model in a pytest session is asked only where that is asked for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from memsim.models.live import Answer, Call
from tests.models.asking import SCENARIO, Stub

PYPROJECT = """\
[tool.memsim]
model = "openai/gpt-4o-mini"
strategies = ["sliding_window"]
max_cost = 1
"""


@pytest.fixture
def stub(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A project with one scenario, and who is asked in it."""
    pytester.makefile(".toml", pyproject=PYPROJECT)
    Path("scenarios").mkdir()
    Path("scenarios/kitchen.yaml").write_text(SCENARIO, encoding="utf-8")

    def answer(call: Call, _number: int) -> Answer:
        return Answer(text="copper" if "pan" in call.messages[-1].text else "the cupboard")

    Path("tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(Path("tmp").resolve()))
    asked = Stub(answer)
    monkeypatch.setattr("memsim.models.opening._provider", lambda _: asked)
    monkeypatch.setattr("memsim.models.live.access.check_keys", lambda _: None)
    return asked


def test_a_session_replays_what_another_recorded(stub: Stub, pytester: pytest.Pytester) -> None:
    """What is missing is an error of the case, and says how it is recorded."""
    play = partial(pytester.runpytest_inprocess, "-p", "memsim.pytest_plugin")

    missing = play()
    recorded = play("--memsim-record", "new")
    calls = len(stub.asked)
    replayed = play("--memsim-record", "none")

    missing.assert_outcomes(errors=1)
    missing.stdout.fnmatch_lines(["*is not recorded: there is no cassettes/*"])
    recorded.assert_outcomes(passed=1)
    replayed.assert_outcomes(passed=1)
    assert 2 == calls == len(stub.asked)
    assert 1 == len([*Path("cassettes").rglob("*.jsonl")])
    assert [] == [*Path("tmp").iterdir()]
