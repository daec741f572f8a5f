"""The reference of the memory contract: what `memsim serve --contract` does with each route."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memsim.adapters.http_client import ContractClient, ServerError
from memsim.adapters.http_contract import CAPABILITIES, MOST_BODY, SPACE, STATUSES
from memsim.cli.serve import contract_description
from tests.service.contract_serving import serving_contract

DOCS = Path(__file__).resolve().parents[2] / "docs"
TIME = "2026-01-05T09:00:00Z"
SAID: dict[str, Any] = {
    "id": "m1",
    "principal": "ana",
    "session": "s1",
    "role": "user",
    "text": "My order is A-17 and it goes to Oslo.",
    "time": TIME,
}
ASKED = {"question": "Where does my order go?", "principal": "ana", "session": "s1"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The reference."""
    with serving_contract() as address:
        yield address


@pytest.fixture
def client(url: str, request: pytest.FixtureRequest) -> Iterator[ContractClient]:
    """A client with a space of the test's own."""
    made = ContractClient(url, space=f"{request.node.name[:60]}")
    yield made
    made.close()


def remember(client: ContractClient, **changed: str) -> None:
    """Say a message, and end its turn."""
    client.post("/v1/clock", {"now": TIME})
    client.post("/v1/messages", SAID | changed)
    client.post("/v1/turns/end", {})


def found(client: ContractClient, principal: str = "ana", session: str = "s1") -> list[str]:
    """The texts of a search."""
    asked = ASKED | {"principal": principal, "session": session}
    return [each["text"] for each in client.post("/v1/search", asked)["texts"]]


def test_the_description_is_the_code() -> None:
    """The committed OpenAPI file is what the code prints."""
    committed = (DOCS / "contract.openapi.json").read_text(encoding="utf-8")

    assert committed == contract_description()


def test_the_page_names_everything(subtests: pytest.Subtests) -> None:
    """Each route, capability, status and code of the description stands on the page."""
    page = (DOCS / "contract.md").read_text(encoding="utf-8")
    paths = json.loads(contract_description())["paths"]
    routes = [f"`{m.upper()} {path}`" for path, methods in paths.items() for m in methods]
    codes = [f"| {status} | `{code}` |" for code, status in STATUSES.items()]
    for word in (*routes, *(f"`{c}`" for c in CAPABILITIES), *codes, f"`{SPACE}`"):
        with subtests.test(word=word):
            assert word in page


def test_what_is_said_is_found(client: ContractClient) -> None:
    """By context and by search, with the id of its message; again after a restart."""
    remember(client)
    context = client.post("/v1/context", ASKED | {"budget": 500})["texts"]

    assert [(t["text"], t["sources"]) for t in context] == [(SAID["text"], ["m1"])]
    assert found(client) == [f"ana: {SAID['text']}"]
    client.post("/v1/restart", {})
    assert found(client) == [f"ana: {SAID['text']}"]


def test_answers_are_as_described(client: ContractClient) -> None:
    """Each answer fits its schema."""
    remember(client)
    described = json.loads(contract_description())
    asked = {
        "Identity": client.get("/v1/identity"),
        "TextsReply": client.post("/v1/search", ASKED),
        "KeptPage": client.get("/v1/memories", [("limit", "1")]),
        "RemovedReply": client.delete("/v1/messages", [("principal", "ana"), ("id", "m1")]),
    }
    for name, answer in asked.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
        jsonschema.validate(answer, schema)
    assert asked["KeptPage"]["next"] == "1"


def test_a_message_is_known_by_its_id(client: ContractClient) -> None:
    """Said again it changes nothing; another one under its id is refused, and the first stays."""
    remember(client)
    before = client.get("/v1/memories")
    remember(client)

    assert client.get("/v1/memories") == before
    with pytest.raises(ServerError) as refused:
        client.post("/v1/messages", SAID | {"text": "It goes to Bergen."})
    assert (refused.value.status, refused.value.code) == (409, "conflict")
    assert client.get("/v1/memories") == before


def test_principals_and_spaces_are_apart(client: ContractClient, url: str) -> None:
    """Another principal in another session finds nothing, and neither does another space."""
    remember(client)
    other = ContractClient(url, space="another")

    assert found(client, "ben", "s2") == []
    assert found(other) == []
    other.close()


def test_what_is_deleted_is_gone(client: ContractClient) -> None:
    """A message, everything of a principal, and everything."""
    remember(client)
    removed = client.delete("/v1/messages", [("principal", "ana"), ("id", "m1")])
    assert removed == {"removed": ["m1"]}
    assert client.get("/v1/memories")["memories"] == []

    remember(client, principal="a/b c")
    remember(client, id="m2", principal="ben", session="s2")
    assert client.delete("/v1/principals/a%2Fb%20c") == {"removed": ["m1"]}
    assert {s for m in client.get("/v1/memories")["memories"] for s in m["sources"]} == {"m2"}

    client.post("/v1/reset", {})
    assert client.get("/v1/memories")["memories"] == []


def test_tool_blocks_are_kept(client: ContractClient) -> None:
    """A call and its result are found like a text."""
    call = {"type": "tool_use", "id": "c1", "name": "orders", "arguments": "{}"}
    result = {"type": "tool_result", "id": "c1", "text": "A-17 goes to Bergen."}
    client.post("/v1/messages", SAID)
    client.post("/v1/messages", SAID | {"id": "m2", "role": "assistant", "blocks": [call]})
    client.post("/v1/messages", SAID | {"id": "m3", "role": "tool", "blocks": [result]})
    client.post("/v1/turns/end", {"principal": "ana"})

    assert any("Bergen" in text for text in found(client))


WRONG: dict[str, tuple[dict[str, Any], int, str]] = {
    "nothing": ({}, 400, "invalid"),
    "a number as text": (SAID | {"text": 5}, 400, "invalid"),
    "a number as time": (SAID | {"time": 5}, 400, "invalid"),
    "a time without a zone": (SAID | {"time": "2026-01-05T09:00:00"}, 400, "invalid"),
    "two lines in an id": (SAID | {"id": "a\nb"}, 400, "invalid"),
    "half a character": (SAID | {"text": "\ud800"}, 400, "invalid"),
    "a long name": (SAID | {"principal": "a" * 257}, 400, "invalid"),
    "an unknown role": (SAID | {"role": "robot"}, 400, "invalid"),
    "a long text": (SAID | {"text": "a" * 262_145}, 400, "invalid"),
    "a huge body": (SAID | {"text": "a" * MOST_BODY}, 413, "too_large"),
}


def test_wrong_requests_are_refused(client: ContractClient, subtests: pytest.Subtests) -> None:
    """With a status and a code of the contract, and nothing is kept."""
    for name, (body, status, code) in WRONG.items():
        with subtests.test(wrong=name):
            with pytest.raises(ServerError) as refused:
                client.post("/v1/messages", body)
            assert (refused.value.status, refused.value.code) == (status, code)
    for route, status, code in (("/v1/no", 404, "not_found"), ("/v1/search", 405, "method")):
        with pytest.raises(ServerError) as refused:
            client.get(route)
        assert (refused.value.status, refused.value.code) == (status, code)
    assert client.get("/v1/memories")["memories"] == []
