"""One event loop in a thread, on which all coroutines of a foreign memory run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from contextlib import suppress
from threading import Thread
from typing import Any

from memsim.errors import StrategyError

_LAST_SECONDS = 1.0
"""Seconds that cancelled coroutines get to end."""


class OwnLoop:
    """Waits for coroutines; the thread begins with the first of them.

    Args:
        timeout: seconds that one may take.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def wait(self, result: object) -> Any:  # noqa: ANN401 - whatever an adapter returns
        """The result itself, or of a coroutine what it returns.

        Raises:
            StrategyError: it took longer than the timeout.
        """
        if not inspect.iscoroutine(result):
            return result
        task = asyncio.run_coroutine_threadsafe(_plain(result), self._running())
        try:
            return task.result(self._timeout)
        except TimeoutError:
            if task.done():
                raise  # the memory's own
            task.cancel()
            raise StrategyError(f"no answer within {self._timeout:g} s") from None

    def close(self) -> None:
        """Stop the loop and its thread."""
        if self._loop is None or self._thread is None:
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_end_tasks(), self._loop).result(_LAST_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return self._loop


async def _end_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _plain(result: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - as `wait`
    return await result
