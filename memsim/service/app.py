"""The memory service as a FastAPI application: AEGIS's endpoints over three layers of memory."""

from __future__ import annotations

import math
import threading
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Path, Request
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from memsim.errors import StoreError
from memsim.models import Embedder
from memsim.service.allowed_methods import allowed_methods
from memsim.service.bodies import (
    NO_NUL,
    CheckReply,
    DeleteReply,
    EpisodeMatch,
    EpisodeRecord,
    EvictReply,
    FieldNames,
    ItemKey,
    ItemMark,
    MarkReply,
    NewEpisode,
    Refusal,
    Search,
    StoreReply,
    WorkingData,
    WriteReply,
)
from memsim.systems.aegis.episodes import NAME_LENGTH, AegisEpisode, EpisodeHit, Episodes
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory, TooLargeError

Conversation = Annotated[str, Path(min_length=1, max_length=NAME_LENGTH, pattern=NO_NUL)]

TOO_LARGE: dict[int | str, dict[str, Any]] = {
    413: {"model": Refusal, "description": "Larger than it may be"}
}
FAILED: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "What was sent cannot be kept, or cannot be read"},
    503: {"model": Refusal, "description": "A server behind the service failed"},
}


@dataclass(slots=True, kw_only=True)
class Layers:
    """The layers of memory that the service serves."""

    working: AegisWorkingMemory
    ledger: AegisLedger
    episodes: Episodes
    embedder: Embedder
    now: Callable[[], datetime]
    turn: threading.Lock = field(default_factory=threading.Lock)


def create_app(layers: Layers) -> FastAPI:
    """The application, for any ASGI server."""
    app = FastAPI(
        title="memsim memory service",
        description="Working memory, episodes and injection ledger, as AEGIS documents them.",
        version="1",
        responses=FAILED,
    )
    app.include_router(_working(layers.working))
    app.include_router(_episodic(layers))
    app.include_router(_ledger(layers.ledger))
    app.add_exception_handler(405, _not_allowed)
    app.add_exception_handler(TooLargeError, _refusing(413))
    app.add_exception_handler(StoreError, _refusing(503))
    app.add_exception_handler(ValueError, _refusing(400))
    app.add_exception_handler(RecursionError, _too_deep)
    return app


def _working(working: AegisWorkingMemory) -> APIRouter:
    router = APIRouter(prefix="/working-memory", tags=["working memory"])

    @router.get("/{conversation_id}")
    def get(conversation_id: Conversation) -> dict[str, JsonValue]:
        """Return every field, and keep them for another day."""
        return dict(working.get(conversation_id))

    @router.put("/{conversation_id}", responses=TOO_LARGE)
    def put(conversation_id: Conversation, body: WorkingData) -> WriteReply:
        """Add or replace fields. With status 413 the fields are written, too."""
        working.set(conversation_id, body.data, body.ttl_seconds)
        return WriteReply(conversation_id=conversation_id, fields=sorted(body.data))

    @router.delete("/{conversation_id}")
    def delete(
        conversation_id: Conversation, body: Annotated[FieldNames | None, Body()] = None
    ) -> DeleteReply:
        """Delete the named fields, or all fields if none is named."""
        gone = working.delete(conversation_id, None if body is None else body.fields)
        return DeleteReply(conversation_id=conversation_id, deleted=gone)

    return router


def _episodic(layers: Layers) -> APIRouter:
    router = APIRouter(prefix="/episodic", tags=["episodic memory"])

    @router.post("/store")
    def store(body: NewEpisode) -> StoreReply:
        """Store the summary of a conversation with its vector."""
        made = uuid.uuid4()
        episode = AegisEpisode(id=str(made), created_at=layers.now(), **body.model_dump())
        with layers.turn:
            layers.episodes.store(episode, layers.embedder.embed([body.summary])[0])
        return StoreReply(id=made)

    @router.post("/search")
    def search(body: Search) -> list[EpisodeMatch]:
        """Search the episodes of an agent, most similar first; of all users if no user is named."""
        with layers.turn:
            query = layers.embedder.embed([body.query])[0]
            found = layers.episodes.search(
                query, body.agent_id, user_id=body.user_id, limit=body.top_k
            )
        return [_match(f) for f in found]

    @router.get("/{conversation_id}")
    def of(conversation_id: Conversation) -> list[EpisodeRecord]:
        """Return the stored episodes of a conversation."""
        with layers.turn:
            return [EpisodeRecord(**_fields(e)) for e in layers.episodes.of(conversation_id)]

    return router


def _ledger(ledger: AegisLedger) -> APIRouter:
    router = APIRouter(prefix="/ledger", tags=["injection ledger"])

    @router.get("/{conversation_id}")
    def get(conversation_id: Conversation) -> dict[str, str]:
        """Return every injected item with its mark."""
        return ledger.get_all(conversation_id)

    @router.post("/{conversation_id}/check")
    def check(conversation_id: Conversation, body: ItemKey) -> CheckReply:
        """Return whether an item was injected."""
        injected = ledger.has(conversation_id, body.item_key)
        return CheckReply(item_key=body.item_key, injected=injected)

    @router.post("/{conversation_id}/mark")
    def mark(conversation_id: Conversation, body: ItemMark) -> MarkReply:
        """Mark an item as injected."""
        new = ledger.mark(conversation_id, body.item_key, body.value)
        return MarkReply(item_key=body.item_key, value=body.value, new=new)

    @router.post("/{conversation_id}/evict")
    def evict(conversation_id: Conversation, body: ItemKey) -> EvictReply:
        """Allow an item to be injected again."""
        evicted = ledger.evict(conversation_id, body.item_key)
        return EvictReply(item_key=body.item_key, evicted=evicted)

    return router


def _not_allowed(request: Request, _error: Exception) -> JSONResponse:
    headers = {"Allow": allowed_methods(request)}
    return JSONResponse({"detail": "Method Not Allowed"}, 405, headers=headers)


def _too_deep(_request: Request, _error: Exception) -> JSONResponse:
    # An answer that says what is wrong with a body repeats the body.
    return JSONResponse({"detail": "the body is nested too deeply"}, status_code=400)


def _refusing(status: int) -> Callable[[Request, Exception], JSONResponse]:
    def refuse(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=status)

    return refuse


def _match(found: EpisodeHit) -> EpisodeMatch:
    similarity = found.similarity
    if similarity is not None and math.isnan(similarity):
        similarity = None
    return EpisodeMatch(**_fields(found.episode), similarity=similarity)


def _fields(episode: AegisEpisode) -> dict[str, Any]:
    return asdict(episode) | {"id": uuid.UUID(episode.id)}
