"""`--record`, `--live`, `--cassettes`, `--max-cost`: whether a live model is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from memsim.models.live import ProviderAnswer
from memsim.runs import Run as Saved
from tests.models.asking import Stub

Run = Callable[..., Result]
LIVE = ("-m", "openai/gpt-4o-mini", "-s", "no_memory")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Who is asked."""
    asked = Stub(
        lambda *_: ProviderAnswer(text="I don't know.", input=100, output=10, cost=0.000021)
    )
    monkeypatch.setattr("memsim.models.provider_models._provider", lambda _: asked)
    monkeypatch.setattr("memsim.models.live.litellm_client.check_keys", lambda _: None)
    return asked


def test_a_run_is_recorded_once_and_replayed(
    run: Run, stub: Stub, project: Path, saved: Callable[[], Saved]
) -> None:
    """The same command without the flag asks nobody, and shows the same numbers."""
    missed = run(*LIVE, "--no-report")
    recorded = run(*LIVE, "--record", "new", "--no-report")
    calls = len(stub.asked)
    replayed = run(*LIVE, "--no-report")

    assert (7, 0, 0) == (missed.exit_code, recorded.exit_code, replayed.exit_code)
    assert "`--record new` records what is missing" in missed.stdout
    assert f"openai/gpt-4o-mini: {calls} calls asked for $0.0" in recorded.stderr
    assert f"openai/gpt-4o-mini: {calls} replayed" in replayed.stderr
    assert calls == len(stub.asked)
    assert "'prompts': '" in str(saved().info["instruments"])
    table = [r.stdout.split("\n\n")[1] for r in (recorded, replayed)]
    assert table[0] == table[1]
    assert 3 == len([*(project / "cassettes").rglob("*.jsonl")])
    assert ".*.part" in (project / "cassettes" / ".gitignore").read_text(encoding="utf-8")


def test_recordings_may_lie_elsewhere(run: Run, stub: Stub, project: Path) -> None:
    """Below the project, wherever the command is called."""
    run(*LIVE, "-k", "no_memory", "--record", "rewrite", "--cassettes", "tapes", "--no-report")

    assert (project / "tapes" / "openai-gpt-4o-mini").is_dir()
    assert not (project / "cassettes").exists()


def test_live_records_nothing(run: Run, stub: Stub, project: Path) -> None:
    """And is no kind of recording."""
    assert 0 == run(*LIVE, "-k", "no_memory", "--live", "--no-report").exit_code
    both = run(*LIVE, "--live", "--record", "new")

    assert stub.asked
    assert not (project / "cassettes").exists()
    assert 4 == both.exit_code
    assert "--live and --record exclude each other: use one of them" in both.stderr


def test_a_cap_stops_a_run_that_can_be_continued(
    run: Run, stub: Stub, saved: Callable[[], Saved]
) -> None:
    """Exit 2: what was played is kept, what was paid for is never paid again."""
    stopped = run(*LIVE, "--record", "new", "--max-cost", "0.0008", "--no-report")
    paid = len(stub.asked)
    kept = [case.strategy for case in saved().cases]
    continued = run(*LIVE, "--record", "new", "--no-report")

    assert 2 == stopped.exit_code
    assert "of $0.0008 are spent, and the next call may cost $0.000" in stopped.stderr
    assert "to go on: memsim run" in stopped.stderr
    assert 0 < paid * 0.000021 <= 0.0008
    assert len(kept) < 3
    assert 0 == continued.exit_code
    assert 3 == len(saved().cases)
    assert 33 == len(stub.asked)


def test_a_cap_needs_a_price(run: Run, stub: Stub) -> None:
    """Refused before anything is written."""
    result = run("-m", "openai/nobody-knows", "--record", "new", "--max-cost", "1")

    assert 4 == result.exit_code
    assert "no price of openai/nobody-knows is known" in result.stderr
    assert [] == stub.asked


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--record", "all", *LIVE], "--record must be one of none, new, rewrite, live, not 'all'"),
        (["--max-cost", "-1", *LIVE], "--max-cost must be dollars such as 5 or 0.25, not '-1'"),
        (["--record", "new"], "--record needs a live model, but the model is offline"),
        (["--live"], "--live needs a live model, but the model is offline"),
        (["--max-cost", "1"], "--max-cost needs a live model, but the model is offline"),
        (["--cassettes", " "], "--cassettes needs a path"),
    ],
)
def test_what_cannot_be_meant_is_exit_four(run: Run, flags: list[str], said: str) -> None:
    """In one line."""
    result = run(*flags)

    assert 4 == result.exit_code
    assert said in result.stderr
    assert 1 == result.stderr.count("\n")


def test_a_dry_run_prices_what_a_run_would_ask(run: Run, stub: Stub, project: Path) -> None:
    """Calls, tokens, dollars; nobody is asked and nothing is written."""
    result = run(*LIVE, "--dry-run")

    assert 0 == result.exit_code
    assert "  calls       33 of openai/gpt-4o-mini, recorded or not\n" in result.stdout
    assert " of input (o200k_base), at most 16,896 back\n" in result.stdout
    assert "  price       at most $0.03" in result.stdout
    assert "($0.15 and $0.6 a million)" in result.stdout
    assert [] == stub.asked
    assert not (project / "reports/runs").exists()
