"""A black box behind the HTTP contract: each case gets a space, or names of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote
from uuid import uuid4

from memsim.adapters.black_box import BlackBox
from memsim.adapters.contract_replies import (
    ServerIdentity,
    read_identity,
    read_names,
    read_pages,
    read_texts,
)
from memsim.adapters.credit import ForeignText
from memsim.adapters.http_client import ContractClient, ServerError
from memsim.adapters.http_contract import IDENTITY_SECONDS, MOST_IDS, Capability
from memsim.adapters.listed_memory import listed
from memsim.message import Block, Message, Text, ToolUse
from memsim.strategy import Environment, Query

Read = Literal["auto", "context", "search"]


class HttpMemory(BlackBox):
    """Asks a server of the HTTP contract.

    Cases do not meet on the server. Each has a space of its own; without the capability `spaces`,
    its principals, sessions and ids get a prefix. A clock, a reset or a restart would then reach
    other cases, so that none is asked for.
    """

    def __init__(
        self, env: Environment, *, url: str, read: Read, k: int, window: int, timeout: float
    ) -> None:
        super().__init__(env, window=window, timeout=timeout)
        if k < 1:
            raise ValueError(f"k is {k}: at least 1")
        if read not in {"auto", "context", "search"}:
            raise ValueError(f"read is {read!r}: it is 'auto', 'context' or 'search'")
        self._k = k
        place = uuid4().hex  # of this case alone, on a server that others may use as well
        self._client = ContractClient(url, space=place, timeout=timeout)
        self.hosts = (self._client.host,)  # type: ignore[misc]  # a server is known by its address
        try:
            self.server = self._identity()
            self._mode = self._reader(read)
        except ServerError:
            self._client.close()
            raise
        self.notes = (plain_name(f"{self.server.name} {self.server.version}"),)
        self.ranks = self._mode == "search"
        self._prefix = "" if self._offers("spaces") else f"{place[:12]}/"
        self.virtual_time = self._offers("clock") and self._offers("spaces")
        self.per_user = not self._offers("shared_sessions")
        self._ids: dict[str, None] = {}
        self._users: dict[str, None] = {}
        self._time: datetime | None = None
        self._kept: dict[str | None, tuple[ForeignText, ...]] = {}
        if self._offers("memories"):
            # What a strategy shows is read from its class, and a server is known only now.
            self.__class__ = listed(type(self))  # type: ignore[assignment]

    def add(self, message: Message) -> None:
        self._kept.clear()
        self._set_clock(message.time)
        body = {
            "id": self._prefix + message.id,
            "principal": self._prefix + message.principal,
            "session": self._prefix + message.session,
            "role": message.role,
            "text": message.text,
            "time": message.time.isoformat(),
        }
        if any(not isinstance(block, Text) for block in message.blocks):
            body["blocks"] = [_block(block) for block in message.blocks]  # type: ignore[assignment]
        self._client.post("/v1/messages", body)
        self._ids[message.id] = self._users[message.principal] = None

    def record(self) -> None:
        self._kept.clear()
        self._client.post("/v1/turns/end", {"now": self.env.clock.now().isoformat()})

    def find(self, query: Query, user: str, room: int) -> Sequence[ForeignText]:
        route = f"/v1/{self._mode}"
        limit = {"budget": room} if self._mode == "context" else {"k": self._k}
        answer = self._client.post(
            route,
            {
                "question": query.text,
                "principal": self._prefix + user,
                "session": self._prefix + query.session,
                "now": query.time.isoformat(),
                **limit,
            },
        )
        most = limit.get("k", 10_000)
        return [self._own(text, route) for text in read_texts(answer, f"POST {route}", most)]

    def remove(self, user: str, ids: Sequence[str]) -> tuple[str, ...] | None:
        self._kept.clear()
        if not self._offers("delete_messages"):
            return None
        gone: list[str] = []
        for start in range(0, len(ids), MOST_IDS):
            fields = [("principal", self._prefix + user)]
            fields += [("id", self._prefix + i) for i in ids[start : start + MOST_IDS]]
            answer = self._client.delete("/v1/messages", fields)
            gone += read_names(answer, "removed", "DELETE /v1/messages")
        return tuple(name.removeprefix(self._prefix) for name in gone)

    def elapse(self, now: datetime) -> None:
        self._kept.clear()
        self._set_clock(now)

    def restart(self) -> bool:
        """Restart the server where it lets that be asked for; its state is not in this process."""
        if self._offers("restart") and self._offers("spaces"):
            self._client.post("/v1/restart", {})
        return True

    def kept(self, viewer: str | None) -> tuple[ForeignText, ...]:
        """Everything that the server keeps of this case, and a viewer may see; asked for once."""
        if viewer not in self._kept:
            whole = viewer is None and not self._prefix
            users = [None] if whole else [viewer] if viewer is not None else [*self._users]
            asked = ([] if u is None else [("principal", self._prefix + u)] for u in users)
            texts = (text for fields in asked for text in read_pages(self._client, fields))
            self._kept[viewer] = tuple(self._own(text, "/v1/memories") for text in texts)
        return self._kept[viewer]

    def shut(self) -> None:
        """Leave nothing on the server, which must be the one that was asked first."""
        try:
            now = self._identity()
            self._clear()
            if now != self.server:
                raise ServerError("GET /v1/identity: it is not the server of the case's beginning")
        finally:
            self._client.close()

    def _identity(self) -> ServerIdentity:
        seconds = min(self._client.timeout, IDENTITY_SECONDS)
        return read_identity(self._client.get("/v1/identity", timeout=seconds))

    def _clear(self) -> None:
        """Leave nothing of the case on the server, as far as it lets that be asked for."""
        if self._offers("spaces") and self._offers("reset"):
            self._client.post("/v1/reset", {})
        elif self._offers("delete_principals"):
            for user in self._users:
                self._client.delete(f"/v1/principals/{quote(self._prefix + user, safe='')}")

    def _set_clock(self, now: datetime) -> None:
        if self.virtual_time and now != self._time:
            self._client.post("/v1/clock", {"now": now.isoformat()})
            self._time = now

    def _reader(self, wanted: Read) -> Capability:
        for reader in ("context", "search") if wanted == "auto" else (wanted,):
            if self._offers(reader):
                return reader
        raise ServerError(f"{self.server.name} does not offer {wanted}")

    def _offers(self, capability: Capability) -> bool:
        return capability in self.server.capabilities

    def _own(self, text: ForeignText, route: str) -> ForeignText:
        """The text with the ids of this case."""
        sources = tuple(source.removeprefix(self._prefix) for source in text.sources)
        strange = next((s for s in sources if s not in self._ids), None)
        if strange is not None:
            raise ServerError(f"{route}: a text names {strange[:80]!r}, which nobody said")
        return replace(text, sources=sources) if self._prefix else text


def plain_name(name: str) -> str:
    """A name that a server told, on one line and without control characters."""
    return "".join(c for c in " ".join(name.split()) if c.isprintable())


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolUse):
        return {
            "type": "tool_use",
            "id": block.id,
            "name": block.name,
            "arguments": block.arguments,
        }
    return {"type": "tool_result", "id": block.id, "text": block.text, "is_error": block.is_error}
