"""The strategy `http`: a conversation with a server of the contract."""

from __future__ import annotations

import json
import runpy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from memsim.adapters.http_memory import HttpMemory
from memsim.errors import StrategyError
from memsim.message import Message, Text, ToolResult, ToolUse, said
from memsim.strategy import Event, Forget, Location, Strategy, reports_stores
from tests.doubles.contract_server import HonestServer, Record, serving_double
from tests.strategies.conversations import ask, strategy

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Recorder(HonestServer):
    """Notes each request."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, Record, str]] = []

    def serve(self, method: str, target: str, body: Record, space: str) -> tuple[int, Record]:
        self.seen.append((f"{method} {target}", body, space))
        return super().serve(method, target, body, space)


class Bare(Recorder):
    """Offers nothing but a search."""

    offers = ("search",)

    def text_of(self, message: Record) -> Record:
        return {"text": message["text"]}

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        return [m for m in said if m["principal"] == body["principal"]]


@pytest.fixture
def server() -> Iterator[tuple[Recorder, str]]:
    """An honest server, and its address."""
    double = Recorder()
    with serving_double(double) as url:
        yield double, url


@contextmanager
def example() -> Iterator[str]:
    """The service of docs/examples."""
    names = runpy.run_path(str(DOCS / "examples" / "memory_service.py"))
    with ThreadingHTTPServer(("127.0.0.1", 0), names["Memory"]) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


def converse(memory: Strategy, count: int = 12) -> None:
    """Say an order, and then other things."""
    memory.observe(said("user", "My order is A-17.", id="m0", principal="ana"))
    memory.end_turn()
    for number in range(1, count):
        memory.observe(said("user", f"Talk of day {number}.", id=f"m{number}", principal="ana"))
        memory.end_turn()


def test_what_left_the_window_is_found(subtests: pytest.Subtests) -> None:
    """By context and by search, over a server that offers all and one that offers little."""
    for offers in (HonestServer, Bare):
        for read in ("auto", "search", *(["context"] if offers is HonestServer else [])):
            with subtests.test(server=offers.__name__, read=read), serving_double(offers()) as url:
                memory = strategy(f"http:url={url},read={read},window=3")
                converse(memory)
                context = memory.context(ask(memory, "Which order is mine?"))

                assert "m0" in context.verbatim
                assert len(context.verbatim) == len(
                    [m for s in context.sections for m in s.messages]
                )
                memory.close()


def test_a_case_has_a_space_of_its_own(server: tuple[Recorder, str]) -> None:
    """Two cases on one server do not meet, and each leaves nothing."""
    double, url = server
    one, two = strategy(f"http:url={url},window=0"), strategy(f"http:url={url},window=0")
    converse(one, 1)

    assert two.context(ask(two, "Which order is mine?")).verbatim == frozenset()
    assert one.context(ask(one, "Which order is mine?")).verbatim == {"m0"}
    one.close()
    two.close()
    assert not any(double.disk.values())


def test_without_spaces_names_get_a_prefix() -> None:
    """Cases do not meet either, and nobody's clock or reset reaches another's."""
    with serving_double(double := Bare()) as url:
        one, two = strategy(f"http:url={url},window=0"), strategy(f"http:url={url},window=0")
        converse(one, 1)

        assert two.context(ask(two, "Which order is mine?")).verbatim == frozenset()
        assert one.context(ask(one, "Which order is mine?")).verbatim == {"m0"}
        one.close()
        two.close()
    routes = {route for route, _, _ in double.seen}
    assert routes == {
        "GET /v1/identity",
        "POST /v1/messages",
        "POST /v1/turns/end",
        "POST /v1/search",
    }


def test_requests_are_as_described(server: tuple[Recorder, str]) -> None:
    """Each body that is sent fits the schema of its route."""
    double, url = server
    memory = strategy(f"http:url={url},read=search")
    call = ToolUse(id="c1", name="orders", arguments="{}")
    result = ToolResult(id="c1", text="A-17 is packed.")
    converse(memory, 2)
    memory.observe(Message(id="t1", role="assistant", blocks=(Text("I look."), call)))
    memory.observe(Message(id="t2", role="tool", blocks=(result,)))
    memory.context(ask(memory))
    memory.elapse(memory.env.clock.now())
    other = strategy(f"http:url={url}")
    other.context(ask(memory))
    other.close()
    memory.close()

    described = json.loads((DOCS / "contract.openapi.json").read_text(encoding="utf-8"))
    checked = set()
    for route, body, _ in double.seen:
        method, path = route.split()
        asked = described["paths"][path][method.lower()].get("requestBody")
        if asked:
            schema = asked["content"]["application/json"]["schema"]
            jsonschema.validate(body, {**schema, "components": described["components"]})
            checked.add(path)
    assert checked == {
        *("/v1/messages", "/v1/turns/end", "/v1/search", "/v1/context", "/v1/clock"),
    }


def test_virtual_time_is_passed_in(server: tuple[Recorder, str]) -> None:
    """The clock is set before what happens at that time; a server without one is noted."""
    double, url = server
    events: list[Event] = []
    memory = strategy(f"http:url={url}", log=events.append)
    converse(memory, 2)
    clocks = [body["now"] for route, body, _ in double.seen if route == "POST /v1/clock"]

    assert clocks == ["2026-01-05T09:00:00+00:00"]
    assert [(e.kind, e.detail) for e in events] == [("foreign", ""), ("note", "honest 1")]
    events.clear()
    memory.close()
    with serving_double(Bare()) as bare:
        memory = strategy(f"http:url={bare}", log=events.append)
        converse(memory, 2)
        memory.close()
    assert [e.detail for e in events if e.detail] == [
        "honest 1",
        "lives in wall time: age and expiry are not measured",
    ]


def test_what_is_forgotten_is_erased_on_the_server(server: tuple[Recorder, str]) -> None:
    """And no longer in the window; a server that cannot erase says so."""
    _, url = server
    memory = strategy(f"http:url={url}")
    converse(memory, 2)
    outcome = memory.forget(Forget(principal="ana", text="my order", sources=("m0",)))

    assert (outcome.supported, outcome.removed) == (True, ("m0",))
    assert "m0" not in memory.context(ask(memory, "Which order is mine?")).verbatim
    memory.close()
    with serving_double(Bare()) as bare:
        memory = strategy(f"http:url={bare}")
        converse(memory, 2)
        assert not memory.forget(Forget(principal="ana", text="", sources=("m0",))).supported
        memory.close()


def test_a_restart_is_of_the_server(server: tuple[Recorder, str]) -> None:
    """It is told to restart where it can be, and the conversation goes on."""
    double, url = server
    memory = strategy(f"http:url={url},window=2")
    converse(memory)
    before = memory.context(ask(memory, "Which order is mine?"))

    assert memory.restart()
    assert memory.context(ask(memory, "Which order is mine?")) == before
    assert "POST /v1/restart" in {route for route, _, _ in double.seen}
    memory.close()


def test_a_server_that_lists_its_store_is_inspected(server: tuple[Recorder, str]) -> None:
    """Every text with its message, as one principal or all see it; else it is a black box."""
    _, url = server
    memory = strategy(f"http:url={url},window=1")
    converse(memory, 3)
    memory.observe(said("user", "My own lamp.", id="m9", principal="ben", session="s2"))
    seen = {(s.tier, s.sources) for s in memory.surfaces()}
    query = ask(memory, "What about it?")

    assert reports_stores(memory)
    assert {("store", (name,)) for name in ("m0", "m1", "m2", "m9")} < seen
    assert ("window", ("m2",)) in seen
    assert {s.sources for s in memory.surfaces("ben")} == {("m9",)}
    assert memory.locate("m0", query) == Location(tier="store")
    memory.forget(Forget(principal="ana", text="", sources=("m0",)))
    assert memory.locate("m0", query) is None
    memory.close()
    with serving_double(Bare()) as bare:
        memory = strategy(f"http:url={bare}")
        assert not reports_stores(memory)
        memory.close()


def test_a_server_of_forty_lines_is_measured() -> None:
    """The example of the documentation."""
    source = (DOCS / "examples" / "memory_service.py").read_text(encoding="utf-8")
    with example() as url:
        memory = strategy(f"http:url={url},window=2")
        converse(memory)

        assert "m0" in memory.context(ask(memory, "Which order is mine?")).verbatim
        assert cast("HttpMemory", memory).server.name == "shared words"
        memory.close()
    assert len([line for line in source.splitlines() if line.strip()]) <= 50


WRONG: dict[str, dict[str, Any]] = {
    "a contract of tomorrow": {"contract": 2, "name": "x", "version": "1", "capabilities": []},
    "no way to read": {"contract": 1, "name": "x", "version": "1", "capabilities": ["reset"]},
    "no list": {"contract": 1, "name": "x", "version": "1", "capabilities": "search"},
    "no name": {"contract": 1, "version": "1", "capabilities": ["search"]},
}


def test_a_wrong_identity_is_an_error(subtests: pytest.Subtests) -> None:
    """Nothing is measured then."""
    for name, told in WRONG.items():
        with subtests.test(identity=name):
            double = HonestServer()
            double.identity = lambda told=told: told  # type: ignore[method-assign,misc]
            with serving_double(double) as url, pytest.raises(StrategyError, match="identity"):
                strategy(f"http:url={url}")


def test_another_server_at_the_same_address_is_an_error(server: tuple[Recorder, str]) -> None:
    """A case has one server, and its report names it."""
    double, url = server
    names = iter(["a\x1b[1m\n b", "another"])
    double.identity = lambda: HonestServer.identity(double) | {"name": next(names)}  # type: ignore[method-assign]
    memory = strategy(f"http:url={url}")
    converse(memory)

    assert memory.notes == ("a[1m b 1",)  # type: ignore[attr-defined]
    with pytest.raises(StrategyError, match="not the server of the case's beginning"):
        memory.close()


def test_wrong_parameters_are_refused(subtests: pytest.Subtests) -> None:
    """Before any server is asked."""
    for given in (
        "url=ftp://x",
        "url=http://me:secret@x",
        "url=localhost",
        "url=http://x,k=0",
        "url=http://x,window=-1",
    ):
        with subtests.test(given=given), pytest.raises(Exception, match=r"url|k is|window"):
            strategy(f"http:{given}")
