"""Names by number: each has one, for good."""

from __future__ import annotations

from memsim.memory.index.name_table import NameTable


def test_a_name_has_one_number_from_its_first_mention_on() -> None:
    """Numbers are given in order, and a name that comes again has the one it had."""
    names = NameTable()

    assert [0, 1, 0, 2] == names.add_all(["ann", "bob", "ann", ""])
    assert [1, 3] == [names.add("bob"), names.add("eve")]
    assert ["ann", "bob", "", "eve"] == [names[number] for number in range(4)]
    assert [0, None] == [names.get("ann"), names.get("nobody")]
