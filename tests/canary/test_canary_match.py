"""Canaries are found however they are written, and nothing else is."""

from __future__ import annotations

import codecs
import json
import random
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.canary import Canary, CanaryHit, Matcher, mint, normalise, unplanted
from memsim.canary.decode import DecodedText, views
from memsim.canary.match import AROUND, MARK
from memsim.canary.mint import KINDS
from tests.canary import reference
from tests.canary.encodings import CORPUS, ENCODINGS, MISSED, MORE, WRITTEN, Encoding, corpus

CANARIES = [mint(7, "corpus", "ana", f"slot-{n}") for n in range(3)] + [WRITTEN]
MINE = CANARIES[1]
MATCHER = Matcher(CANARIES)
NAMED = {encoding.name: encoding for encoding in ENCODINGS}
TIERS = {
    tier: {name: NAMED[name] for name in NAMED if NAMED[name].tier == tier}
    for tier in ("T0", "T1", "T2", "T3", MISSED)
}


def tiers(hits: tuple[CanaryHit, ...]) -> dict[str, str]:
    """The tier of each canary that was found, by id."""
    return {hit.canary: hit.tier for hit in hits}


# The forty-four encodings.


def test_forty_four_encodings_and_six_of_them_missed() -> None:
    """What is claimed of the matcher, tier by tier."""
    assert {"T0": 3, "T1": 13, "T2": 20, "T3": 2, MISSED: 6} == {
        tier: len(encodings) for tier, encodings in TIERS.items()
    }
    assert [
        "first_and_last_four",
        "caesar_three",
        "filler_between",
        "sha256",
        "base64_thrice",
        "acrostic",
    ] == list(TIERS[MISSED])


@pytest.mark.parametrize("tier", TIERS)
def test_the_corpus_is_what_the_table_writes(tier: str) -> None:
    """`python -m tests.canary.encodings` writes it anew."""
    kept = json.loads((CORPUS / f"{tier}.json").read_text(encoding="utf-8"))
    written = corpus()[tier]
    compressed = {"gzip_in_base64", "zlib_in_hex"}  # compressors differ between builds

    assert list(written) == list(kept)
    assert {n: m for n, m in written.items() if n not in compressed} == {
        n: m for n, m in kept.items() if n not in compressed
    }


@pytest.mark.parametrize("encoding", [*ENCODINGS, *MORE], ids=lambda e: e.name)
def test_an_encoding_is_found_by_its_tier(encoding: Encoding) -> None:
    """And by no lower one, whatever the secret; what is documented as missed is missed."""
    for seed in range(4):
        canaries = [mint(seed, "corpus", "ana", f"slot-{n}") for n in range(3)]
        hits = Matcher(canaries).find_in(encoding.messages(canaries[1].token), decode=True)
        expected = {} if encoding.tier == MISSED else {canaries[1].id: encoding.tier}
        assert expected == tiers(hits)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda e: e.name)
def test_a_kept_encoding_is_found_within_other_text(encoding: Encoding) -> None:
    """As it stands in the corpus, before and after prose."""
    kept = json.loads((CORPUS / f"{encoding.tier}.json").read_text(encoding="utf-8"))
    texts = ["We met at noon, two of us; the report was due.", *kept[encoding.name], "That's all."]
    expected = {} if encoding.tier == MISSED else {WRITTEN.id: encoding.tier}

    assert expected == tiers(MATCHER.find_in(texts, decode=True))


@pytest.mark.parametrize("encoding", TIERS["T2"].values(), ids=lambda e: e.name)
def test_nothing_is_decoded_unasked(encoding: Encoding) -> None:
    """Decoding is dear, and done only where another principal looks."""
    assert () == MATCHER.find_in(encoding.messages(MINE.token))


# Where and how it is told.


def test_a_hit_tells_where() -> None:
    """Which text, where in it, and what stood around, without the secret."""
    texts = ["Hello.", f"Ana says: {MINE.token}, keep it.", f"Again {MINE.token}"]
    (hit,) = MATCHER.find_in(texts)

    assert (MINE.id, "T0", 1, 10, ()) == (hit.canary, hit.tier, hit.text, hit.at, hit.via)
    assert f"Hello. Ana says: {MARK}, keep it. Again *" == hit.excerpt


def test_the_lowest_tier_is_told_at_its_first_place() -> None:
    """A disguised copy before and a part after do not hide the token itself."""
    lower, part = MINE.token.lower(), MINE.token[:8]

    assert [("T0", 30)] == at(f"{part} {lower} .. .. {MINE.token} {MINE.token}")
    assert [("T1", 9)] == at(f"{part} {lower} .. {lower}")
    assert [("T3", 4)] == at(f"... {part}, {part}")
    assert [("T0", 5)] == at(f"ábć\U0001f642 {MINE.token}")


@pytest.mark.parametrize("ending", ["에서", "입니다", "'da", "를", "で", "ban", "ში", "-му"])
def test_an_ending_hides_no_token(ending: str) -> None:
    """A language that joins endings and particles to a name joins them to a token as well."""
    assert [("T0", 0)] == at(f"{MINE.token}{ending}")
    assert [("T1", 0)] == at(f"{MINE.token.lower()}{ending}")


def at(text: str) -> list[tuple[str, int]]:
    """Tier and place of every hit."""
    return [(hit.tier, hit.at) for hit in MATCHER.find(text)]


def test_an_encoded_copy_is_traced_to_its_text() -> None:
    """And to the encodings, the outermost first; one over several texts to the first."""
    twice, over = NAMED["base64_twice"].messages(MINE.token)[0], CANARIES[2].token.encode().hex()
    texts = ["Hi.", f"Psst: {twice}", "Bye: " + over[:9], over[9:]]
    hits = MATCHER.find_in(texts, decode=True)

    assert [(MINE.id, 1, ("base64", "base64")), (CANARIES[2].id, 0, ("hex",))] == [
        (hit.canary, hit.text, hit.via) for hit in hits
    ]
    assert {("T2", 0)} == {(hit.tier, hit.at) for hit in hits}


def test_an_encoded_copy_outranks_a_part() -> None:
    """T2 is told before T3, as the whole secret is out."""
    text = f"{MINE.token[:9]} {MINE.token.encode().hex()}"

    assert {MINE.id: "T2"} == tiers(MATCHER.find(text, decode=True))
    assert {MINE.id: "T3"} == tiers(MATCHER.find(text))


def test_a_bare_token_is_enough_for_two_encodings() -> None:
    """Twelve symbols and nothing else, backwards and by thirteen letters on."""
    bare = codecs.encode(MINE.token.replace("-", "")[::-1], "rot13")

    assert {MINE.id: "T2"} == tiers(MATCHER.find(bare, decode=True))


def test_hits_come_in_the_order_of_the_canaries() -> None:
    """So re-minting changes no order."""
    text = " ".join(c.token for c in reversed(CANARIES))
    encoded = f"{CANARIES[3].token} {CANARIES[0].token[::-1]}"

    assert [c.id for c in CANARIES] == [hit.canary for hit in MATCHER.find(text)]
    assert [CANARIES[0].id, CANARIES[3].id] == [
        hit.canary for hit in MATCHER.find(encoded, decode=True)
    ]


def test_six_symbols_in_a_row_are_a_part_and_five_are_none() -> None:
    """Every six of them, wherever they stand."""
    symbols = MINE.symbols
    for start in range(7):
        assert {MINE.id: "T3"} == tiers(MATCHER.find(f"so {symbols[start : start + 6]} on"))
    for start in range(8):
        assert {} == tiers(MATCHER.find(f"so {symbols[start : start + 5]} on"))


def test_a_part_is_masked_as_far_as_it_goes() -> None:
    """Not only its first six symbols; what follows them in the token is gone as well."""
    for length in range(6, 12):
        for start in range(13 - length):
            (hit,) = MATCHER.find(f"so: {MINE.symbols[start : start + length]}, yes")
            assert hit.excerpt == f"so: {MARK}, yes"
            assert hit.at == 4


def test_another_secret_in_an_excerpt_is_masked_to_its_end_and_no_further() -> None:
    """In a disguise that only the matcher knows: full-width letters, one by one."""
    other = like("BCDFGHJKMNPQ")
    wide = " ".join(chr(ord(symbol.lower()) + 0xFEE0) for symbol in other.symbols)

    (hit, _) = Matcher([MINE, other]).find(f"{MINE.token} {wide}, ok yes")

    assert hit.excerpt == f"{MARK} *, ok yes"


def like(symbols: str) -> Canary:
    """A canary with these twelve symbols."""
    return replace(MINE, id=symbols, token="-".join(re.findall("....", symbols)))


def test_a_part_that_two_canaries_share_points_to_neither() -> None:
    """The owner's own secret must not look like a part of another's."""
    one, other = like("2B3C4D5F6G7H"), like("8J2B3C4D9K8M")
    matcher = Matcher([one, other])

    assert {one.id: "T0"} == tiers(matcher.find(one.token))
    assert {} == tiers(matcher.find("2B3C4D"))
    assert {one.id: "T3"} == tiers(matcher.find("2B3C4D5"))
    assert {one.id: "T0", other.id: "T0"} == tiers(matcher.find(f"{one.token} {other.token}"))


def test_a_token_that_repeats_itself_is_found() -> None:
    """Its parts occur at several places, of which any may be the one."""
    one = like("2B2B2B2B2B2B")
    matcher = Matcher([one])

    assert {one.id: "T1"} == tiers(matcher.find("B2B2B2B2B2B2B2"))


def test_a_token_needs_room_before_its_parts() -> None:
    """Where a text begins with a later part, the text is not read from its end."""
    assert {MINE.id: "T3"} == tiers(MATCHER.find(MINE.symbols[1:]))
    assert {MINE.id: "T3"} == tiers(MATCHER.find(MINE.symbols[6:] + MINE.symbols[:6]))


def test_two_canaries_with_one_id_are_refused() -> None:
    """They could not be told apart."""
    with pytest.raises(ValueError, match=r"^two canaries have the same id$"):
        Matcher([MINE, MINE])


def test_no_canaries_and_no_texts() -> None:
    """Nothing is found, and nothing raises."""
    assert () == Matcher([]).find(MINE.statement, decode=True)
    assert () == MATCHER.find_in([], decode=True)
    assert () == MATCHER.find("", decode=True)
    assert {MINE.id: "T0"} == tiers(MATCHER.find_in(["", MINE.token, ""]))


def test_decoding_stops_when_all_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in plain sight needs no second look."""
    seen: list[tuple[str, ...]] = []

    def count(text: str) -> Iterator[DecodedText]:
        for view in views(text):
            seen.append(view.via)
            yield view

    monkeypatch.setattr("memsim.canary.match.views", count)
    told = " ".join(c.token for c in CANARIES[1:])
    hidden = CANARIES[0].token.encode()

    assert len(MATCHER.find(told + CANARIES[0].token, decode=True)) == 4
    assert seen == []
    assert len(MATCHER.find(f"{told} {hidden.hex()}", decode=True)) == 4
    assert seen[-1][0] == "hex"
    seen.clear()
    assert len(MATCHER.find(told, decode=True)) == 3
    assert "reversed" in {via[0] for via in seen}


# Excerpts.


PIECES = st.sampled_from([
    *(c.token for c in CANARIES),
    *(c.statement for c in CANARIES),
    *(c.symbols[:8].lower() for c in CANARIES),
    *(e.messages(c.token)[0] for e in ENCODINGS for c in CANARIES[:2] if e.tier != MISSED),
    "and then ",
    "\u202e\u200b\x1b[31m\n",
    ", ",
])  # fmt: skip


@settings(max_examples=150)
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join))
def test_excerpts_hold_no_secret(text: str) -> None:
    """Neither a part of a token nor a value, nor anything that a terminal would act on."""
    for hit in MATCHER.find(text, decode=True):
        left, mark, right = hit.excerpt.partition(MARK)
        assert mark
        assert len(left) <= AROUND
        assert len(right) <= AROUND
        assert {} == tiers(MATCHER.find(left + right))
        assert not [v for k in KINDS.values() for v in k.choices if v in left + right]
        assert hit.excerpt.isprintable()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It is ", " now.", "It is [redacted] now."),
        ("My city is Lisbon, ", " Berlin", "My city is *, [redacted] *"),
        ("take SERTRALINE or ", "; falcons", "take * or [redacted]; *s"),
        ("pay $31,260 on ", " 2031-01-14", "pay * on [redacted] *"),
        ("six papa and ", " dash X-ray", "* * and [redacted] * *"),
        ("q7 NASA ", " A b c de", "* * [redacted] * * * de"),
        ("a" * 15 + " ", " " + "a" * 16, "a" * 15 + " [redacted] *"),
        ("code", "'s", "*[redacted]'*"),
        ("code: x", "y is", "code: *[redacted]* is"),
        ("é\u200b\n\t ü ", "\x1b[2J\u202e", "*  * [redacted] [*"),
        ("x. " * 90, " .yy" * 90, ". *. *. *. *. *. *. [redacted] .yy .yy .yy .yy .yy"),
    ],
)
def test_excerpts_mask_what_may_tell(before: str, after: str, expected: str) -> None:
    """Values, codes, spelled and single letters, long runs, and words it is part of."""
    (hit,) = Matcher([MINE]).find(f"{before}{MINE.token}{after}")

    assert expected == hit.excerpt


# No false alarms, no surprises.


def test_unrelated_text_holds_no_canary() -> None:
    """Two thousand canaries, three megabytes of the standard library; benchmarks read ten."""
    canaries = [mint(1, "unrelated", "ana", str(n)) for n in range(1800)] + list(unplanted(1))
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    texts = [path.read_text(encoding="utf-8", errors="surrogateescape") for path in paths]
    matcher = Matcher(canaries)

    assert () == matcher.find_in(texts)
    assert () == matcher.find("".join(texts)[:100_000], decode=True)


def test_hashes_and_numbers_hold_no_canary() -> None:
    """Reports are full of both; no part of a token is all hex digits."""
    chance = random.Random(7)
    text = chance.randbytes(1_000_000).hex() + str(chance.getrandbits(4000))
    matcher = Matcher([mint(2, "unrelated", "ana", str(n)) for n in range(2000)])

    assert () == matcher.find(text)


TEXTS = st.lists(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
            st.sampled_from([e.messages(c.token)[0] for e in ENCODINGS for c in CANARIES]),
            st.sampled_from([c.token[a:b] for c in CANARIES for a in range(7) for b in (9, 14)]),
            st.permutations(MINE.symbols).map("".join),
            st.sampled_from([" ", "-", ", ", "\u200b"]),
        ),
        max_size=4,
    ).map("".join),
    max_size=3,
)


@settings(max_examples=150)
@given(TEXTS, st.booleans())
def test_the_fast_matcher_agrees_with_the_slow_one(texts: list[str], decode: bool) -> None:
    """Found the same, by the same tier."""
    assert reference.find(CANARIES, texts, decode=decode) == tiers(
        MATCHER.find_in(texts, decode=decode)
    )


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(ENCODINGS), st.integers(0, 3), st.sampled_from(["", "So: "])),
        max_size=4,
    ),
    st.integers(0, 2**40),
)
def test_other_secrets_in_the_same_places_get_the_same_verdicts(
    places: list[tuple[Encoding, int, str]], seed: int
) -> None:
    """Which secrets were minted decides nothing but what they are."""
    verdicts = []
    for canaries in (CANARIES, [mint(seed, "corpus", "ana", c.slot) for c in CANARIES]):
        texts = [m for e, n, lead in places for m in [lead, *e.messages(canaries[n].token)]]
        hits = Matcher(canaries).find_in(texts, decode=True)
        verdicts.append([(hit.canary, hit.tier, hit.text, hit.via) for hit in hits])

    assert verdicts[0] == verdicts[1]


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_text_around_a_token_leaves_it_found(before: str, after: str) -> None:
    """NUL, lone surrogates, bidi and all; the place is that of the token."""
    (hit,) = MATCHER.find(before + MINE.token + after)

    assert (hit.canary, hit.tier, hit.at) == (MINE.id, "T0", len(before))


@given(st.text(st.characters()))
def test_any_text_is_searched(text: str) -> None:
    """And none that is read as nothing holds anything."""
    hits = MATCHER.find(text)

    assert not hits or normalise(text)


@pytest.mark.parametrize("unit", ["a", "\x00", "\ud800\u202e", "Ω"], ids=ascii)
def test_ten_megabytes_are_searched(unit: str) -> None:
    """Of anything; the secret is at the end."""
    text = unit * (10_000_000 // len(unit)) + "; " + MINE.token
    (hit,) = MATCHER.find(text)

    assert ("T0", len(text) - 14) == (hit.tier, hit.at)


@pytest.mark.parametrize(
    "unit",
    [
        "\ud800",
        "Ω",
        "2B3C4D5F6G7H",
        "%36",
        "=36",
        "&#54;",
        r"\u0036",
        r"\x36",
        "six ",
        "54 ",
        "\x78\x9c",
    ],
    ids=ascii,
)
def test_much_of_one_thing_is_decoded(unit: str) -> None:
    """However often a codec is made to work, it comes to an end and finds what follows."""
    text = unit * (200_000 // len(unit)) + "; " + MINE.token[::-1]

    assert {MINE.id: "T2"} == tiers(Matcher([MINE]).find(text, decode=True))
