"""Every place that may keep what was forgotten is searched, and is named where it does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.message import Message
from memsim.strategy import Environment, Forget, ForgetOutcome, State, Surface
from tests.doubles.honest import Honest

Play = Callable[..., ChannelRun]

TIERS = ("summary", "keyword index", "vector index", "offload", "cache", "history", "audit")
FILES = {
    "notes.md": "markdown",
    "memory.db-wal": "wal",
    "memory.db-journal": "wal",
    "memory.sqlite3": "database",
    "brain.db.bak": "backup",
    "state.tmp": "temporary file",
    "app.log": "log file",
    "cassettes/model.jsonl": "cassette",
    "reports/index.html": "report",
    "blob": "file",
}
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class Keeping(Honest):
    """Forgets everything but in one place.

    Attributes:
        place: a tier, the name of a file, or the level of a log.
    """

    place = ""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.heard: list[str] = []

    def observe(self, message: Message) -> None:
        super().observe(message)
        self.heard.append(message.text)

    def forget(self, request: Forget) -> ForgetOutcome:
        """As it should be, with a copy of all that was ever said in that place."""
        done = super().forget(request)
        text = "\n".join(self.heard)
        if self.place in FILES:
            path = self.env.folder() / self.place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\x00\xff" + text.encode() + b"\xfe")
        if self.place in LEVELS:
            logging.getLogger("mine").log(getattr(logging, self.place), "gone: %s", text)
        return done

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        """With that tier where its operator looks."""
        yield from super().surfaces(viewer)
        if viewer is None and self.place in TIERS:
            yield Surface(tier=self.place, sources=(), text="\n".join(self.heard))

    def save(self) -> State:
        """With what was ever said, where that is the place."""
        return {**super().save(), **({"heard": [*self.heard]} if self.place == "export" else {})}

    def load(self, state: State) -> None:
        super().load({name: value for name, value in state.items() if name != "heard"})


def places(play: Play, place: str) -> set[str]:
    """Where L7 finds anything of what was forgotten."""
    kind = type("Kept", (Keeping,), {"place": place})
    found = [f for f in play("L7", kind, 4).findings if isinstance(f, Attempt)]
    return {trail.seen.surface for attempt in found for trail in attempt.trails}


@pytest.mark.parametrize("place", ["", *TIERS, "export"])
def test_a_tier_is_searched_after_an_erasure(play: Play, place: str) -> None:
    """Each by its own name, and nothing is found where nothing was kept."""
    assert ({place} if place else set()) == places(play, place)


@pytest.mark.parametrize("place", FILES)
def test_a_file_is_searched_after_an_erasure(play: Play, place: str) -> None:
    """Whatever it is called, and though it is no text; told by its sort."""
    assert {FILES[place]} == places(play, place)


@pytest.mark.parametrize("place", LEVELS)
def test_a_log_is_searched_at_every_level(play: Play, place: str) -> None:
    """Also at those that nobody keeps."""
    assert {"log"} == places(play, place)
