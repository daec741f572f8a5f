"""The kinds of value: each takes what it describes, and no more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memsim.errors import ScenarioError
from memsim.scenario.document import ScalarNode, quote
from memsim.scenario.value_kinds import (
    BoundKind,
    DecimalKind,
    DurationKind,
    FieldKind,
    FlagKind,
    InstantKind,
    NameKind,
    TokensKind,
    WholeKind,
    fold_name,
)

BIG = "9" * 30


def read(kind: FieldKind[object], text: str) -> object:
    """A plain scalar's value, or the error's message."""
    try:
        return kind.read(ScalarNode(text, 1, plain=True), "it")
    except ScenarioError:
        return "error"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("20", 20),
        ("1000", 1000),
        *((text, "error") for text in ("", "-1", "+1", "01", "1_0", "1.0", "1e3", "0x1", "٣", BIG)),
    ],
)
def test_whole(text: str, value: object) -> None:
    """Digits without a leading zero, within its bounds."""
    assert value == read(WholeKind(0, 1000), text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("0.05", 0.05),
        ("1", 1.0),
        *((text, "error") for text in ("", ".5", "1.", "-0.1", "1e-3", ".nan", ".inf", "1.1", BIG)),
    ],
)
def test_decimal(text: str, value: object) -> None:
    """Digits, perhaps a point and more digits."""
    assert value == read(DecimalKind(1.0), text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        *((text, "error") for text in ("True", "yes", "on", "1", "", "y")),
    ],
)
def test_flag(text: str, value: object) -> None:
    """Two words and no others."""
    assert value == read(FlagKind(), text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90s", timedelta(seconds=90)),
        ("5min", timedelta(minutes=5)),
        ("5m", timedelta(minutes=5)),
        ("1d 6h", timedelta(hours=30)),
        ("2w", timedelta(weeks=2)),
        *((text, "error") for text in ("", "5", "0s", "-5s", "5 months", "1h30", "٣d", f"{BIG}w")),
    ],
)
def test_duration(text: str, value: object) -> None:
    """Numbers with units, more than nothing."""
    assert value == read(DurationKind(), text)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("2026-03-02T09:00:00Z", True),
        ("2026-03-02 09:00+02:00", True),
        ("2028-02-29T00:00Z", True),
        ("2026-03-02T09:00:00", False),
        ("2026-03-02", False),
        ("2026-02-29T00:00Z", False),
        ("2026-03-02T24:00Z", False),
        ("2026-03-02T09:00:60Z", False),
        ("20260302T090000Z", False),
        ("1066-10-14T09:00Z", False),
    ],
)
def test_instant(text: str, *, good: bool) -> None:
    """A day that there is, with a time and a zone."""
    assert good == (read(InstantKind(), text) != "error")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4k", 4096),
        ("1.5k", 1536),
        ("4000", 4000),
        *((text, "error") for text in ("0", "0k", "1.5", "-1", "4K", "4 k", "1e3", "nan", BIG)),
    ],
)
def test_tokens(text: str, value: object) -> None:
    """A whole number of tokens; a k is 1,024."""
    assert value == read(TokensKind(), text)


@pytest.mark.parametrize(
    ("text", "good"),
    [(">= 0.80", True), ("<4096", True), ("== 1", True), (">= 80 %", True), ("0.8", False),
     ("=> 1", False), (">= nan", False), (">= 1 2", False), (">=", False)],
)  # fmt: skip
def test_bound(text: str, *, good: bool) -> None:
    """A comparison with a number."""
    assert good == (read(BoundKind(), text) != "error")


@pytest.mark.parametrize("name", ["a", "A-17", "_x", "ünïcode", "太郎", "स्थिति", "a.b", "1"])
def test_names_of_any_script(name: str) -> None:
    """Letters and their marks, digits, and three signs."""
    assert name == read(NameKind(), name)


@pytest.mark.parametrize(
    "name",
    ["", " a", "a b", "a/b", "a:b", "-a", ".a", "a\u200b", "\u202ea", "a\n", "x" * 101, "😀"],
)
def test_names_that_could_mislead_are_none(name: str) -> None:
    """Nothing that a path, a shell or an eye could take for something else."""
    assert read(NameKind(), name) == "error"


def test_names_that_look_alike_are_folded_to_one() -> None:
    """NFC, case and outer blanks."""
    assert fold_name("Café ") == fold_name("CAFE\u0301")
    assert fold_name("Straße") == fold_name("STRASSE")


def test_long_texts_are_shown_short() -> None:
    """An error is a line, whatever was written."""
    assert len(quote("x" * 10_000)) < 60
    assert quote("a\nb") == "'a\\nb'"
