"""Structure: what is sent is made of what was said, whole, in order, and nobody else's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memsim.context import NEVER_TRIMMED, escaped
from memsim.memory.compaction.condense import AUTHORITY
from memsim.message import Message
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.worlds import Sight, Trial, TrialTranscript


def places(said: Sequence[Message]) -> dict[str, int]:
    """The place of each message by its id."""
    return {m.id: place for place, m in enumerate(said)}


def answered(said: Sequence[Message]) -> list[tuple[int, int]]:
    """Places of each call that was answered, and of its result: the nearest call before it."""
    found: list[tuple[int, int]] = []
    called: dict[str, int] = {}
    for place, message in enumerate(said):
        found += [(called[result], place) for result in message.results if result in called]
        called.update(dict.fromkeys(message.calls, place))
    return found


def at(sight: Sight) -> str:
    """Where a sight was had, for a message."""
    return f"turn {sight.query.turn}, {sight.query.principal} asks {sight.query.text[:40]!r}"


def torn(messages: Iterable[Message]) -> set[str]:
    """Calls without a result and results without a call."""
    messages = tuple(messages)
    called = {c for m in messages for c in m.calls}
    return called ^ {r for m in messages for r in m.results}


@holds(1, "for all ids i: i in calls(H') <=> i in results(H'), but for the last message's calls")
def pair_closure(trial: Trial) -> int:
    """A tool call is sent exactly where its result is, unless the result is still to come.

    Fails, for example, where a window of the latest 5 messages begins with a result whose call was
    the sixth: providers refuse the request.

    To mend it, keep or drop a call together with all of its results.
    """
    seen = 0
    for sight in trial.transcript.served:
        context = sight.context
        sent = context.messages()
        pending = set(sent[-1].calls) if sent else set()
        if torn(sent) - pending:
            raise Violation(f"{at(sight)}: half a pair is sent: {sorted(torn(sent) - pending)}")
        # Of several calls those that nobody answered may be left out, and the rest sent.
        there = {m.id for m in sight.messages if not m.composed or m.calls or m.results}
        said = trial.transcript.said[: sight.said]
        latest = max((p for p, m in enumerate(said) if m.id in there), default=0)
        for call, answer in answered(said):
            seen += said[call].id in there or said[answer].id in there
            if said[answer].id in there and said[call].id not in there:
                raise Violation(f"{at(sight)}: result {said[answer].id} without {said[call].id}")
            if said[call].id in there and said[answer].id not in there and answer <= latest:
                raise Violation(f"{at(sight)}: call {said[call].id} without {said[answer].id}")
    return seen


@holds(2, "for all groups g in H': results(g) stand directly behind calls(g), each id once")
def adjacency(trial: Trial) -> int:
    """Results stand directly behind their call, unless something was said between them, and once.

    Fails, for example, where two results of one call are parted by a summary, or a message is both
    in the window and quoted above it.

    To mend it, show each message once, and keep results behind their call.
    """
    seen = 0
    for sight in trial.transcript.served:
        said = trial.transcript.said[: sight.said]
        place = places(said)
        shown = sight.messages
        once = Counter(i for m in shown for i in dict.fromkeys(m.verbatim))
        for twice in (i for i, count in once.items() if count > 1):
            raise Violation(f"{at(sight)}: {twice} is sent twice")
        where = {m.id: n for n, m in enumerate(shown) if not m.composed}
        if len(where) != sum(1 for m in shown if not m.composed):
            raise Violation(f"{at(sight)}: a message is sent twice")
        for call, answer in answered(said):
            first, last = where.get(said[call].id), where.get(said[answer].id)
            if first is None or last is None:
                continue
            seen += 1
            for between in shown[first + 1 : last]:
                own = place.get(between.id, -1)
                if between.composed or not call < own < answer:
                    raise Violation(
                        f"{at(sight)}: {between.id} stands between {said[call].id} and its result"
                    )
    return seen


@holds(3, "ids(H') subset of ids(H)")
def no_invention(trial: Trial) -> int:
    """Every id that is sent, quoted, derived from or ranked is one of a message that was said.

    Fails, for example, where a summary credits `m99` in a conversation of ten messages.
    """
    seen = 0
    for sight in trial.transcript.served:
        context = sight.context
        said = {m.id for m in trial.transcript.said[: sight.said]}
        ids = {*context.verbatim, *context.derived, *context.ranking}
        seen += len(ids)
        if ids - said:
            raise Violation(f"{at(sight)}: nobody said {sorted(ids - said)[:3]}")
        if len(context.ranking) != len(set(context.ranking)):
            raise Violation(f"{at(sight)}: a message is ranked twice")
    return seen


@holds(4, "H' restricted to original messages is a subsequence of H, within each section")
def order(trial: Trial) -> int:
    """Original messages stand in the order in which they were said, within each section.

    Fails, for example, where recalled messages are put in by rank, and an answer precedes its
    question.

    To mend it, sort messages by the order in which they were observed, within turns too.
    """
    seen = 0
    for sight in trial.transcript.served:
        place = places(trial.transcript.said[: sight.said])
        for section in sight.context.sections:
            found = [place[m.id] for m in section.messages if not m.composed and m.id in place]
            seen += len(found) > 1
            if found != sorted(found):
                raise Violation(f"{at(sight)}: {section.layer} is out of order")
        seen += _turns_in_order(sight, trial.transcript.said)
    return seen + _quotes_in_order(trial.transcript)


_LATEST = frozenset({"working", "window", "tools", "query"})
"""Sections of what was said last, which are read one after the other."""


def _turns_in_order(sight: Sight, said: Sequence[Message]) -> int:
    place = places(said)
    latest: dict[int, Message] = {}
    seen = 0
    for message in (m for s in sight.context.sections if s.layer in _LATEST for m in s.messages):
        if message.composed or message.role == "system" or message.id not in place:
            continue
        before = latest.get(message.turn, message)
        seen += before is not message
        if place[before.id] > place[message.id]:
            raise Violation(f"{at(sight)}: {before.id} stands before {message.id}, said earlier")
        latest[message.turn] = message
    return seen


_ENOUGH = 4
"""So many texts that keep the order of turns, each of as many turns, are no rankings."""


def _quotes_in_order(transcript: TrialTranscript) -> int:
    # What quotes turn by turn keeps the order within them; a ranking has none to keep.
    found = {m.quotes: s for s in transcript.served for m in s.messages if len(m.quotes) > 1}
    place, turn = places(transcript.said), {m.id: m.turn for m in transcript.said}
    chronicles = [q for q in found if len({turn[i] for i in q if i in turn}) >= _ENOUGH]
    if len(chronicles) < _ENOUGH:
        return 0
    for quoted in found:
        turns = [turn[i] for i in quoted if i in turn]
        if turns != sorted(turns):
            return 0
    for quoted, sight in found.items():
        order = [place[i] for i in quoted if i in place]
        if order != sorted(order):
            raise Violation(f"{at(sight)}: messages of one turn are quoted in another order")
    return len(chronicles)


@holds(
    5, "system(H') = system(H) byte for byte, in order, but for tagged compaction blocks", "system"
)
def system_preservation(trial: Trial) -> int:
    """Standing rules stay in every context, byte for byte and in their order.

    Fails, for example, where the rule of the first turn is summarised away with that turn.

    To mend it, keep system messages byte for byte, or raise `BudgetUnsatisfiable`.
    """
    seen = 0
    for sight in trial.transcript.served:
        rules = [
            m
            for m in trial.transcript.said[: sight.said]
            if m.role == "system"
            and m.principal == sight.query.principal
            and m.id not in trial.transcript.forgotten
        ]
        shown = [m for m in sight.messages if m in rules]
        seen += len(rules)
        if shown != rules:
            gone = [m.id for m in rules if m not in shown]
            raise Violation(f"{at(sight)}: standing rules {gone} are gone, or out of order")
    return seen


@holds(6, "for all t derived from role r: authority(role of t in H') <= authority(r)")
def authority_non_elevation(trial: Trial) -> int:
    """What users and tools said never speaks as the system, however it was put into other words.

    Fails, for example, where a summary of what a web page said is sent as a system message.

    To mend it, give what you compose the role of its sources, and never `system`.
    """
    seen = 0
    for sight in trial.transcript.served:
        roles = {m.id: m.role for m in trial.transcript.said[: sight.said]}
        for message in sight.messages:
            sources = {*message.quotes, *message.derived_from}
            if not message.composed or not sources:
                continue
            seen += 1
            least = min(AUTHORITY[roles[i]] for i in sources if i in roles)
            most = max(AUTHORITY[roles[i]] for i in sources if i in roles)
            if message.role == "system" and least < AUTHORITY["system"]:
                raise Violation(
                    f"{at(sight)}: {message.id} speaks as the system, and was made of what"
                    f" {sorted({roles[i] for i in sources if i in roles})} said"
                )
            if AUTHORITY[message.role] > max(most, AUTHORITY["user"]):
                raise Violation(f"{at(sight)}: {message.id} speaks above all its sources")
        seen += _texts_keep_their_rank(sight, trial.transcript.said)
    return seen


_CODE = re.compile(r"K-\d{4}")
_TELLING = 24
"""Characters of a text that nobody writes twice by chance."""


def _texts_keep_their_rank(sight: Sight, said: Sequence[Message]) -> int:
    """What speaks as the system without being a rule holds no text of anybody else's."""
    known = {m.id: m for m in said[: sight.said]}
    raised = [m for m in sight.messages if m.role == "system" and known.get(m.id) != m]
    if not raised:
        return 0
    rules = "\n".join(m.text for m in known.values() if m.role == "system")
    text = "\n".join(m.text for m in raised)
    for message in known.values():
        own = {message.text.strip()[:200], *_CODE.findall(message.text)}
        for part in own if message.role != "system" else ():
            telling = len(part) >= _TELLING or _CODE.fullmatch(part)
            if telling and part in text and part not in rules:
                raise Violation(
                    f"{at(sight)}: what {message.id} says as {message.role} speaks as the system"
                )
    return len(raised)


@holds(7, "last user message m of H: m in H', byte for byte")
def current_input(trial: Trial) -> int:
    """The message that is to be answered reaches the model byte for byte.

    The question is put to the model beside the context, so it may be left out there; what stands
    there in its place may not be a part of it. Fails, for example, where a long question is cut to
    its first 500 characters to make room for what was recalled.
    """
    seen = 0
    for sight in trial.transcript.served:
        own = [
            m
            for m in trial.transcript.said[: sight.said]
            if m.role == "user" and m.turn == sight.query.turn
        ]
        if not sight.delivered or not own:
            continue
        there = [m for m in sight.messages if m.id == own[-1].id]
        instead = [m for m in sight.messages if own[-1].id in {*m.quotes, *m.excerpts}]
        seen += len(there) + len(instead)
        # A time may stand before it; whoever adds one says that they quote it.
        added = [m for m in there if own[-1].id in m.quotes and own[-1].text in m.text]
        if any(m != own[-1] and m not in added for m in there):
            raise Violation(f"{at(sight)}: {own[-1].id}, which is to be answered, was altered")
        for message in instead:
            if not there and own[-1].id in message.excerpts:
                raise Violation(f"{at(sight)}: of {own[-1].id}, only a part is there")
    return seen


@holds(8, "the last k messages of H are in H', byte for byte; more only to close a pair", "tail")
def retained_tail(trial: Trial) -> int:
    """The latest messages that a strategy promises to keep are there, as far as they fit.

    They may need half of the budget, and leave room for rules and pins. A call and everything up
    to its last result are kept or dropped as one. Fails, for example, where a window of four drops
    the third message to make room for recall.

    To mend it, choose the latest messages first, and fill what is left with the rest.
    """
    tail = trial.subject.claims.tail or 0
    seen = 0
    count = trial.main.build.tokens
    scoped = "isolation" in trial.subject.claims.has
    for sight in trial.transcript.served:
        said = [
            m
            for m in trial.transcript.said[: sight.said]
            if not scoped or m.principal == sight.query.principal
        ]
        start = len(said) - min(tail, len(said))
        # A group of a call and all up to its last result is kept or dropped as one.
        for call, answer in answered(said):
            if call < start <= answer:
                start = answer + 1
        # An orphan, and a call that is long given up, may be sent to no provider.
        whole = said[start:]
        gone = trial.transcript.forgotten
        paired = _whole_pairs(said, start)
        latest = [
            m
            for m in whole
            if ((not m.calls and not m.results) or m.id in paired) and m.id not in gone
        ]
        firm = sum(s.tokens for s in sight.context.sections if s.layer in NEVER_TRIMMED)
        room = min(sight.query.budget // 2, sight.query.budget - firm)
        if not latest or count(whole) > room:
            continue
        seen += 1
        lost = [m.id for m in latest if m not in sight.messages]
        if lost:
            raise Violation(f"{at(sight)}: of the latest {tail} messages, {lost} are not there")
    return seen


def _whole_pairs(said: Sequence[Message], start: int) -> frozenset[str]:
    """Ids of calls from a place on, and of their results, that directly follow in one piece."""
    found: set[str] = set()
    for place in range(start, len(said)):
        calls = set(said[place].calls)
        group = {said[place].id}
        for message in said[place + 1 :] if calls else ():
            if not message.results or not calls.issuperset(message.results):
                break
            calls.difference_update(message.results)
            group.add(message.id)
        if said[place].calls and not calls:
            found |= group
    return frozenset(found)


@holds(9, "H' is a sequence that chat providers accept: roles, pairs, no empty composed content")
def provider_validity(trial: Trial) -> int:
    """A context begins with no result, and nothing that was composed is empty.

    Fails, for example, where a context begins with a tool's message, or a summary has no words.
    """
    seen = 0
    for sight in trial.transcript.served:
        # As the memory composed it: what goes to a provider is mended on the way.
        sent = sight.messages
        seen += len(sent)
        called: set[str] = set()
        if sent and sent[0].role == "tool":
            raise Violation(f"{at(sight)}: the first message is a tool's")
        for message in sent:
            if message.composed and not message.text.strip():
                raise Violation(f"{at(sight)}: {message.id} was composed of nothing")
            if message.role == "tool" and not message.results:
                raise Violation(f"{at(sight)}: {message.id} is a tool's message without a result")
            if set(message.results) - called:
                raise Violation(f"{at(sight)}: {message.id} answers what nobody called before")
            called.update(message.calls)
    return seen


@holds(10, "for all m in H' with original id: m = H(m), or m is composed, and says from what")
def no_mutation(trial: Trial) -> int:
    """An original message is sent as it was said, and what was altered says that it was composed.

    What a composed message claims to quote stands in it to the letter. Fails, for example, where a
    long result is cut to 500 characters and still passes for the original.

    To mend it, show a message whole, or compose a part that says what is left out and names it in
    `excerpts`.
    """
    seen = 0
    for sight in trial.transcript.served:
        said = {m.id: m for m in trial.transcript.said[: sight.said]}
        for message in sight.messages:
            if not message.composed:
                seen += 1
                if message.id in said and said[message.id] != message:
                    raise Violation(f"{at(sight)}: {message.id} was altered, and does not say so")
                continue
            for source in message.quotes:
                seen += 1
                if source not in said:
                    continue
                text = said[source].text
                # A delimiter in what is quoted is taken apart, which is no alteration.
                if text not in message.text and escaped(text) not in message.text:
                    raise Violation(f"{at(sight)}: {message.id} quotes {source} otherwise")
            if trial.case.behaviour in {"good", "slow"}:
                seen += _cuts_are_marked(sight, message, said, trial.main.model.wrote)
    return seen + _models_read_what_was_said(trial)


def _models_read_what_was_said(trial: Trial) -> int:
    said = {m.id: m for m in trial.transcript.said}
    asked = [r for r in trial.main.model.requests if r.task == "summarise"]
    parts = [Counter(m.id for m in r.messages) for r in asked]
    # Several messages of one id are passages, which say all of it together.
    read = [m for r, n in zip(asked, parts, strict=True) for m in r.messages if n[m.id] == 1]
    read = [m for m in read if not m.composed]
    # Calls may be left out, for which a text stands beside them.
    for message in (m for m in read if m.id in said and len(said[m.id].blocks) == 1):
        whole = said[message.id].text
        left = whole[len(message.text) :].strip()
        if len(left) > _TELLING and message.text.strip() and whole.startswith(message.text):
            raise Violation(f"a model is given only the beginning of {message.id}, without a mark")
    return len(read)


_BEGINNING = 60
"""Characters of a text by which its beginning is found in another."""


def _cuts_are_marked(
    sight: Sight, message: Message, said: Mapping[str, Message], wrote: Sequence[str]
) -> int:
    # A summary leaves out sentences; a text that ends within a word was cut, and has to show it.
    seen = 0
    for source in message.derived_from:
        text = said[source].text if source in said else ""
        begun = message.text.find(text[:_BEGINNING]) if len(text) > _BEGINNING else -1
        if begun < 0 or source in {*message.excerpts, *message.quotes} or text in message.text:
            continue
        seen += 1
        shown = message.text[begun:]
        size = next((n for n, (a, b) in enumerate(zip(text, shown, strict=False)) if a != b), 0)
        size = size or min(len(text), len(shown))
        within = size < len(text) and text[size - 1].isalnum() and text[size].isalnum()
        if within and not any(text[:size] in reply for reply in wrote):
            left = shown[size : size + 4].lstrip()
            if not left.startswith(_OMISSIONS):
                raise Violation(f"{at(sight)}: {message.id} cuts {source} short without a mark")
    return seen


_OMISSIONS = ("\u2026", "..", "[", "(", "<", "\u22ef", "{", "\\[")
"""What tells a reader that something is left out."""
