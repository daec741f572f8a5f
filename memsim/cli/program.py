"""The root command `memsim`: it lists its commands without importing their code.

Exit codes are those of `memsim.errors.ExitCode`. Every wrong input is one line on standard error.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from memsim.cli.terminal import guarded, printable
from memsim.errors import nearest


class VerbGroup(click.Group):
    """A group of commands that suggests the nearest name for an unknown command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and suggest the nearest name for an unknown one."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = nearest(name, known)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise click.UsageError(f"no command is called {printable(name)!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of their definition."""
        return list(self.commands)


COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run", "Replay scenarios through strategies, score them, write a run folder."),
    "merge": ("merge_command", "Make one run of the shards of `memsim run --shard`, and gate it."),
    "compare": ("compare", "Compare a saved run with a baseline or another run, and gate it."),
    "baseline": ("baseline", "Save a run as the baseline of later runs: save, list, show."),
    "explain": ("explain", "Follow one probe through a saved run: where its fact was."),
    "check": ("check", "Property-test strategies against the invariants of memory."),
    "twist": ("twist_command", "Change scenarios so that no answer may change, and count flips."),
    "limit": ("limit_command", "Turn a dial up until a memory breaks, and say where."),
    "certify": ("certify", "Try every clause of the HTTP contract on a memory's server."),
    "report": ("report", "Print a saved run again, and rewrite its reports."),
    "view": ("view", "Open the page of a saved run in a browser."),
    "list": ("list_command", "List scenarios, strategies, metrics, runs, datasets or formats."),
    "init": ("init", "Create a project: a scenario, a strategy, a test."),
    "generate": ("generate_command", "Write a scenario of a generated story, with dials."),
    "import": (
        "import_command",
        "Make scenarios of recorded conversations, in eight formats and more.",
    ),
    "export": ("export_command", "Write a scenario or a run in the format of another tool."),
    "memory": ("memory", "Inspect a saved memory: stats, list, search, get, forget, export."),
    "serve": ("serve", "Serve a memory over HTTP: memsim's by the contract, or AEGIS's."),
    "schema": ("schema", "Print the JSON Schema of scenario files."),
}
"""The module of each command, and its line in `memsim --help`."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The arguments after `memsim`, for messages that repeat the command."""

    arguments: tuple[str, ...] = ()

    @property
    def typed(self) -> tuple[str, ...]:
        """The whole command line."""
        return ("memsim", *self.arguments)


class Program(VerbGroup):
    """The root command; it imports the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command by its name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"memsim.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from `COMMANDS`, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT002 - click's signature
        windows_expand_args: bool = True,  # noqa: FBT002 - click's signature
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> NoReturn:
        """Run a command and exit the process; it raises only `SystemExit`."""

        def command() -> object:
            return super(Program, self).main(
                args,
                "memsim",
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                obj=Invocation(arguments=tuple(sys.argv[1:] if args is None else args)),
                **extra,
            )

        raise SystemExit(guarded(command))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from memsim.report.run_summary import own_version

        click.echo(f"memsim {own_version()}")
        ctx.exit()


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  memsim run
  memsim run scenarios/support_desk.yaml -s sliding_window -s bm25 --budget 2k,4k""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and exit.",
)
@click.pass_context
def program(ctx: click.Context) -> None:
    """The pytest of agent memory: replay long conversations against rival memories."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
