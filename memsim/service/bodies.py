"""Request and response bodies of the memory service, as its OpenAPI description shows them."""

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
"""PostgreSQL stores every character except NUL."""

Words = Annotated[str, Field(pattern=NO_NUL)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH, pattern=NO_NUL)]
Item = Annotated[str, Field(min_length=1, examples=["skill:spacing-calculation"])]


def whole_number(value: object) -> object:
    """Convert a float such as 3.0 to an integer, because JSON does not distinguish them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Seconds = Annotated[int, Field(ge=1, le=LONGEST_TTL), BeforeValidator(whole_number)]
Count = Annotated[int, Field(ge=1, le=MOST_RESULTS), BeforeValidator(whole_number)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True)


class WorkingData(_Body):
    """Fields to add or replace."""

    data: dict[str, JsonValue]
    ttl_seconds: Seconds | None = None


class FieldNames(_Body):
    """Fields to delete; all of them if the list is missing."""

    fields: list[str] | None = None


class WriteReply(_Body):
    """The fields that were written."""

    conversation_id: str
    fields: list[str]


class DeleteReply(_Body):
    """The number of deleted fields."""

    conversation_id: str
    deleted: int


class Entity(_Body):
    """Something that a conversation mentioned."""

    type: Words
    id: Words
    name: Words


class NewEpisode(_Body):
    """The summary of a conversation."""

    agent_id: Name
    conversation_id: Name
    summary: Words
    user_id: Name | None = None
    key_decisions: list[Words] | None = None
    entities_mentioned: list[Entity] | None = None
    tools_called: list[Words] | None = None


class StoreReply(_Body):
    """The new row."""

    id: UUID


class Search(_Body):
    """A query, and the agent and user whose episodes are searched."""

    query: Words
    agent_id: Name
    user_id: Name | None = None
    top_k: Count = TOP


class EpisodeMatch(_Body):
    """An episode with its similarity, which is 1 minus the cosine distance; null if undefined."""

    id: UUID
    summary: str
    key_decisions: Any = None
    entities_mentioned: Any = None
    similarity: float | None = None


class EpisodeRecord(_Body):
    """A stored episode."""

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
    """An item of the ledger, and its mark."""

    value: str = DEFAULT_MARK


class CheckReply(_Body):
    """Whether an item was injected."""

    item_key: str
    injected: bool


class MarkReply(_Body):
    """The mark of an item, and whether it is new."""

    item_key: str
    value: str
    new: bool


class EvictReply(_Body):
    """Whether an item was marked before it was evicted."""

    item_key: str
    evicted: bool


class Refusal(_Body):
    """Why a request was refused."""

    detail: str


"""The body of every error except 422, for which FastAPI sends a list."""
