"""Fuzz the import of recorded conversations: every format, archives, and conversation files.

What is imported must load and play, and every problem must be one printable line. A message is
either written or counted as dropped.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from itertools import islice
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario import load_scenario
from memsim.scenario.scenario_conversations import scenario_conversations
from memsim.traces.exports import EXPORTS, trace_export
from memsim.traces.formats import trace_formats
from memsim.traces.imported_scenarios import ScenarioFolder
from memsim.traces.trace_files import recognised, trace_sources
from memsim.traces.trace_format import ImportCounts
from tests.doubles.damage import hostile_json
from tests.doubles.hostile_files import clear, damage_file

Target = Callable[[random.Random], None]

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "docs" / "examples" / "traces").iterdir())
_MOST = 50
"""Events of a scenario that are played."""


def _import(path: Path, target: Path, chance: random.Random) -> None:
    for file in target.iterdir():
        file.unlink()
    counts = ImportCounts()
    folder = ScenarioFolder(target, counts, pace=timedelta(minutes=1), force=True)
    formats = list(trace_formats().values())
    written = 0
    for source in trace_sources(path, counts):
        known = recognised(source) if chance.random() < 0.7 else chance.choice(formats)
        for conversation in known.read(source) if known else ():
            before = counts.dropped.total()
            written += folder.add(conversation, known or formats[0], "trace")
            lost = counts.dropped.total() - before
            assert lost <= len(conversation.messages), "more was dropped than there was"
    folder.finish()
    _check(target, written, chance)
    for problem in counts.problems:
        if not str(problem).isprintable():
            raise AssertionError(f"not one line: {problem!s}"[:200])
    if counts.problems and not written:
        raise counts.problems[0]


def _check(target: Path, written: int, chance: random.Random) -> None:
    """What was imported is a scenario that plays, and all that was written is in it."""
    files = sorted(target.glob("*.yaml"))
    played = 0
    for file in files:
        try:
            scenario = load_scenario(file)
        except ScenarioError as error:
            raise AssertionError(f"an imported scenario is refused: {error}") from error
        for _ in islice(scenario.events(7), _MOST):
            pass
        said = list(scenario_conversations(scenario, 7))
        played += sum(m.role in {"user", "assistant", "tool"} for c in said for m in c.messages)
        trace_export(chance.choice(EXPORTS))(said, io.BytesIO())
    assert played == written, f"{written} messages were written and {played} are there"


def damaged_traces(folder: Path, _closing: ExitStack) -> Target:
    """Files of all formats with damaged bytes."""
    sources = [path.read_bytes() for path in EXAMPLES]
    path, target = folder / "trace.json", folder / "out"
    target.mkdir()

    def one(chance: random.Random) -> None:
        damage_file(chance, path, sources)
        _import(path, target, chance)

    return one


def strange_traces(folder: Path, _closing: ExitStack) -> Target:
    """Files of all formats with other values than they should have."""
    texts = [path.read_text("utf-8") for path in EXAMPLES if path.suffix != ".eval"]
    path, target = folder / "trace.json", folder / "out"
    target.mkdir()

    def one(chance: random.Random) -> None:
        clear(path)
        text = chance.choice(texts)
        lines = text.splitlines() if text.startswith('{"') else [text]
        for place, line in enumerate(lines):
            if chance.random() < 0.5:
                lines[place] = hostile_json(chance, json.loads(line)).decode("utf-8", "replace")
        path.write_text("\n".join(lines), encoding="utf-8")
        _import(path, target, chance)

    return one


def archives(folder: Path, _closing: ExitStack) -> Target:
    """Archives with strange members, and damaged ones."""
    sources = [path.read_bytes() for path in EXAMPLES if path.suffix == ".json"]
    names = ["samples/1_epoch_1.json", "../x.json", "conversations.json", "\n.json", "a" * 300]
    path, target = folder / "trace.eval", folder / "out"
    target.mkdir()

    def one(chance: random.Random) -> None:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", chance.choice((0, 8, 12, 14))) as archive:
            for name in chance.sample(names, 2):
                archive.writestr(name, chance.choice(sources))
        damage_file(chance, path, [made.getvalue(), EXAMPLES[3].read_bytes()])
        _import(path, target, chance)

    return one


_SCRIPT = """memsim: 1
name: mutant
principals: [ana]
turns:
  - conversation: mutant.jsonl
probes:
  order: {ask: Which order is it?, expect: HG-4471, after: 2}
"""


def conversation_files(folder: Path, _closing: ExitStack) -> Target:
    """Conversation files, which scenarios play."""
    counts = ImportCounts()
    (source,) = trace_sources(next(p for p in EXAMPLES if p.name == "otel.jsonl"), counts)
    written = ScenarioFolder(folder, counts, pace=timedelta(minutes=1))
    known = trace_formats()["otel"]
    for conversation in known.read(source):
        written.add(conversation, known, "trace")
    sources = [(folder / "ana.jsonl").read_bytes()]
    path = folder / "mutant.jsonl"
    script = path.with_suffix(".yaml")
    script.write_text(_SCRIPT, encoding="utf-8")

    def one(chance: random.Random) -> None:
        damage_file(chance, path, sources)
        for _ in load_scenario(script).events(7):
            pass

    return one


TRACES: Mapping[str, Callable[[Path, ExitStack], Target]] = {
    "trace bytes": damaged_traces,
    "trace values": strange_traces,
    "trace archive": archives,
    "conversation file": conversation_files,
}
"""Makes each target in a folder of its own."""
