"""LoCoMo's citations: the ways in which they are written, and what is left of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.scenario.datasets.locomo import repair_evidence

KNOWN = frozenset({"D1:1", "D8:6", "D9:17", "D11:26", "D30:5"})


@pytest.mark.parametrize(
    ("cited", "found"),
    [
        (["D8:6"], ("D8:6",)),
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D8:6, D9:17 D1:1"], ("D8:6", "D9:17", "D1:1")),
        (["D:11:26"], ("D11:26",)),
        (["D30:05"], ("D30:5",)),
        (["D10:19"], ()),
        (["D"], ()),
        ([""], ()),
        ([], ()),
        (["D8:6", "D8:6"], ("D8:6",)),
        (["D8:6", "D8:06", "D7:7"], ("D8:6",)),
    ],
)
def test_citations_are_repaired(cited: list[str], found: tuple[str, ...]) -> None:
    """Several in one string, a colon or a zero too many, twice, or of nothing."""
    assert found == repair_evidence(cited, KNOWN)


def test_an_id_that_exists_as_written_is_kept() -> None:
    """Whatever it looks like."""
    assert ("m-1",) == repair_evidence(["m-1"], {"m-1"})


@given(st.lists(st.text() | st.sampled_from(sorted(KNOWN)), max_size=6))
def test_only_known_messages_are_ever_cited(cited: list[str]) -> None:
    """Each once."""
    found = repair_evidence(cited, KNOWN)

    assert KNOWN.issuperset(found)
    assert len(found) == len(set(found))
