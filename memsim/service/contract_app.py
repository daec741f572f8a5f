"""The memory contract as a FastAPI application: `memsim serve --contract`, the reference."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from memsim.adapters.http_contract import (
    CAPABILITIES,
    MOST_IDS,
    MOST_NAME,
    MOST_PAGE,
    SPACE,
    SPACE_PATTERN,
    STATUSES,
    ErrorCode,
)
from memsim.context import Context
from memsim.errors import BudgetUnsatisfiable, MemsimError
from memsim.memory.memory import MemoryText
from memsim.memory.vault import SearchHit
from memsim.message import Block, Message, Text, ToolResult, ToolUse
from memsim.service.allowed_methods import allowed_methods
from memsim.service.body_limit import BodyLimit
from memsim.service.contract_bodies import (
    NAME_PATTERN,
    Acknowledgement,
    ClockTime,
    ContextQuestion,
    ContractName,
    ErrorReply,
    Identity,
    KeptPage,
    KeptText,
    NewMessage,
    PlainBlock,
    RecalledText,
    RemovedReply,
    SearchQuestion,
    TextsReply,
    ToolUseBlock,
    TurnEnd,
)
from memsim.service.contract_memory import IdConflictError, MemorySpace, MemorySpaces

SHARED_SPACE = "shared"
"""The space of a request without the header."""

_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": code}
    for code, status in STATUSES.items()
    if code not in {"not_found", "method"}
}
_ERRORS |= {422: {"model": ErrorReply, "description": "never sent: a wrong request gets 400"}}


_ROUTES = APIRouter()


def create_contract_app(spaces: MemorySpaces, version: str) -> FastAPI:
    """The application, for any ASGI server; it closes the spaces when the server ends."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        spaces.close()

    app = FastAPI(
        title="Agent memory",
        description="The HTTP contract of a memory under test. docs/contract.md explains it.",
        version="1",
        responses=_ERRORS,
        lifespan=lifespan,
    )
    app.state.spaces, app.state.version = spaces, version
    app.include_router(_ROUTES)
    _add_errors(app)
    app.add_middleware(BodyLimit)
    return app


async def _space(
    request: Request,
    name: Annotated[str, Header(alias=SPACE, pattern=SPACE_PATTERN)] = SHARED_SPACE,
) -> MemorySpace:
    # A saved memory belongs to one thread: routes are coroutines, and none of them waits.
    spaces: MemorySpaces = request.app.state.spaces
    return spaces.of(name)


Space = Annotated[MemorySpace, Depends(_space)]


@_ROUTES.get("/v1/identity")
async def identity(request: Request) -> Identity:
    """Who serves, and what is offered."""
    version = request.app.state.version
    return Identity(name="memsim", version=version, capabilities=list(CAPABILITIES))


@_ROUTES.post("/v1/messages")
async def add_message(body: NewMessage, of: Space) -> Acknowledgement:
    """Take in a message. The same message under the same id changes nothing."""
    of.add(_message(body))
    return Acknowledgement()


@_ROUTES.post("/v1/turns/end")
async def end_turn(body: TurnEnd, of: Space) -> Acknowledgement:
    """End a turn: a memory may record, extract and summarise now."""
    with of.at(body.now) as memory:
        memory.end_turn(body.principal)
    return Acknowledgement()


@_ROUTES.post("/v1/context")
async def context(body: ContextQuestion, of: Space) -> TextsReply:
    """Compose what a model is sent along with a question; changes nothing."""
    with of.at(body.now) as memory:
        try:
            made = memory.context(
                body.question,
                principal=body.principal,
                session=body.session,
                budget=body.budget,
            )
        except BudgetUnsatisfiable:
            return TextsReply(texts=[])
    return TextsReply(texts=list(_texts(made)))


@_ROUTES.post("/v1/search")
async def search(body: SearchQuestion, of: Space) -> TextsReply:
    """Find texts for a question, best first; changes nothing."""
    with of.at(body.now):
        hits = of.search(body.question, body.principal, body.k)
    return TextsReply(texts=[_hit(hit) for hit in hits])


@_ROUTES.get("/v1/memories")
async def memories(
    of: Space,
    principal: ContractName | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST_PAGE)] = MOST_PAGE,
    cursor: Annotated[str, Query(pattern=r"^[0-9]{0,9}$")] = "",
) -> KeptPage:
    """List everything that is kept, or what a principal may see of it."""
    start = int(cursor or 0)
    found = [*islice(of.memory.surfaces(principal), start, start + limit + 1)]
    more = str(start + limit) if len(found) > limit else None
    return KeptPage(memories=[_kept(each) for each in found[:limit]], next=more)


@_ROUTES.delete("/v1/messages")
async def delete_messages(
    principal: Annotated[ContractName, Query()],
    id: Annotated[list[ContractName], Query(min_length=1, max_length=MOST_IDS)],  # noqa: A002
    of: Space,
) -> RemovedReply:
    """Erase messages of a principal, and everything that was derived from them."""
    return RemovedReply(removed=list(of.forget(principal, id)))


@_ROUTES.delete("/v1/principals/{principal:path}")
async def delete_principal(
    principal: Annotated[str, Path(min_length=1, max_length=MOST_NAME, pattern=NAME_PATTERN)],
    of: Space,
) -> RemovedReply:
    """Erase everything of a principal."""
    return RemovedReply(removed=list(of.forget_principal(principal)))


@_ROUTES.post("/v1/clock")
async def set_clock(body: ClockTime, of: Space) -> Acknowledgement:
    """Set the present; what is due expires."""
    of.pass_time(body.now)
    return Acknowledgement()


@_ROUTES.post("/v1/reset")
async def reset(of: Space) -> Acknowledgement:
    """Empty the memory."""
    of.reset()
    return Acknowledgement()


@_ROUTES.post("/v1/restart")
async def restart(of: Space) -> Acknowledgement:
    """Drop what is held in RAM, and read the storage again."""
    of.restart()
    return Acknowledgement()


# What a request says, in memsim's words, and the other way round.


def _message(body: NewMessage) -> Message:
    return Message(
        id=body.id,
        role=body.role,
        blocks=tuple(map(_block, body.blocks or ())) or (Text(body.text),),
        principal=body.principal,
        session=body.session,
        time=body.time,
    )


def _block(block: PlainBlock | ToolUseBlock | Any) -> Block:  # noqa: ANN401 - one of three
    if isinstance(block, PlainBlock):
        return Text(block.text)
    if isinstance(block, ToolUseBlock):
        return ToolUse(id=block.id, name=block.name, arguments=block.arguments)
    return ToolResult(id=block.id, text=block.text, is_error=block.is_error)


def _texts(context: Context) -> Iterator[RecalledText]:
    for section in context.sections:
        for message in section.messages:
            sources = dict.fromkeys((*message.verbatim, *message.derived_from))
            time = None if message.composed else message.time
            yield RecalledText(text=message.text, sources=list(sources), time=time)


def _hit(hit: SearchHit) -> RecalledText:
    entry = hit.entry
    return RecalledText(
        text=hit.text, sources=list(entry.sources), score=hit.score, time=entry.created
    )


def _kept(text: MemoryText) -> KeptText:
    return KeptText(text=text.text, tier=text.tier, sources=list(text.sources))


# What went wrong.


def _add_errors(app: FastAPI) -> None:
    def refusing(code: ErrorCode) -> Callable[[Request, Exception], JSONResponse]:
        return lambda _request, error: error_reply(code, str(error))

    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(IdConflictError, refusing("conflict"))
    app.add_exception_handler(ValueError, refusing("invalid"))
    app.add_exception_handler(RecursionError, refusing("invalid"))
    app.add_exception_handler(MemsimError, refusing("failed"))


def error_reply(code: ErrorCode, said: str) -> JSONResponse:
    """A response that says what is wrong, in characters that every encoding has."""
    plain = said.encode("ascii", "backslashreplace").decode()[:500]
    return JSONResponse({"error": {"code": code, "message": plain}}, STATUSES[code])


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    first: Iterable[Any] = ()
    said = "the request is not as the contract describes it"
    if isinstance(error, RequestValidationError) and error.errors():
        told = error.errors()[0]
        first, said = told["loc"], told["msg"]
    return error_reply("invalid", f"{'.'.join(map(str, first))}: {said}")


def _unrouted(request: Request, error: Exception) -> JSONResponse:
    status = getattr(error, "status_code", 404)
    code: ErrorCode = {405: "method", 400: "invalid"}.get(status, "not_found")  # type: ignore[assignment]
    reply = error_reply(code, str(getattr(error, "detail", error)))
    if status == STATUSES["method"]:
        reply.headers["Allow"] = allowed_methods(request)
    return reply
