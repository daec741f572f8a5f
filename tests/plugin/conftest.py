"""Lets these tests run pytest inside pytest, on small projects."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.scaffold import scaffold
from tests.gate.lockers import lockers

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = """\
[tool.memsim]
strategies = ["sliding_window:messages=24", "no_memory"]
baseline = "main"
"""

# A pytest inside of pytest forgets what it imported: these cannot be imported twice, ...
ONCE = (
    "numpy",
    "numpy.random",
    "tiktoken",
    "yaml",
    "memsim.notebook.runner",
    "memsim.scenario",
    "memsim.suite.single",
)
# ... and these need not be, once for each session that is played. The plugin itself is not among
# them: pytest says so when it finds a plugin imported that it wanted to rewrite.
SLOW = (
    "memsim.cli.run",
    "memsim.cli.saved_runs",
    "memsim.cli.terminal",
    "memsim.executors",
    "memsim.gate.baseline_file",
    "memsim.gate.comparison",
    "memsim.gate.metric_comparison",
    "memsim.leakage.probe_lines",
    "memsim.memory.compaction",
    "memsim.memory.forget_request",
    "memsim.memory.history.window",
    "memsim.memory.index",
    "memsim.memory.scope",
    "memsim.models.live.litellm_client",
    "memsim.models.live.provider_embedder",
    "memsim.models.offline.model",
    "memsim.models.provider_models",
    "memsim.models.registry",
    "memsim.report.github",
    "memsim.report.probe_answers",
    "memsim.report.run_markdown",
    "memsim.report.summarise",
    "memsim.runs.execution",
    "memsim.runs.judge_trial",
    "memsim.runs.run_writer",
    "memsim.scenario.datasets",
    "memsim.scenario.scenario_loader",
    "memsim.stats.paired_test",
    "memsim.stats.significance",
    "memsim.suite.case_plan",
    "multiprocessing.connection",
    "requests",
    "tiktoken_ext.openai_public",
    "wordllama",
)

Play = Callable[..., pytest.RunResult]


def quick_tokens(project: pytest.Pytester) -> None:
    """Let each process of its own estimate tokens, in place of loading a vocabulary."""
    with (project.path / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('tokenizer = "chars/4"\n')


@pytest.fixture(autouse=True, scope="session")
def _imported() -> None:
    """Import what is slow before the first session, and not for each."""
    for name in (*ONCE, *SLOW):
        importlib.import_module(name)


@pytest.fixture(autouse=True)
def _only_named_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is loaded by name, whether or not it is installed here; nobody reads our output."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "140")
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """The scaffolded project, without its own tests."""
    scaffold(pytester.path)
    (pytester.path / "tests/test_memory.py").unlink()
    return pytester


@pytest.fixture
def gated(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with twelve probes, of which a window keeps as many as half its messages."""
    (pytester.path / "scenarios").mkdir()
    (pytester.path / "scenarios/lockers.yaml").write_text(lockers(), encoding="utf-8")
    (pytester.path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return pytester


@pytest.fixture
def play(gated: pytest.Pytester) -> Play:
    """Runs pytest on that project, with a window of so many messages."""

    def run(messages: int = 24, *arguments: str) -> pytest.RunResult:
        text = PYPROJECT.replace("=24", f"={messages}")
        (gated.path / "pyproject.toml").write_text(text, encoding="utf-8")
        return gated.runpytest_inprocess("-p", "memsim.pytest_plugin", *arguments)

    return run
