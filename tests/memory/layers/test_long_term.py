"""Entries under keys: each owner has keys of their own."""

from __future__ import annotations

from datetime import timedelta

from memsim.memory.acl import Permissions
from memsim.memory.layers.long_term import LongTerm
from memsim.memory.vault import Vault
from memsim.message import EPOCH
from tests.memory.remembering import Faulty


def long_term() -> LongTerm:
    """An empty one."""
    return LongTerm(Vault(Faulty(), embed=None, permissions=Permissions()))


def test_storing_under_anothers_key_makes_ones_own() -> None:
    """Nothing of theirs is read, overwritten or taken over."""
    layer = long_term()
    theirs = layer.store("ben", "key", "ben's", now=EPOCH)
    assert layer.get("ana", "key") is None
    assert layer.forget("ana", "key") is None

    mine = layer.store("ana", "key", "ana's", now=EPOCH)

    assert mine.id != theirs.id
    assert (mine, theirs) == (layer.get("ana", "key"), layer.get("ben", "key"))
    assert mine == layer.forget("ana", "key")
    assert layer.get("ana", "key") is None
    assert theirs == layer.get("ben", "key")


def test_storing_again_replaces_and_keeps_the_day_of_birth() -> None:
    """One entry, its age counted from its last writing."""
    layer = long_term()
    later = EPOCH + timedelta(days=3)
    layer.store("ana", "key", "one", now=EPOCH, category="daily")
    layer.store("ana", "key", "two", now=later)

    (entry,) = layer.list("ana")

    assert ("two", "core", EPOCH, later) == (
        entry.text,
        entry.category,
        entry.created,
        entry.updated,
    )
    assert [] == list(layer.list("ana", category="daily"))


def test_an_entry_can_be_shared_with_whom_it_names() -> None:
    """Reading it is all that they can do; one's own entry goes before it."""
    layer = long_term()
    shared = layer.store("ben", "key", "ben's", now=EPOCH, visibility="shared", readers=("ana",))

    assert shared == layer.get("ana", "key")
    assert layer.get("cleo", "key") is None
    assert layer.forget("ana", "key") is None
    mine = layer.store("ana", "key", "ana's", now=EPOCH)
    assert mine == layer.get("ana", "key")
