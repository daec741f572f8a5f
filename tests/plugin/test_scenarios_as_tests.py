"""Scenario files as pytest items: setup replays, the test judges."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.plugin.conftest import quick_tokens

PLUGIN = ("-p", "memsim.pytest_plugin", "-p", "no:cacheprovider")

BROKEN = '''
from memsim import Context, Query, Strategy


class Broken(Strategy):
    """Fails at once."""

    def context(self, query: Query) -> Context:
        raise KeyError("x")
'''


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Call pytest on the project, with this plugin alone."""
    return project.runpytest_inprocess(*PLUGIN, *arguments)


def bound(project: pytest.Pytester, text: str) -> None:
    """Change the scenario's bound on recall."""
    path = project.path / "scenarios/first.yaml"
    path.write_text(path.read_text("utf-8").replace('">= 0.25"', f'"{text}"'), encoding="utf-8")


def test_each_strategy_is_an_item_named_as_its_case(project: pytest.Pytester) -> None:
    """The id that `memsim run` and `memsim explain` use is the node id."""
    result = run(project, "--collect-only", "-q")

    assert result.outlines[:2] == [
        "scenarios/first.yaml::first[mine@4k]",
        "scenarios/first.yaml::first[sliding_window:messages=12@4k]",
    ]


def test_kept_bounds_pass(project: pytest.Pytester) -> None:
    """Nothing is printed of what went well."""
    result = run(project, "-q")

    result.assert_outcomes(passed=2)
    assert "recall" not in result.stdout.str()


def test_a_broken_bound_fails_with_its_block(project: pytest.Pytester) -> None:
    """Bound, place, what was missed, and a command; no stack of ours."""
    bound(project, ">= 0.6")

    result = run(project)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "recall .40 < .6    scenarios/first.yaml:*",
            "missed: order (turn 1, out of the context from turn *",
            "memsim run 'scenarios/first.yaml::first[[]sliding_window:messages=12@4k]'; *",
            "FAILED scenarios/first.yaml::first[[]sliding_window:messages=12@4k] - Failed: *",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_what_could_not_be_scored_is_an_error(project: pytest.Pytester) -> None:
    """A strategy that raises has not failed a bound: it was not measured."""
    (project.path / "strategies/broken.py").write_text(BROKEN, encoding="utf-8")

    result = run(project, "--memsim-strategy", "broken")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "broken.py:9: KeyError: 'x' (in context, turn 1)",
            "ERROR *[[]broken@4k] - Failed: broken.py:9: *",
        ]
    )


def test_strategies_may_be_named(project: pytest.Pytester) -> None:
    """In place of the project's; repeatable."""
    result = run(
        project, "-q", "--collect-only", "--memsim-strategy", "no_memory",
        "--memsim-strategy", "mine:messages=3",
    )  # fmt: skip

    assert result.outlines[:2] == [
        "scenarios/first.yaml::first[no_memory@4k]",
        "scenarios/first.yaml::first[mine:messages=3@4k]",
    ]


def test_controls_are_not_judged(project: pytest.Pytester) -> None:
    """The floor may be replayed; it cannot fail."""
    bound(project, ">= 0.9")

    run(project, "--memsim-strategy", "no_memory").assert_outcomes(passed=1)


def test_a_node_id_selects_one_case(project: pytest.Pytester) -> None:
    """As of any other test."""
    result = run(project, "scenarios/first.yaml::first[mine@4k]")

    result.assert_outcomes(passed=1)


def test_k_selects_by_strategy(project: pytest.Pytester) -> None:
    """Pytest's own -k sees strategy and budget."""
    run(project, "-k", "sliding_window").assert_outcomes(passed=1, deselected=1)


def test_items_bear_a_marker(project: pytest.Pytester) -> None:
    """So that the slow can be told from the quick."""
    run(project, "--strict-markers", "-m", "not memsim").assert_outcomes(deselected=2)


def test_metrics_are_properties_of_the_report(project: pytest.Pytester) -> None:
    """Junit carries them beside the outcome."""
    run(project, "--junit-xml=junit.xml", "-k", "mine")

    tree = ET.parse(project.path / "junit.xml")  # noqa: S314 - pytest wrote it just now
    properties = {p.get("name"): p.get("value") for p in tree.iter("property")}
    assert properties["memsim.recall"] == "0.8"
    assert None not in properties.values()


def test_the_reported_line_is_that_of_the_bound(project: pytest.Pytester) -> None:
    """An editor jumps to what was not kept."""
    bound(project, ">= 0.6")
    lines = (project.path / "scenarios/first.yaml").read_text("utf-8").splitlines()
    wanted = next(n for n, line in enumerate(lines, start=1) if ">= 0.6" in line)

    result = run(project)

    assert f"scenarios/first.yaml:{wanted}" in result.stdout.str()


def test_a_wrong_scenario_is_a_collection_error_in_one_line(project: pytest.Pytester) -> None:
    """`file:line: what is wrong`, without a stack."""
    path = project.path / "scenarios/wrong.yaml"
    path.write_text("memsim: 1\nnmae: x\n", encoding="utf-8")

    result = run(project)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*scenarios/wrong.yaml:2: *(did you mean 'name'?)*"])
    assert "Traceback" not in result.stdout.str()


def test_other_yaml_is_left_alone(project: pytest.Pytester) -> None:
    """Without the key it is not ours; elsewhere it is not asked for."""
    (project.path / "scenarios/values.yaml").write_text("replicas: 2\n", encoding="utf-8")
    (project.path / "elsewhere").mkdir()
    text = (project.path / "scenarios/first.yaml").read_text("utf-8")
    (project.path / "elsewhere/first.yaml").write_text(text, encoding="utf-8")

    run(project).assert_outcomes(passed=2)


def test_memsim_files_says_where_scenarios_are(project: pytest.Pytester) -> None:
    """Globs relative to the root."""
    (project.path / "deep/er").mkdir(parents=True)
    (project.path / "scenarios/first.yaml").rename(project.path / "deep/er/first.yaml")

    result = run(project, "-o", "memsim_files=deep/**/*.yaml", "--collect-only", "-q")

    assert result.outlines[0] == "deep/er/first.yaml::first[mine@4k]"


def test_the_fixture_replays(project: pytest.Pytester) -> None:
    """For whoever wants to say more of a scenario than a bound can."""
    (project.path / "tests/test_mine.py").write_text(
        "def test_recall(memsim):\n"
        "    result = memsim.run('first', 'mine', budget='2k')\n"
        "    assert result.recall == 0.8\n"
        "    assert result.missed == ('cat', 'company')\n",
        encoding="utf-8",
    )

    run(project, "tests").assert_outcomes(passed=1)


def test_xdist_sees_the_same_items(project: pytest.Pytester) -> None:
    """Workers collect alike, or xdist refuses."""
    quick_tokens(project)

    parallel = project.runpytest_subprocess(*PLUGIN, "-p", "xdist", "-n", "2")

    parallel.assert_outcomes(passed=2)


def test_last_failed_knows_the_items(project: pytest.Pytester) -> None:
    """The cache keeps node ids, and ours do not change."""
    bound(project, ">= 0.6")
    cached = ("-p", "memsim.pytest_plugin")
    project.runpytest_inprocess(*cached).assert_outcomes(passed=1, failed=1)

    again = project.runpytest_inprocess(*cached, "--lf")

    again.assert_outcomes(failed=1)


def test_elsewhere_it_is_silent(pytester: pytest.Pytester) -> None:
    """A project without scenarios sees no line of ours and loses no time to us."""
    pytester.makepyfile(
        "import sys\n\n\n"
        "def test_light():\n"
        "    assert not {'yaml', 'numpy', 'click', 'memsim.suite'} & set(sys.modules)\n"
    )

    result = pytester.runpytest_subprocess(*PLUGIN)

    result.assert_outcomes(passed=1)
    assert not re.search(r"memsim(?!\.pytest_plugin)", _without_paths(result, pytester.path))


def _without_paths(result: pytest.RunResult, path: Path) -> str:
    lines = (line for line in result.outlines if not line.startswith(("rootdir", "plugins")))
    return "\n".join(lines).replace(str(path), "")
