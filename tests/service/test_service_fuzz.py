"""The service held to its own description: whatever is sent, what comes back is what it says."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from memsim.cli.serve import present_time
from memsim.models.embedders import HashEmbedder
from memsim.service.app import Layers, create_app
from memsim.systems.aegis.episodes import InProcessEpisodes
from memsim.systems.aegis.hashes import InProcessHashes
from memsim.systems.aegis.postgres_episodes import PostgresEpisodes
from memsim.systems.aegis.redis_hashes import RedisHashes
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory
from tests.fidelity.serving import DIMENSION, serving
from tests.memory.stores import servers

EXAMPLES = 40


def described() -> Layers:
    """Layers from which only the description is taken."""
    hashes = InProcessHashes(present_time)
    return Layers(
        working=AegisWorkingMemory(hashes),
        ledger=AegisLedger(hashes),
        episodes=InProcessEpisodes(),
        embedder=HashEmbedder(DIMENSION),
        now=present_time,
    )


schema = schemathesis.openapi.from_dict(create_app(described()).openapi())


@pytest.fixture(scope="module", params=["embedded", "servers"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A service in this process, and one over real servers."""
    if request.param == "embedded":
        with serving() as where:
            yield where
        return
    hashes = RedisHashes(servers.redis().url)
    place = f"aegis_{uuid.uuid4().hex[:12]}"
    episodes = PostgresEpisodes(servers.postgres().url, place, dimension=DIMENSION)
    with serving(hashes, episodes) as where:
        yield where
    for key in hashes.keys(""):
        hashes.delete(key)
    hashes.close()
    episodes.close()


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described(case: schemathesis.Case[Any], address: str) -> None:
    """No server error, no undocumented status, no other shape; what is wrong is refused as such."""
    case.call_and_validate(base_url=address)


def test_every_documented_endpoint_is_there() -> None:
    """AEGIS's endpoints, and no others."""
    found = {
        f"{method.upper()} {path}"
        for path, methods in schema.raw_schema["paths"].items()
        for method in methods
    }
    assert {
        "GET /working-memory/{conversation_id}",
        "PUT /working-memory/{conversation_id}",
        "DELETE /working-memory/{conversation_id}",
        "POST /episodic/store",
        "POST /episodic/search",
        "GET /episodic/{conversation_id}",
        "GET /ledger/{conversation_id}",
        "POST /ledger/{conversation_id}/check",
        "POST /ledger/{conversation_id}/mark",
        "POST /ledger/{conversation_id}/evict",
    } == found
