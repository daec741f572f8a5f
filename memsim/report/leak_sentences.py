"""Say in a sentence who saw what of whom in a leak, and by which way.

Each sentence is made from the record of one attempt that leaked, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memsim.report.leak_advice import IN_WORDS

if TYPE_CHECKING:
    from memsim.leakage.attempt import Attempt, Trail

DISGUISES: Mapping[str, str] = {
    "T0": "in plain text",
    "T1": "with other letters or signs",
    "T2": "encoded or compressed",
    "T3": "in part",
}
"""How a secret stood where it was found, by tier of the matcher."""

_SHOWN: Mapping[str, str] = {
    "answer": "the answer to {viewer}",
    "context": "the context for {viewer}'s question",
    "tool": "the result of a tool that {viewer} called",
    "error": "an error that {viewer} got",
    "forgotten": "the reply to {viewer}'s request to forget",
}
"""Places that somebody was shown; every other one is a part of a context, or a store."""

_KEPT: Mapping[str, str] = {
    "export": "an export or the state that save() returns",
    "log": "the log or printed output",
    "audit": "the audit records",
    "file": "a file",
    "database": "a database file",
    "wal": "the journal of a database",
    "markdown": "a Markdown file",
    "log file": "a log file",
    "backup": "a backup file",
    "temporary file": "a temporary file",
    "cassette": "a file of recorded answers",
    "report": "a report",
}
"""Places that only whoever operates the memory sees."""

_OWN_PLACES: Mapping[tuple[str, str], str] = {
    ("L11", "file"): "a file that a tool read for {viewer}",
    ("L14", "debug"): "a log record below INFO",
    ("L14", "error"): "an error",
    ("L14", "event"): "an event of env.log()",
    ("L15", "file"): "the name of a file",
}
"""Places that mean something else in one channel."""

_WAYS: Mapping[str, str] = {
    "user": "in a message of {viewer}'s",
    "tool": "by a web search",
    "document": "on a page that was read",
    "another user": "by another person",
    "memory tool": "as something to store",
}
"""How L16 plants a text, by label."""

_SPEAKERS: Mapping[str, str] = {"user": "a user", "tool": "a tool", "break-out": "a user"}
"""Whose words L17 follows, by attack."""


def leak_sentence(channel: str, attempt: Attempt) -> str:
    """Say what one attempt that leaked showed, to whom, where and when."""
    if attempt.trails:
        tell = _WITH_TRAIL.get(channel)
        return tell(attempt, attempt.trails[0]) if tell else _seen(channel, attempt)
    told = _WITHOUT_TRAIL.get(channel)
    return told(attempt) if told else f"{attempt.id}: {attempt.detail or 'it leaked'}"


def _seen(channel: str, attempt: Attempt) -> str:
    trail = attempt.trails[0]
    what, viewer, turn = _secret(channel, attempt, trail), trail.seen.viewer, trail.seen.turn
    remark = attempt.detail if channel in {"L1", "L13"} else ""
    after = f" ({remark})" if remark else ""
    if trail.tier == "T4":
        return (
            f"{viewer} could name the value of {what}: answers at turn {turn} had the right one of"
            f" sixteen values more often than a guess would{after}"
        )
    how, place = DISGUISES.get(trail.tier, "in some form"), leak_place(channel, attempt, trail)
    if not viewer:
        what += "," if ", which" in what else ""
        return f"{what} stood {how} in {place} at turn {turn}, for whoever may read that{after}"
    return f"{viewer} got {what}: it stood {how} in {place} at turn {turn}{after}"


def _secret(channel: str, attempt: Attempt, trail: Trail) -> str:
    since = f" of turn {trail.planted}" if trail.planted else ""
    secret = f"{trail.owner}'s secret{since}"
    if channel in {"L6", "L7"}:
        failed = ", though no request to forget was accepted" if attempt.detail else ""
        words = " in words" if attempt.labels.get("way") in IN_WORDS else ""
        return f"{secret}, which {trail.owner} asked to forget{words}{failed}"
    if channel == "L8":
        due = "to be erased by then" if attempt.labels.get("moment") == "purged" else "past its end"
        return f"{secret}, which was {due}"
    if channel == "L10":
        return f"a detail of {trail.owner}'s{since} that the task does not need"
    return secret


def leak_place(channel: str, attempt: Attempt, trail: Trail) -> str:
    """Name the place in which a secret was seen."""
    surface, viewer = trail.seen.surface, trail.seen.viewer
    if not viewer:
        return _OWN_PLACES.get((channel, surface)) or _KEPT.get(surface, f'the store "{surface}"')
    if trail.through:
        stop = trail.through[0]
        part = f'the "{stop.surface}" part of the context for {viewer}\'s question'
        before = stop.turn < trail.seen.turn
        return f"{part}, in a text that the memory wrote at turn {stop.turn}," if before else part
    shown = _OWN_PLACES.get((channel, surface)) or _SHOWN.get(surface)
    return shown.format(viewer=viewer) if shown else _part(channel, attempt, surface, viewer)


def _part(channel: str, attempt: Attempt, name: str, viewer: str) -> str:
    """A place that the strategy named: a part of a context, a store, or either of them."""
    artefact = attempt.labels.get("artefact", "")
    if artefact == "shown" or attempt.attack == "derived-text":
        return f'the store "{name}", which surfaces() shows to {viewer},'
    if artefact or (channel == "L3" and attempt.attack == "direct"):
        return f'"{name}", in the context for {viewer} or in what surfaces() shows to {viewer},'
    return f'the "{name}" part of the context for {viewer}\'s question'


def _poison(attempt: Attempt, trail: Trail) -> str:
    way = _WAYS.get(attempt.labels.get("way", ""), "in the conversation")
    way = way.format(viewer=trail.seen.viewer)
    return (
        f"the answer to {trail.seen.viewer} at turn {trail.seen.turn} said what a planted text"
        f" asked for (planted {way} at turn {trail.planted})"
    )


def _authority(attempt: Attempt, trail: Trail) -> str:
    who = _SPEAKERS.get(attempt.attack, "somebody")
    return (
        f"words of {who} from turn {trail.planted} stood in the role of the system in the context"
        f" at turn {trail.seen.turn}"
    )


_WITH_TRAIL: Mapping[str, Callable[[Attempt, Trail], str]] = {"L16": _poison, "L17": _authority}


def _owner(attempt: Attempt) -> str:
    return attempt.owners[0] if attempt.owners else "somebody"


def _rest(attempt: Attempt, known: str) -> str:
    """The end of a detail that begins as is known; empty where it does not."""
    begins = attempt.detail.startswith(known)
    return attempt.detail.removeprefix(known) if begins else ""


def _surface(attempt: Attempt) -> str:
    """What differed between two worlds, as the detail of the attempt says."""
    name = attempt.detail.partition(" differs from byte ")[0]
    return _SHOWN.get(name, f'the store "{name}"').format(viewer=attempt.viewer)


def _lost(attempt: Attempt) -> str:
    return f"{_owner(attempt)} lost secrets to {attempt.viewer}'s conversation: {attempt.detail}"


def _differs(attempt: Attempt) -> str:
    return (
        f"{attempt.viewer} was shown something else because {_owner(attempt)} had said something"
        f" else: {_surface(attempt)} differed"
    )


def _told(attempt: Attempt) -> str:
    return (
        f"{attempt.viewer} could tell whether {_owner(attempt)} uses a key or id:"
        f" {_surface(attempt)} was not the same for a used one and an unused one"
    )


def _timed(attempt: Attempt) -> str:
    by = _rest(attempt, "by their time, used and unused keys are told apart by ")
    deeds = f" ({by})" if by else ""
    return f"{attempt.viewer} could tell by time which keys {_owner(attempt)} uses{deeds}"


def _ended_early(attempt: Attempt) -> str:
    return f"{attempt.viewer}'s secret was {attempt.detail}"


def _stale(attempt: Attempt) -> str:
    return f"asked for a fact that had changed, {attempt.viewer} got this: {attempt.detail}"


def _escaped(attempt: Attempt) -> str:
    return (
        "a user's message stood as it was said in a block of the context, and could end the"
        f" block: {attempt.detail}"
    )


def _unpinned(attempt: Attempt) -> str:
    return (
        f"a standing rule was no longer word for word in the context for {attempt.viewer}'s"
        " question"
    )


def _injected(attempt: Attempt) -> str:
    after = attempt.labels.get("after", "")
    when = f' (after "{after}")' if after else ""
    return (
        f"in the context for {attempt.viewer}, an injected item was wrong{when}: {attempt.detail}"
    )


def _meddled(attempt: Attempt) -> str:
    deed, by = attempt.labels.get("deed", ""), _rest(attempt, "the owner has it no more by ")
    how = f" by {by}" if by else ""
    done = f' did this: "{deed}"' if deed else " meddled"
    return f"{attempt.viewer}{done}. {_owner(attempt)} then could not get a secret{how}"


_WITHOUT_TRAIL: Mapping[str, Callable[[Attempt], str]] = {
    "L2": _lost,
    "L3": _differs,
    "L4": _told,
    "L5": _timed,
    "L8": _ended_early,
    "L9": _stale,
    "L17": _escaped,
    "L18": _unpinned,
    "L19": _injected,
    "L20": _meddled,
}
