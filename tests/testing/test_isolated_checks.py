"""`memsim check` of users' strategies, in processes of their own."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from memsim.clock import Clock
from memsim.message import CharsOverFour, TokenCounter
from memsim.models.offline.model import OfflineModel
from memsim.strategy import Environment
from memsim.testing import checks
from memsim.testing.checks import (
    PROFILES,
    CheckPlan,
    CheckProfile,
    CheckReport,
    case_of,
    chosen,
    failed,
    perform,
)
from memsim.testing.fresh_process import AWAY, HOME, close_processes, play_in
from memsim.testing.isolated_subject import isolated_subject
from memsim.testing.subjects import subject_of

ROOT = Path(__file__).resolve().parents[2]
CHEATS = ROOT / "tests/doubles/cheats.py"
MINE = """\
from memsim import Context, Message, Query, Strategy


class Mine(Strategy):
    \"\"\"Shows the latest messages; raises where somebody says much.\"\"\"

    def __init__(self, env):
        super().__init__(env)
        self.heard: list[Message] = []

    def observe(self, message: Message) -> None:
        if len(message.text) > 300:
            raise ValueError("too much")
        self.heard.append(message)

    def context(self, query: Query) -> Context:
        return Context(sections=(self.env.build.section("window", self.heard[-5:]),))
"""


WRONG = """

class Wrong(Mine):
    \"\"\"Counts no tokens.\"\"\"

    def context(self, query: Query) -> Context:
        from dataclasses import replace

        made = super().context(query)
        return replace(made, sections=tuple(replace(s, tokens=0) for s in made.sections))
"""
SMALL = CheckProfile(name="small", examples=4, steps=30, patience=12)


def _environment() -> Environment:
    def none() -> NoReturn:
        raise AssertionError

    counter = TokenCounter(CharsOverFour())
    return Environment(
        clock=Clock(),
        model=OfflineModel(counter),
        counter=counter,
        embed=none,
        folder=none,
        budget=9,
    )


def _report(ref: str, k: str, guarded: tuple[Path, ...] | None) -> CheckReport:
    names = tuple(i.name for i in chosen(k))
    return perform(CheckPlan(subject=ref, names=names, profile=SMALL, guarded=guarded))


def test_an_invariant_cannot_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same process, the trick works."""
    ref = f"{CHEATS}@PatchesInvariants"

    apart = _report(ref, "i4 and order and strategy", ())
    monkeypatch.setattr(checks, "_looked", checks._looked)  # the trick is taken back at the end
    subject_of(ref).make(_environment())
    here = _report(ref, "i4 and order and strategy", None)

    assert ["violated"] == [result.verdict for result in apart.results]
    assert ["holds"] == [result.verdict for result in here.results]


def test_who_looks_for_what_was_tried_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No invariant counts then, no counterexample is kept, and the check fails."""
    (tmp_path / "order.json").write_text("{}", "utf-8")
    monkeypatch.setenv("CHEAT", str(tmp_path))

    report = _report(f"{CHEATS}@ReadsCounterexamples", "i4 and order and strategy", (tmp_path,))

    found = [(result.verdict, result.why, result.case) for result in report.results]
    assert [("invalid", "read order.json", None)] == found
    assert failed([report])


def test_both_ways_say_the_same(tmp_path: Path) -> None:
    """Also of what is raised, with the place in the user's file."""
    path = tmp_path / "mine.py"
    path.write_text(MINE, "utf-8")

    apart, here = (_report(str(path), "strategy and (i4 or i32 or i58)", g) for g in ((), None))

    assert apart == here
    assert any("mine.py:13: ValueError: too much" in result.why for result in apart.results)


@pytest.mark.processes
def test_a_play_in_another_process_shows_the_same(tmp_path: Path) -> None:
    """Views and notes do not depend on whether the strategy has a process of its own there."""
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace("> 300", "> 300_000"), "utf-8")
    cases = (case_of("strategy", PROFILES["commit"].steps, 7, 3),)
    ref = str(path)

    here = play_in(ref, (HOME, AWAY[0]), cases)  # type: ignore[arg-type]
    close_processes()
    with isolated_subject(ref, ()) as subject:
        apart = play_in(ref, (HOME, AWAY[0]), cases)  # type: ignore[arg-type]
        assert subject.claims == subject_of(ref).claims
    close_processes()

    assert [(play.views, play.notes) for play in here] == [(p.views, p.notes) for p in apart]


def test_a_process_that_ends_or_forges_is_invalid(tmp_path: Path) -> None:
    """No invariant holds because nothing could be asked."""
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace('raise ValueError("too much")', "__import__('os')._exit(0)"))

    ends = _report(str(path), "i4 and order and strategy", ())
    forges = _report(f"{CHEATS}@Writes", "i4 and order and strategy", ())

    whys = [[result.why for result in report.results] for report in (ends, forges)]
    assert [["the process of the strategy ended (exit code 0)"]] == whys[:1]
    assert [["sent what cannot be read"]] == whys[1:]


def test_wrong_counts_are_measured(tmp_path: Path) -> None:
    """An invariant says so with a counterexample, as in one process."""
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace("> 300", "> 300_000") + WRONG)

    report = _report(f"{path}@Wrong", "token_accounting", ())

    assert ["violated"] == [result.verdict for result in report.results]
