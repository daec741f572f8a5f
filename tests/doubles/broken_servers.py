"""Servers that each break one clause of the contract, and no other."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from memsim.adapters.http_contract import CAPABILITIES
from tests.doubles.contract_server import HonestServer, Record, Refusal, Reply, words


class NewVersions(HonestServer):
    """Names another version each time."""

    asked = 0

    def identity(self) -> Record:
        self.asked += 1
        return super().identity() | {"version": str(self.asked)}


class SecretRoute(HonestServer):
    """Answers a restart that it does not offer."""

    offers = tuple(c for c in CAPABILITIES if c != "restart")

    def posted(self, what: str, body: Record, said: list[Record]) -> Record:
        return {} if what == "restart" else super().posted(what, body, said)


class TurningResults(HonestServer):
    """Gives results that are as good in another order each time."""

    asked = 0

    def search(self, said: list[Record], body: Record) -> list[Record]:
        found = super().search(said, body)
        self.asked += 1
        at = self.asked % max(1, len(found))
        return found[at:] + found[:at]


class WrongSources(HonestServer):
    """Names the first message of all as the source."""

    def search(self, said: list[Record], body: Record) -> list[Record]:
        return [t | {"sources": ["message-0"]} for t in super().search(said, body)]


class OnePage(HonestServer):
    """Lists one page, and no cursor."""

    def page(self, found: list[Record], start: int, end: int) -> Record:
        return super().page(found, start, end) | {"next": None}


class Doubling(HonestServer):
    """Keeps a message as often as it is sent."""

    def add(self, said: list[Record], body: Record) -> None:
        if any(m["id"] == body["id"] and m != body for m in said):
            raise Refusal("conflict")
        said.append(body)


class Overwriting(HonestServer):
    """Replaces a message by another one of its id."""

    def add(self, said: list[Record], body: Record) -> None:
        said[:] = [m for m in said if m["id"] != body["id"]]
        said.append(body)


class Diary(HonestServer):
    """Ranks by how often a turn was ended in which nothing was said."""

    def __init__(self) -> None:
        super().__init__()
        self.known = self.idle = 0

    def end(self, said: list[Record]) -> None:
        self.idle += len(said) == self.known
        self.known = len(said)

    def text_of(self, message: Record) -> Record:
        return super().text_of(message) | {"score": float(self.idle)}


class Late(HonestServer):
    """Finds a message only when the turn after it has ended."""

    def end(self, said: list[Record]) -> None:
        for place, message in enumerate(said):
            said[place] = message | {"age": message.get("age", 0) + 1}

    def add(self, said: list[Record], body: Record) -> None:
        plain = [{k: v for k, v in m.items() if k != "age"} for m in said]
        super().add(plain, body)
        if len(plain) > len(said):
            said.append(body)

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        return [m for m in super().may_read(said, body) if m.get("age", 0) > 1]


class Backwards(HonestServer):
    """Composes a context with the latest first."""

    def context(self, said: list[Record], body: Record) -> list[Record]:
        return super().context(said, body)[::-1]


class OpenToAll(HonestServer):
    """Finds what anybody said."""

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        return said


class Lonely(HonestServer):
    """Says that sessions are shared, and finds for each their own."""

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        return [m for m in said if m["principal"] == body["principal"]]


class OneSpace(HonestServer):
    """Ignores the header."""

    def space_of(self, name: str) -> str:
        return name.partition("-")[0]


class Stubborn(HonestServer):
    """Takes a statement that is much like a former one for the same."""

    def add(self, said: list[Record], body: Record) -> None:
        new = words(body["text"])
        desk = {"desk", "ludmila"} <= new
        if not desk or not any(len(new & words(m["text"])) >= 6 for m in said):
            super().add(said, body)


class Keeper(HonestServer):
    """Says that a message is deleted, and still finds it; it leaves the list."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[str] = set()

    def delete(self, said: list[Record], principal: str, ids: list[str]) -> list[str]:
        gone = [m["id"] for m in said if m["principal"] == principal and m["id"] in ids]
        self.gone.update(gone)
        return gone

    def memories(self, said: list[Record]) -> list[Record]:
        return [t for t in super().memories(said) if t["sources"][0] not in self.gone]

    def delete_principal(self, said: list[Record], principal: str) -> list[str]:
        return HonestServer.delete(self, said, principal, [m["id"] for m in said])

    def restart(self, said: list[Record]) -> None:
        said[:] = [m for m in said if m["id"] not in self.gone]


class Residue(HonestServer):
    """Keeps what it derived from a deleted message."""

    def __init__(self) -> None:
        super().__init__()
        self.derived: list[Record] = []

    def delete(self, said: list[Record], principal: str, ids: list[str]) -> list[str]:
        gone = [m for m in said if m["principal"] == principal and m["id"] in ids]
        notes = [self.text_of(m) | {"principal": principal, "tier": "fact"} for m in gone]
        self.derived += notes
        return super().delete(said, principal, ids)

    def memories(self, said: list[Record]) -> list[Record]:
        return super().memories(said) + self.derived


class AnybodyDeletes(HonestServer):
    """Deletes by the id alone."""

    def delete(self, said: list[Record], principal: str, ids: list[str]) -> list[str]:
        owners = {m["principal"] for m in said if m["id"] in ids}
        return [i for who in owners for i in super(AnybodyDeletes, self).delete(said, who, ids)]

    def delete_principal(self, said: list[Record], principal: str) -> list[str]:
        return HonestServer.delete(self, said, principal, [m["id"] for m in said])


class HalfDeleted(HonestServer):
    """Deletes the latest message of a principal, and not the others."""

    def delete_principal(self, said: list[Record], principal: str) -> list[str]:
        return self.delete(
            said, principal, [m["id"] for m in said if m["principal"] == principal][-1:]
        )


class NoReset(HonestServer):
    """Empties nothing."""

    def reset(self, said: list[Record]) -> None:
        pass


class Forgetful(HonestServer):
    """Loses the latest messages with a restart."""

    def restart(self, said: list[Record]) -> None:
        del said[-3:]


class Undead(HonestServer):
    """Reads deleted messages from its disk again."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Record] = []

    def delete(self, said: list[Record], principal: str, ids: list[str]) -> list[str]:
        self.log = [m for m in said if m["id"] in ids]
        return super().delete(said, principal, ids)

    def restart(self, said: list[Record]) -> None:
        said.extend(self.log)
        self.log = []


class WallTime(HonestServer):
    """Drops what is more than five years old by the clock of the machine, or of the future."""

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        far = timedelta(days=5 * 365)
        times = [(datetime.fromisoformat(m["time"]), m) for m in super().may_read(said, body)]
        return [m for t, m in times if abs(datetime.now(UTC) - t) < far]


class OwnTimes(HonestServer):
    """Says when it wrote a message, by the clock of a machine that is wrong."""

    def text_of(self, message: Record) -> Record:
        return super().text_of(message) | {"time": "1999-01-01T00:00:00Z"}


class Plain(HonestServer):
    """Normalises what it keeps, so that ligatures and marks come back as others."""

    def text_of(self, message: Record) -> Record:
        text = unicodedata.normalize("NFKC", message["text"])
        return super().text_of(message) | {"text": text}


class NoSlash(HonestServer):
    """Refuses names that could be paths."""

    def check(self, body: Record) -> None:
        super().check(body)
        if "/" in body["principal"]:
            raise Refusal("invalid")


class ShortTexts(HonestServer):
    """Refuses long texts."""

    def check(self, body: Record) -> None:
        super().check(body)
        if len(body["text"]) > 10_000:
            raise Refusal("too_large")


class ShortNames(HonestServer):
    """Refuses long names."""

    def check(self, body: Record) -> None:
        super().check(body)
        if len(body["id"]) > 128:
            raise Refusal("invalid")


class Generous(HonestServer):
    """Ignores how many texts are asked for."""

    def search(self, said: list[Record], body: Record) -> list[Record]:
        return super().search(said, body | {"k": 100})


class Boundless(HonestServer):
    """Ignores the budget."""

    def context(self, said: list[Record], body: Record) -> list[Record]:
        return super().context(said, body | {"budget": 1_000_000})


class Deep(HonestServer):
    """Takes bodies of any depth."""

    def too_deep(self, body: Record) -> bool:
        return False


class Trusting(HonestServer):
    """Accepts anything."""

    def check(self, body: Record) -> None:
        pass

    def add(self, said: list[Record], body: Record) -> None:
        if all(isinstance(body.get(key), str) for key in ("id", "principal", "text", "role")):
            super().add(said, body)


class Hasty(HonestServer):
    """Drops a message that comes while another one is written."""

    busy = 0

    def serve(self, method: str, target: str, body: Record, space: str) -> Reply:
        if method != "POST" or target != "/v1/messages":
            return super().serve(method, target, body, space)
        self.busy += 1
        alone = self.busy == 1
        try:
            time.sleep(0.002)
            return super().serve(method, target, body, space) if alone else (200, {})
        finally:
            self.busy -= 1


BROKEN: Mapping[str, type[HonestServer]] = {
    "identity.steady": NewVersions,
    "identity.routes": SecretRoute,
    "reading.pure": TurningResults,
    "reading.sources": WrongSources,
    "reading.memories": OnePage,
    "idempotence.message": Doubling,
    "idempotence.conflict": Overwriting,
    "idempotence.turn_end": Diary,
    "ordering.turn": Late,
    "ordering.context": Backwards,
    "isolation.principals": OpenToAll,
    "isolation.sessions": Lonely,
    "isolation.spaces": OneSpace,
    "update.latest": Stubborn,
    "deletion.message": Keeper,
    "deletion.residue": Residue,
    "deletion.foreign": AnybodyDeletes,
    "deletion.principal": HalfDeleted,
    "deletion.reset": NoReset,
    "restart.kept": Forgetful,
    "restart.deleted": Undead,
    "clock.virtual": WallTime,
    "clock.times": OwnTimes,
    "languages.scripts": Plain,
    "languages.names": NoSlash,
    "limits.text": ShortTexts,
    "limits.names": ShortNames,
    "limits.k": Generous,
    "limits.budget": Boundless,
    "limits.nesting": Deep,
    "limits.refusals": Trusting,
    "concurrency.writers": Hasty,
}
"""The server that breaks each clause."""
