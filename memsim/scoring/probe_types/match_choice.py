"""Compare a choice by its words, its letter or its number (`match: choice`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.scoring.answer_match import AnswerMatch, occurrences
from memsim.scoring.answer_text import fold, read_words
from memsim.scoring.polarity import denied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.scenario.script import Probe

ANY_LENGTH = True


def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
    """Compare as one of the probe's choices."""
    return match_choice(expected, answer, probe.choices)


def match_choice(expected: str, answer: str, choices: Sequence[str]) -> AnswerMatch:
    """Compare as one of several options, given by its words, its letter or its number."""
    picked = _picked(answer, choices)
    wanted = read_words(expected).stems
    right = len(picked) == 1 and read_words(choices[picked[0]]).stems == wanted
    detail = f"picks {len(picked)} options" if len(picked) > 1 else ""
    return AnswerMatch(right=right, share=float(right), detail=detail)


_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзик",
    "αβγδεζηθικ",
    "אבגדהוזחטי",
    "ابجدهوزحطي",
    "가나다라마바사아자차",
    "कखगघङचछजझञ",
)
"""Letters that number choices, by script."""

_NAME = rf"([{''.join(_ALPHABETS)}]|\d{{1,2}})"
_LABEL = (
    "option|answer|choice|antwort|reponse|respuesta|opcion|resposta|opcao|risposta|opzione|antwoord"
    "|optie|svar|alternativ|odpowiedz|odpoved|moznost|ответ|вариант|відповідь|варіант|απαντηση"
    "|επιλογη|cevap|secenek|vastaus|vaihtoehto|valasz|raspuns|jawaban|pilihan|dap an|lua chon"
    "|الاجابة|الإجابة|الخيار|תשובה|אפשרות|उत्तर|विकल्प|答案|选项|選項|回答|選択肢|정답|답"
)
_LETTER = re.compile(
    rf"\W*(?:(?:the\s+|la\s+|die\s+|de\s+)?(?:{_LABEL})(?:\s+(?:is|ist|est|es|e|är|er)|是|は|은|는)?\W*)?{_NAME}\W*"
)
_LISTED = re.compile(rf"\W*{_NAME}\s*[).:]\s")


def _picked(answer: str, choices: Sequence[str]) -> list[int]:
    given = read_words(answer)
    gone = denied(given)
    spans = {
        n: [s for s in occurrences(read_words(choice), given) if s[0] not in gone]
        for n, choice in enumerate(choices)
    }
    everything = [span for found in spans.values() for span in found]
    picked = [n for n, found in spans.items() if any(not _inside(s, everything) for s in found)]
    if picked:
        return picked
    letter = _LETTER.fullmatch(fold(answer)) or _LISTED.match(fold(answer))
    if letter:
        name = letter.group(1)
        place = int(name) - 1 if name.isdecimal() else max(a.find(name) for a in _ALPHABETS)
        return [place] if 0 <= place < len(choices) else []
    return []


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(s[0] <= span[0] and span[1] <= s[1] and s != span for s in spans)
