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
    from starlette import applications, exceptions, requests, responses, routing
    from starlette.types import ASGIApp
else:
    applications = LazyModule("starlette.applications", extra="web")
    exceptions = LazyModule("starlette.exceptions", extra="web")
    responses = LazyModule("starlette.responses", extra="web")
    routing = LazyModule("starlette.routing", extra="web")

_NOT_FOUND = (UnknownNameError, TableNotFoundError, UnknownHashError, QueryError)


def create_app(site: Site, host: str = "localhost") -> ASGIApp:
    """Return the application that serves a site.

    It reads only; whatever goes wrong is answered in JSON with the key ``error``.

    Args:
        site: What to serve.
        host: What the server listens on, which decides the hosts that it answers for.

    Raises:
        MissingPackageError: If starlette is not installed.
    """

    def answer(request: requests.Request) -> responses.Response:
        file = site.read(request.path_params["path"] or INDEX)
        return responses.Response(file.body, media_type=file.media_type)

    def refuse(_: requests.Request, error: Exception) -> responses.Response:
        status = 404 if isinstance(error, _NOT_FOUND) else 500
        return responses.JSONResponse({"error": str(error)}, status)

    def decline(_: requests.Request, error: Exception) -> responses.Response:
        assert isinstance(error, exceptions.HTTPException)
        return responses.JSONResponse(
            {"error": f"{error.detail}; only GET and HEAD are answered"}, error.status_code
        )

    app = applications.Starlette(
        routes=[routing.Route("/{path:path}", answer, methods=["GET", "HEAD"])],
        exception_handlers={BenchQueryError: refuse, exceptions.HTTPException: decline},
    )
    return Guard(app, host)
