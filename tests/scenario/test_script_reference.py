"""The reference: it names every key, and its examples run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memsim.scenario import ABILITIES, MATCHES, Scenario, scenario_schema
from memsim.scenario.domains import DOMAINS

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "scenario-format.md"
TEXT = REFERENCE.read_text(encoding="utf-8")


def keys(schema: object) -> Iterator[str]:
    """Every key that the schema knows."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from keys(part)


def test_every_key_and_choice_is_described(subtests: pytest.Subtests) -> None:
    """What the loader takes, the reference tells."""
    for word in sorted({*keys(scenario_schema()), *ABILITIES, *MATCHES, *DOMAINS, "restart"}):
        with subtests.test(word=word):
            prose = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
            code = " ".join(re.findall(r"`([^`]+)`", prose))

            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", code)


def test_the_example_loads_and_plays(
    load: Callable[[str], Scenario], check: Callable[[Scenario], None]
) -> None:
    """Copied from the page, it works."""
    (example,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)

    check(load(example))


def test_the_python_example_runs() -> None:
    """As does the one in Python."""
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page

    assert names["scenario"].turns == 21
