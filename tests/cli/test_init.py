"""`memsim init`: what is written, what is said of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]


def test_every_path_is_told_and_the_next_commands_work(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which they are printed."""
    monkeypatch.chdir(tmp_path)

    result = call("init")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[:5] == [
        "created   scenarios/first.yaml",
        "created   strategies/mine.py",
        "created   tests/test_memory.py",
        "created   reports/.gitignore",
        "created   pyproject.toml",
    ]
    commands = re.findall(r"^(?:next: )? +(memsim .*)$", result.stdout, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert call(*shlex.split(command)[1:]).exit_code == 0


def test_a_second_time_everything_is_kept(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that exists is touched."""
    monkeypatch.chdir(tmp_path)
    call("init")

    lines = call("init").stdout.splitlines()[:5]

    assert all(line.startswith("kept      ") for line in lines)


def test_the_case_to_explain_is_one_of_the_settings_that_were_written(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings that were kept may name other strategies."""
    monkeypatch.chdir(tmp_path)

    first, second = call("init"), call("init")

    assert "memsim explain" in first.stdout
    assert "memsim explain" not in second.stdout


def test_a_folder_may_be_named(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the first thing to do is to go there."""
    monkeypatch.chdir(tmp_path)

    result = call("init", "my agent")

    assert "created   my agent/scenarios/first.yaml" in result.stdout
    assert "next:  cd 'my agent'" in result.stdout


def test_a_file_in_the_way_is_exit_four(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, with the path."""
    monkeypatch.chdir(tmp_path)
    Path("scenarios").touch()

    result = call("init")

    assert result.exit_code == 4
    assert "scenarios" in result.stderr
    assert result.stderr.count("\n") == 1
