"""`memsim import`: make scenarios of recorded conversations, and count what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from memsim.cli.terminal import Terminal, complain, printable
from memsim.errors import ConfigError, ExitCode, MemsimError, NoCasesError
from memsim.report import number_format
from memsim.report.layout import TextLine

if TYPE_CHECKING:
    from memsim.traces.imported_scenarios import ScenarioFolder
    from memsim.traces.trace_format import ImportCounts, TraceSource

_SHOWN = 20
"""Problems that are printed one by one."""

_CORRECTIONS = 10
"""Corrections of users that are printed one by one."""

_SEARCHED = 50_000
"""Messages that are searched for needs where `--needs` does not ask for it: some ten seconds."""

MOST_QUESTIONS = 2_000
"""Questions that a scenario may have."""


@click.command(
    "import",
    epilog="""\b
Examples:
  memsim import conversations.json -o scenarios/mine
  memsim import traces/ --dry-run""",
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("scenarios/imported"),
    show_default=True,
    help="Folder of the scenarios.",
)
@click.option(
    "--format",
    "form",
    default="auto",
    show_default=True,
    help="A name of `memsim list formats`; auto looks at the content.",
)
@click.option(
    "--pace",
    default="1min",
    show_default=True,
    help="Time from message to message, where a trace has no times.",
)
@click.option(
    "--person",
    default="",
    metavar="NAME",
    help="Whose conversations are that name no user; then they are sessions of one scenario.",
)
@click.option(
    "--needs",
    type=click.IntRange(0, MOST_QUESTIONS),
    default=None,
    metavar="N",
    help="Questions from values that are said again, for each scenario at most; 0 for none."
    " Without it 200, from scenarios of up to 50,000 messages together.",
)
@click.option("--dry-run", is_flag=True, help="Print what would come in, and write nothing.")
@click.option(
    "--pseudonymise",
    is_flag=True,
    help="Replace names, addresses, identifiers and secrets, so that the scenarios can be shared.",
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Key of the stand-ins, made if missing: the same in later imports. Keep it secret.",
)
@click.option("--force", is_flag=True, help="Replace scenarios that are there.")
def command(
    paths: tuple[Path, ...],
    output: Path,
    form: str,
    pace: str,
    person: str,
    needs: int | None,
    dry_run: bool,
    pseudonymise: bool,
    key_file: Path | None,
    force: bool,
) -> int:
    """Make scenarios of recorded conversations: files, folders or archives.

    Every message that does not come in is counted with its reason. The exit code is 4 if a file or
    a line could not be read, although the rest comes in, and 5 if nothing comes in.
    """
    from memsim.cli.pseudonymise import check_key_file, private_folder

    given = _Import(paths, output, form, _duration(pace), person, needs, force)
    if key_file and not pseudonymise:
        raise ConfigError("--key-file needs --pseudonymise")
    if dry_run or not pseudonymise:
        if not dry_run:
            _create(output)
        return _run(given, None if dry_run else output)
    check_key_file(key_file, output)
    with private_folder() as folder:
        return _run(given, folder, key_file, share=True)


class _Import(NamedTuple):
    """What the command line gives."""

    paths: tuple[Path, ...]
    output: Path
    form: str
    pace: timedelta
    person: str
    needs: int | None
    force: bool


def _run(
    given: _Import, target: Path | None, key_file: Path | None = None, *, share: bool = False
) -> int:
    from memsim.traces.imported_scenarios import ScenarioFolder
    from memsim.traces.trace_format import ImportCounts

    counts = ImportCounts()
    folder = ScenarioFolder(target, counts, pace=given.pace, person=given.person, force=given.force)
    terminal = Terminal.of_process()
    terminal.say_lines(list(_imported(given.paths, given.form, folder, counts)))
    folder.finish()
    for problem in counts.problems[:_SHOWN]:
        complain(str(problem))
    more = len(counts.problems) + counts.more_problems - _SHOWN
    if more > 0:
        complain(f"and {more:,} more that could not be read")
    if not folder.scenarios and not counts.problems:
        raise NoCasesError("no conversation was found")
    told = [*_losses(counts)]
    if folder.scenarios:
        told += _written(given, folder, target, key_file, share=share)
    if told:
        terminal.say_lines(told)
    return ExitCode.USAGE if counts.problems else ExitCode.PASSED


def _written(
    given: _Import,
    folder: ScenarioFolder,
    target: Path | None,
    key_file: Path | None,
    *,
    share: bool,
) -> Iterator[TextLine]:
    result = list(_result(folder, given.output, dry_run=target is None))
    if target is None:
        yield from result
        return
    needs = [] if given.needs == 0 else list(_needs(folder, target, given.needs))
    if share:
        from memsim.cli.pseudonymise import pseudonymise

        shared = pseudonymise(target, given.output, key_file, needs, force=given.force)
        yield from (*result, *shared.told, *shared.result)
    else:
        yield from (*result, *needs)
    yield _next(folder, given.output)


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot be created: {error.strerror}", path=folder) from None


def _duration(text: str) -> timedelta:
    from memsim.clock import parse_duration

    with suppress(ValueError):
        span = parse_duration(text)
        if timedelta(0) < span < timedelta(days=366):
            return span
    raise ConfigError(f"--pace is a duration such as 90s or 5min, up to a year, not {text!r}")


def _imported(
    paths: tuple[Path, ...], form: str, folder: ScenarioFolder, counts: ImportCounts
) -> Iterator[TextLine]:
    from memsim.traces.formats import trace_format
    from memsim.traces.trace_files import recognised, trace_paths, trace_sources

    fixed = None if form == "auto" else trace_format(form)
    for path in trace_paths(paths, counts):
        came: Counter[str] = Counter()
        talks: Counter[str] = Counter()
        for source in trace_sources(path, counts):
            known = fixed or recognised(source)
            if known is None:
                continue
            named = f"{known.name} {known.version}"
            for conversation in known.read(source):
                messages = folder.add(conversation, known, _stem(source))
                came[named] += messages
                talks[named] += bool(messages)
            came[named] += 0
        for named, messages in came.items():
            size = number_format.plural(talks[named], "conversation")
            said = (
                f"  {printable(path)}  {named}  {size}  {number_format.plural(messages, 'message')}"
            )
            yield TextLine(text=said)


def _stem(source: TraceSource) -> str:
    return Path(source.name.replace("!", "/")).stem


def _losses(counts: ImportCounts) -> Iterator[TextLine]:
    yield from _counted("dropped", counts.dropped)
    yield from _counted("left out", counts.left_out)
    yield from _counted("changed", counts.adjusted)


def _result(folder: ScenarioFolder, output: Path, *, dry_run: bool) -> Iterator[TextLine]:
    scenarios = folder.scenarios.values()
    size = number_format.plural(len(scenarios), "scenario")
    if any(scenario.paced for scenario in scenarios):
        yield TextLine(text="times were made by --pace where a trace has none")
    if dry_run:
        yield TextLine(text=f"{size} would be written to {output}; nothing was written")
        return
    yield TextLine(text=f"{size} written to {output}")


def _needs(folder: ScenarioFolder, output: Path, most: int | None) -> Iterator[TextLine]:
    from memsim.scenario.need_probes import add_needs
    from memsim.scenario.reuse_needs import MOST_NEEDS

    found, corrected, read, left = 0, list[str](), 0, 0
    for scenario in folder.scenarios.values():
        if most is None and read + scenario.messages > _SEARCHED:
            left += 1
            continue
        read += scenario.messages
        try:
            made = add_needs(output / f"{scenario.name}.yaml", most or MOST_NEEDS)
        except MemsimError as error:
            complain(f"no questions were written: {error}")
            continue
        found += made.needs
        corrected += [f"{scenario.name}::{said}" for said in made.corrections]
    yield TextLine(
        text=f"{number_format.plural(found, 'question')} from values that are said again"
    )
    if left:
        size = number_format.plural(left, "scenario")
        yield TextLine(text=f"  {size} not searched, to save time: --needs 200 searches all")
    if corrected:
        size = number_format.plural(len(corrected), "question")
        yield TextLine(text=f"  {size} where a user says that something was said before:")
        yield from (TextLine(text=f"  {printable(said)}") for said in corrected[:_CORRECTIONS])
    if len(corrected) > _CORRECTIONS:
        yield TextLine(text=f"  and {len(corrected) - _CORRECTIONS:,} more")


def _next(folder: ScenarioFolder, output: Path) -> TextLine:
    scenarios = folder.scenarios.values()
    lane = " -s recorded" if any(scenario.recalls for scenario in scenarios) else ""
    return TextLine(text=f"next: memsim run {output} -s sliding_window -s layered{lane}")


def _counted(head: str, counts: Counter[str]) -> Iterator[TextLine]:
    for reason, number in counts.most_common():
        yield TextLine(text=f"{head}  {number:,}  {reason}")
