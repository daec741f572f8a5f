"""Real credentials are known by their shape, in time that grows with the text alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.canary import secrets
from memsim.canary.secrets import NAMES, Secret, redact, scan

MIX = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"  # forty of them

SAMPLES = {
    "aws-access-key": ["AKIA" + "IOSF7DNN7EXAMPLE"[:16], "ASIA" + "A2B3C4D5E6F7G2H3"],
    "aws-secret-key": [
        "aws_secret_access_key = " + MIX,
        'AWS_SECRET_ACCESS_KEY="' + MIX[:-1] + '/"',
        '{"awsSecretKey": "' + MIX + '"}',
    ],
    "github-token": ["ghp_" + MIX[:36], "ghs_" + MIX, "github_pat_" + MIX[:22] + "_" + MIX * 2],
    "gitlab-token": ["glpat-" + MIX[:20], "glpat-" + MIX[:10] + "-_" + MIX[:9]],
    "anthropic-key": ["sk-ant-api03-" + MIX * 2, "sk-ant-" + "a" * 32],
    "openai-key": ["sk-" + MIX, "sk-proj-" + MIX + "_-" + MIX, "sk-svcacct-" + MIX],
    "google-key": ["AIza" + MIX[:35], "AIza" + MIX[:33] + "-_"],
    "slack-token": ["xoxb-" + "1" * 12 + "-" + MIX[:24], "xoxp-" + MIX],
    "stripe-key": ["sk_live_" + MIX[:24], "rk_test_" + MIX[:16]],
    "huggingface-token": ["hf_" + MIX[:34]],
    "private-key": [
        f"-----BEGIN {kind}PRIVATE KEY-----"
        for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ")
    ]
    + ["-----BEGIN PGP PRIVATE KEY BLOCK-----"],
    "json-web-token": [f"eyJ{MIX[:20]}.eyJ{MIX}.{MIX}_-", "eyJ12345678.eyJ12345678.12345678"],
}
ALL = [(name, sample) for name, samples in SAMPLES.items() for sample in samples]


def test_twelve_kinds_are_known() -> None:
    """Each with samples below."""
    assert len(NAMES) == 12
    assert list(SAMPLES) == list(NAMES)


def test_a_credential_is_found_and_redacted(subtests: pytest.Subtests) -> None:
    """In the places where credentials stand; the record of it does not hold it."""
    for before, after in [
        ("", ""),
        ("key=", "\n"),
        ('{"key": "', '"}'),
        ("Bearer ", " ok"),
        ("(", ")"),
    ]:
        for name, sample in ALL:
            with subtests.test(name=name, sample=sample, before=before, after=after):
                (found,) = scan(before + sample + after)

                assert name == found.name
                assert (before + sample + after)[found.start : found.end] in sample
                assert found.end - found.start >= 20
                assert MIX[:20] not in repr(found)
                assert f"[{name}]" in redact(before + sample + after)
                assert () == scan(redact(before + sample + after))


def test_places_are_told_in_order() -> None:
    """None overlaps another."""
    text = f"a {SAMPLES['google-key'][0]} b {SAMPLES['slack-token'][1]}"

    assert (
        Secret(name="google-key", start=2, end=41),
        Secret(name="slack-token", start=44, end=89),
    ) == scan(text)
    assert redact(text) == "a [google-key] b [slack-token]"


def test_what_is_none_is_let_be(subtests: pytest.Subtests) -> None:
    """One symbol too few or too many, another prefix, the name of a thing and not the thing."""
    for text in [
        "AKIA" + "A" * 15,
        "AKIA" + "A" * 17,
        "AKIA" + "a" * 16,
        "xAKIA" + "A" * 16,
        "aws_secret_access_key = " + MIX[:39],
        "aws_secret_access_key = " + MIX + "x",
        "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']",
        "ghp_" + MIX[:35],
        "ghx_" + MIX,
        "github_pat_" + MIX,
        "glpat-" + MIX[:19],
        "sk-" + MIX[:31],
        "sk-ant-" + MIX[:31],
        "sk-learn-is-a-library-and-this-is-a-long-slug-of-it",
        "task-" + MIX,
        "AIza" + MIX[:34],
        "AIza" + MIX[:36],
        "xoxb-" + MIX[:19],
        "xoxz-" + MIX,
        "sk_live_" + MIX[:15],
        "sk_dead_" + MIX,
        "hf_" + MIX[:33],
        "hf_hub_download(repo_id, filename, cache_dir)",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN  PRIVATE KEY-----",
        "eyJ1234567.eyJ12345678.12345678",
        "eyJ12345678.eyJ1234567.12345678",
        "eyJ12345678.eyJ12345678.1234567",
        "eyJ12345678.12345678.12345678",
        "",
    ]:
        with subtests.test(text=text):
            assert () == scan(text)
            assert text == redact(text)


def test_our_own_sources_hold_none() -> None:
    """Nothing that is shipped looks like a credential."""
    package = Path(secrets.__file__).parents[1]
    sources = sorted(package.rglob("*.py"))

    assert len(sources) > 100
    assert [p for p in sources if scan(p.read_text(encoding="utf-8"))] == []


@given(st.text(st.characters()))
def test_any_text_can_be_scanned(text: str) -> None:
    """Nothing raises."""
    assert text == redact(text)


def test_every_pattern_takes_linear_time() -> None:
    """By construction: repeats of one class are possessive or bounded, and do not nest."""
    for name, pattern in secrets._PATTERNS:
        bare = re.sub(r"\[[^]]*\]|\\.", "c", pattern)
        assert not re.search(r",\}(?!\+)", bare), name
        assert not re.search(r"[*+]", re.sub(r"\{[0-9,]+\}\+?", "", bare)), name


@pytest.mark.parametrize(
    "unit",
    ["eyJ", "eyJaaaaaaaa.", "sk-", "sk-a", "-----BEGIN ", "aws_secret_key ", "ghp_a", "xoxb-"],
)
def test_a_hostile_megabyte_is_scanned(unit: str) -> None:
    """It would take hours if time grew with the square."""
    scan(unit * (1_000_000 // len(unit)))
