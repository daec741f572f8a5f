"""Structure, on every step of `memsim.memory.compaction`: with pins and a tail that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memsim.memory.compaction import summary_message
from memsim.memory.compaction.speaking import AUTHORITY
from memsim.message import Message
from memsim.testing.cases import Case
from memsim.testing.invariants.steps import Bench, benches
from memsim.testing.invariants.structure import answered, torn
from memsim.testing.registry import Violation, holds

_FORGED = re.compile(r"<\s*/?\s*(?:summary|long_term_memory|recalled)\s*>", re.IGNORECASE)


def _taken(case: Case) -> Iterator[tuple[Bench, tuple[Message, ...]]]:
    for bench in benches(case):
        if bench.done is not None:
            yield bench, bench.done.history


@holds(
    1,
    "structure",
    on="compaction",
    formal="for all ids i: i in calls(H') <=> i in results(H'), but for the last assistant's",
)
def steps_close_pairs(case: Case) -> int:
    """No step leaves a call without its result, or a result without its call.

    Fails, for example, where the oldest messages are dropped one by one.
    """
    seen = 0
    for bench, left in _taken(case):
        seen += len(torn(bench.history)) + len(left)
        new = torn(left) - torn(bench.history)
        if new:
            raise Violation(f"{bench.name} tears {sorted(new)[:3]} apart")
    return seen


@holds(
    2,
    "structure",
    on="compaction",
    formal="no composed block stands between calls(g) and results(g)",
)
def steps_keep_pairs_adjacent(case: Case) -> int:
    """No step puts anything between a call and its results.

    Fails, for example, where a summary stands in the place of one of two parallel results.
    """
    seen = 0
    for bench, left in _taken(case):
        originals = {m.id for m in bench.history}
        for call, answer in answered(left):
            seen += 1
            between = [m.id for m in left[call + 1 : answer] if m.id not in originals]
            if between:
                raise Violation(f"{bench.name} puts {between} between a call and its result")
    return seen


@holds(3, "structure", on="compaction", formal="ids(H') subset of ids(H), sources(S') too")
def steps_invent_nothing(case: Case) -> int:
    """What a step composes was made of messages that there are.

    Fails, for example, where a summary credits a message of another session.
    """
    seen = 0
    for bench, left in _taken(case):
        known = {m.id for m in bench.history}
        for message in left:
            sources = {*message.quotes, *message.derived_from}
            seen += 1
            if sources - known or (not message.composed and message.id not in known):
                raise Violation(f"{bench.name}: {message.id} comes from {sorted(sources - known)}")
    return seen


@holds(4, "structure", on="compaction", formal="H' restricted to ids(H) is a subsequence of H")
def steps_keep_order(case: Case) -> int:
    """What a step leaves stands in the order in which it was said, each message once.

    Fails, for example, where pinned messages are moved to the front.
    """
    seen = 0
    for bench, left in _taken(case):
        place = {m.id: n for n, m in enumerate(bench.history)}
        found = [place[m.id] for m in left if m.id in place]
        seen += len(found) > 1
        if found != sorted(set(found)):
            raise Violation(f"{bench.name} leaves messages out of order, or twice")
    return seen


@holds(5, "structure", on="compaction", formal="system(H') = system(H), byte for byte, in order")
def steps_preserve_rules(case: Case) -> int:
    """Standing rules stay where a step is told to keep them, and no step makes new ones.

    Fails, for example, where the rule of the first turn is summarised with it.
    """
    seen = 0
    for bench, left in _taken(case):
        rules = [m for m in bench.history if m.role == "system"]
        seen += len(rules)
        if [m for m in left if m.role == "system"] != rules:
            raise Violation(f"{bench.name} changes the standing rules")
    return seen


@holds(6, "structure", on="compaction", formal="authority(text in H') <= authority(its source)")
def steps_elevate_nobody(case: Case) -> int:
    """A summary speaks with no more authority than those whose words it was made of.

    Fails, for example, where a summary of tool results is a system message.
    """
    seen = 0
    for bench, left in _taken(case):
        roles = {m.id: m.role for m in bench.history}
        done = bench.done
        summary = None if done is None else summary_message(done.state)
        for message in (*left, *([] if summary is None else [summary])):
            if not message.composed or not message.derived_from:
                continue
            seen += 1
            behind = () if done is None else done.state.behind.get(message.id, done.outcome.sources)
            ranks = [AUTHORITY[roles[i]] for i in (*behind, *message.derived_from) if i in roles]
            if message.role == "system" or AUTHORITY[message.role] > max(ranks, default=0):
                raise Violation(f"{bench.name}: {message.id} speaks above its sources")
    return seen


@holds(7, "structure", on="compaction", formal="last user message m of H: m in H'")
def steps_keep_the_input(case: Case) -> int:
    """The latest message of the user stays byte for byte, wherever it stands.

    Fails, for example, where a long chain of tools pushes the question out of the tail.
    """
    seen = 0
    for bench, left in _taken(case):
        users = [m for m in bench.history if m.role == "user"]
        seen += bool(users)
        if users and users[-1] not in left:
            raise Violation(f"{bench.name} takes {users[-1].id}, which is to be answered")
    return seen


@holds(8, "structure", on="compaction", formal="tail(H', k) = tail(H, k), grown leftwards at most")
def steps_retain_the_tail(case: Case) -> int:
    """The latest messages stay as they are; the tail grows only to close a pair.

    Fails, for example, where a large result among the latest messages is shortened.
    """
    seen = 0
    for bench, left in _taken(case):
        tail = bench.tail
        seen += bool(tail)
        short = len(tail) < min(bench.keep.last, len(bench.history))
        if short or left[len(left) - len(tail) :] != tail:
            raise Violation(f"{bench.name} changes the latest {bench.keep.last} messages")
    return seen


@holds(10, "structure", on="compaction", formal="m in H' with id in H: m = H(m), or composed")
def steps_mark_what_they_alter(case: Case) -> int:
    """What a step altered says that it was composed, and of what; no argument is changed.

    Fails, for example, where a shortened result passes for the original.
    """
    seen = 0
    for bench, left in _taken(case):
        known = {m.id: m for m in bench.history}
        for message in left:
            seen += 1
            if message.id in known and message != known[message.id] and not message.composed:
                raise Violation(f"{bench.name} alters {message.id} without saying so")
    return seen


@holds(11, "pins", on="compaction", formal="for all active pins p: p in render(H'), byte-exact")
def pins_stay(case: Case) -> int:
    """What is pinned stays byte for byte, at any budget, and whatever the model writes.

    Fails, for example, where a pin in the middle of a stretch is condensed with it.
    """
    seen = 0
    for bench, left in _taken(case):
        pinned = [m for m in bench.history if m.id in bench.keep.pins]
        seen += len(pinned)
        gone = [m.id for m in pinned if m not in left]
        if gone:
            raise Violation(f"{bench.name} takes {gone}, which are pinned")
    return seen


@holds(12, "pins", on="compaction", formal="ids(H) - ids(H') subset of reported sources")
def steps_report_what_goes(case: Case) -> int:
    """What a step takes out of the history, its outcome names.

    Fails, for example, where trimming drops a pair and tells of its call alone.
    """
    seen = 0
    for bench, left in _taken(case):
        there = {i for m in left for i in (m.id, *m.quotes)}
        gone = {m.id for m in bench.history} - there
        told = set(bench.done.outcome.sources) if bench.done else set()
        seen += len(gone)
        if gone - told:
            raise Violation(f"{bench.name} takes {sorted(gone - told)[:3]} and does not say so")
    return seen


@holds(14, "pins", on="compaction", formal="content never closes or opens a block of ours")
def steps_fence_what_they_quote(case: Case) -> int:
    """Delimiters in what is condensed are taken apart: one block is opened, and one closed.

    Fails, for example, where `</summary>` in a user's text ends the summary.
    """
    seen = 0
    for bench, _ in _taken(case):
        if bench.done is None:
            continue
        known = {m.id for m in bench.history}
        summary = summary_message(bench.done.state)
        composed = [m for m in bench.done.history if m.composed and m.id not in known]
        for message in (*composed, *([] if summary is None else [summary])):
            if not message.text.startswith("<summary>"):
                continue
            seen += 1
            if len(_FORGED.findall(message.text)) != 2:
                raise Violation(f"{bench.name}: what {message.id} quotes opens or closes a block")
    return seen
