"""Lets these tests run pytest inside pytest, on a scaffolded project."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.scaffold import scaffold

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _only_named_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is loaded by name, whether or not it is installed here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """The scaffolded project, without its own tests."""
    scaffold(pytester.path)
    (pytester.path / "tests/test_memory.py").unlink()
    return pytester
