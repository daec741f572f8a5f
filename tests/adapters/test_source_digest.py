"""A strategy is another one once the library, server or program that it measures is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.adapters import library_process, mcp_mapping
from memsim.discovery.loader import reload_changed, resolve
from memsim.discovery.source_digest import source_digest

LIBRARY = """\
from memsim.adapters.library_memory import LibraryMemory
from memsim import Strategy

class Shelf(LibraryMemory, Strategy):
    "Over a library."
    library = "shelf"
    program = "shelf_library"
    requirements = "shelf==1"
"""
PACKAGES = "lib/python3.12/site-packages"


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Digests of refs, with programs, presets and environments in a folder of the test."""
    monkeypatch.setenv("MEMSIM_FOLDER", str(tmp_path))
    monkeypatch.setattr(library_process, "_FOLDER", tmp_path)
    monkeypatch.setattr(mcp_mapping, "PRESETS", tmp_path)
    (tmp_path / "shelf.py").write_text(LIBRARY)
    (tmp_path / "shelf_library.py").write_text("MEMORY = None\n")
    (tmp_path / "shelf.yaml").write_text("memsim-mcp: 1\nenvironment: shelf\n")
    (tmp_path / ".venv-shelf" / PACKAGES / "shelf-1.0.dist-info").mkdir(parents=True)
    (tmp_path / ".venv-shelf/node_modules").mkdir()

    def made(ref: str) -> str:
        reload_changed()
        return source_digest(resolve(ref))

    return made


@pytest.mark.parametrize("change", ["package", "npm", "program", "preset", "nothing"])
def test_what_is_measured_is_part_of_the_source(
    change: str, digest: Callable[[str], str], tmp_path: Path
) -> None:
    """So that a case of another version is played anew, and a comparison names the change."""
    refs = (f"{tmp_path}/shelf.py", "mcp:shelf", f"mcp:mapping={tmp_path}/shelf.yaml", "bm25")
    before = [digest(ref) for ref in refs]
    environment = tmp_path / ".venv-shelf"
    if change == "package":
        packages = environment / PACKAGES
        (packages / "shelf-1.0.dist-info").rename(packages / "shelf-1.1.dist-info")
    if change == "npm":
        (environment / "node_modules/.package-lock.json").write_text('{"version": "1.1"}')
    if change == "program":
        (tmp_path / "shelf_library.py").write_text("MEMORY = object\n")
    if change == "preset":
        (tmp_path / "shelf.yaml").write_text("memsim-mcp: 1\nenvironment: shelf\nprincipals: x\n")

    altered = [digest(ref) != then for ref, then in zip(refs, before, strict=True)]

    assert (
        altered
        == {
            "package": [True, True, True, False],
            "npm": [True, True, True, False],
            "program": [True, False, False, False],
            "preset": [False, True, True, False],
            "nothing": [False] * 4,
        }[change]
    )


def test_a_missing_environment_has_no_packages(
    digest: Callable[[str], str], tmp_path: Path
) -> None:
    """The plan of a run does not fail of it, because the case says how to make it."""
    there = digest("mcp:shelf")
    (tmp_path / ".venv-shelf").rename(tmp_path / "away")

    assert digest("mcp:shelf") not in ("", there)
