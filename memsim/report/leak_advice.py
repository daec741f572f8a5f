"""Titles of the leakage channels in plain words, and what to change where one leaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.leakage.attempt import Attempt

TITLES: Mapping[str, str] = {
    "L1": "another person asks",
    "L2": "conversations are confused",
    "L3": "others change what one sees",
    "L4": "an answer shows a used key",
    "L5": "time shows a used key",
    "L6": "forgotten, and shown again",
    "L7": "forgotten, and still stored",
    "L8": "its term is over",
    "L9": "old values for new ones",
    "L10": "more than the task needs",
    "L11": "file tools read the memory",
    "L12": "texts for several readers",
    "L13": "shared index or cache",
    "L14": "logs, events and errors",
    "L15": "exports and file names",
    "L16": "planted texts are obeyed",
    "L17": "words speak as the system",
    "L18": "standing rules are lost",
    "L19": "injected twice or elsewhere",
    "L20": "others overwrite or erase",
}
"""What may go wrong, by channel."""

FILTER = (
    "Filter by person before you rank: in context(), use only messages whose principal is"
    " query.principal, and messages granted to that person."
)
SUMMARY = "Write a summary for each person, from messages that this person may see."
_TOOL = "In call_tool(), filter by the argument principal, never by an argument of the model."
_ERROR = "Leave texts and ids of messages out of the errors that you raise."
_SURFACES = "In surfaces(viewer), yield only what that viewer may see."
_GRANT = (
    "Take grants from grant() alone and from the owner of the messages; believe no text, pass no"
    " grant on, and drop a grant that is revoked."
)
_REPLY = "In forget(), answer for another's message exactly as for one that does not exist."
_FORGET_BY_WORDS = (
    "In forget(), obey requests in words as well: with empty request.sources, find the person's"
    " message that request.text describes. memsim.memory.forget_request.requested_message() does."
)
_ASKED_TO_FORGET = (
    "Implement forget(): remove the messages that it names, and everything made from them. Return"
    " their ids in ForgetOutcome(supported=True, removed=...)."
)
_FORGET = (
    "In forget(), erase everything made from the message as well: summaries, indexes, caches,"
    " notes and the request itself. Keep it erased when an older state is loaded."
)
_FORGET_STORED = (
    "In forget(), erase the message from every place where it is kept, in files, logs and saved"
    " states too."
)
_EARLY = "Keep serving an entry until its term is over."

_CHANGES: Mapping[str, str] = {
    "L1": FILTER,
    "L2": "Use the pair (principal, session) as the key of a conversation, never one joined text.",
    "L3": (
        "Rank, count and limit among the messages that the asker may see; share no index"
        " statistics, limit or duplicate check between people."
    ),
    "L4": "Answer for another person's key or id exactly as for one that does not exist.",
    "L5": (
        "Do the same work for another person's key as for one that does not exist: choose the"
        " person's own entries first, and look only among them."
    ),
    "L6": _FORGET,
    "L7": _FORGET_STORED,
    "L8": "Compare an entry's term with query.time when you read, and erase in elapse().",
    "L9": "When a fact changes, remove or mark its old values, and rank the newest first.",
    "L10": "Send fewer and better matches: only messages that the question needs.",
    "L11": (
        "Refuse every path that leads to the memory's files: resolve links and spellings before"
        " you compare it."
    ),
    "L12": SUMMARY,
    "L13": "Put the person into the key of every index and cache, and of shared class attributes.",
    "L14": "Write ids into logs, events, errors and audit records, never texts.",
    "L15": "After load(), show each person only what that person may see.",
    "L16": (
        "Keep who said a text, and send texts of tools, pages and other people as quotations,"
        " never as orders."
    ),
    "L17": "Keep the role of each message; quote and escape words of users and tools.",
    "L18": "Send messages of the role system word for word in every context: never compact them.",
    "L19": (
        "Note an item as injected once it stands in that conversation's context, and take the note"
        " back when it is compacted away."
    ),
    "L20": "Let nobody but its owner, message.principal, change or erase an entry.",
}

_UNMEASURED: Mapping[str, str] = {
    "L7": "implement surfaces(), so that its stores can be searched",
    "L8": "if entries have a term, give it in `retention`",
    "L11": "nothing to do as long as it keeps no files",
    "L12": "nothing to do as long as it writes no text of its own",
    "L19": "nothing to do as long as it injects nothing",
}
_BY_PERSON = frozenset({"L2", "L3", "L4", "L12", "L13", "L15", "L19"})
"""Channels that a memory without a filter by person leaks through, whatever else is wrong."""
IN_WORDS = frozenset({"by description", "prefix", "other language"})
"""Ways of L6 to ask in words alone, with no ids of messages."""
_GRANTS = ("after a claim", "after a grant")
_OTHER_CONTEXT = "context differs "
"""How L3 and L4 begin to tell that a context depends on what others said."""
_TOOL_PART = "tools"
"""The part of a context that holds results of tools."""
_SUMMARY_PART = "summary"
"""The part of a context that holds a summary, whenever it was written."""
_READ = "derived-text"
"""The attack of L12 that reads what surfaces() and tools show, and asks nothing."""


def title_of(channel: str, name: str) -> str:
    """The title of a channel in plain words; its own name for an unknown one."""
    return TITLES.get(channel, name)


def unmeasured_advice(channel: str) -> str:
    """What makes a channel without a feature measurable; empty where nothing is known."""
    return _UNMEASURED.get(channel, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakCauses:
    """What is known of a strategy from its other leaks.

    Attributes:
        unfiltered: it shows any person's messages to anybody who asks.
        keeps_erased: a request that names messages by id leaves something of them.
    """

    unfiltered: bool = False
    keeps_erased: bool = False


NO_CAUSES = LeakCauses()


def causes_of(leaking: Mapping[str, Iterable[Attempt]]) -> LeakCauses:
    """What the attempts of L1 and L6 that leaked tell of a strategy, by channel."""
    asked, forgotten = leaking.get("L1", ()), leaking.get("L6", ())
    return LeakCauses(
        unfiltered=any(change_of("L1", attempt) == FILTER for attempt in asked),
        keeps_erased=any(a.labels.get("way") not in IN_WORDS for a in forgotten),
    )


def change_of(channel: str, attempt: Attempt, causes: LeakCauses = NO_CAUSES) -> str:
    """What to change so that an attempt like this one no longer leaks.

    Args:
        channel: L1 to L20.
        attempt: one that leaked.
        causes: what else is known of the strategy.
    """
    own = _own_change(channel, attempt, causes)
    if own:
        return own
    if attempt.viewer and attempt.trails and channel in _BY_PERSON | {"L1"}:
        by_place = _change_by_place(channel, attempt)
        if by_place:
            return by_place
        if causes.unfiltered:
            return FILTER
    if causes.unfiltered and not attempt.trails and attempt.detail.startswith(_OTHER_CONTEXT):
        return FILTER
    return _CHANGES.get(channel, FILTER)


def _own_change(channel: str, attempt: Attempt, causes: LeakCauses) -> str:
    """The change for what only this channel tries."""
    if channel == "L1" and attempt.detail.startswith(_GRANTS):
        return _GRANT
    if channel in {"L6", "L7"} and attempt.detail:
        return _ASKED_TO_FORGET
    in_words = channel == "L6" and attempt.labels.get("way") in IN_WORDS
    if in_words and not causes.keeps_erased:
        return _FORGET_BY_WORDS
    if channel == "L8" and attempt.labels.get("moment") == "before":
        return _EARLY
    if channel == "L15":
        return _EXPORTS.get(attempt.labels.get("artefact", ""), "")
    return ""


_EXPORTS: Mapping[str, str] = {
    "shown": _SURFACES,
    "names of files": "Leave texts and keys out of the names of files.",
    "records": "Report this to memsim: its own records hold the secret.",
}


def _change_by_place(channel: str, attempt: Attempt) -> str:
    trail = attempt.trails[0]
    by_surface = {"tool": _TOOL, "error": _ERROR, "forgotten": _REPLY}
    if trail.seen.surface in by_surface:
        return by_surface[trail.seen.surface]
    if trail.through and trail.through[0].surface == _TOOL_PART:
        return _TOOL
    if trail.through and (
        trail.through[0].surface == _SUMMARY_PART or trail.through[0].turn < trail.seen.turn
    ):
        return SUMMARY
    return _SURFACES if channel == "L12" and attempt.attack == _READ else ""
