"""One session: what was said, what of it is summarised or can be recalled, and the mode's state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memsim.context import SectionName
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction import (
    CompactionState,
    Gate,
    KeepRule,
    Means,
    RollingSummary,
    SummaryRequest,
)
from memsim.memory.compaction.plan import together
from memsim.memory.compaction.summary import Summary, SummaryLine
from memsim.memory.scope import ScopedPart
from memsim.message import Message, composed, paired
from memsim.systems.cogtrix import history_file, prefix, prompts, window_fit
from memsim.systems.cogtrix.exchanges import (
    LEAST_WORDS,
    THRESHOLD,
    ExchangeIndex,
    exchanges,
    summary_input,
)
from memsim.systems.cogtrix.modes import LOOKED_AT, ModeTracker, suggested_mode
from memsim.systems.cogtrix.session_notes import (
    Note,
    distil_facts,
    iso_stamp,
    read_stamp,
    stamped_message,
    valid_facts,
)
from memsim.systems.cogtrix.settings import (
    ADDITIONS,
    BATCH,
    MAX_AGE_HOURS,
    MEANINGFUL_CHARACTERS,
    MEANINGFUL_MESSAGES,
    MODES,
    SUMMARY_TOKENS,
    UNCOVERED_TOKENS,
    CogtrixSettings,
    Mode,
    SessionServices,
)
from memsim.systems.cogtrix.window_fit import (
    SINGLE,
    estimate_tokens,
    message_content,
    trim_messages,
)

_COMMAND = re.compile(r"\s*/(?:mode|M)\s+(\w+)\s*")


class CogtrixSession(ScopedPart):
    """One conversation with its history, summary, recalled exchanges and mode.

    Wherever a window is given, it is the tokens of the model's window.
    """

    def __init__(self, settings: CogtrixSettings, works: SessionServices) -> None:
        self._settings = settings
        self._works = works
        self.mode: Mode = settings.mode
        self.messages: list[Message] = []
        self._shown: list[Message] = []
        self._undated: set[str] = set()
        self.pending: list[Message] = []
        self._ids: set[str] = set()
        self._prompts: list[str] = []
        self.state = CompactionState()
        self.exchanges = ExchangeIndex(works.embed)
        self.facts: list[Note] = []
        self._since = 0
        self.tiers = window_fit.AnswerTiers()
        self.tracked = ModeTracker(settings)
        self._rolling = RollingSummary(
            batch=BATCH,
            gate=Gate(messages=MEANINGFUL_MESSAGES, characters=MEANINGFUL_CHARACTERS),
            asking=SummaryRequest(
                limit=SUMMARY_TOKENS, checked=settings.fixed, prompt=prompts.SUMMARY
            ),
            shown=summary_input,
        )

    def hear(self, message: Message) -> None:
        """Take a message in once; it becomes part of the history when its turn is over."""
        if message.id in self._ids:
            return
        if message.role == "user":
            command = _COMMAND.fullmatch(message.text)
            if command and command[1] in MODES:
                self.switch(command[1])
                return
            if self._settings.automatic:
                self._prompts = [*self._prompts, message.text][-LOOKED_AT:]
                self.switch(suggested_mode(self.mode, self._prompts) or self.mode)
        self.pending.append(message)
        self._ids.add(message.id)

    def switch(self, mode: Mode) -> None:
        """Go on in another mode; what was said and what is tracked stays."""
        if mode != self.mode:
            self.mode = mode
            self._works.tell(f"Switched to {mode} mode")

    def end_turn(self, now: datetime, window: int) -> None:
        """Track what was said, once the reply is there, and summarise what has left the window."""
        if not self.pending:
            return
        turn, self.pending = self.pending, []
        self.messages.extend(turn)
        self._shown.extend(map(self._as_shown, turn))
        self.tracked.hear(turn, self.mode)
        if self._settings.source:
            self._age(turn, now)
        self._summarise(now)
        if self._settings.tiers:
            self._roll(window)

    @property
    def window(self) -> int:
        """Messages that are sent verbatim."""
        return self._settings.window(self.mode)

    def _as_shown(self, message: Message) -> Message:
        known = message.id not in self._undated
        return stamped_message(message, users_only=self._settings.source, known=known)

    def _summarise(self, now: datetime) -> None:
        settings = self._settings
        taken = self.messages[self.state.covered : max(0, len(self.messages) - self.window)]
        if not settings.summarization:
            if len(taken) >= BATCH and not settings.source:
                self.state = replace(self.state, covered=self.state.covered + len(taken))
                self._embed(taken)
            return
        history = tuple(self.messages[self.state.covered :])
        had_one = bool(self.state.summary.lines)
        keep = KeepRule(last=self.window, system=False, current=False, pairs=False)
        works = self._works
        means = Means(counter=works.counter, now=now, model=works.model, keep=keep)
        done = self._rolling(history, self.state, means)
        self.state = done.state
        lost = settings.source and not settings.fixed and had_one
        if done.changed:
            self._since = 0
            self._embed(taken)
        elif lost and done.outcome.kind in {"failed", "refused"}:
            # The source counts a batch as covered whatever came of it, once there is a summary.
            self.state = replace(self.state, covered=self.state.covered + len(taken))
            self._embed(taken)
        self._works.tell(done.outcome)

    def _embed(self, taken: Iterable[Message]) -> None:
        if self._settings.recalled(self.mode):
            self.exchanges.add(exchanges(taken))

    def _age(self, turn: list[Message], now: datetime) -> None:
        ends = [*(m for m in turn if m.role == "user"), turn[-1]]
        self._since += sum(window_fit.tier_tokens(message_content(m)) for m in ends)
        if self._since >= UNCOVERED_TOKENS[self.mode]:
            self._expire(now)

    def resume(self, now: datetime, window: int) -> None:
        """Take the session up again; in the source an old summary is dropped then."""
        age = now - self.state.summary.time
        old = age > timedelta(hours=MAX_AGE_HOURS)
        if self._settings.source and self.mode == "reasoning" and self.state.summary.lines and old:
            self._expire(now)
        if self._settings.tiers:
            self._roll(window)

    def _expire(self, now: datetime) -> None:
        summary = self.state.summary
        if summary.lines and self.mode == "reasoning":
            self.facts = distil_facts(summary, self._works.model, now) or self.facts
        self.state = CompactionState()
        self._since = 0

    def _roll(self, window: int) -> None:
        if len(self.messages) > self.window:
            self.tiers = window_fit.roll_tiers(self.messages, self.state.covered, window)

    def sections(
        self, text: str, window: int, now: datetime
    ) -> Iterator[tuple[SectionName, list[Message]]]:
        """Give what is sent, in order, by the section that a report files it under."""
        found = list(self._pieces(text, now))
        head = composed("system", ADDITIONS[self.mode], id="system")
        before = [prefix.prefix_message(found, now)] if found else []
        said = [*self._verbatim(window), *map(self._as_shown, self.pending)]
        trimmed = trim_messages(
            [head, *before, *said],
            window,
            final=max(len(self._current()), int(self._settings.fixed)),
            firm={prefix.ID} if self._settings.fixed else (),
            clusters=self._settings.fixed,
        )
        left = list(trimmed.messages)
        yield "system", [m for m in left if m.role == "system"]
        for message in left:
            if message.id == prefix.ID:
                if message is not before[0]:
                    yield "working", [message]
                    continue
                for layer, part in prefix.parts_by_layer(found, now):
                    yield layer, [part]
        sent = [m for m in left if m.role != "system" and m.id != prefix.ID]
        yield "window", list(paired(tuple(sent))) if self._settings.fixed else sent

    def _current(self) -> list[Message]:
        """The current input, and what was done for it so far."""
        starts = [place for place, m in enumerate(self.pending) if m.role == "user"]
        return self.pending[starts[-1] :] if starts else self.pending[-1:]

    def _verbatim(self, window: int) -> list[Message]:
        if not (self._settings.tiers and self.tiers.useful):
            if self._settings.source and self.mode == "conversation":
                return self._fitting(window)
            start = max(0, len(self._shown) - self.window)
            while self._settings.fixed and start and self._shown[start].results:
                start -= 1
            return self._shown[start:]
        summary = self.state.summary
        latest = self.messages[self.tiers.boundary :]
        before = window_fit.tier_messages(self.tiers, summary.text, summary.sources)
        return [*before, *(stamped_message(m, known=False) for m in latest)]

    def _fitting(self, window: int) -> list[Message]:
        # In conversation mode the source sends all there is, for trimming to cut: what is further
        # back than the whole window would be dropped in any case.
        start, used = len(self._shown), 0
        while start > 0 and used <= window:
            start -= 1
            used += min(estimate_tokens(message_content(self._shown[start])), SINGLE)
        return self._shown[start:]

    def _pieces(self, text: str, now: datetime) -> Iterator[prefix.PrefixPart]:
        facts = valid_facts(self.facts, now)
        return prefix.prefix_parts(
            self.state.summary, facts, self._recalled(text), self.tracked.parts(self.mode)
        )

    def _recalled(self, text: str) -> Iterable[Any]:
        settings = self._settings
        if settings.source and not settings.fixed and len(text.split()) < LEAST_WORDS:
            return ()
        threshold = THRESHOLD if settings.source else 0.0
        return self.exchanges.recall(text, settings.recalled(self.mode), threshold)

    def notes(self) -> Iterator[Note]:
        """Everything that any mode keeps track of."""
        yield from self.tracked.notes()
        yield from self.facts

    def summary_lines(self) -> tuple[SummaryLine, ...]:
        """The lines of the summary."""
        return self.state.summary.lines

    def place(self, source: str) -> int | None:
        """The place of a message in the history; None where it is not in it."""
        return next((p for p, m in enumerate(self.messages) if m.id == source), None)

    def own(self, principal: str) -> dict[str, str]:
        """The texts of what a principal said, by id, oldest first."""
        said = (*self.messages, *self.pending)
        return {m.id: m.text for m in said if m.principal == principal}

    def remove(self, ids: Iterable[str], window: int) -> tuple[str, ...]:
        """Take messages out of everything, with the calls and results that belong to them."""
        wanted = set(ids)
        log = (*self.messages, *self.pending)
        places = together(log, [p for p, m in enumerate(log) if m.id in wanted])
        gone = {log[p].id: None for p in sorted(places)}
        if not gone:
            return ()
        before = sum(1 for p in places if p < self.state.covered)
        summary = self.state.summary.without(gone)
        covered = self.state.covered - before
        self.state = replace(self.state, summary=summary, covered=covered, settled={})
        self.messages = [m for m in self.messages if m.id not in gone]
        self._ids.difference_update(gone)
        self.pending = [m for m in self.pending if m.id not in gone]
        self._shown = [m for m in self._shown if m.id not in gone]
        for cut in self.exchanges.remove(gone):
            left = (m for m in self.messages if m.id in cut.sources)
            self.exchanges.add(exchanges(left))
        self.tracked.remove(gone)
        self.facts = [f for f in self.facts if not any(i in gone for i in f.sources)]
        if self._settings.tiers:
            self.tiers = window_fit.AnswerTiers()
            self._roll(window)
        return tuple(gone)

    def save(self) -> JSON:
        summary = self.state.summary
        return {
            "history": {
                "messages": [
                    history_file.message_record(m, known=m.id not in self._undated)
                    for m in (*self.messages, *self.pending)
                ],
                "metadata": {"mode": self.mode, "pending": len(self.pending)},
            },
            "hybrid": {
                history_file.SUMMARY: summary.text,
                history_file.COVERED: self.state.covered,
                history_file.UPDATED: iso_stamp(summary.time) if summary.lines else None,
                "compaction": self.state.save(),
                "tokens_since": self._since,
                "facts": [fact.saved() for fact in self.facts],
            },
            "mode_state": {
                "mode": self.mode,
                "prompts": list(self._prompts),
                **self.tracked.save(),
            },
            "vectors": self.exchanges.save(),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over a saved state; called on an empty session. Raises StateError if it is damaged.

        Where the history has fewer messages than the summary covers, the index into it is clamped.
        Vectors of another embedder are made anew.
        """
        with reading("its session is damaged"):
            self._load_history(saved["history"])
            self._load_hybrid(saved.get("hybrid") or {})
            self._load_mode(saved.get("mode_state") or {})
            vectors = saved.get("vectors")
            known = vectors is None or self.exchanges.load(vectors)
            self.rebuilt = not known
            # The source begins with an empty index; the document's rebuild needs the past.
            if not known and not self._settings.source:
                self._embed(self.messages[: self.state.covered])

    def _load_history(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        listed = saved if isinstance(saved, list) else saved["messages"]
        metadata = {} if isinstance(saved, list) else saved.get("metadata") or {}
        for number, item in enumerate(listed, 1):
            message, known = history_file.message_of_record(item, number)
            if not known:
                self._undated.add(message.id)
            self.messages.append(message)
        self._ids = {m.id for m in self.messages}
        kept = len(self.messages) - metadata.get("pending", 0)
        self.messages, self.pending = self.messages[:kept], self.messages[kept:]
        self._shown = list(map(self._as_shown, self.messages))

    def _load_hybrid(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        if "compaction" in saved:
            self.state = CompactionState.loaded(saved["compaction"])
        elif saved.get(history_file.SUMMARY):
            lines = tuple(
                SummaryLine(line) for line in saved[history_file.SUMMARY].splitlines() if line
            )
            stamp = saved.get(history_file.UPDATED)
            summary = Summary(lines=lines, compactions=1)
            if stamp:
                summary = replace(summary, time=read_stamp(stamp))
            self.state = CompactionState(summary=summary)
        covered = saved.get(history_file.COVERED, self.state.covered)
        self.state = replace(self.state, covered=min(covered, len(self.messages)))
        self._since = saved.get("tokens_since", 0)
        self.facts = [Note.loaded(fact) for fact in saved.get("facts", ())]

    def _load_mode(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        mode = saved.get("mode", self.mode)
        if mode not in MODES:
            raise ValueError(mode)
        self.mode = mode
        self._prompts = list(saved.get("prompts", ()))
        self.tracked.load(saved)

    def close(self) -> None:
        """Release the index."""
        self.exchanges.close()
