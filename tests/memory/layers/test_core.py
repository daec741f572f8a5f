"""What is pinned: byte for byte, in a fixed order, until it is unpinned."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memsim.memory.compose import Core
from memsim.memory.permissions import Permissions
from memsim.memory.vault import Vault
from memsim.message import EPOCH
from tests.memory.remembering import Faulty


def core() -> Core:
    """An empty one."""
    return Core(Vault(Faulty(), embed=None, permissions=Permissions()))


def test_pins_are_shown_byte_for_byte_by_kind_and_age() -> None:
    """What the agent is comes first, facts last; ties go to the earlier."""
    pins = core()
    pins.pin("ana", "b", "fact \u200b two\n", now=EPOCH + timedelta(hours=1))
    pins.pin("ana", "a", "fact one", now=EPOCH, sources=("m1",))
    pins.pin("ana", "r", "rule", now=EPOCH, kind="rule", role="system")
    pins.pin("bot", "i", "I am Bot.", now=EPOCH, kind="identity", public=True)
    pins.pin("ben", "x", "ben's", now=EPOCH)

    shown = pins.messages("ana")

    assert ["I am Bot.", "rule", "fact one", "fact \u200b two\n"] == [m.text for m in shown]
    assert ["user", "system", "user", "user"] == [m.role for m in shown]
    assert ("m1",) == shown[2].quotes
    assert ["I am Bot."] == [m.text for m in pins.messages("cleo")]


def test_unpinning_is_the_owners() -> None:
    """Under another's name nothing is there to be unpinned."""
    pins = core()
    pins.pin("ana", "rule", "one", now=EPOCH)
    pins.pin("ana", "rule", "two", now=EPOCH)

    assert not pins.unpin("ben", "rule")
    assert ["two"] == [m.text for m in pins.messages("ana")]
    assert pins.unpin("ana", "rule")
    assert not pins.unpin("ana", "rule")
    assert () == pins.messages("ana")


def test_what_is_pinned_anew_keeps_its_place() -> None:
    """Among what was pinned before and after it."""
    pins = core()
    for hour, key in enumerate(("a", "b", "a")):
        pins.pin("ana", key, f"{key} at {hour}", now=EPOCH + timedelta(hours=hour))

    assert ["a at 2", "b at 1"] == [m.text for m in pins.messages("ana")]


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_cannot_be_pinned(text: str) -> None:
    """It would be an empty message in every context; what was pinned before stays."""
    pins = core()
    pins.pin("ana", "rule", "one", now=EPOCH)
    with pytest.raises(ValueError, match="what is pinned is blank"):
        pins.pin("ana", "rule", text, now=EPOCH)

    assert ["one"] == [m.text for m in pins.messages("ana")]
