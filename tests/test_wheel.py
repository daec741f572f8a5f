"""The wheel holds what is tracked and nothing else, and works where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("memsim", "strategies", "scenarios")


def run(command: list[str | Path], cwd: Path = ROOT) -> str:
    """Run a command without the caller's Python settings; fail with what it said."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def tracked() -> list[str]:
    """The project's files: git's list, or in an unpacked archive whatever is there."""
    if (ROOT / ".git").exists():
        return run(["git", "ls-files", "--", *FOLDERS]).splitlines()
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, freshly built without touching the checkout or the network."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder])
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a new environment with the wheel in it.

    Dependencies are borrowed from the running environment; its own memsim is not, since it was
    installed through a .pth file and those are read only in an environment's own folders.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder)
    commands = folder / "bin"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", commands / "python"]
    run([*pip, "install", "--no-deps", "--no-index", wheel])
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return commands


def test_the_wheel_holds_what_is_tracked_and_nothing_else(wheel: Path) -> None:
    """A stray file beside the sources is not shipped, a new one is not forgotten."""
    expected = [
        name if name.startswith("memsim/") else f"memsim/_builtin/{name}" for name in tracked()
    ]

    with zipfile.ZipFile(wheel) as archive:
        held = [name for name in archive.namelist() if ".dist-info/" not in name]

    assert sorted(expected) == sorted(held)


def test_the_installed_package_is_the_wheel(installed: Path, tmp_path: Path) -> None:
    """What the other tests of this module run is not the checkout."""
    place = run([installed / "python", "-c", "import memsim; print(memsim.__file__)"], cwd=tmp_path)

    assert Path(place.strip()).is_relative_to(installed.parent)


def test_the_installed_command_finds_the_built_ins(installed: Path, tmp_path: Path) -> None:
    """`memsim list` in an empty folder names every built-in strategy file's and scenario's."""
    listed = run([installed / "memsim", "list"], cwd=tmp_path)

    assert [name for name in ("sliding_window", "bm25", "oracle") if name not in listed] == []
    assert list(tmp_path.iterdir()) == []


def test_pytest_finds_the_plugin_in_a_fresh_project(installed: Path, tmp_path: Path) -> None:
    """By its entry point: scenarios are items, and a session writes and passes its baseline."""
    pytest_: list[str | Path] = [installed / "python", "-m", "pytest", "-p", "no:cacheprovider"]
    run([installed / "memsim", "init"], cwd=tmp_path)
    with (tmp_path / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('baseline = "main"\n')

    created = run([*pytest_, "-v", "--memsim-update-baseline"], cwd=tmp_path)
    held = run([*pytest_, "--memsim-strict", "scenarios"], cwd=tmp_path)

    assert "scenarios/first.yaml::first[mine@4k] PASSED" in created
    assert "tests/test_memory.py::test_the_budget_is_kept PASSED" in created
    assert "created reports/baselines/main.json" in created
    assert "against main" in held
    assert "2 passed" in held
