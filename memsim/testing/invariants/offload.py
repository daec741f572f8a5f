"""Offload: what is put aside is found again, whole, by whoever it belongs to."""

from __future__ import annotations

from itertools import islice

from memsim.errors import StoreError
from memsim.language.graphemes import head, tail
from memsim.memory.compaction import MemoryBlobs, collect, restored
from memsim.memory.compaction.blobs import referenced
from memsim.testing.cases import Case
from memsim.testing.generators.texts import CLUSTERS
from memsim.testing.invariants.steps import benches
from memsim.testing.registry import Violation, holds

_SHORT, _SEVERAL = 60, 8
"""Characters of a text, and texts, that are cut at every third place."""


@holds(
    33, "offload", on="compaction", formal="for all refs r in H': sha256(blob(r)) = r, same session"
)
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


@holds(34, "offload", on="compaction", formal="reload(offload(m)) = m")
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


@holds(29, "text", on="compaction", formal="no cut splits a grapheme cluster; every text encodes")
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
