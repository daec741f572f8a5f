"""Who may see what: own, shared, public, granted; and nobody sees nothing."""

from __future__ import annotations

import json

import pytest

from memsim.errors import AccessError, StateError
from memsim.memory.acl import Grant, Permissions, Reader, Where
from memsim.memory.entry import Entry, Shelf


def test_nobody_sees_nothing_not_even_what_is_public() -> None:
    """Access fails closed."""
    nobody = Reader(principal="", grants=frozenset({Grant(owner="ana", reader="")}))
    for shelf in (
        Shelf(owner="ana", visibility="public"),
        Shelf(owner="", visibility="private"),
        Shelf(owner="ana", visibility="shared", readers=("",)),
    ):
        assert not nobody.may_see(shelf)
    with pytest.raises(AccessError):
        Permissions().reader("")


@pytest.mark.parametrize(
    ("shelf", "expected"),
    [
        (Shelf(owner="ben"), True),
        (Shelf(owner="ana"), False),
        (Shelf(owner="ana", visibility="public"), True),
        (Shelf(owner="ana", visibility="shared", readers=("ben",)), True),
        (Shelf(owner="ana", visibility="shared", readers=("benno",)), False),
        (Shelf(owner="ana", category="daily"), True),
        (Shelf(owner="cleo", category="core"), True),
        (Shelf(owner="dora", category="core"), False),
    ],
)
def test_a_reader_sees_what_is_theirs_or_opened_to_them(shelf: Shelf, expected: bool) -> None:
    """Grants of others, and grants to others, open nothing."""
    permissions = Permissions()
    permissions.grant(Grant(owner="ana", reader="ben", category="daily"))
    permissions.grant(Grant(owner="cleo", reader="ben"))
    permissions.grant(Grant(owner="dora", reader="ana"))
    reader = permissions.reader("ben")

    assert expected == reader.may_see(shelf)
    assert expected == Where(reader=reader).admits(shelf)
    forged = Reader(principal="ben", grants=frozenset({Grant(owner="dora", reader="ana")}))
    assert not forged.may_see(Shelf(owner="dora"))


def entry(*sources: str, session: str = "") -> Entry:
    """An entry of ana's, made from these messages."""
    return Entry(key="k", text="t", owner="ana", session=session, sources=sources)


def test_what_was_made_from_several_messages_needs_all_of_them() -> None:
    """From the next read on, and until one is taken back."""
    permissions = Permissions()
    permissions.share("ana", "ben", ["m1", "m2"])

    assert ("ben",) == permissions.apply(entry("m1", "m2")).readers
    assert () == permissions.apply(entry("m1", "m3")).readers
    assert () == permissions.apply(entry()).readers
    permissions.unshare("ana", "ben", ["m2"])
    assert () == permissions.apply(entry("m1", "m2")).readers
    assert ("ben",) == permissions.apply(entry("m1")).readers


def test_who_takes_part_reads_all_of_a_conversation() -> None:
    """And of no other; who is let to read all that everybody there says may follow it."""
    permissions = Permissions()
    assert permissions.joins("ana", "s1")
    assert permissions.joins("ben", "s1")
    assert not permissions.joins("ana", "s1")

    assert ("ben",) == permissions.apply(entry("m1", session="s1")).readers
    assert () == permissions.apply(entry("m1", session="s2")).readers
    assert permissions.may_follow("ben", "s1")
    assert not permissions.may_follow("cleo", "s1")
    permissions.grant(Grant(owner="ana", reader="cleo"))
    assert not permissions.may_follow("cleo", "s1")
    permissions.grant(Grant(owner="ben", reader="cleo"))
    assert permissions.may_follow("cleo", "s1")
    assert not permissions.may_follow("cleo", "nobody's")


def test_permissions_come_back_as_they_were() -> None:
    """Damaged ones are refused, and change nothing."""
    permissions, again = Permissions(), Permissions()
    permissions.joins("ana", "s1")
    permissions.share("ana", "ben", ["m2", "m1"])
    permissions.grant(Grant(owner="ana", reader="ben", category="daily"))
    state = json.loads(json.dumps(permissions.save()))

    again.load(state)
    assert permissions.save() == again.save()
    for damaged in (None, {}, {**state, "grants": [[1]]}, {**state, "shared": {"ana": 3}}):
        with pytest.raises(StateError):
            again.load(damaged)
        assert permissions.save() == again.save()
