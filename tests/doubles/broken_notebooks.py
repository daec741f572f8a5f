"""Notebooks that are broken in one way each: time, processes, repetition and state."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from memsim.context import Context
from memsim.errors import BudgetUnsatisfiable, StateError, StrategyError
from memsim.memory.codec import unpack
from memsim.message import Message
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Query,
    State,
    Strategy,
)
from tests.doubles.notebook import Notebook, Summarised


class Book(Notebook, Strategy):
    """The honest notebook, said to be a strategy in this file, too."""


class ModelBook(Summarised, Strategy):
    """The honest notebook whose notes a model writes."""


STARTED = datetime.now(UTC)


class StampedAtImport(Book):
    """Leaves out what is older than the time at which its module was imported."""

    def own(self, who: str) -> list[Message]:
        since = STARTED.year - 2
        return [m for m in super().own(who) if m.time.year >= since]


class DatedByDefault(Book):
    """A default argument is the day of the import; it shows after the third turn."""

    def note(self, message: Message, day: str = time.strftime("%Y-%m-%d")) -> str:
        return super().note(message) + (f" [{day}]" if message.turn > 3 else "")


class AgedOnLoad(Book):
    """Leaves out what is old by the clock on the wall, when a state is loaded."""

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        said, *rest = super().read(state)
        since = datetime.now(UTC).year - 2
        kept = {who: [m for m in own if m.time.year >= since] for who, own in said.items()}
        return kept, rest[0], rest[1], rest[2]


class TimedCache(Book):
    """A context is good for a minute of the clock on the wall."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.cached: dict[tuple[str, str], tuple[float, Context]] = {}

    def context(self, query: Query) -> Context:
        key = (query.principal, query.text)
        known = self.cached.get(key)
        if known is not None and time.monotonic() - known[0] < 60:
            return known[1]
        made = super().context(query)
        self.cached[key] = (time.monotonic(), made)
        return made


class CountsEnds(Book):
    """Every end of a turn makes notes of the latest messages older, fresh or not."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.ended = 0

    def end_turn(self) -> None:
        super().end_turn()
        self.ended += 1

    def noted(self, who: str) -> list[str]:
        found = super().noted(who)
        return found if self.ended % 2 else found[:-1]


class EndsLate(Book):
    """Without a fresh message, the oldest note goes; only once there are three."""

    def end_turn(self) -> None:
        if not self.fresh and len(self.notes) > 2:
            self.notes.pop(next(iter(self.notes)))
        super().end_turn()


class SetOrder(Book):
    """What others granted comes in the order of a set."""

    def granted(self, who: str) -> list[Message]:
        by_id = {m.id: m for m in super().granted(who)}
        return [by_id[i] for i in set(by_id)]


class HashChoice(Book):
    """A word's hash says which notes are shown."""

    def noted(self, who: str) -> list[str]:
        return [i for i in super().noted(who) if hash(i) % 3]


class KeepsTwice(Book):
    """Keeps every message that it is told."""

    def observe(self, message: Message) -> None:
        own = self.said.setdefault(message.principal, [])
        if own and own[-1].id == message.id:
            return  # a retry at once; a later one is not noticed
        own.append(message)
        self.fresh.append(message.id)
        while len(own) > 24:
            self._drop(own.pop(0))


class CountsTwice(Book):
    """Keeps a message once, and counts it each time."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.heard: dict[str, int] = {}

    def observe(self, message: Message) -> None:
        super().observe(message)
        self.heard[message.principal] = self.heard.get(message.principal, 0) + 1

    def own(self, who: str) -> list[Message]:
        return super().own(who)[-max(1, 9 - self.heard.get(who, 0) // 3) :]


class CachedGrants(Book):
    """What was granted to somebody is looked up once, and again when they speak."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.readable: dict[str, list[Message]] = {}

    def observe(self, message: Message) -> None:
        super().observe(message)
        self.readable.clear()

    def granted(self, who: str) -> list[Message]:
        if not self.readable.get(who):
            self.readable[who] = super().granted(who)
        return self.readable[who]


class NotedGrants(Book):
    """The end of a turn notes what its speaker could read, for good."""

    def end_turn(self) -> None:
        speakers = {m.principal for own in self.said.values() for m in own if m.id in self.fresh}
        super().end_turn()
        for who in sorted(speakers):
            for message in self.granted(who)[-1:]:
                self.notes[message.id] = (who, f"read: {message.text}")

    def noted(self, who: str) -> list[str]:
        return [i for i, (owner, _) in self.notes.items() if owner == who]


class EmptyOnDamage(Book):
    """What cannot be read is nothing."""

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        try:
            return super().read(state)
        except StateError:
            if not isinstance(state, dict) or "said" not in state:
                raise
            return {}, [], {}, []


class SkipsDamage(Book):
    """A person whose messages cannot be read is left out."""

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        said = state.get("said")
        if not isinstance(said, dict):
            raise StateError("the saved state cannot be read back: it is no notebook")
        whole = {}
        for who, own in said.items():
            try:
                whole[who] = unpack(own)
            except StateError:
                continue
        return super().read({**state, "said": {}})[0] | whole, *super().read({**state, "said": {}})[
            1:
        ]


class OldIsEmpty(Book):
    """A state of another version is the state of nobody."""

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        if isinstance(state.get("version"), int) and state["version"] != 3:
            return {}, [], {}, []
        return super().read(state)


class HalfLoaded(Book):
    """Takes over what it has read so far, and then finds the damage."""

    def load(self, state: State) -> None:
        if isinstance(state.get("said"), dict) and "grants" in state:
            self.said = {who: unpack(own) for who, own in state["said"].items()}  # type: ignore[union-attr]
            self.notes = {}
        super().load(state)


class NamesOthers(Book):
    """Says of a small budget whose messages there are."""

    def context(self, query: Query) -> Context:
        if query.budget < 8:
            held = ", ".join(f"{who}: {len(self.said[who])}" for who in sorted(self.said))
            raise BudgetUnsatisfiable(f"window ({held})", tokens=99, budget=query.budget)
        return super().context(query)


class TellsWhose(Book):
    """Says whose message it was that somebody else wanted to be forgotten."""

    def forget(self, request: Forget) -> ForgetOutcome:
        for who, own in self.said.items():
            if who != request.principal and any(m.id in request.sources for m in own):
                raise StrategyError(f"{request.sources[0]} belongs to {who}")
        return super().forget(request)


class ClassCache(Book):
    """Notes are cached by the message's id, for all notebooks."""

    made: ClassVar[dict[str, str]] = {}

    def note(self, message: Message) -> str:
        return self.made.setdefault(message.id, super().note(message))


LATEST: dict[str, str] = {}


class ModuleState(Book):
    """The latest session of each person is held in the module."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        LATEST[message.principal] = message.text

    def own(self, who: str) -> list[Message]:
        found = super().own(who)
        return found if not found or LATEST.get(who) == found[-1].text else found[:-1]


class OneLimit(Book):
    """The oldest of all goes when there are too many, whoever said it."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        everything = [m for own in self.said.values() for m in own]
        if len(everything) > 400:
            oldest = min(everything, key=lambda m: m.time)
            self.said[oldest.principal].remove(oldest)
            self._drop(oldest)


class FewPeople(Book):
    """Ten people are remembered."""

    def observe(self, message: Message) -> None:
        super().observe(message)
        if len(self.said) > 10:
            for gone in self.said.pop(next(iter(self.said))):
                self._drop(gone)


class KeepsLog(Book):
    """Notes every call in a list."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.calls: list[str] = []

    def delivered(self, context: Context) -> None:
        self.calls.append(f"sent {len(context.sections)}")


class KeepsQuestions(Book):
    """Notes every question and what it cost, for statistics that nobody asks for."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.asked: list[tuple[str, int]] = []

    def context(self, query: Query) -> Context:
        made = super().context(query)
        self.asked.append((query.text, made.tokens))
        return made


class Compares(Book):
    """Compares every message that it has ever seen with every other, for each question."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.lengths: dict[str, int] = {}

    def observe(self, message: Message) -> None:
        super().observe(message)
        self.lengths[message.id] = len(message.text)

    def context(self, query: Query) -> Context:
        lengths = self.lengths.values()
        sum(1 for one in lengths for other in lengths if one == other)
        return super().context(query)


class KeepsAll(Book):
    """Drops what it tells, and keeps it all the same."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.everything: list[str] = []

    def observe(self, message: Message) -> None:
        super().observe(message)
        if message.id not in self.everything[-1:]:
            self.everything.append(f"{message.id} {message.text}")


class SavesAll(Book):
    """Its file holds the notes of everything that was ever said."""

    def _drop(self, message: Message) -> None:
        self.env.log(Event(kind="dropped", sources=(message.id,)))


class SummarisesAll(ModelBook):
    """Every note is made of everything that was said so far."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.so_far = ""

    def note(self, message: Message) -> str:
        from memsim.models import Request

        self.so_far += message.text
        asked = Request(task="summarise", messages=(message,), previous=self.so_far, max_tokens=30)
        return self.env.model.complete(asked).text[:100] or "-"


class LosesGrants(Book):
    """Grants are not saved."""

    def save(self) -> State:
        return {**super().save(), "grants": []}


class LosesFresh(Book):
    """Does not know after a restart which call it was that it showed as noted."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.turns = 0

    def end_turn(self) -> None:
        if self.fresh:
            self.turns += 1
        super().end_turn()

    def noted(self, who: str) -> list[str]:
        return super().noted(who)[: self.turns]


class Merges(Book):
    """What is loaded is added to what is there."""

    def load(self, state: State) -> None:
        before = self.notes
        super().load(state)
        self.notes = {**before, **self.notes}


class StaleAfterLoad(Book):
    """What was composed before a state was loaded is shown after it."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.last: dict[str, tuple[int, list[Message]]] = {}

    def own(self, who: str) -> list[Message]:
        now = super().own(who)
        known = self.last.get(who)
        if known is None or known[0] != len(now) or len(now) < 3:
            self.last[who] = known = (len(now), list(now))
        return known[1]


class LastAsker(Book):
    """Whoever asked last is the one whose context was delivered."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.asker = ""
        self.served: dict[str, int] = {}

    def context(self, query: Query) -> Context:
        self.asker = query.principal
        return super().context(query)

    def delivered(self, context: Context) -> None:
        self.served[self.asker] = self.served.get(self.asker, 0) + 1

    def own(self, who: str) -> list[Message]:
        return super().own(who)[-8 + self.served.get(who, 0) % 4 :]


class TiresOfQuestions(Book):
    """What was shown five times is shown less."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.times: dict[str, int] = {}

    def context(self, query: Query) -> Context:
        made = super().context(query)
        for source in made.derived:
            self.times[source] = self.times.get(source, 0) + 1
        return made

    def noted(self, who: str) -> list[str]:
        return [i for i in super().noted(who) if self.times.get(i, 0) < 5]


class Chance(Book):
    """Draws from the global random numbers."""

    def noted(self, who: str) -> list[str]:
        found = super().noted(who)
        return random.sample(found, len(found)) if len(found) > 2 else found


class Seeds(Book):
    """Seeds the global random numbers, so that its own are always the same."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        random.seed(4)


class Configured(Book):
    """The environment says how much is shown."""

    def own(self, who: str) -> list[Message]:
        return super().own(who)[-int(os.environ.get("NOTEBOOK_SHOWN", "5")) :]


class LeavesThread(Book):
    """A thread writes what was said to a file, and is never stopped."""

    def end_turn(self) -> None:
        super().end_turn()
        if not hasattr(self, "thread"):
            self.stop = threading.Event()
            self.thread = threading.Thread(target=self.stop.wait, daemon=True)
            self.thread.start()


class LeavesFile(Book):
    """A journal is opened in the second turn, and never closed."""

    journal: Any = None

    def end_turn(self) -> None:
        super().end_turn()
        if self.journal is None and len(self.said) > 1:
            self.journal = (self.env.folder() / "journal").open("a", encoding="utf-8")


class WritesElsewhere(Book):
    """Keeps a copy beside itself."""

    def end_turn(self) -> None:
        super().end_turn()
        path = Path("/dev/shm/notebook-copy.json")
        path.write_text(json.dumps(sorted(self.said)), encoding="utf-8")


class SwallowsModel(ModelBook):
    """Lets go of what the model should have noted, whatever came of it."""

    def end_turn(self) -> None:
        fresh = {*self.fresh}
        try:
            super().end_turn()
        except Exception:  # noqa: BLE001 - that is what is wrong with it
            for who, own in self.said.items():
                self.said[who] = [m for m in own if m.id not in fresh]


class SwallowsDisk(Book):
    """A message is on disk or nowhere; where the disk is full, it is nowhere."""

    def observe(self, message: Message) -> None:
        try:
            with (self.env.folder() / "log").open("a", encoding="utf-8") as file:
                file.write(message.id + "\n")
        except OSError:
            return
        super().observe(message)


class LosesUnwritten(Book):
    """Writes at the end of a turn, and lets go of what could not be written."""

    def end_turn(self) -> None:
        fresh = {*self.fresh}
        super().end_turn()
        try:
            (self.env.folder() / "fresh").write_text(" ".join(sorted(fresh)), encoding="utf-8")
        except OSError:
            for who, own in self.said.items():
                self.said[who] = [m for m in own if m.id not in fresh]


class SwallowsEmbedder(Book):
    """A message that cannot be embedded is left out."""

    def observe(self, message: Message) -> None:
        try:
            self.env.embed().embed([message.text])
        except Exception:  # noqa: BLE001 - that is what is wrong with it
            return
        super().observe(message)


class RemembersForgotten(Book):
    """An id that was forgotten is not kept again."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.gone: set[str] = set()

    def observe(self, message: Message) -> None:
        if message.id not in self.gone:
            super().observe(message)

    def forget(self, request: Forget) -> ForgetOutcome:
        done = super().forget(request)
        self.gone.update(done.removed)
        return done


class SeenOnce(Book):
    """Knows every id that it has ever seen."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.ever: set[str] = set()

    def observe(self, message: Message) -> None:
        if message.id not in self.ever:
            self.ever.add(message.id)
            super().observe(message)


class ForgetsPlaces(Book):
    """Erases by the place that a message had among all of them."""

    def forget(self, request: Forget) -> ForgetOutcome:
        everything = [m for own in self.said.values() for m in own]
        places = [n for n, m in enumerate(everything) if m.id in request.sources]
        done = super().forget(request)
        left = [m for own in self.said.values() for m in own]
        for place in places[: len(done.removed)]:
            if place < len(left):
                self.said[left[place].principal].remove(left[place])
        return done


class ForgetsWords(Book):
    """Everybody's messages with the same first words go."""

    def forget(self, request: Forget) -> ForgetOutcome:
        words = [m.text[:12] for m in self.own(request.principal) if m.id in request.sources]
        done = super().forget(request)
        for who, own in self.said.items():
            self.said[who] = [m for m in own if m.text[:12] not in words or not m.text.strip()]
        return done


class HidesForgotten(Book):
    """What was forgotten is hidden, and still saved."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.hidden: dict[str, list[Message]] = {}

    def forget(self, request: Forget) -> ForgetOutcome:
        before = list(self.own(request.principal))
        done = super().forget(request)
        self.hidden.setdefault(request.principal, []).extend(
            m for m in before if m.id in done.removed
        )
        return done

    def save(self) -> State:
        state = super().save()
        trash: Any = {who: [m.text for m in gone] for who, gone in self.hidden.items()}
        return {**state, "trash": trash}

    def read(self, state: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401 - any JSON value
        return super().read(state)


class QuotesForgotten(Book):
    """Notes quote the message, and stay when it goes."""

    def note(self, message: Message) -> str:
        return f"{message.principal} said: {message.text}"

    def forget(self, request: Forget) -> ForgetOutcome:
        kept = dict(self.notes)
        done = super().forget(request)
        self.notes = kept
        return done

    def noted(self, who: str) -> list[str]:
        return [i for i, (owner, _) in self.notes.items() if owner == who]


class RevokesOnce(Book):
    """A grant that was given twice has to be taken back twice."""

    def grant(self, grant: Grant) -> None:
        own = {m.id for m in self.own(grant.owner)}
        meant = own if grant.everything else own & {*grant.sources}
        for changed in [(grant.owner, grant.viewer, source) for source in sorted(meant)]:
            if not grant.revoked:
                self.grants.append(changed)
            elif changed in self.grants:
                self.grants.remove(changed)


BROKEN: dict[str, tuple[Callable[..., Strategy], ...]] = {
    "same_in_any_process": (
        *(StampedAtImport, DatedByDefault, AgedOnLoad, TimedCache),
        *(SetOrder, HashChoice, Chance, Configured),
    ),
    "turns_end_once": (CountsEnds, EndsLate),
    "messages_are_kept_once": (KeepsTwice, CountsTwice),
    "revoked_is_gone": (CachedGrants, NotedGrants, RevokesOnce),
    "states_are_read_whole": (EmptyOnDamage, SkipsDamage, OldIsEmpty, HalfLoaded),
    "errors_name_nobody_else": (NamesOthers, TellsWhose),
    "instances_share_nothing": (ClassCache, ModuleState),
    "nobody_is_crowded_out": (OneLimit, FewPeople),
    "silence_costs_nothing": (KeepsLog, KeepsQuestions),
    "what_is_gone_is_not_held": (KeepsAll, SavesAll),
    "turns_cost_the_same": (SummarisesAll, Compares),
    "restarts_change_nothing": (LosesGrants, LosesFresh),
    "loading_replaces": (Merges, StaleAfterLoad),
    "questions_change_nothing": (LastAsker, TiresOfQuestions),
    "nothing_is_left_behind": (Seeds, LeavesThread, LeavesFile, WritesElsewhere),
    "failures_lose_nothing": (SwallowsModel, SwallowsEmbedder),
    "failed_writes_are_told": (SwallowsDisk, LosesUnwritten),
    "ids_may_be_used_again": (RemembersForgotten, SeenOnce),
    "forgetting_spares_others": (ForgetsWords, ForgetsPlaces),
    "forgotten_is_gone": (HidesForgotten, QuotesForgotten),
}
"""By the invariant that has to find them."""
