"""The part Explore: many random problems, and the heat map of training against testing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from learnalg.serve.drawing import parse_size
from learnalg.serve.site import Answer, Site, form_of, one_line
from learnalg.serve.trying import choice_of, form_values, known_form, seed_of

USUAL_NUM = "300"


async def explore_page(site: Site, request: Request) -> Response:
    values = await site.light.run(_form, site, dict(request.query_params))
    return site.render(request, "explore.html", **values, found=None, trouble="")


async def explore_it(site: Site, request: Request) -> Response:
    form = await form_of(request)
    try:
        values = await site.slow.run(_values, site, form)
        return site.render(request, "explore.html", **values, trouble="")
    except ValueError as error:
        known = await known_form(site, form)
        more = {"num": form.get("num", USUAL_NUM), "factor": form.get("factor", "1")}
        return site.render(request, "explore.html", 422, **known, **more, found=None, trouble=one_line(error))


async def heatmap(site: Site, request: Request) -> Response:
    drawn = await site.light.run(site.paper.heatmap)
    return HTMLResponse(drawn or "<p>Nothing is measured yet.</p>")


def _form(site: Site, form: dict[str, str]) -> dict[str, Any]:
    return form_values(site, form) | {"num": form.get("num") or USUAL_NUM, "factor": form.get("factor") or "1"}


def _values(site: Site, form: dict[str, str]) -> dict[str, Any]:
    from learnalg.serve.sampling import Wanted, explore

    values = _form(site, form)
    size, seed = parse_size(values["size"]), seed_of(form)
    choice = choice_of(site, form, size)
    try:
        num, factor = int(float(values["num"])), float(values["factor"])
    except (ValueError, OverflowError):
        wrong = f"{values['num'][:40]!r} matrices, factor {values['factor'][:40]!r}"
        raise ValueError(f"{wrong}: expected a whole number and a number") from None
    with site.models.using(choice) as model:
        found = explore(model, Wanted(values["task"], values["ensemble"], size, num, seed, factor))
    links = ["/try?" + urlencode({"task": values["task"], "model": choice.name, **case.texts}) for case in found.worst]
    is_outside = not choice.problem.dims.admits(*size)
    return values | {
        "found": found,
        "choice": choice,
        "links": links,
        "asked": num,
        "is_outside": is_outside,
        "next_seed": seed + 1,
    }


explore_routes: list[tuple[str, str, Answer]] = [
    ("/explore", "GET", explore_page),
    ("/explore", "POST", explore_it),
    ("/explore/heatmap", "GET", heatmap),
]
