"""Render the results of `memsim check` that lie beside a run.

`checks.json` in the run's folder is what `memsim check --format json` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memsim.errors import RunFolderError
from memsim.json_input import read_bytes, read_json
from memsim.report.html.markup import Markup, code, element, folded, items, table, unmeasured
from memsim.report.html.page_content import PageContent, section
from memsim.report.layout import Column, Table

CHECKS = "checks.json"
SIGNS = {"violated": "✗ broken", "declared": "declared", "nothing": "–", "not applicable": "·"}
UNMEASURED = frozenset({"nothing", "not applicable"})
_WRONG = "is not what memsim check --format json prints"
LONGEST = 20_000
"""Characters of a counterexample that are shown."""
_OURS = ("\nWhat should hold: ", "\nfrom memsim.testing import ")
"""What every program of a counterexample has. `checks.json` may be a stranger's: no other file of
this machine that it names gets into a page that is handed on."""

Record = Mapping[str, Any]


def invariants(subject: PageContent) -> Markup:
    """Render the invariants section, or a note that none were checked."""
    path = subject.run.folder / CHECKS
    title, question = "Invariants", "Does any memory break a promise, whatever is said?"
    if not path.is_file():
        said = "No invariants were tried for this run; put the result beside its records:"
        inside = [unmeasured(said, f"memsim check --format json > {CHECKS}")]
        return section("invariants", title, question, *inside)
    try:
        shown = list(_shown(read_json(path, RunFolderError, prefix=f"{_WRONG}: ")))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise RunFolderError(_WRONG, path=path) from error
    return section("invariants", title, question, *shown)


def _shown(found: Record) -> Iterator[Markup]:
    subjects: Sequence[Record] = found["subjects"]
    results = [r for s in subjects for r in s["results"]]
    broken = [r for r in results if r["verdict"] == "violated"]
    measured = [r for r in results if r["verdict"] not in UNMEASURED]
    tried = f"{found['examples']:,} cases each, profile {found['profile']}, seed {found['seed']}"
    said = f"{len(broken):,} of {len(measured):,} promises that could be measured were broken"
    left = f"; {len(results) - len(measured):,} had nothing to be measured on ({tried})."
    yield element("p", element("strong", said, class_="bad" if broken else None), left)
    places = range(len(subjects[0]["results"]))
    seen = [
        i for i in places if any(s["results"][i]["verdict"] not in UNMEASURED for s in subjects)
    ]
    yield _table(subjects, seen, "Cases in which each promise was measured and held")
    yield items(("–: nothing to measure came up", "·: not applicable"), class_="note")
    rest = [i for i in places if i not in seen]
    if rest:
        made = _table(subjects, rest, "Promises that none could be measured on")
        yield folded(f"Measured on none of them: {len(rest):,}", made)
    for subject in subjects:
        for result in subject["results"]:
            if result["verdict"] in {"violated", "declared"}:
                yield _counterexample(str(subject["subject"]), result)


def _table(subjects: Sequence[Record], places: Sequence[int], caption: str) -> Markup:
    first = [subjects[0]["results"][i] for i in places]
    series = [
        (Column("invariant", right=False), [f"I{r['number']} {r['name']}" for r in first]),
        (Column("family", right=False), [str(r["family"]) for r in first]),
        *((Column(str(s["subject"])), [_cell(s["results"][i]) for i in places]) for s in subjects),
    ]
    tones = [
        "failed" if any(s["results"][i]["verdict"] == "violated" for s in subjects) else ""
        for i in places
    ]
    return table(Table.of_columns(series), caption, tones=tones, heading=0)


def _cell(result: Record) -> str:
    return SIGNS.get(result["verdict"], f"{result['examples']:,}")


def _counterexample(subject: str, result: Record) -> Markup:
    head = f"{subject}: I{result['number']} {result['name']} {SIGNS[result['verdict']]}"
    parts = [
        element("p", str(result["statement"])),
        element("p", element("strong", "Found: "), str(result["why"])),
    ]
    program = result["counterexample"]
    if program:
        parts.append(element("p", "Runs by itself: ", code(f"python {program}")))
        parts += _source(Path(program))
    return folded(head, *parts, class_="why bad" if result["verdict"] == "violated" else "why")


def _source(path: Path) -> Iterator[Markup]:
    if path.suffix != ".py" or not path.is_file():
        return
    text = read_bytes(path, RunFolderError).decode(errors="replace")
    if all(sign in text for sign in _OURS):
        yield element("pre", code(text[:LONGEST]), tabindex=0)
