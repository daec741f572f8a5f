"""A library under test: it runs in an environment of its own, and memsim asks it over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

from memsim.adapters.http_client import Body, ContractClient
from memsim.adapters.http_memory import HttpMemory
from memsim.adapters.library_process import LibraryProcess, find_python
from memsim.adapters.model_endpoint import ModelEndpoint
from memsim.message import Message
from memsim.strategy import Environment

IN_RAM = "keeps nothing in files: a restart is not measured"
"""The note on a library that a restart would empty."""


class LibraryMemory(HttpMemory):
    """Starts a library as a server, and lends it the model and embedder of the run.

    Attributes:
        library: the name of its environment.
        program: the name of its program in `memsim/adapters/libraries`.
        requirements: what its environment holds, as pip is told.
        durable: whether it keeps what it is told in files, so that it can restart.
    """

    library: ClassVar[str]
    program: ClassVar[str]
    requirements: ClassVar[str]
    durable: ClassVar[bool] = True

    def __init__(
        self,
        env: Environment,
        *,
        k: int,
        window: int,
        timeout: float,
        options: dict[str, object] | None = None,
    ) -> None:
        python = find_python(self.library, self.requirements)
        folder = env.folder()
        self._latest: list[Message] = []
        self._ended = False
        self._endpoint = ModelEndpoint(
            env, latest=lambda: self._latest, said=self._everything, shape=self.facts_as_json
        )
        try:
            given = {"k": k, **(options or {}), "models": self._endpoint.url}
            self._process = LibraryProcess(python, self.program, given, folder)
        except BaseException:
            self._endpoint.close()
            raise
        try:
            super().__init__(
                env, url=self._process.url, read="search", k=k, window=window, timeout=timeout
            )
        except BaseException:
            self._release()
            raise
        self._client = _LendingClient(self._client, self._endpoint)
        lost = () if self.durable else (IN_RAM,)
        self.notes = (f"{self.server.name} {self.server.version}", *lost)

    def facts_as_json(self, lines: Sequence[str]) -> Any:  # noqa: ANN401 - JSON of any kind
        """What the library expects of a model that extracts facts."""
        return {"facts": [*lines]}

    def add(self, message: Message) -> None:
        if self._ended:
            self._latest, self._ended = [], False
        self._latest.append(message)
        super().add(message)

    def record(self) -> None:
        super().record()
        self._ended = True

    def restart(self) -> bool:
        """Restart the library, unless it keeps nothing in files."""
        if self.durable:
            self._process.restart()
        return True

    def shut(self) -> None:
        try:
            with suppress(OSError):
                super().shut()
        finally:
            self._release()

    def _everything(self) -> list[Message]:
        return [*({m.id: m for m in (*self._said.values(), *self._latest)}).values()]

    def _release(self) -> None:
        self._process.close()
        self._endpoint.close()


class _LendingClient(ContractClient):
    """Asks as another client does, and lets models be used meanwhile."""

    def __init__(self, client: ContractClient, endpoint: ModelEndpoint) -> None:
        self.host, self.timeout = client.host, client.timeout
        self._real, self._endpoint = client, endpoint

    def call(
        self, method: str, path: str, body: Body | None = None, *, timeout: float | None = None
    ) -> Any:  # noqa: ANN401 - as the real one
        with self._endpoint.answering():
            return self._real.call(method, path, body, timeout=timeout)

    def close(self) -> None:
        self._real.close()
