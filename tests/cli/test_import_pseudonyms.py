"""`memsim import --pseudonymise`: nothing of the names, the same questions, or no file at all."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from memsim.scenario import load_scenario
from memsim.traces.pseudonyms.replacement import Pseudonyms

GARDEN = str(Path(__file__).resolve().parents[2] / "docs" / "examples" / "garden.json")
Call = Callable[..., Result]


def test_a_conversation_is_shared_without_its_names(call: Call, project: Path) -> None:
    """The questions stay, the same key makes the same files, and the key is private."""
    flags = ("--pseudonymise", "--key-file", "key")
    made = call("import", GARDEN, "-o", "one", *flags)
    again = call("import", GARDEN, "-o", "two", *flags)
    one, two = (sorted(p for p in (project / name).iterdir()) for name in ("one", "two"))
    told = "".join(path.name + path.read_text("utf-8") for path in one)
    [file] = (path for path in one if path.suffix == ".yaml")

    assert (0, 0) == (made.exit_code, again.exit_code), made.stderr
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in two]
    assert "ada" not in told
    assert "GRD-2291" not in told + made.stdout
    assert 5 == len(load_scenario(file).probes)
    assert "none was found again" in made.stdout
    assert "sliding_window: 0 of 5 outcomes moved" in made.stdout
    assert "correction-m21" in made.stdout
    assert 0o600 == stat.S_IMODE((project / "key").stat().st_mode)
    assert ["key", "one", "two"] == sorted(
        p.name
        for p in project.iterdir()
        if p.name in {"key", "one", "two"} or p.name.startswith(".")
    )


def test_what_is_left_is_an_error(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is written."""
    monkeypatch.setattr(Pseudonyms, "texts", lambda _self, texts: list(texts))
    made = call("import", GARDEN, "-o", "one", "--pseudonymise")

    assert 4 == made.exit_code
    assert "nothing was written, because something is left" in made.stderr
    assert not [*project.glob("*one*")]


def test_flags_that_cannot_be(call: Call, project: Path) -> None:
    """A key without stand-ins, a key among them, and a file that is no key."""
    (project / "key").write_text("mine", encoding="utf-8")
    alone = call("import", GARDEN, "--key-file", "key")
    among = call("import", GARDEN, "-o", "one", "--pseudonymise", "--key-file", "one/key")
    other = call("import", GARDEN, "-o", "one", "--pseudonymise", "--key-file", "key")

    assert [4, 4, 4] == [each.exit_code for each in (alone, among, other)]
    assert "--key-file needs --pseudonymise" in alone.stderr
    assert "lies among the scenarios" in among.stderr
    assert "is no key file" in other.stderr
    assert not (project / "one").exists()
