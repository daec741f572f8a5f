"""The registry of datasets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, RefError
from memsim.scenario.datasets import DATASETS, load_dataset


def test_a_dataset_is_loaded_by_name(
    written: Callable[..., Path], conversations: list[dict[str, Any]]
) -> None:
    """From its file, with or without options."""
    path = written(conversations)

    assert ["conv-7"] == [s.name for s in load_dataset("locomo", path)]
    assert ["conv-7"] == [s.name for s in load_dataset("locomo", path, {})]
    assert "locomo" in DATASETS


def test_an_unknown_dataset_names_the_nearest(tmp_path: Path) -> None:
    """And lists what there is."""
    with pytest.raises(
        RefError, match=r"'locmo'; there are beam, locomo, longmemeval \(did you mean 'locomo'\?\)"
    ):
        load_dataset("locmo", tmp_path)


def test_an_unknown_option_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A slip in an option is told even where the data is missing."""
    with pytest.raises(ConfigError, match="no option 'audits'"):
        load_dataset("locomo", tmp_path / "none.json", {"audits": "x"})
