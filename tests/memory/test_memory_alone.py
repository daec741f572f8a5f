"""A memory used alone, as the README shows it: what is printed there is what is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = next(
    b for b in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "open_memory" in b
)

PRINTED = """\
ana: My order is A-17.
My order is A-17.
Noted.
"""


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    """Open, say, ask, remember, forget, close: in a process of its own, in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, PRINTED, "") == (done.returncode, done.stdout, done.stderr)
    files = [path.read_bytes() for path in (tmp_path / "ana.memory").iterdir()]
    assert [data for data in files if b"A-17" in data] == []
