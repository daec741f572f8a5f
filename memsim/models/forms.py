"""The forms that questions take: what kind of answer each wants, of what, and whose."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from memsim.models.lexicon import ASKING
from memsim.models.text import words

Kind = Literal[
    "when",
    "number",
    "elapsed",
    "duration",
    "often",
    "who",
    "where",
    "colour",
    "name",
    "yesno",
    "open",
]

_AUXILIARY = "did|does|do|is|was|are|were|has|have|had|can|could|will|would|should|must"
_OF_WHAT = r"(?:what|which)(?:'s|\sis|\swas|\sare|\swere)?\s(?:[\w']+\s){0,4}?"
_ELAPSED = (
    r"how\s(?:long|many\s\w+)\sago"
    r"|how\s(?:long|many\s(?:days|weeks|months|years))\s"
    r"(?:has\sit\sbeen|is\sit|(?:have|has)\spassed|passed|went\sby)\ssince"
)
_NUMBER = (
    r"how\s(?:many|much|old|tall|big|far|large|high|heavy|fast)"
    rf"|{_OF_WHAT}(?:number\sof|amount|price|cost|total|percentage|percent|age|count"
    r"|quantity|sum|limit|budget|score|rate)\b"
)
CODES: Final = frozenset({"number", "id", "reference", "pin", "iban", "isbn", "sku"})
"""What something is numbered by."""

_CODED = re.compile(
    rf"\b{_OF_WHAT}(?:{'|'.join(sorted(CODES))})\b(?!\sof\b)"
    rf"|\bwhich\s(?:[\w']+\s){{0,2}}?(?:number|id|reference)\b(?!\sof\b)"
)
_WHEN = (
    rf"^(?:\w+,?\s){{0,3}}when\b|when\s(?:{_AUXILIARY}|am)\s|what\stime\b"
    rf"|{_OF_WHAT}(?:date|day|month|year|deadline)\b"
    r"|(?:on|in|at|by)\s(?:what|which)\s(?:date|day|weekday|month|year|time|evening)"
)
_NAME = (
    r"(?:what|which)(?:'s|\sis|\swas|\sare|\swere)\s.{1,80}\s(?:called|named|nicknamed)\b"
    r"|what(?:'s|\sis|\swas|\sare|\swere)\s(?:the\s|my\s|our\s|your\s|.{1,60}'s?\s)"
    r"(?:\w+\s)?name\b"
)
_KINDS: Final[tuple[tuple[Kind, str, str], ...]] = (
    ("elapsed", _ELAPSED, "long many day days week weeks month months year years passed"),
    ("duration", r"how\slong|since\swhen", "long time"),
    ("often", r"how\s(?:often|frequently|regularly)", "often frequently regularly"),
    ("number", _NUMBER, "many much number amount count quantity total"),
    ("when", _WHEN, "date day weekday month year time when"),
    ("colour", r"(?:what|which)\b(?:\s\w+){0,3}\scolou?rs?\b", "colour color"),
    ("name", _NAME, "name called named"),
    ("who", r"who(?:m|se|'s)?\b", "name person people"),
    ("where", r"where\b", "place location"),
)
_FINDERS: Final = tuple(
    (kind, re.compile(rf"\b(?:{form})"), frozenset(types.split())) for kind, form, types in _KINDS
)
_OPEN_TYPES: Final = frozenset({"kind", "type", "sort"})

_WANTED: Final = re.compile(
    r"\b(?:what|which)\s(?:(?:kind|type|sort|brand)s?\sof\s)?"
    rf"(?P<noun>(?:[\w'-]+\s){{1,4}}?)(?P<verb>{_AUXILIARY})\b"
    r"|\b(?:what(?:'s|\sis|\sare|\swas|\swere)|how\s(?:much|many|high|large)\s(?:is|are|was|were))\s"
    r"(?P<thing>(?:(?!(?:of|for|in|at|on|to|from|with)\b)[\w'-]+\s?){1,6})"
)
_BE: Final = frozenset({"is", "are", "was", "were"})
_ONGOING: Final = re.compile(r"\b(?!during\b|morning\b|evening\b|thing\b)\w{2,}ing\b")
_COUNTED: Final = re.compile(
    r"\bhow\smany\s(?:\w+\s(?=\w+\s(?:do|did|does|are|have|has)\b))?(?P<thing>\w+)"
)
_OWNER: Final = re.compile(
    r"\b(?P<whose>[^\W_]+)'s\b"
    r"|\b(?:my|our|your)\s(?:\w+\s(?=\w+\s\w+$))?(?P<own>[^\W_]+)\b(?=\s\w+|$)"
)
_SUBJECT: Final = re.compile(
    r"\b(?:did|does|do|has|have|had)\s(?:the|my|our|your)\s(?P<own>[^\W_]+)\b(?!')"
)
_SEVERAL: Final = re.compile(
    r"\blist\b|\bname\s(?:all|the)\b|\bin\swhat\sways\b|\ball\s(?:the|my|of)\b|\bboth\b"
)
_PLURALS: Final = frozenset({"people", "children", "men", "women", "friends"})
_PAST: Final = re.compile(
    r"\b(?:first|original|originally|initially|previously|previous|used\sto|formerly|earlier|earliest"
    r"|before\s(?:that|the\schange|it\schanged)|old)\b"
)
_PAST_WORDS: Final = frozenset(
    {"first", "original", "originally", "initially", "previous", "previously", "formerly", "old"}
    | {"earlier", "earliest"}
)


class Wanted(NamedTuple):
    """The words that name what is wanted, and whether no verb but `be` follows."""

    words: tuple[str, ...]
    bare: bool


def kind_of(folded: str) -> tuple[Kind, frozenset[str]]:
    """What kind of answer a folded question wants, and the words that say no more than that."""
    for kind, finder, types in _FINDERS:
        if finder.search(folded):
            return kind, types
    spoken = words(folded)
    asked = bool(spoken) and spoken[0] in ASKING and " or " not in folded
    return ("yesno", frozenset()) if asked else ("open", _OPEN_TYPES)


def wants_code(folded: str) -> bool:
    """Whether a folded question asks for what something is numbered by, not for how many."""
    return bool(_CODED.search(folded))


def wanted(folded: str) -> Wanted:
    """The words of what is wanted: `breed` in `what breed is my dog`."""
    match = _WANTED.search(folded)
    if match is None:
        return Wanted((), bare=False)
    spoken = words(match["noun"] or match["thing"])
    is_only = (match["verb"] or "is") in _BE and not _ONGOING.search(folded, match.end())
    return Wanted(tuple(spoken), bare=is_only)


def counted(folded: str) -> str:
    """What is counted: `cats` in `how many cats do I have`; or nothing."""
    match = _COUNTED.search(folded)
    return match["thing"] if match else ""


def owners(folded: str) -> list[str]:
    """Whom or what it asks about: `sister` in `my sister's job`."""
    found = [match["whose"] or match["own"] for match in _OWNER.finditer(folded)]
    return found + [match["own"] for match in _SUBJECT.finditer(folded)]


def wants_several(folded: str, noun: str) -> bool:
    """Whether more than one thing is wanted."""
    plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    return plural or noun in _PLURALS or bool(_SEVERAL.search(folded))


def wants_past(folded: str) -> bool:
    """Whether an earlier state is wanted instead of the present one."""
    return bool(_PAST.search(folded))


def without_past(spoken: list[str]) -> list[str]:
    """The words of such a question that say what it is about."""
    return [word for word in spoken if word not in _PAST_WORDS]
