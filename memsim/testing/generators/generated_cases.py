"""Generate cases: a conversation, a budget near its size, pins, and a model behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from hypothesis import strategies as st

from memsim.context import ContextBuilder
from memsim.memory.codec import JSON, canonical
from memsim.message import EPOCH, Message, utc
from memsim.testing.case_tokens import counter_of
from memsim.testing.check_cases import (
    BAD,
    TINY_BUDGETS,
    Behaviour,
    Case,
    CaseEvent,
    FileCase,
    LedgerCase,
    LedgerOp,
    LedgerStep,
    RunCase,
    ShelfCase,
    ShelfEntry,
    TokenizerName,
)
from memsim.testing.generators.generated_conversations import (
    QUESTIONS,
    awkward_conversations,
    conversations,
    long_conversations,
)

# Schedules for the parts of a memory: ledgers, stores under hygiene, and files of states.


STEPS: tuple[LedgerStep, ...] = (
    "claim",
    "mark",
    "claim",
    "mark",
    "compact",
    "crash",
    "agree",
    "evict",
    "release",
    "wait",
)
SESSIONS = ("s1", "s2", "s1:s2", "")
AGES = (0, 1, 2, 3, 4, 6, 7, 8, 29, 30, 31, 400, -2)
"""Days; a negative one is in the future, which is what a clock put back makes of it."""

EDGES = (timedelta(0), timedelta(seconds=-1), timedelta(seconds=1), timedelta(hours=1))
DAMAGES = ("truncated", "flipped", "zeroed", "emptied", "newer", "foreign")
TEXTS = (
    "A note.",
    "A note. ",
    "a note.",
    "Call Ben.",
    "e\u0301",
    "\u00e9",
    "x" * 80 + "1",
    "x" * 80 + "2",
)


def ledgers(most: int = 30) -> st.SearchStrategy[LedgerCase]:
    """Schedules of several injectors."""
    op = st.builds(
        LedgerOp,
        step=st.sampled_from(STEPS),
        who=st.sampled_from(("ana", "ben")),
        session=st.sampled_from(("s1", "s1", "s2", "s1:s2")),
        item=st.sampled_from(("skill", "rule", "s2:skill")),
        after=st.booleans(),
        minutes=st.sampled_from((1, 59, 60, 61)),
    )
    return st.builds(
        LedgerCase,
        ops=st.lists(op, min_size=4, max_size=most).map(tuple),
        ttl=st.sampled_from((None, 60)),
    )


@st.composite
def shelves(draw: st.DrawFn, most: int = 14) -> ShelfCase:
    """What stores hold: entries of every age, category and owner, and what was made from them."""
    count = draw(st.sampled_from(range(2, most + 1)))
    entries = tuple(_shelf_entry(draw, n) for n in range(count))
    # Across the nights on which clocks change, and a leap day: all of it is the same in UTC.
    day = draw(st.sampled_from((0, 83, 293, 785)))
    return ShelfCase(
        entries=entries,
        store=draw(st.sampled_from(("memory", "memory", "memory", "memory", "sqlite"))),
        now=utc(EPOCH + timedelta(days=day)),
        fails=draw(st.sampled_from((0, 0, 1, 2, 3))),
    )


def _shelf_entry(draw: st.DrawFn, n: int) -> ShelfEntry:
    derived = n > 0 and draw(st.sampled_from((False, False, True)))
    layer = draw(st.sampled_from(("episodic", "episodic", "semantic", "long_term", "core")))
    return ShelfEntry(
        owner=draw(st.sampled_from(("ana", "ana", "ben"))),
        key=f"m{n}",
        text=draw(st.sampled_from(TEXTS)),
        category=draw(st.sampled_from(("conversation", "conversation", "daily", "core", "custom"))),
        layer=layer,
        age=timedelta(days=draw(st.sampled_from(AGES))) + draw(st.sampled_from(EDGES)),
        pinned=draw(st.sampled_from((False, False, False, True))),
        sources=(f"m{n - 1}",) if derived else (f"m{n}",),
    )


def values() -> st.SearchStrategy[JSON]:
    """JSON values of every kind."""
    leaf: st.SearchStrategy[JSON] = st.sampled_from(
        (
            None,
            True,
            0,
            -1,
            3.5,
            1e300,
            2**70,
            "",
            "a\x00b",
            "\u2028",
            "\U0001f469\u200d",
            "2026-01-05",
        )
    )
    keys = st.sampled_from(("a", "b", "\u00e9", "e\u0301", ""))
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    )


def files() -> st.SearchStrategy[FileCase]:
    """States in files, and what befalls these."""
    texts = values().map(canonical)
    return st.builds(
        FileCase,
        state=texts,
        other=texts,
        damage=st.sampled_from(DAMAGES),
        place=st.sampled_from((0, 3, 100, 250, 500, 750, 900, 997)),
        operation=st.integers(1, 28),
    )


def runs() -> st.SearchStrategy[RunCase]:
    """Runs that are stopped; few of them by several processes, which take long to begin."""
    return st.builds(
        RunCase,
        seed=st.integers(0, 999),
        filler=st.sampled_from((1, 5, 20, 60)),
        stop=st.integers(0, 5),
        lost=st.sampled_from((0, 0, 1, 40, 400, 10_000)),
        jobs=st.sampled_from((*(1,) * 24, 2, *(1,) * 24, 8)),
    )


Theme = Literal["usual", "awkward", "long"]
THEMES: tuple[Theme, ...] = (
    "usual",
    "awkward",
    "usual",
    "long",
    "awkward",
    "usual",
    "awkward",
    "long",
)
"""What a conversation is like: as people talk, with awkward texts, or of many turns."""

BUDGETS: Mapping[Theme, tuple[tuple[int, int], ...]] = {
    "usual": (
        (40, 0),
        (40, 0),
        (60, 0),
        (25, 0),
        (80, 0),
        (50, 0),
        (100, -1),
        (100, 0),
        (100, 1),
        (300, 0),
    ),
    "awkward": ((80, 0), (300, 0), (60, 0), (100, -1), (40, 0), (300, 0)),
    "long": ((40, 0), (25, 0), (60, 0), (300, 0)),
}
"""Per cent of all that is said, and tokens more: below, exactly at, and above."""

LEAST_BUDGET = 48

BEHAVIOURS: tuple[Behaviour, ...] = ("good", "good", "good", "slow", *BAD, "raising")
TOKENIZERS: tuple[TokenizerName, ...] = ("chars/4", "bytes/3", "chars/4")


def behaviours() -> st.SearchStrategy[Behaviour]:
    """What a model may do."""
    return st.sampled_from(BEHAVIOURS)


@st.composite
def cases(draw: st.DrawFn, most: int = 10) -> Case:
    """Cases of so many turns, about."""
    apart = draw(st.sampled_from((True, True, True, False)))
    theme = draw(st.sampled_from(THEMES))
    events = draw(_conversations(draw, theme, most, apart=apart))
    messages = Case(events=events).messages
    straddling = draw(st.sampled_from((False, True)))
    tokenizer = draw(st.sampled_from(TOKENIZERS))
    room = _budget(draw, messages, theme, tokenizer, straddling=straddling)
    return Case(
        events=events,
        budget=draw(st.sampled_from((*(room,) * 20, *TINY_BUDGETS[::4]))),
        behaviour=draw(behaviours()),
        pins=_pinned(
            messages, draw(st.sampled_from((1, 2, 0, 3))), draw(st.sampled_from((0, 1, 2)))
        ),
        tail=draw(st.sampled_from((2, 0, 1, 3, 6))),
        apart=apart,
        questions=(draw(st.sampled_from(QUESTIONS)),),
        good_first=draw(st.sampled_from((0, 0, 3, 9))),
        tokenizer=tokenizer,
    )


def _conversations(
    draw: st.DrawFn, theme: Theme, most: int, *, apart: bool
) -> st.SearchStrategy[tuple[CaseEvent, ...]]:
    if theme == "long":
        return long_conversations(3 * most, apart=apart)
    if theme == "awkward":
        return awkward_conversations(max(1, most // 2), apart=apart)
    least = min(most, draw(st.sampled_from((8, 7, 5, 6, 2, 0))))
    return conversations(least, most, apart=apart)


def _budget(
    draw: st.DrawFn,
    messages: tuple[Message, ...],
    theme: Theme,
    tokenizer: TokenizerName,
    *,
    straddling: bool,
) -> int:
    count = ContextBuilder(counter_of(tokenizer)).tokens
    results = [place for place, m in enumerate(messages) if m.role == "tool"]
    if straddling and results and theme == "usual":
        # Just enough for what begins with a result: its call is beyond the cut.
        room = count(messages[draw(st.sampled_from(results)) :])
    else:
        share, more = draw(st.sampled_from(BUDGETS[theme]))
        room = count(messages) * share // 100 + more
    return max(LEAST_BUDGET, room)


def _pinned(messages: tuple[Message, ...], count: int, first: int) -> tuple[str, ...]:
    ids = [m.id for m in messages if m.role == "user"]
    return tuple(ids[first : first + 2 * count : 2])
