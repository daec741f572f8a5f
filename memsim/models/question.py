"""What a question asks for: its kind, its content words and whom it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memsim.models.dates import Mention, mentions
from memsim.models.lexicon import ASKING, COLOURS, LIGHT, MONTHS, STOP, SYNONYMS, WEEKDAYS, WH
from memsim.models.text import fold, stem, words

Kind = Literal[
    "when", "number", "elapsed", "duration", "often", "who", "where", "colour", "yesno", "open"
]

LIGHT_WEIGHT = 0.3
SYNONYM_WEIGHT = 0.7

_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "elapsed",
        r"how\s(?:long|many\s\w+)\sago|how\s(?:long|many\s(?:days|weeks|months|years))\s"
        r"(?:has\sit\sbeen|is\sit|(?:have|has)\spassed|passed|went\sby)\ssince",
    ),
    ("duration", r"how\slong|since\swhen"),
    ("often", r"how\s(?:often|frequently|regularly)"),
    (
        "number",
        r"how\s(?:many|much|old|tall|big|far|large|high|heavy|fast)|"
        r"(?:what|which)(?:'s|\sis|\swas|\sare)?\s(?:[\w']+\s){0,4}?"
        r"(?:number\sof|amount|price|cost|total|percentage|percent|age|count|quantity|sum|limit|budget|score|rate)\b",
    ),
    (
        "when",
        r"^(?:\w+,?\s){0,3}when\b|\bwhen\s(?:did|do|does|is|are|was|were|will|would|has|have|had|should|can|could|am)\s"
        r"|(?:what|which)(?:'s|\sis|\swas)?\s(?:[\w']+\s){0,4}?(?:date|day|month|year|deadline)\b|what\stime\b|"
        r"(?:on|in|by)\s(?:what|which)\s(?:date|day|month|year)",
    ),
    ("colour", r"(?:what|which)\b(?:\s\w+){0,3}\scolou?rs?\b"),
    ("who", r"who(?:m|se|'s)?\b"),
    ("where", r"where\b"),
)
_FINDERS = tuple((kind, re.compile(rf"\b(?:{pattern})")) for kind, pattern in _KINDS)
_TYPE_WORDS = {
    "when": frozenset(["date", "day", "month", "year", "time", "when"]),
    "number": frozenset(["many", "much", "number", "amount", "count", "quantity", "total"]),
    "elapsed": frozenset(
        [
            "long",
            "many",
            "day",
            "week",
            "month",
            "year",
            "days",
            "weeks",
            "months",
            "years",
            "passed",
        ]
    ),
    "duration": frozenset(["long", "time"]),
    "often": frozenset(["often", "frequently", "regularly"]),
    "colour": frozenset(["color", "colour"]),
    "who": frozenset(["name", "person", "people"]),
    "where": frozenset(["place", "location"]),
    "yesno": frozenset(),
    "open": frozenset(["kind", "type", "sort", "name"]),
}
_PAST = re.compile(
    r"\b(?:first|originally|original|initially|previously|previous|used to|formerly|earlier|earliest|"
    r"before (?:that|the change|it changed)|old)\b"
)
_PAST_WORDS = frozenset(
    [
        "first",
        "originally",
        "original",
        "initially",
        "previously",
        "previous",
        "formerly",
        "earlier",
        "earliest",
        "old",
    ]
)
_SEVERAL = re.compile(
    r"\blist\b|\bname\s(?:all|the)\b|\bin\swhat\sways\b|\ball\s(?:the|my|of)\b|\bboth\b"
)
_PLURALS = frozenset({"people", "children", "men", "women", "friends"})
_OWNER = re.compile(
    r"\b([^\W_]+)'s\b|\b(?:my|our|your)\s(?:\w+\s(?=\w+\s\w+$))?([^\W_]+)\b(?=\s\w+|$)"
)
_POLITE = re.compile(
    r"^\s*(?:(?:hey|hi|so|and|ok|okay|please|sorry|well|also|by the way|btw|i forgot|quick question)[\s,:.!-]+){0,4}"
    r"(?:(?:can|could|would|will)\syou\s(?:please\s)?(?:tell|remind|show|give)\s(?:me|us)\s(?:again\s)?"
    r"|(?:please\s)?(?:tell|remind|show)\s(?:me|us)\s(?:again\s)?"
    r"|do\syou\s(?:still\s)?(?:know|remember|recall)\s|i\swonder\s)?",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\bhow\smany\s(?:\w+\s(?=\w+\s(?:do|did|does|are|have|has)\b))?(\w+)")
_WANTED = re.compile(
    r"\b(?:what|which)\s(?:(?:kind|type|sort|brand)s?\sof\s)?(?P<before>(?:[\w'-]+\s){1,4}?)"
    r"(?P<aux>did|does|do|is|was|are|were|has|have|had|can|could|will|would|should)\b"
    r"|\bwhat(?:'s|\sis|\sare|\swas|\swere)\s(?P<after>(?:(?!of\b|for\b|in\b|at\b|on\b|to\b|from\b|with\b)[\w'-]+\s?){1,6})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, taken apart.

    Attributes:
        kind: what would answer it.
        weights: its content stems, each with how much it says, 0 to 1.
        stands_for: other stems that may stand for one of them.
        names: stems of the names in it, in order.
        mine, yours: whether it asks about the asker, or about the one asked.
        many: whether it asks for several things.
        past: whether it asks for an earlier state rather than the present one.
        folded: its words in comparable form.
    """

    text: str
    kind: Kind
    weights: dict[str, float]
    stands_for: dict[str, str]
    names: tuple[str, ...]
    mine: bool
    yours: bool
    many: bool
    past: bool
    folded: str
    known: frozenset[str]
    """Every stem that can match."""
    asked: tuple[Mention, ...]
    """The dates that the question itself names."""
    counted: str
    """Stem of what is counted, as `cat` in `how many cats do I have`; or nothing."""
    head: str
    """Stem of the noun that names what is wanted, as `breed` in `what breed is my dog`; or nothing."""
    bare: bool
    """Whether no verb but a form of `be` or `have` ties what is wanted to the rest."""
    owners: frozenset[str]
    """Stems of whom or what it asks about, as `sister` in `my sister's job`, and of the codes that it names."""

    def found_in(self, text: str) -> frozenset[str]:
        """Which of its stems a text holds, itself or by a word that stands for it."""
        held = self.known.intersection(stem(word) for word in words(text))
        return frozenset(self.stands_for.get(root, root) for root in held)


@lru_cache(maxsize=1 << 12)
def parse(text: str) -> Question:
    """The question in a text."""
    text = _POLITE.sub("", text)
    folded = fold(text)
    asked = mentions(text)
    spoken = words(_without(text, asked))
    kind = _kind(folded, spoken)
    names = _names(text)
    past = bool(_PAST.search(folded))
    spoken_of = [w for w in spoken if not past or w not in _PAST_WORDS]
    weights = _weights(spoken_of, kind, names)
    owners = _owners(folded, weights)
    wanted, bare = _wanted(folded, weights, owners)
    head = stem(wanted)
    stands_for = _alternatives(weights, names)
    return Question(
        text=text,
        kind=kind,
        weights=weights,
        stands_for=stands_for,
        known=frozenset(weights) | frozenset(stands_for),
        asked=asked,
        counted=stem(match[1]) if (match := _COUNTED.search(folded)) else "",
        owners=owners,
        bare=bare,
        head=head if kind == "open" and weights.get(head, 0) >= 1 and head not in names else "",
        names=names,
        mine=not {"i", "my", "me", "mine", "i'm", "i've", "we", "our", "us"}.isdisjoint(spoken),
        yours=not {"you", "your", "yours"}.isdisjoint(spoken),
        many=kind in {"open", "who", "where"} and _many(folded, wanted),
        past=past,
        folded=folded,
    )


def _wanted(folded: str, weights: dict[str, float], owners: frozenset[str]) -> tuple[str, bool]:
    match = _WANTED.search(folded)
    if match is None:
        return "", False
    found = [w for w in words(match["before"] or match["after"] or "") if w not in STOP]
    full = [w for w in found if weights.get(stem(w), 0) >= 1 and stem(w) not in owners]
    acts = (match["aux"] or "is") in {"did", "does", "do"}
    return (full or found or [""])[-1], not acts


def _owners(folded: str, weights: dict[str, float]) -> frozenset[str]:
    found = {stem(match[1] or match[2]) for match in _OWNER.finditer(folded)}
    codes = {root for root in weights if not root.isalnum() and any(c.isdigit() for c in root)}
    return frozenset((found & weights.keys()) | codes)


def _many(folded: str, wanted: str) -> bool:
    plural = wanted.endswith("s") and not wanted.endswith(("ss", "us", "is", "'s"))
    return plural or wanted in _PLURALS or bool(_SEVERAL.search(folded))


def _without(text: str, asked: tuple[Mention, ...]) -> str:
    for mention in reversed(asked):
        text = text[: mention.start] + " " + text[mention.end :]
    return text


def _kind(folded: str, spoken: list[str]) -> Kind:
    for kind, finder in _FINDERS:
        if finder.search(folded):
            return kind
    asked = spoken and spoken[0] in ASKING and " or " not in folded
    return "yesno" if asked else "open"


def _names(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for match in re.finditer(r"\b[A-Z][\w\u2019'-]*", text):
        folded = fold(match.group())
        bare = folded.removesuffix("'s").removesuffix("'")
        usual = bare in STOP or bare in WH or bare in ASKING or bare in MONTHS or bare in WEEKDAYS
        if not usual and match.start() > 0 and bare != "i":
            found.append(stem(folded))
    return tuple(dict.fromkeys(found))


def _weights(spoken: list[str], kind: Kind, names: tuple[str, ...]) -> dict[str, float]:
    types = _TYPE_WORDS[kind]
    weights: dict[str, float] = {}
    for word in spoken:
        if word in STOP or word in WH or word in types:
            continue
        root = stem(word)
        light = word in LIGHT or root in _LIGHT_STEMS
        weights[root] = LIGHT_WEIGHT if light and root not in names else 1.0
    return weights


def _alternatives(weights: dict[str, float], names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for root in weights:
        if root in names:
            continue
        for other in _GROUPS.get(root, ()):
            if other not in weights:
                found.setdefault(other, root)
    return found


def _grouped() -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for line in SYNONYMS:
        stems = [stem(word) for word in line.split()]
        for root in stems:
            groups.setdefault(root, []).extend(s for s in stems if s != root)
    return {root: tuple(dict.fromkeys(others)) for root, others in groups.items()}


_GROUPS = _grouped()
_LIGHT_STEMS = frozenset(stem(word) for word in LIGHT)
COLOUR_STEMS = frozenset(stem(word) for word in COLOURS)
