"""Condensing stretches of a history into one message each, which stands where they stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from memsim.memory.compaction.asking import Asked, Asking, ask
from memsim.memory.compaction.blobs import reference, stored
from memsim.memory.compaction.fences import escaped
from memsim.memory.compaction.graphemes import head
from memsim.memory.compaction.keeping import plan
from memsim.memory.compaction.regions import oldest, whole_only
from memsim.memory.compaction.shape import (
    Compaction,
    Means,
    State,
    changed,
    declined,
    is_settled,
    settled,
    unchanged,
)
from memsim.memory.compaction.speaking import Voice, speaker
from memsim.memory.compaction.summary import Summary, absorbed, originals
from memsim.message import composed

if TYPE_CHECKING:
    from memsim.memory.compaction.regions import Region, Select
    from memsim.memory.compaction.shape import History

    Fallback = Callable[[History], str]

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
        shown: what the model is given of the messages; None for all of it.
        longest: characters of the text beyond which it is cut; None for no such limit.
        last: so many of the latest messages stay; None for as many as the means say.
    """

    select: Select = oldest
    asking: Asking = field(default_factory=Asking)
    regions: int = 1
    least: int = 0
    fallback: Fallback | None = None
    form: str = FORM
    voice: Voice = "user"
    escape: bool = True
    offload: bool = False
    shown: Callable[[History], History] | None = None
    longest: int | None = None
    last: int | None = None
    name: str = "condense"

    def __call__(self, history: History, state: State, means: Means) -> Compaction:
        """Condense stretches, as `Step` has it.

        Raises:
            ValueError: there is no model, or nowhere to keep what is offloaded.
            StoreError: it could not be kept.
        """
        if self.offload and means.blobs is None:
            raise ValueError("offloading needs somewhere to keep what is offloaded")
        means = means.keeping(self.last)
        chosen = self._chosen(history, means)
        if not chosen:
            return unchanged(self.name, history, state, means, "no stretch is to be condensed")
        if is_settled(self.name, state, history):
            reason = "nothing has come since the last attempt"
            return unchanged(self.name, history, state, means, reason)
        calls, now, detail = 0, (history, state), ""
        sources: tuple[str, ...] = ()
        for region in reversed(chosen):  # the places of earlier ones stay what they are
            done = self._one(region, *now, means)
            calls += done.outcome.calls
            detail = done.outcome.detail or detail
            now = (done.history, done.state)
            if not done.changed:
                break
            sources = (*done.outcome.sources, *sources)
        if not sources:
            return replace(done, outcome=replace(done.outcome, calls=calls))
        after = (now[0], settled(self.name, now[1], now[0]))
        return changed(
            self.name, (history, state), after, means, sources, detail=detail, calls=calls
        )

    def _chosen(self, history: History, means: Means) -> list[Region]:
        planned = plan(history, means.keep, means.counter)
        large = (
            region
            for region in whole_only(self.select(history, planned), planned)
            if means.counter.messages(history[p] for p in region) >= self.least
        )
        return list(islice(large, self.regions))

    def _one(self, region: Region, history: History, state: State, means: Means) -> Compaction:
        taken = tuple(history[place] for place in region)
        sources = tuple(m.id for m in taken)
        given = taken if self.shown is None else self.shown(taken)
        if not given:
            reason = "the model would be shown nothing"
            return unchanged(self.name, history, state, means, reason)
        asked = ask(given, "", self.asking, means)
        text, credited = self._text(asked, taken, means)
        if not text:
            return declined(self.name, history, state, means, asked, sources)
        failed = asked.reply is None
        made = self._state(state, taken, failed=failed)
        id_ = f"condensed:{made.made}"
        where = reference(stored(taken), taken) if self.offload else ""
        message = composed(
            speaker(self.voice, (m.role for m in taken)),
            self._formed(text, len(taken), where),
            id=id_,
            derived_from=credited,
            time=taken[-1].time,
        )
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
        )
        if not done.changed:
            grown = Asked(reply=None, kind="refused", detail=done.outcome.detail, calls=asked.calls)
            return declined(self.name, history, state, means, grown, sources)
        if self.offload and means.blobs is not None:
            means.blobs.put(stored(taken))
        return done

    def _text(self, asked: Asked, taken: History, means: Means) -> tuple[str, tuple[str, ...]]:
        if asked.reply is not None:
            told = absorbed(asked.reply, taken, Summary(), means.now)
            return self._cut(asked.reply.text), told.sources
        text = "" if self.fallback is None else self._cut(self.fallback(taken))
        # A fallback does not say what it shows: credited is what can be seen to begin in it.
        begun = (m for m in taken if m.text.strip() and m.text.strip()[:BEGINNING] in text)
        return text, tuple(dict.fromkeys(i for m in begun for i in originals(m)))

    def _cut(self, text: str) -> str:
        text = text.strip()
        return text if self.longest is None else head(text, self.longest)

    def _formed(self, text: str, count: int, where: str) -> str:
        shown = escaped(text) if self.escape else text
        framed = self.form.replace("{count}", str(count)).replace("{reference}", where)
        return framed.replace("{text}", shown)

    def _state(self, state: State, taken: History, *, failed: bool) -> State:
        made = state.made + 1
        gone = {m.id for m in taken if m.composed}
        ids = (i for m in taken for i in (*originals(m), *state.behind.get(m.id, ())))
        behind = {made: ids for made, ids in state.behind.items() if made not in gone}
        behind[f"condensed:{made}"] = tuple(dict.fromkeys(ids))
        failures = state.failures + 1 if failed else 0
        return replace(state, made=made, behind=behind, failures=failures)
