"""The flags of `memsim run`, in the groups that its help shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click
from click.core import ParameterSource

from memsim.cli.own_processes import ISOLATED
from memsim.cli.progress import ProgressChoice
from memsim.cli.run_output import Format
from memsim.cli.terminal import ColorChoice
from memsim.config import command_defaults
from memsim.discovery.project import find_project

_Command = TypeVar("_Command", bound=Callable[..., Any])


class OutputFlags(TypedDict):
    """The values of the flags that say how a run is shown and reported."""

    form: Format
    quiet: bool
    verbose: bool
    no_report: bool
    html: bool
    open_page: bool


class RunFlags(OutputFlags):
    """The values of the flags of `memsim run`."""

    expression: str | None
    strategies: tuple[str, ...]
    lf: bool
    stop_at_first: bool
    max_errors: str | None
    timeout: str | None
    data: str | None
    mask_bad_gold: bool
    isolated: bool | None
    leak_attempts: str | None
    budget: str | None
    repeat: str | None
    seed: str | None
    model: str | None
    embedder: str | None
    tokenizer: str | None
    judge: str | None
    record: str | None
    live: bool
    cassettes: str | None
    jobs: str | None
    max_cost: str | None
    dry_run: bool
    fail_under: tuple[str, ...]
    baseline: str | None
    strict: bool
    require_baseline: bool
    generalise: bool
    shard: str | None
    output: str | None
    color: ColorChoice
    progress: ProgressChoice
    no_resume: bool


def format_option(*forms: str, variable: str | None = None) -> Callable[[_Command], _Command]:
    """The option `--format`; the first form is the default."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        envvar=variable,
        help="Format of standard output.",
    )


def switch(*names: str, text: str) -> Callable[[_Command], _Command]:
    """A flag without a value; its variable is `MEMSIM_` and its long name."""
    variable = names[-1].lstrip("-").replace("-", "_").upper()
    return click.option(*names, is_flag=True, envvar=f"MEMSIM_{variable}", help=text)


QUIET = switch("-q", "--quiet", text="Print only the last line.")
COLOR = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    envvar="MEMSIM_COLOR",
    help="Colour the output; NO_COLOR and FORCE_COLOR are respected.",
)
STRICT = switch(
    "--strict", text="Also fail on unsure or stale metrics, and if the baseline is missing."
)
GENERALISE = switch(
    "--generalise",
    text="Resample whole scenarios, to judge other scenarios too; needs 10 or more.",
)
HTML = switch("--html", text="Write report.html into the run's folder: one page with everything.")
SELECT = (
    click.option(
        "-k",
        "expression",
        metavar="EXPR",
        envvar="MEMSIM_K",
        help="Only cases whose id matches, as pytest's -k.",
    ),
    click.option(
        "-s",
        "--strategy",
        "strategies",
        metavar="REF",
        multiple=True,
        envvar="MEMSIM_STRATEGY",
        help="A strategy: name, name:param=value or my.py@Class; repeatable.",
    ),
    switch("--lf", text="Only cases that failed in the latest run."),
    click.option(
        "-x",
        "stop_at_first",
        is_flag=True,
        envvar="MEMSIM_X",
        help="Stop at the first failed case.",
    ),
    click.option(
        "--shard",
        metavar="I/N",
        envvar="MEMSIM_SHARD",
        help="Play one part of the run, such as 1/4; memsim merge makes the run of all parts.",
    ),
    click.option(
        "--max-errors",
        metavar="N|SHARE",
        help="Unscored probes to tolerate: a number or a share, such as 0.1.  [default: 0]",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit of a case; a longer case counts as an error.  [default: no limit]",
    ),
    ISOLATED,
    click.option(
        "--data",
        metavar="PATH",
        type=click.Path(),
        envvar="MEMSIM_DATA",
        help="File or folder of a dataset.",
    ),
    switch(
        "--mask-bad-gold",
        text="locomo: leave out gold answers that the audit beside the data marks as wrong.",
    ),
    click.option(
        "--leak-attempts",
        metavar="SHARE",
        envvar="MEMSIM_LEAK_ATTEMPTS",
        help="leakage: share of each channel's attempts to play, such as 0.1.",
    ),
)
SWEEP = (
    click.option("--budget", metavar="N,...", help="Context budgets to try, such as 2k,4k,8k."),
    click.option(
        "--repeat", metavar="N", help="Number of times that each case is played.  [default: 1]"
    ),
    click.option(
        "--seed", metavar="N", help="Seed of filler turns and random choices.  [default: 7]"
    ),
)
MODEL = (
    click.option("-m", "--model", metavar="ID", help="The language model.  [default: offline]"),
    click.option("--embedder", metavar="ID", help="The embedder.  [default: wordllama]"),
    click.option(
        "--tokenizer", metavar="ID", help="The tokenizer that counts tokens.  [default: o200k_base]"
    ),
    click.option(
        "--judge",
        metavar="ID",
        help="A model that judges answers in addition to the rules; first tested on known"
        " answers.  [default: none]",
    ),
    click.option(
        "--record",
        metavar="none|new|rewrite",
        help="Answers of a live model: only replay, record missing ones, or record all again."
        "  [default: none]",
    ),
    switch("--live", text="Call the live model and record nothing."),
    click.option(
        "--cassettes",
        metavar="DIR",
        type=click.Path(),
        help="Folder of the recordings.  [default: cassettes]",
    ),
    click.option(
        "-j",
        "--jobs",
        metavar="N|auto|ray",
        help="Number of processes, or a Ray cluster: ray, ray://host:port.  [default: auto]",
    ),
    click.option(
        "--max-cost", metavar="USD", help="Stop before calls cost more.  [default: no limit]"
    ),
    switch("--dry-run", text="Print the plan and run nothing."),
)
GATE = (
    click.option(
        "--fail-under",
        metavar="METRIC=N",
        multiple=True,
        envvar="MEMSIM_FAIL_UNDER",
        help="A bound for every case, such as recall=0.8; repeatable.",
    ),
    click.option(
        "--baseline",
        metavar="NAME|PATH|none",
        help="Baseline to compare with.  [default: the configured one]",
    ),
    STRICT,
    switch("--require-baseline", text="Fail if the configured baseline is missing."),
    GENERALISE,
)
PROGRESS = click.option(
    "--progress",
    type=click.Choice(["auto", "plain", "none"]),
    default="auto",
    envvar="MEMSIM_PROGRESS",
    help="Case, rate and time left on standard error.",
)
FORMAT = format_option("table", "md", "json", "jsonl", variable="MEMSIM_FORMAT")
FOLDER = click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(),
    envvar="MEMSIM_OUTPUT",
    help="Folder of the run, instead of a new folder in reports.",
)
VERBOSE = switch(
    "-v",
    "--verbose",
    text="Print every missed probe, whole tracebacks and codes of leakage.",
)
NO_REPORT = switch("--no-report", text="Write no report.md.")
OPEN = click.option(
    "--open",
    "open_page",
    is_flag=True,
    envvar="MEMSIM_OPEN",
    help="Write report.html and open it in a browser.",
)
OUTPUT = (
    FOLDER,
    FORMAT,
    QUIET,
    VERBOSE,
    COLOR,
    PROGRESS,
    NO_REPORT,
    HTML,
    OPEN,
    switch("--no-resume", text="Start a new run even if the same run was interrupted."),
)
GROUPS = (
    ("Select", SELECT),
    ("Sweep", SWEEP),
    ("Model", MODEL),
    ("Gate", GATE),
    ("Output", OUTPUT),
)


_SETTINGS = frozenset(
    {"budget", "repeat", "seed", "model", "embedder", "tokenizer", "judge", "jobs", "max_errors"}
    | {"timeout", "baseline", "record", "cassettes", "max_cost"}
)
"""Flags that are settings, whose variables and keys the configuration reads."""


def settings_in(flags: RunFlags) -> dict[str, object]:
    """The flags that are settings, by their configuration key; None if not given."""
    values: dict[str, object] = {key: value for key, value in flags.items() if key in _SETTINGS}
    if flags["live"]:
        values["record"] = "live"
    return values | {"expect": flags["fail_under"] or None}


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a flag was typed on the command line, not set by a variable or the configuration."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_contradictions(ctx: click.Context) -> None:
    """Refuse flags that exclude each other, and empty paths."""
    if is_given(ctx, "quiet") and is_given(ctx, "verbose"):
        raise click.UsageError("-q and -v exclude each other: use one of them", ctx)
    if is_given(ctx, "live") and is_given(ctx, "record"):
        raise click.UsageError("--live and --record exclude each other: use one of them", ctx)
    # What is left out of a shard, or of only one of two tries, would be missing in the merged run.
    for name, flag in (("stop_at_first", "-x"), ("no_resume", "--no-resume")):
        if ctx.params.get("shard") is not None and ctx.params.get(name):
            raise click.UsageError(f"--shard and {flag} exclude each other", ctx)
    for name, flag in (("output", "-o"), ("data", "--data"), ("cassettes", "--cassettes")):
        value = ctx.params.get(name)
        if value is not None and not str(value).strip():
            raise click.UsageError(f"{flag} needs a path, not {value!r}", ctx)


def run_options(command: _Command) -> _Command:
    """Add every flag of `memsim run` to a command."""
    for _, group in reversed(GROUPS):
        for option in reversed(group):
            command = option(command)
    return command


class ConfigCommand(click.Command):
    """A command that takes defaults of its flags from `[tool.memsim]`."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> click.Context:
        """Make click's context, with defaults from the project's configuration."""
        if not {"-h", "--help"}.intersection(args):
            extra["default_map"] = self._configured()
        return super().make_context(info_name, args, parent, **extra)

    def _configured(self) -> dict[str, object]:
        project = find_project()
        own = {parameter.name for parameter in self.params}
        said = {
            _NAMES.get(key, key): str(project.base / str(value)) if key in _PATHS else value
            for key, value in command_defaults(project).items()
        }
        return {name: value for name, value in said.items() if name in own}


_NAMES = {"format": "form", "k": "expression", "open": "open_page", "x": "stop_at_first"}
_PATHS = frozenset({"data", "output"})


class GroupedHelp(ConfigCommand):
    """A command whose help shows its flags in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags by group, and the remaining ones at the end."""
        records = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        for title, group in GROUPS:
            names = [_name_of(option) for option in group]
            rows = [record for name in names if (record := records.get(name))]
            with formatter.section(title):
                formatter.write_dl(rows)
        if about_help := records.get("help"):
            with formatter.section("Options"):
                formatter.write_dl([about_help])


def _name_of(option: Callable[[_Command], _Command]) -> str:
    def carrier() -> None:
        """Carries the option, so that click computes its name."""

    option(carrier)  # type: ignore[arg-type]
    (parameter,) = carrier.__click_params__  # type: ignore[attr-defined]
    name: str = parameter.name
    return name
