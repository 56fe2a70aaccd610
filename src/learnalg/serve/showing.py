"""Runs as they go, and the paper's tables beside ours."""

from __future__ import annotations

import re
import zlib
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from learnalg.evaluation.result import Result
from learnalg.serve.charts import NUM_COLORS, Chart, Line, line_chart
from learnalg.serve.runs import Run, fields_of, side_by_side
from learnalg.serve.site import Answer, Site
from learnalg.zoo.cards import describe_network, describe_problem, hints

MOST_COMPARED = NUM_COLORS
MOST_SAMPLE = 4_000  # characters of a matrix
NUM_EVALUATIONS = 8  # whose samples are shown, the last ones
TOLERANCES = ("0.05", "0.02", "0.01", "0.005")
IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # matplotlib's SVG has styles inside


async def runs_page(site: Site, request: Request) -> Response:
    chosen = request.query_params.getlist("run")
    values = await site.light.run(_course, site, chosen, True)
    return site.render(request, "runs.html", folder=str(site.runs.folder), **values)


async def curves(site: Site, request: Request) -> Response:
    """The lower part of the page, again and again while a run goes on."""
    chosen = request.query_params.getlist("run")
    values = await site.light.run(_course, site, chosen, False)
    response = site.render(request, "_curves.html", **values)
    response.headers["hx-replace-url"] = f"/runs?{_query(chosen)}"
    return response


def _query(names: list[str]) -> str:
    return urlencode([("run", name) for name in names])


def _course(site: Site, chosen: list[str], has_default: bool) -> dict[str, Any]:
    runs = site.runs.find()
    shown = site.runs.named(chosen, runs) if chosen or not has_default else list(runs.values())[:1]
    if len(shown) > MOST_COMPARED:
        raise ValueError(f"{len(shown)} runs: at most {MOST_COMPARED} are compared at once")
    different, same = side_by_side(shown)
    again = f"/runs/curves?{_query([run.name for run in shown])}"
    return {
        "runs": list(runs.values()),
        "chosen": [run.name for run in shown],
        "shown": shown,
        "charts": _charts(shown),
        "different": different,
        "same": same,
        "samples": [table for run in shown if (table := samples_of(run))],
        "is_live": any(run.state == "in progress" for run in shown),
        "again": again,
        "mark": f"{zlib.crc32(again.encode()):x}",  # of this choice: what one has opened stays open for it alone
        "minutes": minutes,
        "left": left,
    }


def minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def left(run: Run) -> str:
    """At the present speed."""
    if run.config is None or not run.metrics.speeds or run.metrics.speeds[-1][1] <= 0:
        return ""
    return minutes(max(0, run.config.train.examples - run.metrics.examples) / run.metrics.speeds[-1][1])


def _charts(runs: list[Run]) -> list[Chart]:
    end = max((run.metrics.examples for run in runs), default=0)
    found = _of_one(runs[0], end) if len(runs) == 1 else _of_several(runs, end)
    return [chart for chart in found if chart is not None]


def _of_one(run: Run, end: int) -> list[Chart | None]:
    valid = [(e["examples"], float(e["valid_loss"])) for e in run.metrics.evaluations]
    sizes = run.by_size()
    return [
        line_chart("Loss a token", [Line("training", run.metrics.losses, 0), Line("validation", valid, 1)], x_end=end),
        line_chart(
            "Accuracy on the validation split, %",
            [Line(f"{100 * float(t):g} % tolerance", run.accuracy(t), k) for k, t in enumerate(TOLERANCES)],
            is_share=True,
            x_end=end,
        ),
        line_chart(
            "Accuracy at 5 % tolerance by size, %",
            [
                Line(size, points, k % NUM_COLORS, is_dashed=k >= NUM_COLORS)
                for k, (size, points) in enumerate(sizes.items())
            ],
            is_share=True,
            x_end=end,
        ),
        line_chart("Examples a second", [Line("speed", run.metrics.speeds, 0)], x_end=end),
    ]


def _of_several(runs: list[Run], end: int) -> list[Chart | None]:
    return [
        line_chart("Training loss a token", [Line(run.name, run.metrics.losses, k) for k, run in enumerate(runs)]),
        *(
            line_chart(
                f"Accuracy at {100 * float(t):g} % tolerance, validation split",
                [Line(run.name, run.accuracy(t), k) for k, run in enumerate(runs)],
                is_share=True,
                x_end=end,
            )
            for t in TOLERANCES
        ),
    ]


def samples_of(run: Run) -> dict[str, Any] | None:
    """Predictions of the same validation examples at each evaluation that has kept them, beside the truth."""
    kept = [(e["examples"], e["samples"]) for e in run.metrics.evaluations if isinstance(e.get("samples"), list)]
    if not kept:
        return None
    last = kept[-1][1]
    rows = [(examples, [_sample(s, "prediction") for s in samples]) for examples, samples in kept[-NUM_EVALUATIONS:]]
    truth = [_sample(sample, "solution") for sample in last]
    return {"run": run.name, "names": [f"example {k + 1}" for k in range(len(last))], "rows": rows, "truth": truth}


def _sample(sample: Any, key: str) -> str:
    """A matrix in lines, or why there is none."""
    try:
        cells = [[f"{float(value):.4g}" for value in row] for row in sample[key] or ()]
        width = max((len(cell) for row in cells for cell in row), default=0)
        lines = ("  ".join(f"{cell:>{width}}" for cell in row) for row in cells)
        return "\n".join(lines)[:MOST_SAMPLE] or str(sample["reason"])[:MOST_SAMPLE]
    except (TypeError, ValueError, KeyError, IndexError):
        return ""


async def paper_page(site: Site, request: Request) -> Response:
    report = await site.light.run(site.paper.report)
    return site.render(request, "paper.html", report=report)


async def image(site: Site, request: Request) -> Response:
    content = site.paper.image(request.path_params["name"])
    if content is None:
        raise HTTPException(404)
    return Response(content, media_type="image/svg+xml", headers={"content-security-policy": IMAGE_POLICY})


async def result_page(site: Site, request: Request) -> Response:
    identifier = request.path_params["name"]
    if not re.fullmatch(r"[\w.,+ -]{1,200}", identifier):
        raise HTTPException(404)
    source = await site.light.run(site.paper.source, identifier)
    if source is None:
        raise HTTPException(404)
    values: dict[str, Any] = {"source": source, "charts": [], "settings": [], "facts": {}}
    if source.result is not None:
        values |= {
            "charts": _result_charts(source.result),
            "settings": list(fields_of(source.result.config).items()),
            "facts": _facts(source.result),
        }
    return site.render(request, "result.html", tolerances=TOLERANCES, **values)


def _result_charts(result: Result) -> list[Chart]:
    curve = result.curve
    shares = [
        Line(
            f"{100 * float(t):g} % tolerance",
            [(point.examples, 100 * point.accuracy["l1"].get(t, np.nan)) for point in curve],
            k,
        )
        for k, t in enumerate(TOLERANCES)
    ]
    charts = [
        line_chart("Loss a token, validation split", [Line("validation", [(p.examples, p.loss) for p in curve])]),
        line_chart("Accuracy on the validation split, %", shares, is_share=True),
    ]
    return [chart for chart in charts if chart is not None]


def _facts(result: Result) -> dict[str, str]:
    config, made = result.config, result.provenance
    machine = made.get("machine", {})
    return {
        "Problem": describe_problem(config.data),
        "Network": f"{describe_network(config.model)}; {result.parameters:,} parameters.",
        "Told, unlike the paper's network": "; ".join(hints(config)) or "nothing",
        "Examples": f"{result.examples:,}"
        + (f", and {result.origin.examples:,} of {result.origin.model}" if result.origin else ""),
        "Time": f"{minutes(result.seconds)} on {machine.get('cpu', 'an unknown machine')}",
        "FLOPs": f"{result.all_flops:.1e}",
        "Command": str(made.get("command", "")),
        "Commit": str(made.get("commit", "")),
        "Begun": str(made.get("begun", made.get("time", ""))),
        "SHA-256 of the weights": result.sha256,
        "Note": result.note,
    }


run_routes: list[tuple[str, str, Answer]] = [("/runs", "GET", runs_page), ("/runs/curves", "GET", curves)]
paper_routes: list[tuple[str, str, Answer]] = [
    ("/paper", "GET", paper_page),
    ("/paper/images/{name}", "GET", image),
    ("/paper/results/{name}", "GET", result_page),
]
