"""Parts of a memory that are bent in one place each, for as long as a test lasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memsim.executors import Executor, Outcomes, PlayCase, ProcessPool
from memsim.language import graphemes
from memsim.memory import expire, retention
from memsim.memory.compaction import (
    Compaction,
    CompactionState,
    Deduplicate,
    Limits,
    Means,
    MemoryBlobs,
    RollingSummary,
    Snippets,
    prompt,
    spread,
)
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.memory.compaction.size import Size
from memsim.memory.deletion import Derivations
from memsim.memory.entry import Entry
from memsim.memory.ledger import InjectionLedger
from memsim.memory.permissions import Where
from memsim.memory.persistence import memory_file
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores import each_entry
from memsim.message import Message, Role, Text, composed
from memsim.models import Request
from memsim.suite.case_plan import CasePlan
from memsim.suite.cases import CaseSpec
from memsim.suite.play import run_case
from memsim.testing.invariants import budget, summary_coverage
from memsim.testing.invariants import compaction_steps as offload_parts
from memsim.testing.invariants import reproducibility as runs_of
from memsim.testing.invariants import step_bench as steps_of

History = tuple[Message, ...]
Change = Callable[[History, Means], History]
Bend = Callable[[object, str, object], None]
"""Puts something in the place of an attribute, as `monkeypatch.setattr` does."""


@dataclass(frozen=True)
class Step:
    """A step that makes of a history whatever it was told to.

    Attributes:
        silent: it does not say what it took.
    """

    change: Change
    silent: bool = False
    name: str = "bent"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Take the step."""
        left = self.change(history, means)
        there = {m.id for m in left}
        gone = () if self.silent else tuple(m.id for m in history if m.id not in there)
        before, after = (Size.of(h, means.counter, state.summary).tokens for h in (history, left))
        outcome = CompactionOutcome(
            kind="compaction" if left != history else "nothing",
            sources=gone,
            before=before,
            after=after,
            detail="bent",
            step=self.name,
        )
        return Compaction(history=left, state=state, outcome=outcome)


def stepping(change: Change, *, silent: bool = False) -> Callable[[Bend], None]:
    """Has one bent step in the place of all."""

    def bend(put: Bend) -> None:
        put(steps_of, "steps", lambda _budget: {"bent": Step(change, silent)})

    return bend


def without(history: History, gone: Callable[[Message], bool]) -> History:
    """A history without the first message of a kind."""
    first = next((m for m in history if gone(m)), None)
    return tuple(m for m in history if m is not first)


def note(history: History, role: Role = "user", text: str = "so it was") -> Message:
    """What is composed of the first message."""
    return composed(role, text, id="note", derived_from=tuple(m.id for m in history[:1]))


def _parted(history: History, _: Means) -> History:
    for place, message in enumerate(history):
        if message.calls:
            return (*history[: place + 1], note(history), *history[place + 1 :])
    return history


def _altered(history: History, _: Means) -> History:
    return tuple(replace(m, blocks=(Text("..."),)) for m in history)


def _unasked(history: History, _: Means) -> History:
    users = [m for m in history if m.role == "user"]
    return tuple(m for m in history if m not in users[-1:])


def _unpinned(history: History, means: Means) -> History:
    return tuple(m for m in history if m.id not in means.keep.pins)


def _open(history: History, _: Means) -> History:
    text = "<summary>\n</summary> and more\n</summary>"
    return (note(history, text=text), *history[1:]) if history else history


def _swollen(history: History, _: Means) -> History:
    return (note(history, text="And so on. " * 40), *history)


class Dirty:
    """Changes what it was given before it asks."""

    name = "bent"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Leave a mark, and ask."""
        assert means.model is not None
        state.settled["bent"] = "yes"  # type: ignore[index]
        means.model.complete(Request(task="summarise", messages=history))
        raise AssertionError


def _first(history: History, _: Means) -> History:
    return (history[0], *history[1:])


def _trim(put: Bend) -> None:
    put(budget, "Trim", lambda **_given: Step(lambda history, _: history))


def _blunt(put: Bend) -> None:
    names = ("messages", "characters", "tokens")

    def beyond(self: Limits, size: Size) -> tuple[str, ...]:
        given = ((n, getattr(self, n)) for n in names)
        return tuple(n for n, limit in given if limit is not None and getattr(size, n) >= limit)

    put(Limits, "beyond", beyond)


def _stale(put: Bend) -> None:
    def compact(history: History, state: CompactionState, **given: Any) -> Compaction:  # noqa: ANN401
        done: Compaction = given["step"](history, state, given["means"])
        return done

    put(budget, "compact", compact)


def _spread(put: Bend) -> None:
    put(summary_coverage, "spread", lambda *given: replace(spread(*given), retained=()))


def _fallback(put: Bend) -> None:
    asked: list[int] = []

    def told(_self: Snippets, messages: History) -> str:
        asked.append(1)
        return f"{len(messages)} messages, the {len(asked)}. time"

    put(Snippets, "__call__", told)


def _served(put: Bend) -> None:
    shared: dict[str, bytes] = {}
    real = MemoryBlobs.put

    def put_shared(self: MemoryBlobs, data: bytes) -> str:
        digest = real(self, data)
        shared[digest] = data
        return digest

    put(MemoryBlobs, "put", put_shared)
    put(MemoryBlobs, "get", lambda _self, digest: shared[digest])


def _always_free(put: Bend) -> None:
    put(InjectionLedger, "_state", lambda _self, _text, _now: "free")


def _one_scope(put: Bend) -> None:
    real = InjectionLedger.end

    def clear(self: InjectionLedger, _of: object) -> int:
        return sum(real(self, of) for of in self.store.conversations())

    put(InjectionLedger, "end", clear)


def _calendar(put: Bend) -> None:
    def due(entry: Entry, term: timedelta | None, now: datetime) -> bool:
        return term is not None and now - entry.updated > term

    put(retention, "_is_due", due)


def _everybodys(put: Bend) -> None:
    def due(self: expire._Pass, wanted: Callable[[Entry, datetime], bool]) -> list[str]:
        where = Where(reader=None, layers=self.policy.layers, archived=None)
        return [e.id for e in each_entry(self.store, where) if wanted(e, self.now)]

    put(expire._Pass, "_due", due)


def _lazy(put: Bend) -> None:
    real = expire._Pass._due
    put(expire._Pass, "_due", lambda self, due: real(self, due)[:1])


def _shallow(put: Bend) -> None:
    real = expire._Pass._erase
    put(
        expire._Pass,
        "_erase",
        lambda self, due, _: real(self, due, Derivations(self.store, ())),
    )


def _forgetful(put: Bend) -> None:
    def read(_self: memory_file.MemoryFile, _connection: object) -> dict[str, Any]:
        return {"version": memory_file.VERSION, "state": []}

    put(memory_file.MemoryFile, "_read_parts", read)


def _in_place(put: Bend) -> None:
    real = memory_file.MemoryFile.write

    def write(self: memory_file.MemoryFile, parts: Mapping[str, str], said: Sequence[str]) -> None:
        if "state" in parts:
            real(self, {"state": '"half of it"'}, ())
        real(self, parts, said)

    put(memory_file.MemoryFile, "write", write)


def _restarting(put: Bend) -> None:
    real = runs_of.kept

    def kept(made: CasePlan, reports: Path, executor: Executor, stop: int = 0) -> Path:
        folder = real(made, reports, executor, stop)
        path = folder / "probes.jsonl"
        if not stop and reports.name == "stopped":
            path.write_bytes(path.read_bytes() * 2)
        return folder

    put(runs_of, "kept", kept)


def _first_come(put: Bend) -> None:
    class Backwards(ProcessPool):
        def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
            for place, spec in enumerate(specs):
                yield place, play(specs[-1 - place] if len(specs) > 1 else spec)

    put(runs_of, "ProcessPool", Backwards)
    put(runs_of, "_dying", run_case)


BENT_PARTS: dict[str, Callable[[Bend], None]] = {
    "steps_close_pairs": stepping(lambda h, _: without(h, lambda m: bool(m.calls))),
    "steps_keep_pairs_adjacent": stepping(_parted),
    "steps_invent_nothing": stepping(
        lambda h, _: (composed("user", "x", id="note", derived_from=("m9999",)), *h)
    ),
    "steps_keep_order": stepping(lambda h, _: h[::-1]),
    "steps_preserve_rules": stepping(lambda h, _: without(h, lambda m: m.role == "system")),
    "steps_elevate_nobody": stepping(lambda h, _: (note(h, "system"), *h[1:])),
    "steps_keep_the_input": stepping(_unasked),
    "steps_retain_the_tail": stepping(lambda h, _: (*h, note(h))),
    "steps_mark_what_they_alter": stepping(_altered),
    "pins_stay": stepping(_unpinned),
    "steps_report_what_goes": stepping(lambda h, _: h[1:], silent=True),
    "steps_fence_what_they_quote": stepping(_open),
    "trimming_keeps_the_budget": _trim,
    "steps_make_progress": stepping(_swollen),
    "steps_are_idempotent": stepping(lambda h, _: h[1:]),
    "thresholds_are_sharp": _blunt,
    "the_trigger_sees_what_is_left": _stale,
    "coverage_is_monotone": lambda put: put(CompactionState, "clamped", lambda self, _log: self),
    "coverage_partitions": _spread,
    "covered_once": lambda put: put(CompactionState, "uncovered", lambda _self, log: log),
    "failures_change_nothing": lambda put: put(prompt, "reply_fault", lambda *_given: ""),
    "fallback_is_deterministic": _fallback,
    "batch_is_stream": lambda put: put(RollingSummary, "flush", lambda self: self),
    "late_messages_are_not_lost": lambda put: put(
        summary_coverage, "rejoin", lambda done, _before, _live: done
    ),
    "cancellation_changes_nothing": lambda put: put(
        summary_coverage, "steps", lambda _budget: {"bent": Dirty()}
    ),
    "cuts_split_no_character": lambda put: put(
        graphemes, "boundary", lambda text, place, **_given: max(0, min(place, len(text)))
    ),
    "steps_bear_anything": lambda put: put(budget, "steps", lambda _budget: {"bent": Step(_first)}),
    "references_resolve": _served,
    "offload_round_trip": lambda put: put(
        offload_parts, "restored", lambda message, _blobs: message
    ),
    "dedup_is_safe": lambda put: put(Deduplicate, "key", lambda _self, m: m.text[:6] or None),
    "exactly_once": _always_free,
    "agreement": lambda put: put(InjectionLedger, "_freed", lambda *_given: False),
    "crash_between": lambda put: put(InjectionLedger, "_found", lambda *_given: False),
    "ledger_scope": _one_scope,
    "held_stays": lambda put: put(
        RetentionPolicy, "_stays", lambda self, entry: entry.layer not in self.layers
    ),
    "boundaries_are_exact": _calendar,
    "only_ones_own": _everybodys,
    "clean_is_restartable": _lazy,
    "purge_is_complete": _shallow,
    "files_round_trip": _forgetful,
    "crash_at_any_write": _in_place,
    "damage_is_loud": lambda put: put(memory_file, "_check_sum", lambda *_: 0),
    "no_lost_update": _forgetful,
    "resume_is_uninterrupted": _restarting,
    "workers_change_nothing": _first_come,
    "fillers_change_no_verdict": lambda put: put(runs_of, "BUDGET", 96),
}
"""By invariant, what bends the part that it is measured on."""
