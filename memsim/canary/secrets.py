"""Detect real credentials by their format, so that none is written into a record.

Every pattern has a fixed prefix and one possessively repeated character class, so the time is
proportional to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_STARTS = r"(?<![A-Za-z0-9_-])"
_PATTERNS = (
    ("aws-access-key", rf"{_STARTS}(?:AKIA|ASIA)[A-Z2-7]{{16}}(?![A-Za-z0-9])"),
    (
        "aws-secret-key",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"' ]{0,4}[:=][\"' ]{0,4}[A-Za-z0-9/+]{40}(?![\w/+=])",
    ),
    ("github-token", rf"{_STARTS}(?:gh[oprsu]_[A-Za-z0-9]{{36,255}}+|github_pat_\w{{60,255}}+)"),
    ("gitlab-token", rf"{_STARTS}glpat-[A-Za-z0-9_-]{{20,255}}+"),
    ("anthropic-key", rf"{_STARTS}sk-ant-[A-Za-z0-9_-]{{32,255}}+"),
    (
        "openai-key",
        rf"{_STARTS}sk-(?!ant-)(?=[A-Za-z_-]{{0,200}}+[0-9])[A-Za-z0-9_-]{{32,255}}+",
    ),
    ("google-key", rf"{_STARTS}AIza[A-Za-z0-9_-]{{35}}(?![A-Za-z0-9_-])"),
    ("slack-token", rf"{_STARTS}xox[abeoprs]-[A-Za-z0-9-]{{20,255}}+"),
    ("stripe-key", rf"{_STARTS}[rs]k_(?:live|test)_[A-Za-z0-9]{{16,255}}+"),
    ("huggingface-token", rf"{_STARTS}hf_[A-Za-z0-9]{{34,255}}+"),
    ("private-key", r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"),
    (
        "json-web-token",
        rf"{_STARTS}eyJ[A-Za-z0-9_-]{{8,}}+\.eyJ[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]{{8,}}+",
    ),
)
NAMES = tuple(name for name, _ in _PATTERNS)
_ANY = re.compile("|".join(f"(?P<{name.replace('-', '_')}>{regex})" for name, regex in _PATTERNS))

_HINTS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "sk-"),
    *("AIza", "xox", "k_live_", "k_test_", "hf_", "PRIVATE KEY", "eyJ"),
)
_ANY_CASE = ("aws",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The position and kind of a credential in a text, without the credential."""

    name: str
    start: int
    end: int


def scan(text: str) -> tuple[Secret, ...]:
    """Every credential in a text, in order, without overlaps."""
    return tuple(
        Secret(name=_name(match), start=match.start(), end=match.end())
        for match in _ANY.finditer(text)
    )


def redact(text: str) -> str:
    """The text with each credential replaced by its kind: `[github-token]`."""
    return _ANY.sub(lambda match: f"[{_name(match)}]", text)


def hinted(text: str) -> bool:
    """Whether a text contains a common part of all credentials, so that a scan is needed; fast."""
    lower = text.lower()
    return any(hint in text for hint in _HINTS) or any(hint in lower for hint in _ANY_CASE)


def redact_values(value: object) -> object:
    """A JSON value with every text and key redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact_values(key): redact_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_values(each) for each in value]
    return value


def _name(match: re.Match[str]) -> str:
    return (match.lastgroup or "").replace("_", "-")
