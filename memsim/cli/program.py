"""The group of commands: names and one-line descriptions without importing what they do.

Exit codes are those of `memsim.errors.ExitCode`; every wrong input is one line on standard error.
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
    """The commands of `memsim memory`, with the nearest name for one that is none."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's own."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            near = nearest(name, self.commands)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise click.UsageError(f"no command is called {printable(name)!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are written."""
        return list(self.commands)


COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run", "Replay scenarios through strategies, score them, write a run folder."),
    "compare": ("compare", "Compare a saved run with a baseline or another run, and gate it."),
    "baseline": ("baseline", "Keep a run as what later runs are held to: save, list, show."),
    "explain": ("explain", "Follow one probe through a saved run: where its fact went."),
    "check": ("check", "Property-test strategies against the invariants of memory."),
    "report": ("report", "Print a saved run again, and write its report anew."),
    "list": ("list_command", "List scenarios, strategies, metrics, runs or datasets."),
    "init": ("init", "Scaffold a project: a scenario, a strategy, a test."),
    "memory": ("memory", "Look into a saved memory: stats, list, search, get, forget, export."),
    "serve": ("serve", "Serve working memory, episodes and ledger over HTTP, as AEGIS does."),
    "schema": ("schema", "Print the JSON Schema of scenario files."),
}
"""Command name to the module that holds it and what `memsim --help` says of it."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """What was typed after `memsim`, for whoever has to say how to do it again."""

    arguments: tuple[str, ...] = ()

    @property
    def typed(self) -> tuple[str, ...]:
        """The whole command line."""
        return ("memsim", *self.arguments)


class Program(click.Group):
    """The root command; loads a subcommand's module when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"memsim.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's own, with the nearest name where there is no such command."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = nearest(name, COMMANDS)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise click.UsageError(f"no command is called {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command list, from the table above and not from the commands."""
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
        """Run and exit; nothing but `SystemExit` comes out."""

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
