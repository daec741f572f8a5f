"""A generated story written out, so that a person can read and edit it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memsim.clock import stamp
from memsim.heap import garbage_pause
from memsim.scenario.generator.dials import DIALS, Generate
from memsim.scenario.generator.story_script import generated_plan
from memsim.scenario.record_kinds import Named
from memsim.scenario.script_plan import (
    VERSION,
    FactNote,
    Filler,
    OpenSession,
    Plan,
    ProbeNote,
    Say,
    ToolCall,
    UseTools,
)

Written = dict[str, object]


def short_script(name: str, step: Generate) -> Written:
    """A script of the step alone, with the dials that it gives."""
    words = {
        "form": step.form,
        "language": step.language,
        "look_alike_kind": step.look_alike_kind,
        "speaker_kind": step.speaker_kind,
    }
    words = {name: word for name, word in words.items() if word}
    given: Written = {**words, **({"seed": step.seed} if step.seed else {})}
    given |= {d: getattr(step, d) for d in DIALS if getattr(step, d) is not None}
    return {
        "memsim": VERSION,
        "name": name,
        "turns": [{"generate": {"family": step.family, **given}}],
    }


@garbage_pause()
def long_script(name: str, step: Generate) -> Written:
    """The same script with every statement, session and question of the story.

    Raises:
        ScenarioError: the family has no such dial, or not so much of it.
    """
    plan = generated_plan(Plan(line=None, memsim=VERSION, name=name, turns=(step,)))
    several = {"principals": [*plan.principals]} if len(plan.principals) > 1 else {}
    return {
        "memsim": VERSION,
        "name": name,
        **several,
        "turns": list(_steps(plan)),
        "probes": {probe.name: _probe(probe.value) for probe in plan.probes},
    }


def _steps(plan: Plan) -> Iterator[Written]:
    for step in plan.turns:
        if isinstance(step, OpenSession):
            yield {"session": _session(step)}
        elif isinstance(step, Filler):
            yield {"filler": step.turns}
        elif isinstance(step, Say):
            yield {step.role: step.text, **_facts(step.facts)}
        elif isinstance(step, UseTools):
            yield from (_call(call) for call in step.value)


def _session(step: OpenSession) -> Written:
    at = {"at": stamp(step.at)} if step.at else {}
    return {"id": step.id, **({"principal": step.principal} if step.principal else {}), **at}


def _call(call: ToolCall) -> Written:
    return {
        "tool": {
            "name": call.name,
            "arguments": json.loads(call.arguments),
            "result": call.result,
            **({"characters": call.characters, "depth": call.depth} if call.characters else {}),
            **_facts(call.facts),
        }
    }


def _facts(facts: tuple[Named[FactNote], ...]) -> Mapping[str, object]:
    return {"facts": {fact.name: _fact(fact.value) for fact in facts}} if facts else {}


def _fact(note: FactNote) -> object:
    return {"value": note.value, "private": True} if note.private else note.value


def _probe(note: ProbeNote) -> Written:
    said: Written = {"ask": note.ask, "expect": _one_or_all(note.expect)}
    said |= {"not": _one_or_all(note.forbid)} if note.forbid else {}
    said |= {"ability": note.ability} if note.ability else {}
    said |= {"match": note.match} if note.match else {}
    said |= {"choices": [*note.choices]} if note.choices else {}
    said |= {"as": note.asker} if note.asker else {}
    said |= {"derived": True} if note.derived else {}
    said |= {"labels": {n.name: n.value for n in note.labels}} if note.labels else {}
    return said | ({"facts": _one_or_all(note.facts)} if note.facts else {})


def _one_or_all(values: tuple[str, ...]) -> str | list[str]:
    return values[0] if len(values) == 1 else [*values]
