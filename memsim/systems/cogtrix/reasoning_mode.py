"""Reasoning mode: objective and goals, decisions, constraints, alternatives and assumptions.

A section is shown for as long as it was touched lately; the objective is always shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, cast

from memsim.memory.codec import JSON
from memsim.message import EPOCH
from memsim.systems.cogtrix.session_notes import Note, NotePart, Notes, iso_stamp, note_part

CATEGORIES = ("business", "technical", "non_negotiables")
ICONS = {"pending": "○", "in_progress": "◐", "completed": "●", "blocked": "✗"}
SHOWN, SHOWN_FEW = 5, 3
SHOWN_RATIONALE = 50
SINGLE = ("objective", "phase", "problem", "hypothesis")
"""Sections that hold one text."""


class ReasoningState:
    """What reasoning mode knows: the latest decisions, and alternatives of which the oldest goes.

    A section that went untouched for more than `max_stale_turns` turns is not shown.
    """

    def __init__(
        self, max_decisions: int = 20, max_alternatives: int = 10, max_stale_turns: int = 3
    ) -> None:
        self._max_alternatives = max_alternatives
        self._max_stale_turns = max_stale_turns
        self.turn = 0
        self.touched: dict[str, int] = {}
        self.single: dict[str, Note] = {}
        self.goals = Notes()
        self.decisions = Notes(max_decisions)
        self.constraints = {category: Notes() for category in CATEGORIES}
        self.alternatives = Notes()
        self.dead_ends = Notes()
        self.assumptions = Notes()
        self.chain = Notes()
        self.questions = Notes()

    def set_single(self, section: str, text: str, sources: tuple[str, ...] = ()) -> None:
        """Set the objective, the current phase, the problem or the hypothesis."""
        if section not in SINGLE:
            raise ValueError(f"section is {section!r}: it is one of {', '.join(SINGLE)}")
        self.single[section] = Note(text, sources)
        self._touch(section)

    def set_objective(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Set the objective."""
        self.set_single("objective", text, sources)

    def add_goal(
        self,
        name: str,
        text: str,
        parent: str = "",
        criteria: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        """Add a goal, below another or the objective."""
        more = {"id": name, "status": "pending", "parent": parent, "criteria": "\n".join(criteria)}
        self.goals.add(text, sources, **more)
        self._touch("goals")

    def update_goal_status(self, name: str, status: str) -> None:
        """Say how far a goal is."""
        for note in self.goals:
            if note.more.get("id") == name:
                self.goals.change(note.text, status=status)
                break
        self._touch("goals")

    def add_reasoning_step(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Add a step to the chain of reasoning."""
        self.chain.add(text, sources)
        self._touch("reasoning_chain")

    def add_question(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Note an open question."""
        self.questions.add(text, sources)
        self._touch("open_questions")

    def add_alternative(
        self, name: str, status: str = "exploring", sources: tuple[str, ...] = ()
    ) -> None:
        """Note something that could be done."""
        if not self.alternatives.change(name, status=status):
            if len(self.alternatives) >= self._max_alternatives:
                self.alternatives.drop_first()
            self.alternatives.add(name, sources, status=status)
        self._touch("alternatives")

    def update_alternative(self, name: str, status: str) -> None:
        """Say what became of an alternative; that alone does not keep the section fresh."""
        self.alternatives.change(name, status=status)

    def mark_dead_end(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Note what leads nowhere; alternatives that it names lead nowhere either."""
        self.dead_ends.add(text, sources)
        for note in list(self.alternatives):
            if note.text.lower() in text.lower():
                self.alternatives.change(note.text, status="dead_end")
        self._touch("dead_ends")

    def add_assumption(self, text: str, sources: tuple[str, ...] = ()) -> None:
        """Note an assumption."""
        self.assumptions.add(text, sources)
        self._touch("assumptions")

    def log_decision(
        self,
        name: str,
        decision: str,
        rationale: str,
        now: datetime = EPOCH,
        sources: tuple[str, ...] = (),
        rejected: tuple[str, ...] = (),
    ) -> None:
        """Log a decision with its rationale."""
        self.decisions.add(
            decision,
            sources,
            id=name,
            timestamp=iso_stamp(now),
            rationale=rationale,
            alternatives_rejected="\n".join(rejected),
        )
        self._touch("decisions")

    def add_constraint(self, category: str, text: str, sources: tuple[str, ...] = ()) -> None:
        """Note a constraint; one of another category is ignored."""
        if category in self.constraints:
            self.constraints[category].add(text, sources)
            self._touch("constraints")

    def next_turn(self) -> None:
        """A turn is over."""
        self.turn += 1

    def is_fresh(self, section: str) -> bool:
        """Whether a section was touched so lately that it is shown."""
        at = self.touched.get(section)
        return at is not None and self.turn - at <= self._max_stale_turns

    def _touch(self, section: str) -> None:
        self.touched[section] = self.turn

    def parts(self) -> Iterator[NotePart]:
        """What stands before the window, in order."""
        if "objective" in self.single:
            note = self.single["objective"]
            yield note_part(f"🎯 **OBJECTIVE:** {note.text}", [note])
        for section, shown in _SHOWN:
            if self.is_fresh(section):
                yield from shown(self)

    def notes(self) -> Iterator[Note]:
        """Everything that is kept."""
        yield from self.single.values()
        for notes in self._all():
            yield from notes

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages."""
        gone = set(ids)
        kept = {s: n for s, n in self.single.items() if gone.isdisjoint(n.sources)}
        self.single = kept
        for notes in self._all():
            notes.remove(gone)

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            **{section: note.saved() for section, note in self.single.items()},
            **{name: cast("Notes", getattr(self, name)).save() for name in _LISTS},
            "constraints": {category: n.save() for category, n in self.constraints.items()},
            "_turn_count": self.turn,
            "_section_ts": dict(self.touched),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over a saved state."""
        self.single = {s: Note.loaded(saved[s]) for s in SINGLE if saved.get(s)}
        for name in _LISTS:
            cast("Notes", getattr(self, name)).load(saved.get(name))
        for category, notes in self.constraints.items():
            notes.load(saved.get("constraints", {}).get(category))
        self.turn = 0 + saved.get("_turn_count", 0)
        self.touched = {s: 0 + at for s, at in saved.get("_section_ts", {}).items()}

    def _all(self) -> Iterator[Notes]:
        for name in _LISTS:
            yield getattr(self, name)
        yield from self.constraints.values()


_LISTS = ("goals", "decisions", "alternatives", "dead_ends", "assumptions", "chain", "questions")

Shown = Callable[[ReasoningState], Iterator[NotePart]]


def _list(title: str, name: str, count: int, line: Callable[[int, Note], str]) -> Shown:
    """Show the latest notes of a list, each on a line that is told its number, from 1."""

    def shown(state: ReasoningState) -> Iterator[NotePart]:
        if notes := cast("Notes", getattr(state, name)).latest(count):
            lines = (f"  {line(number, note)}" for number, note in enumerate(notes, 1))
            yield note_part("\n".join((f"**{title}:**", *lines)), notes)

    return shown


def _single(section: str, title: str) -> Shown:
    def shown(state: ReasoningState) -> Iterator[NotePart]:
        if section in state.single:
            note = state.single[section]
            yield note_part(f"**{title}:** {note.text}", [note])

    return shown


def _constraints(state: ReasoningState) -> Iterator[NotePart]:
    shown = {c: list(notes)[:SHOWN_FEW] for c, notes in state.constraints.items() if notes}
    lines = [f"  {c.title()}: {', '.join(n.text for n in notes)}" for c, notes in shown.items()]
    if lines:
        every = (n for notes in shown.values() for n in notes)
        yield note_part("**Constraints:**\n" + "\n".join(lines), every)


def _assumptions(state: ReasoningState) -> Iterator[NotePart]:
    latest = state.assumptions.latest(SHOWN_FEW)
    if latest:
        yield note_part("**Assumptions:** " + ", ".join(n.text for n in latest), latest)


def _goal(_number: int, note: Note) -> str:
    return f"{ICONS.get(note.more.get('status', ''), ICONS['pending'])} {note.text}"


def _decision(_number: int, note: Note) -> str:
    why = note.more.get("rationale", "")
    short = why[:SHOWN_RATIONALE] + "..." if len(why) > SHOWN_RATIONALE else why
    return f"• {note.text} — {short}"


def _alternative(_number: int, note: Note) -> str:
    return f"[{note.more.get('status', 'exploring')}] {note.text}"


_SHOWN: tuple[tuple[str, Shown], ...] = (
    ("goals", _list("Goals", "goals", SHOWN, _goal)),
    ("phase", _single("phase", "Current Phase")),
    ("constraints", _constraints),
    ("problem", _single("problem", "Problem")),
    ("hypothesis", _single("hypothesis", "Hypothesis")),
    ("reasoning_chain", _list("Reasoning Chain", "chain", SHOWN, lambda i, n: f"{i}. {n.text}")),
    ("alternatives", _list("Alternatives", "alternatives", SHOWN, _alternative)),
    (
        "dead_ends",
        _list("Dead Ends (avoid)", "dead_ends", SHOWN_FEW, lambda _, n: f"✗ {n.text}"),
    ),
    ("assumptions", _assumptions),
    ("decisions", _list("Recent Decisions", "decisions", SHOWN_FEW, _decision)),
    ("open_questions", _list("Open Questions", "questions", SHOWN_FEW, lambda _, n: f"? {n.text}")),
)
