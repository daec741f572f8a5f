"""What a question asks for: its kind, its content words and whom it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memsim.models import forms
from memsim.models.dates import Mention, mentions
from memsim.models.lexicon import (
    ASKING,
    FIRST_PERSON,
    LIGHT,
    MONTHS,
    SECOND_PERSON,
    STOP,
    SYNONYMS,
    WEEKDAYS,
    WH,
)
from memsim.models.text import fold, stem, words

LIGHT_WEIGHT: Final = 0.3
SYNONYM_WEIGHT: Final = 0.7

_POLITE: Final = re.compile(
    r"^\s*(?:(?:hey|hi|so|and|ok|okay|please|sorry|well|also|by the way|btw|i forgot"
    r"|quick question)[\s,:.!-]+){0,4}"
    r"(?:(?:can|could|would|will)\syou\s(?:please\s)?(?:tell|remind|show|give)\s(?:me|us)\s"
    r"(?:again\s)?|(?:please\s)?(?:tell|remind|show)\s(?:me|us)\s(?:again\s)?"
    r"|do\syou\s(?:still\s)?(?:know|remember|recall)\s|i\swonder\s)?",
    re.IGNORECASE,
)
_LIVING: Final = re.compile(r"\bdo(?:es)?\sfor\s(?:a\sliving|work)\b")
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w\u2019'-]*")
_NO_NAMES: Final = STOP | WH | ASKING | frozenset(MONTHS) | frozenset(WEEKDAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, taken apart.

    Attributes:
        kind: what would answer it.
        weights: its content stems, each with how much it says, 0 to 1.
        full: those of them that say something of their own.
        stands_for: other stems that may stand for one of them.
        known: every stem that can match.
        names: stems of the names in it, in order.
        owners: stems of whom or what it asks about, and of the codes that it names.
        head: stem of the noun that names what is wanted, as `breed` in `what breed is my dog`; or
            nothing.
        bare: whether no verb but a form of `be` ties what is wanted to the rest.
        counted: stem of what is counted, or nothing.
        mine, yours: whether it asks about the asker, or about the one asked.
        many: whether it asks for several things.
        coded: whether it asks for what something is numbered by.
        past: whether it asks for an earlier state rather than the present one.
        asked: the dates that it names itself.
        folded: its words in comparable form.
    """

    kind: forms.Kind
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
    coded: bool
    past: bool
    asked: tuple[Mention, ...]
    folded: str

    def found_in(self, text: str) -> frozenset[str]:
        """Which of its stems a text holds, itself or by a word that stands for it."""
        held = self.known.intersection(map(stem, words(text)))
        return frozenset(self.stands_for.get(root, root) for root in held)


@lru_cache(maxsize=1 << 12)
def parse(text: str) -> Question:
    """The question in a text."""
    text = _LIVING.sub("work as", _POLITE.sub("", text))
    folded = fold(text)
    asked = mentions(text)
    names = _names(text)
    kind, types = forms.kind_of(folded)
    past = forms.wants_past(folded)
    said = words(_without(text, asked))
    weights = _weights(forms.without_past(said) if past else said, types, names)
    counted = stem(forms.counted(folded))
    wanted = forms.wanted(folded)
    owners = _owners(folded, weights, counted)
    noun = _noun(wanted, weights, owners)
    head = stem(noun)
    stands_for = _alternatives(weights, names)
    return Question(
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
        many=kind in {"open", "who", "where"} and forms.wants_several(folded, noun),
        coded=forms.wants_code(folded),
        past=past,
        asked=asked,
        folded=folded,
    )


def _without(text: str, asked: tuple[Mention, ...]) -> str:
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
    found = {stem(word) for word in forms.owners(folded)}
    if weights.get(counted, 0.0) >= 1:
        found.add(counted)
    codes = {root for root in weights if not root.isalnum() and any(c.isdigit() for c in root)}
    return frozenset(found & weights.keys() | codes)


def _noun(wanted: forms.Wanted, weights: dict[str, float], owners: frozenset[str]) -> str:
    found = [word for word in wanted.words if word not in STOP]
    full = [w for w in found if weights.get(stem(w), 0.0) >= 1 and stem(w) not in owners]
    return (full or found or [""])[-1]


def _names_it(
    kind: forms.Kind, head: str, weights: dict[str, float], names: tuple[str, ...]
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
