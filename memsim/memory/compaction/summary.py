"""A rolling summary, and how a model's text becomes one: with provenance, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.message import EPOCH, Message, TokenCounter, utc
from memsim.models import Model, Prompt, Reply, Request, by_line, provenance

# What a composed message may have been made from, kept so that a further one costs no copy of it.


class Lineage(Collection[str]):
    """Ids of originals, each once, in order; other lineages may be among them, and are shared.

    Whatever looks at them goes through all of them; adding to them does not.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: str | Lineage) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._every()))

    def __len__(self) -> int:
        return len(dict.fromkeys(self._every()))

    def __contains__(self, source: object) -> bool:
        return any(source == one for one in self._every())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Lineage | tuple):
            return tuple(self) == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Lineage{tuple(self)!r}"

    def __reduce__(self) -> tuple[type[Lineage], tuple[str, ...]]:
        return Lineage, tuple(self)  # parts of parts may be deeper than Python goes down

    def _every(self) -> Iterator[str]:
        waiting = [iter(self._parts)]
        seen: set[int] = set()
        while waiting:
            part = next(waiting[-1], None)
            if part is None:
                waiting.pop()
            elif isinstance(part, str):
                yield part
            elif id(part) not in seen:
                seen.add(id(part))
                waiting.append(iter(part._parts))  # noqa: SLF001 - of this class


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary.

    Attributes:
        text: what it says.
        sources: ids of the messages that it was made from, as far as the model can tell.
        perhaps: ids of others that it may have been made from, where the model cannot tell its
            lines apart. Nothing is credited to them, but forgetting one of them takes the line.
    """

    text: str
    sources: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()

    @property
    def origins(self) -> tuple[str, ...]:
        """Ids of every message that may stand behind it."""
        return self.sources + self.perhaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is left of the messages that were compacted.

    Attributes:
        lines: in the order in which they are read.
        owners: the principal of each message that a line was made from.
        compactions: how many made it.
        time: when the last of them was made.
    """

    lines: tuple[SummaryLine, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    compactions: int = 0
    time: datetime = EPOCH

    @property
    def text(self) -> str:
        """The summary as a model wrote it."""
        return "\n".join(line.text for line in self.lines)

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages that something in it was made from."""
        return tuple(dict.fromkeys(i for line in self.lines for i in line.sources))

    def without(self, sources: Iterable[str]) -> Summary:
        """The summary without the lines that were made from any of these messages."""
        gone = set(sources)
        kept = tuple(line for line in self.lines if gone.isdisjoint(line.origins))
        return replace(self, lines=kept, owners=_owners(kept, self.owners))

    def newest(self, lines: int) -> Summary:
        """The summary with its newest lines only."""
        kept = self.lines[len(self.lines) - lines :]
        return replace(self, lines=kept, owners=_owners(kept, self.owners))

    def save(self) -> dict[str, JSON]:
        """The whole summary as JSON values."""
        return {
            "lines": [
                {"text": n.text, "sources": list(n.sources), "perhaps": list(n.perhaps)}
                for n in self.lines
            ],
            "owners": dict(self.owners),
            "compactions": self.compactions,
            "time": self.time.isoformat(),
        }

    @classmethod
    def loaded(cls, saved: Any) -> Summary:  # noqa: ANN401 - what was read from a file
        """The summary that `save` wrote. Raises `StateError` if it wrote no such thing."""
        with reading("its summary is damaged"):
            return cls(
                lines=tuple(
                    SummaryLine("" + line["text"], _ids(line["sources"]), _ids(line["perhaps"]))
                    for line in saved["lines"]
                ),
                owners={"" + name: "" + owner for name, owner in saved["owners"].items()},
                compactions=0 + saved["compactions"],
                time=utc(datetime.fromisoformat(saved["time"])),
            )


def _ids(saved: Any) -> tuple[str, ...]:  # noqa: ANN401 - what was read from a file
    return tuple("" + source for source in saved)


def merge(
    taken: tuple[Message, ...],
    state: Summary,
    *,
    model: Model,
    counter: TokenCounter,
    limit: int,
    now: datetime,
    prompt: Prompt | None = None,
) -> tuple[Summary, CompactionOutcome]:
    """Merge messages into the summary.

    `taken` is oldest first; `limit` is in tokens; `prompt` has the words for a live model. Returns
    the old summary where the model's was not fit to use. Raises `ModelError` if the model failed.
    """
    from memsim.memory.compaction.outcome import reply_fault  # which builds on what is below

    request = Request(
        task="summarise",
        messages=taken,
        previous=state.text,
        max_tokens=limit,
        now=now,
        prompt=prompt,
    )
    reply = model.complete(request)
    ids = tuple(m.id for m in taken)
    before = counter.messages(taken) + counter.text(state.text)
    tokens = counter.text(reply.text)
    # One that is too long for its limit is shown in part; but it must not be cut off.
    fault = reply_fault(reply, tokens, max(limit, tokens), before)
    if fault:
        return state, CompactionOutcome(
            kind="refused", sources=ids, before=before, after=before, detail=fault
        )
    merged = absorb_reply(reply, taken, state, now)
    after = counter.text(merged.text)
    return merged, CompactionOutcome(kind="compaction", sources=ids, before=before, after=after)


def absorb_reply(
    reply: Reply,
    taken: tuple[Message, ...],
    state: Summary,
    now: datetime,
    told: Mapping[str, tuple[SummaryLine, ...]] | None = None,
) -> Summary:
    """The summary that a model's reply makes of an earlier one and of what was said since."""
    reply = _traced(reply, taken, told or {})
    known = {line.text: line for line in state.lines}
    texts = [text for text in reply.text.splitlines() if text.strip()]
    origins = provenance(reply, {text: line.sources for text, line in known.items()})
    if origins is None:
        unsure = SummaryLine("", reply.sources or (), _unnamed(reply, taken, state))
        made = tuple(replace(known.get(text, unsure), text=text) for text in texts)
    else:
        made = tuple(SummaryLine(text, origins.get(text, ())) for text in texts)
    owners = {**state.owners, **{i: m.principal for m in taken for i in originals(m)}}
    return Summary(
        lines=made, owners=_owners(made, owners), compactions=state.compactions + 1, time=now
    )


def originals(message: Message) -> tuple[str, ...]:
    """Ids of the original messages that a message is, quotes or was made from."""
    return tuple(dict.fromkeys((*message.verbatim, *message.derived_from)))


def _traced(
    reply: Reply, taken: tuple[Message, ...], told: Mapping[str, tuple[SummaryLine, ...]]
) -> Reply:
    # What a model takes from a composed message came from the originals behind it.
    behind = {m.id: originals(m) for m in taken if m.composed}
    if not behind:
        return reply

    lines = {(m, n.text.strip()): n.sources for m in behind for n in told.get(m, ())}

    def through(sources: tuple[str, ...], line: str = "") -> tuple[str, ...]:
        found = (lines.get((s, line), behind.get(s, (s,))) for s in sources)
        return tuple(dict.fromkeys(i for ids in found for i in ids))

    said = by_line(reply)
    if said is None:
        sources = None if reply.sources is None else through(reply.sources)
        return replace(reply, sources=sources, line_sources=None)
    traced = tuple(through(sources, line.strip()) for line, sources in said)
    return replace(
        reply,
        sources=tuple(dict.fromkeys(i for ids in traced for i in ids)),
        line_sources=traced,
    )


def _unnamed(reply: Reply, taken: tuple[Message, ...], state: Summary) -> tuple[str, ...]:
    # What a model reworded may come from anything that it read, in this round or an earlier one.
    read = dict.fromkeys(i for line in state.lines for i in line.origins)
    if reply.sources is None:
        read.update(dict.fromkeys(i for m in taken for i in originals(m)))
    return tuple(i for i in read if i not in (reply.sources or ()))


def _owners(lines: tuple[SummaryLine, ...], owners: Mapping[str, str]) -> dict[str, str]:
    live = dict.fromkeys(i for line in lines for i in line.origins)
    return {i: owners[i] for i in live if i in owners}
