"""The methods that the routes of one path have together, for the answer to any other method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.routing import APIRoute
from starlette.routing import Match as Fit

if TYPE_CHECKING:
    from fastapi import Request


def allowed_methods(request: Request) -> str:
    """The value of the header `Allow`, because each route knows only its own method."""
    return ", ".join(
        sorted(
            method
            for route in request.app.routes
            if isinstance(route, APIRoute) and route.matches(request.scope)[0] is not Fit.NONE
            for method in route.methods or ()
        )
    )
