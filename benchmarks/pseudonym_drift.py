"""Plant identities in LoCoMo, replace them, search for them, and measure how far outcomes move.

`MEMSIM_DATA=... python -m benchmarks.pseudonym_drift` plants a code and a name into each
conversation, in plain and in 38 encodings, and counts what is found after the replacement. Then it
replays the conversations, without what was planted, before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memsim.message import load_tokenizer
from memsim.scenario.datasets import load_dataset
from memsim.suite.drift import outcome_drift
from memsim.traces.pseudonyms.identities import Identities
from memsim.traces.pseudonyms.replacement import Pseudonyms
from tests.canary.encodings import ENCODINGS, MISSED

ROOT = Path(__file__).resolve().parents[1]
STRATEGIES = (
    *("sliding_window", "rolling_summary", "bm25", "vector", "hybrid", "layered", "full_context"),
)
PLANTED = ("G5BR-HJ9Z-W798", "KRZCNV-GRFMTB")
ENOUGH = 0.02
"""Share of the outcomes that may move."""

_KEY = b"pseudonym-drift-of-the-benchmark"
_SAID = frozenset({"text", "blip_caption", "question", "answer", "adversarial_answer", "speaker"})
_SPEAKER = re.compile(r"speaker_[ab]")


def main() -> int:
    """Print what is left and what moved; 1 where it is too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-s", "--strategy", action="append", help="repeatable")
    given = parser.parse_args()
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data") / "locomo"
    [file] = data.glob("locomo*.json")
    content = json.loads(file.read_bytes())
    left = sum(map(planted_left, content))
    print(f"{left} planted identities left, of {len(PLANTED) * len(content)} in 39 forms")
    failed = left > 0
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, file.name)
        made.write_text(json.dumps([replaced(each) for each in content]), encoding="utf-8")
        pairs = list(zip(load_dataset("locomo", file), load_dataset("locomo", made), strict=True))
        for drift in outcome_drift(pairs, given.strategy or STRATEGIES):
            share = drift.moved / drift.questions
            print(f"{drift.strategy:16} {drift.moved:4} of {drift.questions} moved, {share:.1%}")
            sys.stdout.flush()
            failed |= share > ENOUGH
    return int(failed)


def planted_left(conversation: dict[str, Any]) -> int:
    """The planted identities that are found in any form after the replacement."""
    left = 0
    for identity in PLANTED:
        written = identity.title() if identity.replace("-", "").isalpha() else identity
        planted = [f"I wrote to {written} today.", *_encodings(identity)]
        texts = [*strings(conversation), *planted]
        pseudonyms = pseudonyms_of(conversation, texts)
        made = pseudonyms.texts(texts)
        kept = [text for text in planted if any(c.isalnum() for c in text) and text in made]
        left += bool(kept or list(pseudonyms.residue(made)))
    return left


def _encodings(identity: str) -> Iterator[str]:
    for encoding in ENCODINGS:
        if encoding.tier != MISSED:
            yield from encoding.messages(identity)


def pseudonyms_of(conversation: dict[str, Any], texts: list[str]) -> Pseudonyms:
    """The stand-ins of a conversation."""
    identities = Identities()
    for name in ("speaker_a", "speaker_b"):
        identities.meet(conversation["conversation"][name])
    for text in texts:
        identities.learn(text)
    identities.settle()
    return Pseudonyms(identities, _KEY, load_tokenizer().count)


def replaced(conversation: dict[str, Any]) -> dict[str, Any]:
    """A conversation and its questions with stand-ins."""
    pseudonyms = pseudonyms_of(conversation, strings(conversation))
    made: dict[str, Any] = _walked(conversation, "", pseudonyms.text)
    return made


def strings(conversation: dict[str, Any]) -> list[str]:
    """What is said and asked, in order."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    _walked(conversation, "", keep)
    return found


def _walked(value: Any, key: str, put: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {name: _walked(each, name, put) for name, each in value.items()}
    if isinstance(value, list):
        return [_walked(each, "", put) for each in value]
    said = isinstance(value, str) and (key in _SAID or _SPEAKER.fullmatch(key))
    return put(value) if said else value


if __name__ == "__main__":
    sys.exit(main())
