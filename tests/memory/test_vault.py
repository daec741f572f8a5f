"""The one door to a store: what it refuses, and what it does when an embedder changes or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memsim.errors import AccessError, ModelError, StoreError
from memsim.memory.entry import Entry
from memsim.memory.permissions import Permissions, ReadGrant, Where, require_principal
from memsim.memory.stores import EmbedderInfo
from memsim.memory.vault import Vault
from memsim.message import EPOCH
from tests.memory.remembering import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Vectors


class Lengths:
    """An embedder by the length of a text, which may fail."""

    dimension = 2

    def __init__(self, name: str = "lengths") -> None:
        self.name = name
        self.texts: list[str] = []
        self.most: int | None = None
        """Calls after which it fails."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors whose angle grows with the length."""
        if self.most is not None:
            self.most -= 1
            if self.most < 0:
                raise ModelError("the embedder is down")
        self.texts += texts
        angles = [len(t) / 100 for t in texts]
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)


def entries(*texts: str, owner: str = "ana") -> list[Entry]:
    """One entry for each text."""
    return [Entry(key=t or "blank", text=t, owner=owner, created=EPOCH) for t in texts]


def over(
    store: Faulty, embedder: Lengths | None = None, permissions: Permissions | None = None
) -> Vault:
    """A vault over a store."""
    return Vault(store, embed=(lambda: embedder) if embedder else None, permissions=permissions)


def test_nobody_gets_in() -> None:
    """Whatever they ask, with access control and without."""
    for permissions in (Permissions(), None):
        vault = over(Faulty(), permissions=permissions)
        for use in (
            lambda v=vault: v.where(""),
            lambda v=vault: v.own("", "long_term", "k"),
            lambda v=vault: v.get("", "k"),
            lambda: require_principal(""),
        ):
            with pytest.raises(AccessError):
                use()


def test_ids_of_others_are_as_good_as_none() -> None:
    """Whoever knows the id of a foreign entry gets as little as for one that is made up."""
    permissions = Permissions()
    vault = over(Faulty(), permissions=permissions)
    (theirs,) = entries("kettle", owner="ben")
    vault.put([theirs])
    where = vault.where("ana")

    assert [] == vault.fetch([theirs.id, "made up"], where)
    assert vault.get("ana", "kettle") is None
    assert [] == vault.lexical("kettle", where, 5)
    assert [] == list(vault.each(where))
    permissions.grant(ReadGrant(owner="ben", reader="ana"))
    assert [theirs] == vault.fetch([theirs.id], vault.where("ana"))
    assert theirs == vault.get("ana", "kettle")


def test_ones_own_key_goes_before_a_shared_one() -> None:
    """Nobody can put an entry in the place of mine."""
    permissions = Permissions()
    vault = over(Faulty(), permissions=permissions)
    permissions.grant(ReadGrant(owner="ben", reader="ana"))
    mine = Entry(key="k", text="mine", owner="ana")
    vault.put([Entry(key="k", text="ben's", owner="ben", created=EPOCH), mine])

    assert mine == vault.get("ana", "k")


def test_blank_texts_have_no_vector() -> None:
    """They mean nothing, and are near to nothing."""
    store, embedder = Faulty(), Lengths()
    vault = over(store, embedder)
    vault.put(entries("one", " ", ""))

    found = vault.nearest("one", Where(reader=None), 5)

    assert [entries("one")[0].id] == [h.id for h in found]
    assert [] == vault.nearest(" ", Where(reader=None), 5)
    assert [] == over(store).nearest("one", Where(reader=None), 5)


def test_another_embedder_makes_all_vectors_anew_once() -> None:
    """And the same one none."""
    store = Faulty()
    over(store, Lengths()).put(entries("one", "three"))
    same, other = Lengths(), Lengths("other")

    over(store, same).nearest("one", Where(reader=None), 5)
    assert ["memory", "one"] == same.texts
    vault = over(store, other)
    assert 2 == len(vault.nearest("one", Where(reader=None), 5))
    vault.nearest("one", Where(reader=None), 5)

    assert ["one", "one", "three"] == sorted(other.texts)
    assert EmbedderInfo("other", 2) == store.embedded


def test_an_embedder_that_fails_half_way_is_not_taken_for_done() -> None:
    """The next search finds all there is, whether in this process or in another."""
    store = Faulty()
    over(store, Lengths()).put(entries("one", "three"))
    failing = Lengths("other")
    failing.most = 0
    vault = over(store, failing)
    with pytest.raises(ModelError):
        vault.nearest("one", Where(reader=None), 5)
    assert EmbedderInfo("lengths", 2) == store.embedded

    assert 2 == len(over(store, Lengths("other")).nearest("one", Where(reader=None), 5))
    failing.most = None
    assert 2 == len(vault.nearest("one", Where(reader=None), 5))


def test_a_process_that_ended_before_vectors_were_written_is_made_up_for() -> None:
    """Old vectors were dropped, and new ones are not there yet: the next search makes them."""
    store = Faulty()
    over(store, Lengths()).put(entries("one", "three"))
    store.failing = True
    with pytest.raises(StoreError):
        over(store, Lengths("other")).nearest("one", Where(reader=None), 5)
    store.failing = False
    assert EmbedderInfo("other", 2) == store.embedded

    assert 2 == len(over(store, Lengths("other")).nearest("one", Where(reader=None), 5))


def test_what_was_written_without_vectors_is_found_by_meaning_once_there_are_some() -> None:
    """All that was meant to have one gets one, whatever had one before."""
    store = Faulty()
    over(store, Lengths()).put(entries("one", "three"))
    over(store).put(entries("a longer one"))

    found = over(store, Lengths()).nearest("a longer one", Where(reader=None), 5)

    assert 3 == len(found)
    assert store.get([found[0].id]) == entries("a longer one")


def test_an_embedder_that_fails_keeps_entries_from_being_half_written() -> None:
    """Nothing is written without its vector."""
    store, embedder = Faulty(), Lengths()
    embedder.most = 0
    with pytest.raises(ModelError):
        over(store, embedder).put(entries("one"))

    assert 0 == store.count(Where(reader=None))
