"""Clauses on the range of what a server takes: languages, names, sizes and wrong requests."""

from __future__ import annotations

from typing import Any

from memsim.adapters.http_client import ServerError
from memsim.adapters.http_contract import DEEPEST, MOST_NAME, MOST_TEXT
from memsim.certification.clause import clause
from memsim.certification.clause_result import BrokenPromise
from memsim.certification.visit import Visit
from memsim.message import TokenCounter, load_tokenizer

SCRIPTS = {
    "Arabic": "المصباح على الطاولة في الغرفة ٤٧",
    "Chinese": "台灯在四十七号房间的桌子上",
    "Cyrillic": "Лампа стоит на столе в комнате 47",
    "Devanagari": "दीपक कमरे ४७ की मेज़ पर है",
    "emoji": "The lamp 🪔 is for 👩‍👩‍👧 and 🏳️‍🌈",
    "Greek": "μια λάμπα είναι στο τραπέζι του δωματίου 47",
    "Hangul": "램프는 47호실 책상 위에 있습니다",
    "Hebrew": "המנורה על השולחן בחדר 47",
    "Japanese": "ランプは47号室の机の上にあります",
    "ligatures": "The ﬁrst oﬃce, Ångström ﬂoor ①",
    "combining marks": "Cafe\u0301 and resume\u0301 on the table",
    "Thai": "โคมไฟอยู่บนโต๊ะในห้อง ๔๗",
}
NAMES = ("a/b c", "100%?#&=", "zoë", "小明", "per.son:1|2", "../..")

_SLACK = 1.5
"""How much more tokens a context may have by another tokenizer than the server's."""

_WRONG: dict[str, dict[str, Any]] = {
    "no id": {"id": None},
    "no principal": {"principal": None},
    "a number as text": {"text": 5},
    "a role that is none": {"role": 5},
}


@clause("languages.scripts")
def scripts(visit: Visit) -> None:
    """A text in any script is found by its own words, and comes back as it was said."""
    for text in SCRIPTS.values():
        visit.tell(text)
    for script, text in SCRIPTS.items():
        answers = visit.answers(text)
        if not any(text in found.text for texts in answers.values() for found in texts):
            raise BrokenPromise(f"{script}: the text does not come back as it was said")


@clause("languages.names")
def names(visit: Visit) -> None:
    """Principals, sessions and ids may have any characters but control characters."""
    for number, name in enumerate(NAMES):
        word = visit.word(str(number))
        try:
            visit.tell(f"The lamp is called {word}.", who=name, session=name, id=visit.name(name))
            found = visit.texts(word, who=name, session=name)
        except ServerError as error:
            if not error.status:
                raise
            raise BrokenPromise(f"the name {name!r} is refused") from error
        if not found:
            raise BrokenPromise(f"what {name!r} says is not found")


@clause("limits.text")
def long_text(visit: Visit) -> None:
    """A text of the largest size is taken."""
    word = visit.word()
    text = f"The lamp is called {word}. ".ljust(MOST_TEXT, ".")
    _taken(visit, visit.body(text), f"a text of {MOST_TEXT:,} characters")


@clause("limits.names")
def long_names(visit: Visit) -> None:
    """Names of the largest size are taken."""
    body = visit.body("The lamp is green.")
    body |= {key: str(body[key]).ljust(MOST_NAME, "x") for key in ("id", "principal", "session")}
    _taken(visit, body, f"a name of {MOST_NAME} characters")


@clause("limits.k", "search")
def most_results(visit: Visit) -> None:
    """A search returns at most k texts."""
    word = visit.word()
    for thing in ("lamp", "table", "window", "door", "chair"):
        visit.tell(f"The {thing} is called {word}.")
    visit.need(word)
    for k in (1, 2):
        found = visit.answers(f"What is called {word}?", k=k)["search"]
        if len(found) > k:
            raise BrokenPromise(f"k is {k}, and {len(found)} texts are returned")


@clause("limits.budget", "context")
def budget(visit: Visit) -> None:
    """A context keeps to its budget."""
    word = visit.word()
    for number in range(20):
        visit.tell(f"Lamp {number} of the {word} series stands on the table in room {number}.")
    visit.need(word)
    count = TokenCounter(load_tokenizer()).text
    for most in (0, 60, 200):
        texts = visit.answers(f"Where are the lamps of {word}?", budget=most)["context"]
        tokens = sum(count(text.text) for text in texts)
        if tokens > most * _SLACK:
            raise BrokenPromise(f"the budget is {most} tokens, and the context has {tokens}")


@clause("limits.nesting")
def nesting(visit: Visit) -> None:
    """A request that is nested too deep is refused, and one at the limit is taken."""
    _taken(visit, visit.body("The lamp is green.") | {"more": _nested(DEEPEST - 1)}, "the limit")
    try:
        visit.send(visit.body("The lamp is red.") | {"more": _nested(DEEPEST + 1)})
    except ServerError as error:
        if not error.status:
            raise
        if error.status >= 500 or not error.code:
            raise BrokenPromise(f"a deep request is refused with {error.status}") from error
    else:
        raise BrokenPromise(f"a request that is nested deeper than {DEEPEST} is accepted")


@clause("limits.refusals")
def refusals(visit: Visit) -> None:
    """A wrong request is refused with an error of the contract."""
    for what, wrong in _WRONG.items():
        body = {
            k: v for k, v in (visit.body("The lamp is green.") | wrong).items() if v is not None
        }
        try:
            visit.send(body)
        except ServerError as error:
            if not error.status:
                raise
            if error.status >= 500 or not error.code:
                said = f"{error.status}" if error.code else f"{error.status} without an error code"
                raise BrokenPromise(f"{what}: refused with {said}") from error
        else:
            raise BrokenPromise(f"{what}: accepted")


def _nested(depth: int) -> list[object]:
    """A list in a list, so many times."""
    found: list[object] = []
    for _ in range(depth - 1):
        found = [found]
    return found


def _taken(visit: Visit, body: dict[str, object], what: str) -> None:
    try:
        visit.send(body)
        visit.pass_turn()
    except ServerError as error:
        if not error.status:
            raise
        raise BrokenPromise(f"{what} is refused with {error.status}") from error
