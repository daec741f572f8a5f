"""Whole cases with a live model: recorded, replayed, stormed upon, killed, priced, capped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from memsim.context import Context
from memsim.discovery.loader import resolve
from memsim.executors import InProcess, PlayCase, ProcessPool
from memsim.models.cassette.call_recorder import key_of
from memsim.models.live import Call, ProviderAnswer, RefusalError, TransientError
from memsim.models.live.task_prompts import compose
from memsim.strategy import Query, Strategy
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.suite.play import play_scenario, run_case
from tests.doubles.fake_provider import Fault, Provider, no_fault, providing
from tests.models.asking import QUESTION, REF, Stub, kitchen, play_and_die, play_stubbed, told

VECTOR = resolve("vector")


def records(outcome: CaseOutcome) -> tuple[bytes, bytes, str]:
    """What a run keeps of a case, but for how long it took."""
    return outcome.turn_lines, outcome.probe_lines, outcome.result.state


def kept(folder: Path) -> dict[str, bytes]:
    """Every file of the recordings that would be committed."""
    files = (p for p in (folder / "cassettes").rglob("*.jsonl") if p.name[0] != ".")
    return {p.name: p.read_bytes() for p in sorted(files)}


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """New folders, one after the other."""

    def made() -> Iterator[Path]:
        for n in range(9):
            folder = tmp_path / str(n)
            folder.mkdir()
            yield folder

    return made()


class Coping(Strategy):
    """Goes on without a model that fails, however it does."""

    def end_turn(self) -> None:
        """Ask, and take no answer for an answer."""
        with suppress(Exception):
            self.env.model.complete(QUESTION)

    def context(self, query: Query) -> Context:
        """Nothing at all."""
        return Context()


class Crashing(Coping):
    """Asks once, and breaks."""

    def end_turn(self) -> None:
        """As far as it comes."""
        super().end_turn()
        raise RuntimeError("a bug")


# -- recorded and replayed


def test_a_replay_has_the_records_of_the_day(tmp_path: Path) -> None:
    """Byte for byte, tokens and dollars included, and it asks nobody."""
    stub = Stub(told)
    live = play_stubbed(kitchen(tmp_path, "new"), stub)
    calls = len(stub.asked)
    replayed = play_stubbed(
        kitchen(tmp_path, "none"), Stub(lambda *_: RefusalError("nobody is asked"))
    )

    assert records(live) == records(replayed)
    assert "scored" == live.result.state
    assert b'"task":"summarise"' in live.turn_lines
    assert b'"cost":2.1e-05' in live.probe_lines
    assert (calls, 0) == (live.spent.asked, live.spent.replayed)
    assert 0 == replayed.spent.asked
    assert pytest.approx(0.000021 * calls) == live.spent.cost


def test_what_a_memory_has_extracted_is_paid_for(tmp_path: Path) -> None:
    """The tokens and dollars of its facts stand with the turn, beside those of any other call."""
    stub = Stub(told)
    spec = replace(kitchen(tmp_path, "new"), strategy=resolve("layered:window=1"))
    outcome = play_stubbed(spec, stub)
    turns = map(json.loads, outcome.turn_lines.splitlines())
    paid = [call for turn in turns for call in turn["calls"] if call["task"] == "extract"]

    assert "scored" == outcome.result.state
    assert paid
    assert len(paid) == sum(call.task == "extract" for call in stub.asked)
    assert {(100, 10, 0.000021)} == {(c["input"], c["output"], c["cost"]) for c in paid}


def test_a_miss_is_an_error_of_the_case_whoever_would_have_coped(tmp_path: Path) -> None:
    """A memory that goes on without its summary would be scored as if that were its doing."""
    outcome = play_stubbed(kitchen(tmp_path, "none"))

    assert ("error", 2) == (outcome.result.state, outcome.result.counts["errors"])
    assert "is not recorded: there is no cassettes/openai-gpt-4o-mini/" in outcome.result.error


def test_no_memory_gets_to_see_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that goes on whatever is raised."""
    recording, replaying = kitchen(tmp_path, "new"), kitchen(tmp_path, "none")
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: Stub(told))
    play_scenario(recording.scenario.load(), recording, Coping)
    (path,) = (tmp_path / "cassettes").rglob("*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    own = f'"call":"{key_of(compose(QUESTION, REF))}"'
    path.write_text("".join(line for line in lines if own not in line), encoding="utf-8")

    outcome = play_scenario(replaying.scenario.load(), replaying, Coping)

    assert ("error", b"") == (outcome.result.state, outcome.probe_lines)
    assert "is not recorded" in outcome.result.error


def test_a_case_that_breaks_rewrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it still would have asked stays recorded; what it did ask is not paid for again."""
    stub = Stub(told)
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: stub)
    recording, rewriting = kitchen(tmp_path, "new"), kitchen(tmp_path, "rewrite")
    play_scenario(recording.scenario.load(), recording, Coping)
    before = kept(tmp_path)
    stub.asked.clear()

    broken = play_scenario(rewriting.scenario.load(), rewriting, Crashing)

    assert ("error", before) == (broken.result.state, kept(tmp_path))
    play_scenario(rewriting.scenario.load(), rewriting, Coping)
    assert (3, before) == (len(stub.asked), kept(tmp_path))


def played(specs: list[CaseSpec], play: PlayCase, jobs: int) -> list[CaseOutcome]:
    """The outcomes in the order of the cases."""
    executor = InProcess() if jobs == 1 else ProcessPool(jobs)
    return [outcome for _, outcome in sorted(executor.run(specs, play), key=lambda o: o[0])]


def test_recordings_do_not_depend_on_how_many_processes_make_them(folders: Iterator[Path]) -> None:
    """Nor on which repeat is over first: they lie in one file."""
    one, two = next(folders), next(folders)
    alone = played([kitchen(one, "new", repeat=n) for n in range(3)], play_stubbed, 1)
    together = played([kitchen(two, "new", repeat=n) for n in (2, 0, 1)], play_stubbed, 2)

    assert kept(one) == kept(two)
    assert 1 == len(kept(one))
    assert sorted(map(records, alone)) == sorted(map(records, together))


def test_a_killed_case_pays_for_no_call_twice(folders: Iterator[Path]) -> None:
    """What was answered before it died is there when it is played again."""
    calm, killed = next(folders), next(folders)
    usual, again = Stub(told), Stub(told)
    whole = play_stubbed(kitchen(calm, "new"), usual)
    (lost,) = played([kitchen(killed, "new")], play_and_die, 2)

    resumed = play_stubbed(kitchen(killed, "new"), again)

    assert "lost" == lost.result.state
    assert len(usual.asked) - 2 == len(again.asked)
    assert records(whole) == records(resumed)
    assert kept(calm) == kept(killed)


def test_a_live_embedder_needs_no_live_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is recorded and replayed by the same flags, and each text is paid for once."""
    asked: list[str] = []

    def reply(_embedder: object, texts: list[str]) -> SimpleNamespace:
        asked.extend(texts)
        data = [{"embedding": [float(ord(t[0])), float(len(t)), 1.0]} for t in texts]
        return SimpleNamespace(data=data, usage=SimpleNamespace(prompt_tokens=len(texts)))

    monkeypatch.setattr("memsim.models.live.provider_embedder.LiteLLMEmbedder._reply", reply)
    embedder = "litellm/openai/text-embedding-3-small"
    new = replace(kitchen(tmp_path, "new"), model="offline", embedder=embedder, strategy=VECTOR)
    none = replace(new, access=replace(new.access, mode="none"))
    missing = run_case(none)
    live, again, replayed = run_case(new), run_case(new), run_case(none)

    assert "error" == missing.result.state
    assert "is not recorded: there is no cassettes/embedders/" in missing.result.error
    assert "scored" == live.result.state
    assert records(live) == records(again) == records(replayed)
    assert len(asked) == len(set(asked)) > 2
    assert 0 < live.spent.cost
    assert (0, 0) == (again.spent.asked, replayed.spent.asked)
    assert ["vectors.jsonl"] == [*kept(tmp_path)]


# -- weather


def storm(call: Call, number: int) -> ProviderAnswer | TransientError:
    """Two of three attempts fail."""
    return told(call, number) if number % 3 == 2 else TransientError("busy", after=number % 5)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits, none of which is real."""
    waits: list[float] = []
    monkeypatch.setattr("memsim.models.live.retry.time", SimpleNamespace(sleep=waits.append))
    return waits


def test_a_storm_ends_in_the_records_of_a_calm_day(
    folders: Iterator[Path], clock: list[float]
) -> None:
    """And in its recordings; only the clock has moved."""
    calm, stormy = next(folders), next(folders)
    fine = play_stubbed(kitchen(calm, "new"))
    assert [] == clock

    wild = play_stubbed(kitchen(stormy, "new"), Stub(storm))

    assert records(fine) == records(wild)
    assert kept(calm) == kept(stormy)
    assert fine.spent == wild.spent
    assert 2 * fine.spent.asked == len(clock)


@pytest.mark.parametrize(("task", "files"), [("summarise", 0), ("answer", 1)])
def test_an_outage_leaves_a_case_unmeasured(
    tmp_path: Path, clock: list[float], task: str, files: int
) -> None:
    """What was answered is kept all the same."""
    stub = Stub(
        lambda call, number: TransientError("busy") if call.task == task else told(call, number)
    )
    outcome = play_stubbed(kitchen(tmp_path, "new"), stub)

    assert "error" == outcome.result.state
    assert "openai/gpt-4o-mini was asked 7 times and never answered: busy" in outcome.result.error
    assert outcome.spent.failed
    assert files == len(kept(tmp_path))


def test_coping_with_an_outage_does_not_make_a_score_of_it(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records tell what happened; the case counts as not measured."""
    asked = compose(QUESTION, REF)
    stub = Stub(lambda call, n: TransientError("busy") if call == asked else told(call, n))
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: stub)
    spec = kitchen(tmp_path, "live")

    outcome = play_scenario(spec.scenario.load(), spec, Coping)

    assert "error" == outcome.result.state
    assert outcome.result.error.startswith("6 of 8 model calls were never answered: openai/")
    assert 2 == len(outcome.probe_lines.splitlines())


def test_a_wrong_key_is_asked_for_once_a_call(tmp_path: Path, clock: list[float]) -> None:
    """It never helps to wait."""
    outcome = play_stubbed(kitchen(tmp_path, "new"), Stub(lambda *_: RefusalError("no such key")))

    assert "error" == outcome.result.state
    assert "no such key" in outcome.result.error
    assert [] == clock
    assert {} == kept(tmp_path)


# -- money


def test_the_cap_is_never_passed_and_nothing_is_lost(tmp_path: Path) -> None:
    """The case is given up before the call that could; continued, it pays only for the rest."""
    usual, first, second = Stub(told), Stub(told), Stub(told)
    (tmp_path / "calm").mkdir()
    whole = play_stubbed(kitchen(tmp_path / "calm", "new"), usual)
    ledger = tmp_path / "spent"

    stopped = play_stubbed(kitchen(tmp_path, "new", cap=0.0002, ledger=ledger), first)
    resumed = play_stubbed(kitchen(tmp_path, "new"), second)

    assert stopped.unpaid.startswith("$0.00")
    assert 0 < len(first.asked) < len(usual.asked)
    assert stopped.spent.cost <= 0.0002
    assert len(usual.asked) == len(first.asked) + len(second.asked)
    assert records(whole) == records(resumed)


def test_a_dry_run_counts_what_a_run_would_ask(tmp_path: Path) -> None:
    """Nobody is asked, nothing is written, and the price is a bound."""
    refusing = Stub(lambda *_: RefusalError("nobody is asked"))
    spec = kitchen(tmp_path, "new")
    dry = play_stubbed(replace(spec, access=replace(spec.access, dry=True)), refusing)
    live = play_stubbed(spec, Stub(told))

    assert [] == refusing.asked
    assert live.spent.asked == dry.spent.asked
    assert 100 < dry.spent.input
    assert dry.spent.input * 0.15e-6 < dry.spent.cost < 0.01


# -- over HTTP


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider on this machine, where litellm looks for OpenAI's."""
    with providing() as made:
        monkeypatch.setenv("OPENAI_API_KEY", "none-that-opens-anything")
        monkeypatch.setenv("OPENAI_BASE_URL", made.url)
        yield made


def test_a_storm_of_429_over_http_changes_no_record(
    folders: Iterator[Path], provider: Provider, clock: list[float]
) -> None:
    """Through litellm, as a real one would come."""
    calm, stormy = next(folders), next(folders)
    fine = run_case(kitchen(calm, "new"))
    faults: tuple[Fault | None, ...] = ("429", "429-after", None)
    provider.asked.clear()
    provider.fault = lambda number: faults[number % 3]

    wild = run_case(kitchen(stormy, "new"))
    provider.fault = no_fault
    replayed = run_case(kitchen(stormy, "none"))

    assert "scored" == fine.result.state
    assert records(fine) == records(wild) == records(replayed)
    assert kept(calm) == kept(stormy)
    assert 2 * fine.spent.asked == len(clock)
    calls = [json.loads(line)["calls"] for line in fine.probe_lines.splitlines()]
    assert all(call["cost"] > 0 for probe in calls for call in probe)
