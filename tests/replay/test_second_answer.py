"""A context with all the evidence is read again, from the evidence alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memsim.message import Message, composed, load_tokenizer, said
from memsim.models import IDK, Request
from memsim.models.offline.model import OfflineModel
from memsim.replay.second_answer import read_again
from memsim.trace import EvidenceTrace

NOW = datetime(2026, 1, 9, tzinfo=UTC)
ASK = "Where do I live?"
TOLD = said("user", "I reside in Narvik, above the ferry office.", id="m1", time=NOW)
NOISE = said("user", "I live for the music of Tromso.", id="m2", time=NOW)
OLD = said("user", "We live in Bergen.", id="m0", time=NOW)
MODEL = OfflineModel(load_tokenizer())


def again(
    *messages: Message,
    verbatim: bool = True,
    wrong: tuple[str, ...] = (),
    model: object = MODEL,
    ask: str = ASK,
    text: str = TOLD.text,
) -> str | None:
    """The second answer to a question, where one message is the evidence."""
    request = Request(task="answer", messages=messages, question=ask, now=NOW, asker="user")
    evidence = (EvidenceTrace(source="m1", turn=1, verbatim=verbatim),)
    return read_again(model, request, evidence, {"m1": text}, wrong)  # type: ignore[arg-type]


def lines(*texts: str) -> Message:
    """A message that a strategy composed."""
    return composed("user", "\n".join(texts), id="recalled:1", quotes=("m1",), time=NOW)


def test_what_has_nothing_to_do_with_the_answer_is_left_out() -> None:
    """The first answer comes from other words, the second one from the evidence."""
    request = Request(task="answer", messages=(TOLD, NOISE), question=ASK, now=NOW, asker="user")

    assert "Narvik" not in MODEL.complete(request).text
    assert "Narvik" in (again(TOLD, NOISE) or "")


def test_the_evidence_has_to_be_there_in_its_own_words() -> None:
    """Nothing is read again where a piece is missing or reworded."""
    assert again(TOLD, NOISE, verbatim=False) is None


def test_lines_are_read_as_the_strategy_wrote_them(subtests: pytest.Subtests) -> None:
    """Below the line that dates them, with the speaker that they name."""
    mine = "I reside in Narvik, above the ferry office."
    with subtests.test("dated lines"):
        found = again(lines(f"- [2026-01-05] user: {mine}", f"- user: {NOISE.text}"))
        assert "Narvik" in (found or "")
    with subtests.test("a line for the day"):
        assert "Narvik" in (again(lines("[2026-01-05]", NOISE.text, mine)) or "")
    with subtests.test("the day that the line gives"):
        made = lines("- [2026-01-05] user: I moved to Narvik yesterday.", f"- user: {NOISE.text}")
        said_when = again(
            made, ask="When did I move to Narvik?", text="I moved to Narvik yesterday."
        )
        assert "4 January" in (said_when or "")
    with subtests.test("the day of the line above"):
        made = lines("[2026-01-05]", NOISE.text, "I moved to Narvik yesterday.")
        said_when = again(
            made, ask="When did I move to Narvik?", text="I moved to Narvik yesterday."
        )
        assert "4 January" in (said_when or "")


def test_wrong_values_stay(subtests: pytest.Subtests) -> None:
    """A memory that shows an earlier value as well is not excused for it."""
    later = replace(OLD, time=NOW.replace(day=10))
    with subtests.test("an original"):
        assert "Bergen" in (again(TOLD, NOISE, later, wrong=("Bergen",)) or "")
        assert "Bergen" not in (again(TOLD, NOISE, later) or "")
    with subtests.test("a line"):
        made = lines(f"- user: {TOLD.text}", "- user: I live in Bergen now.")
        assert "Bergen" in (again(made, wrong=("Bergen",)) or "")


def test_only_the_offline_reader_reads_again() -> None:
    """A live model is asked once, and what the reader is told to miss stays missed."""
    assert again(TOLD, NOISE, model=object()) is None
    assert again(TOLD, NOISE, model=OfflineModel(load_tokenizer(), miss=1.0)) == IDK
