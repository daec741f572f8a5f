"""Rules for the ids that stand behind what was composed."""

from __future__ import annotations

import pickle

from memsim.memory.compaction.summary import Lineage

DEEP = 20_000


def test_a_lineage_holds_each_id_once_in_order() -> None:
    """Whatever was made from others has their ids where they stand."""
    older = Lineage("a", "b")
    made = Lineage("c", older, "b", Lineage("d", older))

    assert ["c", "a", "b", "d"] == list(made)
    assert 4 == len(made)
    assert "d" in made
    assert "e" not in made
    assert Lineage("c", "a", "b", "d") == made


def test_a_lineage_may_be_deep() -> None:
    """A summary of a summary, however often, is read and copied."""
    made = Lineage("m0")
    for number in range(1, DEEP):
        made = Lineage(f"m{number}", made)

    assert DEEP == len(made)
    assert made == pickle.loads(pickle.dumps(made))  # noqa: S301 - it was written here


def test_older_lineages_are_shared() -> None:
    """What many are made from is gone through once, though it is everywhere."""
    made = Lineage("m0")
    for _ in range(100):
        made = Lineage(made, made)

    assert ["m0"] == list(made)
