"""Who stands beside whom: shares that fade with the words in between."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.recall import timeline
from memsim.memory.recall.timeline import REACH, WHOLE, Neighbours


def talk(*lines: tuple[str, int], fade: float = 100.0) -> Neighbours:
    """One session of lines, each an exchange of its own."""
    made = Neighbours(fade)
    for n, (text, tokens) in enumerate(lines):
        made.add(f"m{n}", text, session="s", tokens=tokens, turn=n)
    return made


def test_a_share_fades_with_the_tokens_between() -> None:
    """Measured from middle to middle, both ways."""
    lent = dict(talk(("a", 10), ("b", 20), ("c", 30)).beside("m0"))

    assert {"m1": math.exp(-15 / 100), "m2": math.exp(-40 / 100)} == lent


def test_only_the_nearest_of_a_session_are_lent() -> None:
    """A few to either side; other sessions, and ids that are not there, not at all."""
    made = talk(*(("x", 1) for _ in range(20)))
    made.add("other", "x", session="t", tokens=1, turn=99)

    around = [f"m{n}" for n in range(10 - REACH, 11 + REACH) if n != 10]
    assert sorted(around) == sorted(dict(made.beside("m10")))
    assert () == made.beside("other") == made.beside("none")


def test_an_answer_is_lent_twice_by_its_question() -> None:
    """What follows a question, not what precedes it."""
    asked = dict(talk(("a", 10), ("b?", 10), ("c", 10)).beside("m1"))

    assert 2 * asked["m0"] == asked["m2"]


def test_what_a_reply_answers_is_lent_all() -> None:
    """However long the reply is; the other way it fades."""
    made = Neighbours()
    made.add("ask", "which", session="s", tokens=10, turn=1)
    made.add("reply", "this", session="s", tokens=5000, turn=1)

    assert (("ask", 1.0),) == made.beside("reply")
    assert dict(made.beside("ask"))["reply"] < 1e-6


def test_parts_of_an_utterance_are_lent_all() -> None:
    """Both ways; they count as one message in the reach, and what follows both is the answer."""
    made = Neighbours()
    for n in range(4):
        for part in "ab":
            said = "where?" if (n, part) == (0, "a") else "there"
            made.add(f"{n}{part}", said, session="s", tokens=10, turn=n, moment=n)
    parts, apart = dict(made.beside("0a")), dict(made.beside("2a"))

    assert parts["0b"] == dict(made.beside("0b"))["0a"] == WHOLE
    assert {"0b", "1a", "1b", "2a", "2b", "3a", "3b"} == set(parts)
    assert parts["1a"] > 1 > parts["1b"]
    assert apart["2b"] == WHOLE
    assert all(share < 1 for name, share in apart.items() if name != "2b")


def test_an_id_is_taken_once() -> None:
    """As rankers have it."""
    with pytest.raises(ValueError, match="'m0' is there already"):
        talk(("a", 1)).add("m0", "b", session="s", tokens=1, turn=0)
    with pytest.raises(ValueError, match="fade is 0: above 0"):
        Neighbours(0)


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), st.data())
def test_what_was_removed_might_never_have_been(lengths: list[int], data: st.DataObject) -> None:
    """Whatever was asked before."""
    place = data.draw(st.integers(0, len(lengths) - 1))
    whole, without = Neighbours(), Neighbours()
    for n, length in enumerate(lengths):
        for made in (whole, without):
            if made is whole or n != place:
                made.add(f"m{n}", "x?" * (n % 2), session="s", tokens=length, turn=n // 2)
                made.beside(f"m{max(0, n - 1)}")
    assert whole.remove(f"m{place}")

    assert not whole.remove(f"m{place}")
    assert len(without) == len(whole)
    for n in range(len(lengths)):
        assert without.beside(f"m{n}") == whole.beside(f"m{n}")


def test_an_utterance_is_one_however_many_there_were_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Moments that are long past are forgotten; the parts of the latest stay together."""
    monkeypatch.setattr(timeline, "REMEMBERED", 1)
    made = Neighbours(fade=1e9)
    for source, moment in (("a", 1), ("b", 2), ("c", 2), ("d", 3), ("e", 2)):
        made.add(source, "Yes.", session="s", tokens=2, turn=0, moment=moment)

    assert dict(made.beside("b"))["c"] == WHOLE
    assert dict(made.beside("c"))["e"] == WHOLE
    assert dict(made.beside("b"))["a"] < WHOLE
