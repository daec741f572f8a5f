"""`--memsim-record`: a live model in a pytest session is asked only where that is asked for."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from memsim.errors import ModelError
from memsim.models.live import Call, ProviderAnswer
from tests.models.asking import SCENARIO, Stub
from tests.models.judging import sound

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

    def answer(call: Call, _number: int) -> ProviderAnswer:
        return ProviderAnswer(text="copper" if "pan" in call.messages[-1].text else "the cupboard")

    Path("tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(Path("tmp").resolve()))
    asked = Stub(answer)
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: asked)
    monkeypatch.setattr("memsim.models.live.litellm_client.check_keys", lambda _: None)
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


def test_a_session_tries_its_judge_once(stub: Stub, pytester: pytest.Pytester) -> None:
    """Before the first case that has one; below the floor it is an error of every case."""
    play = partial(pytester.runpytest_inprocess, "-p", "memsim.pytest_plugin")
    judge = ("--memsim-judge", "openai/gpt-4o-mini:draws=1")
    reader = stub.answer

    def answer(call: Call, number: int) -> ProviderAnswer | ModelError:
        return ProviderAnswer(text=sound(call)) if call.task == "judge" else reader(call, number)

    stub.answer = answer
    recorded = play(*judge, "--memsim-record", "new", "--memsim-report", "kept")
    calls = len(stub.asked)
    replayed = play(*judge)
    unread = play("--memsim-judge", "openai/other:draws=1")
    told = json.loads(Path("kept/run.json").read_text(encoding="utf-8"))["judge"]
    wrong = play("--memsim-judge", "nonsense")

    recorded.assert_outcomes(passed=1)
    replayed.assert_outcomes(passed=1)
    assert 2 + 2 + 18 == calls == len(stub.asked)
    assert ("", 18) == (told["unfit"], len(told["answers"]))
    unread.assert_outcomes(errors=1)
    unread.stdout.fnmatch_lines(["*not judged: it could not be tried: *is not recorded*"])
    wrong.stderr.fnmatch_lines(["*judge: no model is called 'nonsense'*"])
