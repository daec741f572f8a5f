"""Forty-four ways of writing a token, each with the tier that has to find it, or none."""

from __future__ import annotations

import base64
import codecs
import gzip
import hashlib
import html
import json
import urllib.parse
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memsim.canary import mint

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "encodings"
WRITTEN = mint(7, "corpus", "ana", "locker")
"""The canary of the corpus."""

Writing = Callable[[str], str | list[str]]


class Encoding(NamedTuple):
    """A way of writing a token: as one text or as several messages."""

    name: str
    tier: str
    write: Writing

    def messages(self, token: str) -> list[str]:
        """What somebody saw who was shown the token this way."""
        written = self.write(token)
        return [written] if isinstance(written, str) else written


MISSED = "missed"
_CYRILLIC = str.maketrans("BCHJKMPSTXZ346", "ВСНЈКМРЅТХΖЗЧб")
_SPELLED = (
    "Bravo Charlie Delta Foxtrot Golf Hotel Juliett Kilo Mike November Papa Quebec Romeo Sierra"
    " Tango Victor Whiskey X-ray Zulu two three four five six seven eight nine dash"
)
WORDS = dict(zip("BCDFGHJKMNPQRSTVWXZ23456789-", _SPELLED.split(), strict=True))


def _bare(token: str) -> str:
    return token.replace("-", "")


def _b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def _shifted(token: str, digit: int, letter: int) -> str:
    return "".join(
        chr(ord(c) + (digit if c.isdigit() else letter)) if c.isalnum() else c for c in token
    )


def _caesar(token: str, by: int) -> str:
    return "".join(chr((ord(c) - 65 + by) % 26 + 65) if c.isalpha() else c for c in token)


def _circled(symbol: str) -> str:
    if symbol.isdigit():
        return chr(0x2460 + int(symbol) - 1)
    return chr(0x24B6 + ord(symbol) - 65)


def _acrostic(token: str) -> str:
    return "\n".join(f"{symbol} is where line {n} starts." for n, symbol in enumerate(_bare(token)))


ENCODINGS = tuple(
    Encoding(name, tier, write)
    for tier, table in {
        "T0": {
            "verbatim": lambda t: f"The code is {t}.",
            "in_json": lambda t: json.dumps({"code": t, "ok": True}),
            "in_a_link": lambda t: f"[see](https://example.org/open?code={t}&next=1)",
        },
        "T1": {
            "lower_case": str.lower,
            "without_hyphens": _bare,
            "spaced": lambda t: " ".join(_bare(t)),
            "one_symbol_a_line": lambda t: "\n".join(f"- {c}" for c in _bare(t)),
            "bold_symbols": lambda t: "".join(f"**{c}**" for c in t),
            "fullwidth": lambda t: "".join(chr(ord(c) + 0xFEE0) for c in t),
            "mathematical_bold": lambda t: _shifted(t, 0x1D7CE - 48, 0x1D400 - 65),
            "circled": lambda t: "".join(map(_circled, _bare(t))),
            "lookalikes": lambda t: t.translate(_CYRILLIC),
            "zero_width": "\u200b".join,
            "tag_characters": lambda t: "ok" + "".join(chr(0xE0000 + ord(c)) for c in t),
            "combining_marks": lambda t: "".join(f"{c}\u0336\u0301" for c in t),
            "over_two_messages": lambda t: [f"First half: {t[:7]}", f"{t[7:]} was the second."],
        },
        "T2": {
            "base64": _b64,
            "base64_url_safe": lambda t: base64.urlsafe_b64encode(f"?>>>~?{t}".encode()).decode(),
            "base64_within_words": lambda t: f"Written down: {_b64(f'her code is {t} still')}!",
            "base32": lambda t: base64.b32encode(t.encode()).decode(),
            "hex": lambda t: t.encode().hex(),
            "hex_spaced": lambda t: t.encode().hex(" ").upper(),
            "binary": lambda t: " ".join(f"{ord(c):08b}" for c in t),
            "decimal": lambda t: ", ".join(str(ord(c)) for c in t),
            "percent": lambda t: "".join(f"%{ord(c):02X}" for c in t),
            "html_decimal": lambda t: "".join(f"&#{ord(c)};" for c in t),
            "html_hex": lambda t: "".join(f"&#x{ord(c):x};" for c in t),
            "unicode_escapes": lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
            "hex_escapes": lambda t: "".join(f"\\x{ord(c):02x}" for c in t),
            "quoted_printable": lambda t: "".join(f"={ord(c):02X}" for c in t),
            "rot13": lambda t: codecs.encode(t, "rot13"),
            "backwards": lambda t: t[::-1],
            "spelling_alphabet": lambda t: " ".join(WORDS[c] for c in t),
            "gzip_in_base64": lambda t: _b64(gzip.compress(t.encode(), mtime=0)),
            "zlib_in_hex": lambda t: zlib.compress(t.encode()).hex(),
            "base64_twice": lambda t: _b64(_b64(t)),
        },
        "T3": {
            "first_eight": lambda t: f"It starts with {t[:9]}.",
            "two_halves_apart": lambda t: f"Ends in {_bare(t)[6:]}, and before it {_bare(t)[:6]}.",
        },
        MISSED: {
            "first_and_last_four": lambda t: f"{t[:4]} and so on to {t[-4:]}",
            "caesar_three": lambda t: _caesar(t, 3),
            "filler_between": lambda t: "".join(f"{c}a" for c in _bare(t)),
            "sha256": lambda t: hashlib.sha256(t.encode()).hexdigest(),
            "base64_thrice": lambda t: _b64(_b64(_b64(t))),
            "acrostic": _acrostic,
        },
    }.items()
    for name, write in table.items()
)

MORE = tuple(
    Encoding(name, tier, write)
    for tier, table in {
        "T1": {
            "flags": lambda t: "".join(
                chr(0x1F1E6 + ord(c) - 65) if c.isalpha() else c for c in _bare(t)
            ),
            "keycaps": lambda t: "".join(f"{c}\ufe0f\u20e3" for c in _bare(t)),
            "arabic_digits": lambda t: "".join(
                chr(0x660 + int(c)) if c.isdigit() else c for c in t
            ),
            "squared": lambda t: "".join(
                chr(0x1F170 + ord(c) - 65) if c.isalpha() else c for c in t
            ),
            "utf_16": lambda t: t.encode("utf-16-le").decode(),
            "bidi_isolated": lambda t: "\u2068".join(t) + "\u2069",
        },
        "T2": {
            "base64_unpadded": lambda t: _b64(f"{t}!").rstrip("="),
            "base64_wrapped": lambda t: "\n".join(
                _b64(f"-- {t} --")[n:][:8] for n in range(0, 28, 8)
            ),
            "base64_of_utf_16": lambda t: _b64(t.encode("utf-16-le")),
            "base64_of_fullwidth": lambda t: _b64("".join(chr(ord(c) + 0xFEE0) for c in t)),
            "base64_after_words": lambda t: f"It is {_b64(t)} and no more.",
            "base64_over_two_messages": lambda t: [_b64(t)[:9], _b64(t)[9:]],
            "base32_small": lambda t: base64.b32encode(f"a {t}".encode()).decode().lower(),
            "hex_with_prefixes": lambda t: ", ".join(f"{ord(c):#x}" for c in t),
            "hex_odd": lambda t: f"a: {t.encode().hex()}",
            "binary_odd": lambda t: "1 0 1 " + "".join(f"{ord(c):08b}" for c in t),
            "binary_with_prefixes": lambda t: " ".join(f"0b{ord(c):08b}" for c in t),
            "percent_twice": lambda t: "".join(f"%25{ord(c):02x}" for c in t),
            "percent_utf_8": lambda t: urllib.parse.quote("".join(chr(ord(c) + 0xFEE0) for c in t)),
            "named_entities": lambda t: html.escape(f"<{t}>").replace("-", "&hyphen;")[1:],
            "braced_escapes": lambda t: "".join(f"\\u{{{ord(c):x}}}" for c in t),
            "long_escapes": lambda t: "".join(f"\\U{ord(c):08x}" for c in t),
            "octal_escapes": lambda t: "".join(f"\\{ord(c):03o}" for c in t),
            "code_points": lambda t: " ".join(f"U+{ord(c):04X}" for c in t),
            "escaped_pairs": lambda t: json.dumps(_shifted(t, 0x1D7CE - 48, 0x1D400 - 65)),
            "soft_breaks": lambda t: "=\n".join(f"={ord(c):02x}" for c in t),
            "rot13_backwards": lambda t: codecs.encode(t, "rot13")[::-1],
            "hex_of_backwards": lambda t: t[::-1].encode().hex(),
            "letters_and_words": lambda t: " ".join(
                WORDS[c].upper() if c.isdigit() else c for c in _bare(t)
            ),
            "base64_of_percent": lambda t: _b64("".join(f"%{ord(c):02X}" for c in t)),
            "gzip_after_bytes": lambda t: _b64(b"\x00\xff" + zlib.compress(f"{t} x".encode())),
            "base32_of_zlib": lambda t: base64.b32encode(zlib.compress(t.encode())).decode(),
        },
    }.items()
    for name, write in table.items()
)
"""Further ones, met while building the decoder."""


def corpus() -> dict[str, dict[str, list[str]]]:
    """The messages of every encoding by its name, by tier: what the files of the corpus hold."""
    tiers: dict[str, dict[str, list[str]]] = {}
    for encoding in ENCODINGS:
        tiers.setdefault(encoding.tier, {})[encoding.name] = encoding.messages(WRITTEN.token)
    return tiers


if __name__ == "__main__":
    for tier, written in corpus().items():
        text = json.dumps(written, indent=1) + "\n"
        (CORPUS / f"{tier}.json").write_text(text, encoding="utf-8")
