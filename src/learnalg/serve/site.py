"""What the parts of the page share: runs, the paper, threads for heavy work, templates, forms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from learnalg.serve.models import Models
from learnalg.serve.paper import Paper
from learnalg.serve.runs import Runs
from learnalg.serve.work import Work

PARTS = (("/try", "Try"), ("/explore", "Explore"), ("/runs", "Runs"), ("/paper", "Paper"))
MOST_FIELDS = 200  # of a form


@dataclass(frozen=True)
class Site:
    runs: Runs
    models: Models
    paper: Paper
    light: Work  # reads files
    quick: Work  # one problem
    slow: Work  # up to a thousand
    templates: jinja2.Environment

    def render(self, request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        part = next((path for path, _ in PARTS if request.url.path.startswith(path)), "")
        html = self.templates.get_template(template).render(part=part, parts=PARTS, **values)
        return HTMLResponse(html, status)


Answer = Callable[[Site, Request], Awaitable[Response]]


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; the last of a name counts. The guard has limited the size."""
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise ValueError(f"not a form: {error}") from None
    return dict(pairs)


def one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{text[:1].upper()}{text[1:400]}{'.' if text[-1:] not in '.?!' else ''}"
