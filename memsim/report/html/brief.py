"""Render the five answers on top: choice, losses, reasons, cost and leaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memsim.report import number_format
from memsim.report.board_tables import reader_bound
from memsim.report.html.cost_section import money_of
from memsim.report.html.markup import Markup, Value, breakable, code, element, joined
from memsim.report.html.page_content import PageContent, address, strategy_name
from memsim.report.leak_advice import title_of
from memsim.report.leak_board import LeakBoard, LeakCell, LeakRow
from memsim.report.plots.palette import Looks
from memsim.report.recommendation import Recommendation, lead_of, recommend
from memsim.report.run_summary import Board, BoardRow, MissedGroup
from memsim.scoring.outcomes import REASONS, reason_name

WEAKEST, LADDER = 2, 8
"""Weakest slices that are named, and strategies that are shown in the ladder."""


def answers(subject: PageContent) -> Markup:
    """Render the five answers, each below its question."""
    board, rows = subject.board, subject.compared
    if board is None or not rows:
        said = "No strategy was compared on a scenario in this run."
        return joined([_answers([("Which strategy?", [said]), _leaks(subject, "")])])
    found = recommend(rows, subject.summary.leakage)
    chosen = found.chosen
    return _answers(
        [
            ("Which strategy?", _choice(board, rows, found, subject.looks)),
            ("What does it forget?", _forgets(board, chosen)),
            ("Why?", _why(subject, chosen)),
            ("What does it cost?", _costs(subject, chosen, rows)),
            _leaks(subject, chosen.strategy),
        ]
    )


def _answers(pairs: Sequence[tuple[str, Iterable[str]]]) -> Markup:
    cards = [element("div", element("h3", asked), *map(_line, lines)) for asked, lines in pairs]
    return element("div", *cards, class_="answers")


def _line(said: str) -> Markup:
    whole = isinstance(said, Markup) and said.startswith("<ol")
    return Markup(said) if whole else element("p", said)


def _choice(
    board: Board, rows: Sequence[BoardRow], found: Recommendation, looks: Looks
) -> Iterator[str]:
    best = found.chosen
    name = element("span", strategy_name(best.strategy, looks), class_="pick")
    yield joined([name, " ", badge(found)])
    if best.lead.mean is None:
        yield "Its recall could not be scored."
        return
    interval = number_format.interval(best.lead.low, best.lead.high)
    many = number_format.plural(best.lead.n, "probe" if best.unread else "answerable probe")
    yield joined(
        [
            element("strong", lead_of(best, board)),
            f" {interval} of {many}",
            f" at a budget of {number_format.budget(board.budget)} tokens.",
        ]
    )
    yield f"{capital(reader_bound(board))}."
    if best.incomplete:
        said = f"Only {best.recall.n:,} of {best.answerable:,} could be scored."
        yield element("strong", said, class_="warn")
    if len(rows) > 1:
        yield _ladder(rows, looks)
    if best.failed:
        yield element("strong", "It broke a bound: see what failed.", class_="bad")
    yield _rivals(found, rows)


def badge(found: Recommendation) -> Markup:
    """Render what the recommended strategy leaks, to stand beside its name."""
    if leaks := found.leaks_of(found.chosen):
        return element("span", leaks, class_="stamp bad")
    if found.chosen.leaks is None and not found.channels:
        return element("span", "leaks not measured", class_="stamp warn")
    return element("span", "no leak", class_="stamp good")


def capital(said: str) -> str:
    """Begin a sentence with a capital."""
    return said[:1].upper() + said[1:]


def _ladder(rows: Sequence[BoardRow], looks: Looks) -> Markup:
    """Render the recall of the best strategies as bars."""
    made = []
    for row in rows[:LADDER]:
        share = row.lead.mean or 0.0
        ink = f"f-{looks[row.strategy].colour[1:]}"
        bar = element("rect", width=f"{100 * share:.1f}", height=8, class_=ink)
        frame: dict[str, Value] = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
        drawn = element("svg", bar, **frame, aria_hidden="true")
        css = "partial" if row.partial else None
        said = element("span", number_format.share(row.lead.mean), class_=css)
        made.append(element("li", element("span", breakable(row.strategy)), drawn, said))
    return element("ol", *made, class_="ladder", aria_label="Recall, best first")


def _rivals(found: Recommendation, rows: Sequence[BoardRow]) -> str:
    others = [row for row in rows if row is not found.chosen and row.lead.mean is not None]
    text = _ties(found, [row for row in others if not row.partial])
    if partial := [_in_part(row) for row in others if row.partial]:
        text += f" Scored only in part, and so ranked below: {', '.join(partial)}."
    if unscored := [row.strategy for row in rows if row.lead.mean is None]:
        text += f" Not scored: {', '.join(unscored)}."
    return text


def _in_part(row: BoardRow) -> str:
    return f"{row.strategy} ({row.recall.n:,} of {row.answerable:,} probes)"


def _ties(found: Recommendation, others: Sequence[BoardRow]) -> str:
    if not others:
        return "No other strategy was scored in full: there is nothing to choose between."
    alike = [row for row in found.equals if row is not found.chosen]
    if not alike:
        rest = "the other strategy" if len(others) == 1 else f"all {len(others)} others"
        return f"It beats {rest} (paired by probe, Holm, p ≤ .05)."
    shown = ", ".join(f"{r.strategy} ({number_format.share(r.lead.mean)})" for r in alike[:3])
    more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
    text = f"Recall is not significantly different from that of {shown}{more} on this many probes."
    return f"{text} {found.reason}"


def _forgets(board: Board, best: BoardRow) -> Iterator[str]:
    if best.unread and best.lost is not None:
        pieces = number_format.plural(best.lost, "piece")
        yield element("strong", f"{pieces} of evidence were not sent.")
        return
    if best.recall.mean is None:
        yield "Not measured."
        return
    missed = f"{best.missed:,} of {number_format.plural(best.recall.n, 'answerable probe')}"
    yield element("strong", f"Misses {missed}.") if best.missed else element("strong", "Nothing.")
    for matrix in board.matrices:
        place = board.rows.index(best)
        found = [(s.recall[place], s) for s in matrix.slices]
        known = sorted((v, s.name, s.n) for v, s in found if v is not None and v < 1)
        if known:
            worst = ", ".join(
                f"{n} {number_format.share(v)} (of {k})" for v, n, k in known[:WEAKEST]
            )
            yield f"Weakest {matrix.by}: {worst}."


def _why(subject: PageContent, best: BoardRow) -> Iterator[str]:
    if best.unread:
        yield "Not measured: answers are n/a (reader)."
        return
    group = _group_of(subject, best)
    if group is None:
        yield "Nothing was missed."
        return
    for reason, count in list(group.reasons.items())[:3]:
        meaning = REASONS.get(reason, "")
        yield joined(
            [
                element("strong", f"{count:,} {reason_name(reason)}"),
                f": {meaning}" if meaning else "",
            ]
        )
    if group.hallucinated:
        yield joined(
            [
                element("strong", f"{group.hallucinated:,} of {group.unanswerable:,} hallucinated"),
                ": answered though nothing was ever said of it",
            ]
        )
    link = address(show="cases", strategy=best.strategy, budget=best.budget)
    yield element("a", "Look at each of them", href=link)


def _group_of(subject: PageContent, row: BoardRow) -> MissedGroup | None:
    return next(
        (g for g in subject.summary.missed if (g.strategy, g.budget) == (row.strategy, row.budget)),
        None,
    )


def _costs(subject: PageContent, best: BoardRow, rows: Sequence[BoardRow]) -> Iterator[str]:
    mean, peak = number_format.tokens(best.context_mean), number_format.tokens(best.context_peak)
    yield joined([element("strong", f"{mean} tokens a turn"), f", {peak} at most."])
    if best.compactions is not None:
        yield f"{number_format.plural(best.compactions, 'compaction')} in all scenarios together."
    yield money_of(subject, best)
    dear = max(rows, key=lambda r: r.context_mean or 0)
    if dear is not best and best.context_mean and dear.context_mean:
        times = dear.context_mean / best.context_mean
        if times >= 1.2:
            yield f"The most expensive, {dear.strategy}, sends {times:.1f} times as many."


def _leaks(subject: PageContent, strategy: str) -> tuple[str, Iterable[str]]:
    return "What does it leak?", _leak_lines(subject, strategy)


def _leak_lines(subject: PageContent, strategy: str) -> Iterator[str]:
    row = next((r for r in subject.compared if r.strategy == strategy), None)
    if row is not None and row.leaks is not None:
        said = f"{number_format.plural(row.leaks, 'probe')} showed the asker what they may not see."
        yield element("strong", said, class_="bad" if row.leaks else None)
    boards = subject.summary.leakage
    if not boards:
        if row is None or row.leaks is None:
            yield element("strong", "Not measured.", class_="warn")
        yield joined(["Attacks were not played: ", code("memsim run leakage")])
        return
    for board in boards[-1:]:
        yield from _channels(board, strategy)


def _channels(board: LeakBoard, strategy: str) -> Iterator[str]:
    names = [strategy] if strategy in board.strategies else board.strategies
    for name in names:
        found = [(r, c) for r in board.rows for c in r.cells if c and c.strategy == name]
        leaking = [(r, c) for r, c in found if c.breaches]
        unclear = sum(c.verdict in {"n/a", "invalid", "error"} for _, c in found)
        grade = next((g.letter for g in board.grades if g.strategy == name), "")
        reported = sum(bool(c.leaks) for _, c in found) - len(leaking)
        ways = number_format.plural(len(found), "way")
        told = f"{name}: leaks that fail a run in {len(leaking)} of {ways}"
        if unclear == len(found):
            told = f"{name}: none of {ways} could be measured"
        text = [
            element("strong", told),
            f", {reported} more leak and are only reported" if reported else "",
            f", {unclear} could not be measured" if 0 < unclear < len(found) else "",
            f"; grade {grade} at most" if grade not in {"", "n/a"} else "",
            ".",
        ]
        yield element("span", joined(text), class_="bad" if leaking else None)
        if len(names) == 1:
            yield from _worst(leaking)
            yield from _others(board, name)


def _worst(leaking: Sequence[tuple[LeakRow, LeakCell]]) -> Iterator[str]:
    for row, cell in sorted(leaking, key=lambda pair: -(pair[1].plr or 0))[:2]:
        yield f"{title_of(row.channel, row.name)}: {cell.leaks} of {cell.eligible}"


def _others(board: LeakBoard, name: str) -> Iterator[str]:
    """Say how many channels leak under the other strategies, most first."""
    counts = {
        other: sum(1 for row in board.rows if (cell := row.cells[place]) and cell.breaches)
        for place, other in enumerate(board.strategies)
        if other != name
    }
    if counts:
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        said = ", ".join(f"{other} {count}" for other, count in ordered[:LADDER])
        yield joined(
            [
                "Ways that leak under the others: ",
                said,
                ". ",
                element("a", "Who leaked what", href="#leakage"),
            ]
        )
