"""Questions about who said something: `Who proposed the inn?`, `Did I suggest it, or did you?`.

They are answered with the speaker of the first statement that holds their matter. What a statement
reports of somebody else, as in `Haruka says that ...`, is not its speaker's own word, so that such
questions are read as any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memsim.language.speech_verbs import SAYING, SETTLING
from memsim.language.text import fold, read_head, stem
from memsim.models.offline.question import bare_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models.offline.candidates import Candidate
    from memsim.models.offline.statements import Statement

SAME: Final = 0.9
"""Share of the best score from which a statement holds the matter of a question as well."""

_SAID: Final = f"(?:{'|'.join((*SAYING.values(), *SETTLING.values()))})"
_SAY: Final = f"(?:{'|'.join((*SAYING, *SETTLING))})"
_WHO: Final = re.compile(
    rf"(?:who|which\sof\sus)\s(?:first\s|originally\s)?{_SAID}\b\s(?P<matter>.{{3,}})"
)
_EITHER: Final = re.compile(
    rf"(?:did|was\sit)\s(?:i|you|me)\s(?:who\s|that\s)?(?:{_SAY}|{_SAID})\b\s(?P<matter>.{{3,}}?)"
    r",?\sor\s(?:did\s|was\sit\s)?(?:you|i|me)"
)
_OR: Final = re.compile(r",\s(?:you|i|me)\sor\s(?:you|i|me)$")
_REPORTED: Final = re.compile(
    r"\b(?:says|said|swears|tells|told|wrote|writes|thinks|thought|suggests|suggested|recommends"
    r"|recommended|proposes|proposed|according)\b"
)
_FIRST: Final = re.compile(r"\b(?:i|we)\s(?:just\s|also\s)?(?:said|told|wrote|thought|suggested)\b")


def origin_matter(question: str) -> str:
    """What a question wants the speaker of; empty if it wants something else."""
    folded = fold(bare_question(question.partition("\n")[0])).rstrip("?")
    match = _EITHER.fullmatch(folded) or _WHO.fullmatch(folded)
    return _OR.sub("", match["matter"]) if match else ""


def first_holder(ranked: Sequence[Candidate]) -> Candidate | None:
    """The first of the statements that hold the matter; None if it reports what others said."""
    least = ranked[0].score * SAME
    holding = [c for c in ranked if c.score >= least]
    found = min(holding, key=lambda c: (_day(c.statement), c.statement.order, c.place))
    text = fold(found.sentence.text)
    return None if _REPORTED.search(text) and not _FIRST.search(text) else found


def _day(statement: Statement) -> str:
    return statement.day.isoformat() if statement.day else "9999"


def speaker_name(statement: Statement, asker: str, asker_name: str) -> str:
    """The speaker of a statement as an answer names them.

    Args:
        statement: whose speaker is named.
        asker: the stem of the asker's name, or `user`.
        asker_name: the asker's name as it is written; may be empty.
    """
    if statement.who in {asker, "user"}:
        named = asker_name and fold(asker_name) != "user"
        return f"You, the user {asker_name}" if named else "You, the user"
    if statement.who == stem("assistant"):
        return "The assistant"
    if statement.who == "tool":
        return "A tool"
    return _written(statement)


def _written(statement: Statement) -> str:
    message = statement.message
    if not message.composed:
        return message.principal
    heads = (read_head(line).who for line in message.text.splitlines())
    return next((who for who in heads if stem(fold(who)) == statement.who), statement.who)
