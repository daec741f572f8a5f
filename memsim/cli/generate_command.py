"""`memsim generate`: write a scenario that is told by a generator with dials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from memsim.cli.terminal import Terminal
from memsim.errors import ConfigError, ScenarioError, nearest
from memsim.report.layout import Column, Row, Table, TextLine, terminal_table
from memsim.scenario.generator.dials import (
    DIALS,
    FAMILIES,
    FORM,
    FORMS,
    LANGUAGE,
    LANGUAGES,
    LOOK_ALIKE_KIND,
    LOOK_ALIKE_KINDS,
    SEED,
    SHARED,
    SPEAKER_KIND,
    SPEAKER_KINDS,
    Generate,
)


def _dials(command: Callable[..., int]) -> Callable[..., int]:
    for name, dial in reversed([*DIALS.items()]):
        flag, kind = f"--{name.replace('_', '-')}", click.IntRange(dial.least, dial.most)
        help_text = f"{dial.about[0].upper()}{dial.about[1:]}."
        command = click.option(flag, name, type=kind, metavar="N", help=help_text)(command)
    return command


@click.command(
    "generate",
    epilog="""\b
Examples:
  memsim generate updates --updates 20 -o scenarios/many_updates.yaml
  memsim generate multi_hop --hops 4 --written""",
)
@click.argument("family", required=False)
@click.option(
    "--seed",
    type=click.IntRange(SEED.least, SEED.most),
    default=0,
    metavar="N",
    help="Another seed tells another story.",
)
@click.option("--form", type=click.Choice(FORMS), help=f"{FORM[0].upper()}{FORM[1:]}.")
@click.option(
    "--look-alike-kind",
    type=click.Choice(LOOK_ALIKE_KINDS),
    help=f"{LOOK_ALIKE_KIND[0].upper()}{LOOK_ALIKE_KIND[1:]}.",
)
@click.option(
    "--speaker-kind",
    type=click.Choice(SPEAKER_KINDS),
    help=f"{SPEAKER_KIND[0].upper()}{SPEAKER_KIND[1:]}.",
)
@click.option("--language", metavar="CODE", help=f"{LANGUAGE[0].upper()}{LANGUAGE[1:]}.")
@_dials
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The scenario file; without it the scenario is printed.",
)
@click.option("--written", is_flag=True, help="Write every statement and question out.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(
    family: str | None,
    seed: int,
    form: str | None,
    language: str | None,
    look_alike_kind: str | None,
    speaker_kind: str | None,
    output: Path | None,
    written: bool,
    force: bool,
    **dials: int | None,
) -> int:
    """Write a scenario of a generated story, whose answers are proven.

    A family says what is hard about the story, and its dials say how hard it is. Without FAMILY the
    families and their dials are listed.
    """
    if family is None:
        words = (form, language, look_alike_kind, speaker_kind)
        given = any(words) or output or written or force or seed
        if given or any(setting is not None for setting in dials.values()):
            raise ConfigError(f"name a family of stories: {', '.join(FAMILIES)}")
        terminal = Terminal.of_process()
        terminal.say_lines(list(_families(terminal)))
        return 0
    _check_names(family, language)
    step = Generate(
        line=None,
        key_lines={},
        family=family,
        seed=seed,
        form=form,
        language=language,
        look_alike_kind=look_alike_kind,
        speaker_kind=speaker_kind,
        **dials,
    )
    text = _script(step, output, written=written)
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        with output.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise ConfigError("is there already; --force replaces it", path=output) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", path=output) from None
    Terminal.of_process().say(f"{output} written; play it: memsim run {output}")
    return 0


def _check_names(family: str, language: str | None) -> None:
    if family not in FAMILIES:
        raise _unknown("family", family, nearest(family, FAMILIES), "families", FAMILIES)
    if language is not None and language not in LANGUAGES:
        raise _unknown("language", language, _code_near(language), "languages", LANGUAGES)


def _unknown(
    kind: str, name: str, near: str | None, kinds: str, known: Sequence[str]
) -> ConfigError:
    hint = f" (did you mean {near!r}?)" if near else ""
    return ConfigError(f"no {kind} is called {name!r}{hint}; {kinds}: {', '.join(known)}")


def _code_near(language: str) -> str | None:
    """The code that was meant, also by the language's name in English."""
    from memsim.scenario.generator.language_frames import codes_by_name

    codes = codes_by_name()
    name = nearest(language.strip(), codes)
    return codes[name] if name else nearest(language.lower(), LANGUAGES)


def _script(step: Generate, output: Path | None, *, written: bool) -> str:
    import yaml

    from memsim.scenario.document import parse
    from memsim.scenario.generator.story_script import settings
    from memsim.scenario.generator.written_script import long_script, short_script
    from memsim.scenario.scenario_loader import make_scenario

    settings(step)
    name = output.stem if output else step.family
    said = long_script(name, step) if written else short_script(name, step)
    text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)
    # What cannot be played is refused here, and not when it is played.
    try:
        make_scenario(parse(text), output or Path(f"{name}.yaml"))
    except ScenarioError as error:
        # There is no file yet in which anybody could look for the line.
        raise ConfigError(error.message) from None
    return text


def _families(terminal: Terminal) -> Iterator[TextLine]:
    from memsim.scenario.generator.story_in_language import TOLD
    from memsim.scenario.generator.story_script import defaults_of, family, most_of

    rows: list[Row] = [
        (
            (
                name,
                family(name).ABOUT,
                ", ".join(f"{dial} {value}" for dial, value in family(name).DEFAULTS.items()),
            ),
            "",
        )
        for name in FAMILIES
    ]
    columns = [
        Column("family", right=False),
        Column("what is asked", right=False, rank=1, clip=True),
        Column("dials, and where they stand", right=False),
    ]
    yield from terminal_table(Table(columns, rows), terminal.width).lines
    shared = ", ".join(f"{dial} {value}" for dial, value in SHARED.items())
    yield TextLine(text="")
    yield TextLine(text=f"  Every family has these as well: {shared}")
    for dial, bounds in DIALS.items():
        own = ((name, most_of(name, dial)) for name in FAMILIES if dial in defaults_of(name))
        fewer = [f"{most} in {name}" for name, most in own if most < bounds.most]
        if fewer:
            yield TextLine(text=f"  {dial} is {bounds.most:,} at most, but {', '.join(fewer)}")
    yield TextLine(
        text=f"  In {len(LANGUAGES)} languages, such as --language de: {', '.join(TOLD)}"
    )
