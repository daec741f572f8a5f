"""Plans and cases: what is selected, how it is played, and what a failing strategy comes to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

import memsim
from memsim.config import Settings, load_settings
from memsim.discovery.project import Project, find_project
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import (
    ConfigError,
    ModelError,
    NoCasesError,
    RefError,
    ScenarioError,
    Unmeasurable,
    UsageError,
)
from memsim.executors import InProcess, ProcessPool
from memsim.gate import fails, lacks
from memsim.heap import garbage_pause
from memsim.memory.memory import Memory
from memsim.message import EPOCH
from memsim.scoring.metrics import METRICS
from memsim.scoring.metrics.store_contents import StoreLines
from memsim.scoring.probes import ProbeScore, score_probes
from memsim.suite import play, single
from memsim.suite.case_plan import CasePlan, parse_expression, plan, resolve_strategies
from memsim.suite.cases import (
    CaseOutcome,
    CaseSpec,
    ExpectFailure,
    MetricBound,
    check_expectations,
    parse_bound,
)
from memsim.suite.play import run_case
from memsim.suite.scenarios import ScenarioRef, find_scenarios, select_scenarios
from memsim.suite.turn_lines import TurnLines
from memsim.trace import Trace, TurnRecord, json_line

SCENARIO = """
memsim: 1
name: {name}
turns:
  - user: My order is A-17 and the card ends in 4411.
    facts: {{order_id: A-17}}
  - assistant: Noted.
  - user: Ship it to Oslo.
    facts: {{city: Oslo}}
  - assistant: I will.
probes:
  order_id: {{after: end, ask: What is my order number?, expect: A-17}}
  city: {{after: end, ask: Where should it be shipped?, expect: Oslo}}
"""

STRATEGIES = '''
"""Memories good and bad."""
from __future__ import annotations
import os, sys
from memsim import Context, Event, Message, Query, Strategy


class Window(Strategy):
    """The last messages."""

    def __init__(self, env, *, messages: int = 10) -> None:
        super().__init__(env)
        if messages < 1:
            raise ValueError("messages must be at least 1")
        self.messages = messages
        self.seen: list[Message] = []

    def observe(self, message: Message) -> None:
        self.seen.append(message)

    def context(self, query: Query) -> Context:
        build = self.env.build
        return build.context(build.section("window", self.seen[-self.messages:]))


class Nothing(Window):
    """Nothing at all."""

    control = "floor"

    def context(self, query: Query) -> Context:
        return Context()


class Unmade(Window):
    def __init__(self, env) -> None:
        raise KeyError("not made")


class Deaf(Window):
    def observe(self, message: Message) -> None:
        raise ZeroDivisionError


class Mute(Window):
    def context(self, query: Query) -> Context:
        raise LookupError("nothing found\\nat all")


class Odd(Window):
    def context(self, query: Query) -> Context:
        return "a text"


class Quitter(Window):
    def observe(self, message: Message) -> None:
        sys.exit(0)


class Killer(Window):
    def observe(self, message: Message) -> None:
        os._exit(0)


class Chatty(Window):
    def end_turn(self) -> None:
        self.env.log(Event(kind="half \\ud83d", before=1, after=1))


class Vague(Window):
    def end_turn(self) -> None:
        self.env.log(Event(kind="compaction", before=1, after=float("nan")))


class Untidy(Window):
    def close(self) -> None:
        raise OSError("left open")


class Wavering(Window):
    def context(self, query: Query) -> Context:
        del self.seen[:1]
        return super().context(query)
'''


def line_of(marker: str) -> int:
    """The line on which a piece of the strategies' source stands."""
    return STRATEGIES[: STRATEGIES.index(marker)].count("\n") + 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with two scenarios and strategies of every kind, which is the present folder."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\ntokenizer = 'chars/4'\n", "utf-8")
    for path in ("scenarios/desk.yaml", "scenarios/deep/trip.yaml"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SCENARIO.format(name=file.stem), encoding="utf-8")
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "kinds.py").write_text(STRATEGIES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return find_project()


def planned(project: Project, *refs: str, k: str | None = None, **changes: object) -> CasePlan:
    """The plan of a project's scenarios with these strategies and no controls."""
    settings = replace(load_settings(project), **changes)  # type: ignore[arg-type]
    strategies = resolve_strategies(refs or ("window",), project, controls=False)
    return plan(settings, find_scenarios(["scenarios"], project), strategies, k)


def played(project: Project, ref: str) -> CaseOutcome:
    """The outcome of one scenario with one strategy."""
    return run_case(planned(project, ref, k="desk").cases[0])


# -- which scenarios


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("scenarios", ["scenarios/deep/trip.yaml::trip", "scenarios/desk.yaml::desk"]),
        ("scenarios/", ["scenarios/deep/trip.yaml::trip", "scenarios/desk.yaml::desk"]),
        ("./scenarios/deep", ["scenarios/deep/trip.yaml::trip"]),
        ("scenarios/desk.yaml", ["scenarios/desk.yaml::desk"]),
        ("scenarios/*.yaml", ["scenarios/desk.yaml::desk"]),
        ("scenarios/**/*.yaml", ["scenarios/deep/trip.yaml::trip", "scenarios/desk.yaml::desk"]),
        ("desk", ["scenarios/desk.yaml::desk"]),
        ("trip", ["scenarios/deep/trip.yaml::trip"]),
        ("scenarios/desk.yaml::desk", ["scenarios/desk.yaml::desk"]),
        ("scenarios/desk.yaml::desk[window@4k]", ["scenarios/desk.yaml::desk"]),
        ("scenarios/desk.yaml::desk[window@4k]#2", ["scenarios/desk.yaml::desk"]),
        ("scenarios/desk.yaml::desk[window@4k]::city", ["scenarios/desk.yaml::desk"]),
        ("scenarios/desk.yaml::desk::city", ["scenarios/desk.yaml::desk"]),
        ("desk::desk", ["scenarios/desk.yaml::desk"]),
    ],
)
def test_a_selector_means_scenarios(project: Project, selector: str, found: list[str]) -> None:
    """A path, a folder, a glob, a name, or what a failure line prints."""
    assert found == [str(ref) for ref in find_scenarios([selector], project)]


def test_paths_are_relative_to_the_project_wherever_one_stands(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same case has the same id from every folder."""
    monkeypatch.chdir(project.base / "scenarios")

    (ref,) = find_scenarios(["desk.yaml"], find_project())

    assert str(ref) == "scenarios/desk.yaml::desk"


def test_without_a_selector_a_projects_own_are_meant(project: Project, tmp_path: Path) -> None:
    """And memsim's where it has none."""
    assert [ref.name for ref in find_scenarios([], project)] == ["trip", "desk"]
    shutil.rmtree(tmp_path / "scenarios")
    shipped = [str(ref) for ref in find_scenarios([], project)]
    assert "builtin/support_desk.yaml::support_desk" in shipped
    assert [str(ref) for name in shipped for ref in find_scenarios([name], project)] == shipped


def test_a_scenario_named_twice_is_played_once(project: Project) -> None:
    """In the order of first mention."""
    refs = find_scenarios(["desk", "scenarios", "scenarios/desk.yaml"], project)

    assert [ref.name for ref in refs] == ["desk", "trip"]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("dask", "no scenario is called 'dask' (did you mean 'desk'?)"),
        (
            "scenarios/dask.yaml",
            "no file 'scenarios/dask.yaml' (did you mean 'scenarios/desk.yaml'?)",
        ),
        ("scenarios/x*.yaml", "no scenario file matches 'scenarios/x*.yaml'"),
        ("strategies", "strategies: holds no scenario"),
        ("scenarios/desk.yaml::dusk", "scenarios/desk.yaml holds no scenario 'dusk' (did you mean"),
        ("", "'' is not a scenario"),
        ("a\0b", "is not a scenario"),
        ("locomo", "locomo is a dataset: say where its data is with --data PATH"),
    ],
)
def test_a_selector_that_means_nothing_is_told(
    project: Project, selector: str, message: str
) -> None:
    """One line, and the nearest name."""
    with pytest.raises(RefError) as raised:
        find_scenarios([selector], project)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_wrong_file_is_named_as_ids_name_it(project: Project) -> None:
    """Relative to the project, with its line, whether named itself or found in a folder."""
    (project.base / "scenarios" / "bad.yaml").write_text("memsim: 1\nnam: x\n", encoding="utf-8")

    for selector in ("scenarios/bad.yaml", "scenarios"):
        with pytest.raises(ScenarioError) as raised:
            find_scenarios([selector], project)
        assert str(raised.value).startswith("scenarios/bad.yaml:2: ")


def test_a_file_that_changes_is_read_again(project: Project) -> None:
    """A long-lived process does not play yesterday's script."""
    path = project.base / "scenarios" / "desk.yaml"
    (ref,) = find_scenarios(["desk"], project)
    before = ref.load().fingerprint
    path.write_text(path.read_text(encoding="utf-8").replace("Oslo", "Bergen"), encoding="utf-8")

    assert ref.load().fingerprint != before


def test_a_scenario_that_vanished_is_told(project: Project) -> None:
    """Its file is, when it is the file that is gone."""
    (ref,) = find_scenarios(["desk"], project)
    path = project.base / "scenarios" / "desk.yaml"
    path.write_text(SCENARIO.format(name="dusk"), encoding="utf-8")
    with pytest.raises(RefError, match="desk is gone"):
        ref.load()
    path.unlink()
    with pytest.raises(ScenarioError, match=r"^scenarios/desk\.yaml"):
        ref.load()


# -- which cases


def test_cases_come_by_scenario_strategy_budget_repeat(project: Project) -> None:
    """The order of the records, whatever order they are played in."""
    cases = planned(project, "window", "nothing", budget=(2048, 4000), repeat=2, k="desk").cases

    assert [case.key for case in cases] == [
        "scenarios/desk.yaml::desk[window@2k]",
        "scenarios/desk.yaml::desk[window@2k]#1",
        "scenarios/desk.yaml::desk[window@4000]",
        "scenarios/desk.yaml::desk[window@4000]#1",
        "scenarios/desk.yaml::desk[nothing@2k]",
        "scenarios/desk.yaml::desk[nothing@2k]#1",
        "scenarios/desk.yaml::desk[nothing@4000]",
        "scenarios/desk.yaml::desk[nothing@4000]#1",
    ]


@pytest.mark.parametrize(("forced", "budgets"), [(False, {1024}), (True, {4096})])
def test_a_scenarios_own_budget_wins_unless_a_flag_says_otherwise(
    project: Project, forced: bool, budgets: set[int]
) -> None:
    """Flag and environment stand above the file, the project below it."""
    path = project.base / "scenarios" / "desk.yaml"
    text = path.read_text(encoding="utf-8").replace("name: desk", "name: desk\nbudget: 1k")
    path.write_text(text, encoding="utf-8")

    cases = planned(project, k="desk", budget_forced=forced).cases

    assert budgets == {case.budget for case in cases}


def test_controls_are_added_once(project: Project) -> None:
    """Every comparison has its floor and ceilings; naming one does not double it."""
    refs = resolve_strategies(["window", "no_memory"], project)

    assert [str(r) for r in refs] == ["window", "no_memory", "full_context", "oracle"]


def test_a_configured_name_that_means_nothing_is_told_with_its_line(project: Project) -> None:
    """One that was typed has no line."""
    path = project.base / "pyproject.toml"
    path.write_text('[tool.memsim]\nstrategies = [\n  "window",\n  "windo",\n]\n', "utf-8")

    with pytest.raises(RefError, match=r"^pyproject.toml:4: there is no strategy 'windo' \(did"):
        resolve_strategies(["window", "windo"], find_project())
    with pytest.raises(RefError, match=r"^there is no strategy 'wnd'"):
        resolve_strategies(["wnd"], find_project())


def test_an_id_selects_its_case_alone(project: Project) -> None:
    """What a failure line prints can be pasted behind `memsim run`."""
    selection = select_scenarios(
        ["scenarios/desk.yaml::desk[window:messages=3@4k]", "trip"], project
    )
    refs = resolve_strategies(["window", "window:messages=3"], project, controls=False)

    cases = plan(load_settings(project), selection, refs).cases

    assert [case.id for case in cases] == [
        "scenarios/desk.yaml::desk[window:messages=3@4k]",
        "scenarios/deep/trip.yaml::trip[window@4k]",
        "scenarios/deep/trip.yaml::trip[window:messages=3@4k]",
    ]


def test_nothing_left_is_an_error_of_its_own(project: Project) -> None:
    """Exit 5, as pytest has it."""
    with pytest.raises(NoCasesError, match="no case is left to run by -k 'nope'"):
        planned(project, k="nope")


def test_the_fingerprint_is_of_everything_that_shapes_the_records(project: Project) -> None:
    """Any change to it is another plan; none is the same plan."""
    same = planned(project).fingerprint

    assert planned(project).fingerprint == same
    changed = {
        planned(project, seed=8).fingerprint,
        planned(project, repeat=2).fingerprint,
        planned(project, budget=(1024,)).fingerprint,
        planned(project, model="other").fingerprint,
        planned(project, embedder="other").fingerprint,
        planned(project, tokenizer="o200k_base").fingerprint,
        planned(project, "window:messages=3").fingerprint,
        planned(project, k="desk").fingerprint,
        planned(project, expect={"recall": ">= 0.5"}).fingerprint,
        same,
    }
    assert len(changed) == 10
    assert planned(project, jobs=8, reports="elsewhere").fingerprint == same


def test_the_fingerprint_is_of_the_script_and_the_strategys_source(project: Project) -> None:
    """An edited file is another plan."""
    prints = [planned(project).fingerprint]
    scenario = project.base / "scenarios" / "desk.yaml"
    scenario.write_text(scenario.read_text("utf-8").replace("Oslo", "Bergen"), encoding="utf-8")
    prints.append(planned(project).fingerprint)
    other = project.base / "strategies" / "other.py"
    other.write_text(STRATEGIES.replace("Window", "Pane"), encoding="utf-8")
    prints.append(planned(project, "pane").fingerprint)
    other.write_text(STRATEGIES.replace("Window", "Pane") + "# edited\n", encoding="utf-8")
    prints.append(planned(project, "pane").fingerprint)

    assert len(set(prints)) == len(prints)


# -- -k


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("", ["desk[bm25@4k]", "desk[window@4k]", "trip[bm25@8k]"]),
        ("desk", ["desk[bm25@4k]", "desk[window@4k]"]),
        ("DESK", ["desk[bm25@4k]", "desk[window@4k]"]),
        ("desk and not bm25", ["desk[window@4k]"]),
        ("trip or window", ["desk[window@4k]", "trip[bm25@8k]"]),
        ("not (desk or trip)", []),
        ("not desk and bm25", ["trip[bm25@8k]"]),
        ("desk or trip and window", ["desk[bm25@4k]", "desk[window@4k]"]),
        ("(desk or trip) and window", ["desk[window@4k]"]),
        ("[bm25@4k]", ["desk[bm25@4k]"]),
        ("not not desk", ["desk[bm25@4k]", "desk[window@4k]"]),
        ("android", []),
    ],
)
def test_an_expression_chooses_cases_as_pytests_does(expression: str, chosen: list[str]) -> None:
    """Substrings of ids with and, or, not and parentheses."""
    ids = ["desk[bm25@4k]", "desk[window@4k]", "trip[bm25@8k]"]

    assert chosen == [case for case in ids if parse_expression(expression)(case)]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("and", "at column 1 stands and, expected a name"),
        ("desk and", "at column 9 stands the end, expected a name"),
        ("desk trip", "at column 6 stands trip, expected and, or, or the end"),
        ("(desk", "at column 6 stands the end, expected a closing parenthesis"),
        ("desk)", "at column 5 stands )"),
        ("()", "at column 2 stands )"),
        ("not " * 200 + "x", "nested too deeply"),
        ("(" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_expression_is_told_with_its_column(expression: str, message: str) -> None:
    """One line, whatever was typed."""
    with pytest.raises(ConfigError) as raised:
        parse_expression(expression)

    assert message in str(raised.value)


# -- bounds


@pytest.mark.parametrize(
    ("metric", "text", "value", "kept"),
    [
        ("recall", ">= 0.80", 0.8, True),
        ("recall", ">= 0.80", 0.79, False),
        ("context_peak", "<= 4096", 4096, True),
        ("context_peak", "<= 4096", 4097, False),
        ("recall", "> 1", 1, False),
        ("recall", "< 1", 0.5, True),
        ("compactions", "== 3", 3, True),
        ("recall", "0.8", 0.81, True),
        ("recall", ">=80%", 0.8, True),
        ("recall", "0.8", None, False),
    ],
)
def test_a_bound_is_kept_or_not(metric: str, text: str, value: float | None, kept: bool) -> None:
    """What was not measured keeps no bound."""
    bound = parse_bound(metric, text, METRICS)

    assert (check_expectations({metric: value}, [bound]) == ()) is kept


@pytest.mark.parametrize(("metric", "sign"), [("recall", ">="), ("context_peak", "<=")])
def test_a_bare_number_bounds_on_the_side_that_is_worse(metric: str, sign: str) -> None:
    """At least so much recall, at most so many tokens."""
    assert sign == parse_bound(metric, "1", METRICS).sign


def test_a_metric_that_is_missing_fails_closed() -> None:
    """Its value is told as none."""
    bound = MetricBound(metric="recall", sign=">=", value=0.8, place="a.yaml:4")

    failures = check_expectations({}, [bound])

    assert failures == (
        ExpectFailure(metric="recall", bound=">= 0.8", value=None, place="a.yaml:4"),
    )


@pytest.mark.parametrize(
    "text", ["", "high", ">=", ">= x", "=> 1", ">= nan", ">= inf", "0_8", "1 2"]
)
def test_what_is_no_bound_is_refused(text: str) -> None:
    """With the file and line that said it."""
    with pytest.raises(ConfigError, match=r"^a\.yaml:4: recall: a bound is written like"):
        parse_bound("recall", text, METRICS, path="a.yaml", line=4)


def test_an_unknown_metric_suggests_the_nearest(project: Project) -> None:
    """Before anything is played."""
    with pytest.raises(ConfigError) as raised:
        planned(project, expect={"recal": ">= 0.8"}, expect_lines={"recal": 3})

    assert (
        str(raised.value) == "pyproject.toml:3: there is no metric 'recal' (did you mean 'recall'?)"
    )


def test_a_flag_bounds_before_the_scenario_before_the_project(project: Project) -> None:
    """The nearest to the user wins, metric by metric."""
    path = project.base / "scenarios" / "desk.yaml"
    text = path.read_text(encoding="utf-8") + 'expect:\n  recall: ">= 0.2"\n  lost: "<= 5"\n'
    path.write_text(text, encoding="utf-8")

    (case,) = planned(
        project,
        k="desk",
        expect={"recall": ">= 0.1", "stale": "<= 0.5"},
        expect_forced={"lost": "<= 9"},
    ).cases

    assert [(b.metric, str(b), b.place) for b in case.bounds] == [
        ("recall", ">= 0.2", f"scenarios/desk.yaml:{text.count(chr(10)) - 1}"),
        ("stale", "<= 0.5", "pyproject.toml"),
        ("lost", "<= 9", "--fail-under"),
    ]


def test_a_broken_bound_is_in_the_result_and_controls_have_none(project: Project) -> None:
    """A floor is not blamed for being one."""
    expect = {"recall": ">= 0.8"}
    window, nothing = planned(
        project, "window:messages=1", "nothing", k="desk", expect=expect
    ).cases

    (failure,) = run_case(window).result.expect_failures
    assert (failure.metric, failure.value) == ("recall", 0.0)
    assert run_case(nothing).result.expect_failures == ()
    assert run_case(nothing).result.control == "floor"


# -- playing


def test_a_case_is_played_and_scored(project: Project) -> None:
    """Everything that the strategy keeps is answered."""
    outcome = played(project, "window")

    assert outcome.result.state == "scored"
    assert outcome.result.metrics["recall"] == 1.0
    assert outcome.result.counts == {
        "probes": 2,
        "answerable": 2,
        "passed": 2,
        "failed": 0,
        "errors": 0,
    }
    assert outcome.result.outcomes == {"PASS": 2}
    assert len(outcome.turn_lines.splitlines()) == 2
    assert len(outcome.probe_lines.splitlines()) == 2


@pytest.mark.parametrize(
    ("ref", "error"),
    [
        ("unmade", f"kinds.py:{line_of('raise KeyError')}: KeyError: 'not made'"),
        ("deaf", f"kinds.py:{line_of('raise ZeroDivisionError')}: ZeroDivisionError"),
        ("mute", f"kinds.py:{line_of('raise LookupError')}: LookupError: nothing found at all"),
        ("odd", "context returned str, not a Context"),
        ("vague", "the strategy logged what JSON cannot hold: Out of range float values are not"),
        ("untidy", f"kinds.py:{line_of('raise OSError')}: OSError: left open"),
    ],
)
def test_what_a_strategy_raises_is_an_error_of_its_case(
    project: Project, ref: str, error: str
) -> None:
    """With file, line, kind and text on one line; no probe of it counts as answered or wrong."""
    result = played(project, ref).result

    assert result.state == "error"
    assert error in result.error
    assert "\n" not in result.error


def test_what_was_not_played_to_its_end_breaks_no_bound(project: Project) -> None:
    """A value of something else than the bound is of is no measurement."""
    expect = {"context_peak": "<= 1"}
    (spec,) = planned(project, "untidy", k="desk", expect=expect).cases

    result = run_case(spec).result

    assert (result.metrics["context_peak"] or 0) > 1
    assert [None] == [failure.value for failure in result.expect_failures]
    assert (False, True) == (fails(result), lacks(result))


def test_of_a_context_that_is_not_pure_nothing_counts(project: Project) -> None:
    """The questions before the one that gave it away hang on their order as well."""
    result = played(project, "wavering").result

    assert (result.state, result.counts["errors"]) == ("error", 2)
    assert result.metrics["recall"] is None


def test_half_an_emoji_is_recorded_as_it_is(project: Project) -> None:
    """What no text encoding can hold, JSON can."""
    (first, *_) = map(json.loads, played(project, "chatty").turn_lines.splitlines())

    assert first["events"][0]["kind"] == "half \ud83d"


def test_a_model_that_cannot_be_loaded_is_an_error_of_its_cases(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was measured, and nothing is said of the strategy."""

    def fail(*_arguments: object) -> None:
        raise ModelError("the model is not there")

    monkeypatch.setattr("memsim.suite.case_models._offline", fail)
    result = played(project, "window").result

    assert (result.state, result.error) == ("error", "the model is not there")
    assert result.counts["errors"] == 2


def test_a_strategy_that_raises_at_import_is_an_error_of_its_cases(project: Project) -> None:
    """Others of the plan are played."""
    (project.base / "strategies" / "torn.py").write_text(
        dedent("""
        from memsim import Strategy
        import not_there_at_all
        class Torn(Strategy):
            def context(self, query): ...
        """),
        encoding="utf-8",
    )
    torn, window = planned(project, "torn", "window", k="desk").cases

    result = run_case(torn).result

    assert (result.state, result.counts["errors"]) == ("error", 2)
    assert result.error.startswith("strategies/torn.py:3: ModuleNotFoundError: No module named")
    assert run_case(window).result.state == "scored"


def test_parameters_that_the_strategy_refuses_are_told_before_anything_is_played(
    project: Project,
) -> None:
    """In the strategy's own words; exit 4, as any other wrong flag."""
    with pytest.raises(RefError) as raised:
        planned(project, "window:messages=0")
    assert str(raised.value) == "window:messages=0: messages must be at least 1"
    with pytest.raises(RefError, match="messages must be at least 1"):
        memsim.run("desk", "window:messages=0")


def test_a_strategy_that_cannot_be_tried_is_left_to_its_case(project: Project) -> None:
    """What is not about its parameters is the strategy's fault, and an error of its case."""
    path = project.base / "strategies" / "kinds.py"
    text = STRATEGIES.replace("raise KeyError", "self.x = k; raise KeyError")
    path.write_text(text.replace("def __init__(self, env) ->", "def __init__(self, env, k=1) ->"))

    assert "KeyError: 'not made'" in played(project, "unmade:k=2").result.error


def test_a_strategy_that_exits_is_an_error_of_its_case(project: Project) -> None:
    """It does not take the run with it, still less with exit code 0."""
    result = played(project, "quitter").result

    assert result.state == "error"
    assert "SystemExit" in result.error
    assert result.counts["errors"] == 2


def test_a_strategy_cannot_end_memsim_as_if_it_had_passed(project: Project) -> None:
    """Played in this very process, its exit is an error of its case."""
    cases = planned(project, "window", "killer").cases

    outcomes = dict(InProcess().run(cases, run_case))

    states = {o.result.strategy: o.result.state for o in outcomes.values()}
    assert states == {"window": "scored", "killer": "error"}
    assert all("os._exit(0)" in o.result.error for o in outcomes.values() if o.result.error)


def test_a_strategy_that_ends_its_process_is_lost_alone(project: Project) -> None:
    """The others of the plan are scored."""
    cases = planned(project, "window", "killer", "nothing").cases

    outcomes = dict(ProcessPool(2).run(cases, run_case))

    assert [outcomes[n].result.state for n in range(6)] == [
        "scored",
        "lost",
        "scored",
        "scored",
        "lost",
        "scored",
    ]


def test_a_case_leaves_no_folder_behind(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The private folder of a strategy that asked for one is removed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    path = project.base / "strategies" / "kept.py"
    path.write_text(
        STRATEGIES.replace("Window", "Kept").replace(
            "self.seen: list[Message] = []",
            "self.seen = []; (env.folder() / 'note').write_text('x')",
        ),
        encoding="utf-8",
    )

    assert played(project, "kept").result.state == "scored"
    assert list((tmp_path / "temp").iterdir()) == []


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_records_do_not_depend_on_the_number_of_processes(project: Project, jobs: int) -> None:
    """The same bytes for every case."""
    cases = planned(project, "window", "window:messages=1", "nothing", repeat=3).cases
    expected = [run_case(case) for case in cases]

    executor = InProcess() if jobs == 1 else ProcessPool(jobs)
    outcomes = dict(executor.run(cases, run_case))

    for place, outcome in enumerate(expected):
        assert outcomes[place].turn_lines == outcome.turn_lines
        assert outcomes[place].probe_lines == outcome.probe_lines


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
    ],
)
def test_records_do_not_depend_on_hash_seed_zone_or_locale(
    project: Project, environ: dict[str, str]
) -> None:
    """The same bytes in a process that was started otherwise."""
    script = dedent("""
        import sys
        from memsim.config import load_settings
        from memsim.discovery.project import find_project
        from memsim.suite.case_plan import plan, resolve_strategies
        from memsim.suite.play import run_case
        from memsim.suite.scenarios import find_scenarios
        project = find_project()
        refs = resolve_strategies(["window", "nothing"], project, controls=False)
        made = plan(load_settings(project), find_scenarios(["scenarios"], project), refs)
        sys.stdout.buffer.write(made.fingerprint.encode())
        for case in made.cases:
            outcome = run_case(case)
            sys.stdout.buffer.write(outcome.turn_lines + outcome.probe_lines)
    """)
    expected = planned(project, "window", "nothing")
    lines = [run_case(case) for case in expected.cases]

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environ, "PYTHONPATH": str(Path(memsim.__file__).parents[1])},
        capture_output=True,
        check=True,
    )

    records = b"".join(o.turn_lines + o.probe_lines for o in lines)
    assert done.stdout == expected.fingerprint.encode() + records


def test_no_case_keeps_its_strategy_while_it_is_scored(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it holds goes with it, unless parts of it hold each other."""
    (spec,) = planned(project, "window", k="desk").cases
    made: list[weakref.ref[memsim.Strategy]] = []
    alive: list[bool] = []

    def make(env: memsim.Environment) -> memsim.Strategy:
        made.append(weakref.ref(strategy := memsim.load_strategy("window")(env)))
        return strategy

    def scored(trace: Trace) -> tuple[ProbeScore, ...]:
        alive.extend(ref() is not None for ref in made)
        return score_probes(trace)

    monkeypatch.setattr(play, "score_probes", scored)

    assert play.play_scenario(spec.scenario.load(), spec, make).result.state == "scored"
    assert alive == [False]


@pytest.mark.parametrize(("long", "there"), [(1, False), (20_000, True)])
def test_the_memory_of_a_long_case_is_gone_when_it_is_scored(
    project: Project, monkeypatch: pytest.MonkeyPatch, long: int, there: bool
) -> None:
    """Also one whose parts refer to each other; for a short case, no garbage is collected."""
    (spec,) = planned(project, "layered:store=sqlite", k="desk").cases
    layered = memsim.load_strategy("layered:store=sqlite")
    made: list[weakref.ref[Memory]] = []
    alive: list[bool] = []

    def make(env: memsim.Environment) -> memsim.Strategy:
        strategy = layered(env)
        made.append(weakref.ref(vars(strategy)["_memory"]))
        return strategy

    def scored(trace: Trace) -> tuple[ProbeScore, ...]:
        alive.extend(ref() is not None for ref in made)
        return score_probes(trace)

    monkeypatch.setattr(play, "score_probes", scored)
    monkeypatch.setattr(play, "_LONG", long)

    with garbage_pause():
        outcome = play.play_scenario(spec.scenario.load(), spec, make)

    assert outcome.result.state == "scored"
    assert alive == [there]


# -- from Python


def test_one_case_is_run_in_a_line(project: Project) -> None:
    """By name, by file, by class or by what makes one."""
    window = memsim.load_strategy("window")

    assert memsim.run("desk", "window").recall == 1.0
    assert memsim.run("scenarios/desk.yaml", "window:messages=1").recall == 0.0
    assert memsim.run(Path("scenarios/desk.yaml"), window).case().id.endswith("desk[window@4k]")
    report = memsim.run("desk", lambda env: window(env), budgets="1k", seed=3).case()  # noqa: PLW0108
    assert report.id.endswith("desk[lambda@1k]")
    assert (report.missed, len(report.probes), len(report.turns)) == ((), 2, 2)


def test_an_edited_strategy_is_what_is_run_next(project: Project) -> None:
    """In a notebook the file on disk counts, not the one that was loaded an hour ago."""
    assert memsim.run("desk", "window").recall == 1.0
    path = project.base / "strategies" / "kinds.py"
    path.write_text(STRATEGIES.replace("messages: int = 10", "messages: int = 1"), "utf-8")

    assert memsim.run("desk", "window").recall == 0.0


def test_a_test_cannot_pass_on_what_was_not_measured(project: Project) -> None:
    """Asking for the recall of a failed case raises what failed."""
    report = memsim.run("desk", "mute").case()

    assert report.state == "error"
    with pytest.raises(Unmeasurable, match="LookupError: nothing found"):
        _ = report.recall


def test_a_folder_of_several_scenarios_is_not_one(project: Project) -> None:
    """Which one is meant has to be said."""
    with pytest.raises(UsageError, match="holds 2 scenarios"):
        single.run("scenarios", "window")


def test_the_public_names_are_sorted_and_there() -> None:
    """Everything in __all__ can be had, and dir shows it."""
    assert sorted(memsim.__all__) == memsim.__all__
    assert set(memsim.__all__) <= set(dir(memsim))
    assert all(getattr(memsim, name) is not None for name in memsim.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Stratgy'"):
        getattr(memsim, "Stratgy")  # noqa: B009 - a checker would refuse the plain form


def test_a_case_needs_a_scenario_that_was_found() -> None:
    """A ref made by hand has no place."""
    spec = CaseSpec(
        scenario=ScenarioRef(source="a.yaml", name="a"),
        strategy=StrategyRef(name="window"),
        budget=Settings().budget[0],
    )
    with pytest.raises(RefError, match="has not been found yet"):
        run_case(spec)


def test_a_long_case_has_its_turns_packed_and_is_else_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here and in a process of its own: the same lines, metrics and questions."""
    cases = planned(project, "window", k="desk").cases
    whole = run_case(cases[0])
    monkeypatch.setattr("memsim.suite.turn_lines.BLOCK", 200)
    found = run_case(cases[0])

    assert found.packed_turns
    assert whole.turn_lines == b"".join(found.turn_blocks())
    assert whole.probe_lines == found.probe_lines
    assert replace(whole.result, seconds=0, latency={}) == replace(
        found.result, seconds=0, latency={}
    )


def test_turns_of_a_long_case_can_be_read_while_they_are_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A metric without totals reads the lines themselves, as often as it likes."""
    monkeypatch.setattr("memsim.suite.turn_lines.BLOCK", 100)
    lines = TurnLines("c", 0, lambda record: json_line(record).encode())
    for number in range(1, 9):
        lines.keep(TurnRecord(turn=number, session="s", principal="ana", time=EPOCH))
    lines.end(store={"error": "none"})

    assert lines.packed
    for _ in range(2):
        assert [*range(1, 9)] == [line["turn"] for line in lines]
    assert lines.totals(StoreLines).found == [{"error": "none"}]  # type: ignore[union-attr]
    assert lines.totals(TurnLines) is None  # type: ignore[type-var]
