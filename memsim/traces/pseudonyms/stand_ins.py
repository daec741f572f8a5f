"""Make stand-ins: other letters for letters, other digits for digits, by a key.

The same value has the same stand-in under the same key, in any case. Vowels stay vowels, so names
can still be spoken. Check digits of cards and IBANs are right where they were.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from memsim.language.text import stem

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprstvwz"
_HEX = "abcdef"
_ROWS = (
    *((0x430, 0x44F), (0x3B1, 0x3C0), (0x5D0, 0x5E9), (0x628, 0x63A), (0x915, 0x939)),
    *((0xE01, 0xE2E), (0xAC00, 0xD7A3), (0x3042, 0x3062), (0x30A2, 0x30C2), (0x4E00, 0x5FFF)),
)
"""Letters of scripts beside Latin, from which their letters are taken."""

_TRIES = 200


class StandIns:
    """Stand-ins of one key.

    Args:
        key: at least 32 bytes.
        avoid: folded words and values that nothing may become.
        tokens: counts tokens; the stand-in of a name has as many where one can be found.
    """

    def __init__(self, key: bytes, avoid: AbstractSet[str], tokens: Callable[[str], int]) -> None:
        self._key = key
        self._avoid = avoid
        self._tokens = tokens
        self._letters: dict[tuple[str, int], str] = {}
        self._taken: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def name(self, written: str, folded: str) -> str:
        """The stand-in of a word of a name, in the case in which it is written."""
        plain = unicodedata.normalize("NFC", written)
        place = folded, len(plain)
        if place not in self._letters:
            self._letters[place] = self._chosen(plain.lower(), folded)
        made = self._letters[place]
        if plain.isupper() and len(plain) > 1:
            return made.upper()
        return "".join(n.upper() if o.isupper() else n for o, n in zip(plain, made, strict=False))

    def exact(self, written: str) -> str:
        """The stand-in of an identifier: the same characters between letters and digits."""
        plain = unicodedata.normalize("NFC", written)
        whole = bare(plain)
        if whole not in self._values:
            self._values[whole] = self._new_value(plain, whole)
            self._given[self._values[whole]] = whole
        following = iter(self._values[whole])
        made = (next(following) if c.isalnum() else c for c in plain)
        return "".join(n.upper() if o.isupper() else n for o, n in zip(plain, made, strict=True))

    def _new_value(self, plain: str, whole: str) -> str:
        made = whole
        for number in range(_TRIES):
            spelled = _checked(plain, _spelled(plain, self._bytes("exact", whole, number)))
            made = bare(spelled)
            if len(made) == len(whole) and not (
                made == whole or made in self._avoid or made in self._given
            ):
                return made
        # Of values of one or two characters, all may be given.
        return made if len(made) == len(whole) else "x" * len(whole)

    def _chosen(self, word: str, folded: str) -> str:
        best, worst = "", 9
        wanted, tail = self._tokens(word.capitalize()), len(word) - len(stem(word))
        for number in range(_TRIES):
            made = _spelled(word, self._bytes("name", folded, number))
            if made == word or made in self._avoid or self._taken.get(made, folded) != folded:
                continue
            far = 2 * abs(self._tokens(made.capitalize()) - wanted)
            far += len(made) - len(stem(made)) != tail
            if far < worst:
                best, worst = made, far
            if not worst:
                break
        made = best or _spelled(word, self._bytes("name", folded, _TRIES))
        self._taken[made] = folded
        return made

    def _bytes(self, kind: str, value: str, number: int) -> Callable[[int], int]:
        head = f"{kind}\0{value}\0{number}\0".encode("utf-8", "replace")
        blocks: dict[int, bytes] = {}

        def at(place: int) -> int:
            block = place // 16
            if block not in blocks:
                data = head + str(block).encode()
                blocks[block] = hmac.new(self._key, data, hashlib.sha256).digest()
            begin = place % 16 * 2
            return int.from_bytes(blocks[block][begin : begin + 2], "big")

        return at


def bare(text: str) -> str:
    """The letters and digits of a value, in lower case; the same for each way of writing it."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text if c.isalnum())


def _spelled(text: str, at: Callable[[int], int]) -> str:
    letters = {c for c in text.lower() if c.isalpha()}
    is_hex = letters <= set(_HEX) and sum(map(str.isalnum, text)) > 7
    made: list[str] = []
    place = 0
    for character in text:
        if not character.isalnum():
            made.append(character)
            continue
        made.append(_other(character, at(place), is_hex=is_hex, begins=not place))
        place += 1
    return "".join(made)


def _other(character: str, number: int, *, is_hex: bool, begins: bool) -> str:
    if character.isdigit():
        low = begins and character != "0"
        return str(number % 9 + 1) if low else str(number % 10)
    base = unicodedata.normalize("NFKD", character.lower())[0]
    code = ord(base)
    if is_hex and base in _HEX:
        made = _HEX[number % len(_HEX)]
    elif row := next((row for row in _ROWS if row[0] <= code <= max(row[1], row[0] + 63)), None):
        made = chr(row[0] + number % (row[1] - row[0] + 1))
    elif 0x4E00 <= code <= 0x9FFF:
        made = chr(0x4E00 + number % 0x5000)
    else:
        alphabet = _VOWELS if base in _VOWELS or base == "y" else _CONSONANTS
        made = alphabet[number % len(alphabet)]
    return made.upper() if character.isupper() else made


def _checked(old: str, new: str) -> str:
    """The stand-in with check digits that are right, where those of the original are."""
    digits = [c for c in old if c.isdigit()]
    plain = "".join(c for c in old if c.isalnum())
    if plain.isdigit() and plain.isascii() and 12 < len(digits) < 20 and _luhn(plain) == 0:
        body = "".join(c for c in new if c.isalnum())[:-1]
        last = max(at for at, c in enumerate(new) if c.isdigit())
        return new[:last] + str(-_luhn(body + "0") % 10) + new[last + 1 :]
    if is_iban(plain):
        bare = "".join(c for c in new if c.isalnum()).upper()
        return _filled(new, f"{plain[:2]}{98 - _rest(bare[4:], plain[:2].upper()):02}{bare[4:]}")
    return new


def _filled(shape: str, content: str) -> str:
    following = iter(content)
    return "".join(next(following) if c.isalnum() else c for c in shape)


def _luhn(digits: str) -> int:
    doubled = [int(d) * (1 + at % 2) for at, d in enumerate(reversed(digits))]
    return sum(n - 9 if n > 9 else n for n in doubled) % 10


def is_iban(plain: str) -> bool:
    """Whether letters and digits without spaces are an IBAN with right check digits."""
    if not (plain.isascii() and plain.isalnum() and 14 < len(plain) < 35):
        return False
    whole = plain.upper()
    if not (whole[:2].isalpha() and whole[2:4].isdigit()):
        return False
    return 98 - _rest(whole[4:], whole[:2]) == int(whole[2:4])


def _rest(body: str, country: str) -> int:
    return int("".join(str(int(c, 36)) for c in f"{body}{country}00")) % 97
