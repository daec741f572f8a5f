"""Render how a run was measured, so that it can be checked and repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memsim.report import number_format
from memsim.report.board_tables import judge_sentences
from memsim.report.comparison_text import sizes
from memsim.report.html.markup import Markup, code, element, folded, items, joined, table
from memsim.report.html.page_content import PageContent, section
from memsim.report.layout import Column, Table

CAVEATS = (
    "A number over few probes says little: read the interval before the mean.",
    "The offline model answers only from its context: it shows what a memory brought there.",
    "Intervals resample probes within each scenario: they speak of these scenarios alone.",
    "Time and dollars depend on a machine and a price list, and are never gated.",
)


def method(subject: PageContent) -> Markup:
    """Render the method section, the last one of the page."""
    rows = list(_rows(subject))
    facts = joined(joined([element("dt", key), element("dd", said)]) for key, said in rows)
    inside = [
        element("dl", facts, class_="facts"),
        element("h3", "Caveats"),
        items(CAVEATS),
        _fingerprints(subject),
    ]
    question = "How was it measured, and can it be repeated?"
    return section("method", "Method", question, *inside)


def _rows(subject: PageContent) -> Iterator[tuple[str, str]]:
    header, info = subject.summary.header, subject.run.info
    yield "Run", joined([code(header.run), f", {info.get('created') or 'undated'}"])
    yield "Command", code(header.command) if header.command else "not recorded"
    yield "Model", code(header.model)
    yield "Embedder", code(header.embedder)
    yield "Tokenizer", code(header.tokenizer)
    instruments = subject.run.table("instruments")
    yield from _judge(subject, instruments.get("judge"))
    yield "Metrics", f"version {instruments.get('metrics', 'not recorded')}"
    yield "Seed", f"{header.seed}, for everything that is drawn; {_repeats(header.repeat)}"
    yield "Probes", "; ".join(_counts(subject)) or "none"
    yield "Not scored", _unscored(subject)
    yield "Test", _test(subject)
    if header.isolated:
        yield "Isolated", f"in processes of their own: {', '.join(header.isolated)}"
    for strategy, hosts in header.hosts:
        yield "Network", f"{strategy} talked to {', '.join(hosts)}"
    for strategy, notes in header.notes:
        yield "Note", f"{strategy}: {'; '.join(notes)}"
    yield from _seen(subject)
    yield "Made from", _commit(info)
    yield "Versions", _versions(subject)


def _judge(subject: PageContent, judge: object) -> Iterator[tuple[str, str]]:
    judging = subject.summary.judging
    if judge in {None, "", "rules"}:
        yield "Judge", "rules alone: normalised matching of the expected answer; no model was asked"
        return
    yield "Judge", str(judge)
    if judging is None:
        yield "Known answers", "the judge was not tried: nothing that it says is believed"
        return
    _, *sentences = judge_sentences(judging)
    for said in sentences:
        head, _, rest = said.partition(": ")
        if head == "unmeasured":
            yield "Judged scores", element("strong", f"{head}: {rest}", class_="bad")
        elif rest:
            yield head.capitalize(), rest
        else:
            yield "Judged scores", said


def _repeats(repeat: int) -> str:
    return "each probe asked once" if repeat == 1 else f"each probe asked {repeat} times"


def _counts(subject: PageContent) -> Iterator[str]:
    for board in subject.summary.boards:
        yield (
            f"{board.dataset or 'scenarios'} at {number_format.budget(board.budget)}:"
            f" {board.probes:,}, {board.answerable:,} answerable,"
            f" in {board.scenarios:,}"
        )


def _unscored(subject: PageContent) -> str:
    errors = sum(c.counts.get("errors", 0) for c in subject.run.cases)
    asked = sum(c.counts.get("probes", 0) for c in subject.run.cases)
    if not asked:
        return "nothing was asked"
    return f"{errors:,} of {asked:,} probes ({number_format.share(errors / asked)})"


def _test(subject: PageContent) -> str:
    gate = subject.settings.get("gate") or {}
    confidence = float(gate.get("confidence", 0.95))
    margin = float(gate.get("margin", 0.02))
    return (
        f"paired by probe; bootstrap within scenarios, {confidence:.0%} intervals; Holm's"
        f" correction over everything compared; margin {number_format.share(margin)}"
    )


def _seen(subject: PageContent) -> Iterator[tuple[str, str]]:
    found = subject.summary.comparison
    said = [s for s in sizes(found) if "drop" in s] if found else []
    yield "Smallest visible drop", "; ".join(said) or "not known: compared with no baseline"


def _commit(info: Mapping[str, object]) -> str:
    commit = info.get("commit")
    if not commit:
        return "no commit is known"
    dirty = ", with changes that are not committed" if info.get("dirty") else ""
    return joined([code(str(commit)[:12]), dirty])


def _versions(subject: PageContent) -> str:
    known = {k: v for k, v in subject.run.table("versions").items() if v}
    return ", ".join(f"{name} {version}" for name, version in known.items()) or "not recorded"


def _fingerprints(subject: PageContent) -> Markup:
    kinds = (("scenario", "scenarios"), ("strategy", "strategies"))
    found = [(kind, n, s) for kind, key in kinds for n, s in subject.run.table(key).items()]
    if not found:
        return Markup()
    series = [
        (Column("what", right=False), [name for _, name, _ in found]),
        (Column("kind", right=False), [kind for kind, _, _ in found]),
        (Column("SHA-256", right=False), [str(sha) for _, _, sha in found]),
    ]
    inner = table(Table.of_columns(series), "What was played, by its text", heading=0)
    return folded("Fingerprints of scenarios and strategies", inner)
