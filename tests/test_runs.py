"""Run folders: what is in them, how they are found, and what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from memsim.config import Settings
from memsim.discovery.strategy_ref import StrategyRef
from memsim.errors import ExitCode, RunFolderError
from memsim.executors import InProcess, Outcomes, PlayCase
from memsim.runs import RunWriter, case_log, list_runs, load_run, open_run, perform, run_writer
from memsim.runs.case_log import RECORDS
from memsim.runs.run_folder import RunLock, runs_folder
from memsim.suite.case_plan import CasePlan
from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec, ExpectFailure, blank_result
from memsim.suite.scenarios import ScenarioRef


@pytest.fixture(autouse=True)
def _git_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # It takes longer than all the rest, and says the same of this repository each time.
    monkeypatch.setattr("memsim.runs.run_writer._git", asked_once)


asked_once = cache(run_writer._git)


def plan(cases: int = 3, fingerprint: str = "f1", repeats: int = 1) -> CasePlan:
    """A plan of so many cases."""
    made = tuple(
        CaseSpec(
            scenario=ScenarioRef(source="s.yaml", name=f"n{n}"),
            strategy=StrategyRef(name="bm25", params=(("k", "3"),)),
            budget=4096,
            repeat=repeat,
        )
        for n in range(cases)
        for repeat in range(repeats)
    )
    prints = tuple(f"p{n}" for n in range(len(made)))
    return CasePlan(cases=made, settings=Settings(), fingerprints=prints, fingerprint=fingerprint)


BLANK: dict[str, object] = {
    **dict.fromkeys(("turn", "hidden", "corpus", "compactions", "query_tokens"), 0),
    **dict.fromkeys(("session", "time", "ask", "principal", "ability", "match", "excluded"), ""),
    "detail": "",
    "error": "",
    "answer": None,
    "outcome": "PASS",
    "reason": None,
    "whereabouts": None,
    "labels": {},
    "scores": {},
    "age": None,
    "context": None,
    **{name: [] for name in ("expect", "forbid", "superseded", "choices", "evidence", "calls")},
    "leaks": [],
    "unanswerable": False,
    "inspectable": True,
}
"""A line of a probe about which there is nothing to tell."""


def play(spec: CaseSpec) -> CaseOutcome:
    """Records that tell the case they are of."""
    number = int(spec.scenario.name[1:])
    told = {"session": "s", "principal": "ana", "time": "2026-01-05T09:00:00Z"}
    turns = [{"case": spec.id, "turn": n, "text": "é\n" * number} | told for n in range(number)]
    probes = [BLANK | {"case": spec.id, "probe": f"p{n}", "repeat": spec.repeat} for n in range(2)]
    return CaseOutcome(
        result=CaseResult(
            id=spec.id,
            scenario=spec.scenario.name,
            strategy=str(spec.strategy),
            budget=spec.budget,
            repeat=spec.repeat,
            metrics={"recall": 1 / 3, "stale": None},
            counts={"probes": 2, "errors": 0},
            outcomes={"PASS": 2},
            expect_failures=(ExpectFailure(metric="recall", bound=">= 0.8", value=1 / 3),),
        ),
        turn_lines="".join(json.dumps(t) + "\n" for t in turns).encode(),
        probe_lines="".join(json.dumps(p) + "\n" for p in probes).encode(),
        context_lines=b'{"case":"%s"}\n{"full":%d}\n' % (spec.id.encode(), number),
    )


def record(made: CasePlan, reports: Path) -> Path:
    """Play a plan to its end and return its folder."""
    with open_run(made, reports) as writer:
        perform(made, writer, InProcess(), play=play)
        writer.finish(ExitCode.PASSED, "3 passed")
    return writer.folder


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder for reports that is not there yet."""
    return tmp_path / "reports"


def test_a_run_reads_back_as_it_was_kept(reports: Path) -> None:
    """Results equal, records by case, and all of them in the plan's order."""
    made = plan()
    folder = record(made, reports)

    run = load_run("latest", reports)

    assert run.folder == folder
    assert run.finished
    assert run.cases == tuple(play(spec).result for spec in made.cases)
    assert [t["turn"] for t in run.turns("s.yaml::n2[bm25:k=3@4k]")] == [0, 1]
    assert [(p["case"], p["probe"]) for p in run.probes()] == [
        (spec.id, probe) for spec in made.cases for probe in ("p0", "p1")
    ]


def test_repeats_are_told_apart_by_key_and_together_by_id(reports: Path) -> None:
    """`id#1` is the second repeat; the id alone is the first, as its key is."""
    record(plan(cases=1, repeats=3), reports)
    run = load_run("latest", reports)

    assert [c.key for c in run.cases] == [
        "s.yaml::n0[bm25:k=3@4k]",
        "s.yaml::n0[bm25:k=3@4k]#1",
        "s.yaml::n0[bm25:k=3@4k]#2",
    ]
    assert [p["repeat"] for p in run.probes("s.yaml::n0[bm25:k=3@4k]#2")] == [2, 2]


def test_a_run_says_what_it_was_made_of(reports: Path) -> None:
    """Plan, refs, fingerprints, versions, settings, verdict."""
    with open_run(plan(), reports, command=("memsim", "run")) as writer:
        perform(plan(), writer, InProcess(), play=play)
        writer.finish(ExitCode.FAILED, "1 failed")

    info = load_run("latest", reports).info

    assert info["fingerprint"] == "f1"
    assert info["command"] == ["memsim", "run"]
    assert list(info["cases"]) == [spec.key for spec in plan().cases]  # type: ignore[call-overload]
    assert list(info["strategies"]) == ["bm25:k=3"]  # type: ignore[call-overload]
    assert info["settings"]["seed"] == 7  # type: ignore[index]
    assert info["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))  # type: ignore[index]
    assert (info["exit"], info["verdict"], info["played"]) == (1, "1 failed", 3)


def test_records_lie_in_the_order_of_the_plan(reports: Path) -> None:
    """Whatever order the cases finish in, the files are the same byte for byte."""

    class Backwards:
        """Finishes the last case first."""

        def run(self, specs: Sequence[CaseSpec], _play: PlayCase) -> Outcomes:
            for place in reversed(range(len(specs))):
                yield place, play(specs[place])

    made = plan(cases=6)
    forwards = record(made, reports)
    with open_run(made, reports) as writer:
        perform(made, writer, Backwards(), play=play)
        writer.finish(ExitCode.PASSED)

    for name in (*RECORDS, "cases.jsonl"):
        assert (forwards / name).read_bytes() == (writer.folder / name).read_bytes()


@pytest.mark.parametrize(("seconds", "played"), [(0.5, [0, 1, 2, 3]), (2.0, [0, 2])])
def test_costly_cases_that_finished_early_are_not_played_again(
    reports: Path, seconds: float, played: list[int]
) -> None:
    """A kill before their turn has come does not lose them; cheap ones are played again."""
    made = plan(cases=4)
    expected = record(made, reports)

    def costly(spec: CaseSpec) -> CaseOutcome:
        outcome = play(spec)
        return replace(outcome, result=replace(outcome.result, seconds=seconds))

    with open_run(made, reports) as writer:
        for place in (3, 1):
            writer.keep(place, costly(made.cases[place]))
        with (writer.folder / "ahead.jsonl").open("ab") as file:
            file.write(b'\n12345678 {"place": 0, "res')
    again: list[int] = []
    with open_run(made, reports) as writer:
        assert writer.lacking == tuple(played)
        assert writer.finished_cases == len(made.cases) - len(played)
        perform(made, writer, InProcess(), play=play, watch=lambda r: again.append(int(r.id[9])))
        writer.finish(ExitCode.PASSED)

    assert again == played
    for name in RECORDS:
        assert (writer.folder / name).read_bytes() == (expected / name).read_bytes()
    assert not (writer.folder / "ahead.jsonl").exists()


def test_runs_are_ignored_by_git_and_named_by_time(reports: Path) -> None:
    """Newest last by name, also within one second."""
    folders = [record(plan(), reports) for _ in range(4)]

    assert (reports / ".gitignore").read_text(encoding="utf-8") == "runs/\nshards/\n"
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{4}", f.name) for f in folders)
    assert list_runs(reports) == tuple(reversed(folders))
    assert load_run("latest", reports).folder == folders[-1]


def test_a_gitignore_of_the_users_own_is_kept(reports: Path) -> None:
    """It is written only where there is none."""
    reports.mkdir()
    (reports / ".gitignore").write_text("mine\n", encoding="utf-8")
    record(plan(), reports)

    assert (reports / ".gitignore").read_text(encoding="utf-8") == "mine\n"


def test_a_run_is_named_by_a_path_or_the_beginning_of_its_id(reports: Path) -> None:
    """As long as only one begins so."""
    folder = record(plan(), reports)

    assert load_run(str(folder), reports).folder == folder
    assert load_run(folder.name, reports).folder == folder
    assert load_run(folder.name[:17], reports).folder == folder
    record(plan(), reports)
    with pytest.raises(RunFolderError, match="matches several runs"):
        load_run("2", reports)


@pytest.mark.parametrize("name", ["latest", "nothing", "", "../x", "."])
def test_a_run_that_is_not_there_is_told(reports: Path, name: str) -> None:
    """In one line."""
    with pytest.raises(RunFolderError, match="there is no run"):
        load_run(name, reports)


def test_a_case_that_is_not_there_suggests_the_nearest(reports: Path) -> None:
    """By its key."""
    record(plan(), reports)

    with pytest.raises(RunFolderError, match=r"did you mean 's\.yaml::n0\[bm25:k=3@4k\]'"):
        list(load_run("latest", reports).probes("s.yaml::n0[bm25:k=3@4]"))


def test_a_finished_run_is_played_again_in_a_new_folder(reports: Path) -> None:
    """The same command twice is two runs."""
    assert record(plan(), reports) != record(plan(), reports)


def test_an_unfinished_run_of_the_same_plan_is_continued(reports: Path) -> None:
    """And only of the same plan."""
    with open_run(plan(), reports) as first:
        perform(plan(), first, InProcess(), play=play, watch=lambda _: True)
    with open_run(plan(fingerprint="f2"), reports) as other:
        assert other.resumed == ()
    with open_run(plan(), reports) as again:
        assert again.folder == first.folder
        assert [r.scenario for r in again.resumed] == ["n0"]
        assert len(perform(plan(), again, InProcess(), play=play)) == 3
    with open_run(plan(), reports, resume=False) as fresh:
        assert fresh.folder != first.folder


def test_a_run_in_use_is_not_continued_by_another(reports: Path) -> None:
    """The second one begins a folder of its own."""
    with open_run(plan(), reports) as first, open_run(plan(), reports) as second:
        assert first.folder != second.folder


def test_a_named_folder_in_use_is_refused(tmp_path: Path) -> None:
    """With the process that uses it."""
    out = tmp_path / "out"
    with (
        open_run(plan(), tmp_path, out=out),
        pytest.raises(RunFolderError, match=f"out: is in use by process {os.getpid()}$"),
    ):
        open_run(plan(), tmp_path, out=out)


def test_a_named_folder_is_continued_finished_and_then_left_alone(tmp_path: Path) -> None:
    """The same plan: unfinished goes on, finished is shown again."""
    out = tmp_path / "deep" / "out"
    with open_run(plan(), tmp_path, out=out) as writer:
        perform(plan(), writer, InProcess(), play=play, watch=lambda _: True)
    with open_run(plan(), tmp_path, out=out) as writer:
        assert len(writer.resumed) == 1
        perform(plan(), writer, InProcess(), play=play)
        writer.finish(ExitCode.PASSED)
    before = {p.name: p.read_bytes() for p in out.iterdir()}

    with open_run(plan(), tmp_path, out=out) as writer:
        assert writer.finished
        assert len(perform(plan(), writer, InProcess(), play=play)) == 3

    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_a_named_folder_of_another_plan_is_refused(tmp_path: Path) -> None:
    """Its records would be of two kinds."""
    with open_run(plan(), tmp_path, out=tmp_path / "out"):
        pass
    with pytest.raises(RunFolderError, match="holds a run of another plan"):
        open_run(plan(fingerprint="f2"), tmp_path, out=tmp_path / "out")
    # The lock was given back.
    with open_run(plan(), tmp_path, out=tmp_path / "out"):
        pass


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    """And nothing is written into it."""
    (tmp_path / "thesis.txt").touch()

    with pytest.raises(RunFolderError, match="is not empty and not a run"):
        open_run(plan(), tmp_path, out=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """Below a file there is no folder either."""
    (tmp_path / "file").touch()

    with pytest.raises(RunFolderError, match="is not a folder"):
        open_run(plan(), tmp_path, out=tmp_path / "file")
    with pytest.raises(RunFolderError, match="is not a folder"):
        open_run(plan(), tmp_path, out=tmp_path / "file" / "out")
    with pytest.raises(RunFolderError, match="cannot be written"):
        open_run(plan(), tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "run.json:1:2: is damaged: not JSON"),
        ("[]", "was not written by memsim"),
        ('{"memsim": 1}', "was not written by memsim"),
        ('{"memsim": 99, "fingerprint": "f1"}', "is of format 99, and this memsim reads format 1"),
    ],
)
def test_a_run_of_another_make_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """By name of its run.json."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text(text, encoding="utf-8")

    with pytest.raises(RunFolderError, match=message):
        open_run(plan(), tmp_path, out=out)
    with pytest.raises(RunFolderError, match=message):
        load_run(str(out), tmp_path)


def test_a_finished_run_with_cases_missing_is_damaged(reports: Path) -> None:
    """What was there once must still be there to be shown."""
    folder = record(plan(), reports)
    lines = (folder / "cases.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "cases.jsonl").write_bytes(b"".join(lines[:-1]))

    with pytest.raises(RunFolderError, match="is damaged: 1 of its cases are missing"):
        load_run("latest", reports)


def test_records_that_were_altered_are_damaged(reports: Path) -> None:
    """A number in a report must come from what was measured."""
    folder = record(plan(), reports)
    text = (folder / "probes.jsonl").read_text(encoding="utf-8")
    (folder / "probes.jsonl").write_text(text.replace("p1", "p7"), encoding="utf-8")

    with pytest.raises(RunFolderError, match=r"does not hold what cases\.jsonl says"):
        list(load_run("latest", reports).probes())


def test_an_unfinished_run_can_be_looked_at(reports: Path) -> None:
    """What it has so far is sound."""
    with open_run(plan(), reports) as writer:
        perform(plan(), writer, InProcess(), play=play, watch=lambda _: True)

    run = load_run("latest", reports)

    assert not run.finished
    assert len(run.cases) == 1


def test_stopping_early_finishes_with_what_there_is(reports: Path) -> None:
    """Stopped on purpose is not interrupted."""
    with open_run(plan(), reports) as writer:
        perform(plan(), writer, InProcess(), play=play, watch=lambda r: r.scenario == "n1")
        writer.finish(ExitCode.FAILED)

    run = load_run("latest", reports)

    assert run.finished
    assert [c.scenario for c in run.cases] == ["n0", "n1"]


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    """However the process ended, the folder is free again."""
    script = (
        "import sys; from pathlib import Path; from memsim.runs.run_folder import RunLock;"
        "assert RunLock.take(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert RunLock.take(tmp_path) is None
        process.kill()
        process.wait()
    lock = RunLock.take(tmp_path)
    assert lock is not None
    lock.release()


def test_a_beginning_that_never_began_is_cleared_away(reports: Path) -> None:
    """A run appears complete with run.json, or not at all."""
    stale, fresh = (runs_folder(reports) / f".new-{name}" for name in ("1234", "5678"))
    stale.mkdir(parents=True)
    fresh.mkdir()
    os.utime(stale, (1, 1))
    folder = record(plan(), reports)

    assert set(runs_folder(reports).iterdir()) == {folder, fresh}


def test_a_folder_that_cannot_be_written_is_told(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is no fault of memsim's, and what was kept stays sound."""
    with open_run(plan(), reports) as writer:
        perform(plan(), writer, InProcess(), play=play, watch=lambda _: True)

        def full(*_arguments: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(RunWriter, "_write", full)
        with pytest.raises(RunFolderError, match="cannot be written: No space left on device"):
            writer.keep(1, play(plan().cases[1]))


def test_another_version_of_a_result_is_not_misread(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line with a field that this version does not know is refused."""
    monkeypatch.setattr(case_log, "result_record", lambda result: {"states": result.state})
    record(plan(), reports)

    with pytest.raises(RunFolderError, match=r"cases\.jsonl:1: is damaged, or of another memsim"):
        load_run("latest", reports)


@pytest.mark.parametrize(
    ("was", "became"),
    [('"recall":0.3333333333333333', '"recall":0.9333333333333333'), ('"n2"', '"n1"')],
)
def test_a_number_that_was_altered_in_the_log_is_not_believed(
    reports: Path, was: str, became: str
) -> None:
    """Each line carries a sum of itself; the error names the line."""
    folder = record(plan(), reports)
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert was in lines[2]
    lines[2] = lines[2].replace(was, became)
    (folder / "cases.jsonl").write_text("".join(lines), encoding="utf-8")

    with pytest.raises(RunFolderError) as caught:
        load_run("latest", reports)

    said = "is damaged: its checksum is wrong"
    assert f"{folder / 'cases.jsonl'}:3: {said}" == str(caught.value)


def test_a_line_that_was_altered_amid_an_unfinished_log_is_told(reports: Path) -> None:
    """A killed run ends in a torn line; it never has a wrong one before others."""
    made = plan()
    with open_run(made, reports) as writer:
        perform(made, writer, InProcess(), play=play)
    path = writer.folder / "cases.jsonl"
    path.write_bytes(path.read_bytes().replace(b"0.33333", b"0.93333", 1))

    with pytest.raises(RunFolderError, match=r"cases\.jsonl:1: is damaged"):
        load_run("latest", reports)


@pytest.mark.parametrize("name", RECORDS)
def test_what_was_added_behind_the_records_is_damage(reports: Path, name: str) -> None:
    """Nobody but the run writes there."""
    folder = record(plan(), reports)
    with (folder / name).open("ab") as file:
        file.write(b"rubbish\n")

    with pytest.raises(RunFolderError) as caught:
        load_run("latest", reports)

    assert f"{folder / name}: holds 8 bytes more than cases.jsonl says" == str(caught.value)


def test_what_a_killed_run_left_behind_its_records_is_no_damage(reports: Path) -> None:
    """Records are written before the line that tells of them."""
    made = plan()
    with open_run(made, reports) as writer:
        perform(made, writer, InProcess(), play=play)
    for name in (*RECORDS, "cases.jsonl"):
        with (writer.folder / name).open("ab") as file:
            file.write(b'{"case": "tor')

    assert 3 == len(load_run("latest", reports).cases)


def test_a_plan_that_shrank_is_another_plan(reports: Path) -> None:
    """Cases that a resumed plan does not have are cut off, should a fingerprint ever lie."""
    with open_run(plan(cases=3), reports) as writer:
        perform(plan(cases=3), writer, InProcess(), play=play, watch=lambda r: r.scenario == "n1")

    with open_run(replace(plan(cases=1)), reports) as again:
        assert [r.scenario for r in again.resumed] == ["n0"]


def test_a_run_that_kept_no_contexts_is_read(reports: Path) -> None:
    """An earlier memsim told where two files end; what it kept is all there."""
    made = plan()
    folder = record(made, reports)
    lines = []
    for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        del entry["own"]
        entry["ends"], entry["crc"] = entry["ends"][:2], entry["crc"][:2]
        bare = json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n"
        lines.append(f'{bare[:-2]},"own":{zlib.crc32(bare.encode())}}}\n')
    (folder / "cases.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "contexts.jsonl").unlink()

    run = load_run("latest", reports)

    assert run.cases == tuple(play(spec).result for spec in made.cases)
    assert [] == list(run.contexts(made.cases[2].key))
    assert 2 == len(list(run.turns(made.cases[2].key)))


def kept(writer: RunWriter, made: CasePlan, lost: Sequence[int] = ()) -> None:
    """Keep every case that the run lacks, the last one first; some of them as lost ones."""
    for place in reversed(writer.lacking):
        spec = made.cases[place]
        result = blank_result(spec, state="lost", error="its process died")
        outcome = CaseOutcome(result=result) if place in lost else play(spec)
        writer.keep(place, replace(outcome, result=replace(outcome.result, seconds=2.0)))


def test_lost_cases_are_played_again_by_the_same_command(reports: Path, tmp_path: Path) -> None:
    """Only they are; what was played after them is kept, and the bytes are those of a calm run."""
    made = plan(6)
    calm = tmp_path / "calm"
    with open_run(made, calm) as writer:
        kept(writer, made)
        writer.finish(ExitCode.PASSED, "6 passed")
    expected = {name: (writer.folder / name).read_bytes() for name in (*RECORDS, "cases.jsonl")}
    with open_run(made, reports) as writer:
        kept(writer, made, lost=(1, 4))
        writer.finish(ExitCode.UNMEASURABLE, "2 unmeasured")
    first = writer.folder
    assert 2 == load_run(first, reports).info["lost"]

    for _ in range(2):  # killed before it played anything, it goes on from there
        with open_run(made, reports) as writer:
            assert (first, False, (1, 4)) == (writer.folder, writer.finished, writer.lacking)
            assert not load_run(first, reports).finished
    with open_run(made, reports) as writer:
        kept(writer, made)
        writer.finish(ExitCode.PASSED, "6 passed")

    assert expected == {name: (first / name).read_bytes() for name in expected}
    assert "lost" not in load_run(first, reports).info
    assert open_run(made, reports, out=first).finished


def test_a_run_that_is_killed_while_its_lost_cases_are_taken_out_loses_nothing(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcomes behind a lost case are on the disk elsewhere before the log is cut."""
    made = plan(4)
    with open_run(made, reports) as writer:
        kept(writer, made, lost=(0,))
        writer.finish(ExitCode.UNMEASURABLE, "1 unmeasured")
    for step in ("write_info", "read_ahead"):
        with monkeypatch.context() as patch:
            patch.setattr(run_writer, step, _power_cut)
            with pytest.raises(KeyboardInterrupt):
                open_run(made, reports)

    with open_run(made, reports) as writer:
        assert (0,) == writer.lacking


@pytest.mark.parametrize("name", ["turns.jsonl", "cases.jsonl", "ahead.jsonl", ".lock"])
def test_a_run_is_not_continued_through_a_link(reports: Path, tmp_path: Path, name: str) -> None:
    """What the link leads to is neither cut nor written; a pipe is not waited for."""
    made = plan(3)
    with open_run(made, reports) as writer:
        pass
    mine, path = tmp_path / "mine.txt", writer.folder / name
    mine.write_text("mine", encoding="utf-8")
    for kind in ("a link", "a pipe"):
        path.unlink(missing_ok=True)
        if kind == "a link":
            path.symlink_to(mine)
        else:
            os.mkfifo(path)
        refused = ""
        try:
            with open_run(made, reports, out=writer.folder) as again:
                kept(again, made)
        except RunFolderError as error:
            refused = str(error)
        assert refused or name == ".lock"
        assert "mine" == mine.read_text(encoding="utf-8")


def _power_cut(*_: object) -> None:
    raise KeyboardInterrupt
