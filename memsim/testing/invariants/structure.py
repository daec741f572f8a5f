"""Structure: what is sent is made of what was said, whole, in order, and nobody else's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memsim.context import escaped
from memsim.memory.compaction.condense import AUTHORITY
from memsim.message import Message
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.worlds import Sight, Trial


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

    Fails, for example, where two results of one call are parted by a summary.
    """
    seen = 0
    for sight in trial.transcript.served:
        said = trial.transcript.said[: sight.said]
        place = places(said)
        shown = sight.messages
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
    """
    seen = 0
    for sight in trial.transcript.served:
        place = places(trial.transcript.said[: sight.said])
        for section in sight.context.sections:
            found = [place[m.id] for m in section.messages if not m.composed and m.id in place]
            seen += len(found) > 1
            if found != sorted(found):
                raise Violation(f"{at(sight)}: {section.layer} is out of order")
    return seen


@holds(
    5, "system(H') = system(H) byte for byte, in order, but for tagged compaction blocks", "system"
)
def system_preservation(trial: Trial) -> int:
    """Standing rules stay in every context, byte for byte and in their order.

    Fails, for example, where the rule of the first turn is summarised away with that turn.
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
    return seen


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

    A call and everything up to its last result are kept or dropped as one. Fails, for example,
    where a window of four drops the third message to make room for recall.
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
        latest = [m for m in whole if not m.calls and not m.results and m.id not in gone]
        if not latest or count(whole) > sight.query.budget // 2:
            continue
        seen += 1
        lost = [m.id for m in latest if m not in sight.messages]
        if lost:
            raise Violation(f"{at(sight)}: of the latest {tail} messages, {lost} are not there")
    return seen


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
    return seen
