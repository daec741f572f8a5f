"""What came of pairs of worlds, as lines for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memsim.errors import ExitCode
from memsim.report.layout import TextLine

if TYPE_CHECKING:
    from memsim.testing.lockstep import Looked, Parting


def exit_code(found: Sequence[Looked]) -> ExitCode:
    """Failed where two worlds part, unmeasured where there was nothing to interfere."""
    if any(one.parting for one in found):
        return ExitCode.FAILED
    return ExitCode.UNMEASURABLE if any(one.why for one in found) else ExitCode.PASSED


def lines(found: Sequence[Looked]) -> Iterator[TextLine]:
    """A line for each strategy, and where two worlds part how and where."""
    for one in found:
        compared = f"{one.pairs:,} pairs of worlds, {one.views:,} views"
        if one.parting is not None:
            yield TextLine(text=f"DIFFERS  {one.subject}  after {compared}", tone="bad")
            yield from _parting(one.parting)
        elif one.why:
            yield TextLine(text=f"UNMEASURED  {one.subject}  {compared}: {one.why}", tone="bad")
        else:
            yield TextLine(text=f"the same  {one.subject}  {compared}, to the byte", tone="good")


def _parting(parting: Parting) -> Iterator[TextLine]:
    yield TextLine(text=f"  second world  {parting.way}")
    yield TextLine(text=f"  path          {' -> '.join(parting.path)}")
    yield TextLine(text=f"  from byte     {parting.at}")
    yield TextLine(text=f"  one world     {_bytes(parting.left)}")
    yield TextLine(text=f"  the other     {_bytes(parting.right)}")
    yield TextLine(text="")


def _bytes(data: bytes) -> str:
    return repr(data)[1:] if data else "nothing"


def as_json(found: Sequence[Looked], code: int) -> str:
    """Everything as one JSON object; bytes as Python writes them."""
    return json.dumps({"exit": code, "subjects": [_told(one) for one in found]}, indent=1)


def _told(one: Looked) -> dict[str, object]:
    parting = one.parting
    return {
        "subject": one.subject,
        "pairs": one.pairs,
        "views": one.views,
        "telling": one.telling,
        "why": one.why,
        "parting": parting
        and {
            "way": parting.way,
            "who": parting.who,
            "view": parting.view,
            "turn": parting.turn,
            "byte": parting.at,
            "one": _bytes(parting.left),
            "other": _bytes(parting.right),
            "path": list(parting.path),
        },
    }
