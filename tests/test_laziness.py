"""What start-up imports: nothing that a command does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ["chromadb", "hypothesis", "litellm", "matplotlib", "pandas", "wordllama"]
COUNTING = ["numpy", "tiktoken"]


def imported(tmp_path: Path, *arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command and the top-level packages that it imported."""
    source = (
        "import json, sys\n"
        "from memsim.cli import main\n"
        f"sys.argv = ['memsim', *{arguments!r}]\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    names = sorted({name.partition('.')[0] for name in sys.modules})\n"
        "    print(json.dumps([end.code, names]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["explain", "--help"],
        ["compare", "--help"],
        ["baseline", "save", "--help"],
        ["baseline", "list"],
        ["memory", "search", "--help"],
        ["init"],
        ["list"],
    ],
    ids=" ".join,
)
def test_start_up_imports_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    """Neither models nor stores nor numbers are loaded to print a page of text."""
    code, names = imported(tmp_path, *arguments)

    assert code == 0
    assert sorted(names & {*HEAVY, *COUNTING, "rich"}) == []


def test_help_reads_no_yaml(tmp_path: Path) -> None:
    """The quickest command is the one that loads least."""
    _, names = imported(tmp_path, "--help")

    assert "yaml" not in names


def test_an_offline_run_without_vectors_loads_no_embedder(tmp_path: Path) -> None:
    """What counts tokens is needed; models, stores and plots are not."""
    imported(tmp_path, "init")

    code, names = imported(tmp_path, "run", "--progress", "none", "-q")

    assert code == 0
    assert sorted(names & set(HEAVY)) == []
