"""Clauses on what a server keeps: idempotence, isolation, deletion, restarts, time, load."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from memsim.adapters.http_client import ServerError
from memsim.adapters.http_contract import STATUSES
from memsim.certification.clause import clause
from memsim.certification.clause_result import BrokenPromise, NothingToTry
from memsim.certification.visit import ANA, BEN, Visit

_WRITERS, _EACH = 8, 5


@clause("idempotence.message")
def message(visit: Visit) -> None:
    """The same message under the same id changes nothing."""
    word = visit.word()
    body = visit.body(f"The lamp is called {word}.")
    visit.send(body)
    visit.pass_turn()
    visit.need(word)
    before = visit.texts(word)
    for _ in range(2):
        visit.send(body)
        visit.pass_turn()
    if len(visit.texts(word)) != len(before):
        raise BrokenPromise("a message that was sent again is found more often")


@clause("idempotence.conflict")
def conflict(visit: Visit) -> None:
    """Another message under a known id is refused with 409, and the first one stays."""
    old, new = visit.word("old"), visit.word("new")
    body = visit.body(f"The lamp is called {old}.")
    visit.send(body)
    visit.pass_turn()
    visit.need(old)
    try:
        visit.send(body | {"text": f"The lamp is called {new}."})
    except ServerError as error:
        if error.status != STATUSES["conflict"]:
            raise
    else:
        raise BrokenPromise("another message under a known id is accepted")
    visit.pass_turn()
    if visit.texts(new) or not visit.texts(old):
        raise BrokenPromise("the first message did not stay as it was")


@clause("idempotence.turn_end")
def turn_end(visit: Visit) -> None:
    """A turn that is ended again, with nothing said, changes nothing."""
    word, _ = visit.tell_word()
    before = visit.answers(f"What is called {word}?")
    for _ in range(3):
        visit.end()
    if visit.answers(f"What is called {word}?") != before:
        raise BrokenPromise("the answer changed when a turn was ended again")


@clause("isolation.principals")
def principals(visit: Visit) -> None:
    """A principal finds nothing that another one said in a session of their own."""
    word = visit.word()
    visit.tell(f"The lamp is called {word}.")
    visit.tell("My own lamp is green.", who=BEN, session="s2")
    visit.need(word)
    if visit.texts(word, who=BEN, session="s2"):
        raise BrokenPromise("another principal finds what was said")
    if visit.texts(word, who=BEN, session="s1"):
        raise BrokenPromise("another principal finds it by naming the session")


@clause("isolation.sessions", "shared_sessions")
def sessions(visit: Visit) -> None:
    """Whoever takes part in a session finds what was said in it."""
    word = visit.word()
    visit.tell("Shall we talk about the lamp?", who=BEN)
    visit.tell(f"The lamp is called {word}.")
    visit.need(word)
    if not visit.texts(word, who=BEN):
        raise BrokenPromise("a principal who takes part does not find what was said")


@clause("isolation.spaces", "spaces")
def spaces(visit: Visit) -> None:
    """Two spaces have nothing in common."""
    word, _ = visit.tell_word()
    if visit.texts(word, client=visit.another_client("-2")):
        raise BrokenPromise("another space finds what was said")


@clause("deletion.message", "delete_messages")
def one_message(visit: Visit) -> None:
    """A message that is deleted is found no more, and the others stay."""
    word, other = visit.word(), visit.word("other")
    name = visit.tell(f"The lamp is called {word}.")
    visit.tell(f"The table is called {other}.")
    visit.need(word, other)
    removed = visit.delete(name)
    if visit.texts(word):
        raise BrokenPromise("a deleted message is found")
    if name not in removed:
        raise BrokenPromise("the answer does not name the deleted message")
    if not visit.texts(other):
        raise BrokenPromise("a message that was not deleted is gone")


@clause("deletion.residue", "delete_messages", "memories")
def residue(visit: Visit) -> None:
    """Nothing of a deleted message stands in the list of memories."""
    word, name = visit.tell_word()
    visit.delete(name)
    if any(word in text.text for text in visit.memories()):
        raise BrokenPromise("a deleted message, or what was derived from it, is kept")


@clause("deletion.foreign", "delete_messages")
def foreign(visit: Visit) -> None:
    """A principal deletes nothing of another one."""
    word = visit.word()
    name = visit.tell(f"The lamp is called {word}.")
    visit.tell("My own lamp is green.", who=BEN, session="s2")
    visit.need(word)
    try:
        visit.delete(name, who=BEN)
    except ServerError as error:
        if not error.status:
            raise
    if not visit.texts(word):
        raise BrokenPromise("another principal deleted a message")


@clause("deletion.principal", "delete_principals")
def everything(visit: Visit) -> None:
    """Everything of a principal that is deleted is gone, and what others said stays."""
    words = [visit.word(label) for label in "abc"]
    other = visit.word("other")
    for word in words:
        visit.tell(f"The lamp is called {word}.")
    visit.tell(f"My lamp is called {other}.", who=BEN, session="s2")
    visit.need(*words)
    visit.need(other, who=BEN, session="s2")
    visit.delete_principal(ANA)
    if any(visit.texts(word) for word in words):
        raise BrokenPromise("something of the deleted principal is found")
    if not visit.texts(other, who=BEN, session="s2"):
        raise BrokenPromise("what another principal said is gone")


@clause("deletion.reset", "reset")
def reset(visit: Visit) -> None:
    """A reset empties the memory."""
    if not visit.offers("spaces"):
        raise NothingToTry("without spaces, a reset would reach what others have said")
    word, _ = visit.tell_word()
    visit.client.post("/v1/reset", {})
    if visit.texts(word):
        raise BrokenPromise("a message is found after the reset")


@clause("restart.kept", "restart")
def kept(visit: Visit) -> None:
    """What was acknowledged before a restart is found after it."""
    words = [visit.word(label) for label in "abc"]
    for word in words:
        visit.tell(f"The lamp is called {word}.")
    visit.need(*words)
    visit.client.post("/v1/restart", {})
    if not all(visit.texts(word) for word in words):
        raise BrokenPromise("a message is lost with the restart")


@clause("restart.deleted", "restart", "delete_messages")
def stays_deleted(visit: Visit) -> None:
    """What was deleted before a restart does not come back."""
    word, name = visit.tell_word()
    visit.delete(name)
    visit.client.post("/v1/restart", {})
    if visit.texts(word):
        raise BrokenPromise("a deleted message is found after the restart")


@clause("clock.virtual", "clock")
def virtual(visit: Visit) -> None:
    """A memory of a minute ago is found, in whatever year the clock is set to."""
    for year in (2001, 2090):
        word = visit.word(str(year))
        visit.set_clock(datetime(year, 3, 1, 9, tzinfo=UTC))
        visit.tell(f"The lamp is called {word}.")
        visit.set_clock(visit.now + timedelta(minutes=1))
        if not visit.texts(word):
            raise BrokenPromise(f"said and asked in {year}, a message is not found")


@clause("clock.times", "clock")
def times(visit: Visit) -> None:
    """The time of a text is the time of its message, not of the machine."""
    word, _ = visit.tell_word()
    told = [text.time for text in visit.texts(word) if text.time is not None]
    if not told:
        raise NothingToTry("no text has a time")
    if any(abs(time - visit.now) > timedelta(hours=1) for time in told):
        raise BrokenPromise("a text has another time than its message")


@clause("concurrency.writers")
def writers(visit: Visit) -> None:
    """Messages that are sent at the same time are all kept."""
    said = [visit.word(str(number)) for number in range(_WRITERS * _EACH)]
    bodies = [
        visit.body(
            f"The lamp is called {word}.", who=f"w{n % _WRITERS}", session=f"w{n % _WRITERS}"
        )
        for n, word in enumerate(said)
    ]
    clients = [visit.another_client() for _ in range(_WRITERS)]

    def write(number: int) -> None:
        for body in bodies[number::_WRITERS]:
            visit.send(body, clients[number])

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(write, range(_WRITERS)))
    visit.pass_turn()
    lost = 0
    for number, word in enumerate(said):
        who = f"w{number % _WRITERS}"
        lost += not visit.texts(word, who=who, session=who)
    if lost:
        raise BrokenPromise(f"{lost} of {len(said)} acknowledged messages are not found")
