"""Structure, on every step of `memsim.memory.compaction`: with pins and a tail that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memsim.errors import StoreError
from memsim.language.graphemes import head, tail
from memsim.memory.compaction import MemoryBlobs, collect, restored, summary_message
from memsim.memory.compaction.blobs import referenced
from memsim.memory.compaction.condense import AUTHORITY
from memsim.message import Message
from memsim.testing.check_cases import Case
from memsim.testing.generators.awkward_texts import CLUSTERS
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.step_bench import Bench, benches
from memsim.testing.invariants.structure import answered, torn

# Offload: what is put aside is found again, whole, by whoever it belongs to.


_SHORT, _SEVERAL = 60, 8
"""Characters of a text, and texts, that are cut at every third place."""


@holds(33, "for all refs r in H': sha256(blob(r)) = r, same session", on="compaction")
def references_resolve(case: Case) -> int:
    """Every reference has its blob, in its own session alone, and collecting removes only others.

    Fails, for example, where another session's digest is served, or a blob that is still referred
    to is collected.
    """
    seen = 0
    for bench in benches(case, "offload", "condense rounds", "chain"):
        if bench.done is None:
            continue
        wanted = referenced(bench.done.history)
        seen += len(wanted)
        orphan = bench.blobs.put(b"nobody refers to this")
        gone = collect(bench.done.history, bench.blobs)
        if orphan not in gone or set(wanted) - set(bench.blobs.digests()):
            raise Violation(f"{bench.name}: collecting removes {gone}")
        for digest in wanted:
            bench.blobs.get(digest)
            try:
                MemoryBlobs().get(digest)
            except StoreError:
                continue
            raise Violation(f"{bench.name}: another session can read {digest}")
    return seen


@holds(34, "reload(offload(m)) = m", on="compaction")
def offload_round_trip(case: Case) -> int:
    """What was offloaded comes back as it was, every character of it.

    Fails, for example, where a result is stored after it was cut.
    """
    seen = 0
    for bench in benches(case, "offload"):
        if bench.done is None:
            continue
        known = {m.id: m for m in bench.history}
        for message in bench.done.history:
            if message.composed and message.id in known and referenced((message,)):
                seen += 1
                if restored(message, bench.blobs) != known[message.id]:
                    raise Violation(f"{message.id} comes back otherwise")
    return seen


@holds(29, "no cut splits a grapheme cluster; every text encodes", on="compaction")
def cuts_split_no_character(case: Case) -> int:
    """A text that is cut at any place ends and begins with whole characters.

    Fails, for example, where a family loses its children.
    """
    texts = (m.text for m in case.messages if len(m.text) <= _SHORT)
    text = "\n".join((*islice(texts, _SEVERAL), "".join(CLUSTERS)))
    seen = 0
    for length in range(0, len(text), 3):
        for part in (head(text, length), tail(text, length)):
            seen += 1
            part.encode("utf-8")
            left = part
            for cluster in (*CLUSTERS, "\U0001f1f3\U0001f1f4", "\U0001f1e9\U0001f1ea"):
                left = left.replace(cluster, "")
            if any(c in left for c in ("\u200d", "\U0001f3fd", "\u0301", "\u0327", "\u094d")):
                raise Violation(f"cut at {length}, a part of a character is left: {part[-8:]!a}")
    return seen


_FORGED = re.compile(r"<\s*/?\s*(?:summary|long_term_memory|recalled)\s*>", re.IGNORECASE)


def _taken(case: Case) -> Iterator[tuple[Bench, tuple[Message, ...]]]:
    for bench in benches(case):
        if bench.done is not None:
            yield bench, bench.done.history


@holds(
    1,
    "for all ids i: i in calls(H') <=> i in results(H'), but for the last assistant's",
    on="compaction",
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


@holds(2, "no composed block stands between calls(g) and results(g)", on="compaction")
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


@holds(3, "ids(H') subset of ids(H), sources(S') too", on="compaction")
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


@holds(4, "H' restricted to ids(H) is a subsequence of H", on="compaction")
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


@holds(5, "system(H') = system(H), byte for byte, in order", on="compaction")
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


@holds(6, "authority(text in H') <= authority(its source)", on="compaction")
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


@holds(7, "last user message m of H: m in H'", on="compaction")
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


@holds(8, "tail(H', k) = tail(H, k), grown leftwards at most", on="compaction")
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


@holds(10, "m in H' with id in H: m = H(m), or composed", on="compaction")
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


@holds(11, "for all active pins p: p in render(H'), byte-exact", on="compaction")
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


@holds(12, "ids(H) - ids(H') subset of reported sources", on="compaction")
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


@holds(14, "content never closes or opens a block of ours", on="compaction")
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
