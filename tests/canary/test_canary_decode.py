"""Encodings are undone one by one and one inside another, and nothing they hold can hurt."""

# ruff: noqa: RUF001 - looking alike is what is tested

from __future__ import annotations

import base64
import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.canary import as_text, decode, normalise
from memsim.canary.codecs import CODECS
from memsim.canary.decode import CHUNK, INFLATED, OVERLAP, PIECE, as_bytes, views

PLAIN = "Her code is 298H-KV8H-BCHF, she said."
CODEC = dict(CODECS)


def b64(data: bytes) -> str:
    """Bytes in base64, as text."""
    return base64.b64encode(data).decode()


def paths(text: str, wanted: str = PLAIN) -> list[tuple[str, ...]]:
    """The encodings that were undone where the wanted text came out."""
    return [view.via for view in views(text) if wanted in view.text]


def test_every_codec_has_a_name_of_its_own() -> None:
    """They are told in reports."""
    assert [
        "base64",
        "base32",
        "hex",
        "binary",
        "decimal",
        "percent",
        "html",
        "escapes",
        "quoted-printable",
        "rot13",
        "reversed",
        "words",
    ] == [name for name, _ in CODECS]


def test_codecs(subtests: pytest.Subtests) -> None:
    """One of the views that a codec gives holds what was encoded."""
    for codec, text, expected in [
        ("base64", "NlBYVw==", "6PXW"),
        ("base64", "x NlBYVw", "6PXW"),
        ("base64", "-_-_NlBYVw", "6PXW"),
        ("base32", "GZIFQVY=", "6PXW"),
        ("base32", "gzifqvy", "6PXW"),
        ("base32", "b gzifqvy", "6PXW"),
        ("hex", "36505857", "6PXW"),
        ("hex", "f 36:50:58:57", "6PXW"),
        ("hex", "0x36, 0X50, \\x58\\x57", "6PXW"),
        ("hex", "2F2f6F6f", "//oo"),
        ("binary", "00110110 01010000", "6P"),
        ("binary", "0b00110110 0B01010000", "6P"),
        ("binary", "10 0011011001010000", "6P"),
        ("decimal", "[54, 80, 88, 87]", "6PXW"),
        ("decimal", "1 54 2 80 999 256 1088 88 87", "6PXW"),
        ("decimal", "255 12 007", "\udcff\x0c\x07"),
        ("percent", "a%36%50%e2%80%8b.", "a6P\u200b."),
        ("percent", "%ff%3", "\udcff%3"),
        ("html", "&#54;&#x50;&#X58;&hyphen;&amp;&#87", "6PX‐&W"),
        ("html", "R&D &nope; &#54;", "R&D &nope; 6"),
        ("escapes", r"\u0036\x50\130\u{57}\U00000034 U+0042 \u{1d7d4}", "6PXW4 B 𝟔"),
        ("escapes", r"\xe2\x80\x8b\ud835\udfd4", "\u200b𝟔"),
        ("escapes", r"\ud835 \U00110000 \u{110000}.", "\ud835  ."),
        ("escapes", r"\400\066", r"\4006"),
        ("escapes", r"\U0010ffff.", "\U0010ffff."),
        ("quoted-printable", "a=36=50=\n=58=\r\n=e2=80=8B", "a6PX\u200b"),
        ("rot13", "6CKJ 4o5x", "6PXW 4b5k"),
        ("reversed", "WXP6", "6PXW"),
        ("words", "SIX Papa x-ray Whiskey dash four Xray", "6 P X W - 4 X"),
        ("words", "niner fife whisky alpha alfa juliet juliett", "9 5 W A A J J"),
        ("words", "sixteen Papas, zero", "sixteen Papas, 0"),
    ]:
        with subtests.test(codec=codec, text=text, expected=expected):
            decoded = [as_text(v) if isinstance(v, bytes) else v for v in CODEC[codec](text)]

            assert [view for view in decoded if expected in view], decoded


@pytest.mark.parametrize("codec", ["percent", "html", "escapes", "quoted-printable", "words"])
def test_what_replaces_nothing_gives_no_view(codec: str) -> None:
    """Plain text is not looked at again for each of them."""
    assert list(CODEC[codec]("Plain text, 100% of it: a=b & c.")) == []


@pytest.mark.parametrize(
    ("codec", "start", "views_"),
    [("base64", "", 4), ("base32", "", 8), ("hex", "", 2), ("binary", "", 8)],
)
def test_digits_are_read_from_every_start(codec: str, start: str, views_: int) -> None:
    """However many digits of other text come before."""
    assert views_ == len(list(CODEC[codec](start)))


def test_far_from_what_was_replaced_nothing_is_kept() -> None:
    """256 characters on either side are, and a gap is marked by a line break."""
    text = "a" * 300 + "%41" + "b" * 512 + "%42" + "c" * 513 + "%43" + "d" * 300
    (view,) = CODEC["percent"](text)

    assert (
        view == "a" * 300 + "A" + "b" * 512 + "B" + "c" * 256 + "\n" + "c" * 256 + "C" + "d" * 256
    )


@pytest.mark.parametrize("name", ["rot13", "reversed"])
def test_paths_tell_what_was_undone(name: str) -> None:
    """The outermost first."""
    (view,) = CODEC[name](PLAIN)
    assert isinstance(view, str)

    assert (name,) in paths(view)
    assert ("base64", name) in paths(b64(view.encode()))
    assert ("hex", name) in paths(view.encode().hex())


def test_two_encodings_are_undone_and_not_three() -> None:
    """The depth is two."""
    once = b64(PLAIN.encode())
    twice = b64(once.encode())

    assert ("base64",) in paths(once)
    assert ("base64", "base64") in paths(twice)
    assert paths(b64(twice.encode())) == []


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_compressed_pieces_are_opened(packed: Callable[..., bytes], level: int) -> None:
    """As bytes of a file, and inside an encoding, wherever they begin."""
    piece = packed(PLAIN.encode(), level)

    assert ("compressed",) in paths(as_text(piece))
    assert ("compressed",) in paths(as_text(b"\x00\xffabc" + piece + b"and more"))
    assert ("base64", "compressed") in paths(b64(b"\x00\xff" + piece))
    assert ("hex", "compressed") in paths(piece.hex())
    assert ("compressed", "compressed") in paths(as_text(packed(piece)))
    assert ("compressed", "base64") in paths(as_text(packed(b64(PLAIN.encode()).encode())))


def test_several_compressed_pieces_are_opened() -> None:
    """Each for itself, and a broken one does not stop the next."""
    texts = [f"{PLAIN} {n}" for n in range(5)]
    data = b"\x1f\x8b\x08 no gzip".join(zlib.compress(text.encode()) for text in texts)

    for text in texts:
        assert ("compressed",) in paths(as_text(data), text)


def test_a_damaged_piece_is_opened_up_to_the_damage() -> None:
    """What came before is legible still."""
    noise = random.Random(7).randbytes(60_000).hex().encode()
    piece = bytearray(zlib.compress(PLAIN.encode() + noise))
    piece[-8000:] = bytes(8000)

    assert ("compressed",) in paths(as_text(bytes(piece)))
    assert ("compressed",) in paths(as_text(bytes(piece[:30_000])))


def test_a_long_piece_is_opened_wherever_it_begins() -> None:
    """What it holds is read on to its end, over many times what is fed at once."""
    noise = random.Random(7).randbytes(60_000).hex().encode()
    piece = zlib.compress(noise + PLAIN.encode() + noise)
    (view,) = [
        view.text
        for view in views(as_text(bytes(50_000) + piece))
        if view.via == ("compressed",) and PLAIN in view.text
    ]

    assert (noise + PLAIN.encode() + noise).decode() == view


@pytest.mark.parametrize("most", [100, 60_000, 119_999])
def test_no_piece_comes_to_more_than_its_bound(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in the feeding the bound is reached."""
    monkeypatch.setattr(decode, "PIECE", most)
    piece = zlib.compress(random.Random(7).randbytes(60_000).hex().encode())

    assert [most] == [len(v.text) for v in views(as_text(piece)) if v.via == ("compressed",)]


def test_a_large_piece_is_opened_to_a_megabyte() -> None:
    """The secret just before the bound is seen, the one behind it is not."""
    room = PIECE - len(PLAIN)

    assert ("compressed",) in paths(as_text(zlib.compress(b" " * room + PLAIN.encode())))
    assert paths(as_text(zlib.compress(b" " * (room + 1) + PLAIN.encode()))) == []


def test_bombs_do_not_go_off() -> None:
    """A hundred pieces of 64 MB each come to eight in all, and nothing raises."""
    bomb = zlib.compress(zlib.compress(bytes(1 << 26)))
    text = as_text(bomb * 100)
    tracemalloc.start()
    came = sum(len(view.text) for view in views(text) if view.via == ("compressed", "compressed"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert came <= INFLATED
    assert peak < 8 * INFLATED


def test_the_bound_is_one_for_all_pieces_of_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of it after some pieces is all that later ones get."""
    monkeypatch.setattr(decode, "PIECE", 1000)
    monkeypatch.setattr(decode, "INFLATED", 2500)
    piece = zlib.compress(b"x" * 1500)
    came = [len(view.text) for view in views(as_text(piece * 9)) if view.via == ("compressed",)]

    assert came == [1000, 1000, 500]
    assert (PIECE, INFLATED) == (1 << 20, 8 << 20)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,096 characters at a time, 256 of them again; usually 2^20 and 2^14."""
    assert (CHUNK, OVERLAP) == (1 << 20, 1 << 14)
    monkeypatch.setattr(decode, "CHUNK", 4096)
    monkeypatch.setattr(decode, "OVERLAP", 256)


@pytest.mark.parametrize("place", range(0, 9000, 173))
@pytest.mark.usefixtures("small_chunks")
def test_copies_are_found_across_chunk_borders(place: int) -> None:
    """No copy that is shorter than the overlap falls between two chunks."""
    text = "." * place + PLAIN.encode().hex() + "." * (9000 - place)

    assert ("hex",) in paths(text)


@pytest.mark.parametrize(
    ("length", "chunks"),
    [(12, 1), (256, 1), (4096, 1), (4097, 2), (7936, 2), (7937, 3)],
)
@pytest.mark.usefixtures("small_chunks")
def test_no_more_chunks_than_needed(length: int, chunks: int) -> None:
    """Each character is decoded once, or twice where two chunks overlap."""
    seen = [len(view.text) for view in views("." * length) if view.via == ("reversed",)]

    assert chunks == len(seen)
    assert length + (chunks - 1) * 256 == sum(seen)


def test_nothing_has_no_views() -> None:
    """And does no harm."""
    assert list(views("")) == []


def test_illegible_bytes_are_left_out() -> None:
    """Twelve legible bytes in a row are the least that is kept; what is cut apart stays apart."""
    eleven, twelve = b"11 symbols.", b"twelve signs"
    raw = (
        b"\xff"
        + eleven
        + b"\xff\x80"
        + twelve
        + b"\x01"
        + "zwölf éé".encode()
        + b"1234\xfe"
        + twelve
    )

    legible = [view.text for view in views(raw.hex()) if view.via == ("hex",)]

    assert "twelve signs\nzwölf éé1234\ntwelve signs" in legible


def test_views_too_short_for_a_token_are_left_out() -> None:
    """Eleven characters cannot hold twelve symbols."""
    assert [view for view in views("a" * 11) if len(view.text) < 12] == []
    assert ("reversed",) in [view.via for view in views("a" * 12)]


@given(st.binary())
def test_bytes_survive_as_text(data: bytes) -> None:
    """Files that are no text are looked through all the same."""
    assert data == as_bytes(as_text(data))


def test_any_text_has_bytes() -> None:
    """Lone surrogates that no bytes gave too."""
    assert "é".encode() == as_bytes("é")
    assert as_bytes("a\ud800") == b"a\xed\xa0\x80"


@settings(max_examples=60)
@given(st.text(st.characters(), max_size=300))
def test_any_text_can_be_decoded(text: str) -> None:
    """Nothing raises, and all that comes out can be normalised."""
    for view in views(text):
        assert 1 <= len(view.via) <= 2
        normalise(view.text)
