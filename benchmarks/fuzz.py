"""Does anything but one line of refusal come out, whatever is loaded?

Mutated scenario files, saved states of every built-in strategy and of a whole memory, run folders,
baselines and datasets, a share of the inputs each. Claimed: what is loaded loads, or is refused by
an error of memsim's own whose message is one printable line; and a strategy that refuses a state
has the one it had.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.fuzz_files import FILES, alarmed
from memsim.errors import MemsimError
from memsim.gate.baseline_file import encode, read_baseline
from memsim.gate.score_sheet import ScoreSheet
from memsim.memory.persistence.memory_file import FILE, MemoryFile
from memsim.runs.run_reader import open_folder
from memsim.scenario import load_scenario
from memsim.scenario.datasets import load_dataset
from memsim.testing.folders import throwaway
from tests.doubles.damage import mutated_value
from tests.doubles.hostile_files import clear, damage_file

ROOT = Path(__file__).resolve().parents[1]
BUILT_IN = (
    *("full_context", "no_memory", "oracle", "sliding_window", "rolling_summary", "bm25"),
    *("vector", "hybrid", "layered", "cogtrix", "agenticx", "agentscope", "aegis", "prx"),
)
Target = Callable[[random.Random], None]
"""Loads something mutated; raises whatever comes out."""

Factory = Callable[[Path, ExitStack], Target]
"""Makes one in a folder, and says what is to be closed in the end."""


class ChangedError(Exception):
    """A state was refused, and is not the one it was."""


def scenarios(folder: Path, _closing: ExitStack) -> Target:
    """Scenario files: the corpus, good and bad, and the built-in ones."""
    files = [*ROOT.glob("tests/corpus/scenarios/*/*.yaml"), *ROOT.glob("scenarios/**/*.yaml")]
    sources = [data for path in sorted(files) if len(data := path.read_bytes()) < 20_000]
    return _bytes(folder / "mutant.yaml", sources, load_scenario)


def baselines(folder: Path, _closing: ExitStack) -> Target:
    """Baselines."""
    sheet = ScoreSheet(
        name="run", place="", instruments={}, scenarios={}, strategies={}, columns={}
    )
    return _bytes(folder / "main.json", [encode(sheet, "main").encode()], read_baseline)


def memories(folder: Path, _closing: ExitStack) -> Target:
    """Files of saved memories, as bytes."""
    file = MemoryFile(folder, readonly=False)
    file.open(1)
    file.begin()
    file.write({"a": '{"b":[1,2.5,null],"c":"é"}'}, ["entry"])
    file.close()

    def read(_: Path) -> None:
        file = MemoryFile(folder, readonly=True)
        try:
            file.open(1)
            file.order()
        finally:
            file.close()

    path = folder / FILE
    load = _bytes(path, [path.read_bytes()], read)

    def target(chance: random.Random) -> None:
        try:
            load(chance)
        finally:
            for beside in folder.glob(f"{FILE}[.-]*"):
                clear(beside)

    return target


def runs(folder: Path, _closing: ExitStack) -> Target:
    """Run folders of which one file was mutated."""
    info = {"memsim": 1, "fingerprint": "f", "finished": False, "played": 0, "cases": {"a": "b"}}
    result = {"id": "a", "scenario": "s", "strategy": "b", "budget": 1, "own": 1}
    sources = [json.dumps(v).encode() + b"\n" for v in (info, result)]
    (folder / "run.json").write_bytes(sources[0])
    whole = (_bytes(folder / "run.json", sources[:1], lambda _: open_folder(folder)),)
    log = _bytes(folder / "cases.jsonl", sources[1:], lambda _: open_folder(folder))

    def target(chance: random.Random) -> None:
        clear(folder / "run.json")
        clear(folder / "cases.jsonl")
        (folder / "run.json").write_bytes(sources[0])
        chance.choice((*whole, log))(chance)

    return target


def locomo(folder: Path, _closing: ExitStack) -> Target:
    """A dataset's file."""
    said = [
        {
            "speaker": "Ana",
            "dia_id": f"D1:{n}",
            "text": f"I have {n} cats.",
            "blip_caption": "a cat",
        }
        for n in (1, 2)
    ]
    talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1": said}
    talk["session_1_date_time"] = "1:56 pm on 8 May, 2023"
    asked = {"question": "How many?", "answer": 2, "category": 1, "evidence": ["D1:2"]}
    whole = [{"sample_id": "conv-1", "conversation": talk, "qa": [asked, {**asked, "category": 5}]}]
    path = folder / "locomo.json"

    def target(chance: random.Random) -> None:
        if chance.random() < 0.3:
            damage_file(chance, path, [json.dumps(whole, indent=1).encode()])
        else:
            clear(path)
            path.write_text(json.dumps(mutated_value(chance, whole)), encoding="utf-8")
        for scenario in load_dataset("locomo", path):
            list(scenario.events(7))

    return target


def strategy(ref: str) -> Factory:
    """A strategy's saved state, mutated value by value."""

    def made(_folder: Path, closing: ExitStack) -> Target:
        from memsim.message import said
        from memsim.testing import Case, CaseTurn, world_of

        def turn(n: int) -> CaseTurn:
            heard = said("user", f"My order {n} is A-{7 * n}, not B.", id=f"m{n}", principal="ana")
            reply = said("assistant", "Noted.", id=f"r{n}", principal="ana")
            at = heard.time
            return CaseTurn(
                number=n, who="ana", session="s1", time=at, heard=(heard,), reply=(reply,)
            )

        world = world_of(ref, Case(events=tuple(turn(n) for n in range(1, 6)), budget=60))
        closing.callback(world.close)
        world.play(world.case.events)
        whole = world.saved()

        def target(chance: random.Random) -> None:
            before = world.saved()
            try:
                world.memory.load(mutated_value(chance, json.loads(whole)))
            except MemsimError as error:
                if world.saved() != before:
                    raise ChangedError(str(error)) from error
                raise
            finally:
                world.memory.load(json.loads(whole))

        return target

    return made


def _bytes(path: Path, sources: list[bytes], load: Callable[[Path], Any]) -> Target:
    def target(chance: random.Random) -> None:
        damage_file(chance, path, sources)
        load(path)

    return target


TARGETS: dict[str, Factory] = {
    "scenario": scenarios,
    "memory": memories,
    "run": runs,
    "baseline": baselines,
    "locomo": locomo,
    **FILES,
    **{f"state of {ref}": strategy(ref) for ref in BUILT_IN},
}
SHARES = {"scenario": 10}
"""How many times as often a target's turn comes, where it is not once."""


def one(target: Target, seed: str) -> tuple[str, str]:
    """Try one input: `loaded`, `refused` or `wrong`, and what was wrong."""
    try:
        with alarmed():
            target(random.Random(seed))
    except MemsimError as error:
        said = str(error)
        return ("refused", "") if said.isprintable() else ("wrong", f"not one line: {said!r}")
    except Exception as error:  # noqa: BLE001 - whatever comes out is what is looked for
        return "wrong", f"{type(error).__name__}: {error}"
    return "loaded", ""


def fuzz(
    names: list[str], *, inputs: int, seconds: float = 0.0, seed: int = 7
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Try so many inputs, or as many as there is time for.

    Returns:
        How many loaded, were refused and were wrong, by target; and each wrong one with its seed.
    """
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    wrong: list[str] = []
    end = time.monotonic() + seconds if seconds else None
    with throwaway() as folder, ExitStack() as closing:
        ready = {}
        for number, name in enumerate(names):
            place = Path(folder) / str(number)
            place.mkdir()
            ready[name] = TARGETS[name](place, closing)
        order = [name for name in names for _ in range(SHARES.get(name, 1))]
        for number in range(inputs):
            if end is not None and time.monotonic() > end:
                break
            name = order[number % len(order)]
            came, why = one(ready[name], f"{seed}/{name}/{number}")
            found[name][came] += 1
            if why:
                wrong.append(f"{name}, seed {seed}/{name}/{number}: {why}"[:300])
    return found, wrong


def main() -> int:
    """Try them and say what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="two thousand inputs")
    parser.add_argument("names", nargs="*", help="of targets; all unless told otherwise")
    given = parser.parse_args()
    inputs = 2_000 if given.quick else given.inputs
    found, wrong = fuzz(
        given.names or [*TARGETS], inputs=inputs, seconds=given.seconds, seed=given.seed
    )
    for name, came in found.items():
        print(f"{name:26} {came['loaded']:8,} loaded {came['refused']:8,} refused", end="")
        print(f" {came['wrong']:6,} wrong")
    total = sum(sum(came.values()) for came in found.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{total:,} inputs, {len(wrong):,} uncaught, too slow or not one line; {peak:,} MB at most"
    )
    for line in wrong[:20]:
        print("  " + ascii(line))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
