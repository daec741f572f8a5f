"""Run folders and baselines of strangers: one line and exit code 4, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.fuzz_runs import PLAY, SCENARIO, call, played
from memsim.errors import MemsimError
from tests.doubles.hostile_files import SPECIAL, TEXTS, clear

FILES = ("run.json", "cases.jsonl", "probes.jsonl", "comparison.json")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run and a baseline."""
    home = tmp_path_factory.mktemp("hostile")
    played(home, *PLAY)
    call(home, "baseline", "save", "run", "--name", "main")
    return home


def refused(home: Path, *arguments: str) -> str:
    """What a command says of its input; empty where it takes it."""
    try:
        call(home, *arguments)
    except MemsimError as error:
        return str(error)
    return ""


def damages() -> Mapping[str, Callable[[Path], object]]:
    """Everything that may stand in the place of a file, by its name."""

    def text(made: Callable[[bytes], bytes]) -> Callable[[Path], object]:
        return lambda path: path.write_bytes(made(b'{"memsim": 1}'))

    return {**SPECIAL, **{name: text(made) for name, made in TEXTS.items()}}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_of_a_run_is_one_line(
    home: Path, name: str, subtests: pytest.Subtests
) -> None:
    """Of `report`; nothing of it is a traceback, and the file stays as it is."""
    path = home / "run" / name
    before = path.read_bytes() if path.exists() else None
    for what, damage in damages().items():
        with subtests.test(what=what):
            clear(path)
            damage(path)

            said = refused(home, "report", "run", "--format", "md")

            assert said.isprintable()
            # A comparison may be missing, and so may the mark of a log's end be.
            assert said or what in {"nothing", "no bytes", "zeros"} or name == "cases.jsonl"
    clear(path)
    if before is not None:
        path.write_bytes(before)


def test_a_hostile_baseline_is_one_line(home: Path, subtests: pytest.Subtests) -> None:
    """Of `compare`, and of a run that is to be compared with it."""
    path = home / "reports" / "baselines" / "main.json"
    before = path.read_bytes()
    for what, damage in damages().items():
        with subtests.test(what=what):
            clear(path)
            damage(path)

            assert refused(home, "compare", "run", "main").isprintable()
            assert "main" in refused(home, "compare", "run", "main")
    clear(path)
    path.write_bytes(before)


def test_links_in_a_run_are_not_written_through(home: Path, tmp_path: Path) -> None:
    """A report replaces a link, and no folder of somebody else's is emptied or filled."""
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    for name in ("report.md", "report.html"):
        clear(home / "run" / name)
        (home / "run" / name).symlink_to(mine)
    call(home, "report", "run", "--html")
    assert not (home / "run" / "report.html").is_symlink()
    for name in ("plots", "replays"):
        clear(home / "run" / name)
        (home / "run" / name).symlink_to(tmp_path)
        assert "is a link" in refused(home, "report", "run", "--all")
        clear(home / "run" / name)

    assert ["mine.html"] == [p.name for p in tmp_path.iterdir()]
    assert "mine" == mine.read_text()


def test_a_hostile_configuration_is_one_line(tmp_path: Path) -> None:
    """Nesting, and a number that Python does not convert."""
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    for text in ("x = " + "[" * 5_000 + "]" * 5_000, "x = " + "9" * 5_000, "x = \x00"):
        (tmp_path / "pyproject.toml").write_text(f"[tool.memsim]\n{text}\n", encoding="utf-8")

        assert refused(tmp_path, "list").startswith("pyproject.toml")
