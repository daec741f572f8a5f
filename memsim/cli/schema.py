"""`memsim schema`: print the JSON Schema with which editors check and complete scenario files."""

from __future__ import annotations

import json

import click

from memsim.cli.terminal import Terminal


@click.command(
    "schema",
    epilog="""\b
Examples:
  memsim schema > scenario.schema.json
  memsim schema | head -20""",
)
def command() -> None:
    """Print the JSON Schema of scenario files."""
    from memsim.scenario import scenario_schema

    terminal = Terminal.of_process()
    terminal.say(json.dumps(scenario_schema(), indent=2, ensure_ascii=True))
