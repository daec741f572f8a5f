"""`[tool.memsim]`: a key for every flag that selects, shows or keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program
from memsim.config import COMMAND_KEYS

Run = Callable[..., Result]


@pytest.fixture
def say(project: Path) -> Callable[[str], None]:
    """Puts lines into the project's table."""

    def write(lines: str) -> None:
        path = project / "pyproject.toml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("[tool.memsim]\n", f"[tool.memsim]\n{lines}\n"), "utf-8")

    return write


def test_the_format_may_be_configured(run: Run, say: Callable[[str], None]) -> None:
    """For `memsim report` as well."""
    say('format = "json"\nk = "mine"')

    ran = json.loads(run().stdout)
    again = json.loads(CliRunner().invoke(program, ["report"]).stdout)

    assert ran["boards"] == again["boards"]


def test_a_flag_and_a_variable_win(
    run: Run, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flag, then variable, then configuration."""
    say('format = "json"\nquiet = true')
    monkeypatch.setenv("MEMSIM_FORMAT", "jsonl")

    assert run().stdout.startswith('{"id":')
    assert 1 == run("--format", "table").stdout.count("\n")


def test_a_folder_is_below_the_project(
    run: Run, project: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command is called."""
    say('output = "out"\nno_report = true')
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")

    assert run().exit_code == 0
    assert (project / "out" / "probes.jsonl").exists()
    assert not (project / "out" / "report.md").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("quiet = 1", "quiet must be true or false, not 1"),
        (
            'format = "tabel"',
            "format must be one of table, md, json, jsonl, not 'tabel' (did you mean 'table'?)",
        ),
        ('output = ""', "output must be a text, not ''"),
        ("quite = true", "unknown key 'quite' in [tool.memsim] (did you mean 'quiet'?)"),
    ],
)
def test_a_wrong_value_is_exit_four_with_its_line(
    run: Run, say: Callable[[str], None], line: str, said: str
) -> None:
    """As everywhere in the table."""
    say(line)

    result = run()

    assert result.exit_code == 4
    assert result.stderr.startswith("pyproject.toml:")
    assert result.stderr.endswith(f": {said}\n")


def test_help_is_shown_whatever_the_configuration_says(
    run: Run, say: Callable[[str], None]
) -> None:
    """It is where one looks when something is wrong."""
    say("quiet = 1")

    assert run("--help").exit_code == 0


def test_every_flag_has_a_key() -> None:
    """Under its own name, or that of the setting that it changes."""
    command = program.get_command(None, "run")  # type: ignore[arg-type]
    assert command is not None
    flags = {
        option.lstrip("-").replace("-", "_")
        for parameter in command.params
        if parameter.param_type_name == "option"
        for option in parameter.opts
        if option.startswith("--") or option in {"-k", "-x"}
    }
    settings = {"budget", "repeat", "seed", "model", "embedder", "tokenizer", "jobs"}
    settings |= {"max_errors", "timeout", "strategy", "fail_under", "baseline"}
    settings |= {"record", "cassettes", "max_cost", "judge"}

    # The bounds of `memsim twist` are a key of the same table.
    assert flags - settings - {"help"} == set(COMMAND_KEYS) - {"max_flips"}
