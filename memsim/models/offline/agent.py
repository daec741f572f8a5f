"""The agent of the offline model: uses any memory's tools by fixed rules.

What it does for the latest user message, round by round:

=============  =====================================================================================
message        rounds
=============  =====================================================================================
statements     store them; a dated one goes to the day's page, several to a tool that takes a list,
               a standing instruction to the notes of the conversation as well
correction     search what it replaces; look it up by its key; update it, or store the new statement
               and forget the old one
forget         search what is meant; look it up by its key; forget it
question       search; where the reader then has no answer, read the notes, search the earlier
               sessions, reload what the context refers to and search by key words; then look up
               what was shown in part, and read on in what was reloaded
=============  =====================================================================================

After at most `STEPS` rounds of at most `CALLS` calls it answers from all that it has.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.language.dates import mentions
from memsim.language.lexicon import UPDATING
from memsim.language.text import content, sentences, words
from memsim.message import ToolUse
from memsim.models import IDK
from memsim.models.offline.reader import ReaderAnswer, read_answer
from memsim.models.offline.statements import sentence
from memsim.models.offline.summariser import states_fact
from memsim.models.offline.tool_purpose import (
    WRITING,
    ToolPurpose,
    ToolUsage,
    tool_usages,
    with_purpose,
)
from memsim.models.offline.tool_results import (
    AnsweredCall,
    ContextReference,
    FoundEntry,
    answered_calls,
    context_references,
    found_entries,
    next_place,
    shared_words,
)
from memsim.models.offline.tool_schema import ArgumentValues, ParameterRole, arguments, parameters

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.models import Request, ToolSpec
    from memsim.models.offline.statements import Sentence

STEPS: Final = 3
"""Rounds of calls for one message; the round after them answers."""

CALLS: Final = 4
"""Calls of one round."""

NOTED: Final = "Noted."
"""The reply if there is nothing to store, to search or to answer."""

NOTES_KEY: Final = "standing_instructions"
"""The key under which the agent writes its notes, where notes have keys."""

_KEY_WORDS: Final = 6
_SHARED: Final = 2
"""Content words that a correction must share with the entry that it replaces."""

_MEANT: Final = 0.5
"""Share of the words of a request to forget that the entry must hold."""

_BEHIND: Final = 0.6
"""Share of a question's words that must stand beside a reference, for what is behind it."""

_FORGOTTEN: Final = 3
"""Entries that one request has forgotten at most."""

_OWN_KEY: Final = re.compile(r"_[0-9a-f]{8}$")
_FORGET: Final = re.compile(
    r"^(?:\W*(?:please|ok|okay|now|so|then|also|and|\w+\shere)\b[\s,.:]*){0,3}"
    r"(?:(?:can|could|would|will)\syou\s(?:please\s)?)?forget\b(?!\s(?:to|not)\b)"
    r"|\bplease\s(?:\w+\s)?forget\b|\b(?:you\s(?:can|should|may|must)|want\syou\sto)\sforget\b"
    r"|\b(?:delete|erase|remove|wipe)\b.{0,60}\b(?:from\s(?:your\s)?(?:memory|notes)|about\sme)\b",
    re.IGNORECASE,
)
_INSTRUCTS: Final = re.compile(
    r"^\W*(?:please\s)?(?:always|never|from\snow\son|whenever|in\sfuture|do\snot|don['\u2019]t)\b"
    r"|\b(?:from\snow\son|every\stime)\b",
    re.IGNORECASE,
)
_ASKING_WORDS: Final = frozenset(content("forget please delete erase remove want memory note"))


class AgentAction(NamedTuple):
    """A step of the agent: words, calls, and the messages on which the words are based."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    sources: tuple[str, ...] = ()


class _Call(NamedTuple):
    """A use of a tool, and the values for its parameters."""

    usage: ToolUsage
    values: ArgumentValues
    main: ParameterRole


def act(request: Request) -> AgentAction:
    """The next step after the last user message: tool calls, or an answer after their results."""
    at = _last_user(request.messages, request.round)
    if at is None:
        return AgentAction(NOTED)
    work = _Work(request, at)
    # A script may have gone on: what was said before its calls was worked on then.
    went_on = any(m.calls for m in work.messages[at + 1 :])
    calls = () if went_on or request.round >= STEPS else work.next_calls()
    if calls:
        return AgentAction("", tuple(_tool_use(call, work.message) for call in calls[:CALLS]))
    said = work.answer
    return AgentAction(said.text, sources=said.sources) if said else AgentAction(NOTED)


def _last_user(messages: Sequence[Message], rounds: int) -> int | None:
    end = len(messages) - 2 * rounds
    return next((n for n in range(end - 1, -1, -1) if messages[n].role == "user"), None)


@dataclass(frozen=True)
class _Work:
    """The work on one message: what it says, and what the agent has done about it."""

    request: Request
    at: int

    @property
    def message(self) -> Message:
        return self.request.messages[self.at]

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages without the agent's own rounds."""
        return self.request.messages[: len(self.request.messages) - 2 * self.request.round]

    @cached_property
    def usages(self) -> tuple[ToolUsage, ...]:
        return tool_usages(self.request.tools)

    @cached_property
    def done(self) -> tuple[AnsweredCall, ...]:
        own = self.request.messages[len(self.messages) :]
        return answered_calls(own, self.usages)

    @cached_property
    def said(self) -> list[Sentence]:
        return [sentence(s) for line in self.message.text.splitlines() for s in sentences(line)]

    @cached_property
    def facts(self) -> list[str]:
        return [s.text for s in self.said if states_fact(s)]

    @cached_property
    def questions(self) -> list[str]:
        return [s.text for s in self.said if s.question]

    @cached_property
    def to_forget(self) -> str:
        """The message, where it asks for something to be forgotten."""
        asked = any(_FORGET.search(s.text) for s in self.said)
        return self.message.text if asked else ""

    @cached_property
    def answer(self) -> ReaderAnswer | None:
        """The reader's answer to the last question, from the context and all results."""
        if not self.questions:
            return None
        return read_answer(replace(self.request, question=self.questions[-1]))

    def of(self, *purposes: ToolPurpose) -> tuple[ToolUsage, ...]:
        """The usages of the first purpose for which there is any."""
        return next((u for p in purposes if (u := with_purpose(self.usages, p))), ())

    def tried(self, purpose: ToolPurpose) -> tuple[AnsweredCall, ...]:
        """The agent's calls of a purpose."""
        return tuple(call for call in self.done if call.purpose == purpose)

    def next_calls(self) -> tuple[_Call, ...]:
        """The calls of this round; none where all is done."""
        if any(usage.purpose in WRITING for usage in self.usages):
            if self.to_forget:
                return tuple(_forgetting(self))
            if self.facts:
                return tuple(_keeping(self))
        if self.questions:
            return tuple(_searching(self))
        return ()


# Writing: what a message states, corrects, or asks to be forgotten.


def _keeping(work: _Work) -> Iterable[_Call]:
    written = [call for call in work.done if call.purpose in WRITING]
    if written:
        return _again(work, written)
    looked_for = _old_entries(work)
    if work.request.round == 0:
        first = [*_lookup(work, work.facts if _corrects(work) else ()), *_notes_before(work)]
        if first:
            return first
    if work.request.round <= 1 and looked_for and not work.tried("get"):
        verified = [_by_key(usage, entry) for usage in work.of("get")[:1] for entry in looked_for]
        if verified:
            return verified
    return [*_replacing(work, looked_for), *_noting(work)]


def _corrects(work: _Work) -> bool:
    """Whether the message announces a change, and an old entry could be replaced."""
    replaceable = work.of("update", "forget")
    return bool(replaceable) and any(not UPDATING.isdisjoint(words(f)) for f in work.facts)


def _lookup(work: _Work, texts: Sequence[str]) -> list[_Call]:
    usages = work.of("search", "list")[:1] if texts else ()
    return [_find(usage, " ".join(texts)) for usage in usages]


def _old_entries(work: _Work) -> list[FoundEntry]:
    """The agent's own entry that a correction replaces, as a search showed it."""
    told = frozenset(content(" ".join(work.facts)))
    keyed = any(usage.keyed for usage in with_purpose(work.usages, "store"))
    own = [e for e in _shown(work) if not keyed or _is_own(e)]
    near = [e for e in own if shared_words(e.text, told) >= _SHARED and not _same(work, e)]
    best = max(near, key=lambda e: shared_words(e.text, told), default=None)
    return [best] if best and _is_there(work, best) else []


def _same(work: _Work, entry: FoundEntry) -> bool:
    return " ".join(entry.text.split()) == " ".join(" ".join(work.facts).split())


def _is_own(entry: FoundEntry) -> bool:
    """Whether the agent stored an entry: its key is the one that the agent gives such a text."""
    begun = _key(entry.text).rpartition("_")[0]
    return bool(_OWN_KEY.search(entry.key)) and entry.key.rpartition("_")[0] == begun


def _shown(work: _Work) -> list[FoundEntry]:
    answers = [*work.tried("search"), *work.tried("list")]
    return [entry for call in answers if call.found_something for entry in found_entries(call.text)]


def _is_there(work: _Work, entry: FoundEntry) -> bool:
    """Whether an entry was there when it was looked up by its key, or was not looked up."""
    looked = [call for call in work.tried("get") if entry.key in call.arguments]
    return not looked or any(call.found_something for call in looked)


def _replacing(work: _Work, old: Sequence[FoundEntry]) -> list[_Call]:
    if old and (update := work.of("update")):
        values = replace(_statement(work.facts), key=old[0].key)
        return [_Call(update[0], values, "key")]
    forget = [_by_key(usage, entry) for usage in work.of("forget")[:1] for entry in old]
    return [*_storing(work), *forget]


def _storing(work: _Work) -> list[_Call]:
    dated = any(mentions(fact) for fact in work.facts)
    several = len(work.facts) > 1
    stores = work.of("store")
    lists = [u for u in stores if _takes_list(u)]
    singles = [u for u in stores if not _takes_list(u)]
    pages = work.of("append")
    by_nature = (pages if dated else (), lists if several else (), singles, lists, pages)
    usage = next((u[0] for u in by_nature if u), next(iter(work.of("write notes")), None))
    if usage is None:
        return []
    facts = work.facts if _takes_list(usage) else [" ".join(work.facts)]
    return [_Call(usage, _with_choice(usage, _statement(facts), dated=dated), "content")]


def _takes_list(usage: ToolUsage) -> bool:
    return any(p.role == "content" and p.listed for p in parameters(usage.tool))


def _statement(facts: Sequence[str]) -> ArgumentValues:
    return ArgumentValues(content=tuple(facts), key=_key(" ".join(facts)))


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


def _again(work: _Work, written: Sequence[AnsweredCall]) -> list[_Call]:
    """The same statement under another choice, where the tool refused the first one."""
    refused = [c for c in written if c.is_error and c.purpose in {"store", "append"}]
    if len(refused) < len(written) or not refused:
        return []
    usage = refused[0].usage
    used = json.loads(refused[0].arguments)
    tried = [v for v in used.values() if isinstance(v, str)]
    if not any(set(p.choices) - set(tried) for p in parameters(usage.tool) if p.choices):
        return []
    values = _with_choice(usage, _statement(work.facts), dated=False, tried=tried)
    return [_Call(usage, values, "content")]


def _instructions(work: _Work) -> list[str]:
    return [s.text for s in work.said if not s.question and _INSTRUCTS.search(s.text)]


def _notes_before(work: _Work) -> list[_Call]:
    """Reads the notes before it adds to them: writing may replace them."""
    if not _instructions(work) or not work.of("write notes"):
        return []
    return [_read_notes(usage) for usage in work.of("read notes")[:1]]


def _noting(work: _Work) -> list[_Call]:
    usage = next(iter(work.of("write notes")), None)
    new = _instructions(work)
    if usage is None or not new:
        return []
    before = [c.text for c in work.tried("read notes") if c.found_something]
    lines = dict.fromkeys([*(line for text in before for line in text.splitlines()), *new])
    values = ArgumentValues(content=("\n".join(lines),), key=NOTES_KEY)
    return [_Call(usage, values, "content")]


def _forgetting(work: _Work) -> list[_Call]:
    forget = work.of("forget")[:1]
    if not forget or work.tried("forget"):
        return []
    if not any(p.role == "key" for p in parameters(forget[0].tool)):
        return [_Call(forget[0], ArgumentValues(query=work.to_forget), "query")]
    if work.request.round == 0:
        return _lookup(work, [work.to_forget])
    meant = [entry for entry in _meant(work) if _is_there(work, entry)]
    if not work.tried("get") and (get := work.of("get")):
        return [_by_key(get[0], entry) for entry in meant]
    return [_by_key(forget[0], entry) for entry in meant]


def _meant(work: _Work) -> list[FoundEntry]:
    """The entries that a request to forget means, best first."""
    asked = frozenset(content(work.to_forget)) - _ASKING_WORDS
    least = max(1.0, _MEANT * len(asked))
    near = [e for e in _shown(work) if shared_words(e.text, asked) >= least]
    near.sort(key=lambda e: -shared_words(e.text, asked))
    return near[:_FORGOTTEN]


# Reading: the ways to an answer, the cheapest first.


def _searching(work: _Work) -> list[_Call]:
    question = " ".join(work.questions)
    if work.request.round == 0:
        near = [_reload(usage, ref) for usage in work.of("reload")[:1] for ref in _wanted(work)]
        first = near or [_find(usage, question) for usage in work.of("search")[:1]]
        if first:
            return first
    if work.answer is None or work.answer.text != IDK:
        return []
    if not any(call.purpose in {"read notes", "search sessions"} for call in work.done):
        more = [
            *_reading_on(work),
            *(_read_notes(usage) for usage in work.of("read notes")[:1]),
            *(_find(usage, question) for usage in work.of("search sessions")[:1]),
        ]
        if more:
            return [*more, *_search_more(work, question)]
    return [*_reading_on(work), *_look_up(work), *_search_more(work, question)]


def _search_more(work: _Work, question: str) -> list[_Call]:
    """The next search tool that was not used yet, or else the whole list."""
    used = {call.usage.tool.name for call in work.done}
    left = [u for u in (*work.of("search"), *work.of("list")) if u.tool.name not in used]
    return [_find(usage, question) for usage in left[:1]]


def _wanted(work: _Work) -> list[ContextReference]:
    """The reference whose surroundings speak of the question, or nothing."""
    asked = frozenset(content(" ".join(work.questions)))
    least = max(1.0, _BEHIND * len(asked))
    found = [r for r in context_references(work.messages) if shared_words(r.beside, asked) >= least]
    return sorted(found, key=lambda r: -shared_words(r.beside, asked))[:1]


def _reading_on(work: _Work) -> list[_Call]:
    reloaded = work.tried("reload")
    place = next_place(reloaded[-1].text) if reloaded else None
    if place is None:
        return []
    usage, used = reloaded[-1].usage, json.loads(reloaded[-1].arguments)
    named = (p.name for p in parameters(usage.tool) if p.role in {"reference", "key"})
    reference = next((str(used[n]) for n in named if n in used), "")
    return [_Call(usage, _behind(usage, reference, place), "reference")]


def _look_up(work: _Work) -> list[_Call]:
    """The entry that was shown in part and speaks of the question most, by its key."""
    get = work.of("get")[:1]
    asked = frozenset(content(" ".join(work.questions)))
    cut = [e for e in _shown(work) if e.cut and shared_words(e.text, asked)]
    best = max(cut, key=lambda e: shared_words(e.text, asked), default=None)
    if best is None or work.tried("get"):
        return []
    return [_by_key(usage, best) for usage in get]


# Calls of tools.


def _find(usage: ToolUsage, text: str) -> _Call:
    if usage.purpose == "list":
        return _Call(usage, ArgumentValues(), "query")
    listed = any(p.role == "query" and p.listed for p in parameters(usage.tool))
    return _Call(usage, ArgumentValues(query=text, keywords=(text,) if listed else ()), "query")


def _by_key(usage: ToolUsage, entry: FoundEntry) -> _Call:
    needed = any(p.role == "content" and p.required for p in parameters(usage.tool))
    values = ArgumentValues(key=entry.key, content=(entry.text,) if needed else ())
    return _Call(usage, values, "key")


def _reload(usage: ToolUsage, wanted: ContextReference) -> _Call:
    return _Call(usage, _behind(usage, wanted.reference), "reference")


def _behind(usage: ToolUsage, reference: str, place: int | None = None) -> ArgumentValues:
    named = any(p.role == "reference" for p in parameters(usage.tool))
    if named:
        return ArgumentValues(reference=reference, place=place)
    return ArgumentValues(key=reference, place=place)


def _read_notes(usage: ToolUsage) -> _Call:
    return _Call(usage, ArgumentValues(key=NOTES_KEY), "key")


def _tool_use(call: _Call, message: Message) -> ToolUse:
    usage = call.usage
    values = replace(call.values, choices={**dict(usage.choices), **call.values.choices})
    given = arguments(usage.tool, values, call.main)
    return _identified(usage.tool, message, given)


def _identified(tool: ToolSpec, message: Message, given: dict[str, object]) -> ToolUse:
    text = json.dumps(given, ensure_ascii=False, sort_keys=True)
    digest = hashlib.blake2b(f"{message.id}\n{tool.name}\n{text}".encode(), digest_size=6)
    return ToolUse(id=f"call_{digest.hexdigest()}", name=tool.name, arguments=text)


def _key(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return "_".join([*content(text)[:_KEY_WORDS], digest])
