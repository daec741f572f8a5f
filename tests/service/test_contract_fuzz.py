"""The reference of the contract held to its own description, whatever is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from memsim.adapters.http_contract import STATUSES
from memsim.cli.serve import contract_description
from tests.service.contract_serving import serving_contract

EXAMPLES = 20

schema = schemathesis.openapi.from_dict(json.loads(contract_description()))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The reference in this process."""
    with serving_contract() as url:
        yield url


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
def test_every_answer_is_as_described(case: schemathesis.Case[Any], address: str) -> None:
    """No undocumented status, no other shape; what is wrong is refused as such."""
    answer = case.call(base_url=address)
    if answer.status_code != STATUSES["too_large"]:  # no schema tells how large a body may be
        case.validate_response(answer)
