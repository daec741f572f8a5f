"""Plan the cases of a run, and fingerprint them for comparison with other runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from memsim.config import Settings
from memsim.discovery.loader import reload_changed, resolve, try_parameters
from memsim.discovery.project import PYPROJECT, Project, builtin_folder, is_built_in
from memsim.discovery.source_digest import source_digest
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ConfigError, ErrorCollector, NoCasesError, RefError
from memsim.leakage import LEAKAGE
from memsim.models.model_access import NO_ACCESS, ModelAccess
from memsim.models.model_ref import is_live, read_judge
from memsim.scenario.script import Scenario
from memsim.scoring import SCORING_VERSION
from memsim.scoring.metrics import JUDGED, METRICS
from memsim.suite.cases import CaseSpec, MetricBound, parse_bound
from memsim.suite.judgement import instrument
from memsim.suite.scenarios import ScenarioRef, Selection
from memsim.suite.shard import Shard

# `-k`: pytest's expression language over case ids.

Selector = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:(?P<paren>[()])|(?P<name>[^\s()]+))")
_WORDS = {"and", "or", "not"}
_CHANNEL = re.compile(r"l\d\d?")


def parse_expression(text: str) -> Selector:
    """Parse a `-k` expression into a test on case ids.

    Raises:
        ConfigError: it is not an expression; the column is named.
    """
    if not text.strip():
        return lambda _: True
    parser = _Parser(text)
    selector = parser.either()
    parser.finish()
    return selector


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), _Token("end", "the end", len(text) + 1)]
        self._depth = 0

    def either(self) -> Selector:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda case: any(part(case) for part in parts)

    def _both(self) -> Selector:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda case: all(part(case) for part in parts)

    def _one(self) -> Selector:
        if self._take("not"):
            inner = self._nested(self._one)
            return lambda case: not inner(case)
        if self._take("("):
            inner = self._nested(self.either)
            if not self._take(")"):
                raise self._error("a closing parenthesis")
            return inner
        token = self._tokens[0]
        if token.kind != "name":
            raise self._error("a name, not, or an opening parenthesis")
        del self._tokens[0]
        wanted = token.text.casefold()
        if _CHANNEL.fullmatch(wanted):
            whole = re.compile(rf"(?<![a-z0-9]){wanted}(?![a-z0-9])")
            return lambda case: bool(whole.search(case.casefold()))
        return lambda case: wanted in case.casefold()

    def _nested(self, parse: Callable[[], Selector]) -> Selector:
        self._depth += 1
        if self._depth > 100:
            raise ConfigError("-k: the expression is nested too deeply")
        inner = parse()
        self._depth -= 1
        return inner

    def finish(self) -> None:
        if self._tokens[0].kind != "end":
            raise self._error("and, or, or the end")

    def _take(self, kind: str) -> bool:
        if self._tokens[0].kind != kind:
            return False
        del self._tokens[0]
        return True

    def _error(self, wanted: str) -> ConfigError:
        token = self._tokens[0]
        said = f"-k {self._text!r}: at column {token.column} stands {token.text}, expected {wanted}"
        return ConfigError(said)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        word = found[0].strip()
        column = found.end() - len(word) + 1
        kind = word if found["paren"] or word in _WORDS else "name"
        tokens.append(_Token(kind, word, column))
    return tokens


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode

RECORDS = 2
"""Raise this number when a change records the same case in another way."""

JUDGE = "rules"
"""The name of scoring by rule, without a judge."""

CONTROLS = ("full_context", "no_memory", "oracle")
"""Strategies that are part of every comparison: a ceiling, a floor, and the evidence alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlan:
    """The cases of a run, in the order of their records.

    Attributes:
        fingerprints: one for each case: of its script, the strategy's source and everything else
            that its records depend on.
        fingerprint: of the plan: the digest of all of them.
        shard: which part of a run this is; None for the whole.
    """

    cases: tuple[CaseSpec, ...]
    settings: Settings
    fingerprints: tuple[str, ...]
    fingerprint: str
    shard: Shard | None = None


def resolve_strategies(
    refs: Sequence[str | StrategyRef],
    project: Project,
    *,
    controls: bool = True,
    trial: Callable[[StrategyRef, Project], None] = try_parameters,
) -> tuple[StrategyRef, ...]:
    """The strategies that refs name, without duplicates, followed by the controls.

    A strategy with parameters is made once by `trial`; others are not even loaded.

    Raises:
        RefError: a ref means nothing, or its parameters are wrong; with the line of
            `pyproject.toml` where that names it.
    """
    wanted = [*refs, *(CONTROLS if controls else ())]
    resolved = tuple(dict.fromkeys(_resolved(ref, project) for ref in wanted))
    for ref in resolved:
        trial(ref, project)
    return resolved


def _resolved(ref: str | StrategyRef, project: Project) -> StrategyRef:
    try:
        return resolve(ref, project)
    except RefError as error:
        configured = project.table.get("strategies")
        if error.path is not None or not isinstance(configured, list) or ref not in configured:
            raise
        line = project.line_of_text("strategies", str(ref))
        raise RefError(error.message, path=PYPROJECT, line=line, hint=error.hint) from None


def plan(
    settings: Settings,
    scenarios: Sequence[ScenarioRef] | Selection,
    strategies: Sequence[StrategyRef],
    k: str | None = None,
    attacked: Sequence[StrategyRef] | None = None,
    access: ModelAccess = NO_ACCESS,
) -> CasePlan:
    """Plan the cases of a run.

    Args:
        settings: budgets, repeats, seed, models, bounds.
        scenarios: what is played; a `Selection` also narrows to the cases that it names.
        strategies: what is compared, already resolved.
        k: an expression over case ids; None for all.
        attacked: which strategies channels of leakage are played against; None for all of them.
        access: how a provider's answers are come by.

    Raises:
        NoCasesError: no case is left.
        ConfigError: the expression or a bound is wrong.
        ScenarioError: a scenario's file is wrong.
    """
    reload_changed()
    selection = scenarios if isinstance(scenarios, Selection) else None
    refs = selection.scenarios if selection else tuple(scenarios)  # type: ignore[arg-type]
    chosen = parse_expression(k or "")
    cases: list[CaseSpec] = []
    errors = ErrorCollector()
    for ref in refs:
        wanted = selection.cases.get(ref) if selection else None
        played = strategies if attacked is None or ref.dataset != LEAKAGE else attacked
        found = errors.read(partial(_cases_of, ref, settings, played, access)) or ()
        cases += [
            spec for spec in found if chosen(spec.id) and (wanted is None or spec.variant in wanted)
        ]
    errors.end()
    if not cases:
        raise NoCasesError("no case is left to run" + (f" by -k {k!r}" if k else ""))
    prints = tuple(fingerprint(spec) for spec in cases)
    return CasePlan(
        cases=tuple(cases),
        settings=settings,
        fingerprints=prints,
        fingerprint=digest(list(prints)),
    )


def isolated_plan(plan: CasePlan, guarded: Iterable[Path], *, every: bool) -> CasePlan:
    """The plan with strategies in processes of their own, away from scenarios and these paths.

    Args:
        plan: of a run.
        guarded: more folders that strategies have no business with.
        every: all strategies; else those of users in channels of leakage.
    """
    places = {*guarded, builtin_folder("scenarios")}
    places |= {case.scenario.place for case in plan.cases if case.scenario.place}
    paths = tuple(sorted(places))
    cases = tuple(
        replace(case, guarded=paths)
        if every or (case.scenario.dataset == LEAKAGE and not is_built_in(case.strategy.file))
        else case
        for case in plan.cases
    )
    return replace(plan, cases=cases)


def shard_plan(plan: CasePlan, shard: Shard, gate: Sequence[str] = ()) -> CasePlan:
    """The part of a plan that one shard plays.

    Args:
        plan: the whole.
        shard: which part.
        gate: flags that the gate obeys when the shards are merged.
    """
    places = tuple(p for p, spec in enumerate(plan.cases) if shard.holds(spec.key))
    part = replace(
        shard, plan=plan.fingerprint, total=len(plan.cases), places=places, gate=tuple(gate)
    )
    return replace(
        plan,
        cases=tuple(_with_share(plan.cases[place], shard.of) for place in places),
        fingerprints=tuple(plan.fingerprints[place] for place in places),
        fingerprint=digest([plan.fingerprint, str(shard)]),
        shard=part,
    )


def _with_share(spec: CaseSpec, shards: int) -> CaseSpec:
    # Shards do not know what the others spend: each has its share, so that all keep to the limit.
    if spec.access.cap is None:
        return spec
    return replace(spec, access=replace(spec.access, cap=spec.access.cap / shards))


def _cases_of(
    ref: ScenarioRef, settings: Settings, strategies: Sequence[StrategyRef], access: ModelAccess
) -> list[CaseSpec]:
    scenario = ref.load()
    budgets = settings.budget
    if scenario.budget is not None and not settings.budget_forced:
        budgets = (scenario.budget,)
    bounds = tuple(_bounds(ref, scenario, settings))
    judge = read_judge(settings.judge).label if settings.judge else ""
    return [
        CaseSpec(
            scenario=ref,
            strategy=strategy,
            budget=budget,
            repeat=repeat,
            seed=settings.seed,
            model=settings.model,
            embedder=settings.embedder,
            tokenizer=settings.tokenizer,
            bounds=bounds,
            turns=scenario.turns,
            probes=len(scenario.probes),
            timeout=settings.timeout,
            access=access,
            judge="" if ref.dataset == LEAKAGE else judge,
        )
        for strategy, budget, repeat in product(strategies, budgets, range(settings.repeat))
    ]


def _bounds(ref: ScenarioRef, scenario: Scenario, settings: Settings) -> Iterator[MetricBound]:
    said: dict[str, tuple[str, str | None, int | None]] = {}
    for metric, text in settings.expect.items():
        said[metric] = (text, PYPROJECT, settings.expect_lines.get(metric))
    for metric, text in scenario.expect.items():
        said[metric] = (text, ref.source, scenario.expect_lines.get(metric))
    for metric, text in settings.expect_forced.items():
        said[metric] = (text, "--fail-under", None)
    if not said:
        return
    from memsim.leakage.scores import LEAK_METRICS

    leakage = ref.dataset == LEAKAGE
    known = {**METRICS, **JUDGED, **LEAK_METRICS}
    errors = ErrorCollector()
    for metric, (text, path, line) in said.items():
        bound = errors.read(partial(parse_bound, metric, text, known, path=path, line=line))
        if bound is not None and leakage == (metric in LEAK_METRICS):
            yield bound
    errors.end()


def fingerprint(spec: CaseSpec) -> str:
    """What a case's records depend on, as one sha256 in hexadecimal."""
    return digest(
        {
            "scenario": spec.scenario.load().fingerprint,
            "strategy": source_digest(spec.strategy),
            "case": spec.key,
            "seed": spec.seed,
            "model": spec.model,
            "embedder": spec.embedder,
            "tokenizer": spec.tokenizer,
            "bounds": [f"{b.metric} {b}" for b in spec.bounds],
            "records": [RECORDS, SCORING_VERSION],
        }
        | _prompted(spec)
        | ({"judge": instrument(spec.judge)} if spec.judge else {})
    )


def identity(cases: Sequence[CaseSpec]) -> dict[str, dict[str, str]]:
    """The parts that must be equal in two runs that are compared.

    Returns:
        `scenarios`: the fingerprint of each one's script, by `path::name`. `strategies`: the
        sha256 of each one's source, by ref. `instruments`: what measures, by kind.
    """
    return {
        "scenarios": {str(ref): ref.load().fingerprint for ref in _found(cases)},
        "strategies": {str(s): source_digest(s) for s in _strategies(cases)},
        "instruments": _instruments(max(cases, key=_has_judge)) if cases else {},
    }


def descriptions(cases: Sequence[CaseSpec]) -> dict[str, str]:
    """What each scenario is about, by `path::name`; one that does not say it is left out."""
    told = {str(ref): " ".join(ref.load().about.split()) for ref in _found(cases)}
    return {name: about for name, about in told.items() if about}


def _has_judge(spec: CaseSpec) -> bool:
    # Channels of leakage have none; the first case that has one tells for the run.
    return bool(spec.judge)


def _found(cases: Sequence[CaseSpec]) -> dict[ScenarioRef, None]:
    return dict.fromkeys(spec.scenario for spec in cases if spec.scenario.place is not None)


def _strategies(cases: Sequence[CaseSpec]) -> dict[StrategyRef, None]:
    return dict.fromkeys(spec.strategy for spec in cases)


def _instruments(spec: CaseSpec) -> dict[str, str]:
    return {
        "embedder": spec.embedder,
        "judge": f"{JUDGE} and {instrument(spec.judge)}" if spec.judge else JUDGE,
        "metrics": f"{SCORING_VERSION}.{RECORDS}",
        "model": spec.model,
        "tokenizer": spec.tokenizer,
    } | _prompted(spec)


def _prompted(spec: CaseSpec) -> dict[str, str]:
    """What a live model is told shapes its numbers as much as which model it is."""
    if not is_live(spec.model):
        return {}
    from memsim.models.live.task_prompts import VERSION

    return {"prompts": VERSION}


def digest(value: Mapping[str, object] | list[str]) -> str:
    """The sha256 of a JSON value, in hexadecimal."""
    return hashlib.sha256(_encode(value).encode()).hexdigest()
