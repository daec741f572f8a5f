"""The files of channels, attacks and payloads: what is shipped, and what a project may add."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from memsim.discovery.project import builtin_folder
from memsim.errors import ConfigError, ScenarioError
from memsim.leakage.attack_families import WORDS, Attack, ChannelHeader, fill
from memsim.leakage.attack_files import channel_header, channel_headers, load_families, read_sheet
from memsim.leakage.attempt import CHANNELS

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a project's file of attacks; its folder."""

    def written(text: str) -> Path:
        (tmp_path / "own.yaml").write_text(dedent(text), encoding="utf-8")
        return tmp_path

    return written


def test_every_channel_is_described() -> None:
    """There are twenty, with the attempts and gates that the tables of the docs name."""
    known = channel_headers()

    assert tuple(known) == CHANNELS
    assert sum(h.attempts for h in known.values()) >= 3800
    assert {"L5", "L7", "L9", "L10", "L16"} == {c for c, h in known.items() if h.gate == "report"}


def test_every_family_that_a_channel_names_is_there() -> None:
    """A misspelt one would be found only when that channel is played."""
    families = load_families()

    assert all(families.of(h) or not h.attacks for h in channel_headers().values())


def test_attacks_and_payloads_are_as_many_as_promised() -> None:
    """At least seventeen families of attacks, and fifteen payloads with a harmless counterpart."""
    families = load_families()

    assert len(families.attacks) >= 17
    assert len(families.payloads) == 15
    assert all(p.trigger and p.benign for p in families.payloads)
    assert all("{marker}" in text for p in families.payloads for text in p.texts)
    assert not any("{marker}" in p.benign for p in families.payloads)


def test_no_shipped_file_is_an_ordinary_scenario() -> None:
    """What finds scenarios passes them by: they lack the key `memsim`."""
    files = sorted((builtin_folder("scenarios") / "leakage").glob("*.yaml"))

    assert len(files) >= 22
    assert not any(re.search(r"^memsim:", f.read_text("utf-8"), re.MULTILINE) for f in files)


def test_words_are_filled_in_once() -> None:
    """What is filled in is text, not a pattern: braces in it stay."""
    text = fill("{owner} and {viewer}, {unknown}", {"owner": "{viewer}", "viewer": "ben"})

    assert text == "{viewer} and ben, {unknown}"


def test_texts_come_round(write: Write) -> None:
    """A family with fewer texts than attempts begins anew."""
    attack = Attack(family="a", about="b", texts=("one", "two {slot}"))

    assert ["one", "two x", "one"] == [attack.text(n, slot="x") for n in range(3)]


def test_a_project_adds_families_and_texts(write: Write) -> None:
    """A new family is used wherever questions are asked; texts join a family that is there."""
    own = write(
        """
        leakage: 1
        attacks:
          - {family: flattery, about: is nice, texts: ["Dear friend, your {topic}?"]}
          - {family: direct, about: more, texts: ["The {topic}!"]}
          - {family: only-here, about: narrow, texts: ["x"], channels: [L2]}
        payloads:
          - {family: override, about: more, texts: ["{topic} is {marker}"]}
          - {family: gift, about: new, texts: ["{marker}"]}
        """
    )

    families = load_families(own)

    names = [a.family for a in families.of(channel_header("L1"))]
    assert "flattery" in names
    assert "only-here" not in names
    assert "only-here" in [a.family for a in families.of(channel_header("L2"))]
    assert "The {topic}!" in families.attack("direct").texts
    assert len(families.payloads) == 16
    assert "flattery" not in [a.family for a in families.of(channel_header("L7"))]


def test_a_family_of_payloads_adds_its_share_of_attempts(write: Write) -> None:
    """The others are tried as often as without it; channels without payloads stay as they are."""
    own = write(
        """
        leakage: 1
        payloads: [{family: gift, about: new, texts: ["{marker}"]}]
        """
    )

    shipped, more = load_families(), load_families(own)

    assert (285, 300) == tuple(
        families.attempts(channel_header("L16")) for families in (shipped, more)
    )
    assert channel_header("L1").attempts == more.attempts(channel_header("L1"))


def test_ways_can_be_chosen() -> None:
    """A strategy without tools is attacked only by what it offers."""
    families = load_families()

    assert {"ask"} == {a.way for a in families.of(channel_header("L1"), "ask")}


def test_an_unknown_family_is_named() -> None:
    """With the one that was most likely meant."""
    wrong = ChannelHeader(
        channel="L1", name="n", about="a", gate="zero", attempts=1, attacks=("directt",)
    )

    with pytest.raises(ConfigError, match=r"did you mean 'direct'\?"):
        load_families().of(wrong)


def test_parameters_are_read_strictly() -> None:
    """A number that is none, or that nobody gave, is an error that names the file."""
    found = channel_header("L1")

    assert 20 == found.number("secrets")
    with pytest.raises(ConfigError, match=r"L01-cross-principal.yaml: .*must be a whole number"):
        found.number("slots")
    with pytest.raises(ConfigError, match="no parameter 'sauce'"):
        found.number("sauce")


HOSTILE = {
    "nothing": ("", "missing key 'leakage'"),
    "a list": ("- leakage", "missing key 'leakage'"),
    "no mark": ("attacks: []", "missing key 'leakage'"),
    "another version": ("leakage: 2", "leakage must be 1"),
    "an empty mark": ("leakage:", "leakage has no value"),
    "an unknown key": ("leakage: 1\nattack: []", r"own.yaml:2: .*did you mean 'attacks'\?"),
    "no attacks": ("leakage: 1\nattacks: []", "attacks is an empty list"),
    "attacks as text": ("leakage: 1\nattacks: direct", "attacks must be a list"),
    "no texts": (
        "leakage: 1\nattacks:\n  - {family: a, about: b}",
        "own.yaml:3: missing key .texts. in attack",
    ),
    "an unknown word": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: ['{ownr}']}",
        r"own.yaml:3: .*unknown slot \{ownr\}.*did you mean 'owner'\?",
    ),
    "an attribute in braces": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: ['{owner.__class__} a']}",
        r"own.yaml:3: .*unknown slot '\{owner.__class__\} a' in texts; known slots: codec",
    ),
    "a number in braces": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: [x, 'ask {0}']}",
        r"own.yaml:3: .*unknown slot '\{0\}'",
    ),
    "braces about a word": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: ['{{owner}}']}",
        r"own.yaml:3: .*unknown slot '\{\{owner\}\}'",
    ),
    "a brace that only ends": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: ['{owner} is owner}']}",
        r"own.yaml:3: .*unknown slot '\}'",
    ),
    "an object without an end": (
        """leakage: 1\nattacks:\n  - {family: a, about: b, texts: ['{"q": {owner}']}""",
        r"own.yaml:3: .*unknown slot ",
    ),
    "an unknown channel": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: [x], channels: [L21]}",
        "own.yaml:3: unknown channel 'L21'",
    ),
    "an unknown way": (
        "leakage: 1\nattacks:\n  - {family: a, about: b, texts: [x], way: shout}",
        "way must be one of ask",
    ),
    "a long text": (
        f"leakage: 1\nattacks:\n  - {{family: a, about: b, texts: [{'x' * 2001}]}}",
        "more than 2,000 characters",
    ),
    "a channel of one's own": (
        "leakage: 1\nchannel: L1\nname: n\nabout: a\ngate: zero\nattempts: 1",
        "own.yaml:2: L1 is memsim's own",
    ),
    "a channel of no kind": (
        "leakage: 1\nchannel: L0\nname: n\nabout: a\ngate: zero\nattempts: 1",
        "channel must be one of",
    ),
    "the same key twice": ("leakage: 1\nattacks: []\nattacks: []", "own.yaml:3: "),
    "an alias": ("leakage: 1\nattacks: &a [*a]", "own.yaml:2: "),
    "a tag": ("leakage: 1\nattacks: !!python/object:os.system x", "own.yaml:2: "),
    "deep": ("leakage: 1\nattacks: " + "[" * 500, "own.yaml:2: "),
    "not YAML": ("leakage: 1\nattacks: [", "own.yaml:"),
    "a control character": ('leakage: 1\nattacks: ["\\u0007"]', "own.yaml:2: "),
}


def test_a_wrong_file_is_one_line(write: Write, subtests: pytest.Subtests) -> None:
    """File, line, what is wrong; no traceback and no second line."""
    for name, (text, said) in HOSTILE.items():
        with subtests.test(name=name):
            with pytest.raises(ScenarioError, match=said) as raised:
                load_families(write(text))

            assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    """As for scenarios."""
    (tmp_path / "own.yaml").write_bytes(b"leakage: 1\nattacks: \xff\n")

    with pytest.raises(ScenarioError, match=r"own.yaml:2: is not UTF-8"):
        load_families(tmp_path)


def test_every_word_is_used_by_somebody() -> None:
    """A word that no shipped text uses would be one that nobody fills in."""
    families = load_families()
    texts = [t for a in families.attacks for t in a.texts]
    texts += [t for p in families.payloads for t in (*p.texts, p.trigger, p.benign)]

    used = set(re.findall(r"\{(\w+)\}", " ".join(texts)))

    assert set(WORDS) == used


def test_a_header_says_where_it_stands() -> None:
    """For messages about it."""
    place = builtin_folder("scenarios") / "leakage" / "L07-residue.yaml"

    assert read_sheet(place).header == channel_header("L7")
    assert str(place) == channel_header("L7").place
