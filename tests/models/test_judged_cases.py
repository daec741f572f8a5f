"""Cases with a live judge: the same bytes however they are played, and what its failing costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from memsim.errors import ModelError, RefError
from memsim.executors import InProcess, ProcessPool
from memsim.message import TokenCounter, load_tokenizer
from memsim.models import Request
from memsim.models.live import Call, FilterError, Outage, ProviderAnswer, TransientError
from memsim.models.live.task_prompts import JUDGE
from memsim.models.model_ref import read_judge
from memsim.models.offline.judge import judge
from memsim.suite.cases import UNTRIED, CaseOutcome, CaseSpec
from memsim.suite.judgement import calibrate
from memsim.suite.play import run_case
from memsim.suite.single import run
from tests.doubles.fake_provider import Body, faults, providing
from tests.models.asking import REF, Stub, kitchen, play_stubbed, told
from tests.models.judging import Bench, sound

COUNTER = TokenCounter(load_tokenizer("o200k_base"))
JUDGED = "openai/gpt-4o-mini:price=1/2"


def judging(call: Call, number: int) -> ProviderAnswer:
    """A sound judge, and whoever else is asked."""
    if call.task != "judge":
        return told(call, number)
    return ProviderAnswer(text=sound(call), input=60, output=8, cost=0.00001)


def play(spec: CaseSpec) -> CaseOutcome:
    """Play a case with nobody real to ask; for processes as well."""
    return play_stubbed(spec, Stub(judging))


def believed(folder: Path, mode: str, repeat: int = 0) -> CaseSpec:
    """A case with a live model and a live judge, which somebody tried."""
    spec = kitchen(folder, mode, repeat)  # type: ignore[arg-type]
    return replace(spec, judge=JUDGED, unfit="")


def records(outcome: CaseOutcome) -> tuple[bytes, bytes, str]:
    """What a run keeps of a case, but for how long it took."""
    return outcome.turn_lines, outcome.probe_lines, outcome.result.unjudged


def kept(folder: Path) -> dict[str, bytes]:
    """Every recording that would be committed."""
    files = (p for p in (folder / "cassettes").rglob("*.jsonl") if p.name[0] != ".")
    return {f"{p.parent.parent.name}/{p.name}": p.read_bytes() for p in files}


def test_two_processes_make_the_same_bytes_as_one(tmp_path: Path) -> None:
    """Records and recordings; and replaying them asks nobody."""
    made = []
    for name, executor in (("one", InProcess()), ("two", ProcessPool(2))):
        folder = tmp_path / name
        folder.mkdir()
        specs = [believed(folder, "new", repeat) for repeat in range(2)]
        played = sorted(executor.run(specs, play), key=lambda pair: pair[0])
        made.append(([records(outcome) for _, outcome in played], kept(folder)))
    nobody = Stub(lambda *_: Outage("nobody is asked"))
    replayed = play_stubbed(believed(tmp_path / "one", "none"), nobody)

    assert made[0] == made[1]
    assert made[0][0][0] == records(replayed)
    assert {"openai-gpt-4o-mini", "judge-openai-gpt-4o-mini-price-1-2"} == {
        name.partition("/")[0] for name in made[0][1]
    }
    line = json.loads(replayed.probe_lines.splitlines()[0])
    assert 3 == len(line["judge"]) == sum(call["phase"] == "judge" for call in line["calls"])
    assert 6 == replayed.result.metrics["calls_judge"]


def test_each_draw_is_asked_for_and_recorded(tmp_path: Path) -> None:
    """Three opinions of one provider on one answer may differ, now and in the replay."""
    verdicts = ['{"verdict": "right"}', '{"verdict": "wrong"}', "Hm."]

    def wavering(call: Call, number: int) -> ProviderAnswer:
        return (
            replace(told(call, number), text=verdicts[call.draw])
            if judged(call)
            else told(call, number)
        )

    def judged(call: Call) -> bool:
        return call.task == "judge"

    live = play_stubbed(believed(tmp_path, "new"), Stub(wavering))
    again = play_stubbed(believed(tmp_path, "none"), Stub(lambda *_: Outage("nobody")))
    line = json.loads(live.probe_lines.splitlines()[0])

    assert ["right", "wrong", "unread"] == line["judge"]
    assert (None, 2) == (line["scores"]["judged"], live.result.counts["unjudged"])
    assert (1.0, 1.0) == (live.result.metrics["judge_flips"], live.result.metrics["judge_unread"])
    assert records(live) == records(again)


def test_a_judge_that_nobody_tried_is_not_asked(tmp_path: Path) -> None:
    """Whoever plays a case has to say that its judge is fit."""
    stub = Stub(judging)
    spec = replace(kitchen(tmp_path, "new"), judge=JUDGED)
    outcome = play_stubbed(spec, stub)

    assert f"not judged: {UNTRIED}" == outcome.result.unjudged
    assert "scored" == outcome.result.state
    assert [] == [call for call in stub.asked if call.task == "judge"]
    assert b'"judge":[]' in outcome.probe_lines


@pytest.mark.parametrize("error", [Outage("nobody is there"), TransientError("busy", after=3600)])
def test_a_judge_that_never_answers_leaves_the_rules_alone(
    tmp_path: Path, error: ModelError
) -> None:
    """The case is measured, and not judged."""
    stub = Stub(lambda call, n: error if call.task == "judge" else told(call, n))
    outcome = play_stubbed(believed(tmp_path, "new"), stub)

    assert ("scored", 0) == (outcome.result.state, outcome.result.counts["errors"])
    assert outcome.result.metrics["recall"] is not None
    assert outcome.result.unjudged.startswith("not judged: ")
    assert outcome.result.metrics["judged"] is None


def test_what_a_filter_holds_back_is_an_opinion_that_cannot_be_read(tmp_path: Path) -> None:
    """And is recorded as such."""
    stub = Stub(lambda call, n: FilterError("improper") if call.task == "judge" else told(call, n))
    live = play_stubbed(believed(tmp_path, "new"), stub)
    again = play_stubbed(believed(tmp_path, "none"), Stub(lambda *_: Outage("nobody")))

    assert b'"judge":["unread","unread","unread"]' in live.probe_lines
    assert ("", 2) == (live.result.unjudged, live.result.counts["unjudged"])
    assert records(live) == records(again)


def test_a_judge_is_tried_on_its_own_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which are a scenario's, whatever strategies are played; what is missing is told."""
    bench = Bench()
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: bench)
    missing = calibrate([believed(tmp_path, "none")], COUNTER)
    found = calibrate([believed(tmp_path, "new")], COUNTER)
    other = calibrate([replace(believed(tmp_path, "none"), budget=99)], COUNTER)

    assert missing is not None
    assert "it could not be tried: the judge call" in missing.trial.unfit
    assert not missing.record()["asked"]
    assert found is not None
    assert ("", 54, 54) == (found.trial.unfit, len(bench.asked), found.spent.asked)
    assert other is not None
    assert found.record() == other.record()
    assert (0, 54) == (other.spent.asked, other.spent.replayed)
    assert all(ballot.verdict is not None for ballot in found.ballots)


def test_a_case_in_python_has_a_judge_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried on the case's own scenario."""
    monkeypatch.chdir(tmp_path)
    kitchen(tmp_path, "none")
    report = run("kitchen.yaml", "full_context", judge="offline")
    plain = run("kitchen.yaml", "full_context")

    assert 1.0 == report.judged == report.recall
    assert "" == report.judge["unfit"]
    assert {} == plain.judge
    with pytest.raises(Exception, match="no judge was asked"):
        _ = plain.judged


def test_a_storm_over_the_judge_ends_in_the_records_of_a_calm_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through litellm, at a provider on this machine."""
    monkeypatch.setenv("OPENAI_API_KEY", "none-that-opens-anything")
    monkeypatch.setattr("memsim.models.live.retry.time", SimpleNamespace(sleep=lambda _: None))
    made = []
    with providing(provided) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        for name, fault in (("calm", faults()), ("storm", faults("429", None, "503", "not-json"))):
            (folder := tmp_path / name).mkdir()
            provider.asked.clear()
            provider.fault = fault
            spec = replace(believed(folder, "new"), model="offline", judge=REF.label)
            made.append((records(run_case(spec)), kept(folder), len(provider.asked)))

    assert made[0][:2] == made[1][:2]
    assert (6, 9) == (made[0][2], made[1][2])
    assert b'"judge":["wrong","wrong","wrong"]' in made[0][0][1]


def provided(body: Body) -> str:
    """A sound judge behind a protocol."""
    assert body["messages"][0]["content"] == JUDGE
    told = json.loads(body["messages"][1]["content"])
    return judge(Request(task="judge", expected="\n".join(told["expected"]), given=told["answer"]))


def test_draws_and_parameters_name_a_judge_in_any_order() -> None:
    """What is as usual is not said; what it is called is what it is read from."""
    found = read_judge("a/b:draws=5,temperature=0.7")

    assert (5, "a/b:temperature=0.7") == (found.draws, found.name)
    assert found == read_judge(found.label) == read_judge("a/b:temperature=0.7,draws=5")
    assert "ollama/llama3:8b" == read_judge("ollama/llama3:8b:draws=3").label
    with pytest.raises(RefError, match="draws must be an odd whole number"):
        read_judge("a/b:draws=5,draws=5")
