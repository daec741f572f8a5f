"""Settings of a run, from flags, the environment, the scenario and `[tool.memsim]`.

Precedence: flag, then environment (`MEMSIM_*`), then the scenario's own file, then `[tool.memsim]`,
then the default. An unknown key or variable is an error that names the nearest known one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.discovery.project import PYPROJECT, Project, find_project
from memsim.errors import ConfigError, nearest
from memsim.memory.places import SERVICES
from memsim.message import DEFAULT_TOKENIZER

if TYPE_CHECKING:
    from memsim.models.cassette import RecordMode

__all__ = [
    "GateSettings",
    "Project",
    "Settings",
    "find_project",
    "flip_bounds",
    "load_settings",
    "parse_budget",
    "parse_threshold",
    "show_budget",
]

BASELINES = (
    "layered",
    "full_context",
    "no_memory",
    "oracle",
    "sliding_window",
    "rolling_summary",
    "bm25",
    "vector",
    "hybrid",
)
"""The strategies that are compared by default."""

_BUDGET = re.compile(r"^(\d+(?:\.\d+)?)\s*(k|m)?$", re.IGNORECASE)
_SCALE = {"": 1, "k": 1024, "m": 1024 * 1024}
_LARGEST = 1 << 31
_LONGEST = 30 * 86_400
_PREFIX = "MEMSIM_"
_OTHER_VARIABLES = ("DATA", "MEMORY", *(name.removeprefix(_PREFIX) for name in SERVICES.values()))
_FLAGS = {"strategies": "--strategy", "expect": "--fail-under", "jobs": "-j"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """`[tool.memsim.gate]`: how a run is compared with a baseline.

    Attributes:
        margin: the smallest difference that matters.
        confidence: the level of the intervals.
        min_probes: fewer pairs than this are not compared.
        max_errors: tolerated unscored probes: a count, or a share below 1.
    """

    metrics: tuple[str, ...] = ("recall", "context_peak")
    margin: float = 0.02
    confidence: float = 0.95
    min_probes: int = 10
    max_errors: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a run, except the cases that it plays.

    Attributes:
        budget: tokens that a context may use; each is tried.
        budget_forced: a flag or the environment set the budget, so scenarios cannot change it.
        jobs: processes; 0 means as many as useful. A text is a Ray cluster: `ray` on this machine,
            or the address `ray://host:port` of one.
        timeout: seconds that a case may take; 0 for no limit.
        max_errors: tolerated unscored probes: a count, or a share below 1.
        expect: bounds by metric, for every case whose scenario sets none.
        expect_forced: bounds from flags, which override those of the scenario.
        expect_lines: the line of each key of `expect` in `pyproject.toml`.
        baseline: the baseline to compare with; empty for none.
        record: whether a live model is called and its answers are recorded.
        max_cost: dollars that the calls of one command may cost; None for no limit.
        judge: the model that judges answers in addition to the rules; empty for none.
    """

    scenarios: tuple[str, ...] = ()
    strategies: tuple[str, ...] = BASELINES
    model: str = "offline"
    embedder: str = "wordllama"
    tokenizer: str = DEFAULT_TOKENIZER
    budget: tuple[int, ...] = (4096,)
    budget_forced: bool = False
    repeat: int = 1
    seed: int = 7
    reports: str = "reports"
    jobs: int | str = 0
    timeout: float = 0
    max_errors: float = 0
    expect: Mapping[str, str] = field(default_factory=dict)
    expect_forced: Mapping[str, str] = field(default_factory=dict)
    expect_lines: Mapping[str, int] = field(default_factory=dict)
    baseline: str = ""
    gate: GateSettings = GateSettings()
    record: RecordMode = "none"
    cassettes: str = "cassettes"
    max_cost: float | None = None
    judge: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """The source of a value, for messages."""

    name: str
    path: str | None = None
    line: int | None = None

    def error(self, message: str, hint: str | None = None) -> ConfigError:
        return ConfigError(f"{self.name} {message}", path=self.path, line=self.line, hint=hint)


def load_settings(
    project: Project,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    also: Collection[str] = (),
) -> Settings:
    """Load the settings of a run.

    Args:
        project: the project with `[tool.memsim]`.
        flags: values from the command line by key (`budget`, `max_errors`, ...); None is unset.
            `expect` holds the bounds of `--fail-under`.
        environ: the environment; None ignores it.
        also: further keys whose variables the command reads itself, such as `format`.

    Raises:
        ConfigError: a key, variable or value is wrong; the error names file and line if there is
            one.
    """
    values = _from_table(project)
    loud = _from_environment(environ or {}, also)
    for key, value in (flags or {}).items():
        if value is not None:
            flag = _FLAGS.get(key) or "--" + key.replace("_", "-")
            loud[key] = _READERS[key](value, _Place(flag))
    forced = loud.pop("expect", {})
    settings = Settings(**(values | loud))  # type: ignore[arg-type]
    return replace(settings, budget_forced="budget" in loud, expect_forced=forced)  # type: ignore[arg-type]


def _from_table(project: Project) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in project.table.items():
        place = _Place(key, PYPROJECT, project.line(key))
        if key == "gate":
            values[key] = _read_gate(value, place, project)
        elif key in _READERS:
            values[key] = _READERS[key](value, place)
        elif key in COMMAND_KEYS:
            COMMAND_KEYS[key](value, place)
        else:
            known = [*_READERS, *COMMAND_KEYS, "gate"]
            raise ConfigError(
                f"unknown key {key!r} in [tool.memsim]",
                path=PYPROJECT,
                line=place.line,
                hint=nearest(key, known),
            )
    if isinstance(bounds := values.get("expect"), Mapping):
        lines = {metric: project.line(metric, "expect") for metric in bounds}
        values["expect_lines"] = {metric: n for metric, n in lines.items() if n is not None}
    return values


def command_defaults(project: Project) -> dict[str, object]:
    """Defaults from `[tool.memsim]` for flags that change no number, such as `format`, by key.

    Raises:
        ConfigError: a value is wrong.
    """
    return {
        key: COMMAND_KEYS[key](value, _Place(key, PYPROJECT, project.line(key)))
        for key, value in project.table.items()
        if key in COMMAND_KEYS
    }


def _from_environment(environ: Mapping[str, str], also: Collection[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    ignored = {*_OTHER_VARIABLES, *(name.upper() for name in also)}
    for name in sorted(environ):
        if not name.startswith(_PREFIX) or name.removeprefix(_PREFIX) in ignored:
            continue
        key = name.removeprefix(_PREFIX).lower()
        if key not in _READERS:
            known = [_PREFIX + k for k in (*(r.upper() for r in _READERS), *sorted(ignored))]
            raise ConfigError(
                f"unknown variable {name if name.isprintable() else ascii(name)}",
                hint=nearest(name, known),
            )
        values[key] = _READERS[key](environ[name], _Place(name))
    return values


def parse_budget(text: object) -> int:
    """Parse a number of tokens: `4k` is 4096 (k is 1024), `4000` is itself.

    Raises:
        ValueError: it is not a positive whole number of tokens.
    """
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise ValueError(f"must be a number of tokens such as 4k or 4000, not {text!r}")  # noqa: TRY004 - callers expect one type
    found = _BUDGET.match(str(text).strip())
    tokens = float(found[1]) * _SCALE[(found[2] or "").lower()] if found else math.nan
    if not tokens.is_integer() or not 0 < tokens < _LARGEST:
        raise ValueError(f"must be a positive number of tokens such as 4k or 4000, not {text!r}")
    return int(tokens)


def show_budget(tokens: int) -> str:
    """Format a budget as in ids: `4k` if that is exact."""
    return f"{tokens // 1024}k" if tokens % 1024 == 0 else str(tokens)


# -- readers: convert a value from TOML, a variable or a flag to the type in `Settings`


def _read_budget(value: object, place: _Place) -> tuple[int, ...]:
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    if isinstance(value, int) and not isinstance(value, bool):
        parts = [value]
    if not parts:
        raise place.error("must not be empty")
    try:
        return tuple(dict.fromkeys(parse_budget(part) for part in parts))
    except ValueError as error:
        raise place.error(str(error)) from None


def _read_texts(value: object, place: _Place) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, list | tuple) and all(isinstance(v, str) and v.strip() for v in value):
        return tuple(value)
    raise place.error(f"must be a list of texts, not {value!r}")


def _read_strategies(value: object, place: _Place) -> tuple[str, ...]:
    refs = _read_texts(value, place)
    if not refs:
        raise place.error("lists no strategy: add one, or remove the key")
    return refs


def _read_text(value: object, place: _Place) -> str:
    if not isinstance(value, str) or not value.strip():
        raise place.error(f"must be a text, not {value!r}")
    return value


def _read_flag(value: object, place: _Place) -> bool:
    if not isinstance(value, bool):
        raise place.error(f"must be true or false, not {value!r}")
    return value


def _one_of(*words: str) -> Callable[[object, _Place], str]:
    def read(value: object, place: _Place) -> str:
        if not isinstance(value, str) or value not in words:
            message = f"must be one of {', '.join(words)}, not {value!r}"
            raise place.error(message, nearest(value, words) if isinstance(value, str) else None)
        return value

    return read


def _read_name(value: object, place: _Place) -> str:
    return "" if value in ("", "none") else _read_text(value, place)


def _whole(least: int, most: int) -> Callable[[object, _Place], int]:
    def read(value: object, place: _Place) -> int:
        number = _number(value)
        if number is None or not number.is_integer() or not least <= number <= most:
            raise place.error(f"must be a whole number from {least} to {most:,}, not {value!r}")
        return int(number)

    return read


_RAY = re.compile(r"ray(://[^\s/:]+:\d{1,5})?")


def _read_jobs(value: object, place: _Place) -> int | str:
    if isinstance(value, str) and value.startswith("ray"):
        if not _RAY.fullmatch(value):
            raise place.error(f"must be ray or ray://host:port for a Ray cluster, not {value!r}")
        return value
    return 0 if value == "auto" else _whole(1, 1024)(value, place)


def _read_timeout(value: object, place: _Place) -> float:
    number = _number(value)
    if number is None or not 0 <= number <= _LONGEST:
        raise place.error(f"must be seconds such as 30 or 0.5, 0 for no limit, not {value!r}")
    return number


def _read_max_errors(value: object, place: _Place) -> float:
    number = _number(value)
    if number is None or number < 0 or (number > 1 and not number.is_integer()):
        raise place.error(f"must be a count such as 3 or a share such as 0.1, not {value!r}")
    return number


def _read_dollars(value: object, place: _Place) -> float:
    number = _number(value)
    if number is None or number < 0:
        raise place.error(f"must be dollars such as 5 or 0.25, not {value!r}")
    return number


def _read_share_text(value: object, place: _Place) -> str:
    number = _number(value)
    if number is None or not 0 < number <= 1:
        raise place.error(f"must be a share such as 0.1, not {value!r}")
    return str(value)


def _read_share(value: object, place: _Place) -> float:
    number = _number(value)
    if number is None or not 0 < number < 1:
        raise place.error(f"must be a number between 0 and 1, not {value!r}")
    return number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _read_expect(value: object, place: _Place) -> dict[str, str]:
    if isinstance(value, Mapping):
        pairs = [(str(k), v) for k, v in value.items()]
        if all(isinstance(bound, str | int | float) for _, bound in pairs):
            return {metric: str(bound) for metric, bound in pairs}
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, list | tuple):
        bounds: dict[str, str] = {}
        for part in value:
            metric, bound = parse_threshold(str(part), place.name)
            if metric in bounds:
                raise place.error(f"sets the bound of {metric} twice: remove one")
            bounds[metric] = bound
        return bounds
    raise place.error('must be a table of bounds such as recall = ">= 0.8"')


def _read_flips(value: object, place: _Place) -> dict[str, float]:
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    bounds: dict[str, float] = {}
    for part in parts:
        relation, _, share = str(part).rpartition("=")
        most = _number(share)
        if most is None or not 0 <= most <= 1:
            raise place.error(f"must be a share such as 0.02, or typo=0.03, not {part!r}")
        if (name := relation.strip()) in bounds:
            raise place.error(f"sets the bound of {name or 'all relations'} twice: remove one")
        bounds[name] = most
    return bounds


def flip_bounds(
    project: Project, given: Collection[str], environ: Mapping[str, str]
) -> dict[str, float]:
    """The largest share of answers that each relation of `memsim twist` may flip.

    From `--max-flips`, else `MEMSIM_MAX_FLIPS`, else `max_flips` in `[tool.memsim]`. The bound of
    the empty name holds for each relation that has none of its own.

    Raises:
        ConfigError: one is no share, or a relation has two.
    """
    if given:
        return _read_flips(list(given), _Place("--max-flips"))
    if said := environ.get(f"{_PREFIX}MAX_FLIPS"):
        return _read_flips(said, _Place(f"{_PREFIX}MAX_FLIPS"))
    found = command_defaults(project).get("max_flips", {})
    return found if isinstance(found, dict) else {}


def parse_threshold(text: str, source: str = "--fail-under") -> tuple[str, str]:
    """Parse `recall=0.8`, `recall>=0.8` or `context_peak<=4096` into a metric and its bound.

    Raises:
        ConfigError: it has none of these forms.
    """
    found = re.match(r"^\s*([\w@.-]+)\s*(>=|<=|==|=|>|<)\s*(\S.*?)\s*$", text)
    if not found:
        raise ConfigError(f"{source} must be METRIC=NUMBER such as recall=0.8, not {text!r}")
    metric, sign, number = found.groups()
    return metric, number if sign == "=" else f"{sign} {number}"


def _read_gate(value: object, place: _Place, project: Project) -> GateSettings:
    if not isinstance(value, Mapping):
        raise place.error("must be a table")
    values: dict[str, object] = {}
    for key, inner in value.items():
        line = project.line(str(key), "gate")
        if key not in _GATE_READERS:
            message = f"unknown key {key!r} in [tool.memsim.gate]"
            hint = nearest(str(key), _GATE_READERS)
            raise ConfigError(message, path=PYPROJECT, line=line, hint=hint)
        values[key] = _GATE_READERS[key](inner, _Place(f"gate.{key}", PYPROJECT, line))
    return GateSettings(**values)  # type: ignore[arg-type]


_Reader = Callable[[object, _Place], object]

_READERS: Mapping[str, _Reader] = {
    "scenarios": _read_texts,
    "strategies": _read_strategies,
    "model": _read_text,
    "embedder": _read_text,
    "tokenizer": _read_text,
    "budget": _read_budget,
    "repeat": _whole(1, 1_000_000),
    "seed": _whole(0, (1 << 53) - 1),
    "reports": _read_text,
    "jobs": _read_jobs,
    "timeout": _read_timeout,
    "max_errors": _read_max_errors,
    "expect": _read_expect,
    "baseline": _read_name,
    "record": _one_of("none", "new", "rewrite", "live"),
    "cassettes": _read_text,
    "max_cost": _read_dollars,
    "judge": _read_name,
}

COMMAND_KEYS: Mapping[str, _Reader] = {
    "color": _one_of("auto", "always", "never"),
    "data": _read_text,
    "dry_run": _read_flag,
    "format": _one_of("table", "md", "json", "jsonl"),
    "generalise": _read_flag,
    "html": _read_flag,
    "isolated": _read_flag,
    "k": _read_text,
    "leak_attempts": _read_share_text,
    "live": _read_flag,
    "lf": _read_flag,
    "mask_bad_gold": _read_flag,
    "max_flips": _read_flips,
    "no_report": _read_flag,
    "no_resume": _read_flag,
    "open": _read_flag,
    "output": _read_text,
    "progress": _one_of("auto", "plain", "none"),
    "quiet": _read_flag,
    "require_baseline": _read_flag,
    "shard": _read_text,
    "strict": _read_flag,
    "verbose": _read_flag,
    "x": _read_flag,
}
"""Keys of `[tool.memsim]` that select, show and save, but change no measurement."""

_GATE_READERS: Mapping[str, _Reader] = {
    "metrics": _read_texts,
    "margin": _read_share,
    "confidence": _read_share,
    "min_probes": _whole(1, 1_000_000),
    "max_errors": _read_max_errors,
}
