"""Search facts by meaning, so that a message is as near to a question as what it states.

A message may state several things, of which a question wants one. The vector of all of it lies
between them, and the vector of a fact does not. A fact is quoted itself where its message cannot
be: it is gone, or a model worded the fact anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.memory.index import as_hits

if TYPE_CHECKING:
    from memsim.memory.index import Hit
    from memsim.memory.permissions import Where
    from memsim.memory.recall.timeline import Timeline
    from memsim.memory.vault import Vault


def with_semantic(where: Where) -> Where:
    """What a search looks at, and facts."""
    return replace(where, layers=where.layers | {"semantic"}) if where.layers else where


def with_facts(
    nearest: Sequence[Hit], facts: Sequence[Hit], where: Where, vault: Vault, timeline: Timeline
) -> list[Hit]:
    """A ranking by meaning, in which a message has the score of its nearest fact, if that is more.

    Facts whose message may not be read, or is gone, stand there themselves while they are in force.
    """
    scores = {hit.id: hit.score for hit in nearest}
    stated = timeline.stated_in([hit.id for hit in facts])
    unseen = dict.fromkeys(i for i in stated.values() if i is not None and i not in scores)
    seen = scores.keys() | vault.admitted(unseen, where)
    alone = [fact for fact, entry in stated.items() if entry not in seen]
    held = replace(where, layers=frozenset({"semantic"}), superseded=False)
    kept = vault.admitted(alone, held)
    for fact, score in facts:
        entry = stated[fact]
        name = entry if entry in seen else fact if fact in kept else None
        if name is not None and (name not in scores or score > scores[name]):
            scores[name] = score
    order = timeline.orders(scores)
    ranked = sorted([(-score, order[name], name) for name, score in scores.items()])
    return as_hits([(name, -score) for score, _, name in ranked])
