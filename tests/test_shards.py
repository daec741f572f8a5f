"""Shards of a run: which cases fall to each, and what is merged or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from memsim.errors import ExitCode, RunFolderError, UsageError
from memsim.executors import InProcess
from memsim.runs import load_run, open_run, perform
from memsim.runs.run_writer import open_described
from memsim.runs.shards import describe_merged, merge_shards, read_shards, shard_folder
from memsim.suite.case_plan import CasePlan, digest, shard_plan
from memsim.suite.shard import Shard, parse_shard
from tests.test_runs import asked_once, plan, play

RECORDS = ("probes.jsonl", "turns.jsonl", "contexts.jsonl", "cases.jsonl")
COMMAND = ("memsim", "run")


@pytest.fixture(autouse=True)
def _git_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsim.runs.run_writer._git", asked_once)


def whole_plan(cases: int = 6, repeats: int = 2, seed: int = 7) -> CasePlan:
    """A plan with a fingerprint of its own."""
    made = plan(cases, repeats=repeats)
    settings = replace(made.settings, seed=seed)
    fingerprint = digest(list(made.fingerprints))
    return replace(made, settings=settings, fingerprint=fingerprint)


def part(made: CasePlan, number: int, of: int, reports: Path, *, finish: bool = True) -> Path:
    """Play a shard of a plan and return its folder."""
    shard = shard_plan(made, Shard(number=number, of=of))
    assert shard.shard is not None
    folder = shard_folder(reports, shard.shard)
    with open_run(shard, reports, out=folder, command=COMMAND) as writer:
        stop = None if finish else lambda _: True
        perform(shard, writer, InProcess(), play=play, watch=stop)
        if finish:
            writer.finish(ExitCode.PASSED)
    return folder


def record(made: CasePlan, reports: Path) -> Path:
    """Play a whole plan and return its folder."""
    with open_run(made, reports, command=COMMAND) as writer:
        perform(made, writer, InProcess(), play=play)
        writer.finish(ExitCode.PASSED)
    return writer.folder


def merged(folders: Sequence[Path], reports: Path) -> Path:
    """Merge shards and return the folder of the run."""
    shards = read_shards(folders)
    with open_described(describe_merged(shards, reports), reports) as writer:
        merge_shards(shards, writer)
        writer.finish(ExitCode.PASSED)
    return writer.folder


def contents(folder: Path) -> dict[str, bytes]:
    """The records of a run, byte for byte."""
    return {name: (folder / name).read_bytes() for name in RECORDS}


def info(folder: Path) -> dict[str, object]:
    """What `run.json` says, but for the time."""
    found: dict[str, object] = json.loads((folder / "run.json").read_text("utf-8"))
    return {key: value for key, value in found.items() if key != "created"}


@pytest.mark.parametrize("of", [1, 3, 40])
def test_each_case_falls_to_one_shard(of: int) -> None:
    """Its key decides, so that every machine decides alike; a shard may be empty."""
    made = whole_plan()
    parts = [shard_plan(made, Shard(number=n, of=of)) for n in range(1, of + 1)]

    assert sorted(spec.key for p in parts for spec in p.cases) == sorted(
        spec.key for spec in made.cases
    )
    assert len({p.fingerprint for p in parts} | {made.fingerprint}) == of + 1
    assert [spec.key for spec in made.cases if Shard(number=2, of=3).holds(spec.key)] == [
        "s.yaml::n4[bm25:k=3@4k]",
        "s.yaml::n4[bm25:k=3@4k]#1",
    ]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "x", "1/", "/4", "-1/4", "1/4/2", "", "²/4"])
def test_no_shard_is_a_usage_error(text: str) -> None:
    """Shards are numbered from 1."""
    with pytest.raises(UsageError, match=r"^--shard "):
        parse_shard(text)


def test_merged_in_any_order_is_one_run(tmp_path: Path) -> None:
    """All records and `run.json` have the bytes of a run on one machine."""
    made = whole_plan()
    alone = record(made, tmp_path / "alone")
    shards = [part(made, n, 3, tmp_path / "parts") for n in (3, 1, 2)]

    for number, order in enumerate(permutations(shards)):
        folder = merged(order, tmp_path / str(number))
        assert contents(alone) == contents(folder)
        assert [*info(alone).items()] == [*info(folder).items()]


def test_empty_shards_merge(tmp_path: Path) -> None:
    """There may be more shards than cases; a folder of shards is as good as each of them."""
    made = whole_plan(cases=2, repeats=1)
    folders = [part(made, n, 5, tmp_path / "parts") for n in range(1, 6)]

    assert [0, 0, 0, 1, 1] == sorted(len(info(f)["cases"]) for f in folders)  # type: ignore[arg-type]
    assert contents(record(made, tmp_path / "alone")) == contents(
        merged([folders[0].parent], tmp_path / "merged")
    )


def test_a_missing_or_doubled_shard_is_an_error(tmp_path: Path) -> None:
    """Never a smaller table."""
    made = whole_plan()
    one, two, three = (part(made, n, 3, tmp_path) for n in (1, 2, 3))

    with pytest.raises(RunFolderError, match=r"^of 3 shards, 1 is missing: 2/3$"):
        read_shards([one, three])
    with pytest.raises(RunFolderError, match=r"^of 3 shards, 2 are missing: 1/3, 2/3$"):
        read_shards([three])
    with pytest.raises(RunFolderError, match=r"is shard 2/3 once more, as .*2-of-3 is$"):
        read_shards([one, two, three, two])
    with pytest.raises(RunFolderError, match="is shard 2/3 once more"):
        read_shards([one.parent, two])


def test_an_unfinished_shard_is_an_error_and_goes_on(tmp_path: Path) -> None:
    """The same command finishes it."""
    made = whole_plan()
    one, two = part(made, 1, 2, tmp_path), part(made, 2, 2, tmp_path, finish=False)

    with pytest.raises(RunFolderError, match=r"1 of \d cases .*: memsim run --shard 2/2 -o .*2$"):
        read_shards([one, two])
    assert two == part(made, 2, 2, tmp_path)
    assert len(read_shards([one, two])) == 2


def change(folder: Path, **values: object) -> None:
    """Change keys of a `run.json`."""
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"versions": {"memsim": "9"}}, "memsim is 9, not "),
        ({"commit": "abc"}, "its commit is abc, not "),
        ({"platform": "plan9"}, "its platform is plan9, not "),
        ({"settings": {"seed": 8}}, "setting seed differs$"),
        ({"scenarios": {"s": "2"}}, "scenario s differs$"),
        ({"strategies": {"b": "2"}}, "source of b differs$"),
    ],
)
def test_shards_of_different_runs_are_refused(
    changes: Mapping[str, object], said: str, tmp_path: Path
) -> None:
    """One line says what differs."""
    made = whole_plan()
    one, two = (part(made, n, 2, tmp_path) for n in (1, 2))
    change(one, scenarios={"s": "1"}, strategies={"b": "1"})
    change(two, **changes)

    with pytest.raises(RunFolderError, match=f"is no shard of the run of .*1-of-2: {said}"):
        read_shards([two, one])


def test_settings_of_a_machine_may_differ(tmp_path: Path) -> None:
    """How many processes played is in no record."""
    made = whole_plan()
    more = replace(made, settings=replace(made.settings, jobs=4))
    folders = [part(made, 1, 2, tmp_path), part(more, 2, 2, tmp_path)]

    assert len(read_shards(folders)) == 2


def test_other_counts_and_plans_are_refused(tmp_path: Path) -> None:
    """Shards of other numbers, of another plan, and whole runs."""
    made = whole_plan()
    one = part(made, 1, 2, tmp_path)
    other = replace(made, fingerprint="other")

    with pytest.raises(RunFolderError, match=r"it is shard 2/3, not one of 2$"):
        read_shards([one, part(made, 2, 3, tmp_path)])
    with pytest.raises(RunFolderError, match="it has another plan"):
        read_shards([one, part(other, 2, 2, tmp_path)])
    with pytest.raises(RunFolderError, match=r"is a whole run, and no shard$"):
        read_shards([record(made, tmp_path / "alone"), one])
    with pytest.raises(RunFolderError, match=r"is no shard, and holds none$"):
        read_shards([tmp_path])


def test_a_damaged_shard_is_an_error(tmp_path: Path) -> None:
    """A record that was changed is not merged, nor is a case that the plan does not have."""
    made = whole_plan()
    one, two = (part(made, n, 2, tmp_path / "parts") for n in (1, 2))
    probes = (one / "probes.jsonl").read_bytes()
    (one / "probes.jsonl").write_bytes(probes.replace(b"PASS", b"FAIL"))
    with pytest.raises(RunFolderError, match="does not hold what"):
        merged([one, two], tmp_path)
    (one / "probes.jsonl").write_bytes(probes)

    first, *rest = info(one)["cases"].items()  # type: ignore[attr-defined]
    change(one, cases=dict([(first[0], "other"), *rest]))
    with pytest.raises(RunFolderError, match=r"not those of their plan$"):
        read_shards([one, two])


def test_a_merge_that_was_killed_goes_on(tmp_path: Path) -> None:
    """Its folder is an unfinished run of the plan, whose other cases the next merge finds."""
    made = whole_plan()
    folders = [part(made, n, 2, tmp_path / "parts") for n in (1, 2)]
    shards = read_shards(folders)
    with open_described(describe_merged(shards, tmp_path), tmp_path) as writer:
        for place, outcome in list(enumerate(map(play, made.cases)))[:5]:
            writer.keep(place, outcome)

    assert writer.folder == merged(folders, tmp_path)
    assert contents(record(made, tmp_path / "alone")) == contents(writer.folder)


def test_no_number_is_computed_from_a_shard(tmp_path: Path) -> None:
    """Reports, comparisons and baselines take whole runs."""
    folder = part(whole_plan(), 1, 2, tmp_path)

    with pytest.raises(RunFolderError, match="is a shard, and only part of a run"):
        load_run(folder, tmp_path)


def test_shards_share_the_money(tmp_path: Path) -> None:
    """All together keep to `--max-cost`."""
    made = whole_plan()
    capped = tuple(
        replace(spec, access=replace(spec.access, cap=1.0, folder=tmp_path)) for spec in made.cases
    )

    found = shard_plan(replace(made, cases=capped), Shard(number=1, of=4))

    assert {spec.access.cap for spec in found.cases} == {0.25}
