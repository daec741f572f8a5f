"""Reads the questions of a LoCoMo conversation as probes, with what an audit found about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.scenario.datasets.locomo_evidence import repair_evidence
from memsim.scenario.script import Ability, Probe

if TYPE_CHECKING:
    from collections.abc import Container

    from memsim.scenario.datasets.json_file import Entry
    from memsim.scenario.datasets.locomo_audit import Finding

ASKER = "user"
"""Who asks the questions: nobody in the conversation."""

CATEGORIES: dict[int, tuple[str, Ability]] = {
    1: ("multi-hop", "multi-session"),
    2: ("temporal", "temporal"),
    3: ("open-domain", "open-domain"),
    4: ("single-hop", "recall"),
    5: ("adversarial", "abstain"),
}
"""The file's category numbers, with their names and our word for what they ask of a memory."""


WRONG = "audited-wrong"
"""The label of a gold answer, or of a citation, that an audit found wrong."""


def read_question(probe_id: str, entry: Entry, known: Container[str]) -> Probe:
    """A question as a probe.

    Args:
        probe_id: the probe's id.
        entry: the file's object.
        known: ids of the conversation's messages.

    Raises:
        ScenarioError: it is not of the schema.
    """
    number = entry.number("category")
    if number not in CATEGORIES:
        entry.reject(f"has the 'category' {number}, not 1 to {len(CATEGORIES)}")
    category, ability = CATEGORIES[number]
    unanswerable = category == "adversarial"
    tempting = unanswerable and "adversarial_answer" in entry
    probe = Probe(
        id=probe_id,
        ask=entry.text("question"),
        principal=ASKER,
        expect=() if unanswerable else (entry.printed("answer"),),
        forbid=(entry.printed("adversarial_answer"),) if tempting else (),
        unanswerable=unanswerable,
        ability=ability,
        labels={"category": category},
    )
    return _cite(probe, repair_evidence(entry.texts("evidence"), known))


def label_audited(
    probe: Probe, finding: Finding | None, known: Container[str], *, correct_evidence: bool
) -> Probe:
    """A probe of an audited file, labelled with what the audit found.

    Args:
        probe: the question.
        finding: about it; None when nothing is wrong.
        known: ids of the conversation's messages.
        correct_evidence: take the audit's evidence where it found the citation wrong.
    """
    labels = {**probe.labels, "gold": "ok", "citation": "ok"}
    if finding is None:
        return replace(probe, labels=labels)
    labels["citation" if finding.citation else "gold"] = WRONG
    labelled = replace(probe, labels=labels)
    if not (correct_evidence and finding.citation):
        return labelled
    return _cite(labelled, repair_evidence(finding.evidence, known))


def gold_is_wrong(probe: Probe) -> bool:
    """Whether an audit found the probe's gold answer wrong."""
    return probe.labels.get("gold") == WRONG


def _cite(probe: Probe, evidence: tuple[str, ...]) -> Probe:
    excluded = "" if evidence else "no valid evidence"
    return replace(probe, evidence=evidence, excluded=excluded)
