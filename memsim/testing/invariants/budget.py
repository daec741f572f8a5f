"""Budget and progress: what is sent fits, is counted rightly, and compacting comes to an end."""

from __future__ import annotations

from memsim.strategy import Event
from memsim.testing.invariants.structure import at
from memsim.testing.registry import Violation, holds
from memsim.testing.worlds import Trial

MOST_REQUESTS = 12
"""Times that a model may be asked to write for one turn, whatever the design: once for each part
that writes, and as often again."""


@holds(
    15,
    "budget",
    on="strategy",
    formal="tok(render(H')) <= B, or BudgetUnsatisfiable names system, pins, tail or input",
    needs=("context",),
)
def within_budget(trial: Trial) -> int:
    """No context is over its budget; where what must stay does not fit, a typed error says so.

    Fails, for example, where pinned notes are added after the window was cut to the budget.
    """
    seen = 0
    for sight in trial.transcript.sights:
        seen += 1
        if sight.refused is None and sight.context.tokens > max(0, sight.query.budget):
            raise Violation(
                f"{at(sight)}: {sight.context.tokens} tokens, and the budget is"
                f" {sight.query.budget}"
            )
        if sight.refused is not None and sight.refused.tokens <= sight.refused.budget:
            raise Violation(f"{at(sight)}: refused, and yet it fits: {sight.refused}")
    return seen


@holds(
    16,
    "budget",
    on="strategy",
    formal="triggered => tok(H') < tok(H); requests per turn <= K; none without a new message",
    needs=("context", "model"),
)
def progress(trial: Trial) -> int:
    """A compaction makes less of the history, and a model is asked a bounded number of times.

    Fails, for example, where a summary that was refused is asked for again, over and over.
    """
    seen = 0
    for ended in trial.transcript.ends:
        if ended.requests > MOST_REQUESTS:
            raise Violation(
                f"after {ended.said} messages the model was asked {ended.requests} times"
            )
        seen += ended.requests
        for event in ended.events:
            if _compacts(event):
                seen += 1
                if (event.after or 0) >= (event.before or 0):
                    raise Violation(
                        f"after {ended.said} messages a compaction made {event.after} tokens of"
                        f" {event.before}"
                    )
    return seen


def _compacts(event: Event) -> bool:
    return event.kind == "compaction" and event.before is not None and event.after is not None


@holds(
    17,
    "budget",
    on="strategy",
    formal="no new message => C(C(H)) = C(H), byte for byte, and no model is asked",
    needs=("context",),
)
def idempotence(trial: Trial) -> int:
    """Asked twice, a memory shows the same; and asking a memory twice leaves no trace.

    Fails, for example, where reading counts as use, and changes what the next question gets.
    """
    if not trial.transcript.shown or trial.main.over:
        return 0
    world = trial.main
    seen = 0
    for who in trial.case.principals:
        query = world.query(trial.case.questions[0], who)
        last = next(s for s in reversed(trial.transcript.sights) if s.query.principal == who)
        if last.query != query or last.refused is not None:
            continue
        again = world.memory.context(query).ranked()
        seen += 1
        if repr(again) != repr(last.context):
            raise Violation(f"{at(last)}: asked again, it shows something else")
    return seen


@holds(
    19,
    "budget",
    on="strategy",
    formal="tokens(section) = tokenizer(section's messages); tokens(context) = sum of sections",
    needs=("context",),
)
def token_accounting(trial: Trial) -> int:
    """The tokens that a context tells are those of what is sent.

    Fails, for example, where a section counts its messages without what a message costs by itself.
    """
    seen = 0
    for sight in trial.transcript.shown:
        for section in sight.context.sections:
            seen += 1
            counted = trial.main.build.tokens(section.messages)
            if counted != section.tokens:
                raise Violation(
                    f"{at(sight)}: {section.layer} tells {section.tokens} tokens and has {counted}"
                )
    return seen


@holds(
    20,
    "budget",
    on="strategy",
    formal="trigger(t + 1) uses tok(H'), not tok(H): no compaction without growth since the last",
    needs=("context", "surfaces"),
)
def usage_reset(trial: Trial) -> int:
    """After a compaction, what is left is what counts: the same messages are not compacted again.

    Fails, for example, where the count from before the compaction starts another one at once.
    """
    if trial.case.behaviour not in {"good", "slow"}:
        return 0
    seen = 0
    taken: dict[str, int] = {}
    for ended in trial.transcript.ends:
        for event in ended.events:
            if event.kind != "compaction":
                continue
            for source in event.sources:
                seen += 1
                if taken.get(source) == ended.said:
                    raise Violation(
                        f"after {ended.said} messages {source} was compacted twice in one turn"
                    )
                taken[source] = ended.said
    return seen
