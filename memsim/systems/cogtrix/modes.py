"""What the modes keep track of: each its own, for as long as the session lasts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from memsim.language.text import content, sentences
from memsim.memory.codec import JSON
from memsim.message import Message
from memsim.models.offline.statements import sentence
from memsim.systems.cogtrix.code_mode import CodeState
from memsim.systems.cogtrix.reasoning_mode import ReasoningState
from memsim.systems.cogtrix.session_notes import Note, NotePart, Notes
from memsim.systems.cogtrix.settings import CogtrixSettings, Mode
from memsim.systems.cogtrix.window_fit import message_content

# What a mode tracks of itself: tasks, goals, decisions and so on, told from how they are said.

LONGEST = 160
"""Characters of what is noted."""

_FIRST = r"(?:(?:please|now|next|then|ok(?:ay)?|so)[,:]?\s+)*"
_TASK = re.compile(
    rf"^{_FIRST}(?:(?:can|could|would) you\s+)?(?:please\s+)?"
    r"((?:fix|implement|add|refactor|debug|write|build|migrate|update"
    r"|rename|remove|investigate|find out|make)\b.+)",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^(?:(?:ok(?:ay)?|done|right|so)[,.:]?\s+)?(?:(?:I|we)(?:'ve| have|'ve now)?\s+(?:just\s+)?)?"
    r"((?:fixed|added|implemented|modified|updated|identified|found|refactored|removed|wrote"
    r"|created|renamed|reproduced|reverted|patched|changed)\b.+)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"^(?:modified|updated|created|changed|patched|renamed|added)\b", re.IGNORECASE
)
_BLOCKER = re.compile(
    r"\b(?:blocked (?:by|on)|waiting for|cannot proceed until)\s+(.+)", re.IGNORECASE
)

_OBJECTIVE = re.compile(
    r"\b(?:(?:our|my|the)\s+(?:main\s+|overall\s+|primary\s+)?(?:goal|objective|aim)\s+(?:is|:)"
    r"|(?:goal|objective):)\s*(?:to\s+)?(.+)",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\b(?:sub-?goal|milestone|to-?do|step \d+)\s*(?:\d+\s*)?(?:is|:)\s*(.+)", re.IGNORECASE
)
_PHASE = re.compile(
    r"\b(?:phase)\s*(?:is|:)\s*(.+)|\b(?:in|into|enter) the (\w+) phase\b", re.IGNORECASE
)
_DECISION = re.compile(
    r"(?:\bdecision:|\b(?:I|we)(?:'ve|'ll| have| will)?\s+(?:decided?|decide)\s+(?:to|on|for|that)"
    r"|\b(?:let's|we(?:'ll| will)?|I(?:'ll| will)?)\s+(?:go|going) with"
    r"|\b(?:we|I)\s+(?:chose|choose|pick(?:ed)?|settled? on|agreed? on))\s*(.+)",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"[,;]?\s+(?:because|since|as it|so that|rationale:)\s+(.+)", re.IGNORECASE)
_CONSTRAINT = re.compile(
    r"\bconstraint\b|\bbudget is\b|\bdeadline is\b|\bat most\b|\bno more than\b|\bmust\b"
    r"|\bcan(?:no|')t exceed\b|\bnon-negotiable\b|\bteam (?:is|of)\b|\btimeline\b|\bnever\b",
    re.IGNORECASE,
)
_FIRM = re.compile(r"\bmust\b|\bnever\b|\bnon-negotiable\b", re.IGNORECASE)
_BUSINESS = re.compile(
    r"budget|deadline|timeline|team|cost|price|month|week|quarter|[$€£]\s?\d", re.IGNORECASE
)
_ALTERNATIVE = re.compile(
    r"\b(?:option(?:\s+(?:\w|\d+))?|alternative)\s*(?::|is)\s*(.+)"
    r"|\b(?:we could|alternatively,?(?: we could)?|consider(?:ing)?)\s+(.+)",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:ruled? out|reject(?:ed)?|dead end|won't work|not an option)\b", re.IGNORECASE
)
_ASSUMPTION = re.compile(r"\bassum(?:e|ing|ption)(?:\s+is)?(?:\s+that|:)?\s+(.+)", re.IGNORECASE)


def track_code(
    state: CodeState, text: str, sources: tuple[str, ...], now: datetime, *, user: bool
) -> None:
    """Note the task that a user sets, and the steps that an assistant tells of."""
    for said in _sentences(text):
        if user:
            task = _TASK.match(said)
            if task and not said.endswith("?"):
                state.set_task(_short(task[1]), now, sources)
        elif step := _STEP.match(said):
            state.add_progress(_short(step[1]), sources)
            if _CHANGE.match(step[1]):
                state.record_change(_short(step[1]), now, sources)
        if blocker := _BLOCKER.search(said):
            state.add_blocker(_short(blocker[1]), sources)


def track_reasoning(
    state: ReasoningState, text: str, sources: tuple[str, ...], now: datetime
) -> None:
    """Note objective, goals, decisions, constraints, alternatives and assumptions."""
    for said in _sentences(text):
        if said.endswith("?"):
            continue
        _track_aims(state, said, sources)
        if found := _DECISION.search(said):
            decision, why = _parted(found[1])
            state.log_decision(f"D{len(state.decisions) + 1}", decision, why, now, sources)
        elif _REJECTED.search(said):
            state.mark_dead_end(_short(said), sources)
        elif _CONSTRAINT.search(said):
            state.add_constraint(_category(said), _short(said), sources)
        elif found := _ALTERNATIVE.search(said):
            state.add_alternative(_short(found[1] or found[2]), sources=sources)
        if found := _ASSUMPTION.search(said):
            state.add_assumption(_short(found[1]), sources)


def _track_aims(state: ReasoningState, said: str, sources: tuple[str, ...]) -> None:
    if found := _OBJECTIVE.search(said):
        state.set_objective(_short(found[1]), sources)
    elif found := _GOAL.search(said):
        state.add_goal(f"G{len(state.goals) + 1}", _short(found[1]), sources=sources)
    if found := _PHASE.search(said):
        state.set_single("phase", _short(found[1] or found[2]), sources)


def _category(said: str) -> str:
    if _BUSINESS.search(said):
        return "business"
    return "non_negotiables" if _FIRM.search(said) else "technical"


def _parted(text: str) -> tuple[str, str]:
    reason = _BECAUSE.search(text)
    if reason is None:
        return _short(text), ""
    return _short(text[: reason.start()]), _short(reason[1])


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from sentences(line)


def _short(text: str) -> str:
    return text.strip().rstrip(".!;,")[:LONGEST]


# Which mode suits what a user asks for, told from its words alone.

LONG_PROMPT = 500
"""Characters beyond which a prompt without code is taken for reasoning."""
LOOKED_AT = 3
AGREEING = 2

_VERBS = (
    "analyse analyze design plan architect investigate research compare evaluate strategy tradeoff"
    " tradeoffs explain reason reasoning implication implications consequence consequences assess"
    " critique brainstorm blueprint outline"
)
_TERMS = (
    "refactor debug compile traceback stacktrace breakpoint NameError TypeError ValueError"
    " IndexError KeyError AttributeError RuntimeError ImportError SyntaxError StopIteration OSError"
    " NullPointerException RuntimeException NullReferenceException pytest unittest jest mocha rspec"
    " jasmine vitest npm pip cargo gradle webpack vite dockerfile python javascript typescript"
    " golang kotlin swift haskell scala nodejs fastapi django flask express function method"
    " algorithm codebase repository variable parameter endpoint api implement lint deploy"
)
_SUFFIXES = (
    "py js ts jsx tsx go rs java cpp cc c h rb php cs swift kt sh bash yaml yml json toml sql html"
    " css scss vue svelte dart lua ex exs"
)


def _any_of(words: str) -> str:
    return "|".join(words.split())


_REASONING = re.compile(rf"\b(?:{_any_of(_VERBS)})\b", re.IGNORECASE)
_CODE = (
    re.compile(r"`{3}"),
    re.compile(r"^    \S", re.MULTILINE),
    re.compile(rf"\b\w+\.(?:{_any_of(_SUFFIXES)})\b", re.IGNORECASE),
    # The word's end is asked for after one letter: `def f` counts, and `def run` does not.
    re.compile(rf"\b(?:(?:def|class|import)\s+\w|{_any_of(_TERMS)})\b", re.IGNORECASE),
)


def classify(prompt: str) -> Mode:
    """The mode that suits a prompt."""
    if not prompt.strip():
        return "conversation"
    code = any(pattern.search(prompt) for pattern in _CODE)
    if _REASONING.search(prompt) or (len(prompt) > LONG_PROMPT and not code):
        return "reasoning"
    return "code" if code else "conversation"


def suggested_mode(mode: Mode, prompts: Sequence[str]) -> Mode | None:
    """Give another mode that two of the last three prompts ask for; None to stay."""
    asked = [classify(prompt) for prompt in prompts[-LOOKED_AT:]]
    candidates: tuple[Mode, ...] = ("code", "reasoning", "conversation")
    return next((c for c in candidates if c != mode and asked.count(c) >= AGREEING), None)


# Conversation mode: topics, entities and key facts of what is talked about.

TOPICS, ENTITIES, FACTS = 10, 50, 50
"""How many of each are kept."""

_NAME = re.compile(r"(?<=[^\s.!?:][ ])[A-Z][\w\-]*[a-z0-9][\w\-]*(?: [A-Z][\w\-]*[a-z0-9][\w\-]*)*")
_COUNTED = 2000
"""Words whose mentions are counted; the rarest are left out then."""


class TalkState:
    """What conversation mode knows."""

    def __init__(self) -> None:
        self.entities = Notes(ENTITIES)
        self.facts = Notes(FACTS)
        self._mentions: dict[str, int] = {}
        self._sources: dict[str, tuple[str, ...]] = {}

    @property
    def topics(self) -> list[Note]:
        """What is talked about most, the most mentioned first."""
        best = sorted(self._mentions, key=lambda word: (-self._mentions[word], word))[:TOPICS]
        return [Note(word, self._sources[word]) for word in best]

    def hear(self, text: str, sources: tuple[str, ...], *, user: bool) -> None:
        """Take in what somebody says."""
        for line in text.splitlines():
            for said in sentences(line):
                for word in content(said):
                    self._count(word, sources)
                for name in _NAME.findall(said):
                    self.entities.add_once(name, sources)
                meant = sentence(said)
                if user and meant.first and not meant.question:
                    self.facts.add_once(said, sources)
        if len(self._mentions) > _COUNTED:
            self._forget_rare()

    def notes(self) -> Iterator[Note]:
        """Everything that is kept."""
        yield from self.topics
        yield from self.entities
        yield from self.facts

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages."""
        gone = set(ids)
        self.entities.remove(gone)
        self.facts.remove(gone)
        for word in [w for w, seen in self._sources.items() if not gone.isdisjoint(seen)]:
            del self._sources[word], self._mentions[word]

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "entities": self.entities.save(),
            "key_facts": self.facts.save(),
            "topics": {
                word: {"mentions": self._mentions[word], "sources": list(self._sources[word])}
                for word in sorted(self._mentions)
            },
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over a saved state."""
        self.entities.load(saved.get("entities"))
        self.facts.load(saved.get("key_facts"))
        topics = saved.get("topics", {})
        self._mentions = {word: 0 + said["mentions"] for word, said in topics.items()}
        self._sources = {word: tuple(said["sources"]) for word, said in topics.items()}

    def _count(self, word: str, sources: tuple[str, ...]) -> None:
        self._mentions[word] = self._mentions.get(word, 0) + 1
        # The latest mentions stand for all: a topic is no quotation.
        self._sources[word] = (*self._sources.get(word, ()), *sources)[-3:]

    def _forget_rare(self) -> None:
        kept = sorted(self._mentions, key=lambda word: (-self._mentions[word], word))
        for word in kept[_COUNTED // 2 :]:
            del self._mentions[word], self._sources[word]


class ModeTracker:
    """The states of all modes, of which one at a time takes in what is said."""

    def __init__(self, settings: CogtrixSettings) -> None:
        self._settings = settings
        self.talk = TalkState()
        self.code = CodeState(settings.max_files, settings.max_errors, fixed=settings.fixed)
        self.reasoning = ReasoningState(
            settings.max_decisions, settings.max_alternatives, settings.prefix_max_stale_turns
        )

    def hear(self, turn: Sequence[Message], mode: Mode) -> None:
        """Take in a turn: what users said in it, and the final answer."""
        users = [m for m in turn if m.role == "user"]
        answers = [m for m in turn if m.role == "assistant" and m.spoken.strip()][-1:]
        if mode == "code":
            self._hear_code(users, answers)
            if self._settings.fixed:
                for message in turn:
                    if message.role == "tool":
                        self.code.find_errors(message_content(message), (message.id,))
        elif mode == "reasoning":
            self.reasoning.next_turn()
        if not self._settings.source:
            for message in users + answers:
                self._hear_cues(message, mode)

    def _hear_code(self, users: list[Message], answers: list[Message]) -> None:
        for message in users + answers:
            self.code.find_files(message.spoken, message.time, (message.id,))
        for message in users:
            self.code.find_errors(message.spoken, (message.id,))

    def _hear_cues(self, message: Message, mode: Mode) -> None:
        text, sources, user = message.spoken, (message.id,), message.role == "user"
        if mode == "code":
            track_code(self.code, text, sources, message.time, user=user)
        elif mode == "reasoning":
            track_reasoning(self.reasoning, text, sources, message.time)
        else:
            self.talk.hear(text, sources, user=user)

    def parts(self, mode: Mode) -> Iterator[NotePart]:
        """What a mode shows before the window."""
        if mode == "code":
            yield from self.code.parts()
        elif mode == "reasoning":
            yield from self.reasoning.parts()

    def notes(self) -> Iterator[Note]:
        """Everything that any mode keeps."""
        yield from self.talk.notes()
        yield from self.code.notes()
        yield from self.reasoning.notes()

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages."""
        gone = set(ids)
        for state in (self.talk, self.code, self.reasoning):
            state.remove(gone)

    def save(self) -> dict[str, JSON]:
        """The state of each mode as JSON values."""
        return {
            "conversation": self.talk.save(),
            "code": self.code.save(),
            "reasoning": self.reasoning.save(),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over saved states."""
        self.talk.load(saved.get("conversation") or {})
        self.code.load(saved.get("code") or {})
        self.reasoning.load(saved.get("reasoning") or {})
