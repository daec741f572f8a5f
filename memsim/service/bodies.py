"""What the memory service is sent and what it answers, as its OpenAPI description tells it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from memsim.systems.aegis.episodes import NAME_LENGTH, TOP
from memsim.systems.aegis.working_memory import DEFAULT_MARK, TTL_SECONDS

MOST_RESULTS = 100
LONGEST_TTL = 366 * TTL_SECONDS

NO_NUL = r"^[^\x00]*$"
"""PostgreSQL keeps every character but one."""

Words = Annotated[str, Field(pattern=NO_NUL)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH, pattern=NO_NUL)]
Item = Annotated[str, Field(min_length=1, examples=["skill:spacing-calculation"])]


def _whole(value: object) -> object:
    """A number such as 3.0, which JSON does not tell from 3, as the integer that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Seconds = Annotated[int, Field(ge=1, le=LONGEST_TTL), BeforeValidator(_whole)]
Count = Annotated[int, Field(ge=1, le=MOST_RESULTS), BeforeValidator(_whole)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True)


class WorkingData(_Body):
    """Fields to write beside those that are there."""

    data: dict[str, JsonValue]
    ttl_seconds: Seconds | None = None


class FieldNames(_Body):
    """Fields to take out; all of them where the list is missing."""

    fields: list[str] | None = None


class WriteReply(_Body):
    """The fields that were written."""

    conversation_id: str
    fields: list[str]


class DeleteReply(_Body):
    """How many fields were taken out."""

    conversation_id: str
    deleted: int


class Entity(_Body):
    """What a conversation spoke of."""

    type: Words
    id: Words
    name: Words


class NewEpisode(_Body):
    """What a conversation came to."""

    agent_id: Name
    conversation_id: Name
    summary: Words
    user_id: Name | None = None
    key_decisions: list[Words] | None = None
    entities_mentioned: list[Entity] | None = None
    tools_called: list[Words] | None = None


class StoreReply(_Body):
    """The row that was made."""

    id: UUID


class Search(_Body):
    """What to look for, and in whose memory."""

    query: Words
    agent_id: Name
    user_id: Name | None = None
    top_k: Count = TOP


class EpisodeMatch(_Body):
    """An episode with its similarity, 1 minus the cosine distance; null where it has none."""

    id: UUID
    summary: str
    key_decisions: Any = None
    entities_mentioned: Any = None
    similarity: float | None = None


class EpisodeRecord(_Body):
    """An episode as it was stored."""

    id: UUID
    agent_id: str
    user_id: str | None
    conversation_id: str
    summary: str
    key_decisions: Any = None
    entities_mentioned: Any = None
    tools_called: Any = None
    created_at: datetime


class ItemKey(_Body):
    """An item of the ledger."""

    item_key: Item


class ItemMark(ItemKey):
    """An item of the ledger, and how to mark it."""

    value: str = DEFAULT_MARK


class CheckReply(_Body):
    """Whether an item has been injected."""

    item_key: str
    injected: bool


class MarkReply(_Body):
    """How an item is marked, and whether it was not before."""

    item_key: str
    value: str
    new: bool


class EvictReply(_Body):
    """Whether an item was marked."""

    item_key: str
    evicted: bool


class Refusal(_Body):
    """Why a request was refused."""

    detail: str


"""Answers that are no success have one text; FastAPI's own 422 has a list of faults."""
