"""Twist a scenario in ways that must not change what a memory answers, or only in one direction.

A relation needs no gold answer: the twisted scenario is held against the plain one, question by
question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Final

from memsim.scenario.relations import history_twists, message_twists, name_twists, question_twists
from memsim.scenario.relations import stranger_talk as talk
from memsim.scenario.relations.relation import Events, Relation, with_events, with_probes
from memsim.scenario.relations.stranger_talk import STRANGER
from memsim.scenario.script import Ask, Probe, Scenario

__all__ = ["RELATIONS", "STRANGER", "asked_together", "changes", "twisted"]

OTHERS: Final = "others"
"""The relation that needs another conversation."""

RELATIONS: Final[Mapping[str, Relation]] = {
    "thanks": Relation(
        about="thanks stand behind the question",
        ask=partial(question_twists.behind, "Thanks a lot, have a nice day!"),
    ),
    "polite": Relation(
        about="an apology stands before the question",
        ask=partial(
            question_twists.before, "Sorry to bother you again, but could you please tell me:"
        ),
    ),
    "quick": Relation(
        about="two words stand before the question",
        ask=partial(question_twists.before, "Quick question."),
    ),
    "frame": Relation(
        about="words of no matter stand around the question", ask=question_twists.framed
    ),
    "lower_case": Relation(
        about="the question is in lower case, without its mark", ask=question_twists.in_lower_case
    ),
    "upper_case": Relation(about="the question is in capital letters", ask=str.upper),
    "marks": Relation(
        about="commas are left out, and three marks end it",
        ask=question_twists.without_inner_marks,
    ),
    "typo": Relation(
        about="two letters of its longest word change places", ask=question_twists.with_typo
    ),
    "speakers": Relation(
        about="who speaks has another name, everywhere", change=name_twists.with_other_speakers
    ),
    "entities": Relation(
        about="other names are made-up ones, everywhere", change=name_twists.with_other_entities
    ),
    "dates": Relation(about="it was 28 years earlier", change=name_twists.with_other_dates),
    "ids": Relation(
        about="messages, sessions and unnamed users have other ids",
        change=name_twists.with_other_ids,
    ),
    "sessions": Relation(
        about="sessions that share nothing change places",
        change=history_twists.with_swapped_sessions,
    ),
    "split": Relation(about="longer messages come as two", change=message_twists.split),
    "merge": Relation(about="two turns of a speaker come as one", change=message_twists.merged),
    "batch": Relation(about="a speaker's turns are told at once", change=message_twists.batched),
    "twice": Relation(
        about="every message is delivered twice",
        change=partial(with_events, message_twists.told_twice),
    ),
    "order": Relation(
        about="questions are asked from the last to the first",
        change=partial(with_events, history_twists.in_other_order),
    ),
    "restart": Relation(
        about="half-way the process restarts",
        change=partial(with_events, history_twists.restarted),
    ),
    "restarts": Relation(
        about="the process restarts eight times",
        change=partial(with_events, history_twists.often_restarted),
    ),
    "strangers": Relation(about="somebody else talks behind it all", change=talk.with_strangers),
    "strangers_first": Relation(
        about="somebody else talks before it all", change=talk.with_strangers_first
    ),
    OTHERS: Relation(about="another conversation of the dataset is told behind it all"),
    "forget": Relation(
        about="something else is said and forgotten", expected="no worse", change=talk.with_forget
    ),
    "distance": Relation(
        about="its people go on about other things",
        expected="no better",
        change=talk.with_distance,
    ),
    "updates": Relation(
        about="every fact changes once more", expected="no better", change=talk.with_updates
    ),
    "budget": Relation(about="the budget is doubled", expected="no worse", budget=2),
}
"""Every relation, by name."""

SEPARATOR: Final = "~"
"""Stands between the id of a question and the relation by which it is put otherwise."""


def twisted(scenario: Scenario, name: str, other: Scenario | None = None) -> Scenario:
    """The scenario with one relation applied.

    Args:
        scenario: the plain one.
        name: the relation.
        other: another conversation, which `others` needs.

    Raises:
        KeyError: there is no such relation.
    """
    changed = _changed(scenario, name, other)
    return replace(
        changed,
        name=f"{scenario.name}{SEPARATOR}{name}",
        play=partial(_play, scenario, name, other),
        expect={},
        fingerprint=_fingerprint(scenario, name),
    )


def _play(scenario: Scenario, name: str, other: Scenario | None, seed: int) -> Events:
    # Made anew from what can be sent to another process.
    return _changed(scenario, name, other).events(seed)


def _changed(scenario: Scenario, name: str, other: Scenario | None) -> Scenario:
    relation = RELATIONS[name]
    if name == OTHERS:
        return scenario if other is None else talk.with_others(scenario, other)
    if relation.change is not None:
        return relation.change(scenario)
    return scenario if relation.ask is None else _asked(scenario, relation)


def _asked(scenario: Scenario, relation: Relation) -> Scenario:
    return with_probes(scenario, lambda probe: _put(probe, relation))


def _put(probe: Probe, relation: Relation) -> Probe:
    return probe if relation.ask is None else replace(probe, ask=relation.ask(probe.ask))


def _fingerprint(scenario: Scenario, name: str) -> str:
    return hashlib.sha256(f"{scenario.fingerprint}{SEPARATOR}{name}".encode()).hexdigest()


def changes(plain: Scenario, changed: Scenario) -> bool:
    """Whether a twisted scenario differs from the plain one at all."""
    return any(a != b for a, b in zip_longest(plain.events(0), changed.events(0)))


# Questions cost little beside the history before them, so that all their twists share one.


def asked_together(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario whose questions are also put in the words of these relations, at once.

    A question in other words has the id `probe~relation`. A context changes nothing in a memory, so
    that each is answered as if it were asked alone.
    """
    return replace(
        scenario,
        name=f"{scenario.name}{SEPARATOR}{'+'.join(names)}",
        play=partial(_play_together, scenario, tuple(names)),
        probes=tuple(v for probe in scenario.probes for v in _variants(probe, names)),
        expect={},
        fingerprint=_fingerprint(scenario, "+".join(names)),
    )


def _play_together(scenario: Scenario, names: Sequence[str], seed: int) -> Events:
    for event in scenario.events(seed):
        if isinstance(event, Ask):
            for probe in _variants(event.probe, names):
                yield replace(event, probe=probe)
        else:
            yield event


def _variants(probe: Probe, names: Sequence[str]) -> tuple[Probe, ...]:
    others = (
        replace(_put(probe, RELATIONS[name]), id=f"{probe.id}{SEPARATOR}{name}") for name in names
    )
    return (probe, *others)
