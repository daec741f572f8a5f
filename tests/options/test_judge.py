"""`--judge`: a second opinion on answers, from somebody who was tried on known ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from memsim.errors import RunFolderError
from memsim.models.live.task_prompts import JUDGE, JUDGE_VERSION
from memsim.report.html.method import method
from memsim.report.html.page_content import PageContent
from memsim.report.run_markdown import markdown
from memsim.report.summarise import summarise
from memsim.runs import Run as Saved
from tests.models.judging import (
    Bench,
    Judging,
    babbler,
    coin,
    vague_lover,
    yes_man,
)

Run = Callable[..., Result]
LIVE = "openai/gpt-4o-mini"
ONE = ("-s", "sliding_window", "-k", "sliding_window", "--no-report", "--progress", "none")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Who is asked."""
    asked = Bench()
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: asked)
    monkeypatch.setattr("memsim.models.live.litellm_client.check_keys", lambda _: None)
    return asked


def records(saved: Saved) -> list[bytes]:
    """What a run keeps of its probes and turns, but for how long it took."""
    return [(saved.folder / f"{name}.jsonl").read_bytes() for name in ("probes", "turns")]


def trial(saved: Saved) -> dict[str, Any]:
    """What `run.json` says of the judge."""
    told = saved.info["judge"]
    assert isinstance(told, dict)
    return told


def method_of(saved: Saved) -> str:
    """The section of the page that says how it was measured."""
    return method(PageContent(run=saved, summary=summarise(saved)))


# -- by rule


def test_the_offline_judge_is_tried_and_shown_beside_the_rules(
    run: Run, saved: Callable[[], Saved]
) -> None:
    """It costs nothing; the score by rule stays what it is without it."""
    plain = run(*ONE, "--format", "jsonl")
    result = run(*ONE, "--judge", "offline")
    case = saved().cases[0]
    told = trial(saved())

    assert 0 == result.exit_code
    assert "known answers (floor .80): 6 of 6 right answers known" in result.stdout
    assert "agrees with the rules on" in result.stdout
    assert case.metrics["recall"] == json.loads(plain.stdout)["metrics"]["recall"]
    assert "judged" not in json.loads(plain.stdout)["metrics"]
    assert case.metrics["judged"] is not None
    assert (0.0, 0.0) == (case.metrics["judge_flips"], case.metrics["judge_unread"])
    judged = sum("judge" in line for line in saved().probes())
    assert 3 * judged == case.metrics["calls_judge"]
    assert ("offline", 3, True, "") == (told["judge"], told["draws"], told["asked"], told["unfit"])
    assert 18 == len(told["answers"])
    assert "rules and offline, majority of 3" in method_of(saved())
    assert "<dt>Known answers (floor .80)</dt>" in method_of(saved())
    assert "## Judge" in markdown(summarise(saved()))


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("nonsense", "judge: no model is called 'nonsense'"),
        ("offlin", "(did you mean 'offline'?)"),
        ("offline:draws=2", "draws must be an odd whole number from 1 to 99"),
        ("openai/gpt-4o-mini:draws=", "draws must be an odd whole number"),
        ("offline:miss=0.1", "the offline judge misses nothing"),
        ("openai/", "must be written as provider/model"),
    ],
)
def test_what_is_no_judge_is_refused_in_one_line(run: Run, ref: str, said: str) -> None:
    """Before anything is written."""
    result = run("--judge", ref)

    assert 4 == result.exit_code
    assert said in result.stderr
    assert 1 == len(result.stderr.splitlines())


def test_the_variable_and_the_key_name_one_too(
    run: Run, project: Path, saved: Callable[[], Saved], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the flag; `none` is none."""
    pyproject = project / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    pyproject.write_text(text.replace("[tool.memsim]", '[tool.memsim]\njudge = "offline:draws=1"'))
    run(*ONE)
    by_key = trial(saved())["draws"]
    monkeypatch.setenv("MEMSIM_JUDGE", "offline:draws=5")
    run(*ONE)
    by_variable = trial(saved())["draws"]
    run(*ONE, "--judge", "none")

    assert (1, 5) == (by_key, by_variable)
    assert "judge" not in saved().info


@pytest.mark.parametrize(
    "told", [[], "offline", {}, {"judge": "offline", "draws": "many"}, {"known": {"right": 3}}]
)
def test_what_is_no_trial_of_a_judge_is_refused_in_one_line(
    run: Run, saved: Callable[[], Saved], told: object
) -> None:
    """A run that somebody changed by hand is shown by nobody."""
    run(*ONE, "--judge", "offline:draws=1")
    path = saved().folder / "run.json"
    info = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(info | {"judge": told}), encoding="utf-8")

    with pytest.raises(
        RunFolderError, match=r"run\.json: is damaged: (what it says of the )?judge\b"
    ):
        summarise(saved())


# -- by a model


def test_a_live_judge_is_priced_recorded_and_replayed(
    run: Run, bench: Bench, project: Path, saved: Callable[[], Saved]
) -> None:
    """Its model may be another than the reader's; replaying it gives the same bytes."""
    dry = run(*ONE, "--judge", LIVE, "--dry-run")
    nothing = len(bench.asked)
    missing = run(*ONE, "--judge", LIVE)
    unmeasured = saved()
    recorded = run(*ONE, "--judge", LIVE, "--record", "new", "--max-cost", "1")
    first, asked = saved(), len(bench.asked)
    replayed = run(*ONE, "--judge", LIVE)

    assert (0, 7, 0, 0) == tuple(r.exit_code for r in (dry, missing, recorded, replayed))
    assert f"{asked:,} of openai/gpt-4o-mini, recorded or not" in dry.stdout
    assert 0 == nothing
    assert "the judge is not believed: it could not be tried" in missing.stdout
    assert unmeasured.cases[0].metrics["recall"] == first.cases[0].metrics["recall"]
    assert f"{asked} calls asked for ${asked * 0.00002:.4f}" in recorded.stderr
    assert f"{asked} replayed" in replayed.stderr
    assert asked == len(bench.asked)
    assert records(first) == records(saved())
    assert trial(first) == trial(saved())
    assert first.folder != saved().folder
    tapes = (project / "cassettes").glob("*")
    assert {".gitignore", "judge-openai-gpt-4o-mini"} == {p.name for p in tapes}
    told = trial(first)
    assert (JUDGE_VERSION, JUDGE) == (told["prompt"], told["instructions"])
    instruments = first.info["instruments"]
    assert isinstance(instruments, dict)
    assert f"prompt {JUDGE_VERSION}" in instruments["judge"]


@pytest.mark.parametrize(
    ("judging", "said"),
    [
        (yes_man, "it refused 0 of 6 wrong answers, refused 0 of 6 vague answers"),
        (vague_lover, "it refused 0 of 6 vague answers: the floor is 80%"),
        (coin, "the floor is 80%"),
        (babbler, "it knew 0 of 6 right answers (6 unread)"),
    ],
)
def test_a_judge_below_the_floor_makes_its_scores_unmeasured(
    run: Run, bench: Bench, saved: Callable[[], Saved], judging: Judging, said: str
) -> None:
    """Exit 7, however many errors are tolerated; it is not asked further, and the rules stand."""
    bench.judging = judging
    flags = ("--judge", LIVE, "--live", "--max-errors", "100")
    result = run(*ONE, *flags)
    case = saved().cases[0]

    assert (7, 54) == (result.exit_code, len(bench.asked))
    assert "unmeasured: the judge is not believed: it " in result.stdout
    assert said in result.stdout
    assert "1 unmeasured; the judge is not believed in " in result.stdout
    assert "UNJUDGED scenarios/first.yaml::first[sliding_window" in result.stdout
    assert (None, None) == (case.metrics["judged"], case.metrics["judge_agreement"])
    assert case.metrics["recall"] is not None
    assert case.unjudged.startswith("not judged: it ")
    assert "unmeasured: the judge is not believed" in method_of(saved())
    assert "unmeasured: the judge is not believed" in markdown(summarise(saved()))


def test_an_answer_without_a_verdict_is_counted_and_not_measured(
    run: Run, bench: Bench, saved: Callable[[], Saved]
) -> None:
    """A fit judge that babbles about some answers; so many may be tolerated as one says."""

    def partly(call: Any) -> str:  # noqa: ANN401 - a call
        known = "you told me" in call.messages[1].text or len(bench.asked) <= 54
        return Bench().judging(call) if known else babbler(call)

    bench.judging = partly
    strict = run(*ONE, "--judge", LIVE, "--live")
    case = saved().cases[0]
    bench.asked.clear()
    tolerant = run(*ONE, "--judge", LIVE, "--record", "new", "--max-errors", "100")

    assert 7 == strict.exit_code
    assert "answers without a verdict" in strict.stdout
    assert case.counts["unjudged"] == sum("judge" in line for line in saved().probes())
    assert (None, 1.0) == (case.metrics["judged"], case.metrics["judge_unread"])
    assert "" == case.unjudged
    assert 0 == tolerant.exit_code


def test_an_interrupted_run_pays_for_no_opinion_twice(
    run: Run,
    bench: Bench,
    saved: Callable[[], Saved],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Continued, it believes what it found when it began, and ends in the bytes of a calm one."""
    flags = ("-s", "sliding_window", "--judge", LIVE, "--no-report", "--record", "new", "-j", "1")
    calm = run(*flags, "--cassettes", "calm")
    whole, asked = saved(), len(bench.asked)
    bench.asked.clear()

    def interrupt(call: Any) -> str:  # noqa: ANN401 - a call
        if len(bench.asked) == asked - 5:
            raise KeyboardInterrupt
        return Bench().judging(call)

    bench.judging = interrupt
    stopped = run(*flags, "--cassettes", "stormy")
    bench.judging = Bench().judging
    monkeypatch.setattr("memsim.runs.judge_trial.calibrate", None)
    continued = run(*flags, "--cassettes", "stormy")

    assert (0, 2, 0) == (calm.exit_code, stopped.exit_code, continued.exit_code)
    assert records(whole) == records(saved())
    assert trial(whole) == trial(saved())
    assert asked <= len(bench.asked) <= asked + 8
    tapes = [
        {p.name: p.read_bytes() for p in (project / name).rglob("*.jsonl")}
        for name in ("calm", "stormy")
    ]
    assert tapes[0] == tapes[1]


def test_a_cap_holds_for_the_trial_as_well(run: Run, bench: Bench) -> None:
    """Exit 2 before a call that could pass it."""
    result = run(*ONE, "--judge", LIVE, "--record", "new", "--max-cost", "0.0005")

    assert 2 == result.exit_code
    assert len(bench.asked) * 0.00002 <= 0.0005
    assert "of $0.0005 are spent" in result.stderr


def test_a_bound_on_what_nobody_judged_is_not_kept(run: Run) -> None:
    """Neither without a judge nor below its floor; with one it is a bound like any other."""
    bound = ("--fail-under", "judged=1")

    assert 7 == run(*ONE, *bound).exit_code
    assert 1 == run(*ONE, "--judge", "offline", *bound).exit_code
    assert 0 == run(*ONE, "--judge", "offline", "--fail-under", "judged=0.01").exit_code


def test_another_judge_makes_a_baseline_stale(run: Run, saved: Callable[[], Saved]) -> None:
    """None, one by rule, and one with more draws are three judges."""
    told = []
    for flags in ((), ("--judge", "offline"), ("--judge", "offline:draws=5")):
        run(*ONE, *flags)
        instruments = saved().info["instruments"]
        assert isinstance(instruments, dict)
        told.append((instruments["judge"], saved().info["fingerprint"]))

    assert "rules" == told[0][0]
    assert 3 == len({judge for judge, _ in told})
    assert 3 == len({fingerprint for _, fingerprint in told})
