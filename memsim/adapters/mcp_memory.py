"""A black box behind the Model Context Protocol, as a mapping file describes it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from uuid import uuid4

from memsim.adapters.black_box import BlackBox
from memsim.adapters.credit import ForeignText
from memsim.adapters.environments import find_environment
from memsim.adapters.listed_memory import listed
from memsim.adapters.mcp_mapping import FindMapping, McpMapping, ToolMapping, find_mapping
from memsim.adapters.mcp_messages import FailedToolError, McpError
from memsim.adapters.mcp_server import McpServer
from memsim.adapters.model_endpoint import ModelEndpoint
from memsim.message import Message
from memsim.strategy import Environment, Query

Ask = Literal["auto", "whole", "words", "all"]

_ONE = ""
"""The key of the only server, where principals have none of their own."""

_WORD = re.compile(r"\w(?:[\w'\u2019-]*\w)?")


class McpMemory(BlackBox):
    """Asks an MCP server.

    A server that memsim starts belongs to one case, and to one principal where the mapping says
    so. It is started when it is first needed.
    """

    def __init__(
        self,
        env: Environment,
        *,
        preset: str,
        mapping: str,
        ask: Ask,
        k: int,
        window: int,
        timeout: float,
    ) -> None:
        super().__init__(env, window=window, timeout=timeout)
        if k < 1:
            raise ValueError(f"k is {k}: at least 1")
        if not 0 < timeout <= 3600:
            raise ValueError(f"timeout is {timeout}: more than 0 seconds, at most 3600")
        self._k, self._timeout = k, timeout
        self._mapping: McpMapping = find_mapping(preset, mapping)
        self._ask = self._mapping.find.ask if ask == "auto" else ask
        if self._ask == "all" and self._mapping.list is None:
            raise ValueError("ask is 'all', and the mapping has no list")
        self._given = {"environment": "", "models": ""}
        if self._mapping.environment:
            self._given["environment"] = str(
                find_environment(self._mapping.environment, self._mapping.install)
            )
        self.virtual_time = self._mapping.virtual_time
        self.per_user = self._mapping.principals != "shared"
        self.ranks = self._mapping.find.ranked and self._ask == "whole"
        self._prefix = f"{uuid4().hex[:12]}-" if self._mapping.url else ""
        if self._mapping.url:
            self.hosts = (urlsplit(self._mapping.url).hostname or "",)  # type: ignore[misc]  # of this mapping
        self._servers: dict[str, McpServer] = {}
        self._endpoint: ModelEndpoint | None = None
        self._keys: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._by_text: dict[tuple[str, str], str] = {}
        self._kept: dict[str | None, tuple[ForeignText, ...]] = {}
        if self._mapping.list is not None:
            self.__class__ = listed(type(self))  # type: ignore[assignment]

    def add(self, message: Message) -> None:
        self._kept.clear()
        if not message.text.strip():
            return
        given = {
            "text": message.text,
            "id": self._prefix + message.id,
            "principal": self._prefix + message.principal,
            "session": self._prefix + message.session,
            "role": message.role,
            "time": message.time.isoformat(),
        }
        server, key = self._server(message.principal), self._prefix + message.id
        text = self._slot(message.principal), message.text
        try:
            told = server.call(self._mapping.add, given)
            key = next((t.sources[0] for t in told if t.sources), key)
        except FailedToolError as error:
            already = self._mapping.add.already
            if not already or already not in str(error) or text not in self._by_text:
                raise
            key = self._by_text[text]
        self._keys[message.id] = key
        self._by_text.setdefault(text, key)
        self._ids.setdefault(key, message.id)

    def find(self, query: Query, user: str, room: int) -> Sequence[ForeignText]:
        server = self._servers.get(self._slot(user))
        if server is None:
            return ()  # nobody said anything to it
        if self._ask == "all":
            return tuple(self._listed(user))
        given = {
            "question": query.text,
            "principal": self._prefix + user,
            "session": self._prefix + query.session,
            "time": query.time.isoformat(),
            "k": self._k,
        }
        tool = self._mapping.find
        if self._ask == "words":
            return self._by_words(server, tool, given)
        found = server.call(tool, given)
        self._check_count(found, tool)
        return [self._own(text) for text in found[: self._k]]

    def remove(self, user: str, ids: Sequence[str]) -> tuple[str, ...] | None:
        self._kept.clear()
        tool = self._mapping.delete
        if tool is None:
            return None
        server = self._servers.get(self._slot(user))
        known = {each: self._keys[each] for each in ids if each in self._keys}
        if server is None or not known:
            return ()
        principal = {"principal": self._prefix + user}
        if "{ids}" in str(tool.arguments):
            server.call(tool, {"ids": [*known.values()], **principal})
        else:
            for key in dict.fromkeys(known.values()):
                server.call(tool, {"id": key, **principal})
        gone = {*known.values()}
        self._keys = {i: key for i, key in self._keys.items() if i not in known}
        self._ids = {key: i for key, i in self._ids.items() if key not in gone}
        self._by_text = {t: key for t, key in self._by_text.items() if key not in gone}
        return tuple(known)

    def restart(self) -> bool:
        """Restart what memsim started; the state of another server is not in this process."""
        self._kept.clear()
        for server in self._servers.values() if self._mapping.command else ():
            server.restart()
        return True

    def kept(self, viewer: str | None) -> tuple[ForeignText, ...]:
        """Everything that the servers keep, and a viewer may see; asked for once."""
        if viewer not in self._kept:
            self._kept[viewer] = tuple(self._listed(viewer))
        return self._kept[viewer]

    def shut(self) -> None:
        servers, self._servers = [*self._servers.values()], {}
        try:
            for server in servers:
                server.close()
        finally:
            if self._endpoint is not None:
                self._endpoint.close()

    def _slot(self, user: str) -> str:
        return user if self._mapping.principals == "server" else _ONE

    def _server(self, user: str) -> McpServer:
        place = self._slot(user)
        if place not in self._servers:
            folder = Path()
            if self._mapping.command:
                folder = self.env.folder() / f"server-{len(self._servers)}"
                folder.mkdir(exist_ok=True)
            around = self._lent_models()
            self._servers[place] = McpServer(
                self._mapping, folder, self._given, self._timeout, around
            )
            self.notes = (self._description(self._servers[place]),)
        return self._servers[place]

    def _lent_models(self) -> Callable[[], AbstractContextManager[object]]:
        """What lends a server the model and embedder of the run, if its mapping wants them."""
        if "{models}" not in str(self._mapping.env):
            return nullcontext
        if self._endpoint is None:
            self._endpoint = ModelEndpoint(
                self.env, latest=tuple, said=lambda: tuple(self._said.values()), shape=list
            )
            self._given["models"] = self._endpoint.url
        return self._endpoint.answering

    def _description(self, server: McpServer) -> str:
        name, version, protocol = server.identity
        ways = {"words": ", asked word by word", "all": ", of which everything is read"}
        return f"{name} {version} over MCP {protocol}{ways.get(self._ask, '')}"

    def _by_words(
        self, server: McpServer, tool: FindMapping, given: dict[str, object]
    ) -> list[ForeignText]:
        """What is found by single words; a word that finds less weighs more."""
        end = time.monotonic() + self._timeout
        weights: dict[ForeignText, float] = {}
        for word in dict.fromkeys(_WORD.findall(str(given["question"]).casefold())):
            if len(word) > 1:
                found = server.call(tool, given | {"question": word}, end)
                self._check_count(found, tool)
                for text in found:
                    weights[text] = weights.get(text, 0.0) + 1 / len(found)
        best = sorted(weights, key=lambda text: -weights[text])[: self._k]
        return [self._own(text) for text in best]

    def _check_count(self, found: Sequence[ForeignText], tool: FindMapping) -> None:
        if len(found) > self._k and "{k}" in str(tool.arguments):
            said = f"{len(found):,} texts, and {self._k:,} were asked for"
            raise McpError(f"{self._mapping.name}: {tool.tool}: {said}")

    def _listed(self, viewer: str | None) -> Iterator[ForeignText]:
        tool = self._mapping.list
        users = [*dict.fromkeys(m.principal for m in self._said.values())]
        wanted = users if viewer is None else [viewer]
        if tool is None:
            return
        names_users = "{principal}" in str(tool.arguments)
        asked = dict.fromkeys((self._slot(user), user if names_users else "") for user in wanted)
        for place, user in asked:
            server = self._servers.get(place)
            found = self._pages(server, tool, self._prefix + user) if server else ()
            for text in map(self._own, found):
                if self._may_see(text, viewer, names_users=names_users):
                    yield text

    def _pages(self, server: McpServer, tool: ToolMapping, user: str) -> Iterable[ForeignText]:
        """What a tool lists; from the first page to one with nothing new, if it takes a page."""
        end, listed = time.monotonic() + self._timeout, dict[ForeignText, None]()
        for page in count(1):
            found = server.call(tool, {"principal": user, "page": page}, end)
            if "{page}" not in str(tool.arguments):
                return found
            before = len(listed)
            listed |= dict.fromkeys(found)
            if len(listed) == before:
                break
        return listed

    def _may_see(self, text: ForeignText, viewer: str | None, *, names_users: bool) -> bool:
        if self._mapping.principals != "argument" or names_users:
            return True
        said = [self._said[s] for s in text.sources if s in self._said]
        if viewer is None:
            return bool(said) or not self._prefix  # others may use the same server
        return any(message.principal == viewer for message in said)

    def _own(self, text: ForeignText) -> ForeignText:
        """The text with ids of messages in the place of the server's."""
        sources = tuple(self._ids[s] for s in text.sources if s in self._ids)
        return replace(text, sources=sources, time=text.time if self.virtual_time else None)
