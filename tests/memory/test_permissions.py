"""Who may see what: own, shared, public, granted; and nobody sees nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memsim.errors import AccessError, StateError
from memsim.memory.entry import Entry, Shelf, entry_id, in_order
from memsim.memory.permissions import Permissions, Reader, ReadGrant, Where
from memsim.message import EPOCH


@pytest.mark.parametrize("name", ["", " ", "\t\u2003"])
def test_nobody_sees_nothing_not_even_what_is_public(name: str) -> None:
    """Access fails closed for an empty or blank name; one that is new sees what is public."""
    nobody = Reader(principal=name, grants=frozenset({ReadGrant(owner="ana", reader=name)}))
    for shelf in (
        Shelf(owner="ana", visibility="public"),
        Shelf(owner=name, visibility="private"),
        Shelf(owner="ana", visibility="shared", readers=(name,)),
    ):
        assert not nobody.may_see(shelf)
    with pytest.raises(AccessError):
        Permissions().reader(name)
    assert Permissions().reader("new").may_see(Shelf(owner="ana", visibility="public"))


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
    permissions.grant(ReadGrant(owner="ana", reader="ben", category="daily"))
    permissions.grant(ReadGrant(owner="cleo", reader="ben"))
    permissions.grant(ReadGrant(owner="dora", reader="ana"))
    reader = permissions.reader("ben")

    assert expected == reader.may_see(shelf)
    assert expected == Where(reader=reader).admits(shelf)
    forged = Reader(principal="ben", grants=frozenset({ReadGrant(owner="dora", reader="ana")}))
    assert not forged.may_see(Shelf(owner="dora"))


def entry(source: str, session: str = "") -> Entry:
    """An entry of ana's that holds a message."""
    return Entry(
        key=source, text="t", owner="ana", layer="episodic", session=session, sources=(source,)
    )


def test_a_message_is_shared_until_it_is_taken_back() -> None:
    """And no other with it."""
    permissions = Permissions()
    permissions.share("ana", "ben", ["m1", "m2"])

    assert ("ben",) == permissions.apply(entry("m2")).readers
    assert () == permissions.apply(entry("m3")).readers
    permissions.unshare("ana", "ben", ["m2"])
    assert () == permissions.apply(entry("m2")).readers
    assert ("ben",) == permissions.apply(entry("m1")).readers


def test_what_was_made_of_messages_is_their_owners_alone() -> None:
    """Of a conversation with others, of what was shared, and where an older version opened it."""
    permissions = Permissions()
    permissions.joins("ben", "s1")
    permissions.share("ana", "ben", ["m1"])
    made = replace(entry("m1", session="s1"), visibility="shared", readers=("ben",))
    fact, episode = replace(made, layer="semantic"), replace(made, category="daily")

    assert made == permissions.apply(made)
    for one in (fact, episode):
        assert ("private", ()) == ((it := permissions.apply(one)).visibility, it.readers)


def test_what_was_shared_of_a_message_that_is_gone_opens_no_other_of_its_id() -> None:
    """What was shared beside it, and by others, stays shared."""
    permissions = Permissions()
    permissions.share("ana", "ben", ["m1", "m2"])

    permissions.forget("ana", ["m1"])
    permissions.forget("cleo", ["m2"])

    assert () == permissions.apply(entry("m1")).readers
    assert ("ben",) == permissions.apply(entry("m2")).readers


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
    permissions.grant(ReadGrant(owner="ana", reader="cleo"))
    assert not permissions.may_follow("cleo", "s1")
    permissions.grant(ReadGrant(owner="ben", reader="cleo"))
    assert permissions.may_follow("cleo", "s1")
    assert not permissions.may_follow("cleo", "nobody's")


def test_permissions_come_back_as_they_were() -> None:
    """Damaged ones are refused, and change nothing."""
    permissions, again = Permissions(), Permissions()
    permissions.joins("ana", "s1")
    permissions.share("ana", "ben", ["m2", "m1"])
    permissions.grant(ReadGrant(owner="ana", reader="ben", category="daily"))
    state = json.loads(json.dumps(permissions.save()))

    again.load(state)
    assert permissions.save() == again.save()
    for damaged in (None, {}, {**state, "grants": [[1]]}, {**state, "shared": {"ana": 3}}):
        with pytest.raises(StateError):
            again.load(damaged)
        assert permissions.save() == again.save()


def test_who_takes_part_is_known_in_each_conversation() -> None:
    """By name in order, each once, and nowhere else."""
    permissions = Permissions()
    for who, session in (("cleo", "s2"), ("ben", "s1"), ("ana", "s1"), ("ben", "s2")):
        permissions.joins(who, session)

    assert ["ana", "ben", "cleo"] == permissions.known()
    assert permissions.takes_part("ben", "s1") is True
    assert permissions.takes_part("cleo", "s1") is False
    assert permissions.takes_part("cleo", "nobody's") is False


def test_nobody_gets_a_plain_no() -> None:
    """Whether somebody may see something is yes or no, for stores that write it down."""
    assert Reader(principal="").may_see(Shelf(owner="ana")) is False
    assert Where(reader=None).admits(Shelf(owner="ana")) is True


@pytest.mark.parametrize("category", [None, "daily"])
def test_a_grant_of_all_and_one_of_a_category_are_two(category: str | None) -> None:
    """Taking one back leaves the other, and the grants of others."""
    permissions = Permissions()
    grants = {ReadGrant(owner="ana", reader="ben", category=c) for c in (None, "daily")}
    for grant in (*grants, ReadGrant(owner="cleo", reader="dora")):
        permissions.grant(grant)

    taken = ReadGrant(owner="ana", reader="ben", category=category)
    permissions.revoke(taken)
    permissions.revoke(taken)

    assert grants - {taken} == permissions.reader("ben").grants
    assert {"dora"} == {g.reader for g in permissions.reader("dora").grants}


def test_a_grant_of_a_category_lets_nobody_follow() -> None:
    """Who may read some of what is said has not been let into the conversation."""
    permissions = Permissions()
    permissions.joins("ana", "s1")
    permissions.grant(ReadGrant(owner="ana", reader="ben", category="daily"))

    assert permissions.may_follow("ben", "s1") is False


def test_what_is_public_stays_public() -> None:
    """Whoever shares a message besides."""
    permissions = Permissions()
    permissions.share("ana", "ben", ["m1"])
    public = Entry(key="k", text="t", owner="ana", visibility="public", sources=("m1",))

    assert public == permissions.apply(public)


def test_permissions_are_saved_in_one_order() -> None:
    """Whatever order they came in."""
    saved = []
    grants = [
        ReadGrant(owner=o, reader=r, category=c) for o in "ab" for r in "cd" for c in (None, "x")
    ]
    for order in (grants, grants[::-1]):
        permissions = Permissions()
        for grant in order:
            permissions.grant(grant)
        saved.append(permissions.save())

    assert saved[0] == saved[1]
    assert [[g.owner, g.reader, g.category] for g in grants] == saved[0]["grants"]  # type: ignore[index,call-overload]


def test_entries_stand_on_the_shelf_of_what_they_are() -> None:
    """Live ones on a live one; readers once and in order, times with their zone, in UTC."""
    at = datetime(2026, 1, 5, 9, tzinfo=timezone(timedelta(hours=2)))
    made = Entry(
        key="k",
        text="t",
        owner="ana",
        visibility="shared",
        readers=("dora", "ben", "dora"),
        created=at,
        attributes=(("b", "2"), ("a", "1")),
    )

    assert Shelf(owner="ana", visibility="shared", readers=("ben", "dora")) == made.shelf
    assert (False, False) == (made.shelf.archived, made.shelf.superseded)
    assert (7, UTC) == (made.created.hour, made.created.tzinfo)
    assert (("a", "1"), ("b", "2")) == made.attributes
    assert replace(made, superseded=at).shelf.superseded
    assert made.pinned is False


@pytest.mark.parametrize("field", ["key", "text", "owner", "category", "subject", "session"])
def test_what_cannot_be_written_is_refused(field: str) -> None:
    """By the first forty characters of it."""
    values = {"key": "k", "text": "t", "owner": "ana", field: "x" * 50 + "\ud800"}

    with pytest.raises(ValueError, match=f"^'{'x' * 40}' cannot be encoded as UTF-8$"):
        Entry(**values)  # type: ignore[arg-type]


def test_ids_are_kept_by_what_is_saved() -> None:
    """They may not change from one version to the next; no two places have the same."""
    assert "41047b08c37d866b600315ff2f006350" == entry_id("ana", "core", "k")
    places = [
        ("a", "b", "cd"),
        ("a", "bc", "d"),
        ("ab", "", "cd"),
        ("ab", "cd", ""),
        ("", "ab", "cd"),
    ]
    assert len(places) == len({entry_id(*place) for place in places})


def test_entries_are_listed_by_their_making() -> None:
    """And by id where they were made at once."""
    entries = [
        Entry(key=k, text="t", owner="ana", created=EPOCH + timedelta(days=d))
        for k, d in (("a", 2), ("b", 1), ("c", 1))
    ]
    listed = in_order(entries)

    assert entries[0] == listed[2]
    assert sorted(e.id for e in entries[1:]) == [e.id for e in listed[:2]]
