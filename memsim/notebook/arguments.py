"""Check the arguments of `memsim.run`, and turn objects into refs that a plan can hold."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from memsim.discovery.loader import check_class
from memsim.discovery.strategy_ref import StrategyRef, snake_case
from memsim.errors import UsageError
from memsim.scenario.script import Scenario
from memsim.strategy import Strategy
from memsim.suite.case_plan import CONTROLS
from memsim.suite.play import MakeStrategy
from memsim.suite.scenarios import ScenarioRef, remember

ScenarioInput: TypeAlias = str | Path | Scenario | ScenarioRef
StrategyInput: TypeAlias = str | Path | StrategyRef | type[Strategy] | MakeStrategy

SCENARIO = "a scenario is a name, a path, a glob, a dataset or a Scenario"
STRATEGY = (
    "a strategy is a ref such as 'bm25:k=8', a path, a StrategyRef, a Strategy class,"
    " or a function of an Environment that makes one"
)


class ArgumentError(UsageError, TypeError):
    """An argument has a wrong type; the message says what is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChoice:
    """The strategies of a run.

    Attributes:
        refs: one for each strategy, in order.
        makers: what makes those that were given as objects.
    """

    refs: tuple[str | StrategyRef, ...] = ()
    makers: Mapping[StrategyRef, MakeStrategy] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """The types that a setting may have, and how an error names them."""

    kinds: tuple[type, ...]
    said: str
    several: bool = False

    def check(self, name: str, value: object) -> None:
        """Refuse a value of another type.

        Raises:
            ArgumentError: with one sentence that says what is accepted.
        """
        values = value if self.several and isinstance(value, list | tuple) else [value]
        if all(_is_one_of(each, self.kinds) for each in values):
            return
        raise ArgumentError(f"{name} is {self.said}, not {described(value)}")


TEXT = (str,)
NUMBER = (int, float)
ACCEPTED: Mapping[str, ArgumentRule] = {
    "budgets": ArgumentRule(
        kinds=(int, str), said="a number of tokens such as 4096 or '4k', or a list", several=True
    ),
    "model": ArgumentRule(kinds=TEXT, said="the name of a model such as 'offline'"),
    "judge": ArgumentRule(kinds=TEXT, said="the name of a model"),
    "embedder": ArgumentRule(kinds=TEXT, said="the name of an embedder such as 'wordllama'"),
    "tokenizer": ArgumentRule(kinds=TEXT, said="the name of a tokenizer such as 'o200k_base'"),
    "seed": ArgumentRule(kinds=(int,), said="a whole number"),
    "repeat": ArgumentRule(kinds=(int,), said="a whole number"),
    "jobs": ArgumentRule(kinds=(int,), said="a whole number of processes"),
    "timeout": ArgumentRule(kinds=(int, float, str), said="a number of seconds, or a text as '5m'"),
    "expect": ArgumentRule(kinds=(dict,), said="bounds by metric, such as {'recall': '>= 0.8'}"),
    "leakage": ArgumentRule(kinds=(bool, *NUMBER), said="True, False or a share such as 0.25"),
    "select": ArgumentRule(kinds=TEXT, said="an expression such as 'desk and not bm25'"),
    "data": ArgumentRule(kinds=(str, Path), said="a path"),
    "out": ArgumentRule(kinds=(str, Path), said="a path"),
    "controls": ArgumentRule(kinds=(bool,), said="True or False"),
    "isolated": ArgumentRule(kinds=(bool,), said="True or False"),
    "progress": ArgumentRule(kinds=(bool,), said="True or False"),
    "record": ArgumentRule(kinds=TEXT, said="a mode such as 'new'"),
    "cassettes": ArgumentRule(kinds=(str, Path), said="a path"),
    "max_cost": ArgumentRule(kinds=NUMBER, said="a number of dollars"),
}
"""The settings of `memsim.run` by name."""


def check_settings(given: Mapping[str, object]) -> None:
    """Refuse settings of wrong types; None means that a setting is not given.

    Raises:
        ArgumentError: with one sentence that says what is accepted.
    """
    for name, value in given.items():
        if value is not None:
            ACCEPTED[name].check(name, value)


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    # True is an int to Python, and never meant as one.
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def described(value: object) -> str:
    """How an error names a value: itself where that is short, else its type."""
    shown = repr(value)
    kind = type(value).__name__
    return shown if len(shown) <= 40 and "\n" not in shown else f"an object of type {kind}"


def scenario_selectors(
    given: ScenarioInput | Iterable[ScenarioInput] | None,
) -> tuple[str | ScenarioRef, ...]:
    """The selectors of a run: texts as the command line takes them, and refs of objects.

    Raises:
        ArgumentError: something is no scenario.
        UsageError: the list is empty, or two objects have one name.
    """
    if given is None:
        return ()
    found = [_selector(each) for each in _listed(given, "scenarios", SCENARIO)]
    objects = [each for each in found if isinstance(each, ScenarioRef)]
    _refuse_doubles("scenario", [str(ref) for ref in objects])
    return tuple(found)


def _selector(given: object) -> str | ScenarioRef:
    if isinstance(given, str | Path):
        return str(given)
    if isinstance(given, ScenarioRef):
        return given
    if isinstance(given, Scenario):
        return _ref_of(given)
    raise ArgumentError(f"{SCENARIO}, not {described(given)}")


def _ref_of(scenario: Scenario) -> ScenarioRef:
    """The ref of a scenario object, which finds the object as if it came from a file."""
    place = Path("<python>", f"{scenario.name}-{scenario.fingerprint}-{id(scenario)}")
    remember(place, [scenario])
    return ScenarioRef(source=str(scenario.path), name=scenario.name, place=place)


def strategy_choice(
    given: StrategyInput | Iterable[StrategyInput] | Mapping[str, StrategyInput] | None,
    *,
    controls: bool,
) -> StrategyChoice:
    """The strategies of a run, those of objects with what makes them.

    Args:
        given: one strategy, several, or objects by the names that they get in the results.
        controls: whether the controls are played too, so that no other strategy has their names.

    Raises:
        ArgumentError: something is no strategy.
        UsageError: the list is empty, or two strategies have one name.
        RefError: a class lacks a method, or has one that cannot be called.
    """
    if given is None:
        return StrategyChoice()
    if isinstance(given, Mapping):
        pairs = [(_named(name), each) for name, each in given.items()]
    else:
        pairs = [("", each) for each in _listed(given, "strategies", STRATEGY)]
    refs: list[str | StrategyRef] = []
    makers: dict[StrategyRef, MakeStrategy] = {}
    for name, each in pairs:
        ref, make = _strategy(each, name)
        refs.append(ref)
        if make is not None:
            _refuse_doubles("strategy", [*map(str, makers), str(ref)])
            makers[ref] = make  # type: ignore[index]
    taken = [*map(str, refs), *(CONTROLS if controls else ())]
    for ref in makers:
        _refuse_doubles("strategy", [each for each in taken if each == str(ref)])
    return StrategyChoice(refs=tuple(refs), makers=makers)


def _named(name: object) -> str:
    if isinstance(name, str) and name.isidentifier():
        return name
    raise ArgumentError(f"the name of a strategy is a word such as 'mine', not {described(name)}")


def _strategy(given: object, name: str) -> tuple[str | StrategyRef, MakeStrategy | None]:
    if isinstance(given, str | Path | StrategyRef):
        if name:
            raise ArgumentError(f"strategies by name are classes or functions, not {given!r}")
        return (str(given) if isinstance(given, Path) else given), None
    if isinstance(given, Strategy) or not callable(given):
        hint = ": give its class" if isinstance(given, Strategy) else ""
        raise ArgumentError(f"{STRATEGY}, not {described(given)}{hint}")
    if isinstance(given, type):
        check_class(given)
    shown = getattr(given, "__name__", type(given).__name__).strip("<>")
    ref = StrategyRef(name=name or snake_case(shown), entry=_source_of(given), class_name=shown)
    return ref, given


def _source_of(given: Callable[..., object]) -> str:
    """What tells one object from another of its name: an edited class is another strategy."""
    try:
        source = inspect.getsource(given)
    except (OSError, TypeError):
        source = ""
    digest = hashlib.sha256(source.encode(errors="backslashreplace")).hexdigest()
    module = getattr(given, "__module__", "")
    return f"{module}:{getattr(given, '__qualname__', '')}#{digest[:16]}"


def _listed(given: object, name: str, said: str) -> Sequence[object]:
    if isinstance(given, str | Path | ScenarioRef | StrategyRef | Scenario) or callable(given):
        return [given]
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise ArgumentError(f"{said}, or a list of them, not {described(given)}")
    found = list(given)
    if not found:
        raise UsageError(f"{name} is empty: name at least one, or leave it out for the project's")
    return found


def _refuse_doubles(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            hint = ', or use a mapping: {"mine": Mine}' if kind == "strategy" else ""
            said = f"two of them are called {name!r}"
            raise UsageError(f"{said}: give each {kind} its own name{hint}")
