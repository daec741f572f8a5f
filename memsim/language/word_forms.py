"""Tell whether a written word is a form of another, by its script and tables of endings.

Many languages join case endings, particles, articles and prepositions to a name: `Ankara'da`,
`서울에서`, `Helsingissä` and `בירושלים` name Ankara, 서울, Helsinki and ירושלים. No model is asked.
Each script has its own rule. In Latin script, endings count only in texts that are not English.
"""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from memsim.language import word_endings
from memsim.language.lexicon import STOP
from memsim.language.scripts import (
    INDIC,
    has_native_letters,
    plain_digits,
    script_of,
    without_points,
)

SHORTEST: Final = 3
"""Letters that a stem must have before an ending."""

LONGEST_ENDING: Final = 12
"""Letters that a form may have more than its base form."""

UNSURE_SHORTEST: Final = 4
"""Letters that a stem must have in a text that may be English after all."""

FEW_ACCENTS: Final = 8
"""Words for each name with an accent that an English text has at least."""

MOST_CHANGED: Final = 3
"""Letters that an ending of Latin script replaces at most: two consonants and the vowel behind."""

READ: Final = 4_000
"""Characters of a text that tell its language."""

LONGEST_PREFIX: Final = 5
"""Letters of the longest prefix in Latin script."""

MOST_STRIPPED: Final = 6
"""Letters of the longest ending that an index leaves out."""

_PREFIXING: Final = frozenset({"ARABIC", "ETHIOPIC", "HEBREW"})
_VIRAMA: Final = "\u0d4d"
"""The Malayalam sign without a vowel, before which a consonant doubles: കോഴിക്കോട്ടെ."""
_DOUBLED: Final = re.compile("(?<=[\u0bc1\u0bc8])[கசதப]\u0bcd$")
"""The consonant of the next word, which Tamil writes behind a case ending: வேலூருக்குக் கொண்டு."""
_UZBEK_SIGN: Final = re.compile("(?<=[go])\u2018(?=[a-z])")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_LATIN_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_ALIKE: Final = str.maketrans("أإآٱىیکةؤئ", "ااااييكهوي")
_ENGLISH: Final = frozenset(
    """
    about after again against although and any anyway because been before being below between both
    but could couldn did didn does doesn doing don down during each either else ever every further
    having he herself himself his how however into its itself maybe might myself neither not only
    onto other ought our ours ourselves out own please quite rather really same shall she should
    since some still such than thank thanks that the their theirs them themselves then there these
    they this those though through thus too toward towards until up upon us very wasn were weren
    what when where whether which while who whom whose why with within without won would yeah yep
    yes yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 - words read best as words
)
"""English words that no other language of Latin script writes alike."""

_FOREIGN: Final = frozenset(
    """
    auf dass eine einen findet hier ich ist kein keine nicht nur oder sind und wird wo wurde
    bij geen het ik naar niet ook waar wordt zijn att det finns hvor ikke inte jeg och vad
    avec dans mais nous quel quelle sont vous donde nunca pero que muy
    ainda foi nem onde della piu este sunt unde
    gdzie jest juz nie oraz tylko bude gdje jsem jsou kje neni nije nisu tudi
    je egy hanem hogy hol lesz nem nincs ei eivat mutta olen ovat ning vaan
    bir degil deyil evet nerede adalah bukan dengan saya tidak untuk yang
    saan kwa wapi yangu izango nire zein eshte nuk kur yra
    ngiyabonga ukuphi yami igen kylla oui tak bere orain oma sekarang svoj svoju svojo svou
    """.split()  # noqa: SIM905 - words read best as words
)
"""Words of ASCII letters in other languages that no English text has."""


def bare(text: str) -> str:
    """The text without case, accents and points, with digits 0 to 9: how words are compared."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().replace("ı", "i")
    plain = _UZBEK_SIGN.sub("", plain)
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", plain))
    return plain_digits(without_points(unicodedata.normalize("NFC", plain)))


def letters_alike(word: str) -> str:
    """A word with letters that Arabic and Persian spell differently as one."""
    return word if word.isascii() else word.translate(_ALIKE)


def is_latin(word: str) -> bool:
    """Whether a word begins in Latin script, or with a digit."""
    return word.isascii() or script_of(word[0]) in {"LATIN", "DIGIT"}


def is_english(text: str) -> bool:
    """Whether a text has words of English alone, or nothing that speaks for another language.

    A few names with accents, as in a record in English, speak for none.
    """
    said = _LATIN_WORD.findall(text[:READ])
    spoken = [word.lower() for word in said]
    if not _ENGLISH.isdisjoint(spoken):
        return True
    if not _FOREIGN.isdisjoint(spoken):
        return False
    accented = [word for word in said if not word.isascii()]
    if accented:
        names = all(word[0].isupper() for word in accented)
        return names and len(said) > FEW_ACCENTS * len(accented)
    return 3 * sum(word in STOP for word in spoken) > len(said)


def has_english_word(text: str) -> bool:
    """Whether a text has a word that English alone has."""
    spoken = map(str.lower, _LATIN_WORD.findall(text[:READ]))
    return not _ENGLISH.isdisjoint(spoken)


def has_foreign_word(words: Iterable[str]) -> bool:
    """Whether one of some folded words is of another language for certain."""
    return not _FOREIGN.isdisjoint(words)


def is_surely_foreign(text: str) -> bool:
    """Whether letters or words show that a text is not in English; names alone show nothing."""
    return not is_english(text) and (has_native_letters(text) or says_foreign_word(text))


def says_foreign_word(text: str) -> bool:
    """Whether a text has a word that no English text has."""
    return has_foreign_word(map(str.lower, _LATIN_WORD.findall(text[:READ])))


@lru_cache(maxsize=1 << 16)
def is_form_of(word: str, written: str) -> bool:
    """Whether a written word is a word with or without an ending, particle or article.

    Args:
        word: one folded word of one script; anything with digits has no other form.
        written: the folded word of a text.
    """
    if word == written:
        return True
    if not word[:1].isalpha() or not written or len(written) > len(word) + LONGEST_ENDING:
        return False
    script = script_of(word[0])
    if script != script_of(written[0]) or written[-1].isdigit():
        return False
    rule = _RULES.get("INDIC" if script in INDIC else script, _alphabetic)
    return rule(word, written)


@lru_cache(maxsize=1 << 14)
def is_foreign_form_of(word: str, written: str) -> bool:
    """Whether a written word is a form that no English word resembles: `Vilniuje` of Vilnius.

    It holds for texts of ASCII letters, which may be in English or in another language.
    """
    if word == written:
        return True
    if not (word.isascii() and word.isalpha() and len(word) >= UNSURE_SHORTEST):
        return False
    kept = len(word) - MOST_CHANGED
    if word[:kept] != written[:kept]:
        return False
    endings = _table("LATIN") - _table("ENGLISH")
    for size in range(3):
        stem = word[: len(word) - size]
        rest = written.removeprefix(stem)
        replaces = size and word[-size:] in _table("LATIN_BASES")
        if len(stem) < UNSURE_SHORTEST or rest == written or not (replaces or not size):
            continue
        if rest in endings and len(rest) + size >= (3 if size else 2):
            return True
    return any(_ends(stem, written, endings) for stem in _graded(word[:-1], word[-1]))


@lru_cache(maxsize=1 << 16)
def light_stems(word: str) -> tuple[str, ...]:
    """A folded word without each ending or prefix that it may have, so that forms of it meet."""
    script = script_of(word[0]) if word else ""
    if script in _PREFIXING:
        return _without_prefix(word, script)
    word = _DOUBLED.sub("", word).replace("ı", "i")
    table = _index_endings(script)
    # A letter of Korean is a syllable.
    shortest = SHORTEST - (script == "HANGUL")
    sizes = range(1, min(MOST_STRIPPED, len(word) - shortest) + 1)
    stems = [word[:-size] for size in sizes if word[-size:] in table]
    if not stems and script in INDIC and unicodedata.category(word[-1]) in {"Mn", "Mc"}:
        stems = [word[:-1]]
    return tuple(stems)


def _without_prefix(word: str, script: str) -> tuple[str, ...]:
    """A word without its prefix; in Arabic and Persian, each also without an ending."""
    plain = letters_alike(word)
    prefix = _pattern(f"{script}_PREFIX").match(plain)
    rests = [plain, plain[prefix.end() :] if prefix else plain]
    if script == "ARABIC":
        endings = [ending.translate(_ALIKE) for ending in sorted(_table(script))]
        rests += [rest.removesuffix(ending) for rest in rests[:2] for ending in endings]
    found = dict.fromkeys(rest for rest in rests if len(rest) >= SHORTEST and rest != word)
    return tuple(found)


def _ends(stem: str, written: str, endings: Collection[str]) -> bool:
    return written.startswith(stem) and (
        len(written) == len(stem) or written[len(stem) :] in endings
    )


# -- the tables, read when the first word of a script is


@lru_cache(maxsize=32)
def _table(script: str) -> frozenset[str]:
    return frozenset(bare(str(getattr(word_endings, script, ""))).split())


@lru_cache(maxsize=32)
def _index_endings(script: str) -> frozenset[str]:
    return _table("INDIC" if script in INDIC else script) | _table("POSSESSIVE")


@lru_cache(maxsize=8)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(bare(str(getattr(word_endings, name))).translate(_ALIKE))


@lru_cache(maxsize=2)
def _particles(table: str) -> re.Pattern[str]:
    longest_first = sorted(_table(table), key=lambda ending: (-len(ending), ending))
    return re.compile(f"(?:{'|'.join(longest_first)}){{1,3}}")


@lru_cache(maxsize=4)
def _changes(script: str) -> tuple[tuple[str, str], ...]:
    table = word_endings.CHANGES.get(script, "")
    return tuple(
        (old, new) for old, _, new in (pair.partition(":") for pair in bare(table).split())
    )


@lru_cache(maxsize=1)
def _grades() -> tuple[tuple[str, str], ...]:
    pairs = (pair.partition(":") for pair in word_endings.GRADES.split())
    return tuple((old, new) for old, _, new in pairs)


# -- the rules


def _alphabetic(word: str, written: str) -> bool:
    script = script_of(word[0])
    if script == "LATIN" and len(word) > SHORTEST and word[0] in "ld" and word[1:] == written:
        return True  # the article of `L'Aquila` gives way in `all'Aquila`
    if any(_ends(stem, written, _table(script)) for stem in _stems(word, script)):
        return True
    if script != "LATIN" or len(word) <= UNSURE_SHORTEST or word[0] not in _table("LATIN_PREFIXES"):
        return False
    rests = (written[size:] for size in prefix_sizes(written) if size)
    return any(_ends(s, rest, _table(script)) for rest in rests for s in _stems(word[1:], script))


def prefix_sizes(written: str) -> list[int]:
    """Letters of each prefix that a word in Latin script may have; 0 for none."""
    sizes = range(1, min(LONGEST_PREFIX, len(written) - SHORTEST) + 1)
    return [0, *(size for size in sizes if written[:size] in _table("LATIN_PREFIXES"))]


def _stems(word: str, script: str) -> Iterator[str]:
    """What a form of an alphabetic word may begin with."""
    bases = _table(f"{script}_BASES")
    for size in range(4):
        stem = word[: len(word) - size]
        if len(stem) < SHORTEST or (size and word[-size:] not in bases):
            continue
        yield stem
        for old, new in _changes(script):
            if stem.endswith(old) and len(stem) > SHORTEST:
                yield stem[: len(stem) - len(old)] + new
    if script == "LATIN" and len(word) > SHORTEST:
        yield from _graded(word[:-1], word[-1])


def _graded(stem: str, vowel: str) -> Iterator[str]:
    vowels = ("i", "e") if vowel == "i" else (vowel,)
    if vowel == "i":
        yield f"{stem}e"
    for old, new in _grades():
        if stem.endswith(old):
            yield from (stem[: len(stem) - len(old)] + new + last for last in vowels)


def _hangul(word: str, written: str) -> bool:
    particles = _particles("HANGUL" if len(word) > 1 else "HANGUL_SHORT")
    return written.startswith(word) and bool(particles.fullmatch(written, len(word)))


def _hebrew(word: str, written: str) -> bool:
    for whole, part in ((word, written), (written, word)):
        rest = part.removesuffix(whole)
        if len(whole) >= SHORTEST and rest != part and _pattern("HEBREW_PREFIX").fullmatch(rest):
            return True
    return False


def _arabic(word: str, written: str) -> bool:
    word, written = word.translate(_ALIKE), written.translate(_ALIKE)
    stems = [word, word.removeprefix("ال")]
    stems += [f"{stem[:-1]}ت" for stem in stems if stem.endswith("ه")]
    endings = frozenset(ending.translate(_ALIKE) for ending in _table("ARABIC"))
    for stem in stems:
        place = written.find(stem)
        if len(stem) < SHORTEST or not 0 <= place <= 4:
            continue
        rest = written[place + len(stem) :]
        if _pattern("ARABIC_PREFIX").fullmatch(written, 0, place) and (not rest or rest in endings):
            return True
    return False


def _ethiopic(word: str, written: str) -> bool:
    place = written.find(word)
    if place < 0 or not _pattern("ETHIOPIC_PREFIX").fullmatch(written, 0, place):
        return False
    rest = written[place + len(word) :]
    return not rest or rest in _table("ETHIOPIC")


@lru_cache(maxsize=1)
def _short_vowels() -> tuple[tuple[str, str], ...]:
    pairs = (pair.partition(":") for pair in word_endings.VOWELS.split())
    return tuple((old, new) for old, _, new in pairs)


@lru_cache(maxsize=1)
def _chillus() -> dict[str, str]:
    return dict(pair.split(":") for pair in word_endings.CHILLUS.split())


def _indic(word: str, written: str) -> bool:
    written = _DOUBLED.sub("", written)
    return any(_ends(stem, written, _table("INDIC")) for stem in _indic_stems(word))


def _indic_stems(word: str) -> Iterator[str]:
    yield word
    if len(word) > SHORTEST and unicodedata.category(word[-1]) in {"Mn", "Mc"}:
        yield word[:-1]
    if len(word) > SHORTEST + 1 and word[-2:] in {"ம்", "ం"}:
        yield word[:-2]
    if len(word) > SHORTEST and word[-1] in _chillus():
        yield word[:-1] + _chillus()[word[-1]]
    if len(word) > SHORTEST and word[-1] == _VIRAMA:
        yield word + word[-2]
    for long, short in _short_vowels():
        if len(word) > SHORTEST and word[-2] == long:
            yield word[:-2] + short + word[-1]


_RULES: Final = {
    "HANGUL": _hangul,
    "HEBREW": _hebrew,
    "ARABIC": _arabic,
    "ETHIOPIC": _ethiopic,
    "INDIC": _indic,
}
