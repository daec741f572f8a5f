"""`memsim report --latency`: times are printed on request, and stand in no compared file."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from memsim.cli.program import program

SCENARIO = """
memsim: 1
name: one
turns:
  - user: My order is A-17.
    facts: {order: A-17}
probes:
  order: {ask: What is my order?, expect: A-17}
"""


def test_times_are_printed_on_request(tmp_path: Path) -> None:
    """Without the flag, neither terminal nor report.md has a time of a call."""
    path = tmp_path / "one.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    folder = tmp_path / "run"
    runner = CliRunner()
    done = runner.invoke(program, ["run", str(path), "-s", "bm25", "-o", str(folder)])
    assert done.exit_code == 0, done.output

    plain = runner.invoke(program, ["report", str(folder)])
    timed = runner.invoke(program, ["report", str(folder), "--latency"])

    assert (folder / "latency.json").is_file()
    assert "time of a call" not in done.output + plain.output
    assert "time of a call" in timed.output
    assert "time of a call" not in (folder / "report.md").read_text(encoding="utf-8")
