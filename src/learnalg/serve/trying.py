"""The part Try: one problem, solved by a model and by NumPy."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from learnalg.naming import unknown
from learnalg.problems.ensembles import ENSEMBLE_SUMMARIES, ENSEMBLES
from learnalg.serve.drawing import draw, matrix_text, parse_matrix, parse_size
from learnalg.serve.models import Choice
from learnalg.serve.site import Answer, Site, form_of, one_line
from learnalg.zoo.operands import is_symmetric

NAMES = ("M", "N")  # of operands
USUAL = (5, 5)  # the size to begin with
MOST_DIGITS = 15  # of a seed


async def try_page(site: Site, request: Request) -> Response:
    """The form, with what the address says; the page then asks for the solution itself."""
    return await _answer(site, request, dict(request.query_params), is_solving=False)


async def try_it(site: Site, request: Request) -> Response:
    return await _answer(site, request, await form_of(request), is_solving=True)


async def _answer(site: Site, request: Request, form: dict[str, str], is_solving: bool) -> Response:
    try:
        work = site.quick if is_solving else site.light
        values = await work.run(_values, site, form, is_solving)
        return site.render(request, "try.html", **values)
    except ValueError as error:
        return site.render(
            request, "try.html", 422, **await known_form(site, form), shown=None, trouble=one_line(error)
        )


async def known_form(site: Site, form: dict[str, str]) -> dict[str, Any]:
    """The form as it was sent, or as far as it can be shown."""
    try:
        return await site.light.run(form_values, site, form)
    except ValueError:
        return await site.light.run(form_values, site, {name: form[name] for name in form if name.startswith("matrix")})


def _values(site: Site, form: dict[str, str], is_solving: bool) -> dict[str, Any]:
    is_empty = not form.get("matrix-1", "").strip()
    if form.get("action") == "draw" or (is_empty and not is_solving):
        form = form | _drawn(site, form)
    values = form_values(site, form)
    if not is_solving:
        return values | {"shown": None, "trouble": ""}
    from learnalg.serve.solving import solve_one

    matrices = [parse_matrix(text, letter) for _, letter, text in values["operands"]]
    choice = choice_of(site, form, matrices[0].shape, bool(is_symmetric(matrices[0])))
    with site.models.using(choice) as model:
        shown = solve_one(model, values["task"], tuple(matrices))
    texts = {name: text for name, _, text in values["operands"]}
    address = "/try?" + urlencode({"task": values["task"], "model": values["model"], **texts})
    return values | {"shown": shown, "trouble": "", "choice": choice, "address": address} | _pictures(shown, form)


def _task(site: Site, form: dict[str, str]) -> str:
    tasks = site.models.tasks()
    if form.get("task"):
        if form["task"] not in tasks:
            raise unknown("problem", form["task"][:100], tasks)
        return form["task"]
    if form.get("model"):
        return site.models.find(form["model"]).tasks[0]
    return "eigenvalues" if "eigenvalues" in tasks else tasks[0]


def choice_of(site: Site, form: dict[str, str], shape: tuple[int, ...], symmetric: bool = True) -> Choice:
    """The model that the form names, or the best for that size."""
    task, name = _task(site, form), form.get("model", "")
    if name:
        choice = site.models.find(name)
        if task in choice.tasks:
            return choice
    return site.models.best(task, shape[0], shape[1], symmetric)


def form_values(site: Site, form: dict[str, str]) -> dict[str, Any]:
    """What the form shows: the choices, and what was chosen."""
    task = _task(site, form)
    choice = choice_of(site, form, USUAL)
    definition = choice.problem.tasks[choice.problem.find_task(task)][1]
    ensemble, dims = form.get("ensemble", ""), choice.problem.dims
    rows, cols = USUAL if dims.admits(*USUAL) else (dims.rows[1], dims.cols[1])
    letters = NAMES[: len(definition.operands(1, 1))]
    return {
        "tasks": site.models.tasks(),
        "task": task,
        "summary": definition.summary,
        "choices": site.models.choices(task),
        "model": form.get("model", "") if form.get("model", "") == choice.name else "",
        "choice": choice,
        "ensembles": {name: ENSEMBLE_SUMMARIES.get(name, "") for name in ENSEMBLES},
        "ensemble": ensemble if ensemble in ENSEMBLES else choice.problem.config.ensemble[0],
        "size": form.get("size") or (f"{rows}" if rows == cols else f"{rows}x{cols}"),
        "seed": form.get("seed", "1"),
        "operands": [(f"matrix-{k}", letter, form.get(f"matrix-{k}", "")) for k, letter in enumerate(letters, 1)],
    }


def _drawn(site: Site, form: dict[str, str]) -> dict[str, str]:
    """Matrices of the ensemble, as the form shows them, and the next seed."""
    values = form_values(site, form)
    seed = seed_of(form)
    operands = draw(values["choice"].problem, values["task"], values["ensemble"], parse_size(values["size"]), seed)
    texts = {f"matrix-{k + 1}": matrix_text(operand) for k, operand in enumerate(operands)}
    return texts | {"seed": str(seed + 1), "ensemble": values["ensemble"], "size": values["size"]}


def seed_of(form: dict[str, str]) -> int:
    text = form.get("seed", "1").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError(f"seed {text[:40]!r}: a whole number of at most {MOST_DIGITS} digits")
    return int(text)


def _pictures(shown: Any, form: dict[str, str]) -> dict[str, Any]:
    from learnalg.serve.attention import find_place, picture, place_name, places

    if not shown.attention:
        return {"places": [], "pictures": []}
    found = find_place(shown.attention, form.get("place", ""))
    num_heads = found.weights_BHQL.shape[1]
    read, written = [t.text for t in shown.read], [t.text for t in shown.written]
    # A query of the decoder writes the token beside which it stands; as a key it has read the one before.
    rows = read if found.side == "encoder" else written
    columns = read if found.side == "encoder" or found.is_cross else ["start", *written[:-1]]
    head = form.get("head", "mean")
    chosen = {"place": place_name(found), "head": head, "num_heads": num_heads, "places": places(shown.attention)}
    if head == "every":
        return chosen | {"pictures": [picture(found, k, rows, columns, side=200) for k in range(num_heads)]}
    number = int(head) if head.isdigit() and len(head) < 4 and 1 <= int(head) <= num_heads else 0
    return chosen | {"pictures": [picture(found, number - 1 if number else None, rows, columns)]}


try_routes: list[tuple[str, str, Answer]] = [("/try", "GET", try_page), ("/try", "POST", try_it)]
