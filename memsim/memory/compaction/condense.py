"""Condensing stretches of a history into one message each, which stands where they stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING, Literal

from memsim.context import escaped, fenced
from memsim.language.graphemes import head
from memsim.memory.compaction.blobs import Referring, reference_of, stored
from memsim.memory.compaction.outcome import SummaryAttempt
from memsim.memory.compaction.plan import plan
from memsim.memory.compaction.prompt import SummaryRequest, ask
from memsim.memory.compaction.step import (
    Compaction,
    CompactionState,
    Means,
    changed,
    declined,
    is_settled,
    settled,
    unchanged,
)
from memsim.memory.compaction.summary import Lineage, Summary, SummaryLine, absorb_reply, originals
from memsim.message import Text, ToolResult, ToolUse, composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memsim.memory.compaction.plan import CompactionPlan
    from memsim.memory.compaction.step import History
    from memsim.message import Message

    Region = tuple[int, ...]
    Select = Callable[[History, CompactionPlan], list[Region]]
    from memsim.message import Block, Role

    Fallback = Callable[[History], str]


# Which stretches of a history to condense into one message each, as designs choose them.


def oldest(_history: History, planned: CompactionPlan) -> list[Region]:
    """All that may be taken, as one stretch."""
    return [planned.taken] if planned.taken else []


def tool_runs(more_than: int = 6) -> Select:
    """Stretches of more than so many messages that only call tools and answer these calls."""

    def select(history: History, planned: CompactionPlan) -> list[Region]:
        units = planned.units()
        runs = groupby(units, key=lambda unit: all(_is_tool(history[p]) for p in unit))
        found = [tuple(p for unit in run for p in unit) for is_tool, run in runs if is_tool]
        return [run for stretch in found for run in _unbroken(stretch) if len(run) > more_than]

    return select


def large(over: int = 5 * 1024) -> Select:
    """Each message of its own, no tool's, that has more than so many characters."""

    def select(history: History, planned: CompactionPlan) -> list[Region]:
        alone = (unit for unit in planned.units() if len(unit) == 1)
        return [unit for unit in alone if len(history[unit[0]].text) > over]

    return select


def earlier_rounds(history: History, planned: CompactionPlan) -> list[Region]:
    """What follows each user's message up to the last word before the next, where it is more."""
    users = [p for p, m in enumerate(history) if m.role == "user"]
    rounds = pairwise(users)
    return _whole((range(first + 1, after) for first, after in rounds), planned, least=2)


def current_round(history: History, planned: CompactionPlan) -> list[Region]:
    """What follows the latest user's message."""
    users = [p for p, m in enumerate(history) if m.role == "user"]
    after = users[-1] + 1 if users else 0
    return _whole([range(after, len(history))], planned, least=1)


def whole_only(regions: Iterable[Region], planned: CompactionPlan) -> Iterator[Region]:
    """The stretches that can be taken: of each group all that is not held, or nothing."""
    unit_of = {place: unit for unit in planned.units() for place in unit}
    for region in regions:
        members = frozenset(region)
        if region and all(p in unit_of and members.issuperset(unit_of[p]) for p in region):
            yield region


def _whole(stretches: Iterable[range], planned: CompactionPlan, least: int) -> list[Region]:
    units = planned.units()
    found: list[Region] = []
    at = 0
    for stretch in stretches:
        places: list[int] = []
        while at < len(units) and units[at][0] < stretch.start:
            at += 1
        while at < len(units) and units[at][-1] < stretch.stop:
            places.extend(units[at])
            at += 1
        if len(places) >= least:
            found.append(tuple(places))
    return found


def _unbroken(places: Sequence[int]) -> list[Region]:
    runs = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    return [tuple(place for _, place in run) for _, run in runs]


def _is_tool(message: Message) -> bool:
    return message.role == "tool" or bool(message.calls or message.results)


# Who a composed message speaks as: what users said never gains authority by being summarised.


Voice = Literal["user", "assistant", "least", "system"]
"""Who a summary speaks as.

`user`: as the user, or as the assistant where no user's words are in it. `assistant`: always so.
`least`: as the user where nobody else's words are in it, otherwise as the assistant. `system`:
above its sources, as some published designs have it; only to measure these.
"""

AUTHORITY: dict[Role, int] = {"tool": 0, "assistant": 1, "user": 2, "system": 3}


def speaker(voice: Voice, sources: Iterable[Role]) -> Role:
    """The role of a message that was made from messages of these roles."""
    if voice in {"assistant", "system"}:
        return "system" if voice == "system" else "assistant"
    ranks = [AUTHORITY[role] for role in sources]
    most = min(ranks, default=0) if voice == "least" else max(ranks, default=0)
    return "user" if most >= AUTHORITY["user"] else "assistant"


def summary_message(state: CompactionState, voice: Voice = "user") -> Message | None:
    """The rolling summary as a message; None while there is none."""
    if not state.summary.lines:
        return None
    return composed(
        speaker(voice, state.voices),
        fenced("summary", state.summary.text),
        id=f"summary:{state.summary.compactions}",
        derived_from=state.summary.sources,
        time=state.summary.time,
    )


FORM = "<summary>\n{text}\n</summary>"
REFERRING = "<summary>\n{text}\n</summary>\n{reference}"
"""A form that says where the messages themselves are."""

BEGINNING = 24
"""Characters of a message by which it is found in a fallback's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condense:
    """Puts one message in the place of each chosen stretch.

    Attributes:
        select: chooses the stretches.
        asking: how the model is asked; a summary of each stretch is one request.
        regions: so many stretches at a time, the oldest first.
        least: tokens below which a stretch is left alone.
        fallback: a text for a stretch of which the model gave no summary; a pure function of its
            messages. None leaves the stretch as it was.
        form: the message, with `text`, `count` of messages, and `reference` where `offload` is set.
        voice: who it speaks as.
        escape: take delimiters in the text apart. Switching it off is for measuring designs that
            do without it.
        offload: keep the messages themselves as a blob.
        reference: how the message refers to the blob.
        lead: so many messages before each stretch are read, counted and kept with it, and stay.
        in_place: stretches are single messages whose words are replaced: role, calls and place
            stay, and so does a result's call, so that a large result can be condensed.
        onwards: the oldest stretch is asked about first; otherwise the newest.
        label: what ids of composed messages begin with.
        shown: what the model is given of the messages; None for all of it.
        longest: characters of the text beyond which it is cut; None for no such limit.
        last: so many of the latest messages stay; None for as many as the means say.
    """

    select: Select = oldest
    asking: SummaryRequest = field(default_factory=SummaryRequest)
    regions: int = 1
    least: int = 0
    fallback: Fallback | None = None
    form: str = FORM
    voice: Voice = "user"
    escape: bool = True
    offload: bool = False
    reference: Referring = reference_of
    lead: int = 0
    in_place: bool = False
    onwards: bool = False
    label: str = "condensed"
    shown: Callable[[History], History] | None = None
    longest: int | None = None
    last: int | None = None
    name: str = "condense"

    def __call__(self, history: History, state: CompactionState, means: Means) -> Compaction:
        """Condense stretches, as `Step` has it.

        Raises `ValueError` if there is no model, or nowhere to keep what is offloaded. Raises
        `StoreError` if it could not be kept.
        """
        if self.offload and means.blobs is None:
            raise ValueError("offloading needs somewhere to keep what is offloaded")
        means = means.keeping(self.last)
        chosen = self._chosen(history, means)
        if not chosen:
            return unchanged(self.name, history, state, means, "no stretch is to be condensed")
        if self.asking.checked and is_settled(self.name, state, history):
            reason = "nothing has come since the last attempt"
            return unchanged(self.name, history, state, means, reason)
        calls, now, detail = 0, (history, state), ""
        sources: tuple[str, ...] = ()
        gone = 0
        for region in chosen if self.onwards else reversed(chosen):
            done = self._one(tuple(place - gone for place in region), *now, means)
            calls += done.outcome.calls
            detail = done.outcome.detail or detail
            now = (done.history, done.state)
            if not done.changed:
                break
            gone += len(region) - 1 if self.onwards else 0  # earlier places stay what they are
            sources = (*done.outcome.sources, *sources)
        if not sources:
            return replace(done, outcome=replace(done.outcome, calls=calls))
        after = (now[0], settled(self.name, now[1], now[0]))
        return changed(
            self.name,
            (history, state),
            after,
            means,
            sources,
            detail=detail,
            calls=calls,
            smaller=self.asking.checked,
        )

    def _chosen(self, history: History, means: Means) -> list[Region]:
        planned = plan(history, means.keep, means.counter)
        large = (
            region
            for region in whole_only(self.select(history, planned), planned)
            if means.counter.messages(history[p] for p in self._read(region)) >= self.least
        )
        return list(islice(large, self.regions))

    def _read(self, region: Region) -> Region:
        return (*range(max(0, region[0] - self.lead), region[0]), *region)

    def _one(
        self, region: Region, history: History, state: CompactionState, means: Means
    ) -> Compaction:
        taken = tuple(history[place] for place in self._read(region))
        sources = tuple(history[place].id for place in region)
        given = taken if self.shown is None else self.shown(taken)
        if not given:
            reason = "the model would be shown nothing"
            return unchanged(self.name, history, state, means, reason)
        asked = ask(given, "", self.asking, means)
        ids = {m.id for m in taken}
        beside = tuple(m for m in given if m.composed and m.id not in ids)
        text, lines, credited = self._text(asked, taken, beside, state, means)
        if not text and (asked.reply is None or self.asking.checked):
            return declined(self.name, history, state, means, asked, sources)
        failed = asked.reply is None
        made = self._state(state, taken, sources, lines, failed=failed)
        length = sum(len(m.text) for m in taken)
        where = self.reference(stored(taken), length) if self.offload else ""
        message = composed(
            speaker(self.voice, (m.role for m in taken)),
            self._formed(text, len(taken), where),
            id=self._id(taken, made.made),
            derived_from=credited,
            time=taken[-1].time,
        )
        if self.in_place:
            message = reworded(taken[-1], message)
        members = frozenset(region)
        left = tuple(
            message if place == region[-1] else m
            for place, m in enumerate(history)
            if place == region[-1] or place not in members
        )
        detail = f"without a model: {asked.detail}" if failed else ""
        done = changed(
            self.name,
            (history, state),
            (left, made),
            means,
            sources,
            detail=detail,
            calls=asked.calls,
            smaller=self.asking.checked,
        )
        if not done.changed:
            grown = SummaryAttempt(
                reply=None, kind="refused", detail=done.outcome.detail, calls=asked.calls
            )
            return declined(self.name, history, state, means, grown, sources)
        if self.offload and means.blobs is not None:
            means.blobs.put(stored(taken))
        return done

    def _text(
        self,
        asked: SummaryAttempt,
        taken: History,
        beside: History,
        state: CompactionState,
        means: Means,
    ) -> tuple[str, tuple[SummaryLine, ...], tuple[str, ...]]:
        if asked.reply is not None:
            read = (*beside, *taken)
            told = absorb_reply(asked.reply, read, Summary(), means.now, state.told)
            known = told.lines if asked.reply.line_sources is not None else ()
            return self._cut(asked.reply.text), known, told.sources
        text = "" if self.fallback is None else self._cut(self.fallback(taken))
        # A fallback does not say what it shows: credited is what can be seen to begin in it.
        begun = (m for m in taken if m.text.strip() and m.text.strip()[:BEGINNING] in text)
        return text, (), tuple(dict.fromkeys(i for m in begun for i in originals(m)))

    def _cut(self, text: str) -> str:
        text = text.strip() if self.asking.checked else text
        return text if self.longest is None else head(text, self.longest)

    def _id(self, taken: History, made: int) -> str:
        return taken[-1].id if self.in_place else f"{self.label}:{made}"

    def _formed(self, text: str, count: int, where: str) -> str:
        shown = escaped(text) if self.escape else text
        framed = self.form.replace("{count}", str(count)).replace("{reference}", where)
        return framed.replace("{text}", shown)

    def _state(
        self,
        state: CompactionState,
        taken: History,
        replaced: tuple[str, ...],
        lines: tuple[SummaryLine, ...],
        *,
        failed: bool,
    ) -> CompactionState:
        made = state.made + 1
        id_ = self._id(taken, made)
        gone = {m.id for m in taken if m.composed and m.id in replaced}
        behind = {made: ids for made, ids in state.behind.items() if made not in gone}
        told = {made: lines for made, lines in state.told.items() if made not in gone}
        if lines:
            told[id_] = lines
        known = (state.behind.get(m.id, Lineage()) for m in taken)
        behind[id_] = Lineage(
            *(Lineage(*originals(m), o) for m, o in zip(taken, known, strict=True))
        )
        failures = state.failures + 1 if failed else 0
        return replace(state, made=made, behind=behind, told=told, failures=failures)


def reworded(message: Message, told: Message) -> Message:
    """A message in other words: its first result or text is replaced, and its calls stay."""
    blocks: list[Block] = []
    answers = bool(message.results)
    said = False
    for block in message.blocks:
        if isinstance(block, ToolUse):
            blocks.append(block)
        elif not said and isinstance(block, ToolResult) == answers:
            blocks.append(replace(block, text=told.text))
            said = True
    if not said:
        blocks.insert(0, Text(told.text))
    derived = told.derived_from
    return replace(message, blocks=tuple(blocks), derived_from=derived, quotes=(), composed=True)
