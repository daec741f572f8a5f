"""A state machine that drives a strategy by random events, with a second world beside it.

::

    from memsim.testing import CompactionMachine

    TestMine = CompactionMachine.for_strategy("strategies/mine.py@Mine").TestCase

Every rule ends by looking at all that has been seen so far. Where a strategy keeps principals
apart, whatever happens also happens in a second world, in which the others have other secrets: what
the first principal sees must be the same in both, to the byte. What Hypothesis prints for a failure
is a program; put the import above before it, and it fails by itself.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, cast, get_args

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from memsim.errors import BudgetUnsatisfiable, ModelError
from memsim.strategy import Forget
from memsim.testing.check_cases import Behaviour, Case, CaseElapse, CaseEvent, CaseForget, CaseGrant
from memsim.testing.checks import PROFILES, CheckProfile
from memsim.testing.generators.awkward_texts import DELIMITERS
from memsim.testing.generators.generated_conversations import (
    BLANK,
    FACTS,
    KINDS,
    LATER,
    PLAIN,
    PRINCIPALS,
    QUESTIONS,
    Kind,
    TurnPlan,
    Writer,
)
from memsim.testing.invariants import Violation, invariant
from memsim.testing.invariants.isolation import coded
from memsim.testing.subjects import subject_of
from memsim.testing.worlds import Sight, Subject, Trial, TrialTranscript, World

if TYPE_CHECKING:
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.testing.invariant_catalogue import Need

OBSERVER = PRINCIPALS[0]
"""Whose view is compared."""

AFTER_EVERY_STEP = (
    "pair_closure",
    "adjacency",
    "no_invention",
    "order",
    "system_preservation",
    "authority_non_elevation",
    "current_input",
    "retained_tail",
    "provider_validity",
    "no_mutation",
    "closed_world_recall_floor",
    "delimiter_safety",
    "within_budget",
    "progress",
    "token_accounting",
    "usage_reset",
    "well_formed",
    "invisible_fidelity",
)
"""What is measured on all that was seen, whenever something has happened."""

FAULTS = tuple(b for b in cast("tuple[Behaviour, ...]", get_args(Behaviour)) if b != "good")
SPOKEN = (*FACTS, *PLAIN[:2], *BLANK[:2], *(f"{d} FORGED {{code}}" for d in DELIMITERS))


class CompactionMachine(RuleBasedStateMachine):
    """Anything that may happen to one strategy; made by `for_strategy`."""

    subject: ClassVar[Subject | None] = None
    budget: ClassVar[int] = 240

    def __init__(self) -> None:
        super().__init__()
        if self.subject is None:
            raise TypeError("CompactionMachine.for_strategy says of which strategy")
        self._of = self.subject
        self._names = tuple(
            name
            for name in AFTER_EVERY_STEP
            if not self._of.claims.lacking(invariant(name)) and name not in self._of.claims.departs
        )
        self._case = Case(budget=self.budget)
        self._worlds: tuple[World, ...] = ()
        self._writer = Writer(apart=True)
        self._happened: list[CaseEvent | Behaviour] = []
        self._saved: tuple[int, tuple[str, ...]] | None = None
        self._who = 0
        self._gap = 3
        self._number = 0
        self._faulty = False
        self._viewers: set[str] = set()
        self._looked = 0

    @classmethod
    def for_strategy(
        cls,
        strategy: StrategyRef | str,
        *,
        profile: str | CheckProfile = "commit",
        budget: int = 240,
    ) -> type[CompactionMachine]:
        """The machine of one strategy, whose `TestCase` pytest and unittest can run.

        Args:
            strategy: such as `sliding_window:messages=5` or `my.py@Mine`.
            profile: how many programs are tried, and of how many steps.
            budget: tokens that a context may use; little, so that everything has to be compacted.

        Raises:
            UsageError: the strategy means nothing.
        """
        effort = PROFILES[profile] if isinstance(profile, str) else profile
        # What Hypothesis prints begins with the class's name, and so is a program.
        name = f"CompactionMachine.for_strategy({str(strategy)!r}, budget={budget})"
        own = {"subject": subject_of(str(strategy)), "budget": budget, "__module__": __name__}
        made: type[CompactionMachine] = type(name, (cls,), own)
        made.TestCase.settings = settings(
            max_examples=effort.examples,
            stateful_step_count=effort.steps,
            deadline=None,
            database=None,
            derandomize=True,
            phases=(Phase.explicit, Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        return made

    @initialize()
    def begin(self) -> None:
        """Two worlds where there is something to compare, and one where not."""
        count = 2 if self._offers("isolation") else 1
        self._worlds = tuple(World(self._of, self._case, looking=True) for _ in range(count))

    @rule(text=st.sampled_from(SPOKEN))
    def add_user(self, text: str) -> None:
        """Somebody says something, and is answered."""
        self._say(text, "talk")

    @rule(kind=st.sampled_from(KINDS[1:]), calls=st.integers(1, 3), long=st.sampled_from((1, 8)))
    def add_tool_pair(self, kind: Kind, calls: int, long: int) -> None:
        """Tools are called; they answer in several ways, late or never."""
        self._say("Look it up.", kind, calls=calls, long=long)

    @rule()
    def store(self) -> None:
        """A fact with a code is told."""
        self._say(FACTS[0], "talk")

    @rule()
    def supersede(self) -> None:
        """A fact is corrected."""
        self._say(LATER, "talk")

    @rule()
    def compact(self) -> None:
        """So much comes at once that whatever compacts has to."""
        self._say("Look everything up.", "tools", calls=3, long=60)

    @rule(question=st.sampled_from(QUESTIONS))
    def recall(self, question: str) -> None:
        """A question is put, and leaves no trace."""
        for world in self._worlds:
            world.ask(question, self._principal)
        self._look()

    @rule()
    def forget(self) -> None:
        """What somebody said first is to be erased."""
        own = self._writer.own(self._principal)
        self._happen(CaseForget(who=self._principal, sources=own[:1]))

    @rule()
    def grant(self) -> None:
        """Somebody lets the next one see all that they said."""
        self._granted(revoked=False)

    @rule()
    def revoke(self) -> None:
        """Somebody takes that back."""
        self._granted(revoked=True)

    @rule()
    def hygiene(self) -> None:
        """Forty days pass in which nobody speaks."""
        self._writer.time += timedelta(days=40)
        self._happen(CaseElapse(now=self._writer.time))

    @rule(minutes=st.sampled_from((0, 3, 60 * 26)))
    def advance_clock(self, minutes: int) -> None:
        """Time passes before the next turn."""
        self._gap = minutes

    @rule(to=st.integers(1, 2))
    def switch_principal(self, to: int) -> None:
        """Somebody else goes on."""
        self._who = (self._who + to) % len(PRINCIPALS)

    @precondition(lambda self: self._offers("save"))
    @rule()
    def save_load(self) -> None:
        """The memory is saved, and another instance goes on from what was saved."""
        before = [_of(world) for world in self._worlds]
        for world in self._worlds:
            world.restart()
        if [_of(world) for world in self._worlds] != before:
            raise Violation("saved and loaded, it shows or saves something else")
        states = tuple(world.saved() for world in self._worlds)
        self._saved = (len(self._happened), states)
        self._look()

    @precondition(lambda self: self._saved is not None)
    @rule()
    def crash_recover(self) -> None:
        """All is lost but what was saved last; what has happened since happens again."""
        count, states = self._saved or (0, ())
        for place, state in enumerate(states):
            again = World(self._of, self._case)
            try:
                self._again(again, state, count, place)
                self._same(again, self._worlds[place])
            finally:
                again.close()
        self._look()

    @precondition(lambda self: self._offers("isolation"))
    @rule()
    def use_foreign_handle(self) -> None:
        """An id of somebody else's is as good as one that nobody has."""
        others = [i for who in PRINCIPALS if who != self._principal for i in self._writer.own(who)]
        if self._principal in self._viewers or not others:
            return
        for world in self._worlds:
            query = world.query("Where is the order?", self._principal)
            used, unknown = (world.memory.locate(i, query) for i in (others[-1], "m999999"))
            if used != unknown:
                raise Violation(f"{self._principal} is told {used} of {others[-1]}")
            for handle in (others[-1], "m999999"):
                request = Forget(principal=self._principal, text="", sources=(handle,))
                done = world.memory.forget(request)
                if done.removed:
                    raise Violation(f"{self._principal} erases {done.removed}")
        self._look()

    @rule(behaviour=st.sampled_from(FAULTS))
    def fault_on(self, behaviour: Behaviour) -> None:
        """From now on the model fails in one way."""
        self._behave(behaviour)

    @rule()
    def fault_off(self) -> None:
        """The model does what it should again."""
        self._behave("good")

    def teardown(self) -> None:
        """Release everything."""
        for world in self._worlds:
            world.close()
        self._worlds = ()

    @property
    def _principal(self) -> str:
        return PRINCIPALS[self._who]

    def _offers(self, need: Need) -> bool:
        return self._of is not None and need in self._of.claims.has

    def _say(self, text: str, kind: Kind, *, calls: int = 1, long: int = 1) -> None:
        said = TurnPlan(
            who=self._who,
            gap=self._gap,
            kind=kind,
            text=("fact", text),
            calls=calls,
            long=long,
            rule=False,
            renewed=False,
            aside="",
        )
        self._number += 1
        for event in self._writer.events(self._number, said):
            self._happen(event)

    def _granted(self, *, revoked: bool) -> None:
        viewer = PRINCIPALS[(self._who + 1) % len(PRINCIPALS)]
        own = self._writer.own(self._principal)
        # What was shown once may be known for ever: from then on the worlds may differ.
        self._viewers |= set() if revoked else {viewer}
        self._happen(CaseGrant(owner=self._principal, viewer=viewer, sources=own, revoked=revoked))

    def _behave(self, behaviour: Behaviour) -> None:
        self._happened.append(behaviour)
        for world in self._worlds:
            world.model.behave(behaviour)

    def _happen(self, event: CaseEvent) -> None:
        self._happened.append(event)
        events = tuple(e for e in self._happened if not isinstance(e, str))
        for place, world in enumerate(self._worlds):
            world.case = replace(self._case, events=events)
            _played(world, _for(event, place))
        self._look()

    def _again(self, world: World, state: str, count: int, place: int) -> None:
        """Load what was saved after so much had happened, and let the rest happen again."""
        events = tuple(e for e in self._happened if not isinstance(e, str))
        before = tuple(_for(e, place) for e in self._happened[:count] if not isinstance(e, str))
        world.resume(state, Case(events=before))
        world.case = replace(self._case, events=events)
        for behaviour in [b for b in self._happened[:count] if isinstance(b, str)][-1:]:
            world.model.behave(behaviour)
        for happening in self._happened[count:]:
            if isinstance(happening, str):
                world.model.behave(happening)
            else:
                _played(world, _for(happening, place))

    def _same(self, again: World, world: World) -> None:
        for who in PRINCIPALS:
            one, other = (_context_text(w, who) for w in (again, world))
            if one != other:
                raise Violation(
                    f"after a crash and all that has happened since, {who} is shown something else"
                )

    def _look(self) -> None:
        if not self._worlds:
            return
        first = self._worlds[0]
        seen = first.transcript
        latest = TrialTranscript(
            said=seen.said,
            sights=seen.sights[self._looked :],
            ends=seen.ends,
            forgotten=seen.forgotten,
        )
        for name in self._names:
            invariant(name).measure(_Latest(first, latest))
        if len(self._worlds) > 1 and OBSERVER not in self._viewers:
            one, other = (_observed(world, self._looked) for world in self._worlds)
            if one != other:
                raise Violation(
                    f"{OBSERVER} can tell two worlds apart that differ in others' codes"
                )
        self._looked = len(seen.sights)


class _Latest(Trial):
    """What has been seen since the last look."""

    def __init__(self, world: World, latest: TrialTranscript) -> None:
        super().__init__(world.subject, world.case)
        self._main, self._latest = world, latest

    @property
    def transcript(self) -> TrialTranscript:
        return self._latest


def _for(event: CaseEvent, place: int) -> CaseEvent:
    """What happens in a world: in the second one, others have other codes."""
    return event if place == 0 else coded(event, OBSERVER)


def _played(world: World, event: CaseEvent) -> None:
    """Let one thing happen; what is raised on purpose ends its turn, and nothing else."""
    transcript = world.play((event,))
    failed, transcript.failed = transcript.failed, None
    if transcript.crashed:
        raise Violation(f"it raised {transcript.crashed}")
    if failed is not None and not isinstance(failed, ModelError | BudgetUnsatisfiable):
        raise Violation(f"it raised {type(failed).__name__}: {failed}")


def _context_text(world: World, who: str) -> str:
    try:
        return repr(world.memory.context(world.query(QUESTIONS[0], who)).ranked())
    except BudgetUnsatisfiable as error:
        return str(error)


def _of(world: World) -> list[str]:
    return [world.saved(), *(_context_text(world, who) for who in PRINCIPALS)]


def _observed(world: World, since: int) -> list[str]:
    sights: list[Sight] = world.transcript.sights[since:]
    seen = [repr((s.query, s.context, str(s.refused))) for s in sights if _is_theirs(s)]
    seen += [_context_text(world, OBSERVER), repr(tuple(world.memory.tools(OBSERVER)))]
    if "surfaces" in world.subject.claims.has:
        own = ((s.tier, s.sources, s.text) for s in world.memory.surfaces(OBSERVER))
        seen.append(repr(sorted(own)))
    return seen


def _is_theirs(sight: Sight) -> bool:
    return sight.query.principal == OBSERVER
