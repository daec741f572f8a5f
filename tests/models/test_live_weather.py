"""Whole cases over HTTP with a provider that fails at their first, middle and last call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memsim.models import Prompt
from memsim.models.live.litellm_client import LiteLLM
from memsim.models.live.model import LiveModel
from memsim.suite.cases import CaseOutcome
from memsim.suite.play import run_case
from tests.doubles.fake_provider import FAULTS, Fault, Provider, no_fault, providing, words
from tests.doubles.fake_provider import faults as in_turn
from tests.models.asking import QUESTION, REF, kitchen

CALLS = 5
"""That the case makes: three summaries and two answers."""

PASSING: tuple[Fault | None, ...] = (
    *("429", "429-after", None, "500", "502", "503", None),
    *("529", "silent", "broken-off", None, "reset", "garbage", None),
    *("not-json", "no-choices", "slow", None),
)
"""Each of them once, and each call answered in the end."""

POOR: dict[Fault, str] = {
    "empty": "the summary is empty",
    "blank": "the summary is empty",
    "refusal": "the model refused",
    "cut-off": "the summary was cut off",
    "longer": "the summary has 4001 tokens",
}
FINAL: dict[Fault, str] = {
    "length": "used up its 58 tokens without a word",
    "filter": "The response was filtered",
    "filtered-answer": "withheld its answer",
    "overflow": "maximum context length",
    "tool-call": "called a tool instead of answering in words",
    "wrong-tool-ids": "called a tool instead of answering in words",
    "unauthorised": "no such key",
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """The provider, where litellm looks for OpenAI's; nobody waits for it in vain, or for long."""
    with pytest.MonkeyPatch.context() as patch, providing(patience=1.0) as made:
        patch.setenv("OPENAI_API_KEY", "none-that-opens-anything")
        patch.setenv("OPENAI_BASE_URL", made.url)
        patch.setattr("memsim.models.live.retry.time", SimpleNamespace(sleep=lambda _: None))
        patch.setattr("memsim.models.provider_models._provider", lambda _: LiteLLM(timeout=0.5))
        yield made


@dataclass(frozen=True)
class Day:
    """A case as it was played on one day.

    Attributes:
        records: what a run keeps of it.
        kept: what was recorded of it.
    """

    outcome: CaseOutcome
    records: tuple[bytes, bytes]
    kept: dict[str, bytes]


@pytest.fixture(scope="module")
def calm(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Day:
    """What the case comes to where nothing is wrong."""
    return play(provider, tmp_path_factory.mktemp("calm"))


def play(provider: Provider, folder: Path, *faults: Fault | None) -> Day:
    """Play the case on a day with these faults, one a request."""
    provider.asked.clear()
    provider.fault = in_turn(*faults)
    outcome = run_case(kitchen(folder, "new"))
    kept = {p.name: p.read_bytes() for p in (folder / "cassettes").rglob("[!.]*.jsonl")}
    return Day(outcome, records(outcome), kept)


def records(outcome: CaseOutcome) -> tuple[bytes, bytes]:
    """What a run keeps of a case, but for how long it took."""
    return outcome.turn_lines, outcome.probe_lines


def compactions(outcome: CaseOutcome) -> list[dict[str, Any]]:
    """Every attempt to summarise, as the records tell it."""
    turns = map(json.loads, outcome.turn_lines.splitlines())
    events = [event for turn in turns for event in turn.get("events", ())]
    return [event for event in events if event["kind"].startswith("compaction")]


def test_every_fault_is_tried() -> None:
    """None of them is left to chance."""
    assert set(FAULTS) == {*filter(None, PASSING), *POOR, *FINAL}


def test_any_weather_ends_in_the_records_of_a_calm_day(
    provider: Provider, tmp_path: Path, calm: Day
) -> None:
    """Every fault that passes, one after the other in one case: the same bytes, and recordings."""
    wild = play(provider, tmp_path, *PASSING)

    assert "scored" == wild.outcome.result.state
    assert (calm.records, calm.kept) == (wild.records, wild.kept)
    assert CALLS == wild.outcome.spent.asked
    assert len(PASSING) - 1 == len(provider.asked)


@pytest.mark.parametrize(("fault", "said"), POOR.items())
def test_a_poor_summary_is_refused_and_nothing_is_lost(
    provider: Provider, tmp_path: Path, fault: Fault, said: str
) -> None:
    """What it was to cover stays, and is covered by the next; the case is measured."""
    outcome = play(provider, tmp_path, fault).outcome
    first, second, *_ = compactions(outcome)

    assert ("scored", CALLS) == (outcome.result.state, outcome.spent.asked)
    assert ("compaction-refused", said) == (first["kind"], first["detail"][: len(said)])
    assert "compaction" == second["kind"]
    assert set(first["sources"]) < set(second["sources"])


@pytest.mark.parametrize(("fault", "said"), FINAL.items())
def test_what_never_helps_leaves_a_case_unmeasured(
    provider: Provider, tmp_path: Path, fault: Fault, said: str
) -> None:
    """Asked once, told in one line; what was paid for is on the bill."""
    outcome = play(provider, tmp_path, fault).outcome

    assert "error" == outcome.result.state
    assert said in outcome.result.error
    assert 1 == len(provider.asked)
    answered = fault not in {"filter", "overflow", "unauthorised"}
    assert answered == outcome.spent.asked


@pytest.mark.parametrize("place", [0, CALLS // 2, CALLS - 1])
def test_an_outage_loses_nothing_wherever_it_begins(
    provider: Provider, tmp_path: Path, calm: Day, place: int
) -> None:
    """The case counts as not measured; played again, it pays only for what it was not answered."""
    outage: list[Fault | None] = ["429"] * 99
    outcome = play(provider, tmp_path, *[None] * place, *outage).outcome
    asked = len(provider.asked)
    again = play(provider, tmp_path)

    assert ("error", place) == (outcome.result.state, outcome.spent.asked)
    assert "was asked 7 times and never answered" in outcome.result.error
    assert 1 <= len(outcome.spent.failed) <= 2
    assert asked <= place + 7 * 2
    assert (calm.records, calm.kept) == (again.records, again.kept)
    assert (CALLS - place, place) == (again.outcome.spent.asked, again.outcome.spent.replayed)


def test_another_answer_each_time_is_asked_for_once(provider: Provider, tmp_path: Path) -> None:
    """Also after attempts that failed: records and recordings agree on the one that came."""
    number = count()
    provider.answer = lambda _: f"Answer number {next(number)} is in the cupboard."
    live = play(provider, tmp_path, "503", None, "429", None)
    replayed = run_case(kitchen(tmp_path, "none"))
    provider.answer = words

    assert CALLS == next(number)
    assert live.records == records(replayed)
    assert (0, CALLS) == (replayed.spent.asked, replayed.spent.replayed)
    assert "scored" == live.outcome.result.state


def test_a_strategys_prompt_reaches_the_provider(provider: Provider) -> None:
    """Over HTTP, word for word, and with the length that the strategy wants."""
    prompt = Prompt(system="Use five rules.", user="Sum up:\n{messages}", cut=True)
    request = replace(QUESTION, task="summarise", max_tokens=400, prompt=prompt)
    provider.fault = no_fault
    LiveModel(REF, LiteLLM(timeout=5)).complete(request)
    sent = provider.asked[-1]

    assert [
        {"role": "system", "content": "Use five rules."},
        {"role": "user", "content": "Sum up:\nuser: My kettle is in the cupboard."},
    ] == sent["messages"]
    assert 400 == sent["max_tokens"]
