"""From the steps of a script to exchanges: repetitions written out, and turns put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memsim.errors import ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.scenario.nodes import Listing, Mapping, Node, Scalar
from memsim.scenario.plan import PlainStep, Repeat, Say, ScriptStep, UseTools
from memsim.scenario.schema import STEP

MAX_STEPS = 50_000
"""Steps of a script with its repetitions written out; a filler is one, however long."""

_COUNT = re.compile(r"\$i(?![A-Za-z])")


@fast_init
@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn as written: who speaks first, and what the assistant says and does."""

    heard: Say | None
    reply: tuple[Say | UseTools, ...]

    @property
    def line(self) -> int | None:
        """Where it begins."""
        return self.heard.line if self.heard else self.reply[0].line


Beat = Exchange | PlainStep


def beats(steps: Iterable[ScriptStep]) -> Iterator[Beat]:
    """What happens, in order: exchanges, and the steps that are none."""
    heard: Say | None = None
    reply: list[Say | UseTools] = []
    for step in written_out(steps):
        opens = isinstance(step, Say) and (step.role == "user" or _spoken(reply))
        if opens or not isinstance(step, Say | UseTools):
            if heard or reply:
                yield Exchange(heard, tuple(reply))
            heard, reply = None, []
        if isinstance(step, Say) and step.role == "user":
            heard = step
        elif isinstance(step, Say | UseTools):
            reply.append(step)
        else:
            yield step
    if heard or reply:
        yield Exchange(heard, tuple(reply))


def _spoken(reply: list[Say | UseTools]) -> bool:
    return bool(reply) and isinstance(reply[-1], Say)


def written_out(steps: Iterable[ScriptStep]) -> Iterator[PlainStep]:
    """The steps with every repetition written out.

    Raises:
        ScenarioError: a repetition makes a step that is wrong, or too many of them.
    """
    count = 0
    for step in steps:
        count += step.times * len(step.turns) if isinstance(step, Repeat) else 1
        if count > MAX_STEPS:
            raise ScenarioError(
                f"makes more than {MAX_STEPS:,} turns without filler", line=step.line
            )
        if isinstance(step, Repeat):
            yield from _repeated(step)
        else:
            yield step


def _repeated(repeat: Repeat) -> Iterator[PlainStep]:
    fixed = not any(map(_counts, repeat.turns))
    once = repetition(repeat, 1)
    for number in range(1, repeat.times + 1):
        yield from once if fixed or number == 1 else repetition(repeat, number)


def repetition(repeat: Repeat, number: int) -> list[PlainStep]:
    """The steps of one repetition.

    Raises:
        ScenarioError: one of them is wrong.
    """
    steps = [STEP.read(_counted(node, str(number)), "a turn") for node in repeat.turns]
    for step in steps:
        if isinstance(step, Repeat):
            raise ScenarioError("a repeat may not stand in a repeat", line=step.line)
    return steps  # type: ignore[return-value]


def _counts(node: Node) -> bool:
    if isinstance(node, Scalar):
        return bool(_COUNT.search(node.text))
    if isinstance(node, Listing):
        return any(map(_counts, node.items))
    return any(map(_counts, node.entries.values())) or any(map(_COUNT.search, node.entries))


def _counted(node: Node, number: str) -> Node:
    if isinstance(node, Scalar):
        return Scalar(_COUNT.sub(number, node.text), node.line, node.plain)
    if isinstance(node, Listing):
        return Listing(tuple(_counted(item, number) for item in node.items), node.line)
    return Mapping(
        {_COUNT.sub(number, k): _counted(v, number) for k, v in node.entries.items()},
        {_COUNT.sub(number, k): line for k, line in node.lines.items()},
        node.line,
    )
