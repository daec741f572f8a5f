"""The release holds what is tracked, and the wheel works where there is no checkout.

One build and one environment serve every test: a workflow of `memsim init --github` fills it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml

from memsim.scaffold import scaffold

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("memsim", "strategies", "scenarios")


def run(command: list[str | Path], cwd: Path = ROOT, **more: str) -> str:
    """Run a command without the caller's Python settings; fail with what it said."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"PYTEST_ADDOPTS": "-p no:schemathesis"}  # borrowed, and takes a second to import
    done = subprocess.run(
        command, cwd=cwd, env=env | more, capture_output=True, text=True, check=False
    )
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
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and a source archive, built from the checkout without the network."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-d", folder])
    return folder


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    """The wheel of the release."""
    (path,) = release.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source archive of the release."""
    (path,) = release.glob("*.tar.gz")
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    return folder / path.name.removesuffix(".tar.gz")


def environment(folder: Path) -> Path:
    """The folder of commands of a new environment, empty but for borrowed dependencies.

    Dependencies are borrowed from the running environment; its own memsim is not, since it was
    installed through a .pth file and those are read only in an environment's own folders.
    """
    venv.create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    commands = folder / "bin"
    pip = commands / "pip"
    words = [sys.executable, "-m", "pip", "--python", str(commands / "python")]
    pip.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    pip.chmod(0o755)
    return commands


OFFLINE = {
    "PIP_NO_DEPS": "1",
    "PIP_NO_INDEX": "1",
    "PIP_NO_COMPILE": "1",
    "PIP_NO_BUILD_ISOLATION": "false",  # which turns isolation off
}
"""Settings of pip to install one local package with what is there already."""


def work(project: Path, commands: Path) -> str:
    """Run the shell steps of a project's workflow, as a GitHub runner does."""
    text = (project / ".github/workflows/memsim.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["memory"]["steps"]
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    scripts = [step["run"] for step in steps if "run" in step]
    return "".join(
        run(["bash", "-e", "-c", script], cwd=project, PATH=path, **OFFLINE) for script in scripts
    )


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project that keeps memsim's wheel."""
    folder = tmp_path_factory.mktemp("project")
    scaffold(folder, github=True)
    (folder / "wheels").mkdir()
    shutil.copy(wheel, folder / "wheels")
    return folder


@pytest.fixture(scope="module")
def worked(project: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of commands that the project's workflow filled, and what the workflow printed."""
    commands = environment(tmp_path_factory.mktemp("elsewhere"))
    return commands, work(project, commands)


@pytest.fixture(scope="module")
def installed(worked: tuple[Path, str]) -> Path:
    """The folder of commands of an environment with the wheel in it."""
    return worked[0]


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


def test_the_source_archive_builds_the_same_wheel(
    unpacked: Path, wheel: Path, tmp_path: Path
) -> None:
    """Byte for byte, without git and without the checkout."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=unpacked)
    (again,) = tmp_path.glob("*.whl")

    assert wheel.name == again.name
    assert wheel.read_bytes() == again.read_bytes()


def test_the_release_has_the_version_of_the_project(wheel: Path, installed: Path) -> None:
    """The file's name and the installed command say what pyproject.toml says."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]

    assert wheel.name == f"memsim-{version}-py3-none-any.whl"
    assert run([installed / "memsim", "--version"], cwd=installed) == f"memsim {version}\n"


def test_a_workflow_installs_the_wheel_of_a_project(worked: tuple[Path, str]) -> None:
    """Its shell steps install the wheel and replay the scenario without a failure."""
    assert "2 passed" in worked[1]


def test_a_workflow_installs_a_checkout_of_a_project(unpacked: Path, tmp_path: Path) -> None:
    """A copy of the sources in vendor/memsim serves as well as a wheel."""
    scaffold(tmp_path / "project", github=True)
    (tmp_path / "project/vendor").mkdir()
    (tmp_path / "project/vendor/memsim").symlink_to(unpacked)

    said = work(tmp_path / "project", environment(tmp_path / "elsewhere"))

    assert "Processing ./vendor/memsim" in said
    assert "2 passed" in said


def test_a_workflow_without_memsim_says_what_to_do(tmp_path: Path) -> None:
    """It installs nothing by name, which could be somebody else's package."""
    scaffold(tmp_path, github=True)

    with pytest.raises(pytest.fail.Exception, match="commit its wheel to wheels/"):
        work(tmp_path, tmp_path / "bin")


def test_a_built_in_scenario_is_replayed(installed: Path, tmp_path: Path) -> None:
    """`memsim run` in an empty folder has scenario, strategy, controls, embedder and tokenizer."""
    said = run([installed / "memsim", "run", "support_desk", "-s", "sliding_window"], cwd=tmp_path)

    assert "sliding_window" in said
    assert list(tmp_path.glob("reports/runs/*/report.md"))


def test_the_schema_describes_the_first_scenario(installed: Path, project: Path) -> None:
    """`memsim schema` of the wheel prints a JSON Schema that the example keeps to."""
    schema = json.loads(run([installed / "memsim", "schema"], cwd=project))
    scenario = yaml.safe_load((project / "scenarios/first.yaml").read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(scenario, schema)


def test_a_strategy_is_checked(installed: Path, project: Path) -> None:
    """`memsim check` of the wheel finds the invariants and tries them on the first strategy."""
    checked = ["check", "strategies/mine.py", "-k", "i15"]
    said = run([installed / "memsim", *checked], cwd=project)

    assert "0 broken" in said
