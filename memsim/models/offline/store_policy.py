"""How the offline agent stores, updates and forgets: rules over the purposes of tools."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from memsim.language.dates import mentions
from memsim.language.text import content, sentences
from memsim.models.offline.agent_turn import is_there, shown_entries
from memsim.models.offline.planned_call import (
    NOTES_KEY,
    PlannedCall,
    entry_key,
    find_call,
    key_call,
    notes_call,
)
from memsim.models.offline.tool_purpose import WRITING, with_purpose
from memsim.models.offline.tool_results import shared_words
from memsim.models.offline.tool_schema import ArgumentValues, parameters

if TYPE_CHECKING:
    from memsim.models.offline.agent_turn import AgentTurn
    from memsim.models.offline.tool_purpose import ToolUsage
    from memsim.models.offline.tool_results import AnsweredCall, FoundEntry

_SHARED: Final = 2
_REPLACED: Final = 0.4
"""Content words, and share of the old entry's, that a correction must share with it."""

_CORRECTS: Final = re.compile(
    r"\b(?:now|anymore|any\smore|instead|no\slonger|actually|correction|renamed|rescheduled"
    r"|postponed)\b"
    r"|\b(?:I|we|they)(?:['\u2019]ve|\shave)?\s(?:moved|changed|switched|updated|replaced|corrected)"
    r"\s(?:it|my|our|the|his|her|their)\b",
    re.IGNORECASE,
)

_MEANT: Final = 0.5
"""Share of the words of a request to forget that the entry must hold."""

_FORGOTTEN: Final = 2
"""Entries that one request has forgotten at most."""

_CLAUSE: Final = re.compile(
    r"\b(?:forget|delete|erase|remove|wipe)\b(?P<what>[^,.;!?]{0,200})", re.IGNORECASE
)

_OWN_KEY: Final = re.compile(r"_[0-9a-f]{8}$")
_INSTRUCTS: Final = re.compile(
    r"^\W*(?:please\s)?(?:always|never|from\snow\son|whenever|in\sfuture|do\snot|don['\u2019]t)\b"
    r"|\b(?:from\snow\son|every\stime)\b",
    re.IGNORECASE,
)
_ASKING_WORDS: Final = frozenset(content("forget please delete erase remove want memory note"))


def keep_calls(turn: AgentTurn) -> list[PlannedCall]:
    """The next calls for a message that states something."""
    written = [call for call in turn.done if call.purpose in WRITING]
    if written:
        return _again(turn, written)
    looked_for = _old_entries(turn)
    if turn.request.round == 0:
        first = [*_lookup(turn, turn.facts if _corrects(turn) else (), -1), *_notes_before(turn)]
        if first:
            return first
    if turn.request.round <= 1 and looked_for and not turn.tried("get"):
        verified = [key_call(usage, entry) for usage in turn.of("get")[:1] for entry in looked_for]
        if verified:
            return verified
    return [*_replacing(turn, looked_for), *_noting(turn)]


def _corrects(turn: AgentTurn) -> bool:
    """Whether the message announces a change, and an old entry could be replaced."""
    replaceable = turn.of("update", "forget")
    return bool(replaceable) and any(_CORRECTS.search(fact) for fact in turn.facts)


def _lookup(turn: AgentTurn, texts: Sequence[str], place: int) -> list[PlannedCall]:
    """Search for entries to change, by one of several searches: the first is for questions."""
    usages = turn.of("search", "list")
    return [find_call(usages[place % len(usages)], " ".join(texts))] if texts and usages else []


def _old_entries(turn: AgentTurn) -> list[FoundEntry]:
    """The agent's own entry that a correction replaces, as a search showed it.

    An entry of several sentences stays: the correction is about one of them.
    """
    told = frozenset(content(" ".join(turn.facts)))
    keyed = any(usage.keyed for usage in with_purpose(turn.usages, "store"))
    own = [e for e in shown_entries(turn) if not keyed or _is_own(e)]
    near = [e for e in own if _may_be_replaced(e, told) and not _same(turn, e)]
    best = max(near, key=lambda e: shared_words(e.text, told), default=None)
    return [best] if best and is_there(turn, best) else []


def _may_be_replaced(entry: FoundEntry, told: frozenset[str]) -> bool:
    said = frozenset(content(entry.text))
    shared = len(said & told)
    single = len(sentences(entry.text)) == 1
    return single and shared >= _SHARED and shared >= _REPLACED * len(said)


def _same(turn: AgentTurn, entry: FoundEntry) -> bool:
    return " ".join(entry.text.split()) == " ".join(" ".join(turn.facts).split())


def _is_own(entry: FoundEntry) -> bool:
    """Whether the agent stored an entry: its key is the one that the agent gives such a text."""
    begun = entry.key.rpartition("_")[0]
    return bool(_OWN_KEY.search(entry.key)) and entry_key(entry.text).startswith(begun)


def _replacing(turn: AgentTurn, old: Sequence[FoundEntry]) -> list[PlannedCall]:
    if old and (update := turn.of("update")):
        values = replace(_statement(turn.facts), key=old[0].key)
        return [PlannedCall(update[0], values, "key")]
    forget = [key_call(usage, entry) for usage in turn.of("forget")[:1] for entry in old]
    return [*_storing(turn), *forget]


def _storing(turn: AgentTurn) -> list[PlannedCall]:
    dated = any(mentions(fact) for fact in turn.facts)
    several = len(turn.facts) > 1
    stores = turn.of("store")
    lists = [u for u in stores if _takes_list(u)]
    singles = [u for u in stores if not _takes_list(u)]
    pages = turn.of("append")
    by_nature = (pages if dated else (), lists if several else (), singles, lists, pages)
    usage = next((u[0] for u in by_nature if u), next(iter(turn.of("write notes")), None))
    if usage is None:
        return []
    return [PlannedCall(usage, _with_choice(usage, _statement(turn.facts), dated=dated), "content")]


def _takes_list(usage: ToolUsage) -> bool:
    return any(p.role == "content" and p.listed for p in parameters(usage.tool))


def _statement(facts: Sequence[str]) -> ArgumentValues:
    # As one text: a sentence by itself often does not say what it is about.
    text = " ".join(facts)
    return ArgumentValues(content=(text,), key=entry_key(text))


def _with_choice(
    usage: ToolUsage, values: ArgumentValues, *, dated: bool, tried: Sequence[str] = ()
) -> ArgumentValues:
    """The values with a choice such as `daily` or `long_term`, but for those that were refused."""
    choices = dict(usage.choices)
    for parameter in parameters(usage.tool):
        if parameter.choices and parameter.required and parameter.name not in choices:
            wanted = ("day", "dai", "today") if dated else ("long", "permanent", "core")
            left = [c for c in parameter.choices if c not in tried] or list(parameter.choices)
            fitting = [c for c in left if any(word in c.lower() for word in wanted)]
            choices[parameter.name] = (fitting or left)[0]
    return replace(values, choices=choices)


def _again(turn: AgentTurn, written: Sequence[AnsweredCall]) -> list[PlannedCall]:
    """The same statement under another choice, where the tool refused the first one."""
    refused = [c for c in written if c.is_error and c.purpose in {"store", "append"}]
    if len(refused) < len(written) or not refused:
        return []
    usage = refused[0].usage
    used = json.loads(refused[0].arguments)
    tried = [v for v in used.values() if isinstance(v, str)]
    if not any(set(p.choices) - set(tried) for p in parameters(usage.tool) if p.choices):
        return []
    values = _with_choice(usage, _statement(turn.facts), dated=False, tried=tried)
    return [PlannedCall(usage, values, "content")]


def _instructions(turn: AgentTurn) -> list[str]:
    return [s.text for s in turn.said if not s.question and _INSTRUCTS.search(s.text)]


def _notes_before(turn: AgentTurn) -> list[PlannedCall]:
    """Reads the notes before it adds to them: writing may replace them."""
    if not _instructions(turn) or not turn.of("write notes"):
        return []
    return [notes_call(usage) for usage in turn.of("read notes")[:1]]


def _noting(turn: AgentTurn) -> list[PlannedCall]:
    usage = next(iter(turn.of("write notes")), None)
    new = _instructions(turn)
    if usage is None or not new:
        return []
    before = [c.text for c in turn.tried("read notes") if c.found_something]
    lines = dict.fromkeys([*(line for text in before for line in text.splitlines()), *new])
    values = ArgumentValues(content=("\n".join(lines),), key=NOTES_KEY)
    return [PlannedCall(usage, values, "content")]


def forget_calls(turn: AgentTurn) -> list[PlannedCall]:
    """The next calls for a message that asks for something to be forgotten."""
    forget = turn.of("forget")[:1]
    if not forget or turn.tried("forget"):
        return []
    if not any(p.role == "key" for p in parameters(forget[0].tool)):
        return [PlannedCall(forget[0], ArgumentValues(query=turn.to_forget), "query")]
    if turn.request.round == 0:
        return _lookup(turn, [turn.to_forget], 1)
    meant = [entry for entry in _meant(turn) if is_there(turn, entry)]
    if not turn.tried("get") and (get := turn.of("get")):
        return [key_call(get[0], entry) for entry in meant]
    return [key_call(forget[0], entry) for entry in meant]


def _meant(turn: AgentTurn) -> list[FoundEntry]:
    """The entries that a request to forget means: the agent's own, where any of these match.

    Nothing is meant where too many match alike, as those of several people do.
    """
    clause = _CLAUSE.search(turn.to_forget)
    named = frozenset(content(clause["what"] if clause else "")) - _ASKING_WORDS
    asked = named or frozenset(content(turn.to_forget)) - _ASKING_WORDS
    shared = {
        entry: shared_words(entry.text, asked)
        for entry in shown_entries(turn)
        if entry.text not in turn.message.text
    }
    near = [e for e, n in shared.items() if n >= max(1.0, _MEANT * len(asked))]
    near = [e for e in near if _is_own(e)] or near
    best = [e for e in near if shared[e] == max(shared[other] for other in near)]
    return best if len(best) <= _FORGOTTEN else []
