"""Refuse requests that are larger or deeper than the contract allows, before they are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.adapters.http_contract import DEEPEST, MOST_BODY, STATUSES
from memsim.adapters.json_depth import nested_deeper

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TOO_LARGE = (
    b'{"error":{"code":"too_large","message":"the body has more than %d bytes"}}' % MOST_BODY
)
_TOO_DEEP = (
    b'{"error":{"code":"too_large","message":"the body is nested deeper than %d"}}' % DEEPEST
)


class BodyLimit:
    """Reads the body of a request, up to the limit, and hands it on whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            part = await receive()
            if part["type"] == "http.disconnect":
                return
            body += part.get("body", b"")
            more = part.get("more_body", False)
            if len(body) > MOST_BODY:
                await _refuse(send, _TOO_LARGE)
                return
        if nested_deeper(body, DEEPEST):
            await _refuse(send, _TOO_DEEP)
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, again, send)


async def _refuse(send: Send, why: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    status = STATUSES["too_large"]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why})
