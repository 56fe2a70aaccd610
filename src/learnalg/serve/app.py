"""The page as an ASGI application: routes, templates, and what becomes of errors.

    app = build_app(Runs(Path("runs")), paper, port=8000)

A GET shows; what computes is a POST, which a foreign site cannot send. Whatever is wrong with a request is said in one
line, on a page or in the part of the page that asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from learnalg.evaluation.result import percent
from learnalg.serve.exploring import explore_routes
from learnalg.serve.guards import Guard
from learnalg.serve.models import Models
from learnalg.serve.paper import Paper
from learnalg.serve.runs import Runs
from learnalg.serve.showing import paper_routes, run_routes
from learnalg.serve.site import Answer, Site, one_line
from learnalg.serve.trying import try_routes
from learnalg.serve.work import BusyError, Work

HERE = Path(__file__).parent
STATIC, TEMPLATES, STYLE = HERE / "static", HERE / "templates", HERE / "page.css"


def build_app(runs: Runs, paper: Paper, port: int, prepare: Callable[[], None] | None = None) -> Guard:
    """`prepare` is called in each thread that uses models, before it does."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["percent"] = percent
    light, quick, slow = Work(4, 200, 60.0), Work(2, 200, 60.0, prepare), Work(1, 20, 90.0, prepare)
    site = Site(runs, Models(runs), paper, light, quick, slow, templates)

    def bound(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await answer(site, request)

        return endpoint

    async def home(site: Site, request: Request) -> Response:
        return RedirectResponse("/try")

    async def style(site: Site, request: Request) -> Response:
        return Response(paper.style + STYLE.read_text(), media_type="text/css")

    table = [("/", "GET", home), ("/style.css", "GET", style), *try_routes, *explore_routes, *run_routes, *paper_routes]
    routes: list[Any] = [Route(path, bound(answer), methods=[method]) for path, method, answer in table]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=STATIC))],
        exception_handlers={kind: _handler(site) for kind in (HTTPException, ValueError, BusyError, Exception)},
        lifespan=_closing(site),
    )
    return Guard(app, port)


def _closing(site: Site) -> Callable[[Starlette], Any]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        site.quick.pool.submit(import_module, "learnalg.serve.solving")  # torch takes seconds to load
        yield
        for work in (site.light, site.quick, site.slow):
            work.close()

    return lifespan


def _handler(site: Site) -> Any:
    def handle(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            status, reason = error.status_code, "There is nothing here." if error.status_code == 404 else error.detail
        elif isinstance(error, BusyError):
            status, reason = 503, f"The server is busy: {error}."
        elif isinstance(error, ValueError):
            status, reason = 400, one_line(error)
        else:  # the server prints where
            status, reason = 500, "This is a mistake in the page; the terminal of `learnalg serve` says more."
        if request.headers.get("hx-request"):  # the page's script shows it
            return PlainTextResponse(reason, status)
        return site.render(request, "trouble.html", status, title=HTTPStatus(status).phrase, reason=reason)

    return handle
