"""`memsim run --shard` and `memsim merge`: the gate decides over all shards, never over one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]
KILLER = """
import os
import signal
from pathlib import Path

from memsim import Strategy


class Mine(Strategy):
    \"\"\"Kills memsim where a file says so.\"\"\"

    def context(self, query):
        if Path("kill").exists():
            os.kill(os.getppid(), signal.SIGKILL)
        return self.env.build.context(self.env.build.section("window", []))
"""
SAME = ("probes.jsonl", "turns.jsonl", "contexts.jsonl", "report.md", "comparison.json")


def test_the_verdict_is_that_of_one_run(saved: Path, call: Call) -> None:
    """Bytes, report, comparison and exit code; the flags of the gate come from the shards."""
    flags = ("-s", "sliding_window:messages=12", "--baseline", "main", "--strict")
    alone = call("run", *flags, "-o", "alone/run")
    parts = [call("run", *flags, "--shard", f"{n}/3") for n in (3, 1, 2)]
    merged = call("merge", *map(str, Path("reports/shards").iterdir()), "-o", "merged/run")

    assert [0, 0, 0] == [part.exit_code for part in parts]
    assert all("no verdict yet: memsim merge reports/shards/" in part.stdout for part in parts)
    assert (1, 1) == (alone.exit_code, merged.exit_code)
    closing = alone.stdout.splitlines()[-1].partition(" in ")[0]
    assert "against main: 1 worse, 1 better" in closing
    assert merged.stdout.splitlines()[-1].startswith(closing)
    for name in SAME:
        assert Path("alone/run", name).read_bytes() == Path("merged/run", name).read_bytes()
    shard = next(Path("reports/shards").glob("*/1-of-3/run.json"))
    assert ["strict", "baseline"] == json.loads(shard.read_text("utf-8"))["shard"]["gate"]
    info = json.loads(Path("merged/run/run.json").read_text("utf-8"))
    assert (["memsim", "run", *flags], "main") == (info["command"], info["against"])


def test_a_broken_bound_fails_its_shard_and_the_run(project: Path, call: Call) -> None:
    """A bound is for each case, so that a shard need not wait; the others pass."""
    flags = ("-s", "sliding_window:messages=12", "--fail-under", "recall=0.9", "-q")
    codes = [call("run", *flags, "--shard", f"{n}/3").exit_code for n in (1, 2, 3)]
    merged = call("merge", *map(str, Path("reports/shards").iterdir()), "-q")

    assert [0, 0, 1] == sorted(codes)
    assert merged.exit_code == 1
    assert merged.stdout.startswith("1 failed in ")


def test_what_could_not_be_measured_is_never_green(project: Path, call: Call) -> None:
    """Neither in its shard nor when it is merged."""
    Path("mine.py").write_text(
        "from memsim import Strategy\n\nclass Mine(Strategy):\n    def context(self, query):\n"
        "        raise ValueError('no')\n",
        encoding="utf-8",
    )
    codes = [call("run", "-s", "mine.py@Mine", "-q", "--shard", f"{n}/2").exit_code for n in (1, 2)]

    assert [0, 7] == sorted(codes)
    assert call("merge", *map(str, Path("reports/shards").iterdir()), "-q").exit_code == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--shard", "0/4"), "memsim: --shard 0/4: shards are numbered from 1 to 4\n"),
        (("--shard", "5/4"), "memsim: --shard 5/4: shards are numbered from 1 to 4\n"),
        (("--shard", "1/2", "-x"), "memsim run: --shard and -x exclude each other\n"),
        (
            ("--shard", "1/2", "--no-resume"),
            "memsim run: --shard and --no-resume exclude each other\n",
        ),
    ],
)
def test_wrong_shards_are_one_line(
    project: Path, call: Call, arguments: tuple[str, ...], said: str
) -> None:
    """Before anything is read or written."""
    result = call("run", *arguments)

    assert (4, said) == (result.exit_code, result.stderr)
    assert not Path("reports").exists()


def test_the_flags_of_the_gate_are_kept_in_the_shards(project: Path, call: Call) -> None:
    """A merge without the flag fails where the strict run would have: its baseline is missing."""
    codes = [call("run", "--strict", "-q", "--shard", f"{n}/2").exit_code for n in (1, 2)]
    merged = call("merge", *map(str, Path("reports/shards").iterdir()), "-q")

    assert [0, 0] == codes
    assert (1, "there is no baseline main") == (
        merged.exit_code,
        merged.stdout.partition(" in ")[0].rpartition("; ")[2],
    )


def test_a_killed_shard_is_refused_until_it_has_gone_on(project: Path, call: Call) -> None:
    """Nothing of it is lost, and the merged run has the bytes of one."""
    Path("mine.py").write_text(KILLER, encoding="utf-8")
    run = ("run", "-s", "mine.py@Mine", "-s", "bm25", "-q", "-j", "1")
    alone = call(*run, "-o", "alone/run")
    first, second = ([*run, "--shard", f"{n}/2"] for n in (1, 2))
    Path("kill").touch()
    deaths = [
        subprocess.run([sys.executable, "-m", "memsim", *shard], check=False, capture_output=True)
        for shard in (first, second)
    ]
    refused = call("merge", *map(str, Path("reports/shards").iterdir()), "-q")

    assert -signal.SIGKILL in [death.returncode for death in deaths]
    assert (4, "") == (refused.exit_code, refused.stdout)
    assert "to go on: memsim run" in refused.stderr
    assert refused.stderr.count("\n") == 1
    Path("kill").unlink()
    codes = [call(*shard).exit_code for shard in (first, second)]
    merged = call("merge", *map(str, Path("reports/shards").iterdir()), "-q", "-o", "merged/run")
    assert {0} == {*codes, alone.exit_code, merged.exit_code}
    for name in SAME[:-1]:
        assert Path("alone/run", name).read_bytes() == Path("merged/run", name).read_bytes()
