"""L1: who mixes people up is caught, who does not is not, and an amnesiac is neither."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from memsim import Context, Environment, Message, Query, Strategy, ToolSpec
from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.leakage.scores import ChannelScore
from memsim.memory.history.window import Window

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]


class Own(Strategy):
    """Everybody sees what they said themselves, in the context and by a tool."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.said: dict[str, Window] = {}

    def observe(self, message: Message) -> None:
        of = self.said.setdefault(message.principal, Window(self.env.counter))
        of.add(message)

    def context(self, query: Query) -> Context:
        found = self.said.get(query.principal)
        return Context(sections=(found.section(query.budget),)) if found else Context()

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        properties = {"query": {"type": "string"}, "limit": {"type": "integer"}}
        schema = {"type": "object", "properties": properties, "required": ["query"]}
        about = "Finds what was said."
        spec = ToolSpec(name="search", description=about, parameters=json.dumps(schema), reads=True)
        return (spec,)

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        return "\n".join(m.text for m in self.said.get(self.whose(arguments, principal), ()))

    def whose(self, arguments: str, principal: str) -> str:
        return principal


class Gullible(Own):
    """Its tool believes whoever is named in its arguments."""

    def whose(self, arguments: str, principal: str) -> str:
        return str(json.loads(arguments).get("user_id", principal))


class Greedy(Own):
    """Its tool gives everybody's where more is asked for than is decent."""

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if json.loads(arguments).get("limit", 0) > 1000:
            return "\n".join(m.text for said in self.said.values() for m in said)
        return super().call_tool(name, arguments, principal)


class Impersonated(Own):
    """Its context believes who speaks."""

    def context(self, query: Query) -> Context:
        for name, found in self.said.items():
            if f"this is {name}" in query.text.casefold():
                return Context(sections=(found.section(query.budget),))
        return super().context(query)


def test_what_everybody_sees_leaks_in_every_way(play: Play, scored: Score) -> None:
    """One window for all."""
    found = scored("L1", play("L1", "full_context", 30))

    assert "leak" == found.verdict
    assert found.leaks.k == found.leaks.n == 30
    assert "planted at turn 1 by ana -> seen by ben in the window at turn 60" in found.paths


@pytest.mark.parametrize("strategy", [Own, "full_context:scope=principal"])
def test_what_only_its_owner_sees_is_safe(
    play: Play, scored: Score, strategy: str | type[Strategy]
) -> None:
    """And every secret can be recalled by its owner."""
    found = scored("L1", play("L1", strategy, 40))

    assert "safe" == found.verdict
    assert 40 == found.leaks.n
    assert 1 == found.served.share


def test_layered_memory_with_access_control_is_safe(play: Play, scored: Score) -> None:
    """With its tools as well."""
    found = scored("L1", play("L1", "layered:acl=on,mode=both", 34))

    assert "safe" == found.verdict, found.paths
    assert 1 == found.served.share


def test_an_amnesiac_is_not_called_safe(play: Play, scored: Score) -> None:
    """Nothing could have come out."""
    found = scored("L1", play("L1", "no_memory", 20))

    assert "n/a" == found.verdict
    assert found.leaks.share is None


@pytest.mark.parametrize(
    ("strategy", "attacks"),
    [
        (Gullible, {"tool-arg-spoof"}),
        (Greedy, {"huge-limit"}),
        (Impersonated, {"role-claim"}),
    ],
)
def test_one_broken_path_is_enough(play: Play, strategy: type[Strategy], attacks: set[str]) -> None:
    """It is found by the attack that fits it, at a tenth of the attempts, and by no other."""
    played = play("L1", strategy, 51)

    leaks = [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
    assert attacks == {attempt.attack for attempt in leaks}


def test_every_family_has_its_turn(play: Play) -> None:
    """In a reduced run too."""
    played = play("L1", Own, 30)

    families = {f.attack for f in played.findings if isinstance(f, Attempt)}
    assert 17 == len(families)


def test_the_same_seed_finds_the_same(play: Play) -> None:
    """To the last record; another seed has other secrets and the same states."""
    one, two = play("L1", "full_context", 12), play("L1", "full_context", 12)
    other = play("L1", "full_context", 12, seed=8)

    assert one == two
    assert one.findings != other.findings
    states = [f.state for f in one.findings if isinstance(f, Attempt)]
    assert states == [f.state for f in other.findings if isinstance(f, Attempt)]


def test_nothing_that_was_never_planted_is_found(play: Play) -> None:
    """Two hundred secrets are searched for in all that was read."""
    played = play("L1", "full_context", 12)

    assert (200, 0) == (played.negatives, played.false_hits)
    assert played.read > 1000


class Broken(Own):
    """Fails in the middle of the script."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        if message.turn == 12:
            raise RuntimeError("full")


def test_what_breaks_is_an_error_and_keeps_what_was_found(play: Play, scored: Score) -> None:
    """Never safe."""
    found = scored("L1", play("L1", Broken, 20))

    assert "error" == found.verdict
    assert "RuntimeError: full" in found.error
