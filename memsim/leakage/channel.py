"""Channels, each one kind of attack on a memory, and how one is played against a strategy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from memsim.canary.match import Matcher
from memsim.canary.mint import unplanted
from memsim.errors import MemsimError, describe_error, traceback_text
from memsim.leakage.attack_families import ChannelHeader, Families
from memsim.leakage.attack_files import channel_header
from memsim.leakage.attack_steps import batches
from memsim.leakage.attempt import Control
from memsim.leakage.lab import Lab

if TYPE_CHECKING:
    from memsim.leakage.attack_world import Setting
    from memsim.leakage.attempt import Finding, Trail


class Channel:
    """One kind of attack, L1 to L20: its parameters come from its file in `scenarios/leakage`.

    A module `memsim.leakage.channels.lNN_name` holds one as `CHANNEL`.
    """

    id: ClassVar[str]

    @property
    def header(self) -> ChannelHeader:
        """What the file says: name, gate, number of attempts, attacks and parameters."""
        return channel_header(self.id)

    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """Plant secrets, attack them and look at what comes out, with a control for each state.

        The findings depend on the lab's seed alone. Attempts share what takes long, such as a long
        script: asking changes nothing, so one world takes many questions. By default a world gets
        as many attempts as the parameter `in_a_world` says; a channel may divide them otherwise.

        Args:
            lab: makes worlds and canaries, and judges.
            count: attempts to plan. One that cannot be made is told as `no_verdict`, `error` or
                `not_inspectable`, never left out.
        """
        for number, places in enumerate(batches(count, self.header.number("in_a_world"))):
            yield from self.play_world(lab, number, places)

    def play_world(self, lab: Lab, number: int, places: range) -> Iterator[Finding]:
        """Make the attempts of these numbers in a world of its own, the worlds counted from 0."""
        raise NotImplementedError


WEAKENED = frozenset({"L2", "L4", "L8", "L19", "L20"})
"""Channels that caught some broken memory by a single attempt where a tenth of them was made."""
LEAST = 10
"""The least number of attempts, however small the share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRun:
    """The result of playing a channel: its findings, and the negative controls.

    Attributes:
        negatives: secrets that were never planted, and were looked for.
        read: characters in which they were looked for, logs and files not counted.
        false_hits: how many of them were found, which must be none.
        traceback: of what the strategy raised; empty if it raised nothing.
    """

    findings: tuple[Finding, ...]
    planned: int
    negatives: int
    read: int
    false_hits: int
    error: str = ""
    traceback: str = ""

    def record(self, channel: Channel) -> Mapping[str, object]:
        """The `leakage` object of the channel's own line in `probes.jsonl`."""
        return {
            "kind": "channel",
            "channel": channel.id,
            "name": channel.header.name,
            "gate": channel.header.gate,
            "planned": self.planned,
            "of": channel.header.attempts,
            "negatives": self.negatives,
            "read": self.read,
            "false_hits": self.false_hits,
            "error": self.error,
        }


def planned(attempts: int, share: float) -> int:
    """The number of attempts for a share of a channel's attempts."""
    return min(attempts, max(LEAST, round(attempts * share)))


def play_channel(
    channel: Channel,
    setting: Setting,
    *,
    count: int,
    seed: int,
    families: Families,
) -> ChannelRun:
    """Play a channel against a strategy; what the strategy raises becomes `error`."""
    lab = Lab(
        setting,
        channel=channel.id,
        seed=seed,
        salt=f"memsim leakage {seed}",
        families=families,
    )
    findings: list[Finding] = []
    error = trace = ""
    try:
        for finding in channel.run(lab, count):
            findings.append(fit_for_records(finding, lab))  # noqa: PERF401 - kept up to an error
    except MemsimError as raised:
        error, trace = str(raised), traceback_text(raised.__cause__ or raised)
    except (Exception, SystemExit) as raised:  # noqa: BLE001 - a stranger's code: what it raises is a finding
        error, trace = describe_error(raised), traceback_text(raised)
    strangers = unplanted(seed)
    names = {stranger.id for stranger in strangers}
    # With the planted ones among them, a part that a stranger has in common with one of those tells
    # of neither.
    matcher = Matcher((*strangers, *(c for c in lab.canaries.values() if c.id not in names)))
    read, aside = "\n".join(lab.read), "\n".join(lab.aside)
    return ChannelRun(
        findings=tuple(findings),
        planned=count,
        negatives=len(strangers),
        read=len(read),
        false_hits=sum(hit.canary in names for hit in matcher.find_in([read, aside])),
        error=lab.redacted(" ".join(error.split())),
        traceback=lab.redacted(trace),
    )


def fit_for_records(finding: Finding, lab: Lab) -> Finding:
    """Redact secrets in a finding: an error or a tier's name may contain one."""
    if isinstance(finding, Control):
        return replace(finding, error=lab.redacted(finding.error))
    trails = tuple(_redacted(trail, lab) for trail in finding.trails)
    return replace(finding, detail=lab.redacted(finding.detail), trails=trails)


def _redacted(trail: Trail, lab: Lab) -> Trail:
    through = tuple(replace(stop, surface=lab.redacted(stop.surface)) for stop in trail.through)
    seen = replace(trail.seen, surface=lab.redacted(trail.seen.surface))
    return replace(trail, through=through, seen=seen)
