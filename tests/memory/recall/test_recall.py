"""Recall: rankings become one order of what is worth quoting, and so much of it as fits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language.text import index_terms
from memsim.memory.index import Hit
from memsim.memory.options import PRX_RECALL, Fusion, RecallPolicy
from memsim.memory.recall.outline_columns import microseconds
from memsim.memory.recall.ranking import fit_to_room, recall, relevance
from memsim.memory.recall.timeline import MessageFacts, Neighbours, asks_the_same, question_terms

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAIN = RecallPolicy(neighbours=0.0, halving=0, named=1.0, dated=1.0, superseded="keep")
FUSIONS: tuple[Fusion, ...] = ("soft", "zscore", "weights", "rrf")

Scores = Mapping[str, float]


def hits(**scores: float) -> list[Hit]:
    """A ranking of these."""
    return [Hit(i, s) for i, s in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


def told(*ids: str, **special: MessageFacts) -> Callable[[str], MessageFacts | None]:
    """What is known of messages: of one length, in this order."""
    known = {i: MessageFacts(order=n, tokens=10) for n, i in enumerate(ids)}
    return {**known, **special}.get


def ids(found: Sequence[Hit]) -> list[str]:
    """The ids of a ranking."""
    return [hit.id for hit in found]


def test_both_rankings_have_a_say() -> None:
    """What both find comes before what only one finds."""
    found = recall(
        "q",
        lexical=hits(a=3, b=2.9, c=1),
        nearest=hits(b=0.8, d=0.7, c=0.1),
        about=told(*"abcd"),
        policy=PLAIN,
    )

    assert "b" == found[0].id
    assert set("abcd") == set(ids(found))


@pytest.mark.parametrize("fusion", FUSIONS)
def test_one_ranking_alone_keeps_its_order(fusion: Fusion) -> None:
    """An empty ranking has no say, whatever it would count."""
    policy = RecallPolicy(fusion=fusion, neighbours=0.0, halving=0)
    only = hits(a=5, b=3, c=2, d=1)

    for vector in (0.0, 0.3, 1.0):
        weighed = RecallPolicy(fusion=fusion, neighbours=0.0, halving=0, vector=vector)
        assert list("abcd") == ids(recall("q", lexical=only, about=told(*"abcd"), policy=weighed))
    assert list("abcd") == ids(recall("q", nearest=only, about=told(*"abcd"), policy=policy))
    assert [] == recall("q", about=told(), policy=policy)


def test_seven_tenths_meaning_and_three_tenths_words() -> None:
    """The weights that others use, on scores scaled to 0..1."""
    found = recall(
        "q",
        lexical=hits(a=8, b=4, c=0),
        nearest=hits(c=0.9, b=0.5, a=0.1),
        about=told(*"abc"),
        policy=PRX_RECALL,
    )

    assert ["c", "b", "a"] == ids(found)
    assert [0.7, 0.5, 0.3] == [round(hit.score, 9) for hit in found]


def test_ties_go_to_the_earlier() -> None:
    """However the rankings list them."""
    about = told("late", "early", early=MessageFacts(order=-1, tokens=10))
    same = [Hit("late", 1.0), Hit("early", 1.0)]

    for ranking in (same, same[::-1]):
        assert ["early", "late"] == ids(recall("q", lexical=ranking, about=about, policy=PLAIN))


def test_a_long_message_has_to_be_more_relevant() -> None:
    """At `halving` tokens twice as relevant as one of none; without it, length does not matter."""
    about = told(
        "long",
        "short",
        long=MessageFacts(order=0, tokens=150),
        short=MessageFacts(order=1, tokens=0),
    )
    found = hits(long=1.9, short=1.0, other=0.0)

    def scores(halving: int) -> dict[str, float]:
        policy = RecallPolicy(fusion="weights", neighbours=0.0, halving=halving)
        return dict(recall("q", lexical=found, about=about, policy=policy))

    assert scores(0)["long"] / 2 == scores(150)["long"]
    assert scores(0)["short"] == scores(150)["short"]


def test_who_may_not_be_seen_has_no_say() -> None:
    """Byte for byte the ranking without the rows that `about` does not know."""
    permitted = told(*"abc")
    lexical, nearest = hits(a=3, b=2, c=1), hits(c=0.9, a=0.2)
    talk = Neighbours()
    for source in "abc":
        talk.add(source, "text", session="s", tokens=10, turn=0)
    alone = recall("q", lexical=lexical, nearest=nearest, about=permitted, beside=talk.beside)
    among = recall(
        "q",
        lexical=[Hit("x", 99.0), *lexical, Hit("y", -5.0)],
        nearest=[*nearest, Hit("x", 0.1)],
        about=permitted,
        beside=lambda source: (*talk.beside(source), ("x", 1.0)),
    )

    assert alone == among


def test_neighbours_are_lent_relevance() -> None:
    """What stands beside the best comes up, though no ranking knows it, with half by default."""
    talk = Neighbours(fade=1e9)
    for n, source in enumerate(("best", "beside", "other", "aside", "last")):
        session = "s" if n < 2 else "t"
        talk.add(source, "text", session=session, tokens=1, turn=n)

    def found(lenders: int) -> dict[str, float]:
        hits_found = recall(
            "q",
            lexical=hits(best=3, other=2, last=1),
            about=told("best", "beside", "other", "aside", "last"),
            beside=talk.beside,
            policy=RecallPolicy(fusion="weights", halving=0, lenders=lenders),
        )
        return {hit.id: round(hit.score, 6) for hit in hits_found}

    assert {"best": 1.0, "beside": 0.5, "other": 0.5, "last": 0.0} == found(1)
    assert {"best": 1.0, "beside": 0.5, "other": 0.5, "aside": 0.25, "last": 0.25} == found(2)
    assert {"best": 1.0, "other": 0.5, "last": 0.0} == found(0)


def test_of_equals_the_earlier_lends() -> None:
    """And not the one whose id, which is made of a name, happens to come first."""
    talk = Neighbours(fade=1e9)
    for source, session in (("z", "s"), ("of z", "s"), ("a", "t"), ("of a", "t")):
        talk.add(source, "text", session=session, tokens=1, turn=int(source.startswith("of")))

    found = recall(
        "q",
        lexical=[Hit("z", 1.0), Hit("a", 1.0), Hit("last", 0.0)],
        about=told("z", "of z", "a", "of a", "last"),
        beside=talk.beside,
        policy=RecallPolicy(fusion="weights", halving=0, lenders=1),
    )

    assert ["z", "a", "of z", "last"] == ids(found)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did you recommend for Oslo?", "reply to ana"),
        ("What was your first suggestion?", "reply to ana"),
        ("What did I tell you about Oslo?", "ana"),
        ("What have I promised?", "ana"),
        ("What did Ben propose?", "ben"),
        ("Did I propose Oslo, or did you?", "reply to ana"),
        ("What is in Oslo?", "reply to ana"),
    ],
)
def test_what_a_speaker_is_asked_for_comes_first(question: str, first: str) -> None:
    """`You` is the assistant, `I` is a user, and what somebody was answered is not their word."""
    known = {
        "reply to ana": MessageFacts(order=0, tokens=10, principal="ana", role="assistant"),
        "ana": MessageFacts(order=1, tokens=10, principal="ana", role="user"),
        "reply to ben": MessageFacts(order=2, tokens=10, principal="ben", role="assistant"),
        "ben": MessageFacts(order=3, tokens=10, principal="ben", role="user"),
    }

    found = recall(question, lexical=[Hit(name, 1.0) for name in known], about=known.get)

    assert first == ids(found)[0]


def test_who_is_named_comes_first() -> None:
    """By all words of the name, with or without an s; a role is no name."""
    known = {
        "ana": MessageFacts(order=1, tokens=10, principal="Ana Ruiz"),
        "ben": MessageFacts(order=0, tokens=10, principal="Ben"),
        "user": MessageFacts(order=2, tokens=10, principal="user"),
    }
    same = hits(ana=1, ben=1, user=1)

    def order(question: str) -> list[str]:
        return ids(recall(question, lexical=same, about=known.get))

    assert ["ana", "ben", "user"] == order("What is Ana Ruiz's boat called?")
    assert ["ben", "ana", "user"] == order("What does Ana say of Ben?")
    assert ["ben", "ana", "user"] == order("What did the user say?")


def test_the_day_that_is_named_comes_first() -> None:
    """As a date, or counted from now."""
    known = {
        "may": MessageFacts(
            order=0, tokens=10, created=microseconds(datetime(2025, 5, 8, tzinfo=UTC))
        ),
        "eve": MessageFacts(order=1, tokens=10, created=microseconds(NOW - timedelta(days=1))),
        "none": MessageFacts(order=-1, tokens=10),
    }
    same = hits(may=1, eve=1, none=1)

    def first(question: str, now: datetime | None = NOW) -> str:
        return recall(question, lexical=same, about=known.get, now=now)[0].id

    assert "may" == first("What happened on 8 May 2025?")
    assert "may" == first("What happened in 2025?", None)
    assert "eve" == first("What did I say yesterday?")
    assert "none" == first("What did I say yesterday?", None)


def test_age_halves_relevance() -> None:
    """Exactly at the half-life; what lies ahead is not older than now."""
    known = {
        n: MessageFacts(order=0, tokens=0, created=microseconds(NOW - timedelta(days=days)))
        for n, days in (("now", 0), ("week", 7), ("ahead", -7))
    }
    policy = RecallPolicy(fusion="rrf", halving=0, half_life=timedelta(days=7))

    def score(source: str) -> float:
        (hit,) = recall("q", lexical=hits(**{source: 1}), about=known.get, policy=policy, now=NOW)
        return hit.score

    assert score("now") == score("ahead") == 2 * score("week")
    with pytest.raises(ValueError, match="half_life needs to know when it is"):
        recall("q", about=known.get, policy=policy)


@pytest.mark.parametrize(
    ("superseded", "expected"),
    [("drop", ["new", "other"]), ("keep", ["old", "other"])],
)
def test_what_was_superseded_gives_way(superseded: str, expected: list[str]) -> None:
    """Its successor has its relevance, found or not, through a chain of them."""
    about = told(
        "other",
        old=MessageFacts(order=1, tokens=10, successor="mid"),
        mid=MessageFacts(order=2, tokens=10, successor="new"),
        new=MessageFacts(order=3, tokens=10),
    )
    policy = RecallPolicy(superseded=superseded)  # type: ignore[arg-type]

    assert expected == ids(recall("q", lexical=hits(old=2, other=1), about=about, policy=policy))


@pytest.mark.parametrize(
    ("superseded", "expected"),
    [("drop", ["old", "new", "other"]), ("keep", ["old", "other"])],
)
def test_what_changed_a_part_comes_along(superseded: str, expected: list[str]) -> None:
    """What holds still of a message is recalled, and what took the place of the change."""
    about = told(
        "other",
        old=MessageFacts(order=1, tokens=10, amended=("mid", "secret")),
        mid=MessageFacts(order=2, tokens=10, successor="new"),
        new=MessageFacts(order=3, tokens=10),
    )
    policy = RecallPolicy(superseded=superseded)  # type: ignore[arg-type]

    assert expected == ids(recall("q", lexical=hits(old=2, other=1), about=about, policy=policy))


def test_a_question_about_the_past_finds_what_was_superseded() -> None:
    """All that ever held answers it, in its own right."""
    about = told(
        old=MessageFacts(order=1, tokens=10, successor="new"), new=MessageFacts(order=3, tokens=10)
    )
    found = hits(old=2, new=1)

    assert ["new"] == ids(recall("Where is the key?", lexical=found, about=about))
    assert ["old", "new"] == ids(recall("Where was the key first?", lexical=found, about=about))


def test_a_successor_that_may_not_be_seen_supersedes_nothing() -> None:
    """Nor does one of a circle hang."""
    hidden = told(old=MessageFacts(order=0, tokens=10, successor="secret"))
    circle = told(
        a=MessageFacts(order=0, tokens=10, successor="b"),
        b=MessageFacts(order=1, tokens=10, successor="a"),
    )

    assert ["old"] == ids(recall("q", lexical=hits(old=1), about=hidden))
    assert recall("q", lexical=hits(a=1, b=1), about=circle) is not None


def test_least_is_exact_at_its_bound() -> None:
    """What has just that relevance is taken, what has the next smaller number is not."""
    ranking = hits(a=4, b=3, c=2)
    scores = dict(relevance(ranking, (), lambda _: 0, RecallPolicy(fusion="weights")))
    for source, score in scores.items():
        kept = relevance(ranking, (), lambda _: 0, RecallPolicy(fusion="weights", least=score))
        assert source in dict(kept)
    assert 0.5 == scores["b"]
    above = RecallPolicy(fusion="weights", least=0.5000001)
    assert ["a"] == ids(relevance(ranking, (), lambda _: 0, above))


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ({}, {"best", "other", "beside", "aside", "last"}),
        ({"least": 0.6}, {"best"}),
        ({"least": 0.5}, {"best", "other"}),
        ({"least_bm25": 2.0}, {"best", "other"}),
        ({"least_bm25": 3.1}, set()),
    ],
)
def test_what_is_below_the_least_is_not_lent_back(
    bound: dict[str, float], expected: set[str]
) -> None:
    """Neither what a ranking found nor what stands beside the best: only the order may change."""
    talk = Neighbours(fade=1e9)
    for n, source in enumerate(("best", "beside", "last", "other", "aside")):
        talk.add(source, "text", session="s", tokens=1, turn=n)
    policy = RecallPolicy(fusion="weights", halving=0, lenders=1, **bound)  # type: ignore[arg-type]
    found = recall(
        "q",
        lexical=hits(best=3, other=2, last=1),
        about=told("best", "beside", "other", "aside", "last"),
        beside=talk.beside,
        policy=policy,
    )

    assert expected == set(ids(found))


def test_raw_scores_have_bounds_of_their_own() -> None:
    """However good the rest of a ranking is; what one of the rankings vouches for is taken."""

    def found(**bounds: float) -> list[str]:
        policy = replace(PLAIN, **bounds)  # type: ignore[arg-type]
        lexical, nearest = hits(a=3, b=2), hits(b=0.3, c=0.2)
        return ids(recall("q", lexical=lexical, nearest=nearest, about=told(*"abc"), policy=policy))

    assert ["a", "b", "c"] == sorted(found())
    assert ["a", "b"] == sorted(found(least_cosine=0.3))
    assert ["a", "b"] == found(least_cosine=0.30001)
    assert ["b", "c"] == found(least_bm25=3.1)
    assert ["a"] == found(least_cosine=0.9, least_bm25=2.1)
    assert [] == found(least_cosine=0.9, least_bm25=9.0)


RANKING = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 100), max_size=8)


@given(RANKING, RANKING, st.sampled_from(FUSIONS), st.integers(0, 5), st.integers(0, 10))
def test_only_what_is_found_or_near_comes_up_in_one_order(
    words: Scores, meaning: Scores, fusion: Fusion, halving: int, seed: int
) -> None:
    """Best first, never below 0, the same whatever order equals are listed in."""
    talk = Neighbours()
    for source in "abcdefgh":
        talk.add(source, "ok?", session="s", tokens=ord(source) % 5, turn=0)
    policy = RecallPolicy(fusion=fusion, halving=halving)
    chance = random.Random(seed)

    def listed(scores: Scores) -> list[Hit]:
        items = [Hit(i, s) for i, s in scores.items()]
        if fusion != "rrf":  # there the order is all that counts
            chance.shuffle(items)
        return sorted(items, key=lambda hit: -hit.score)

    def found() -> list[Hit]:
        return recall(
            "q",
            lexical=listed(words),
            nearest=listed(meaning),
            about=told(*"abcdefgh"),
            beside=talk.beside,
            policy=policy,
        )

    first = found()
    assert first == found()
    assert sorted((h.score for h in first), reverse=True) == [h.score for h in first]
    assert {*words, *meaning} <= set(ids(first))
    assert all(hit.score >= 0 for hit in first)


@given(RANKING, st.floats(0, 1), st.floats(0, 1), st.integers(0, 60), st.integers(0, 60))
def test_bounds_are_monotone(
    scores: Scores, one: float, other: float, room: int, more: int
) -> None:
    """A higher floor quotes a part of what a lower one does; nothing is over the room."""
    low, high = sorted((one, other))
    ranking = hits(**scores)
    wide = fit_to_room(
        ranking, tokens=lambda _: 7, room=room, policy=RecallPolicy(floor=low, share=0.5 + low / 2)
    )
    narrow = fit_to_room(
        ranking, tokens=lambda _: 7, room=room, policy=RecallPolicy(floor=high, share=0.5 + low / 2)
    )
    roomy = fit_to_room(
        ranking,
        tokens=lambda _: 7,
        room=room + more,
        policy=RecallPolicy(floor=low, share=0.5 + low / 2),
    )

    assert wide[: len(narrow)] == narrow
    assert roomy[: len(wide)] == wide
    assert len(wide) <= max(1, room // 7)


def test_the_floor_is_exact_at_its_bound() -> None:
    """A share of the best; what is shown already sets it, and is not quoted again."""
    ranking = [Hit("a", 10.0), Hit("b", 4.0), Hit("c", 3.9999)]
    policy = RecallPolicy(floor=0.4)

    def chosen(*shown: str) -> list[str]:
        return fit_to_room(ranking, tokens=lambda _: 1, room=9, policy=policy, shown=shown)

    assert ["a", "b"] == chosen()
    assert ["b"] == chosen("a")


def test_what_does_not_fit_is_passed_over_but_for_the_best() -> None:
    """The best is to be clipped to half of the room."""
    ranking = hits(a=4, b=3, c=2)
    lengths = {"a": 5, "b": 50, "c": 5}.__getitem__
    policy = RecallPolicy(floor=0.0)

    assert ["a", "c"] == fit_to_room(ranking, tokens=lengths, room=10, policy=policy)
    assert ["b", "c"] == fit_to_room(ranking[1:], tokens=lengths, room=10, policy=policy)
    assert [] == fit_to_room(ranking, tokens=lengths, room=0, policy=policy)


def test_a_share_and_a_limit_bound_what_is_quoted() -> None:
    """Half of ten tokens, or two messages."""
    ranking = hits(a=4, b=3, c=2, d=1)

    def chosen(policy: RecallPolicy) -> list[str]:
        return fit_to_room(ranking, tokens=lambda _: 2, room=10, policy=policy)

    assert list("ab") == chosen(RecallPolicy(floor=0.0, share=0.5))
    assert list("ab") == chosen(RecallPolicy(floor=0.0, limit=2))
    assert list("abcd") == chosen(RecallPolicy(floor=0.0))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fusion": "sum"}, "fusion is 'sum': it is 'soft', 'zscore', 'weights', 'rrf'"),
        ({"superseded": "hide"}, "superseded is 'hide': it is 'drop', 'keep'"),
        ({"vector": 1.1}, "vector is 1.1: 0 to 1"),
        ({"floor": -0.1}, "floor is -0.1: 0 to 1"),
        ({"neighbours": float("nan")}, "neighbours is nan: 0 to 1"),
        ({"share": 0.0}, "share is 0: above 0, up to 1"),
        ({"depth": 0}, "depth is 0: at least 1"),
        ({"named": 0.5}, "named is 0.5: at least 1"),
        ({"dated": float("inf")}, "dated is inf: at least 1"),
        ({"halving": -1}, "halving is -1: at least 0"),
        ({"limit": 0}, "limit is 0: at least 1"),
        ({"least": float("nan")}, "least is nan: a finite number"),
        ({"least_cosine": 1.1}, "least_cosine is 1.1: -1 to 1"),
        ({"least_bm25": float("inf")}, "least_bm25 is inf: at least 0"),
        ({"half_life": timedelta(0)}, "half_life is 0:00:00: more than no time"),
    ],
)
def test_a_policy_out_of_its_range_is_refused(options: dict[str, object], problem: str) -> None:
    """By name and value, with what is allowed."""
    with pytest.raises(ValueError, match=problem):
        RecallPolicy(**options)  # type: ignore[arg-type]


def test_who_asked_the_same_has_not_answered_it() -> None:
    """What only repeats the question is not ranked, and sets no measure for what answers it."""
    asked_before = MessageFacts(
        order=0, tokens=10, asked=question_terms("And where is my umbrella?")
    )
    about = told("answer", "other", before=asked_before)
    found = recall(
        "Where is my umbrella?",
        lexical=hits(before=9, answer=2, other=0.5),
        nearest=hits(before=0.99, answer=0.6, other=0.2),
        about=about,
        policy=PLAIN,
    )

    assert ["answer", "other"] == ids(found)
    assert ["answer"] == fit_to_room(found, tokens=lambda _: 10, room=100)


def test_earlier_questions_take_no_place_of_what_answers() -> None:
    """However many there are, as many others are looked at. Where they are all, they are found."""
    asked = MessageFacts(order=0, tokens=10, asked=question_terms("Where is my umbrella?"))
    before = {f"before {n}": asked for n in range(3)}
    policy = replace(PLAIN, depth=2)

    found = recall(
        "Where is my umbrella?",
        lexical=hits(**{"before 0": 9, "before 1": 8, "before 2": 7, "answer": 2, "other": 1}),
        nearest=hits(answer=0.6, worse=0.3, other=0.2),
        about=told("answer", "other", "worse", **before),
        policy=policy,
    )
    alone = recall(
        "Where is my umbrella?",
        lexical=hits(**{"before 0": 9, "before 1": 8, "before 2": 7}),
        about=told(**before),
        policy=policy,
    )

    assert ["answer", "other", "worse"] == sorted(ids(found))
    assert ["before 0", "before 1"] == ids(alone)


def test_what_follows_an_earlier_question_may_be_its_answer() -> None:
    """It is lent something, and less than what answers in words of the question."""
    talk = Neighbours()
    for turn, (source, text) in enumerate(
        (("before", "Where is my umbrella?"), ("reply", "By the door."), ("answer", "It is green."))
    ):
        session = "s1" if source != "answer" else "s2"
        talk.add(source, text, session=session, tokens=5, turn=turn)
    before = MessageFacts(order=0, tokens=5, asked=question_terms("Where is my umbrella?"))
    found = recall(
        "Where is my umbrella?",
        lexical=hits(before=9, answer=2),
        about=told("reply", "answer", before=before),
        beside=talk.beside,
    )

    assert ["answer", "reply"] == ids(found)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("Where is my umbrella?", True),
        ("please tell me again where my umbrella is", True),
        ("\u00bfMy umbrella?", True),
        ("My umbrella is where it was.", False),
        ("Where is my umbrella, the one that Ola broke on Tuesday?", False),
        ("And then?", False),
        ("", False),
    ],
)
def test_a_question_is_known_by_its_words(before: str, expected: bool) -> None:
    """It asks, and nearly all of its words are in the other one."""
    assert expected == asks_the_same(
        question_terms(before), index_terms("Can you tell me where my umbrella is again?")
    )


def test_where_nothing_else_was_found_the_question_is() -> None:
    """Better than nothing: its neighbours may know."""
    before = MessageFacts(order=0, tokens=5, asked=question_terms("Where is my umbrella?"))
    found = recall("Where is my umbrella?", lexical=hits(before=9), about=told(before=before))

    assert ["before"] == ids(found)
