"""Runs every benchmark script of this folder, one by one: `python -m benchmarks [--quick]`.

Each is a script of its own that takes `--quick` and ends with 1 when it misses what it claims.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def scripts(names: list[str]) -> list[Path]:
    """The scripts of these names; all of them when none is named."""
    found = sorted(p for p in FOLDER.glob("*.py") if not p.name.startswith("_"))
    unknown = set(names) - {p.stem for p in found}
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}")
    return [p for p in found if not names or p.stem in names]


def main() -> int:
    """Run them and say which missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts to run, without .py")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    given = parser.parse_args()
    path = os.pathsep.join(filter(None, [str(FOLDER.parent), os.environ.get("PYTHONPATH")]))
    missed = []
    for script in scripts(given.names):
        print(f"== {script.stem}", flush=True)
        command = [sys.executable, str(script), *(["--quick"] if given.quick else [])]
        if subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": path}).returncode:
            missed.append(script.stem)
        print(flush=True)
    print("all as claimed" if not missed else f"missed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
