"""Measure how alike look-alikes are to the facts that answers need: by words, and by meaning.

    python -m benchmarks.look_alike_similarity

For each statement that an answer needs, the most similar other statement of its session counts. A
cell is the mean over three stories: the share of words that both have of those that either has, and
the cosine of their vectors by the embedder `wordllama`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from memsim.models.registry import load_embedder
from memsim.scenario.generator.dials import FAMILIES, LOOK_ALIKE_KINDS, Generate
from memsim.scenario.generator.event_log import SessionDays, Story
from memsim.scenario.generator.solver import proven
from memsim.scenario.generator.story_script import defaults_of, story_of
from memsim.scenario.words import words

DAYS = SessionDays(first=date(2026, 1, 5), apart=timedelta(days=7))
SEEDS = 3
COUNT = 3


def main() -> None:
    """Print a table: a row for each family, two columns for each kind."""
    kinds = [kind for kind in LOOK_ALIKE_KINDS if kind != "mixed"]
    print(f"| family | {' | '.join(f'`{kind}`: words | meaning' for kind in kinds)} |")
    print(f"|---|{'--:|' * 2 * len(kinds)}")
    for family in FAMILIES:
        if "look_alikes" in defaults_of(family):
            cells = [cell for kind in kinds for cell in _similarity(family, kind)]
            print(f"| `{family}` | {' | '.join(f'{c:.2f}'.lstrip('0') for c in cells)} |")


def _similarity(family: str, kind: str) -> tuple[float, float]:
    steps = [
        Generate(
            line=None, family=family, seed=seed, look_alikes=COUNT, look_alike_kind=kind, facts=4
        )
        for seed in range(SEEDS)
    ]
    pairs = [pair for step in steps for pair in _pairs(story_of(step, DAYS))]
    return float(np.mean([p[0] for p in pairs])), float(np.mean([p[1] for p in pairs]))


def _pairs(story: Story) -> Iterator[tuple[float, float]]:
    """For each statement that is needed, its likeness to the nearest one that is not."""
    vectors = np.asarray(load_embedder("wordllama").embed([e.text for e in story.events]))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    said = [{*words(event.text)} for event in story.events]
    needed = {place for found in proven(story) for place in found.evidence}
    for place in sorted(needed):
        session = story.events[place].session
        others = [n for n, e in enumerate(story.events) if n not in needed and e.session == session]
        if others:
            shared = max(len(said[place] & said[n]) / len(said[place] | said[n]) for n in others)
            yield shared, float(max(vectors[others] @ vectors[place]))


if __name__ == "__main__":
    main()
