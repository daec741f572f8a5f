"""The registry of datasets."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ConfigError, RefError
from memsim.scenario.datasets import DATASETS, load_dataset

ROOT = Path(__file__).resolve().parents[3]


def test_a_dataset_is_loaded_by_name(
    written: Callable[..., Path], conversations: list[dict[str, Any]]
) -> None:
    """From its file, with or without options."""
    path = written(conversations)

    assert ["conv-7"] == [s.name for s in load_dataset("locomo", path)]
    assert ["conv-7"] == [s.name for s in load_dataset("locomo", path, {})]
    assert "locomo" in DATASETS


def test_every_dataset_is_described_in_lines_that_fit() -> None:
    """By what it measures, its size, licence, place and reproduced rows; a loader is there."""
    for name, dataset in DATASETS.items():
        described = (dataset.measures, dataset.size, dataset.licence, dataset.source, dataset.rows)

        assert all(0 < len(text) <= 80 and text.isprintable() for text in described), name
        assert callable(
            getattr(import_module(f"memsim.scenario.datasets.{name}"), dataset.loader)
        ), name


def test_the_page_on_datasets_describes_each_as_the_list_does() -> None:
    """With the same words in its first table."""
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")

    for name, d in DATASETS.items():
        assert (
            f"| `{name}` | {d.measures} | {d.size} | {d.licence} | {d.source} | {d.rows} |" in page
        )


def test_an_unknown_dataset_names_the_nearest(tmp_path: Path) -> None:
    """And lists what there is."""
    names = ", ".join(sorted(DATASETS))
    told = f"'locmo'; there are {names} (did you mean 'locomo'?)"
    with pytest.raises(RefError, match=re.escape(told)):
        load_dataset("locmo", tmp_path)


def test_an_unknown_option_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A slip in an option is told even where the data is missing."""
    with pytest.raises(ConfigError, match="no option 'audits'"):
        load_dataset("locomo", tmp_path / "none.json", {"audits": "x"})


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_refuses_an_option_that_it_has_not(name: str, tmp_path: Path) -> None:
    """With those that it has."""
    with pytest.raises(ConfigError, match=rf"{name} has no option 'colour'; it has \w+"):
        load_dataset(name, tmp_path / "none.json", {"colour": "red"})
