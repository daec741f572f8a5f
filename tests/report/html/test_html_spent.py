"""What remembering cost: only what was measured has a column."""

from __future__ import annotations

from dataclasses import replace

from memsim.report.html.cost_section import spending
from memsim.report.html.page_content import PageContent
from memsim.report.summarise import summarise
from memsim.runs import Run


def test_what_was_not_measured_has_no_column_of_zeros(run: Run) -> None:
    """Time that was taken out of the records, and dollars of a model that is free."""
    steady = replace(run, cases=tuple(replace(case, seconds=0.0) for case in run.cases))
    paid = replace(
        run, cases=tuple(replace(c, metrics={**c.metrics, "cost": 1.5}) for c in run.cases)
    )

    timed, untimed, dear = (
        spending(PageContent(run=r, summary=summarise(r))) for r in (run, steady, paid)
    )

    assert ">time</th>" in timed
    assert "Tokens, calls and time at budget 1k" in timed
    assert "No dollars: the offline model is free." in timed
    assert ">time</th>" not in untimed
    assert "How long it took is not kept" in untimed
    assert "Tokens, calls, dollars and time at budget 1k" in dear
    assert "No dollars" not in dear
