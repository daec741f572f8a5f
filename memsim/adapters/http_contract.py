"""The HTTP contract of a memory, version 1: its routes, capabilities, limits and error codes.

Client, server, conformance kit and the page `docs/contract.md` all take these from here.
"""

from __future__ import annotations

from typing import Literal, get_args

VERSION: Literal[1] = 1

SPACE = "Memsim-Space"
"""The header that names one of several memories that have nothing in common."""

Capability = Literal[
    "context",
    "search",
    "sources",
    "shared_sessions",
    "delete_messages",
    "delete_principals",
    "memories",
    "clock",
    "reset",
    "restart",
    "spaces",
]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
"""What a server may offer beside identity, messages and turns; it offers a way to read at least."""

MEANINGS: dict[Capability, str] = {
    "context": "composes what a model is sent, within a budget of tokens",
    "search": "finds texts for a question",
    "sources": "names the ids of the messages that each text came from",
    "shared_sessions": "whoever takes part in a session finds what was said in it",
    "delete_messages": "erases messages by their ids, and what was derived from them",
    "delete_principals": "erases everything of a principal",
    "memories": "lists everything that is kept",
    "clock": "takes its time from the caller, so that virtual time can pass",
    "reset": "empties the memory",
    "restart": "drops what is held in RAM and reads its storage again",
    "spaces": "keeps memories apart by the header Memsim-Space",
}

READERS: tuple[Capability, ...] = ("context", "search")
"""A server offers one of these, or both."""

MOST_NAME = 256
"""Characters of an id, a principal or a session."""

MOST_TEXT = 262_144
"""Characters of the text of a message or a question."""

MOST_BODY = 2 * 2**20
"""Bytes of a request; a server refuses a larger one with 413."""

MOST_REPLY = 8 * 2**20
"""Bytes of a response; a client treats a larger one as a failure."""

MOST_BLOCKS = 256
MOST_RESULTS = 100
MOST_BUDGET = 1_000_000
MOST_IDS = 100
MOST_PAGE = 1000
"""Memories on one page of a list."""

DEEPEST = 32
"""Nesting of lists and objects in a request or response."""

SPACE_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"

IDENTITY_SECONDS = 5.0
REPLY_SECONDS = 30.0
"""Seconds until a client gives up on one request; nothing is retried."""

ErrorCode = Literal[
    "invalid", "not_offered", "not_found", "method", "conflict", "too_large", "failed"
]

STATUSES: dict[ErrorCode, int] = {
    "invalid": 400,
    "not_found": 404,
    "method": 405,
    "conflict": 409,
    "too_large": 413,
    "failed": 500,
    "not_offered": 501,
}
"""The HTTP status of each error code."""
