"""What AutoContextMemory is told: its thresholds, under the names and defaults of its versions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Version = Literal["document", "1.0.12", "1.0.21"]
"""The published document, the Java package of 1.0.12, or the Python package of 1.0.21."""

VERSIONS: tuple[Version, ...] = ("document", "1.0.12", "1.0.21")

Strategy = Literal["none", "progressive", "truncation", "summarisation", "offloading"]
STRATEGIES: tuple[Strategy, ...] = (
    "none",
    "progressive",
    "truncation",
    "summarisation",
    "offloading",
)

MAX_TOKEN = 128 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoContextConfig:
    """The thresholds of AutoContextMemory; the defaults are those of Java 1.0.12.

    Attributes:
        msg_threshold: messages from which on it compresses.
        max_token: tokens of the model's window.
        token_ratio: share of these from which on it compresses.
        last_keep: latest messages that stay.
        large_payload_threshold: characters beyond which content is large.
        offload_single_preview: characters of large content that stay before the reference.
        min_consecutive_tool_messages: messages of tools that a run must exceed.
        min_compression_token_threshold: tokens below which runs and rounds are left alone.
        current_round_compression_ratio: share that the current round is to be shortened to.

    Raises:
        ValueError: a number is out of its range.
    """

    msg_threshold: int = 100
    max_token: int = MAX_TOKEN
    token_ratio: float = 0.75
    last_keep: int = 50
    large_payload_threshold: int = 5 * 1024
    offload_single_preview: int = 200
    min_consecutive_tool_messages: int = 6
    min_compression_token_threshold: int = 5000
    current_round_compression_ratio: float = 0.3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("ratio"):
                if not 0 < value <= 1:
                    raise ValueError(f"{field.name} is {value}: above 0, and at most 1")
            elif value < 1:
                raise ValueError(f"{field.name} is {value}: at least 1")

    @property
    def token_threshold(self) -> int:
        """Tokens from which on it compresses."""
        return int(self.max_token * self.token_ratio)

    def but(self, **given: float | None) -> AutoContextConfig:
        """The thresholds with those in place that are given at all."""
        told: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **told)


DOCUMENTED = AutoContextConfig(msg_threshold=30, token_ratio=0.3, last_keep=10)
"""The configuration that the document shows."""


def thresholds_of(version: Version, budget: int) -> AutoContextConfig:
    """What holds where nothing is said, in a model's window of at most so many tokens."""
    config = DOCUMENTED if version == "document" else AutoContextConfig()
    return config.but(max_token=min(MAX_TOKEN, budget))
