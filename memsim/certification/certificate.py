"""What came of a certification: as lines for a terminal, as Markdown and as JSON."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memsim.adapters.contract_replies import ServerIdentity
from memsim.adapters.http_contract import VERSION
from memsim.certification.clause import KIT
from memsim.certification.clause_result import ClauseResult, Result
from memsim.errors import ExitCode
from memsim.report.layout import (
    Column,
    Row,
    Table,
    TextLine,
    Tone,
    markdown_code,
    markdown_escape,
    markdown_table,
    terminal_table,
)
from memsim.report.number_format import plural
from memsim.report.run_summary import own_version

_ORDER: tuple[Result, ...] = ("broken", "unmeasured", "holds", "n/a")
_TONES: dict[Result, Tone] = {"broken": "bad", "unmeasured": "bad", "holds": "good", "n/a": "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What holds of one server.

    Attributes:
        server: what it said of itself; None if it said nothing that can be read.
        error: why nothing could be tried; empty if something was.
    """

    target: str
    server: ServerIdentity | None
    results: tuple[ClauseResult, ...]
    error: str = ""

    @property
    def counts(self) -> dict[Result, int]:
        """Clauses by result."""
        found = Counter(each.result for each in self.results)
        return {result: found[result] for result in _ORDER}

    @property
    def exit_code(self) -> ExitCode:
        """Failed with a broken clause; unmeasurable where one was not tried, or none holds."""
        if self.counts["broken"]:
            return ExitCode.FAILED
        if self.counts["unmeasured"] or not self.counts["holds"]:
            return ExitCode.UNMEASURABLE
        return ExitCode.PASSED

    @property
    def fingerprint(self) -> str:
        """A hash of the kit, of what the server says of itself, and of every result."""
        told = [KIT, VERSION, _identity(self.server)]
        results = [[each.name, each.rule, each.result] for each in self.results]
        data = json.dumps([told, results], sort_keys=True).encode()
        return hashlib.sha256(data).hexdigest()[:16]

    @property
    def sentence(self) -> str:
        """The counts in words."""
        if self.error:
            return f"nothing could be tried: {self.error}"
        return ", ".join(f"{n} {_word(result, n)}" for result, n in self.counts.items() if n)


def terminal_lines(certificate: Certificate, width: int) -> Iterator[TextLine]:
    """The table of clauses, what is broken, and one sentence."""
    yield TextLine(text=" · ".join(_versions(certificate)))
    yield TextLine(text="")
    if certificate.results:
        yield from terminal_table(_table(certificate), width).lines
        yield TextLine(text="")
        for each in certificate.results:
            if each.result in {"broken", "unmeasured"}:
                yield TextLine(text=f"{each.result.upper()}  {each.name}", tone="bad")
                yield TextLine(text=f"  rule   {each.rule}")
                yield TextLine(text=f"  found  {each.detail}")
                yield TextLine(text="")
    tone: Tone = "good" if certificate.exit_code is ExitCode.PASSED else "bad"
    yield TextLine(text=f"{certificate.sentence} · {certificate.fingerprint}", tone=tone)


def certificate_markdown(certificate: Certificate) -> str:
    """The same as a page."""
    lines = [f"# Certificate of {markdown_code(certificate.target)}", ""]
    lines += [f"**{markdown_escape(certificate.sentence)}**", ""]
    lines += [f"- {markdown_escape(part)}" for part in _versions(certificate)]
    lines += [f"- fingerprint `{certificate.fingerprint}`"]
    if certificate.results:
        lines += ["", *markdown_table(_table(certificate))]
        broken = (r for r in certificate.results if r.result == "broken")
        lines += ["", *(f"- {markdown_code(r.name)}: {markdown_escape(r.detail)}" for r in broken)]
    return "\n".join(lines) + "\n"


def certificate_json(certificate: Certificate) -> str:
    """The same for programs."""
    record = {
        "memsim": own_version(),
        "kit": KIT,
        "contract": VERSION,
        "target": certificate.target,
        "server": _identity(certificate.server),
        "exit": int(certificate.exit_code),
        "sentence": certificate.sentence,
        "fingerprint": certificate.fingerprint,
        "counts": certificate.counts,
        "clauses": [
            {"name": r.name, "rule": r.rule, "result": r.result, "detail": r.detail}
            for r in certificate.results
        ],
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _versions(certificate: Certificate) -> Iterator[str]:
    server = certificate.server
    yield f"memsim {own_version()}"
    yield f"contract {VERSION}, kit {KIT}"
    yield (
        f"{server.name} {server.version} at {certificate.target}" if server else certificate.target
    )


def _identity(server: ServerIdentity | None) -> dict[str, object] | None:
    if server is None:
        return None
    offered = sorted(server.capabilities)
    return {"name": server.name, "version": server.version, "capabilities": offered}


def _table(certificate: Certificate) -> Table:
    columns = [
        Column("clause", right=False),
        Column("result", right=False),
        Column("rule, or why there is no result", right=False, clip=True),
    ]
    rows: list[Row] = []
    for each in certificate.results:
        said = each.detail if each.result in {"n/a", "unmeasured"} else each.rule
        rows.append(((each.name, each.result, said), _TONES[each.result]))
    return Table(columns, rows)


def _word(result: Result, count: int) -> str:
    if result == "holds":
        return plural(count, "clause holds", "clauses hold").partition(" ")[2]
    return {"n/a": "not applicable"}.get(result, result)
