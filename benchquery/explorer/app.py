"""The web application: answers for the files of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import (
    BenchQueryError,
    QueryError,
    TableNotFoundError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.explorer.guard import Guard
from benchquery.explorer.site import INDEX, Site

if TYPE_CHECKING:
    import fastapi
    from fastapi import responses
    from starlette import exceptions
    from starlette.types import ASGIApp
else:
    fastapi = LazyModule("fastapi", extra="web")
    responses = LazyModule("fastapi.responses", extra="web")
    exceptions = LazyModule("starlette.exceptions", extra="web")

_NOT_FOUND = (UnknownNameError, TableNotFoundError, UnknownHashError, QueryError)


def create_app(site: Site, host: str = "localhost") -> ASGIApp:
    """Return the application that serves a site.

    It reads only; whatever goes wrong is answered in JSON with the key ``error``.

    Args:
        site: What to serve.
        host: What the server listens on, which decides the hosts that it answers for.

    Raises:
        MissingPackageError: If fastapi is not installed.
    """
    app = fastapi.FastAPI(openapi_url=None)

    def answer(path: str) -> responses.Response:
        file = site.read(path or INDEX)
        return responses.Response(file.body, media_type=file.media_type)

    def refuse(_: fastapi.Request, error: Exception) -> responses.Response:
        status = 404 if isinstance(error, _NOT_FOUND) else 500
        return responses.JSONResponse({"error": str(error)}, status)

    def decline(_: fastapi.Request, error: Exception) -> responses.Response:
        assert isinstance(error, exceptions.HTTPException)
        return responses.JSONResponse(
            {"error": f"{error.detail}; only GET and HEAD are answered"}, error.status_code
        )

    app.add_api_route("/{path:path}", answer, methods=["GET", "HEAD"], response_model=None)
    app.add_exception_handler(BenchQueryError, refuse)
    app.add_exception_handler(exceptions.HTTPException, decline)
    return Guard(app, host)
