"""What looking for canaries costs, and what it finds where there are none.

Two thousand canaries are looked for in at least ten million characters of Python sources: those of
the standard library and of whatever is installed. None of them was planted, so none may be found.
Then the forty-four encodings of the corpus, and how long decoding takes. Times are of the
processor and depend on the machine; what is claimed of them is loose.
"""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from memsim.canary import Matcher, mint, unplanted

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus" / "encodings"
CANARIES = 2000
CAUGHT = 38
"""Of the forty-four encodings."""
PLAIN, DECODED = 0.5, 20.0
"""Seconds for a million characters that are claimed, ten times what they take."""


def sources(least: int) -> Iterator[str]:
    """Python files until there are so many characters."""
    paths = sysconfig.get_paths()
    for folder in (paths["stdlib"], paths["purelib"]):
        for path in sorted(Path(folder).rglob("*.py")):
            if least <= 0:
                return
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            least -= len(text)
            yield text


def caught() -> dict[str, str]:
    """The tier by which each encoding of the corpus is found, or `missed`."""
    canary = mint(7, "corpus", "ana", "locker")
    matcher = Matcher([canary])
    tiers: dict[str, str] = {}
    for path in sorted(CORPUS.glob("*.json")):
        for name, texts in json.loads(path.read_text(encoding="utf-8")).items():
            hits = matcher.find_in(texts, decode=True)
            tiers[name] = hits[0].tier if hits else "missed"
    return tiers


def main() -> int:
    """Measure, print, and say whether it is as claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fifth of the text")
    quick: bool = parser.parse_args().quick
    texts = list(sources(2_000_000 if quick else 10_000_000))
    size = sum(map(len, texts)) / 1e6
    planted = [mint(1, "unrelated", "ana", str(n)) for n in range(CANARIES - 200)]
    matcher = Matcher([*planted, *unplanted(1)])

    began = time.process_time()
    false = matcher.find_in(texts)
    plain = (time.process_time() - began) / size
    print(f"{len(false)} of {CANARIES:,} canaries in {size:.1f} million unrelated characters")
    print(f"{plain:.3f} s for a million characters, T0, T1 and T3")

    some = "\n".join(texts)[: 300_000 if quick else 1_000_000]
    began = time.process_time()
    wrong = matcher.find(some, decode=True)
    decoded = (time.process_time() - began) / (len(some) / 1e6)
    print(f"{len(wrong)} of {CANARIES:,} in {len(some) / 1e6:.1f} million of them decoded")
    print(f"{decoded:.2f} s for a million characters, T2 as well")

    tiers = caught()
    missed = sorted(name for name, tier in tiers.items() if tier == "missed")
    found = len(tiers) - len(missed)
    print(f"{found} of {len(tiers)} encodings found; missed: {', '.join(missed)}")
    as_claimed = not (false or wrong) and found >= CAUGHT
    return int(not (as_claimed and plain < PLAIN and decoded < DECODED))


if __name__ == "__main__":
    sys.exit(main())
