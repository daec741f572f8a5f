"""What to say of a call that is not recorded: which recording is nearest, and how it differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from memsim.models.cassette import Recording, Said
from memsim.models.cassette.keys import key_of, message_ids, messages_of, settings_of

if TYPE_CHECKING:
    from memsim.models.cassette.lines import Tape
    from memsim.models.cassette.shelf import Shelf
    from memsim.models.live import Call

_QUOTED = 48


def miss(call: Call, shelf: Shelf, place: str) -> str:
    """What is missing, what is nearest to it, and what to do, in one line.

    Args:
        call: what was to be asked.
        shelf: where it was looked for.
        place: how the file is shown.
    """
    wanted = f"the {call.task} call {key_of(call)[:8]} (repeat {shelf.repeat}) is not recorded"
    advice = "`--record new` records what is missing"
    if not shelf.tape.calls:
        return f"{wanted}: there is no {place}; {advice}"
    near = nearest_to(call, shelf.tape)
    if near is None:
        return f"{wanted} in {place}, which has no {call.task} call at all; {advice}"
    line = shelf.tape.lines.get((near.key, near.repeat), 0)
    return (
        f"{wanted} in {place}; the nearest is line {line}:"
        f" {difference(call, shelf.repeat, near, shelf.tape)}; {advice}"
    )


def nearest_to(call: Call, tape: Tape) -> Recording | None:
    """The recording of the same task that shares most with a call; the first of several."""
    wanted, settings, key = message_ids(call), settings_of(call), key_of(call)

    def rank(recording: Recording) -> tuple[object, ...]:
        shared = sum((Counter(wanted) & Counter(recording.messages)).values())
        share = 2 * shared / (len(wanted) + len(recording.messages) or 1)
        alike = sum(recording.settings.get(name) == value for name, value in settings.items())
        return -(recording.key == key), -share, -alike, recording.repeat, recording.key

    same = [r for r in tape.calls.values() if r.task == call.task]
    return min(same, key=rank, default=None)


def difference(call: Call, repeat: int, near: Recording, tape: Tape) -> str:
    """How a recording differs from a call, in one line."""
    if near.key == key_of(call):
        return f"it is of repeat {near.repeat}, not {repeat}"
    said = list(_settings(call, near))
    found = _messages(call, near, tape)
    return "; ".join([*said, *([found] if found else [])])


def _settings(call: Call, near: Recording) -> list[str]:
    now = settings_of(call)
    names = sorted(now.keys() | near.settings.keys())
    return [
        f"{name} is {now.get(name)!r}, recorded {near.settings.get(name)!r}"
        for name in names
        if now.get(name) != near.settings.get(name)
    ]


def _messages(call: Call, near: Recording, tape: Tape) -> str:
    now, then = message_ids(call), near.messages
    places = [n for n in range(max(len(now), len(then))) if now[n : n + 1] != then[n : n + 1]]
    if not places:
        return ""
    first = places[0]
    ours, theirs = messages_of(call), tape.said
    mine = _shown(ours[now[first]]) if first < len(now) else "not there"
    recorded = _shown(theirs[then[first]]) if first < len(then) else "not there"
    what = "the instructions" if not first else f"message {first + 1} of {len(now)}"
    if mine == recorded:
        recorded = "alike as far as it is kept"
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{what}{more}: now {mine}, recorded {recorded}"


def _shown(said: Said) -> str:
    text = " ".join(said.beginning.split())
    cut = text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
    return f"{said.role} {cut!r} ({said.length} characters)"
