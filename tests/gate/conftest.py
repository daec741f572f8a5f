"""A project with one scenario of twelve probes, of which a window keeps as many as it is long."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from tests.gate.lockers import lockers

Call = Callable[..., Result]

PYPROJECT = """\
[tool.memsim]
scenarios = ["scenarios"]
strategies = ["sliding_window:messages=24"]
baseline = "main"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, as the present folder."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "lockers.yaml").write_text(lockers(), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


@pytest.fixture
def call(project: Path) -> Call:
    """Calls the command line in the project."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(program, list(arguments))

    return run


@pytest.fixture
def gate(project: Path) -> Callable[..., None]:
    """Writes `[tool.memsim.gate]`."""

    def write(*lines: str) -> None:
        text = PYPROJECT + "\n[tool.memsim.gate]\n" + "\n".join(lines) + "\n"
        (project / "pyproject.toml").write_text(text, encoding="utf-8")

    return write


@pytest.fixture
def play(call: Call) -> Callable[..., Result]:
    """Plays the scenario with a window of so many messages, compared with no baseline."""

    def run(messages: int, *flags: str) -> Result:
        strategy = f"sliding_window:messages={messages}"
        result = call("run", "-q", "-s", strategy, "--baseline", "none", *flags)
        assert result.exit_code == 0, result.output
        return result

    return run


@pytest.fixture
def saved(play: Callable[..., Result], call: Call) -> Path:
    """The baseline `main`, of a window that keeps everything."""
    play(24)
    result = call("baseline", "save")
    assert result.exit_code == 0, result.output
    return Path("reports/baselines/main.json")


@pytest.fixture
def edit_run(project: Path) -> Callable[..., None]:
    """Changes what `run.json` of the newest run says."""

    def edit(**values: object) -> None:
        path = max((project / "reports" / "runs").iterdir()) / "run.json"
        info = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(info | values), encoding="utf-8")

    return edit
