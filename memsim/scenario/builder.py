"""Writes a scenario in Python, in the words of the YAML and under the same checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

from memsim.errors import ScenarioError
from memsim.scenario.document import (
    MAX_DEPTH,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    describe_node,
    scalar,
)
from memsim.scenario.scenario_loader import make_scenario
from memsim.scenario.script import Scenario
from memsim.scenario.script_plan import VERSION

PATH = "<python>"

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
"""What a builder takes: the values of a YAML file."""


class Steps:
    """The turns of a script, in order; each method adds one and returns the steps."""

    def __init__(self) -> None:
        self._turns: list[Value] = []

    def add(self, **step: Value) -> Self:
        """Add a step as the YAML writes it, such as `add(gap="3d")`."""
        self._turns.append(step)
        return self

    def user(
        self,
        text: str,
        *,
        facts: Mapping[str, Value] | None = None,
        speaker: str | None = None,
    ) -> Self:
        """The user says something.

        Args:
            text: the words.
            facts: what they plant: name to value, or to the keys of a fact as YAML has them.
            speaker: who says it; else the session's principal.
        """
        return self.add(user=text, **_given({"facts": facts, "as": speaker}))

    def assistant(self, text: str, *, facts: Mapping[str, Value] | None = None) -> Self:
        """The assistant says something; the arguments are those of `user`."""
        return self.add(assistant=text, **_given({"facts": facts}))

    def filler(self, turns: int, *, domain: str | None = None, words: int | None = None) -> Self:
        """Generated talk.

        Args:
            turns: how many turns of it.
            domain: what it is about.
            words: words in each message, at least.
        """
        return self.add(filler=_given({"turns": turns, "domain": domain, "words": words}))

    def tool(
        self,
        name: str,
        *,
        result: str | None = None,
        arguments: Mapping[str, Value] | None = None,
        **more: Value,
    ) -> Self:
        """The assistant calls a tool.

        Args:
            name: which.
            result: what it answers.
            arguments: what it is called with.
            **more: `lines`, `characters`, `depth`, `domain`, `error` or `facts`.
        """
        call = _given({"name": name, "arguments": arguments, "result": result})
        return self.add(tool={**call, **more})

    def tools(self, *calls: Mapping[str, Value]) -> Self:
        """The assistant calls several tools at once, each written as in YAML."""
        return self.add(tools=calls)

    def session(
        self,
        name: str | None = None,
        *,
        principal: str | None = None,
        after: str | None = None,
        at: str | None = None,
    ) -> Self:
        """Another conversation begins, or an earlier one goes on.

        Args:
            name: which; the next number when left out.
            principal: whose it is.
            after: how long nothing was said before it, such as `3d`.
            at: when it begins, such as `2026-03-02T09:00:00Z`.
        """
        given = _given({"id": name, "principal": principal, "after": after, "at": at})
        return self.add(session=given)

    def generate(self, family: str, *, seed: int = 0, **dials: int | str) -> Self:
        """A generated story.

        Args:
            family: what is hard about it, such as `updates`.
            seed: another one tells another story.
            **dials: how hard it is and how it is asked, such as `updates=12` or `form="count"`.
        """
        return self.add(generate={"family": family, "seed": seed, **dials})

    def gap(self, span: str) -> Self:
        """Nothing is said for a while, such as `36h`."""
        return self.add(gap=span)

    def grant(self, owner: str, viewer: str, *facts: str) -> Self:
        """A principal lets another see facts."""
        return self.add(grant={"from": owner, "to": viewer, "facts": facts})

    def revoke(self, owner: str, viewer: str, *facts: str) -> Self:
        """And takes that back."""
        return self.add(revoke={"from": owner, "to": viewer, "facts": facts})

    def forget(self, *facts: str, who: str | None = None, say: str | None = None) -> Self:
        """Someone asks for facts to be erased.

        Args:
            *facts: what must be gone.
            who: who asks; else the session's principal.
            say: the request in words.
        """
        return self.add(forget=_given({"facts": facts, "who": who, "say": say}))

    def no_store(
        self,
        text: str,
        *,
        facts: Mapping[str, Value],
        request: str | None = None,
        speaker: str | None = None,
    ) -> Self:
        """The user says something that is not to be remembered.

        Args:
            text: the words.
            facts: what they state, and the memory must not store or use later.
            request: the request, which is said first; an English one by default.
            speaker: who says it; else the session's principal.
        """
        step = _given({"say": text, "facts": facts, "request": request, "as": speaker})
        return self.add(no_store=step)

    def restart(self) -> Self:
        """The process stops and comes back."""
        self._turns.append("restart")
        return self

    def ask(self, *probes: str) -> Self:
        """Probes are asked at this very point."""
        return self.add(ask=probes)

    def repeat(self, times: int, write: Callable[[Steps], object]) -> Self:
        """Steps that come again, `$i` standing for the count from 1."""
        inner = Steps()
        write(inner)
        return self.add(repeat={"times": times, "turns": inner._turns})


class ScenarioBuilder(Steps):
    """Writes one scenario; `build` checks it and makes it.

    Args:
        name: unique among the scenarios of a run.
        **head: the other keys of a YAML file before `turns`, such as `budget="4k"`.

    Example:
        >>> from memsim.scenario import ScenarioBuilder
        >>> scenario = (
        ...     ScenarioBuilder("order")
        ...     .user("My order is A-17.", facts={"order": "A-17"})
        ...     .filler(20)
        ...     .probe("order", ask="What is my order?", expect="A-17")
        ...     .build()
        ... )
        >>> scenario.turns
        21
    """

    def __init__(self, name: str, **head: Value) -> None:
        super().__init__()
        self._head: dict[str, Value] = {"memsim": VERSION, "name": name, **head}
        self._probes: dict[str, Value] = {}
        self._expect: dict[str, Value] = {}

    def probe(self, name: str, *, ask: str, expect: Value, **more: Value) -> Self:
        """A question.

        Args:
            name: its id; one that is also a fact's is about that fact.
            ask: the question.
            expect: the answer, a list of which any will do, or `unknown`.
            **more: the other keys of a probe; `not_` and `as_` stand for `not` and `as`.

        Raises:
            ScenarioError: there is such a probe already.
        """
        if name in self._probes:
            raise ScenarioError(f"duplicate probe {name!r}", path=PATH)
        written = {key.removesuffix("_"): value for key, value in more.items()}
        self._probes[name] = {"ask": ask, "expect": expect, **written}
        return self

    def expect(self, metric: str, bound: str) -> Self:
        """What a metric must keep to, such as `expect("recall", ">= 0.8")`."""
        self._expect[metric] = bound
        return self

    def build(self) -> Scenario:
        """The scenario.

        Raises:
            ScenarioError: it is wrong.
        """
        document: dict[str, Value] = {**self._head, "turns": self._turns}
        document |= {"probes": self._probes} if self._probes else {}
        document |= {"expect": self._expect} if self._expect else {}
        try:
            return make_scenario(_node(document, 0), PATH)
        except ScenarioError as error:
            raise ScenarioError(error.message, path=PATH, hint=error.hint) from None


def _given(values: Mapping[str, Value | None]) -> dict[str, Value]:
    return {key: value for key, value in values.items() if value is not None}


def _node(value: object, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise ScenarioError(f"is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        return scalar(value, None)
    if isinstance(value, bool):
        return ScalarNode("true" if value else "false", None, plain=True)
    if isinstance(value, int | float):
        return ScalarNode(str(value), None, plain=True)
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return ListNode(tuple(_node(item, depth + 1) for item in value), None)
    raise ScenarioError(f"a {type(value).__name__} is not a value of a script")


def _mapping(value: Mapping[object, object], depth: int) -> Node:
    for key in value:
        if not isinstance(key, str):
            raise ScenarioError(f"a key must be text, not {describe_node(_node(key, depth + 1))}")
    entries = {scalar(str(k), None).text: _node(v, depth + 1) for k, v in value.items()}
    return MappingNode(entries, dict.fromkeys(entries), None)
