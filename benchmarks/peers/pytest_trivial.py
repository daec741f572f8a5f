"""pytest on so many trivial tests in one file: `pytest_trivial.py 2000`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TEST = """
def test_{number}():
    said = "My order is A-{number}."
    assert "A-{number}" in said
"""


def main() -> None:
    """Write the tests, run them in a process of their own, and tell how many passed."""
    cases = int(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="memsim-bench-") as folder:
        path = Path(folder) / "test_trivial.py"
        path.write_text("".join(TEST.format(number=n) for n in range(cases)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--rootdir", folder, str(path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        )
    passed = re.search(r"(\d+) passed in ([\d.]+)s", done.stdout)
    assert passed, done.stdout
    print(json.dumps({"passed": int(passed[1]), "seconds": float(passed[2])}))


if __name__ == "__main__":
    main()
