"""The corpus: every bad file gets its one line, every good file loads and plays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memsim.errors import ScenarioError
from memsim.scenario import Scenario, load_scenario, load_scenarios, scenario_schema
from memsim.scenario.document import ListNode, Node, ScalarNode, parse, read_text

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "scenarios"
BAD: dict[str, dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text("utf-8"))
GOOD = sorted((CORPUS / "good").iterdir())


def test_the_expectations_name_exactly_the_bad_files() -> None:
    """A file that nothing is expected of, or an expectation without its file, tests nothing."""
    assert sorted(BAD) == sorted(path.name for path in (CORPUS / "bad").iterdir())
    assert len(BAD) >= 250


def test_a_bad_file_gets_one_line_that_names_the_place(subtests: pytest.Subtests) -> None:
    """`file:line: what is wrong (did you mean …?)`, printable, and nothing else."""
    for name in sorted(BAD):
        with subtests.test(name=name):
            path = CORPUS / "bad" / name

            with pytest.raises(ScenarioError) as caught:
                load_scenarios(path)

            error = caught.value
            assert BAD[name]["message"] in error.message
            assert (BAD[name]["line"], BAD[name].get("hint")) == (error.line, error.hint)
            said = str(error)
            assert said.startswith(f"{path}:{error.line}: ")
            assert said.removeprefix(str(path)).isprintable()
            assert len(said) < len(str(path)) + 300


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_loads_and_plays(path: Path, check: Callable[[Scenario], None]) -> None:
    """What the loader accepts can be played as announced."""
    (scenario,) = load_scenarios(path)

    check(scenario)


def test_the_good_folder_loads_as_a_whole() -> None:
    """A folder gives every scenario below it, sorted by path."""
    found = load_scenarios(CORPUS / "good")

    assert [str(path) for path in GOOD] == [str(scenario.path) for scenario in found]


def plain(node: Node | None) -> object:
    """The node as YAML 1.2's core schema reads it, as editors do."""
    if node is None or (isinstance(node, ScalarNode) and node.null):
        return None
    if isinstance(node, ScalarNode):
        return number(node.text) if node.plain else node.text
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.entries.items()}


def number(text: str) -> object:
    """What a plain scalar is."""
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        if not any(c in text for c in "_naif "):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_satisfies_the_published_schema(path: Path) -> None:
    """An editor must not underline what the loader accepts."""
    jsonschema.validate(plain(parse(read_text(path))), scenario_schema())


def test_the_published_schema_catches_most_bad_files() -> None:
    """What can be seen without the story, editors see: the rest needs the loader."""
    validator = jsonschema.Draft202012Validator(scenario_schema())
    readable, caught = 0, 0
    for name in BAD:
        try:
            node = parse(read_text(CORPUS / "bad" / name))
        except ScenarioError:
            continue
        readable += 1
        caught += not validator.is_valid(plain(node))

    assert readable > 180
    assert caught / readable > 0.6


def test_the_published_schema_is_one() -> None:
    """The schema itself is valid JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(scenario_schema())


def test_a_file_is_named_as_the_user_named_it(
    monkeypatch: pytest.MonkeyPatch, corpus: Path
) -> None:
    """Errors and scenarios carry the path as given, not an absolute one."""
    monkeypatch.chdir(corpus)

    assert str(load_scenario(Path("good/minimal.yaml")).path) == "good/minimal.yaml"
    with pytest.raises(ScenarioError, match=r"^bad/empty\.yaml:1: is empty"):
        load_scenario(Path("bad/empty.yaml"))
