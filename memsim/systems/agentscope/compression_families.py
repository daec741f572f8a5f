"""The six families of strategies of Java 1.0.12, as stretches and steps: the first that works ends.

===== ======================================== ===============================================
name  takes                                    and leaves
===== ======================================== ===============================================
S1    runs of tool messages before the tail    one summary for each, with a reference
S2    large messages before the tail           their beginnings, each with a reference
S3    large messages before the last answer    the same
S4    earlier rounds, from question to answer  the question and one summary, with a reference
S5    large messages of the current round      their summaries, with a reference
S6    the whole current round                  one summary, with a reference
===== ======================================== ===============================================
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from memsim.memory.compaction import CompactionPlan, Condense, Offload, SummaryRequest
from memsim.message import Message, Text, ToolUse, composed
from memsim.models import Prompt
from memsim.systems.agentscope.offloads import tag
from memsim.systems.agentscope.prompts import END_MARKER, REQUIREMENT, family_prompt
from memsim.systems.agentscope.thresholds import (
    AutoContextConfig,
    PackageCounter,
    first_units,
    units,
)

History = tuple[Message, ...]
Region = tuple[int, ...]

PLAN_TOOLS = frozenset(
    {
        "create_plan",
        "update_plan_info",
        "revise_current_plan",
        "update_subtask_state",
        "finish_subtask",
        "view_subtasks",
        "get_subtask_count",
        "finish_plan",
        "view_historical_plans",
        "recover_historical_plan",
    }
)
"""Tools whose traffic the model is not shown."""

ROUNDS = 5
"""How many runs of tool messages are looked at in one go."""

CURRENT = "current-round"
"""What ids of summaries of the current round begin with: they are no final answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of strategies; `onwards` works from the oldest stretch on, `asks` asks a model."""

    event: str
    step: Condense | Offload
    onwards: bool = False
    asks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyPrompts:
    """What the model is told beside the messages.

    Attributes:
        prompts: by family, the instruction that stands in front, and then the marker at the end,
            as messages that any model reads; none for prompts that a live model alone is sent.
        hint: what is said of the agent's plan, after all else.
    """

    prompts: Mapping[str, str] = field(default_factory=dict)
    limit: int = 400
    hint: Callable[[], History] = tuple


def families(
    config: AutoContextConfig, counter: PackageCounter, asks: FamilyPrompts, *, share: bool = True
) -> tuple[Family, ...]:
    """Make the six families in their order.

    With `share`, the model is told how short the current round's summary is to be.
    """
    asking = SummaryRequest(limit=asks.limit, checked=False)
    told = _FamilyTranscript(asks.prompts, counter, config, asks.hint)
    shared = replace(asking, share=config.current_round_compression_ratio if share else None)
    base = Condense(
        asking=asking, voice="assistant", escape=False, offload=True, reference=tag, regions=ROUNDS
    )
    lined, unlined = "{text}\n{reference}", "{text}{reference}"
    s1 = replace(
        base,
        select=tool_groups(config, counter),
        form=lined,
        onwards=True,
        label="tools",
        name="S1",
        asking=told.asked("S1", asking),
        shown=told.listed("S1"),
    )
    s4 = replace(
        base,
        select=previous_rounds,
        form=lined,
        lead=1,
        least=config.min_compression_token_threshold,
        regions=sys.maxsize,
        label="round",
        name="S4",
        asking=told.asked("S4", asking),
        shown=told.listed("S4"),
    )
    s5 = replace(
        base,
        select=large_of_current(config, counter),
        form=unlined,
        in_place=True,
        regions=sys.maxsize,
        name="S5",
        asking=told.asked("S5", asking),
        shown=told.single("S5"),
    )
    s6 = replace(
        base,
        select=whole_current,
        form=unlined,
        asking=told.asked("S6", shared),
        label=CURRENT,
        name="S6",
        shown=told.listed("S6"),
    )
    return (
        Family(event="TOOL_INVOCATION_COMPRESS", step=s1, onwards=True),
        Family(
            event="LARGE_MESSAGE_OFFLOAD_WITH_PROTECTION",
            step=offloading(config, protected=True),
            asks=False,
        ),
        Family(event="LARGE_MESSAGE_OFFLOAD", step=offloading(config, protected=False), asks=False),
        Family(event="PREVIOUS_ROUND_CONVERSATION_SUMMARY", step=s4),
        Family(event="CURRENT_ROUND_LARGE_MESSAGE_SUMMARY", step=s5),
        Family(event="CURRENT_ROUND_MESSAGE_COMPRESS", step=s6),
    )


def offloading(config: AutoContextConfig, *, protected: bool) -> Offload:
    """The offloading of large messages before the tail, or before the last answer."""
    return Offload(
        over=config.large_payload_threshold,
        preview=config.offload_single_preview,
        until=_until(config, protected=protected),
        reference=tag,
        length=units,
        cut=first_units,
        whole=True,
        composed=True,
        calling=False,
        escape=False,
        smaller=False,
        name="S2" if protected else "S3",
    )


def _until(config: AutoContextConfig, *, protected: bool) -> Callable[[History], int]:
    def until(history: History) -> int:
        if len(history) < config.last_keep:
            return 0
        final = latest_final(history)
        if not protected:
            return final or 0
        tail = max(0, len(history) - config.last_keep)
        return tail if final is None else min(final, tail)

    return until


def tool_groups(
    config: AutoContextConfig, counter: PackageCounter
) -> Callable[[History, CompactionPlan], list[Region]]:
    """Chooses the runs of tool messages before the tail that S1 takes."""

    def select(history: History, _planned: CompactionPlan) -> list[Region]:
        final = latest_final(history)
        if len(history) < config.last_keep or final is None:
            return []
        end = min(final, len(history) - config.last_keep)
        chosen: list[Region] = []
        cursor = 0
        for _ in range(ROUNDS):
            run = _first_run(history, cursor, end, config.min_consecutive_tool_messages)
            if run is None:
                break
            tokens = counter.messages(history[place] for place in run)
            if tokens >= config.min_compression_token_threshold:
                chosen.append(tuple(run))
            cursor = run.stop
        return chosen

    return select


def _first_run(history: History, start: int, end: int, more_than: int) -> range | None:
    first = start
    while first < end:
        stop = first
        while stop < end and is_tool(history[stop]):
            stop += 1
        if stop - first > more_than:
            return _trimmed(history, first, stop, more_than)
        first = stop + 1
    return None


def _trimmed(history: History, first: int, stop: int, more_than: int) -> range | None:
    while first < stop and not history[first].calls:
        first += 1
    while first < stop and not is_result(history[stop - 1]):
        stop -= 1
    return range(first, stop) if stop - first > more_than else None


def previous_rounds(history: History, _planned: CompactionPlan) -> list[Region]:
    """What follows each question up to its final answer, before the latest of these."""
    latest = latest_final(history) or 0
    rounds: list[Region] = []
    user: int | None = None
    for place, message in enumerate(history[:latest]):
        if message.role == "user":
            user = place
        elif is_final(message):
            if user is not None and place > user + 1:
                rounds.append(tuple(range(user + 1, place + 1)))
            user = None
    return rounds


def large_of_current(
    config: AutoContextConfig, counter: PackageCounter
) -> Callable[[History, CompactionPlan], list[Region]]:
    """Chooses the large messages after the latest question that are not composed."""

    def select(history: History, _planned: CompactionPlan) -> list[Region]:
        user = latest_user(history)
        if user is None:
            return []
        over = config.large_payload_threshold
        places = range(user + 1, len(history))
        return [(p,) for p in places if _size(history[p], counter) > over]

    return select


def _size(message: Message, counter: PackageCounter) -> int:
    if message.composed:
        return 0
    return units(message.spoken) or counter.characters(message)


def whole_current(history: History, _planned: CompactionPlan) -> list[Region]:
    """All that follows the latest question, without a call at the end that waits for its result."""
    user = latest_user(history)
    if user is None:
        return []
    end = len(history) - bool(history[-1].calls)
    return [tuple(range(user + 1, end))] if end > user + 1 else []


def is_tool(message: Message) -> bool:
    """Whether a message calls tools, or is a tool's."""
    return message.role == "tool" or bool(message.calls or message.results)


def is_result(message: Message) -> bool:
    """Whether a message is a tool's answer."""
    return message.role == "tool" or bool(message.results)


def is_final(message: Message) -> bool:
    """Whether a message counts as an assistant's final answer, as summaries do but for S6's."""
    made_of_current = message.composed and message.id.startswith(f"{CURRENT}:")
    return message.role == "assistant" and not is_tool(message) and not made_of_current


def latest_final(history: History) -> int | None:
    """The place of the latest final answer."""
    return next((p for p in range(len(history) - 1, -1, -1) if is_final(history[p])), None)


def latest_user(history: History) -> int | None:
    """The place of the latest message of a user."""
    places = range(len(history) - 1, -1, -1)
    return next((p for p in places if history[p].role == "user"), None)


def without_plans(messages: History) -> History:
    """The messages without those that only plan: calls of plan tools alone, and their answers."""
    planning = {
        b.id for m in messages for b in m.blocks if isinstance(b, ToolUse) and b.name in PLAN_TOOLS
    }
    if not planning:
        return messages
    return tuple(m for m in messages if not _only_plans(m, planning))


def _only_plans(message: Message, planning: set[str]) -> bool:
    if message.calls:
        return planning.issuperset(message.calls)
    return not planning.isdisjoint(message.results)


@dataclass(frozen=True, slots=True)
class _FamilyTranscript:
    """What the model is shown: instruction, messages, marker, how short it may be, the plan."""

    prompts: Mapping[str, str]
    counter: PackageCounter
    config: AutoContextConfig
    hint: Callable[[], History]

    def listed(self, family: str) -> Callable[[History], History]:
        def shown(messages: History) -> History:
            left = without_plans(messages)
            extra = (self._requirement(left),) if family == "S6" else ()
            return self._framed(family, left, extra)

        return shown

    def single(self, family: str) -> Callable[[History], History]:
        def shown(messages: History) -> History:
            return self._framed(family, tuple(map(_words_only, messages)), ())

        return shown

    def asked(self, family: str, asking: SummaryRequest) -> SummaryRequest:
        """The request of a family, with its prompt for a live model."""
        if self.prompts:
            return asking
        if family == "S6":
            return replace(asking, prompt=self._required)
        return replace(asking, prompt=family_prompt(family))

    def _required(self, messages: History) -> Prompt:
        beside = self.hint()
        left = tuple(m for m in messages if m not in beside)
        return family_prompt("S6", self._requirement(left))

    def _framed(self, family: str, messages: History, extra: tuple[str, ...]) -> History:
        prompt = self.prompts.get(family)
        if prompt is None:
            return (*messages, *self.hint()) if messages else ()
        after = (END_MARKER, *extra)
        told = (composed("user", t, id=f"told:{n}") for n, t in enumerate(after))
        return (composed("user", prompt, id="prompt"), *messages, *told, *self.hint())

    def _requirement(self, messages: History) -> str:
        original = sum(self.counter.characters(m) for m in messages)
        ratio = self.config.current_round_compression_ratio
        numbers = {
            "original": original,
            "target": int(original * ratio + 0.5),
            "percent": int(100 * ratio + 0.5),
        }
        text = REQUIREMENT
        for name, number in numbers.items():
            text = text.replace(f"{{{name}}}", str(number))
        return text


def _words_only(message: Message) -> Message:
    words = "\n".join(b.text for b in message.blocks if not isinstance(b, ToolUse))
    if not words or not is_tool(message):
        return message
    return replace(message, blocks=(Text(words),))
