"""One clause's visit to a server: a space and names of its own, and words that nobody else says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import uuid4

from memsim.adapters.contract_replies import ServerIdentity, read_names, read_pages, read_texts
from memsim.adapters.credit import ForeignText
from memsim.adapters.http_client import ContractClient, ServerError
from memsim.adapters.http_contract import MOST_RESULTS, Capability
from memsim.certification.clause_result import UnmeasuredClause
from memsim.message import EPOCH

ANA, BEN = "ana", "ben"
_BUDGET = 8000


class Visit:
    """What a clause may do.

    Args:
        url: of the server.
        server: what it said of itself.
        clause: the name of the clause, from which its words are made.
        timeout: seconds for each answer.
    """

    def __init__(self, url: str, server: ServerIdentity, clause: str, timeout: float) -> None:
        self.server = server
        self._url, self._clause, self._timeout = url, clause, timeout
        self._mark = uuid4().hex
        self._said = 0
        self._clients: list[ContractClient] = []
        self.client = self.another_client()
        # A server that lives in wall time may drop what is years old.
        self.now = EPOCH if self.offers("clock") else datetime.now(UTC)

    def open(self) -> None:
        """Set the clock, if there is one."""
        if self.offers("clock"):
            self.set_clock(self.now)

    def another_client(self, space: str = "") -> ContractClient:
        """One more connection, to the same space or to another one."""
        made = ContractClient(self._url, space=f"{self._mark}{space}", timeout=self._timeout)
        self._clients.append(made)
        return made

    def close(self) -> None:
        """Leave nothing behind, as far as the server lets that be asked for."""
        # What the clause found is not hidden by a server that fails now.
        with suppress(ServerError):
            if self.offers("reset") and self.offers("spaces"):
                self.client.post("/v1/reset", {})
        for each in self._clients:
            each.close()

    def offers(self, capability: Capability) -> bool:
        """Whether the server has it."""
        return capability in self.server.capabilities

    def word(self, label: str = "") -> str:
        """A word that no other clause says."""
        digits = int(hashlib.sha256(f"{self._clause}/{label}".encode()).hexdigest()[:8], 16)
        return f"zq{digits % 10**7:07d}"

    def name(self, plain: str) -> str:
        """A principal or session of this visit."""
        return f"{plain}-{self._mark[:8]}"

    # Writing.

    def body(
        self,
        text: str,
        *,
        who: str = ANA,
        session: str = "s1",
        id: str = "",  # noqa: A002 - the name of the field
    ) -> dict[str, object]:
        """A message as it is sent."""
        self._said += 1
        time = self.now + timedelta(seconds=self._said)
        return {
            "id": id or f"{self._mark[:8]}-{self._said}",
            "principal": self.name(who),
            "session": self.name(session),
            "role": "user",
            "text": text,
            "time": time.isoformat(),
        }

    def send(self, body: dict[str, object], client: ContractClient | None = None) -> str:
        """Send a message; return its id."""
        (client or self.client).post("/v1/messages", body)
        return str(body.get("id", ""))

    def end(self) -> None:
        """End the turn."""
        self.client.post("/v1/turns/end", {"now": self.now.isoformat()})

    def tell(self, text: str, *, who: str = ANA, session: str = "s1", id: str = "") -> str:  # noqa: A002
        """Say a message, end its turn, and let a turn of somebody else pass; return its id."""
        name = self.send(self.body(text, who=who, session=session, id=id))
        self.pass_turn()
        return name

    def tell_word(self) -> tuple[str, str]:
        """Say a word of this clause, and make sure that it is found; return it, and its message.

        Raises:
            UnmeasuredClause: it is not found.
        """
        word = self.word()
        name = self.tell(f"The lamp is called {word}.")
        self.need(word)
        return word, name

    def pass_turn(self) -> None:
        """End the turn, and have somebody else say something in a turn of its own."""
        self.end()
        self.send(self.body(f"Nothing {self._said}.", who="other", session="elsewhere"))
        self.end()

    def set_clock(self, now: datetime) -> None:
        """Set the present."""
        self.now = now
        self.client.post("/v1/clock", {"now": now.isoformat()})

    # Reading.

    def answers(
        self,
        question: str,
        *,
        who: str = ANA,
        session: str = "s1",
        client: ContractClient | None = None,
        budget: int = _BUDGET,
        k: int = MOST_RESULTS,
    ) -> dict[str, list[ForeignText]]:
        """The texts that each way to read gives for a question."""
        asked: dict[str, object] = {
            "question": question,
            "principal": self.name(who),
            "session": self.name(session),
            "now": (self.now + timedelta(seconds=self._said)).isoformat(),
        }
        found: dict[str, list[ForeignText]] = {}
        for reader, limit in (("context", {"budget": budget}), ("search", {"k": k})):
            if reader in self.server.capabilities:
                answer = (client or self.client).post(f"/v1/{reader}", asked | limit)
                found[reader] = read_texts(answer, f"POST /v1/{reader}")
        return found

    def texts(
        self,
        word: str,
        *,
        who: str = ANA,
        session: str = "s1",
        client: ContractClient | None = None,
    ) -> list[ForeignText]:
        """The texts with a word that are found by it, in any way."""
        answers = self.answers(f"What about {word}?", who=who, session=session, client=client)
        return [text for found in answers.values() for text in found if word in text.text]

    def need(self, *given: str, who: str = ANA, session: str = "s1") -> None:
        """Make sure that words are found, before it counts that others are not.

        Raises:
            UnmeasuredClause: one of them is not.
        """
        for word in given:
            if not self.texts(word, who=who, session=session):
                raise UnmeasuredClause("what was said was not found, so that nothing can be shown")

    def memories(self, *fields: tuple[str, str]) -> Iterator[ForeignText]:
        """Everything that is kept, page by page."""
        yield from read_pages(self.client, fields)

    # Deleting.

    def delete(self, *ids: str, who: str = ANA) -> tuple[str, ...]:
        """Have messages erased; return the ids that the server names."""
        fields = [("principal", self.name(who)), *(("id", each) for each in ids)]
        answer = self.client.delete("/v1/messages", fields)
        return read_names(answer, "removed", "DELETE /v1/messages")

    def delete_principal(self, who: str) -> None:
        """Have everything of a principal erased."""
        self.client.delete(f"/v1/principals/{quote(self.name(who), safe='')}")
