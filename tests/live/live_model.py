"""A small real model on this machine does every task, is recorded and is replayed to the byte.

`make test-live` runs this; no other command collects it, because it needs a model's server.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.local_model import MODEL, environment, serving, versions
from tests.live.flows import CASSETTES, FLOWS, HERE, Played, access, kept, replayed
from tests.live.telling import LINES

COMMAND = [sys.executable, "-m", "memsim", "run", "flat.yaml", "-s", "rolling_summary", "-m", MODEL]


@dataclass(frozen=True)
class Session:
    """What was recorded of each flow, and where."""

    folder: Path
    played: Mapping[str, Played]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The model's address, where litellm looks for it."""
    log = tmp_path_factory.mktemp("server") / "log"
    with pytest.MonkeyPatch.context() as patch, serving(log) as url:
        for name, value in environment(url).items():
            patch.setenv(name, value)
        LINES.append(", ".join(f"{name} {version}" for name, version in versions().items()))
        yield url


@pytest.fixture(scope="session")
def recorded(server: str, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Every flow, asked of the model and recorded."""
    folder = tmp_path_factory.mktemp("cassettes")
    played = {flow: timed(flow, folder) for flow in FLOWS}
    return Session(folder, played)


def timed(flow: str, folder: Path) -> Played:
    """A flow as the model plays it, told of at the end."""
    began = time.perf_counter()
    played = FLOWS[flow](access(folder, "new"))
    seconds, spent = time.perf_counter() - began, played.spent
    LINES.append(
        f"{flow}: {spent.asked} calls, {spent.input:,} tokens read, {spent.output:,} written,"
        f" {seconds:.0f} s"
    )
    return played


def contents(folder: Path) -> dict[str, bytes]:
    """Every recording below a folder."""
    files = (p for p in sorted(folder.rglob("*.jsonl")) if p.name[0] != ".")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_is_played_and_replayed_to_the_byte(recorded: Session, flow: str) -> None:
    """What comes from the recordings is what came from the model, and nobody is asked again."""
    live, again = recorded.played[flow], replayed(flow, recorded.folder)

    assert ("", ()) == (live.error, live.spent.failed)
    assert live.records == again.records
    assert (live.spent.asked, 0) == (again.spent.replayed, again.spent.asked)
    assert min(live.spent.input, live.spent.output) > 0


def test_the_same_question_has_the_same_answer(recorded: Session, tmp_path: Path) -> None:
    """At temperature 0, whatever was asked before it: another recording is the same bytes."""
    first = contents(recorded.folder)
    timed("summariser", tmp_path)

    assert contents(tmp_path).items() <= first.items()


def test_the_command_runs_dry_live_and_replayed(server: str, tmp_path: Path) -> None:
    """The one command of the documentation, with and without its flags."""
    shutil.copy(HERE / "flat.yaml", tmp_path)
    dry = memsim(tmp_path, "--dry-run")
    live = memsim(tmp_path, "--record", "new")
    again = memsim(tmp_path, "--no-resume", address="http://127.0.0.1:9/v1")

    LINES.extend(said.strip().splitlines()[-1] for said in (live, again))
    assert "nothing was run" in dry
    assert "calls asked for" in live
    assert re.search(r"openai/smollm2: \d+ replayed$", again.strip())


def memsim(folder: Path, *flags: str, address: str | None = None) -> str:
    """What the command says, which must be well."""
    told = {"OPENAI_BASE_URL": address} if address else {}
    done = subprocess.run(
        [*COMMAND, *flags],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), **told},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_what_is_committed_is_what_it_says(
    recorded: Session, request: pytest.FixtureRequest
) -> None:
    """Told, not demanded: another processor rounds otherwise. `--save-recordings` commits to it."""
    fresh, committed = contents(recorded.folder), contents(CASSETTES)
    alike = sum(committed.get(name) == data for name, data in fresh.items())
    LINES.append(f"{alike} of {len(fresh)} recordings are, to the byte, those that are committed")
    if request.config.getoption("--save-recordings"):
        save(recorded)


def save(recorded: Session) -> None:
    """Put what was recorded in the place of what is committed."""
    shutil.rmtree(CASSETTES, ignore_errors=True)
    for name, data in contents(recorded.folder).items():
        path = CASSETTES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for flow, played in recorded.played.items():
        kept(flow).write_bytes(played.records)
    LINES.append("what was recorded this time now lies in tests/live/recorded: commit it")
