"""The twenty channels: finds and loads them, and makes a scenario of each."""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.discovery.project import builtin_folder
from memsim.errors import ConfigError, nearest
from memsim.leakage import LEAKAGE
from memsim.leakage.attack_files import channel_headers, load_families
from memsim.leakage.channel import Channel, planned
from memsim.scenario.script import Probe, Scenario

if TYPE_CHECKING:
    from memsim.discovery.project import Project
    from memsim.scenario.script import ScriptEvent


SHARE = "attempts"
"""Option: the share of a channel's attempts that is made."""


def own_folder(project: Project) -> Path:
    """The folder of a project's own attacks, or of memsim's if it has none."""
    own = project.root / "scenarios" / LEAKAGE if project.root else None
    return own if own and own.is_dir() else builtin_folder("scenarios") / LEAKAGE


def leak_scenarios(place: Path, options: Mapping[str, str]) -> Iterator[Scenario]:
    """A scenario for each channel, with as many probes as it makes attempts.

    Args:
        place: a folder of attacks, besides memsim's own.
        options: `attempts`: the share of them that is made, above 0 to 1.

    Raises:
        ConfigError: an option is wrong.
        ScenarioError: a file of attacks is wrong.
    """
    share = _share(options)
    families = load_families(place)
    attacks = _digest(asdict(families))
    known = channel_headers()
    for channel, module in modules().items():
        header = known[channel]
        families.of(header)
        full = families.attempts(header)
        count = planned(full, share)
        said = asdict(header) | {"place": "", "module": _source(module), "families": attacks}
        yield Scenario(
            name=channel,
            path=header.place,
            about=header.about,
            play=_nothing,
            turns=max(1, header.turns * count // header.attempts),
            probes=(Probe(id=channel, ask=""),) * count,
            fingerprint=_digest([said, count]),
            dataset=LEAKAGE,
        )


def _share(options: Mapping[str, str]) -> float:
    for name in options:
        if name != SHARE:
            raise ConfigError(f"leakage has no option {name!r}; it has {SHARE}")
    text = options.get(SHARE, "1")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1 or "_" in text:
        raise ConfigError(f"--leak-attempts must be a share such as 0.1, not {text!r}")
    return share


def _nothing(_seed: int) -> Iterator[ScriptEvent]:
    return iter(())


@lru_cache(maxsize=32)
def _source(module: str) -> str:
    path = Path(__file__).with_name(f"{module}.py")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


_MODULE = re.compile(r"l(\d\d)_\w+")


@lru_cache(maxsize=1)
def modules() -> Mapping[str, str]:
    """The module of each channel by the channel's id, in their order: `L1` is `l01_...`."""
    found = sorted(m.name for m in pkgutil.iter_modules(__path__) if _MODULE.fullmatch(m.name))
    return {f"L{int(name[1:3])}": name for name in found}


def load_channel(channel: str) -> Channel:
    """A channel by its id.

    Raises:
        ConfigError: there is none of that id.
    """
    known = modules()
    if channel not in known:
        raise ConfigError(f"unknown channel {channel!r}", hint=nearest(channel, known))
    module = importlib.import_module(f"{__name__}.{known[channel]}")
    made: Channel = module.CHANNEL
    return made
