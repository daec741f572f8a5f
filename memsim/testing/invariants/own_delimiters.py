"""Delimiters of a strategy: found in what it composes, and said by people to break out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from memsim.message import Message, Text, ToolResult
from memsim.testing.check_cases import Case, CaseEvent, CaseTurn
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.structure import at
from memsim.testing.worlds import Sight, Trial

OUTSIDE = "FORGED-7"
"""What stands outside, if the delimiter before it closes anything."""

_CLOSING = re.compile(
    r"</\s*[A-Za-z_][\w.:-]*\s*>"
    r"|<\|[^|<>\n]{1,40}\|>"
    r"|\[\s*/[^\]\n]{1,40}\]"
    r"|\[(?:end|END|End)\b[^\]\n]{0,40}\]"
    r"|[\u00ab\u2039\u3008\u300a\u3010\u3014\u27e6\u27e8]\s*(?:/|end\b|END\b|End\b)"
    r"[^\n]{0,40}?[\u00bb\u203a\u3009\u300b\u3011\u3015\u27e7\u27e9]"
    r"|\{%-?\s*end[^{}\n]{0,40}%\}"
    r"|`{3,}|~{3,}|\"{3}|'{3}|-->|\]\]>|\{\{/[^{}\n]{1,40}\}\}"
    r"|^[ \t]*(?:[-=#*_+<>~]{2,}[ \t]*[A-Za-z][^\n]{0,50}?[ \t]*[-=#*_+<>~]{2,})[ \t]*$"
    r"|^[ \t]*(?:END|End of)\b[^\n]{0,50}$",
    re.MULTILINE,
)
"""What closes a part of a text: tags, fences, brackets with a slash, and lines of signs."""

_COMMENT = ("<!--", "-->")
_OWN_LINE = "`~\"'-=#*_+>]"
"""What a delimiter begins with that has a line of its own."""


@holds(14, "for all delimiters d of composed blocks: quoted d is not d")
def own_delimiters_are_safe(trial: Trial) -> int:
    """No message can close a block, whatever delimiters the strategy has chosen for its blocks.

    The delimiters are those in what it composes that nobody said. Fails, for example, where notes
    stand between `<notes>` and `</notes>`, and a user says `</notes>`.

    To mend it, escape the delimiters of a block in everything that is quoted within it.
    """
    found = list(dict.fromkeys(_delimiters(trial)))[:4]
    if not found:
        return 0
    variants = [v for d in found for v in _variants(d)]
    world = trial.played(_hostile(trial.case, variants))
    seen = 0
    for sight in world.transcript.served:
        for message in _quotations(sight, trial.case):
            for delimiter in found:
                seen += delimiter in message.text
                if _breaks_out(message.text, delimiter):
                    raise Violation(
                        f"{at(sight)}: what is quoted in {message.id} closes its block with"
                        f" {delimiter.strip()!r}"
                    )
    return seen


def _delimiters(trial: Trial) -> Iterator[str]:
    said = "\n".join(m.text for m in trial.transcript.said).casefold()
    for sight in trial.transcript.served:
        for message in _quotations(sight, trial.case):
            for match in _CLOSING.finditer(message.text):
                if match[0].strip().casefold() not in said:
                    yield match[0].strip()


def _quotations(sight: Sight, case: Case) -> list[Message]:
    # What is left of an original is no block.
    originals = {m.id for m in case.messages}
    return [m for m in sight.messages if m.composed and m.id not in originals]


def _variants(delimiter: str) -> Iterator[str]:
    yield delimiter
    if delimiter.startswith("</"):
        yield delimiter.upper()
        yield f"</ {delimiter[2:-1].strip()} >"


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text).casefold()


def _breaks_out(text: str, delimiter: str) -> bool:
    """Whether a quoted delimiter stands as it was said in a text that uses it for itself."""
    plain, wanted = _plain(text), _plain(delimiter)
    forged = f"{wanted}{_plain(OUTSIDE)}"
    if wanted == _COMMENT[1]:
        # A comment that is whole, such as a reference, holds nothing that was said.
        before = plain.partition(forged)[0]
        return forged in plain and before.rfind(_COMMENT[0]) > before.rfind(wanted)
    return forged in plain and wanted in plain.replace(forged, "")


def _hostile(case: Case, delimiters: list[str]) -> Case:
    """The case, in which everybody but a rule says the delimiters, one after the other."""
    number = 0

    def spoken(message: Message) -> Message:
        nonlocal number
        if message.role == "system":
            return message
        blocks = []
        for block in message.blocks:
            said = block
            if isinstance(block, Text | ToolResult):
                delimiter = delimiters[number % len(delimiters)]
                number += 1
                # A tag closes within a line; a fence has a line of its own.
                apart = "\n" if delimiter[0] in _OWN_LINE or delimiter[0].isalpha() else " "
                forged = f"{delimiter}{apart}{OUTSIDE} {block.text}"
                said = replace(block, text=f"{forged}\n{forged}")
            blocks.append(said)
        return replace(message, blocks=tuple(blocks))

    def turn(event: CaseEvent) -> CaseEvent:
        if not isinstance(event, CaseTurn):
            return event
        heard, reply = (tuple(map(spoken, ms)) for ms in (event.heard, event.reply))
        return replace(event, heard=heard, reply=reply)

    # What is said is longer now, and has to fit as before.
    return replace(
        case, events=tuple(map(turn, case.events)), behaviour="good", budget=2 * case.budget
    )
