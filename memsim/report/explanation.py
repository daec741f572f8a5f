"""Render `memsim explain` for the terminal: cases, probes and leak attempts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memsim.leakage import LEAKAGE
from memsim.leakage.attempt import Attempt, Finding, read_finding
from memsim.leakage.probe_lines import score_lines
from memsim.report import number_format
from memsim.report.failure_text import explain_command, traceback_lines
from memsim.report.layout import (
    Column,
    Marks,
    Table,
    TextLine,
    Tone,
    cells_wide,
    pad,
    terminal_table,
)
from memsim.report.leak_advice import title_of
from memsim.report.leak_sentences import DISGUISES, leak_sentence
from memsim.report.story import EvidencePiece, ProbeStory, agent_lines
from memsim.scoring.outcomes import PASSED, UNMEASURED, reason_name
from memsim.suite.cases import CaseResult

# The failed probes of one case, each with its reason and the command that explains it.


def case_lines(case: CaseResult, probes: Sequence[Mapping[str, Any]], width: int) -> list[TextLine]:
    """Render the failed probes of a case, with a command to paste."""
    lines = [TextLine(text=case.key, tone="head")]
    if case.error:
        state = "error" if case.state == "scored" else case.state
        lines.append(TextLine(text=f"  {state}: {case.error}", tone="bad"))
    for text in case.tracebacks:
        lines += traceback_lines(text)
    failed = [p for p in probes if p["outcome"] not in PASSED]
    passed = len(probes) - len(failed)
    lines.append(
        TextLine(text=f"  {passed:,} of {number_format.plural(len(probes), 'probe')} passed")
    )
    if not failed:
        return lines
    columns = [
        Column("probe", right=False),
        Column("outcome", right=False),
        Column("why", right=False),
        Column("said", rank=3),
        Column("asked", rank=4),
        Column("answer", right=False, rank=2, clip=True),
    ]
    table = Table(columns, [(_cells(p), _tone(p)) for p in failed])
    lines += [TextLine(text=""), *terminal_table(table, width).lines, TextLine(text="")]
    first = f"{case.key}::{failed[0]['probe']}"
    lines.append(TextLine(text=f"  {explain_command(first)}"))
    return lines


def _cells(probe: Mapping[str, Any]) -> tuple[str, ...]:
    said = max((piece["turn"] for piece in probe["evidence"]), default=None)
    answer = " ".join((probe["error"] or probe["answer"] or "").split())
    return (
        probe["probe"],
        probe["outcome"],
        reason_name(probe["reason"] or ""),
        "" if said is None else f"turn {said}",
        f"turn {probe['turn']}",
        answer,
    )


def _tone(probe: Mapping[str, Any]) -> Tone:
    return "dim" if probe["outcome"] in UNMEASURED else ""


# A leakage case in full: every attempt that leaked or could not be measured, and why.

Line = Mapping[str, Any]


def leak_case_lines(case: str, lines: Sequence[Line]) -> list[TextLine]:
    """Render a leakage case: its counts, and each attempt that was not safe."""
    score = score_lines(lines)
    found = [_finding(line) for line in lines]
    shown = [TextLine(text=case, tone="dim")]
    title = title_of(score.channel, score.name)
    told = f"{title}: {score.leaks.k} of {score.leaks.n} attempts leaked"
    tone: Tone = "bad" if score.leaks.k else "plain"
    shown.append(TextLine(text=f"{told}, {score.planned} planned", tone=tone))
    recall = number_format.share(score.served.share)
    asked = number_format.plural(score.served.n, "question")
    shown.append(TextLine(text=f"  of the owner's {asked}, {recall} were answered"))
    if score.why:
        shown.append(TextLine(text=f"  {score.why}"))
    for by, tallies in score.slices.items():
        parts = [f"{value} {t.k} of {t.n}" for value, t in tallies.items()]
        shown.append(TextLine(text=f"  by {by}: {', '.join(parts)}"))
    attempts = [f for f in found if isinstance(f, Attempt) and f.state != "safe"]
    shown += [TextLine(text=f"  {_short(attempt)}") for attempt in attempts]
    return shown


def _finding(line: Line) -> Finding | None:
    return None if line[LEAKAGE]["kind"] == "channel" else read_finding(line[LEAKAGE])


def _short(attempt: Attempt) -> str:
    told = str(attempt.trails[0]) if attempt.trails else attempt.detail
    return f"{attempt.state:<15}  {attempt.id}  {told}".rstrip()


def _channel_of(case: str) -> str:
    """The channel that a case such as `leakage::L1[bm25@4k]` played."""
    return case.rpartition("::")[2].partition("[")[0]


def leak_probe_lines(case: str, line: Line) -> list[TextLine]:
    """Render one attempt or control in full."""
    record = line[LEAKAGE]
    shown = [TextLine(text=f"{case}::{line['probe']}", tone="dim")]
    found = _finding(line)
    if not isinstance(found, Attempt):
        rest = ((name, value) for name, value in record.items() if value != "")
        return [*shown, *(TextLine(text=f"  {name}  {value}") for name, value in rest)]
    about = f"{found.state}: {found.attack} by {found.viewer}"
    shown.append(TextLine(text=about, tone="bad" if found.state == "leak" else "plain"))
    if found.state == "leak":
        shown.append(TextLine(text=f"  {leak_sentence(_channel_of(case), found)}"))
    if found.detail:
        shown.append(TextLine(text=f"  {found.detail}"))
    for trail in found.trails:
        disguise = DISGUISES.get(trail.tier)
        shown.append(TextLine(text=f"  {trail}" + (f" ({disguise})" if disguise else "")))
        if trail.excerpt:
            shown.append(TextLine(text=f"    {trail.excerpt}", tone="dim"))
    shown += [TextLine(text=f"  {name} {value:g}") for name, value in found.measures.items()]
    shown += [TextLine(text=f"  {name} {value}") for name, value in found.labels.items()]
    return shown


def story_lines(
    story: ProbeStory, marks: Marks, width: int, context: Iterable[TextLine] = ()
) -> list[TextLine]:
    """Render the story of a probe for the terminal, with the context that was sent."""
    asked = f"asked at turn {story.turn}" + (f" ({story.age})" if story.age else "")
    head = [story.probe, f'"{story.ask}"', f"ability: {story.ability}", asked]
    rows = [row for piece in story.pieces for row in _piece_rows(piece, story)]
    sent = "" if story.sent is None else f"{story.sent:,} / {story.budget:,} tokens"
    rows.append((f"turn {story.turn:>3}", "asked", story.context, sent, ""))
    wide = [max(map(cells_wide, column)) for column in zip(*(r[:4] for r in rows), strict=True)]
    lines = [TextLine(text="   ".join(head), tone="head")]
    for row in rows:
        when, what, how = (pad(text, width) for text, width in zip(row[:3], wide, strict=False))
        text = "  ".join(("", when, what, how, pad(row[3], wide[3], right=True)))
        lines.append(TextLine(text=text.rstrip(), tone=row[4]))
    if story.more:
        lines.append(TextLine(text=f"  {marks.dots} and {story.more:,} more pieces of evidence"))
    lines += [*context, *agent_lines(story.agent, marks, width)]
    return [*lines, *_answer_lines(story, width)]


_Row = tuple[str, str, str, str, Tone]


def _piece_rows(piece: EvidencePiece, story: ProbeStory) -> Iterator[_Row]:
    several = len(story.pieces) > 1
    for step in piece.steps:
        tokens = "" if step.tokens is None else f"{step.tokens:,} / {story.budget:,} tokens"
        named = several and step is piece.steps[0]
        what = f"{step.what} {piece.name}" if named else step.what
        yield f"turn {step.turn:>3}", what, step.how, tokens, ""
    yield "", "at the end", piece.now, "", "" if piece.found else "bad"


def _answer_lines(story: ProbeStory, width: int) -> Iterator[TextLine]:
    if story.error:
        yield TextLine(text=f"  error     {story.error}", tone="bad")
        return
    answer = " ".join(story.answer.split())
    given = "not asked for: the context is searched" if story.searched else f'"{answer}"'
    yield from _hanging("  answer    ", given, width)
    if story.answer_again:
        again = " ".join(story.answer_again.split())
        yield from _hanging("  again     ", f'"{again}" (from the evidence alone: counts)', width)
    yield from _hanging("  expected  ", story.expected, width)
    why = f", {reason_name(story.reason)}" if story.reason else ""
    tone: Tone = "good" if story.outcome in PASSED else "bad"
    if story.reason == "evicted" and story.stranger:
        why += f" from what {story.stranger} may read"
    yield TextLine(text=f"  outcome   {story.outcome}{why}", tone=tone)
    if story.votes:
        yield TextLine(text=f"  judge     {', '.join(story.votes)}")


def _hanging(name: str, text: str, width: int) -> Iterator[TextLine]:
    room = max(width, len(name) + 24)
    lines = textwrap.wrap(text, room, initial_indent=name, subsequent_indent=" " * len(name))
    yield from (TextLine(text=line) for line in lines)
