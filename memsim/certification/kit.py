"""Try every clause of the contract on a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memsim.adapters.contract_replies import ServerIdentity, read_identity
from memsim.adapters.http_client import ContractClient, ServerError
from memsim.adapters.http_contract import IDENTITY_SECONDS
from memsim.certification.certificate import Certificate
from memsim.certification.clause import ContractClause, all_clauses
from memsim.certification.clause_result import (
    BrokenPromise,
    ClauseResult,
    NothingToTry,
    UnmeasuredClause,
)
from memsim.certification.visit import Visit

_GIVE_UP = 3
"""Clauses in a row without an answer after which the server counts as dead."""

Tell = Callable[[ClauseResult], None]


def certify(
    url: str,
    *,
    timeout: float,
    clauses: Sequence[ContractClause] | None = None,
    tell: Tell = lambda _result: None,
) -> Certificate:
    """Try clauses on a server, one after the other.

    Args:
        url: of the server.
        timeout: seconds for each answer.
        clauses: which ones; None for all.
        tell: takes each result as soon as it is known.

    Raises:
        ValueError: the address is none.
    """
    client = ContractClient(url, timeout=min(timeout, IDENTITY_SECONDS))
    try:
        server = read_identity(client.get("/v1/identity"))
    except ServerError as error:
        return Certificate(target=url, server=None, results=(), error=str(error))
    finally:
        client.close()
    results: list[ClauseResult] = []
    silent = 0
    for each in all_clauses() if clauses is None else clauses:
        if silent >= _GIVE_UP:
            found = _result(each, UnmeasuredClause("the server did not answer before"))
        else:
            found, answered = _tried(each, url, server, timeout)
            silent = 0 if answered else silent + 1
        results.append(found)
        tell(found)
    return Certificate(target=url, server=server, results=tuple(results))


def _tried(
    clause: ContractClause, url: str, server: ServerIdentity, timeout: float
) -> tuple[ClauseResult, bool]:
    """The result of a clause, and whether the server answered."""
    missing = [need for need in clause.needs if need not in server.capabilities]
    if missing:
        return _result(clause, NothingToTry(f"{missing[0]} is not offered")), True
    try:
        visit = Visit(url, server, clause.name, timeout)
        try:
            visit.open()
            clause.check(visit)
        finally:
            visit.close()
    except ServerError as error:
        # No answer is no finding; a wrong answer to a right request is one.
        kind = BrokenPromise if error.status else UnmeasuredClause
        return _result(clause, kind(str(error))), bool(error.status)
    except (BrokenPromise, UnmeasuredClause, NothingToTry) as found:
        return _result(clause, found), True
    return _result(clause, None), True


def _result(clause: ContractClause, found: Exception | None) -> ClauseResult:
    if found is None:
        return ClauseResult(name=clause.name, rule=clause.rule, result="holds")
    result = {BrokenPromise: "broken", NothingToTry: "n/a"}.get(type(found), "unmeasured")
    detail = " ".join(str(found).split())
    return ClauseResult(name=clause.name, rule=clause.rule, result=result, detail=detail)  # type: ignore[arg-type]
