"""What a list shows of a scenario, and that what is not read again is as it was read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memsim.discovery.project import builtin_folder
from memsim.errors import ScenarioError
from memsim.scenario.outline import KNOWN, Outline, known_outlines, outline, outlines
from memsim.scenario.script_files import scenario_files

SCRIPT = """\
memsim: 1
name: first
about: |
  Two
  lines.
turns:
  - user: My order is A-17.
    facts: {order: A-17}
  - filler: 20
probes:
  order: {after: end, ask: What is my order?, expect: A-17}
"""


def test_the_outlines_of_the_shipped_scenarios_are_those_of_today() -> None:
    """When this fails: `python -m memsim.scenario.outline`."""
    assert known_outlines(scenario_files(builtin_folder("scenarios"))) == KNOWN.read_text("utf-8")


def test_a_known_file_is_known_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes say which it is; it is not read again."""
    shipped = scenario_files(builtin_folder("scenarios"))[0]
    (tmp_path / "copy.yaml").write_bytes(shipped.read_bytes())
    monkeypatch.setattr("memsim.scenario.outline._read", pytest.fail)

    found = outline(tmp_path / "copy.yaml")

    assert found is not None
    assert shipped.stem == found.name


def test_a_file_with_one_byte_changed_is_read(tmp_path: Path) -> None:
    """A known file that someone has edited may be wrong, and is told to be."""
    shipped = scenario_files(builtin_folder("scenarios"))[0]
    data = shipped.read_bytes().replace(b"turns:", b"turn:", 1)
    (tmp_path / "copy.yaml").write_bytes(data)

    with pytest.raises(ScenarioError, match="did you mean 'turns'"):
        outline(tmp_path / "copy.yaml")


def test_an_outline_says_what_a_list_shows(tmp_path: Path) -> None:
    """On one line."""
    (tmp_path / "first.yaml").write_text(SCRIPT, encoding="utf-8")

    assert Outline("first", 21, 1, "Two lines.") == outline(tmp_path / "first.yaml")


def test_yaml_that_is_no_scenario_is_left_out(tmp_path: Path) -> None:
    """As it is when the folder is run."""
    (tmp_path / "data.yaml").write_text("name: other\n", encoding="utf-8")

    assert [] == list(outlines(tmp_path))


def test_what_is_wrong_does_not_hide_the_rest(tmp_path: Path) -> None:
    """Neither a broken script nor a link that leads nowhere."""
    (tmp_path / "a.yaml").write_text("memsim: 1\nnmae: x\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "c").symlink_to("gone")

    found = [(path.name, type(each)) for path, each in outlines(tmp_path)]

    assert [("a.yaml", ScenarioError), ("b.yaml", Outline), ("c", ScenarioError)] == found


def test_without_the_known_outlines_everything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They save time and nothing else."""
    monkeypatch.setattr("memsim.scenario.outline._known", dict)
    shipped = scenario_files(builtin_folder("scenarios"))[0]

    found = outline(shipped)

    assert found is not None
    assert shipped.stem == found.name


def test_listing_known_scenarios_reads_no_yaml(tmp_path: Path) -> None:
    """Half of the time of `memsim list` went there."""
    code = (
        "import sys; from memsim.cli import main\n"
        "try: main()\nfinally: assert 'yaml' not in sys.modules"
    )
    root = Path(__file__).resolve().parents[2]

    done = subprocess.run(
        [sys.executable, "-c", code, "list"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "builtin/support_desk.yaml" in done.stdout
