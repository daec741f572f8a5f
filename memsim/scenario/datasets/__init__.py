"""Published datasets as scenarios, by name; what is in their files is never taken on trust."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from memsim.errors import RefError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memsim.scenario.script import Scenario

    Loader = Callable[[Path, Mapping[str, str]], list[Scenario]]

DATASETS: dict[str, str] = {
    "beam": "beam_from_options",
    "locomo": "locomo_from_options",
    "longmemeval": "longmemeval_from_options",
}
"""What loads each dataset from its file or folder, in the module of its name."""


def load_dataset(name: str, path: Path, options: Mapping[str, str] | None = None) -> list[Scenario]:
    """The scenarios of a dataset.

    Raises:
        RefError: there is no dataset of that name.
        ConfigError: it takes no such option, or not that value.
        ScenarioError: a file of it is wrong.
    """
    if name not in DATASETS:
        message = f"no dataset is called {name!r}; there are {', '.join(sorted(DATASETS))}"
        raise RefError(message, hint=nearest(name, DATASETS))
    loader: Loader = getattr(importlib.import_module(f"{__name__}.{name}"), DATASETS[name])
    return loader(path, options or {})
