"""Is every double caught where it is broken, and on no other channel?

Plays every leaky double on every channel of leakage, at the counts of the tests, which play a slice
of the channels that a double leaves whole; `--quick` plays that slice. It ends with 1 where one
double is missed or falsely caught.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "caught_where_it_is_broken"


def main() -> int:
    """Run the matrix and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the slice that the tests play")
    whole = {} if parser.parse_args().quick else {"MEMSIM_WHOLE_MATRIX": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-k", NAME]
    done = subprocess.run(
        [*command, str(ROOT / "tests" / "leakage" / "test_doubles.py")],
        env={**os.environ, **whole},
        cwd=ROOT,
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
