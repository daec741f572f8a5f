"""The twenty channels, each in a module of its own that is imported when it is asked for."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.errors import ConfigError, nearest

if TYPE_CHECKING:
    from memsim.leakage.channel import Channel

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
        raise ConfigError(f"there is no channel {channel!r}", hint=nearest(channel, known))
    module = importlib.import_module(f"{__name__}.{known[channel]}")
    made: Channel = module.CHANNEL
    return made
