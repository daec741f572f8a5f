"""Run a chat of a million tokens in BEAM's form: processor time, memory and evidence recall.

PATH is the folder of a published chat of 1M tokens. Without it, chats of 100K tokens are joined to
one, those of `beam/100K` below MEMSIM_DATA: told one after the other, again and again until the
chat is long enough, and asked about what was told first. Each strategy runs in a process of its
own. The time of `no_memory` is what loading, replay and report take alone.

    python -m benchmarks.long_chat PATH --only bm25
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.million import run
from memsim.message import load_tokenizer

ROOT = Path(__file__).resolve().parents[1]
STRATEGIES = ("no_memory", "bm25", "layered", "layered:store=sqlite")
TOKENS = 1_000_000
CHAT, QUESTIONS = "chat.json", "probing_questions.json"


def joined(chats: list[Path], tokens: int, folder: Path) -> tuple[int, int]:
    """Write a chat of at least so many tokens, and the questions on its first telling.

    Returns:
        its messages, and its tokens.
    """
    tokenizer = load_tokenizer()
    batches: list[Any] = []
    asked: dict[str, list[Any]] = {}
    said = first = 0
    for place in count():
        if said >= tokens:
            break
        source = chats[place % len(chats)]
        batches_here, used = moved(json.loads((source / CHAT).read_text("utf-8")), first)
        if place < len(chats):
            for ability, listed in json.loads((source / QUESTIONS).read_text("utf-8")).items():
                asked.setdefault(ability, []).extend(cited(listed, first))
        batches += batches_here
        said += sum(tokenizer.count(line["content"]) for line in lines(batches_here))
        first += used
    (folder / CHAT).write_text(json.dumps(batches), "utf-8")
    (folder / QUESTIONS).write_text(json.dumps(asked), "utf-8")
    return first, said


def lines(batches: list[Any]) -> Iterator[dict[str, Any]]:
    """Every message of some batches."""
    return (line for batch in batches for group in batch["turns"] for line in group)


def moved(batches: list[Any], first: int) -> tuple[list[Any], int]:
    """The batches with their messages numbered from `first`, and how many numbers they take."""
    last = -1
    for line in lines(batches):
        last = max(last, line["id"])
        line["id"] += first
    return batches, last + 1


def cited(questions: list[dict[str, Any]], first: int) -> list[dict[str, Any]]:
    """The questions, citing messages that are numbered from `first`."""
    cites = "source_chat_ids"
    return [q | ({cites: raised(q[cites], first)} if cites in q else {}) for q in questions]


def raised(value: object, first: int) -> object:
    """Numbers in lists and objects, each raised by `first`."""
    if isinstance(value, dict):
        return {name: raised(member, first) for name, member in value.items()}
    if isinstance(value, list):
        return [raised(member, first) for member in value]
    return value + first if isinstance(value, int) else value


def evidence(probes: Path) -> tuple[float, int]:
    """Mean evidence recall, of all questions that have evidence."""
    rows = [json.loads(line) for line in probes.read_text("utf-8").splitlines()]
    found = [row["scores"]["evidence_recall"] for row in rows if row["evidence"]]
    return sum(found) / max(len(found), 1), len(found)


def measured(root: Path, chat: Path, strategy: str) -> bool:
    """Play the chat through one strategy and print its row; whether it ran."""
    folder = root / strategy.replace(":", "-")
    folder.mkdir()
    chosen = (
        "-s",
        strategy,
        "-k",
        strategy.partition(":")[0],
        "--budget",
        "4k",
        "-j",
        "1",
        "-o",
        "run",
        "-q",
    )
    cost = run(folder, "run", "beam", "--data", str(chat), *chosen)
    if cost.exit:
        print(f"{strategy}: exit {cost.exit}", (folder / "output.txt").read_text("utf-8")[-500:])
        return False
    share, asked = evidence(folder / "run/probes.jsonl")
    row = f"{strategy:<22}{cost.seconds:>10.1f}{cost.megabytes:>8.0f}{share:>10.2f}{asked:>6}"
    print(row, flush=True)
    return True


def find_chats(path: Path | None) -> list[Path]:
    """The chat that was named, or those of 100K tokens."""
    if path is not None:
        return [path]
    data = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data")
    return sorted(chat.parent for chat in (data / "beam/100K").glob(f"*/{CHAT}"))


def main() -> int:
    """Print a row for each strategy; 1 when a run fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="the folder of a chat")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a joined chat")
    parser.add_argument("--only", choices=STRATEGIES, help="one strategy")
    given = parser.parse_args()
    chats = find_chats(given.path)
    if not chats:
        print("not measured: no chat of BEAM is here; set MEMSIM_DATA or name a folder")
        return 0
    with tempfile.TemporaryDirectory(prefix="memsim-chat-") as name:
        chat = given.path
        if chat is None:
            chat = Path(name) / "beam"
            chat.mkdir()
            told, said = joined(chats, given.tokens, chat)
            print(f"{len(chats)} chats joined: {told:,} messages, {said:,} tokens")
        print(f"{'':<22}{'seconds':>10}{'MB':>8}{'evidence':>10}{'n':>6}", flush=True)
        wanted = [given.only] if given.only else STRATEGIES
        ran = [measured(Path(name), chat.resolve(), strategy) for strategy in wanted]
    return int(not all(ran))


if __name__ == "__main__":
    sys.exit(main())
