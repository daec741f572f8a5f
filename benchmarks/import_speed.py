"""Import a million messages: seconds, peak memory, and what a loss would look like.

A file of OpenAI chats is generated, imported by `memsim import` in a process of its own, and
counted. Every 1,000th message has an unknown role, so that the count of drops is checked too::

    python -m benchmarks.import_speed                       # 1,000,000 messages
    python -m benchmarks.import_speed --messages 100000 --format otel
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SECONDS = 60
"""That a million messages may take."""

MEGABYTES = 500
"""That an import may need, however large its file is."""

_EACH = 100
_STRANGE = 1_000


def messages(conversation: int) -> Iterator[dict[str, str]]:
    """A conversation of `_EACH` messages of about forty words."""
    for number in range(_EACH):
        place = conversation * _EACH + number
        role = "user" if number % 2 == 0 else "assistant"
        text = f"Message {place} is about order HG-{place:07} and a parcel for Elm Road. " * 3
        yield {"role": "martian" if place % _STRANGE == 7 else role, "content": text}


def openai_line(conversation: int) -> str:
    """One chat as a line."""
    told = {"id": f"chat-{conversation}", "user": f"user-{conversation % 1_000}"}
    return json.dumps({**told, "messages": list(messages(conversation))})


def otel_line(conversation: int) -> str:
    """One chat as the span of its last call."""
    *sent, answer = (
        {"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]}
        for m in messages(conversation)
    )
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": f"chat-{conversation}",
        "user.id": f"user-{conversation % 1_000}",
        "gen_ai.input.messages": json.dumps(sent),
        "gen_ai.output.messages": json.dumps([answer]),
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
    start = str(10**9 * (1_772_442_000 + conversation))
    span = {"traceId": "t", "name": "chat", "startTimeUnixNano": start, "attributes": attributes}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


LINES = {"openai": openai_line, "otel": otel_line}


def measured(folder: Path, trace: Path, needs: int | None) -> tuple[float, float, str]:
    """Seconds, megabytes and the output of an import."""
    output = folder / "output.txt"
    command = [sys.executable, "-m", "memsim", "import", str(trace), "-o", str(folder / "out")]
    command += [] if needs is None else ["--needs", str(needs)]
    before = time.monotonic()
    process = os.posix_spawn(
        sys.executable,
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT, 0o600)],
    )
    _, status, used = os.wait4(process, 0)
    seconds = time.monotonic() - before
    assert os.waitstatus_to_exitcode(status) == 0
    return seconds, used.ru_maxrss / 1024, output.read_text(encoding="utf-8")


def main() -> int:
    """Measure, and say whether it keeps to the bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--format", choices=sorted(LINES), default="openai")
    parser.add_argument("--quick", action="store_true", help="20,000 messages")
    parser.add_argument("--needs", type=int, help="as of `memsim import`")
    given = parser.parse_args()
    given.messages = 20_000 if given.quick else given.messages
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = folder / "trace.jsonl"
        with trace.open("w", encoding="utf-8") as file:
            file.writelines(f"{LINES[given.format](n)}\n" for n in range(given.messages // _EACH))
        seconds, megabytes, output = measured(folder, trace, given.needs)
        size = trace.stat().st_size / 2**20
        lines = sum(_lines(path) for path in folder.glob("out/*.jsonl"))
    print(output)
    written = lines - 1_000 - given.messages // _EACH
    print(
        f"{given.messages:,} messages, {size:,.0f} MB of {given.format}: {seconds:.1f} s,"
        f" {megabytes:,.0f} MB, {written:,} written"
    )
    assert f"dropped  {given.messages // _STRANGE:,}  unknown role 'martian'" in output
    return int(seconds > SECONDS * given.messages / 10**6 or megabytes > MEGABYTES)


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    sys.exit(main())
