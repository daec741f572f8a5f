"""Budget and progress: what is sent fits, is counted rightly, and compacting comes to an end."""

from __future__ import annotations

from dataclasses import replace

from memsim.context import ContextBuilder
from memsim.memory.compaction import (
    CompactionState,
    Gate,
    Limits,
    RollingSummary,
    Size,
    SummaryRequest,
    Target,
    Trim,
    compact,
)
from memsim.message import EPOCH, said
from memsim.strategy import Event
from memsim.testing.case_tokens import COUNTER
from memsim.testing.check_cases import BAD, Case
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.step_bench import SHORT, bench, benches, steps
from memsim.testing.invariants.structure import at
from memsim.testing.worlds import Trial

# Budget and progress, on the steps of `memsim.memory.compaction`.


@holds(15, "tok(H') <= B, or BudgetUnsatisfiable(part)", on="compaction")
def trimming_keeps_the_budget(case: Case) -> int:
    """A trimmed history is within its budget, or a typed error names the part that is in the way.

    Fails, for example, where pins alone are above the budget, and it is overrun without a word.
    """
    tried = bench(case, "trim", Trim(to=Target(tokens=case.budget))).run()
    if tried.refused is not None:
        if tried.refused.part not in {"system", "pins", "tail", "input"}:
            raise Violation(f"the error names {tried.refused.part!r}")
        if tried.refused.tokens <= tried.refused.budget:
            raise Violation(f"refused, and yet it fits: {tried.refused}")
        return 1
    left = tried.done.history if tried.done else ()
    tokens = ContextBuilder(COUNTER).tokens(left)
    if tokens > case.budget:
        raise Violation(f"{tokens} tokens are left, and the budget is {case.budget}")
    return len(tried.history)


@holds(16, "changed => tok(H') < tok(H); requests <= 1 + retries", on="compaction")
def steps_make_progress(case: Case) -> int:
    """There is less after a step, or it says why not; models are asked no oftener than allowed.

    Fails, for example, where a summary that is longer than what it replaces is taken.
    """
    seen = 0
    for tried in benches(case):
        if tried.done is None:
            continue
        outcome = tried.done.outcome
        size = Size.of(tried.done.history, COUNTER, tried.done.state.summary).tokens
        seen += 1
        if size != outcome.after:
            raise Violation(f"{tried.name} tells {outcome.after} tokens, and leaves {size}")
        if tried.done.changed and outcome.after >= outcome.before:
            raise Violation(f"{tried.name} makes {outcome.after} tokens of {outcome.before}")
        if not tried.done.changed and not outcome.detail:
            raise Violation(f"{tried.name} does nothing, and does not say why")
    for retries in (0, 2):
        step = RollingSummary(asking=SummaryRequest(limit=60, retries=retries))
        tried = bench(case, "rolling", step).run()
        if tried.model.written > 1 + retries:
            raise Violation(f"{tried.model.written} requests, and {retries} retries are allowed")
    return seen


@holds(17, "C(C(H)) = C(H), and 0 requests the second time", on="compaction")
def steps_are_idempotent(case: Case) -> int:
    """Without a new message, a second time changes nothing and asks no model.

    Fails, for example, where a refused summary is asked for again at once.
    """
    seen = 0
    for tried in benches(case):
        if tried.done is None:
            continue
        written = tried.model.written
        again = tried.step(tried.done.history, tried.done.state, tried.means)
        seen += 1
        if again.history != tried.done.history:
            raise Violation(f"{tried.name} changes the history once more")
        if tried.model.written != written:
            raise Violation(f"{tried.name} asks the model again, and nothing has come since")
    return seen


@holds(18, "size = limit: no; size = limit + 1: yes; for each", on="compaction")
def thresholds_are_sharp(case: Case) -> int:
    """Exactly as much as a limit is within it, and one more is beyond; each limit for itself.

    Fails, for example, where 20 messages are compacted that should be at 21, or characters count
    only once there are too many messages.
    """
    history = bench(case, "trim", Trim(to=Target())).history
    size = Size.of(history, COUNTER)
    for name in ("messages", "characters", "tokens"):
        have: int = getattr(size, name)
        for limit, beyond in ((have, ()), (have - 1, (name,)), (have + 1, ())):
            if limit >= 0 and Limits(**{name: limit}).beyond(size) != beyond:
                raise Violation(f"{have} {name} at a limit of {limit}: beyond {beyond} is wrong")
    talk = tuple(said("user", "x" * 9600, id=f"t{n}", time=EPOCH) for n in range(6))
    if Gate(messages=6, characters=10**9).opens(talk[:5]) or not Gate(messages=6).opens(talk):
        raise Violation("the gate opens at 5 of 6 records, or not at 6")
    if Limits(characters=48_000).beyond(Size(messages=5, characters=48_000, tokens=0)):
        raise Violation("48,000 characters are beyond 48,000")
    if not Limits(characters=48_000).beyond(Size(messages=5, characters=48_001, tokens=0)):
        raise Violation("48,001 characters are within 48,000")
    return 3


@holds(20, "the trigger after C(H) looks at H', not at H", on="compaction")
def the_trigger_sees_what_is_left(case: Case) -> int:
    """A compaction that got below the trigger is not started again by what was there before.

    Fails, for example, where the tokens of the last request still count, and every turn compacts.
    """
    if case.behaviour in {*BAD, "raising"}:
        return 0
    tried = bench(case, "rolling", RollingSummary(asking=SHORT))
    trigger = Limits(tokens=case.budget)
    done = compact(
        tried.history, CompactionState(), trigger=trigger, step=tried.step, means=tried.means
    )
    within = not trigger.beyond(Size.of(done.history, COUNTER, done.state.summary))
    again = compact(done.history, done.state, trigger=trigger, step=tried.step, means=tried.means)
    if within and again.outcome.detail != "the trigger does not fire":
        raise Violation("what is left is within the limit, and is compacted again")
    return int(done.changed)


@holds(32, "n in {0, 1}, only system, only tools, doubled ids", on="compaction")
def steps_bear_anything(case: Case) -> int:
    """No history makes a step raise, be it empty, one message, or one with doubled ids.

    Fails, for example, where the first of no messages is asked for.
    """
    seen = 0
    for some in (case.messages[:0], case.messages[:1], case.messages * 2):
        tools = tuple(m for m in some if m.calls or m.results)
        rules = tuple(m for m in some if m.role == "system")
        for history in (some, tools, rules):
            for name, step in steps(case.budget).items():
                tried = bench(replace(case, events=()), name, step)
                tried.history = history
                tried.run()
                seen += 1
    return seen


MOST_REQUESTS = 12
"""Times that a model may be asked to write for one turn, whatever the design: once for each part
that writes, and as often again."""


@holds(15, "tok(render(H')) <= B, or BudgetUnsatisfiable names system, pins, tail or input")
def within_budget(trial: Trial) -> int:
    """No context is over its budget; where what must stay does not fit, a typed error says so.

    Fails, for example, where pinned notes are added after the window was cut to the budget.

    To mend it, count with `env.counter` and `env.build`, and raise `BudgetUnsatisfiable` where what
    must stay does not fit.
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


@holds(16, "triggered => tok(H') < tok(H); requests per turn <= K; none without a new message")
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


@holds(17, "no new message => C(C(H)) = C(H), byte for byte, and no model is asked")
def idempotence(trial: Trial) -> int:
    """Asked twice, a memory shows the same; and asking a memory twice leaves no trace.

    Fails, for example, where reading counts as use, and changes what the next question gets.
    """
    if not trial.transcript.served or trial.main.over:
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


@holds(19, "tokens(section) = tokenizer(section's messages); tokens(context) = sum of sections")
def token_accounting(trial: Trial) -> int:
    """The tokens that a context tells are those of what is sent.

    Fails, for example, where a section counts its messages without what a message costs by itself.
    """
    seen = 0
    for sight in trial.transcript.served:
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
    "trigger(t + 1) uses tok(H'), not tok(H): no compaction without growth since the last",
    "surfaces",
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
