"""Parse a question: the kind of answer, its content words and the person it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from memsim.language.courtesy import without_courtesy
from memsim.language.dates import DateMention, mentions
from memsim.language.lexicon import (
    ASKING,
    EARLIER,
    FIRST_PERSON,
    LIGHT,
    MONTHS,
    SECOND_PERSON,
    STOP,
    SYNONYMS,
    WEEKDAYS,
    WH,
)
from memsim.language.text import fold, stem, words
from memsim.language.word_forms import is_surely_foreign, light_stems

# Forms of questions: the kind of answer, its subject and its owner.


AnswerKind = Literal[
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
    r"|what\s(?:do|does|did|will|would)\s.{1,60}\s(?:cost|earn|owe)\b"
)
CODES: Final = frozenset({"number", "id", "reference", "pin", "iban", "isbn", "sku"})
"""Words for codes and numbers that identify something."""

_CODED = re.compile(
    rf"\b{_OF_WHAT}(?:{'|'.join(sorted(CODES))})\b(?!\sof\b)"
    rf"|\bwhich\s(?:[\w']+\s){{0,2}}?(?:number|id|reference)\b(?!\sof\b)"
)
_WHEN = (
    rf"^(?!who|what|which|where|how|why)(?:\w+,?\s){{0,3}}when\b|when\s(?:{_AUXILIARY}|am)\s|what\stime\b"
    rf"|{_OF_WHAT}(?:date|day|month|year|deadline)\b"
    r"|(?:on|in|at|by)\s(?:what|which)\s(?:date|day|weekday|month|year|time|evening)"
)
_NAME = (
    r"(?:what|which)(?:'s|\sis|\swas|\sare|\swere)\s.{1,80}\s(?:called|named|nicknamed)\b"
    r"|what(?:'s|\sis|\swas|\sare|\swere)\s(?:the\s|my\s|our\s|your\s|.{1,60}'s?\s)"
    r"(?:\w+\s)?name\b"
)
_KINDS: Final[tuple[tuple[AnswerKind, str, str], ...]] = (
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
    rf"\b(?:{'|'.join(sorted(EARLIER))}|earliest|used\sto|old"
    r"|before\s(?:that|the\schange|it\schanged))\b"
)
_FEELING: Final = re.compile(
    rf"\bhow(?:'s|\s(?:{_AUXILIARY}))\s.{{1,80}}\s(?:feel|felt|feeling|doing|going|go|like|find)\b"
    r"|\b(?:feelings?|sentiment|mood|emotions?|opinion)\b"
)
_TITLED: Final = frozenset(
    {"album", "book", "film", "game", "movie", "novel", "poem", "series", "show", "song"}
)
"""What has a title."""
_PAST_WORDS: Final = EARLIER | {"earliest", "old"}


class AnswerNoun(NamedTuple):
    """The words of the requested thing, and whether `be` is the only verb after them."""

    words: tuple[str, ...]
    bare: bool


def answer_kind(folded: str) -> tuple[AnswerKind, frozenset[str]]:
    """The kind of answer of a folded question, and the words that only express the kind."""
    for kind, finder, types in _FINDERS:
        if finder.search(folded):
            return kind, types
    spoken = words(folded)
    asked = bool(spoken) and spoken[0] in ASKING and " or " not in folded
    return ("yesno", frozenset()) if asked else ("open", _OPEN_TYPES)


def wants_code(folded: str) -> bool:
    """Whether a folded question asks for an identifying number, not for a count."""
    return bool(_CODED.search(folded))


def answer_noun(folded: str) -> AnswerNoun:
    """The words of the requested thing: `breed` in `what breed is my dog`."""
    match = _WANTED.search(folded)
    if match is None:
        return AnswerNoun((), bare=False)
    spoken = words(match["noun"] or match["thing"])
    is_only = (match["verb"] or "is") in _BE and not _ONGOING.search(folded, match.end())
    return AnswerNoun(tuple(spoken), bare=is_only)


def counted_noun(folded: str) -> str:
    """The counted thing: `cats` in `how many cats do I have`; or empty."""
    match = _COUNTED.search(folded)
    return match["thing"] if match else ""


def owner_names(folded: str) -> list[str]:
    """The person or thing in question: `sister` in `my sister's job`."""
    found = [match["whose"] or match["own"] for match in _OWNER.finditer(folded)]
    return found + [match["own"] for match in _SUBJECT.finditer(folded)]


def wants_several(folded: str, noun: str) -> bool:
    """Whether several things are requested."""
    plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    return plural or noun in _PLURALS or bool(_SEVERAL.search(folded))


def wants_past(folded: str) -> bool:
    """Whether an earlier state is requested instead of the present one."""
    return bool(_PAST.search(folded))


def wants_feeling(folded: str) -> bool:
    """Whether a folded question asks how somebody feels or how something goes."""
    return _FEELING.search(folded) is not None


def without_past(spoken: list[str]) -> list[str]:
    """The content words of such a question."""
    return [word for word in spoken if word not in _PAST_WORDS]


LIGHT_WEIGHT: Final = 0.3
SYNONYM_WEIGHT: Final = 0.7

_POLITE: Final = re.compile(
    r"^\s*(?:(?:hey|hi|hello|so|and|ok|okay|please|sorry|excuse\sme|well|also|by\sthe\sway|btw"
    r"|i\sforgot|quick\squestion|just\scurious)[\s,:.!-]+){0,4}"
    r"(?:(?:(?:can|could|would|will)\syou\s(?:please\s|kindly\s)?(?:tell|remind|show|give)\s(?:me|us)"
    r"|would\syou\s(?:please\s)?mind\s(?:telling|reminding|showing)\s(?:me|us)"
    r"|(?:please\s)?(?:tell|remind|show)\s(?:me|us)|let\s(?:me|us)\sknow"
    r"|(?:do|can)\syou\s(?:still\s|happen\sto\s)?(?:know|remember|recall)"
    r"|i(?:'d|\u2019d|\swould)\s(?:like|love)\sto\sknow|i\swonder|i\swas\swondering)"
    r"(?:\s(?:again|please))?[\s,:-]+)?",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"(?:(?:[\s,.!?\u2026-]+(?:please|thanks|thank\syou|many\sthanks|if\syou\s(?:know|remember))"
    r"(?:\s(?:a\slot|so\smuch|very\smuch))?){0,3}[\s,.!?\u2026]*)$",
    re.IGNORECASE,
)
_POLITE_LAYERS: Final = 3
_CLOSING_LENGTH: Final = 80
_MARKS: Final = " \t\r\n,.!?\u2026-"
_WHOM: Final = re.compile(
    rf"\b(?:{_AUXILIARY})\s(?P<one>[^\W\d_]+)(?:\sand\s(?P<two>[^\W\d_]+))?"
    r"|\b(?P<whose>[^\W\d_]+)'s\b"
)
_LISTING: Final = re.compile(
    r"\b(?:list|name)\s(?:me\s)?(?=(?:all|every)\s(?:of\s)?(?:the\s|my\s|your\s|our\s)?"
    r"(?P<kind>[^\W\d_]+))",
    re.IGNORECASE,
)
_LIVING: Final = re.compile(r"\bdo(?:es)?\sfor\s(?:a\sliving|work)\b", re.IGNORECASE)
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w\u2019'-]*")
_NO_NAMES: Final = STOP | WH | ASKING | frozenset(MONTHS) | frozenset(WEEKDAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """A parsed question.

    Attributes:
        kind: the kind of answer.
        weights: its content stems, each with its weight, 0 to 1.
        full: the stems that carry meaning by themselves.
        stands_for: other stems that may replace one of them.
        known: every stem that can match.
        names: stems of the names in it, in order.
        owners: stems of the persons or things in question, and of the codes that it names.
        head: stem of the noun of the requested thing, as `breed` in `what breed is my dog`; or
            empty.
        bare: whether `be` is the only verb after that noun.
        counted: stem of the counted thing, or empty.
        mine, yours: whether it is about the asker, or about the person asked.
        many: whether it asks for several things.
        listed: whether it asks for all of them, as `List all the ...` does.
        coded: whether it asks for an identifying number.
        past: whether it asks for an earlier state.
        titled: whether it asks for a work that has a title, such as a book.
        feeling: whether it asks how somebody feels or how something goes.
        dates: the dates that it names.
        folded: its words in comparable form.
    """

    kind: AnswerKind
    weights: dict[str, float]
    full: frozenset[str]
    stands_for: dict[str, str]
    known: frozenset[str]
    names: tuple[str, ...]
    owners: frozenset[str]
    head: str
    bare: bool
    counted: str
    mine: bool
    yours: bool
    many: bool
    listed: bool
    coded: bool
    past: bool
    titled: bool
    feeling: bool
    dates: tuple[DateMention, ...]
    folded: str

    def found_in(self, text: str) -> frozenset[str]:
        """The stems of the question that a text holds, directly or by a replacement."""
        held = self.known.intersection(map(stem, words(text)))
        return frozenset(self.stands_for.get(root, root) for root in held)


def bare_question(text: str) -> str:
    """A question without politeness, with one question mark at its end."""
    # Only the end is searched, so that a megabyte of full stops is no work.
    bare = without_courtesy(text).strip().rstrip(_MARKS)
    bare = bare[:-_CLOSING_LENGTH] + _CLOSING.sub("", bare[-_CLOSING_LENGTH:])
    for _ in range(_POLITE_LAYERS):
        bare = _POLITE.sub("", bare) or bare
    return f"{bare or text.strip()}?"


def subjects(text: str) -> frozenset[str]:
    """Stems of the words of a question that may name whom it is about, however they are written.

    They stand behind `did` or another auxiliary verb, or before `'s`, and are no words that others
    can replace.
    """
    folded = fold(bare_question(text))
    found = {match[name] for match in _WHOM.finditer(folded) for name in ("one", "two", "whose")}
    roots = (stem(word) for word in found if word and word not in _NO_NAMES)
    return frozenset(r for r in roots if r not in _GROUPS and r not in _LIGHT_STEMS)


@lru_cache(maxsize=1 << 12)
def parse_question(text: str, known: frozenset[str] | None = None) -> ParsedQuestion:
    """Parse the question in a text.

    Args:
        text: the question.
        known: stems of the names that may be in it; None for those that it writes with a capital.
    """
    text = _LIVING.sub("work as", bare_question(text))
    folded = fold(text)
    asked = mentions(text)
    names = _names(text) if known is None else _known_names(words(folded), known)
    kind, types = answer_kind(folded)
    past = wants_past(folded)
    listed = _LISTING.search(text)
    said = words(_LISTING.sub("", _without(text, asked)))
    weights = _weights(without_past(said) if past else said, types, names)
    counted = stem(counted_noun(folded))
    wanted = answer_noun(folded)
    owners = _owners(folded, weights, counted)
    noun = _noun(wanted, weights, owners)
    head = stem(noun)
    if listed and (kept := stem(fold(listed["kind"]))) in weights and len(weights) > 1:
        # Things of a kind are told without its name: `Ana plays the oboe`, of her instruments.
        weights[kept] = min(weights[kept], LIGHT_WEIGHT)
    stands_for = _alternatives(weights, names) | _bare_forms(weights, said, text)
    return ParsedQuestion(
        kind=kind,
        weights=weights,
        full=frozenset(root for root, weight in weights.items() if weight >= 1),
        stands_for=stands_for,
        known=frozenset(weights) | frozenset(stands_for),
        names=names,
        owners=owners,
        head=head if _names_it(kind, head, weights, names) else "",
        bare=wanted.bare,
        counted=counted,
        mine=not FIRST_PERSON.isdisjoint(said),
        yours=not SECOND_PERSON.isdisjoint(said),
        many=kind in {"open", "who", "where"} and wants_several(folded, noun),
        listed=listed is not None,
        coded=wants_code(folded),
        past=past,
        titled=kind == "open" and not _OPEN_TYPES.intersection(said) and fold(noun) in _TITLED,
        feeling=wants_feeling(folded),
        dates=asked,
        folded=folded,
    )


def _without(text: str, asked: tuple[DateMention, ...]) -> str:
    for mention in reversed(asked):
        text = text[: mention.start] + " " + text[mention.end :]
    return text


def _names(text: str) -> tuple[str, ...]:
    found = []
    for match in _CAPITALISED.finditer(text):
        folded = fold(match.group())
        bare = folded.removesuffix("'s").removesuffix("'")
        if match.start() > 0 and bare not in _NO_NAMES:
            found.append(stem(folded))
    return tuple(dict.fromkeys(found))


def _known_names(said: list[str], known: frozenset[str]) -> tuple[str, ...]:
    roots = (stem(word) for word in said if word not in _NO_NAMES)
    return tuple(dict.fromkeys(root for root in roots if root in known))


def _weights(said: list[str], types: frozenset[str], names: tuple[str, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word in said:
        if word in STOP or word in WH or word in types:
            continue
        root = stem(word)
        light = word in LIGHT or root in _LIGHT_STEMS
        weights[root] = LIGHT_WEIGHT if light and root not in names else 1.0
    return weights


def _owners(folded: str, weights: dict[str, float], counted: str) -> frozenset[str]:
    found = {stem(word) for word in owner_names(folded)}
    if weights.get(counted, 0.0) >= 1:
        found.add(counted)
    codes = {root for root in weights if not root.isalnum() and any(c.isdigit() for c in root)}
    return frozenset(found & weights.keys() | codes)


def _noun(wanted: AnswerNoun, weights: dict[str, float], owners: frozenset[str]) -> str:
    found = [word for word in wanted.words if word not in STOP]
    full = [w for w in found if weights.get(stem(w), 0.0) >= 1 and stem(w) not in owners]
    return (full or found or [""])[-1]


def _names_it(
    kind: AnswerKind, head: str, weights: dict[str, float], names: tuple[str, ...]
) -> bool:
    return kind in {"open", "number"} and weights.get(head, 0.0) >= 1 and head not in names


def _alternatives(weights: dict[str, float], names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for root in weights:
        if root not in names:
            for other in _GROUPS.get(root, ()):
                if other not in weights:
                    found.setdefault(other, root)
    return found


def _bare_forms(weights: dict[str, float], said: list[str], text: str) -> dict[str, str]:
    """Words of a question in another language than English, without each ending they may have."""
    if not is_surely_foreign(text):
        return {}
    roots = ((word, stem(word)) for word in said)
    return {
        bare: root
        for word, root in roots
        if root in weights
        for bare in (word, *light_stems(word))
        if bare not in weights
    }


def _grouped() -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for line in SYNONYMS:
        general, _, special = line.rpartition(">")
        stems = [stem(word) for word in special.split()]
        for root in [stem(general.strip())] if general else stems:
            groups.setdefault(root, []).extend(s for s in stems if s != root)
    return {root: tuple(dict.fromkeys(others)) for root, others in groups.items()}


_GROUPS: Final = _grouped()
_LIGHT_STEMS: Final = frozenset(map(stem, LIGHT))
KNOWN_STEMS: Final = frozenset(_GROUPS) | _LIGHT_STEMS
"""Stems of words that the reader knows: they are no slips, whatever a context says."""
