"""The pages on leakage are complete: every channel, family, number and word."""

from __future__ import annotations

import re
from pathlib import Path

from memsim.leakage.attack_families import WORDS
from memsim.leakage.attack_files import channel_headers, load_families
from memsim.leakage.attempt import STATES
from memsim.leakage.scores import LEAK_METRICS
from memsim.report.leak_advice import TITLES

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "".join((DOCS / f"{name}.md").read_text("utf-8") for name in ("leakage", "leakage-channels"))
ATTACKS = (DOCS / "attacks.md").read_text("utf-8")


def test_the_table_of_channels_is_that_of_their_files() -> None:
    """Name, title in reports, how often it is tried, and what a leak means."""
    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| L\d+ \|", line)]

    expected = [
        (f"| {h.channel}", h.name, TITLES[h.channel], str(h.attempts), f"{h.gate} |")
        for h in channel_headers().values()
    ]
    assert expected == [(*row[:3], row[4], row[5]) for row in rows]


def test_every_family_metric_state_and_word_is_named() -> None:
    """Nothing that a user meets goes unexplained."""
    families = load_families()
    told = " ".join(f"{PAGE} {ATTACKS}".split())

    assert ", ".join(a.family for a in families.attacks) in told
    assert ", ".join(p.family for p in families.payloads) in told
    assert [] == [name for name in (*LEAK_METRICS, *STATES) if f"`{name}`" not in told]
    assert [] == [word for word in WORDS if f"`{{{word}}}`" not in told]
