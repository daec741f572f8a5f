"""The lexical index against a plain reading of its formula."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memsim.memory.index import Hit, id_places, postings
from memsim.memory.index.bm25 import Bm25
from memsim.memory.index.postings import Postings, ScoreTally, best_by_words

if TYPE_CHECKING:
    from memsim.memory.index.forms import Numbers, Scores

WORDS = tuple("abcdefghij")
NEAR = 1e-9
LEAN = 550
"""Bytes of a document with one rare word."""

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
steps = st.lists(st.one_of(texts, st.integers(0, 30)), min_size=1, max_size=40)
queries = st.lists(st.sampled_from((*WORDS, "unheard")), max_size=5).map(" ".join)


@dataclass
class Plain:
    """Every document scored for every query, as the formula has it."""

    documents: dict[str, list[str]] = field(default_factory=dict)

    def scores(self, query: str) -> dict[str, float]:
        """The score of each document that holds a word of the query."""
        wanted = Counter(query.split())
        holding = Counter(t for words in self.documents.values() for t in set(words))
        count = len(self.documents)
        mean = sum(map(len, self.documents.values())) / count if count else 0.0
        found = {}
        for source, words in self.documents.items():
            parts = []
            for term in wanted.keys() & set(words):
                n, tf = holding[term], words.count(term)
                idf = math.log(1 + (count - n + 0.5) / (n + 0.5))
                norm = 1.5 * (1 - 0.75 + 0.75 * len(words) / mean)
                parts.append(wanted[term] * idf * 2.5 * tf / (tf + norm))
            if parts:
                found[source] = math.fsum(parts)
        return found


def built(script: list[str | int], index: Bm25) -> Plain:
    """Plays a script of texts to add and numbers of documents to remove, on both."""
    plain = Plain()
    for place, step in enumerate(script):
        if isinstance(step, str):
            plain.documents[f"m{place}"] = step.split()
            index.add(f"m{place}", step)
        elif plain.documents:
            gone = list(plain.documents)[step % len(plain.documents)]
            del plain.documents[gone]
            assert index.remove(gone)
    return plain


def check(hits: list[Hit], plain: Plain, query: str) -> None:
    """The hits are the best there are, in order, ties to the earlier."""
    scores = plain.scores(query)
    best = sorted(scores.values(), reverse=True)[: len(hits)]
    assert all(abs(hit.score - scores[hit.id]) < NEAR for hit in hits)
    assert all(abs(hit.score - score) < NEAR for hit, score in zip(hits, best, strict=True))
    order = list(plain.documents)
    for one, other in pairwise(hits):
        if one.score == other.score:
            assert order.index(one.id) < order.index(other.id)
        if sorted(plain.documents[one.id]) == sorted(plain.documents[other.id]):
            assert one.score == other.score


@pytest.mark.parametrize("common", [1, 3, 256])
@pytest.mark.parametrize("first_read", [1, 7, 4096])
@given(steps, queries, st.integers(1, 12))
def test_the_best_are_found_exactly(
    common: int, first_read: int, script: list[str | int], query: str, k: int
) -> None:
    """However much of the index is read, and whatever is common, the result is the formula's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "FIRST_READ", first_read)
        patch.setattr(postings, "SAMPLE", 2)
        patch.setattr(id_places, "PLAIN", first_read)
        index = Bm25(str.split, common=common)
        plain = built(script, index)
        hits = index.search(query, k)
    event(f"hits: {min(len(hits), 3)}")

    assert min(k, len(plain.scores(query))) == len(hits)
    check(hits, plain, query)


@pytest.mark.parametrize("common", [2, 256])
@given(steps, queries)
def test_a_ranking_holds_everything_once(common: int, script: list[str | int], query: str) -> None:
    """All documents, those that match first, as a search would show them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_places, "PLAIN", common)
        index = Bm25(str.split, common=common)
        plain = built(script, index)
    matching = len(plain.scores(query))
    ranking = index.ranking(query)

    assert sorted(plain.documents) == sorted(hit.id for hit in ranking)
    check(ranking[:matching], plain, query)
    assert [0.0] * (len(ranking) - matching) == [hit.score for hit in ranking[matching:]]
    assert index.search(query, 5) == ranking[: min(5, matching)]
    for rank, hit in enumerate(ranking, 1):
        assert (rank if rank <= matching else None) == index.rank_of(hit.id, query)


@pytest.mark.parametrize("first_read", [200, 1 << 15])
def test_a_long_conversation_is_searched_exactly(first_read: int) -> None:
    """Words as unequal as those of a language, enough of them for every shortcut to be taken."""
    chance = random.Random(3)
    weights = [1 / (n + 1) for n in range(400)]
    words = [f"w{n}" for n in range(400)]
    index, plain = Bm25(str.split, common=32), Plain()
    for place in range(3000):
        said = chance.choices(words, weights, k=chance.randint(1, 12) if place % 500 else 600)
        plain.documents[f"m{place}"] = said
        index.add(f"m{place}", " ".join(said))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "FIRST_READ", first_read)
        for _ in range(30):
            query = " ".join(chance.choices(words, k=6))
            hits = index.search(query, 50)
            check(hits, plain, query)
            assert hits[:10] == index.search(query, 10)


class Shelf:
    """Some texts by their numbers, as a store holds them."""

    def __init__(self) -> None:
        self.entries = self.terms = 0
        self._held: dict[str, Postings] = {}

    def add(self, number: int, words: list[str]) -> None:
        """Take in a text, whose number is larger than any before."""
        self.entries += 1
        self.terms += len(words)
        for term, times in Counter(words).items():
            held = self._held.setdefault(term, Postings(term))
            held.append(number, times, len(words))
            held.documents += 1

    def postings(self, term: str) -> Postings | None:
        """Where a term stands."""
        return self._held.get(term)


@pytest.mark.parametrize("first_read", [1, 20, 200])
def test_the_best_of_several_shelves_are_found_exactly(first_read: int) -> None:
    """As if all that is there had been counted; a text stands on one of them."""
    chance = random.Random(5)
    weights = [1 / (n + 1) for n in range(60)]
    words = [f"w{n}" for n in range(60)]
    shelves, tally = [Shelf() for _ in range(3)], ScoreTally()
    tally.reserve(600)
    for number in range(600):
        said = chance.choices(words, weights, k=chance.randint(1, 9))
        chance.choices(shelves, [9, 5, 1])[0].add(number, said)
    for _ in range(40):
        query = " ".join(chance.choices(words, k=5))
        whole = best_by_words(query, shelves, 600, tally)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(postings, "FIRST_READ", first_read)
            patch.setattr(postings, "TRIED", 1)
            found = best_by_words(query, shelves, 8, tally)

        scores = dict(zip(whole.numbers.tolist(), whole.scores.tolist(), strict=True))
        least = sorted(scores.values())[-8]
        expected = {number: score for number, score in scores.items() if score >= least}
        assert expected == dict(zip(found.numbers.tolist(), found.scores.tolist(), strict=True))


def test_a_search_reads_only_what_could_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frequent word cannot lift what holds no rare one, so its list is not summed up."""
    monkeypatch.setattr(postings, "FIRST_READ", 10)
    index = Bm25(str.split, common=2)
    for place in range(500):
        index.add(f"m{place}", f"often filler{place % 50}" + (" rare thing" if place < 20 else ""))
    summed: list[int] = []
    add = ScoreTally.add

    def noting(tally: ScoreTally, numbers: Numbers, scores: Scores) -> None:
        summed.append(len(numbers))
        add(tally, numbers, scores)

    monkeypatch.setattr(ScoreTally, "add", noting)
    hits = index.search("often rare thing", 5)

    assert ["m0", "m1", "m2", "m3", "m4"] == [hit.id for hit in hits]
    assert sum(summed) < 100


def test_what_was_removed_leaves_no_word_behind() -> None:
    """After erasure neither the words nor their counts are anywhere in the index."""
    index, never = Bm25(common=2), Bm25(common=2)
    for place in range(6):
        index.add(f"m{place}", f"the secret {place} is swordfish")
    index.add("other", "my kayak is red")
    never.add("other", "my kayak is red")
    for place in range(6):
        assert index.remove(f"m{place}")

    assert not index.remove("m0")
    assert "swordfish" not in repr(vars(index)) + repr(vars(index._forms))
    assert never.ranking("red kayak") == index.ranking("red kayak")


def test_an_id_is_indexed_once() -> None:
    """A second text of the same id is a mistake of the caller's."""
    index = Bm25()
    index.add("m1", "a kayak")

    with pytest.raises(ValueError, match="m1"):
        index.add("m1", "a canoe")


@pytest.mark.parametrize("query", ["", "the of and", "\x00", '"', "AND (", "kayak*", "a:b", "%"])
def test_a_query_is_words_and_no_syntax(query: str) -> None:
    """Nothing that a user types means anything but itself."""
    index = Bm25()
    index.add("m1", "and the kayak or the canoe")

    assert len(index.search(query, 3)) == ("kayak" in query)


@pytest.mark.parametrize("k", [0, -1])
def test_nothing_is_found_when_nothing_is_wanted(k: int) -> None:
    """No hits are asked for, none are given."""
    index = Bm25()
    index.add("m1", "a kayak")

    assert [] == index.search("kayak", k)
    assert [] == Bm25().search("kayak", 3)
    assert [] == Bm25().ranking("kayak")
    assert index.rank_of("m2", "kayak") is None


@pytest.mark.parametrize("padding", range(0, 200, 10))
def test_a_rare_word_of_long_texts_does_not_end_the_search(
    monkeypatch: pytest.MonkeyPatch, padding: int
) -> None:
    """However well the texts with the rare word do, better ones without it are still found."""
    monkeypatch.setattr(postings, "FIRST_READ", 10)
    index, plain = Bm25(str.split, common=2), Plain()
    for place in range(300):
        if place % 10 == 0:
            text = "rare" + f" pad{place % 9}" * padding
        else:
            text = ("often" if place % 2 else "else") + f" pad{place % 3}" * (place % 30)
        plain.documents[f"m{place}"] = text.split()
        index.add(f"m{place}", text)
    for k in (1, 5, 20, 40):
        check(index.search("rare often", k), plain, "rare often")


def test_ties_between_forms_go_to_the_earliest_members() -> None:
    """Documents of two kinds that score the same are told apart by nothing but their order."""
    index = Bm25(str.split, common=1)
    for place in range(12):
        index.add(f"m{place}", "red kayak" if place % 2 else "red canoe")

    assert [f"m{n}" for n in range(5)] == [hit.id for hit in index.search("red", 5)]
    index.remove("m0")
    index.remove("m1")
    index.add("m12", "red tent")
    assert ["m2", "m3"] == [hit.id for hit in index.search("red", 2)]
    index.remove("m2")
    assert ["m3"] == [hit.id for hit in index.search("red", 1)]


def test_a_form_whose_first_member_left_counts_from_its_next() -> None:
    """A form does not keep the precedence of a document that is gone."""
    index = Bm25(str.split, common=1)
    for name, text in (
        ("a", "red kayak"),
        ("b", "red canoe"),
        ("c", "red tent"),
        ("d", "red kayak"),
    ):
        index.add(name, text)
    index.remove("a")

    assert ["b", "c"] == [hit.id for hit in index.search("red", 2)]


def test_a_document_with_a_rare_word_takes_little_memory() -> None:
    """A million turns have as many of them; the tables of one must not be larger than its text."""
    index = Bm25()

    def fill(numbers: range, filled: Bm25) -> int:
        before = tracemalloc.get_traced_memory()[0]
        for number in numbers:
            filled.add(f"m{number}", f"parcel code{number}x left the depot")
        return tracemalloc.get_traced_memory()[0] - before

    # What is kept of a word once for all indexes is no memory of this one.
    fill(range(5_000), Bm25())
    fill(range(1_000), index)
    tracemalloc.start()
    try:
        grown = fill(range(1_000, 5_000), index)
    finally:
        tracemalloc.stop()

    assert grown / 4_000 < LEAN, grown / 4_000


def test_a_posting_after_an_empty_batch_is_found() -> None:
    """The only number of a term is kept without columns, unless there are columns already."""
    held = postings.Postings("word")
    nothing = np.empty(0, np.intc)
    held.extend(np.empty(0, np.int64), nothing, nothing)
    held.append(7, 2, 5)

    assert (len(held), held.numbers.tolist()) == (1, [7])
    assert (held.times.tolist(), held.lengths.tolist()) == ([2], [5])
