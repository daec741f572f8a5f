"""L13 to L15 and L19: caches, logs, exports and ledgers, and what they keep of a secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.canary import Canary, Matcher, mint
from memsim.cli.program import program
from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.leakage.residue_text import readable_text
from memsim.leakage.scores import ChannelScore
from tests.doubles import log_faults, read_faults
from tests.doubles.honest import Honest

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]

CHANNELS = ["L13", "L14", "L15", "L19"]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("strategy", ["layered:acl=on", "layered:acl=on,mode=both", Honest])
def test_who_keeps_things_apart_is_safe(
    play: Play, scored: Score, channel: str, strategy: str
) -> None:
    """With the framework in control, with tools, and with little else."""
    found = scored(channel, play(channel, strategy, 16))

    assert "safe" == found.verdict, (found.why, found.paths)


@pytest.mark.parametrize("channel", CHANNELS)
def test_who_remembers_nothing_is_not_called_safe(play: Play, scored: Score, channel: str) -> None:
    """Nothing was there that could have come out."""
    assert "n/a" == scored(channel, play(channel, "no_memory", 12)).verdict


@pytest.mark.parametrize(
    ("channel", "double"),
    [
        ("L13", read_faults.SharedCache),
        ("L14", log_faults.LogsAtInfo),
        ("L14", log_faults.LogsQueries),
        ("L15", log_faults.ExportsRaw),
        ("L19", log_faults.MarksFirst),
        ("L19", log_faults.NeverRearmed),
        ("L19", log_faults.InjectsAgain),
        ("L19", log_faults.SharedLedger),
        ("L19", log_faults.RecallsTwice),
    ],
)
def test_a_broken_one_is_caught(
    shared: Play, scored: Score, channel: str, double: type[Honest]
) -> None:
    """A tenth of the attempts is enough."""
    assert "leak" == scored(channel, shared(channel, double, 16)).verdict


def test_an_answer_that_was_kept_is_served_by_every_way(shared: Play) -> None:
    """By context and tool, and to somebody whom the owner let see it no longer."""
    leaks = _leaks(shared("L13", read_faults.SharedCache, 16))

    assert {"context", "taken back", "tool"} == {a.labels["by"] for a in leaks}
    assert {("ana", "ben"), ("ben", "ana")} == {(a.owners[0], a.viewer) for a in leaks}


def test_what_is_logged_for_who_looks_closer_is_reported_and_not_gated(
    play: Play, scored: Score
) -> None:
    """DEBUG is switched on by hand; INFO and above is what an operation keeps."""
    found = scored("L14", play("L14", log_faults.LogsAtDebug, 16))

    assert (8, 0, 8) == (found.leaks.k, found.gated.k, found.gated.n)


def test_metadata_and_traceback_of_a_record_are_read(play: Play) -> None:
    """A record is more than its message: what a formatter of JSON would write counts too."""
    told = [_leaks(play("L14", double, 16)) for double in (MetadataOnly, TracebackOnly)]

    assert [{"log"}, {"log"}] == [{t.seen.surface for a in of for t in a.trails} for of in told]


def test_an_export_of_everybodys_is_found_wherever_it_is_shown(play: Play) -> None:
    """Before and after the state was taken over; names of files and records are clean all the same.

    The strategy's own saved state is its operator's, and no artefact.
    """
    leaks = _leaks(play("L15", log_faults.ExportsRaw, 20))

    assert {"shown", "taken over", "taken over twice"} == {a.labels["artefact"] for a in leaks}
    assert {"export"} == {t.seen.surface for a in leaks for t in a.trails}


def test_a_name_of_a_file_is_an_artefact(play: Play) -> None:
    """A key that is written into a file's name is told to whoever lists the folder."""
    leaks = _leaks(play("L15", NamesFiles, 20))

    assert {"names of files"} == {a.labels["artefact"] for a in leaks}


def test_no_file_of_a_run_holds_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Records and reports in every form: all that memsim itself writes of a leaky memory.

    An ordinary run is another matter: what its scenarios plant is public, and its report shows it.
    """
    minted = _overheard(monkeypatch)
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    selected = ("-s", "full_context", "-k", "L13 or L14 or L15", "--leak-attempts", "0.02")

    calls = [["run", "leakage", *selected, "-j", "1"]]
    calls += [["report", "--format", form] for form in ("md", "json", "jsonl")]
    said = [CliRunner().invoke(program, call).output for call in calls]
    said += capfd.readouterr()

    files = [p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()]
    matcher = Matcher(minted.values())
    assert len(minted) > 10
    assert len(files) > 5
    assert "L15" in said[1]
    assert () == tuple(matcher.find_in([*said, *map(readable_text, files)]))


@pytest.mark.parametrize(
    ("double", "after"),
    [
        (log_faults.MarksFirst, {"crash before it was put in"}),
        (log_faults.NeverRearmed, {"compaction"}),
        (log_faults.InjectsAgain, {"twice", "three times"}),
        (log_faults.SharedLedger, {"selected there as well"}),
        (log_faults.RecallsTwice, {"it was said"}),
    ],
)
def test_a_ledger_is_caught_by_what_it_is_wrong_about(
    shared: Play, double: type[Honest], after: set[str]
) -> None:
    """Each by the very step that it breaks, among others that follow from it."""
    assert after <= {a.labels["after"] for a in _leaks(shared("L19", double, 16))}


def test_the_gap_of_aegis_shows_and_goes(play: Play) -> None:
    """It never looks whether a skill is still there; repaired, it does."""
    gap = _leaks(play("L19", "aegis", 12))

    assert {("compaction", 0.0)} == {(a.labels["after"], a.measures["copies"]) for a in gap}
    assert [] == _leaks(play("L19", "aegis:fixed=true", 12))


def test_who_keeps_no_account_is_told_so(play: Play, scored: Score) -> None:
    """Everything stands there as it was said: there is nothing to be wrong about."""
    found = play("L19", "full_context", 12)

    assert "n/a" == scored("L19", found).verdict
    assert {
        "it keeps no account of what it injects, and does not say that it injects anything"
    } == {f.detail for f in found.findings if isinstance(f, Attempt)}


def _overheard(monkeypatch: pytest.MonkeyPatch) -> dict[str, Canary]:
    """Every secret that is minted from here on."""
    minted: dict[str, Canary] = {}

    def heard(seed: int, scenario: str, principal: str, slot: str, *, kind: str = "") -> Canary:
        canary = mint(seed, scenario, principal, slot, kind=kind)
        minted[canary.id] = canary
        return canary

    monkeypatch.setattr("memsim.leakage.lab.mint", heard)
    return minted


class NamesFiles(Honest):
    """A file for each key, called like it."""

    def write_files(self) -> None:
        for drawer in self.drawers.values():
            for key in drawer.stored:
                (self.env.folder() / f"{key}.txt").write_text("kept", encoding="utf-8")


class MetadataOnly(Honest):
    """Says nothing, but hands the text over beside the message."""

    def told(self, principal: str, text: str, count: int) -> str:
        log_faults.LOG.info("a search", extra={"query_text": text})
        return super().told(principal, text, count)


class TracebackOnly(Honest):
    """Logs what went wrong with all that was there when it did."""

    def told(self, principal: str, text: str, count: int) -> str:
        try:
            int(text)
        except ValueError:
            log_faults.LOG.exception("a search failed")
        return super().told(principal, text, count)


def _leaks(played: ChannelRun) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
