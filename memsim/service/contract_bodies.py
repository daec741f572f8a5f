"""Request and response bodies of the memory contract, as its OpenAPI description shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field

from memsim.adapters.http_contract import (
    CAPABILITIES,
    MOST_BLOCKS,
    MOST_BUDGET,
    MOST_NAME,
    MOST_RESULTS,
    MOST_TEXT,
    VERSION,
    Capability,
    ErrorCode,
)
from memsim.service.bodies import whole_number

# A name is part of a line in a file and of an address.
NAME_PATTERN = r"^[^\x00-\x1f\x7f\u2028\u2029]+$"

ContractName = Annotated[str, Field(min_length=1, max_length=MOST_NAME, pattern=NAME_PATTERN)]
LongText = Annotated[str, Field(max_length=MOST_TEXT)]


def _text(value: object) -> object:
    """Refuse a number, which would count as seconds."""
    if not isinstance(value, str | datetime):
        raise ValueError("a time is a text")  # noqa: TRY004 - what a validator raises
    return value


Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_text),
    Field(description="ISO 8601, with a time zone", examples=["2026-01-05T09:00:00Z"]),
]
WHOLE = BeforeValidator(whole_number)


class Identity(BaseModel):
    """Who serves, and what is offered."""

    contract: Literal[1] = VERSION
    name: Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
    version: Annotated[str, Field(max_length=MOST_NAME)]
    capabilities: Annotated[list[Capability], Field(examples=[list(CAPABILITIES)])]


class PlainBlock(BaseModel):
    """Plain text."""

    type: Literal["text"]
    text: LongText


class ToolUseBlock(BaseModel):
    """An assistant's call of a tool; the arguments are JSON text."""

    type: Literal["tool_use"]
    id: ContractName
    name: ContractName
    arguments: LongText


class ToolResultBlock(BaseModel):
    """The answer of a tool to the call with the same id."""

    type: Literal["tool_result"]
    id: ContractName
    text: LongText
    is_error: Annotated[bool, Field(strict=True)] = False


MessageBlock = Annotated[PlainBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")]


class NewMessage(BaseModel):
    """A message that was said.

    `text` is the whole message as text. `blocks` repeat it in parts if tools were used.
    """

    id: ContractName
    principal: ContractName
    session: ContractName
    role: Literal["system", "user", "assistant", "tool"]
    text: LongText
    time: Moment
    blocks: Annotated[list[MessageBlock] | None, Field(max_length=MOST_BLOCKS)] = None


class TurnEnd(BaseModel):
    """The end of a turn: of one principal, or of everybody."""

    principal: ContractName | None = None
    session: ContractName | None = None
    now: Moment | None = None


class ContextQuestion(BaseModel):
    """A question for which a context is composed."""

    question: LongText
    principal: ContractName
    session: ContractName
    budget: Annotated[int, Field(strict=True, ge=0, le=MOST_BUDGET), WHOLE]
    now: Moment | None = None


class SearchQuestion(BaseModel):
    """A question for which texts are found."""

    question: LongText
    principal: ContractName
    session: ContractName | None = None
    k: Annotated[int, Field(strict=True, ge=1, le=MOST_RESULTS), WHOLE] = 10
    now: Moment | None = None


class RecalledText(BaseModel):
    """A text that the memory found.

    `sources` are the ids of the messages that it came from, if the memory knows them.
    """

    text: str
    sources: list[str] = []
    score: float | None = None
    time: datetime | None = None


class TextsReply(BaseModel):
    """Texts for a question: a context in reading order, a search with the best first."""

    texts: list[RecalledText]


class RemovedReply(BaseModel):
    """The ids of the messages that were erased."""

    removed: list[str]


class KeptText(BaseModel):
    """A text that the memory holds, and where: `tier` is a word of the memory's own."""

    text: str
    tier: str = ""
    principal: str | None = None
    sources: list[str] = []
    time: datetime | None = None


class KeptPage(BaseModel):
    """One page of everything that is kept; `next` is the cursor of the following page."""

    memories: list[KeptText]
    next: str | None = None


class ClockTime(BaseModel):
    """The present, from now on."""

    now: Moment


class Acknowledgement(BaseModel):
    """Nothing more to say."""


class ContractError(BaseModel):
    """What is wrong with a request, or what failed."""

    code: ErrorCode
    message: str


class ErrorReply(BaseModel):
    """The body of every response that is no success."""

    error: ContractError
