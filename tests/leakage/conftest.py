"""A channel played against a strategy, without files and without the command line."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memsim.canary import match
from memsim.canary.decode import DecodedText, views
from memsim.discovery.loader import prepare, resolve
from memsim.discovery.project import find_project
from memsim.leakage.attack_files import load_families
from memsim.leakage.attack_world import Setting
from memsim.leakage.channel import ChannelRun, play_channel
from memsim.leakage.channels import load_channel
from memsim.leakage.lab import Lab
from memsim.leakage.probe_lines import channel_lines, score_lines
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.registry import load_embedder, load_model

if TYPE_CHECKING:
    from memsim.leakage.attack_families import Families
    from memsim.leakage.attempt import Finding
    from memsim.leakage.scores import ChannelScore
    from memsim.models import Embedder, Model, Reply, Request
    from memsim.strategy import Environment, Strategy

Make = Callable[["Environment"], "Strategy"]
SEED = 7


_REPLIES: dict[Request, Reply] = {}


class _Remembering:
    """The offline model, which works out its reply to the same request once in all tests."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name

    def complete(self, request: Request) -> Reply:
        """Answer a request."""
        if request not in _REPLIES:
            _REPLIES[request] = self._model.complete(request)
        return _REPLIES[request]


@pytest.fixture(autouse=True)
def _decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories show mostly the same texts: each is decoded once in all tests."""
    monkeypatch.setattr(match, "views", _views)


@lru_cache(maxsize=20_000)
def _views(text: str) -> tuple[DecodedText, ...]:
    return tuple(views(text))


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The usual embedder, loaded once."""
    return load_embedder("wordllama")


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    """The usual token counts."""
    return TokenCounter(load_tokenizer("o200k_base"))


@pytest.fixture
def setting(tmp_path: Path, counter: TokenCounter) -> Callable[[str | Make], Setting]:
    """What worlds are made from, for a strategy by its ref or by what makes it."""

    def made(strategy: str | Make) -> Setting:
        make = prepare(resolve(strategy, find_project())) if isinstance(strategy, str) else strategy
        folder = tmp_path / f"worlds-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        return Setting(
            make=make,
            model=_Remembering(load_model("offline", counter, SEED)),
            embed=embedder,
            counter=counter,
            budget=4096,
            chance=lambda: random.Random("7"),
            folder=lambda: folder,
        )

    return made


@pytest.fixture
def play(setting: Callable[[str | Make], Setting]) -> Callable[..., ChannelRun]:
    """Plays a channel: `play("L1", "full_context", 20)`."""

    def played(
        channel: str,
        strategy: str | Make,
        count: int,
        *,
        seed: int = SEED,
        families: Families | None = None,
    ) -> ChannelRun:
        return play_channel(
            load_channel(channel),
            setting(strategy),
            count=count,
            seed=seed,
            families=families or load_families(),
        )

    return played


_PLAYED: dict[tuple[str, str | Make, int], ChannelRun] = {}


@pytest.fixture
def shared(play: Callable[..., ChannelRun]) -> Callable[..., ChannelRun]:
    """Plays a channel as `play` does, but once for all tests that look at the same run."""

    def played(channel: str, strategy: str | Make, count: int) -> ChannelRun:
        key = channel, strategy, count
        if key not in _PLAYED:
            _PLAYED[key] = play(channel, strategy, count)
        return _PLAYED[key]

    return played


@pytest.fixture
def findings(
    setting: Callable[[str | Make], Setting],
) -> Callable[..., Generator[Finding, None, None]]:
    """Plays a channel as far as its findings are read: `findings("L1", "full_context", 20)`."""

    def found(channel: str, strategy: str | Make, count: int) -> Generator[Finding, None, None]:
        lab = Lab(
            setting(strategy),
            channel=channel,
            seed=SEED,
            salt=f"memsim leakage {SEED}",
            families=load_families(),
        )
        # What the strategy raises ends a channel.
        with suppress(Exception, SystemExit):
            yield from load_channel(channel).run(lab, count)

    return found


@pytest.fixture
def scored() -> Callable[..., ChannelScore]:
    """The score of a performance, by way of its lines, as a report makes it."""

    def score(channel: str, played: ChannelRun) -> ChannelScore:
        return score_lines(channel_lines(load_channel(channel), played, "case", 0))

    return score


@pytest.fixture
def lab(setting: Callable[[str | Make], Setting]) -> Callable[..., Lab]:
    """A laboratory for a strategy."""

    def made(strategy: str | Make = "full_context", channel: str = "L1") -> Lab:
        return Lab(
            setting(strategy), channel=channel, seed=7, salt="salt", families=load_families()
        )

    return made


def by_state(played: ChannelRun) -> Mapping[str, int]:
    """Attempts by state."""
    from memsim.leakage.attempt import Attempt

    states = [f.state for f in played.findings if isinstance(f, Attempt)]
    return {state: states.count(state) for state in sorted(set(states))}
