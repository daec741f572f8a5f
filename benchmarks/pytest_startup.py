"""What the plugin costs a project that has no scenarios: pytest's CPU time with and without it.

The wheel is built and unpacked, so that pytest finds the plugin as it would find an installed one,
by its entry point. Runs with and without it take turns; the least of each is compared, as
everything else on the machine can only add to it::

    python benchmarks/pytest_startup.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 0.020
"""Seconds of CPU time that it may cost."""

PYTEST = ("_pytest", "iniconfig", "packaging", "pluggy", "py.py", "pygments", "pytest-")
RUNS = 30
QUICK = 10


def installed(folder: Path) -> Path:
    """A folder with what the wheel installs."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def borrowed(folder: Path) -> Path:
    """A folder with pytest and what it needs, of all that is installed here."""
    others = folder / "borrowed"
    others.mkdir()
    for path in sorted(Path(sysconfig.get_path("purelib")).iterdir()):
        if path.name == "pytest" or path.name.lower().startswith(PYTEST):
            (others / path.name).symlink_to(path)
    return others


def seconds(project: Path, *paths: Path) -> float:
    """CPU time of a pytest that runs one trivial test."""
    before = spent()
    subprocess.run(
        [sys.executable, "-S", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env={"PYTHONPATH": os.pathsep.join(map(str, paths))},
        check=True,
        capture_output=True,
    )
    return spent() - before


def spent() -> float:
    """CPU time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure, print, and say by the exit code whether it is within bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    runs = QUICK if parser.parse_args().quick else RUNS
    with tempfile.TemporaryDirectory(prefix="memsim-startup-") as name:
        folder = Path(name)
        project = folder / "unrelated"
        project.mkdir()
        (project / "test_it.py").write_text("def test_it():\n    assert True\n", encoding="utf-8")
        plugin, others = installed(folder), borrowed(folder)
        ways = {"without": (others,), "with": (plugin, others)}
        for paths in ways.values():
            seconds(project, *paths)  # the first run compiles
        found: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(runs):
            for way, paths in ways.items():
                found[way].append(seconds(project, *paths))
    for way, times in found.items():
        print(f"{way:<8} {min(times) * 1000:6.0f} ms of CPU time, least of {runs}")
    cost = min(found["with"]) - min(found["without"])
    print(f"{'cost':<8} {cost * 1000:6.0f} ms, at most {MOST * 1000:.0f}")
    return int(cost > MOST)


if __name__ == "__main__":
    sys.exit(main())
