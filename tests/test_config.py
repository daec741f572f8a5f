"""Settings: where they may be said, which wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.config import (
    BASELINES,
    GateSettings,
    Settings,
    load_settings,
    parse_budget,
    parse_threshold,
    show_budget,
)
from memsim.discovery.project import Project, find_project
from memsim.errors import ConfigError


def project(folder: Path, text: str) -> Project:
    """A project whose pyproject.toml holds a text."""
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return find_project(folder)


def test_without_a_project_the_defaults_hold() -> None:
    """Offline, deterministic, one repeat, 4k."""
    settings = load_settings(Project())

    assert settings == Settings()
    assert settings.budget == (4096,)
    assert settings.strategies == BASELINES
    assert (settings.model, settings.repeat, settings.seed) == ("offline", 1, 7)


def test_every_key_is_read(tmp_path: Path) -> None:
    """The whole table, with its sub-tables."""
    settings = load_settings(
        project(
            tmp_path,
            """
[tool.memsim]
scenarios = ["scenarios", "more/*.yaml"]
strategies = ["sliding_window:messages=20", "bm25"]
model = "openai/some-model"
embedder = "hashing"
tokenizer = "chars/4"
budget = ["2k", 4000]
repeat = 5
seed = 11
reports = "out"
jobs = 3
max_errors = 0.1
baseline = "main"

[tool.memsim.expect]
recall = ">= 0.75"
context_peak = 4096

[tool.memsim.gate]
metrics = ["recall"]
margin = 0.05
confidence = 0.9
min_probes = 20
max_errors = 2
""",
        )
    )

    assert settings == Settings(
        scenarios=("scenarios", "more/*.yaml"),
        strategies=("sliding_window:messages=20", "bm25"),
        model="openai/some-model",
        embedder="hashing",
        tokenizer="chars/4",
        budget=(2048, 4000),
        repeat=5,
        seed=11,
        reports="out",
        jobs=3,
        max_errors=0.1,
        baseline="main",
        expect={"recall": ">= 0.75", "context_peak": "4096"},
        expect_lines={"recall": 17, "context_peak": 18},
        gate=GateSettings(
            metrics=("recall",), margin=0.05, confidence=0.9, min_probes=20, max_errors=2
        ),
    )


def test_flag_wins_over_variable_over_file_over_default(tmp_path: Path) -> None:
    """The order of precedence, one key each."""
    here = project(tmp_path, "[tool.memsim]\nseed = 1\nrepeat = 2\nmodel = 'm'\n")
    environ = {"MEMSIM_SEED": "3", "MEMSIM_REPEAT": "4", "PATH": "x", "MEMSIM_DATA": "d"}

    settings = load_settings(here, {"seed": 5, "model": None}, environ)

    assert (settings.seed, settings.repeat, settings.model) == (5, 4, "m")


@pytest.mark.parametrize(
    ("flags", "environ", "forced"),
    [
        ({"budget": "2k"}, {}, True),
        ({}, {"MEMSIM_BUDGET": "2k"}, True),
        ({"budget": None}, {}, False),
    ],
)
def test_only_a_flag_or_variable_forces_the_budget(
    tmp_path: Path, flags: dict[str, object], environ: dict[str, str], forced: bool
) -> None:
    """A scenario's own budget stands between the environment and the project."""
    here = project(tmp_path, '[tool.memsim]\nbudget = ["8k"]\n')

    assert load_settings(here, flags, environ).budget_forced is forced


def test_bounds_from_flags_are_kept_apart(tmp_path: Path) -> None:
    """Those win over a scenario's, the project's do not."""
    here = project(tmp_path, '[tool.memsim.expect]\nrecall = ">= 0.5"\n')

    settings = load_settings(here, {"expect": ("recall=0.8", "context_peak<=4096")})

    assert settings.expect == {"recall": ">= 0.5"}
    assert settings.expect_forced == {"recall": "0.8", "context_peak": "<= 4096"}


def test_a_wrong_key_or_value_is_told_with_its_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """One line: file, line, what is wrong, and what may have been meant."""
    for text, message in [
        (
            "sede = 1",
            "pyproject.toml:2: unknown key 'sede' in [tool.memsim] (did you mean 'seed'?)",
        ),
        ("seed = 1.5", "pyproject.toml:2: seed must be a whole number from 0 to"),
        ("seed = -1", "pyproject.toml:2: seed must be a whole number from 0 to"),
        ("seed = true", "pyproject.toml:2: seed must be a whole number from 0 to"),
        ("\nrepeat = 0", "pyproject.toml:3: repeat must be a whole number from 1 to"),
        ("budget = []", "pyproject.toml:2: budget must not be empty"),
        (
            "strategies = []",
            "pyproject.toml:2: strategies lists no strategy: add one, or remove the key",
        ),
        ("budget = ['0']", "pyproject.toml:2: budget must be a positive number of tokens"),
        ("budget = [nan]", "pyproject.toml:2: budget must be a number of tokens"),
        ("budget = [true]", "pyproject.toml:2: budget must be a number of tokens"),
        ("model = ''", "pyproject.toml:2: model must be a text, not ''"),
        ("strategies = [1]", "pyproject.toml:2: strategies must be a list of texts, not [1]"),
        ("jobs = 0", "pyproject.toml:2: jobs must be a whole number from 1 to"),
        ("max_errors = -1", "pyproject.toml:2: max_errors must be a count such as 3 or a share"),
        ("max_errors = 1.5", "pyproject.toml:2: max_errors must be a count such as 3 or a share"),
        ("expect = 3", "pyproject.toml:2: expect must be a table of bounds"),
        ("[tool.memsim.expect]\nrecall = []", "pyproject.toml:2: expect must be a table of bounds"),
        ("gate = 3", "pyproject.toml:2: gate must be a table"),
        (
            "gate.margn = 0.1",
            "pyproject.toml:2: unknown key 'margn' in [tool.memsim.gate] (did you",
        ),
        (
            "[tool.memsim.gate]\nmargin = 2",
            "pyproject.toml:3: gate.margin must be a number between",
        ),
    ]:
        with subtests.test(text=text, message=message):
            with pytest.raises(ConfigError) as raised:
                load_settings(project(tmp_path, f"[tool.memsim]\n{text}\n"))

            assert str(raised.value).startswith(message)


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    """`tool.memsim = 1` is a slip, not a project."""
    with pytest.raises(ConfigError, match=r"pyproject\.toml: \[tool\.memsim\] must be a table"):
        project(tmp_path, "[tool]\nmemsim = 1\n")


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"MEMSIM_BUGDET": "4k"},
            "unknown variable MEMSIM_BUGDET (did you mean 'MEMSIM_BUDGET'?)",
        ),
        ({"MEMSIM_BUDGET": "4x"}, "MEMSIM_BUDGET must be a positive number of tokens"),
        ({"MEMSIM_SEED": "abc"}, "MEMSIM_SEED must be a whole number from 0 to"),
        ({"MEMSIM_JOBS": "-1"}, "MEMSIM_JOBS must be a whole number from 1 to"),
    ],
)
def test_a_wrong_variable_is_told_by_name(environ: dict[str, str], message: str) -> None:
    """A typing error in the environment is not passed over."""
    with pytest.raises(ConfigError) as raised:
        load_settings(Project(), {}, environ)

    assert str(raised.value).startswith(message)


def test_a_command_may_read_variables_of_its_own() -> None:
    """They are named so that a slip near them is seen."""
    load_settings(Project(), {}, {"MEMSIM_FORMAT": "md"}, also=("format",))
    with pytest.raises(ConfigError, match="did you mean 'MEMSIM_FORMAT'"):
        load_settings(Project(), {}, {"MEMSIM_FORMT": "md"}, also=("format",))


def test_a_wrong_flag_is_told_by_its_own_name() -> None:
    """As it was typed, not as the key is called."""
    with pytest.raises(ConfigError, match=r"^--max-errors must be a count"):
        load_settings(Project(), {"max_errors": "x"})
    with pytest.raises(ConfigError, match=r"^--fail-under must be METRIC=NUMBER"):
        load_settings(Project(), {"expect": ("recall",)})


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("4k", 4096), ("4K", 4096), ("4000", 4000), (4000, 4000), ("1.5k", 1536), ("1m", 1 << 20)],
)
def test_k_is_1024(text: object, tokens: int) -> None:
    """Plain numbers are themselves."""
    assert parse_budget(text) == tokens


@pytest.mark.parametrize(
    "text",
    ["0", "-1", "", "k", "nan", "inf", "1e3", "4 kb", "0.3k", "99999999999", None, True, 1.5],
)
def test_a_budget_is_a_positive_whole_number(text: object) -> None:
    """Nothing else is."""
    with pytest.raises(ValueError, match="tokens"):
        parse_budget(text)


@pytest.mark.parametrize(("tokens", "text"), [(4096, "4k"), (4000, "4000"), (512, "512")])
def test_a_budget_prints_as_it_is_written(tokens: int, text: str) -> None:
    """With k where that is exact."""
    assert show_budget(tokens) == text
    assert parse_budget(text) == tokens


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("recall=0.8", ("recall", "0.8")),
        ("recall >= 80%", ("recall", ">= 80%")),
        ("context_peak<=4096", ("context_peak", "<= 4096")),
        ("evidence@5>0.1", ("evidence@5", "> 0.1")),
    ],
)
def test_a_threshold_is_a_metric_and_a_bound(text: str, bound: tuple[str, str]) -> None:
    """`=` gives the number alone: at least, or at most where lower is better."""
    assert parse_threshold(text) == bound
