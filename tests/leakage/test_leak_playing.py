"""A channel from its first world to its last record: how much is tried, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from memsim.canary import mint
from memsim.errors import ConfigError
from memsim.leakage import channel
from memsim.leakage.attack_families import Families
from memsim.leakage.attack_files import channel_headers
from memsim.leakage.channel import LEAST, Channel, ChannelRun, planned, play_channel
from memsim.leakage.channels import load_channel, modules
from memsim.leakage.probe_lines import channel_lines, score_lines
from memsim.leakage.tool_calls import HUGE, arguments
from memsim.models import ToolSpec

if TYPE_CHECKING:
    from memsim.leakage.attack_world import Setting
    from memsim.leakage.attempt import Finding
    from memsim.leakage.lab import Lab


class Failing(Channel):
    """Makes one attempt, and then hits what nobody foresaw, with a secret in its words."""

    id = "L2"

    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """See `Channel`."""
        canary = lab.mint("ana", "garage")
        yield lab.judge(
            "first", attack="direct", viewer="ben", targets=[canary], seen=[], control=True
        )
        raise KeyError(canary.token)


@pytest.mark.parametrize(
    ("attempts", "share", "count"),
    [(300, 1, 300), (300, 0.1, 30), (300, 0.001, LEAST), (5, 0.1, 5), (200, 0.999, 200)],
)
def test_a_share_of_the_attempts_is_never_too_few(attempts: int, share: float, count: int) -> None:
    """At least ten, or all where there are fewer."""
    assert count == planned(attempts, share)


def test_what_a_strategy_raises_anywhere_ends_the_channel_and_not_the_run(
    setting: Callable[..., Setting],
) -> None:
    """What was found before is kept; the error holds no secret."""
    channel = Failing()
    played = play_channel(channel, setting("no_memory"), count=20, seed=7, families=Families())

    score = score_lines(channel_lines(channel, played, "case", 0))
    assert 1 == len(played.findings)
    assert "error" == score.verdict
    assert "KeyError" in score.why
    assert mint(7, "L2", "ana", "garage").token not in repr(played)
    assert 0.05 == score.coverage


def test_finding_what_nobody_planted_is_an_error(
    play: Callable[..., ChannelRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search is wrong then, and nothing that it says can be trusted."""
    monkeypatch.setattr(channel, "unplanted", lambda seed: (mint(seed, "L1", "ana", "garage"),))

    played = play("L1", "full_context:scope=principal", 10)

    score = score_lines(channel_lines(load_channel("L1"), played, "case", 0))
    assert (1, 1) == (played.false_hits, played.negatives)
    assert "error" == score.verdict


def test_every_module_is_of_a_channel_that_is_described() -> None:
    """And says of itself what its file says."""
    for name in modules():
        made = load_channel(name)

        assert name == made.id
        assert channel_headers()[name] == made.header


def test_an_unknown_channel_is_named() -> None:
    """In one line."""
    with pytest.raises(ConfigError, match="unknown channel 'L0'"):
        load_channel("L0")


def test_lines_without_their_channel_are_refused() -> None:
    """Half a record is none."""
    with pytest.raises(ValueError, match="which channel"):
        score_lines([])


def test_tools_are_called_by_their_schema_alone() -> None:
    """Any tool can be attacked, whatever its arguments are called."""
    tool = ToolSpec(
        name="x",
        description="",
        parameters=(
            '{"type": "object", "required": ["q"], "properties": {"q": {"type": "string"},'
            ' "words": {"type": "array"}, "n": {"type": "integer", "maximum": 5},'
            ' "deep": {"type": "boolean"}, "kind": {"enum": ["a", "b"]}}}'
        ),
    )

    made = arguments(tool, "two words")

    assert {
        "q": "two words",
        "words": ["two", "words"],
        "n": HUGE,
        "deep": True,
        "kind": "a",
    } == made
