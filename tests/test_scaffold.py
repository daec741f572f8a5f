"""What `memsim init` writes: small, missing pieces only, and good as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memsim.errors import ConfigError
from memsim.scaffold import CONFIG, FILES, scaffold, template

STRATEGY = template("mine.py.txt")

ROOT = Path(__file__).resolve().parents[1]


def test_only_what_is_missing_is_written(tmp_path: Path) -> None:
    """A user's own file stays byte for byte."""
    own = tmp_path / "strategies/mine.py"
    own.parent.mkdir()
    own.write_text("# mine\n", encoding="utf-8")

    actions = {w.path: w.action for w in scaffold(tmp_path)}

    assert actions == {
        "scenarios/first.yaml": "created",
        "strategies/mine.py": "kept",
        "reports/.gitignore": "created",
        "pyproject.toml": "created",
    }
    assert own.read_text(encoding="utf-8") == "# mine\n"


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ("class Ours(Strategy): ...", ["ours"]),
        ("class Mine(Strategy): ...\nclass Ours(Strategy): ...", ["mine"]),
        ("class Ours(Strategy):\n    def __init__(self, env, size): ...", []),
        ("def (:", []),
    ],
)
def test_the_settings_name_a_strategy_of_a_file_that_is_kept(
    tmp_path: Path, own: str, named: list[str]
) -> None:
    """One that can be made as it is; no tests are written of a strategy that is not there."""
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies/mine.py").write_text(own, encoding="utf-8")

    scaffold(tmp_path)

    settings = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["tool"]["memsim"]
    assert [*named, "sliding_window:messages=12"] == settings["strategies"]
    assert not (tmp_path / "tests").exists()


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_pyproject_is_extended_at_its_end(tmp_path: Path, end: str) -> None:
    """What stands there stays as it is, and the whole is valid TOML."""
    before = f'[project]\nname = "x"{end}'
    (tmp_path / "pyproject.toml").write_text(before, encoding="utf-8")

    scaffold(tmp_path)

    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert text.startswith(before)
    assert text.endswith(CONFIG)
    assert tomllib.loads(text)["tool"]["memsim"]["seed"] == 7


def test_a_pyproject_with_settings_is_kept(tmp_path: Path) -> None:
    """Even with an empty table: somebody has decided."""
    text = "[tool.memsim]\n"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    scaffold(tmp_path)

    assert text == (tmp_path / "pyproject.toml").read_text(encoding="utf-8")


def test_a_broken_pyproject_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """No half of a project."""
    (tmp_path / "pyproject.toml").write_text("[tool\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"pyproject.toml: not valid TOML"):
        scaffold(tmp_path)

    assert [p.name for p in tmp_path.iterdir()] == ["pyproject.toml"]


def test_a_strategy_can_be_read_in_a_minute() -> None:
    """About thirty lines, one idea."""
    assert len(STRATEGY.splitlines()) <= 34


def test_nothing_is_wider_than_a_page() -> None:
    """A hundred columns, as ours."""
    lines = [
        line for text in (*map(template, FILES.values()), CONFIG) for line in text.splitlines()
    ]

    assert max(map(len, lines)) <= 100


def test_the_written_tests_pass(tmp_path: Path) -> None:
    """pytest, as the last line of `memsim init` says, finds three tests and the scenario."""
    scaffold(tmp_path)

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "memsim.pytest_plugin",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
