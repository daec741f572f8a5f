"""The flags of `memsim run`, grouped as its help shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click
from click.core import ParameterSource

from memsim.cli.run_output import Format, ProgressChoice
from memsim.cli.terminal import ColorChoice
from memsim.config import command_defaults
from memsim.discovery import find_project

_Command = TypeVar("_Command", bound=Callable[..., Any])


class RunFlags(TypedDict):
    """The values of `memsim run`'s flags, as click hands them over."""

    expression: str | None
    strategies: tuple[str, ...]
    lf: bool
    stop_at_first: bool
    max_errors: str | None
    timeout: str | None
    data: str | None
    mask_bad_gold: bool
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
    output: str | None
    form: Format
    quiet: bool
    verbose: bool
    color: ColorChoice
    progress: ProgressChoice
    no_report: bool
    html: bool
    no_resume: bool


SELECT = (
    click.option(
        "-k",
        "expression",
        metavar="EXPR",
        envvar="MEMSIM_K",
        help="Cases whose id matches: pytest's -k.",
    ),
    click.option(
        "-s",
        "--strategy",
        "strategies",
        metavar="REF",
        multiple=True,
        envvar="MEMSIM_STRATEGY",
        help="name, name:param=value or my.py@Class; repeatable.",
    ),
    click.option(
        "--lf", is_flag=True, envvar="MEMSIM_LF", help="Only what failed in the latest run."
    ),
    click.option(
        "-x",
        "stop_at_first",
        is_flag=True,
        envvar="MEMSIM_X",
        help="Stop at the first failed case.",
    ),
    click.option(
        "--max-errors",
        metavar="N|SHARE",
        help="Unscored probes to tolerate, such as 3 or 0.1.  [default: 0]",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        help="What a case may take before it counts as an error.  [default: no limit]",
    ),
    click.option(
        "--data",
        metavar="PATH",
        type=click.Path(),
        envvar="MEMSIM_DATA",
        help="File or folder of a dataset.",
    ),
    click.option(
        "--mask-bad-gold",
        is_flag=True,
        envvar="MEMSIM_MASK_BAD_GOLD",
        help="locomo: leave out answers that the audit beside the data found wrong.",
    ),
    click.option(
        "--leak-attempts",
        metavar="SHARE",
        envvar="MEMSIM_LEAK_ATTEMPTS",
        help="leakage: share of each channel's attempts to make, such as 0.1.",
    ),
)
SWEEP = (
    click.option("--budget", metavar="N,...", help="Context budgets to try, such as 2k,4k,8k."),
    click.option("--repeat", metavar="N", help="How often each case is played.  [default: 1]"),
    click.option("--seed", metavar="N", help="Seed of fillers and chance.  [default: 7]"),
)
MODEL = (
    click.option("-m", "--model", metavar="ID", help="The language model.  [default: offline]"),
    click.option("--embedder", metavar="ID", help="The embedder.  [default: wordllama]"),
    click.option("--tokenizer", metavar="ID", help="What counts tokens.  [default: o200k_base]"),
    click.option(
        "--judge",
        metavar="ID",
        help="A model that judges answers beside the rules, tried on known ones first."
        "  [default: none]",
    ),
    click.option(
        "--record",
        metavar="none|new|rewrite",
        help="A live model's answers: replay them, record what is missing, or all anew."
        "  [default: none]",
    ),
    click.option(
        "--live",
        is_flag=True,
        envvar="MEMSIM_LIVE",
        help="Ask the live model and record nothing.",
    ),
    click.option(
        "--cassettes",
        metavar="DIR",
        type=click.Path(),
        help="Folder of the recordings.  [default: cassettes]",
    ),
    click.option("-j", "--jobs", metavar="N|auto", help="Processes.  [default: auto]"),
    click.option(
        "--max-cost", metavar="USD", help="Stop before calls come to more.  [default: no cap]"
    ),
    click.option(
        "--dry-run", is_flag=True, envvar="MEMSIM_DRY_RUN", help="Print the plan and run nothing."
    ),
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
        help="The baseline to compare with.  [default: the configured one]",
    ),
    click.option(
        "--strict",
        is_flag=True,
        envvar="MEMSIM_STRICT",
        help="Fail as well what is unsure or stale, and where the baseline is missing.",
    ),
    click.option(
        "--require-baseline",
        is_flag=True,
        envvar="MEMSIM_REQUIRE_BASELINE",
        help="Fail where the configured baseline is missing.",
    ),
    click.option(
        "--generalise",
        is_flag=True,
        envvar="MEMSIM_GENERALISE",
        help="Resample whole scenarios, as another suite would hold others: from 10 on.",
    ),
)
OUTPUT = (
    click.option(
        "-o",
        "--output",
        metavar="DIR",
        type=click.Path(),
        envvar="MEMSIM_OUTPUT",
        help="The run's folder, in place of a new one.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["table", "md", "json", "jsonl"]),
        default="table",
        envvar="MEMSIM_FORMAT",
        help="What standard output carries.",
    ),
    click.option("-q", "--quiet", is_flag=True, envvar="MEMSIM_QUIET", help="Only the last line."),
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        envvar="MEMSIM_VERBOSE",
        help="Every missed probe by id.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        envvar="MEMSIM_COLOR",
        help="NO_COLOR and FORCE_COLOR count too.",
    ),
    click.option(
        "--progress",
        type=click.Choice(["auto", "plain", "none"]),
        default="auto",
        envvar="MEMSIM_PROGRESS",
        help="On standard error.",
    ),
    click.option(
        "--no-report", is_flag=True, envvar="MEMSIM_NO_REPORT", help="Write no report.md."
    ),
    click.option(
        "--html", is_flag=True, envvar="MEMSIM_HTML", help="Write report.html, one page of it all."
    ),
    click.option(
        "--no-resume",
        is_flag=True,
        envvar="MEMSIM_NO_RESUME",
        help="Begin anew even if the same run was interrupted.",
    ),
)
GROUPS = (
    ("Select", SELECT),
    ("Sweep", SWEEP),
    ("Model", MODEL),
    ("Gate", GATE),
    ("Output", OUTPUT),
)


def settings_in(flags: RunFlags) -> dict[str, object]:
    """Those flags that are settings, by the configuration's keys; None where not given."""
    values: dict[str, object] = {
        "budget": flags["budget"],
        "repeat": flags["repeat"],
        "seed": flags["seed"],
        "model": flags["model"],
        "embedder": flags["embedder"],
        "tokenizer": flags["tokenizer"],
        "judge": flags["judge"],
        "jobs": flags["jobs"],
        "max_errors": flags["max_errors"],
        "timeout": flags["timeout"],
        "baseline": flags["baseline"],
        "record": "live" if flags["live"] else flags["record"],
        "cassettes": flags["cassettes"],
        "max_cost": flags["max_cost"],
    }
    return values | {"expect": flags["fail_under"] or None}


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a flag was typed; a variable or the configuration may stand for many commands."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_contradictions(ctx: click.Context) -> None:
    """Refuse flags that cannot both be meant, and paths that are none.

    Raises:
        click.UsageError: there is such a flag.
    """
    if is_given(ctx, "quiet") and is_given(ctx, "verbose"):
        raise click.UsageError("-q and -v cannot both be meant", ctx)
    if is_given(ctx, "live") and is_given(ctx, "record"):
        raise click.UsageError("--live records nothing: --record cannot be meant as well", ctx)
    for name, flag in (("output", "-o"), ("data", "--data"), ("cassettes", "--cassettes")):
        value = ctx.params.get(name)
        if value is not None and not str(value).strip():
            raise click.UsageError(f"{flag} names no path: {value!r}", ctx)


def run_options(command: _Command) -> _Command:
    """Give a command every flag of `memsim run`."""
    for _, group in reversed(GROUPS):
        for option in reversed(group):
            command = option(command)
    return command


class ConfigCommand(click.Command):
    """A command whose flags may have their values in `[tool.memsim]`, below flag and variable."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> click.Context:
        """As click's own, with what the project's configuration says as defaults."""
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


_NAMES = {"format": "form", "k": "expression", "x": "stop_at_first"}
_PATHS = frozenset({"data", "output"})


class GroupedHelp(ConfigCommand):
    """A command whose help shows its flags in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The flags under the name of their group, the rest at the end."""
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
        """Only to see what the option makes of itself."""

    option(carrier)  # type: ignore[arg-type]
    (parameter,) = carrier.__click_params__  # type: ignore[attr-defined]
    name: str = parameter.name
    return name
