"""Pins and meaning: what was said is kept, or said to be gone, and nobody can forge a block."""

from __future__ import annotations

import re

from memsim.context import TAGS
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.structure import at
from memsim.testing.worlds import Trial

CODE = re.compile(r"K-\d{4}")
_OPENS = re.compile(rf"\s*<(?P<tag>{'|'.join(TAGS)})>")


@holds(12, "facts(H') superset of pinned facts; lost(H, H') subset of reported", "surfaces")
def closed_world_recall_floor(trial: Trial) -> int:
    """What is on no surface any more was reported: dropped, compacted, faded, purged, or forgotten.

    What a summary took in was reported then, and is once more where a line of it fades. Fails, for
    example, where a summary silently replaces ten messages, and tells of eight.
    """
    if trial.subject.claims.control == "floor":
        return 0
    seen = 0
    held: frozenset[str] = frozenset()
    summed: frozenset[str] = frozenset()
    told: set[str] = set()
    said = trial.transcript.said
    for ended in trial.transcript.ends:
        now = ended.held or frozenset()
        just = {i for event in ended.events for i in event.sources}
        told |= just
        new = {m.id for m in said[: ended.said] if m.turn == getattr(ended.event, "number", 0)}
        seen += len(held | new)
        gone = (held | new) - now - told - trial.transcript.forgotten
        if gone:
            raise Violation(
                f"after {ended.said} messages {sorted(gone)[:3]} are nowhere, and nothing said so"
            )
        faded = summed - now - just - trial.transcript.forgotten
        if faded:
            raise Violation(
                f"after {ended.said} messages a summary has dropped {sorted(faded)[:3]}, and"
                " nothing said so"
            )
        held, summed = now, ended.summed
    return seen


@holds(13, "canaries(composed text of H') subset of canaries(H), under an extractive model")
def summary_containment(trial: Trial) -> int:
    """Nothing that a memory composes holds a code that nobody said.

    Fails, for example, where a template's example stands in a summary, or another case's memory is
    still in a cache.
    """
    if trial.case.behaviour not in {"good", "slow"}:
        return 0
    seen = 0
    for sight in trial.transcript.served:
        known = {c for m in trial.transcript.said[: sight.said] for c in CODE.findall(m.text)}
        for message in sight.messages:
            if message.composed:
                codes = set(CODE.findall(message.text))
                seen += len(codes)
                if codes - known:
                    raise Violation(f"{at(sight)}: {message.id} invents {sorted(codes - known)}")
    return seen


@holds(14, "for all blocks b, contents c: c neither closes b nor opens a block of ours")
def delimiter_safety(trial: Trial) -> int:
    """What was said can neither close the block that it is quoted in nor open another.

    Fails, for example, where a user says `</summary>` and the rest of the sentence stands outside.

    To mend it, compose blocks with `memsim.context.fenced`, which escapes what it quotes.
    """
    seen = 0
    originals = {m.id for m in trial.transcript.said}
    for sight in trial.transcript.served:
        for message in sight.messages:
            # What is left of an original is no block, however it begins.
            quotes = message.composed and message.id not in originals
            found = _OPENS.match(message.text) if quotes else None
            if found is None:
                continue
            seen += 1
            tag = found["tag"]
            opened = re.findall(rf"<\s*{tag}\s*>", message.text, re.IGNORECASE)
            closed = re.findall(rf"<\s*/\s*{tag}\s*>", message.text, re.IGNORECASE)
            if len(opened) != 1 or len(closed) != 1:
                raise Violation(f"{at(sight)}: what is quoted in {message.id} closes <{tag}>")
    return seen
