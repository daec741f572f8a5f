"""Entries under keys: each owner has keys of their own."""

from __future__ import annotations

from datetime import timedelta

from memsim.memory.layers.long_term import LongTerm
from memsim.memory.options import MemoryOptions
from memsim.memory.permissions import Permissions
from memsim.memory.vault import Vault
from memsim.message import EPOCH
from tests.memory.remembering import Faulty, Remembering


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


def test_what_is_noted_is_found_and_quoted_by_its_key() -> None:
    """In words and in meaning, and as nothing that anybody said."""
    it = Remembering(options=MemoryOptions(window=1, mode="both"))
    it.call("memory_store", key="wifi-password\nof us", value="ana: hunter2")
    it.call("memory_store", key="oven", value="38-12-4")
    it.call("record_to_memory", thinking="", content=["Tea is in the cellar."])

    def quoted(text: str) -> list[str]:
        (section,) = (s for s in it.asked(text).sections if s.layer == "recalled")
        return section.messages[0].text.splitlines()[1:]

    assert "- [core] wifi-password" in it.call("memory_search", query="wifi", max_results=1)
    day = f"[{EPOCH.date()}] ana noted"
    assert f"{day}, wifi-password of us: ana: hunter2" in quoted("What is the wifi password?")
    assert f"{day}, oven: 38-12-4" in quoted("oven")
    assert f"{day}: Tea is in the cellar." in quoted("tea")
    found = [it.memory.vault.nearest(q, it.memory.vault.where("ana"), 1) for q in ("oven", "wifi")]
    assert ["38-12-4", "ana: hunter2"] == [
        e.text for (hit,) in found for e in it.store.get([hit.id])
    ]


def test_a_key_that_the_memory_made_is_neither_searched_nor_shown() -> None:
    """It says nothing, whichever way it was noted."""
    it = Remembering(options=MemoryOptions(vectors=False, mode="both"))
    it.call("record_to_memory", thinking="", content=["Tea is in the cellar."])
    it.memory.note("ana", "Bring milk.", session="ana's")

    found = {e.words for e in it.memory.entries("ana")}
    assert {"Tea is in the cellar.", "Bring milk."} == found
