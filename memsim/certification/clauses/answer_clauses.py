"""Clauses on what a server answers: identity, reading, sources, order and updates."""

from __future__ import annotations

from memsim.adapters.contract_replies import read_identity
from memsim.adapters.http_client import ServerError
from memsim.adapters.http_contract import CAPABILITIES, Capability
from memsim.certification.clause import clause
from memsim.certification.clause_result import BrokenPromise, NothingToTry
from memsim.certification.visit import Visit

_ROUTES: dict[Capability, tuple[str, str]] = {
    "context": ("POST", "/v1/context"),
    "search": ("POST", "/v1/search"),
    "delete_messages": ("DELETE", "/v1/messages?principal=nobody&id=none"),
    "delete_principals": ("DELETE", "/v1/principals/nobody"),
    "memories": ("GET", "/v1/memories"),
    "clock": ("POST", "/v1/clock"),
    "reset": ("POST", "/v1/reset"),
    "restart": ("POST", "/v1/restart"),
}


@clause("identity.steady")
def steady(visit: Visit) -> None:
    """The identity does not change while the server runs."""
    for _ in range(3):
        if read_identity(visit.client.get("/v1/identity")) != visit.server:
            raise BrokenPromise("asked again, the server names itself otherwise")


@clause("identity.routes")
def routes(visit: Visit) -> None:
    """A route that is not offered answers with an error."""
    missing = [c for c in CAPABILITIES if c in _ROUTES and not visit.offers(c)]
    if not missing:
        raise NothingToTry("every route is offered")
    now = visit.now.isoformat()
    asked = {"question": "x", "principal": "nobody", "session": "none", "budget": 9, "k": 1}
    for capability in missing:
        method, path = _ROUTES[capability]
        body = asked | {"now": now} if method == "POST" else None
        try:
            visit.client.call(method, path, body)
        except ServerError as error:
            if not error.status:
                raise
        else:
            raise BrokenPromise(f"{method} {path.partition('?')[0]} is not offered and answers 200")


@clause("reading.pure")
def pure(visit: Visit) -> None:
    """A question that is asked again gets the same answer."""
    word = visit.word()
    for thing in ("lamp", "table", "window"):
        visit.tell(f"The {thing} is called {word}.")
    visit.need(word)
    first = visit.answers(f"What is called {word}?")
    for _ in range(3):
        if visit.answers(f"What is called {word}?") != first:
            raise BrokenPromise("the same question got another answer, and nothing was said")


@clause("reading.sources", "sources")
def sources(visit: Visit) -> None:
    """A text names the messages that it came from, and no others."""
    word, name = visit.tell_word()
    for text in visit.texts(word):
        if name not in text.sources:
            raise BrokenPromise("a text does not name the message that it came from")


@clause("reading.memories", "memories")
def memories(visit: Visit) -> None:
    """What was said stands in the list of memories, on pages of any size."""
    said = [visit.word(label) for label in "abc"]
    for word in said:
        visit.tell(f"The lamp is called {word}.")
    visit.need(*said)
    for fields in ((), (("limit", "1"),)):
        listed = [text.text for text in visit.memories(*fields)]
        if not all(any(word in text for text in listed) for word in said):
            where = " of one memory each" if fields else ""
            raise BrokenPromise(f"a message that can be found is not on the pages{where}")


@clause("ordering.turn")
def turn(visit: Visit) -> None:
    """A message is found as soon as its turn has ended."""
    word = visit.word()
    visit.send(visit.body(f"The lamp is called {word}."))
    visit.end()
    if not visit.texts(word):
        raise BrokenPromise("a message is not found after the end of its turn")


@clause("ordering.context", "context")
def in_order(visit: Visit) -> None:
    """A later message does not stand before an earlier one in a context."""
    said = [visit.word(label) for label in "abc"]
    for word in said:
        visit.tell(f"The lamp is called {word}.")
    texts = visit.answers("What is the lamp called?")["context"]
    whole = "\n".join(text.text for text in texts)
    places = [whole.find(word) for word in said if word in whole]
    if len(places) < 2:
        raise NothingToTry("the context holds fewer than two of three messages")
    if places != sorted(places):
        raise BrokenPromise("an earlier message stands behind a later one")


@clause("update.latest")
def latest(visit: Visit) -> None:
    """A later statement is found beside or in place of an earlier one."""
    old, new = visit.word("old"), visit.word("new")
    visit.tell(f"The desk of Ludmila stands in room {old}.")
    visit.need(old)
    visit.tell(f"The desk of Ludmila stands in room {new}.")
    answers = visit.answers("In which room does the desk of Ludmila stand?")
    if not any(new in text.text for found in answers.values() for text in found):
        raise BrokenPromise("the later of two statements is not found")
