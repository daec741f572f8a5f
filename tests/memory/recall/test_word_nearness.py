"""Messages whose words are near to those of the question, by real vectors of words."""

from __future__ import annotations

import pytest

from memsim.memory.index import Hit
from memsim.memory.options import RecallPolicy
from memsim.memory.recall.ranking import QuestionCues
from memsim.memory.recall.timeline import MessageFacts
from memsim.memory.recall.word_nearness import COMPARED, with_near_words
from memsim.models import is_by_word
from memsim.models.embedders import CachedEmbedder, HashEmbedder
from memsim.models.registry import load_embedder

SAID = {
    "bus": "The bus came late again, so I walked.",
    "fox": "We met a fox behind the barn.",
    "tax": "My tax form is on the table.",
    "cup": "The kettle is broken.",
}
QUESTION = "Which animals has she seen?"


def ranked(question: str, texts: dict[str, str], *, mias: str = "") -> list[Hit]:
    """Texts that were all found to be as relevant; `mias` is the one that Mia said."""
    facts = {
        source: MessageFacts(order=n, tokens=10, principal="mia" if source == mias else "")
        for n, source in enumerate(texts)
    }
    return with_near_words(
        question,
        [Hit(source, 1.0) for source in texts],
        texts,
        about=facts.get,
        embed=load_embedder("wordllama").embed,
        cues=QuestionCues(question),
        policy=RecallPolicy(),
    )


def gain(hits: list[Hit], source: str) -> float:
    """What a message gained."""
    return next(hit.score for hit in hits if hit.id == source) - 1.0


def test_an_example_is_found_by_its_kind() -> None:
    """Without a word in common; nothing is lost, and no score falls."""
    hits = ranked(QUESTION, SAID)

    assert hits[0].id == "fox"
    assert sorted(hit.id for hit in hits) == sorted(SAID)
    assert min(hit.score for hit in hits) == 1.0


def test_who_is_named_gains_more() -> None:
    """As with every other relevance."""
    question = "Which animals did Mia meet?"
    by_mia, by_others = (gain(ranked(question, SAID, mias=i), "fox") for i in ("fox", "cup"))

    assert by_mia == pytest.approx(1.3 * by_others)
    assert by_others > 0


def test_a_question_for_several_things_relies_more_on_near_words() -> None:
    """One that asks for a single thing less."""
    one, several = (gain(ranked(q, SAID), "fox") for q in ("animal met", "animal met by both"))

    assert several == pytest.approx(1.6 * one)
    assert one > 0


@pytest.mark.parametrize(
    ("question", "texts"),
    [("What did she do?", SAID), ("", SAID), (QUESTION, {"fox": SAID["fox"]}), (QUESTION, {})],
)
def test_where_there_is_nothing_to_compare_the_ranking_stays(
    question: str, texts: dict[str, str]
) -> None:
    """A question of stop words, none, one message, no message."""
    assert [hit.id for hit in ranked(question, texts)] == list(texts)


def test_only_the_best_are_compared() -> None:
    """What comes after them keeps its score, however near it is."""
    texts = {f"bus-{n}": f"The bus of line {n} came late." for n in range(COMPARED)}

    hits = ranked(QUESTION, {**texts, "fox": SAID["fox"]})

    assert hits[-1] == Hit("fox", 1.0)


def test_only_embedders_of_single_words_are_asked() -> None:
    """A model that reads whole texts, or costs money, is not."""
    assert is_by_word(CachedEmbedder(load_embedder("wordllama")))
    assert not is_by_word(CachedEmbedder(HashEmbedder()))
