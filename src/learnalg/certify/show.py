"""A solution to look at: a few lines of text, or HTML in a notebook.

>>> solution
<Solution of eigenvalues by eigenvalues-5: trusted, error proven to be below 0.8 %, confidence 0.31>
[ 17.8   7.44   2.63  -9.29 -17.  ]
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from learnalg.problems.task import Floats

if TYPE_CHECKING:
    from learnalg.certify.solution import Solution

MOST_ROWS = 10  # of a stack
COLOURS = ((0.005, "#d7efdc"), (0.05, "#f6efc8"), (np.inf, "#f6d5d0"))  # of a coefficient, by its relative error


def text(solution: Solution) -> str:
    if not solution.shape:
        return f"<Solution of {solution.task} by {solution.model}: {verdict(solution)}>\n{solution.value}"
    num, trusted = solution.trusted.size, int(solution.trusted.sum())
    models = ", ".join(np.unique(solution.model)) or "no model"
    counts = f"{trusted} trusted"
    if solution.is_certified is not None:
        counts += f", {int(solution.is_certified.sum())} certified"
    return f"<Solution of {num} problems of {solution.task} by {models}: {counts}>\n{solution.value}"


def html(solution: Solution) -> str:
    """One problem with its matrices, its answer and NumPy's; of a stack the verdicts of the first."""
    if solution.shape:
        return _stack(solution)
    answer, expected = solution.matrix, solution.expected
    scale = np.abs(expected).mean() or 1.0
    errors = np.abs(answer - expected) / scale
    parts: list[tuple[str, Floats, Floats | None]] = []
    parts += [("given" if k == 0 else "and", operand, None) for k, operand in enumerate(solution.operands)]
    parts += [(f"{solution.model} answers", answer, errors), ("NumPy answers", expected, None)]
    cells = "".join(f"<td>{escape(title)}{_matrix(matrix, colours)}</td>" for title, matrix, colours in parts)
    note = "colours: error of a coefficient relative to their mean: below 0.5 %, below 5 %, above"
    return (
        f"<div><b>{escape(solution.task)}</b>: {escape(verdict(solution))}; error beside NumPy's answer "
        f"{100 * float(solution.error):.2g} %<table><tr style='vertical-align: top'>{cells}</tr></table>"
        f"<small>{note}</small></div>"
    )


def verdict(solution: Solution) -> str:
    """Of one problem."""
    if solution.is_certified is not None:
        origin = "NumPy's answer, " if solution.fell_back else ""
        state = "certified" if solution.is_certified else "not certified"
        return f"{origin}{state}, residual {float(solution.certified_residual or 0.0):.1e}, {solution.steps} steps"
    if not np.isfinite(solution.residual):
        proof = "not trusted, nothing proven of its error"
    else:
        state = "trusted" if solution.trusted else "not trusted"
        proof = f"{state}, error proven to be below {percent_above(100 * float(solution.residual))} %"
    malformed = "" if solution.well_formed else ", held to the form of a matrix"
    return f"{proof}, confidence {float(solution.confidence):.2f}{malformed}"


def percent_above(x: float) -> str:
    """Two digits, rounded up: a bound stays one."""
    unit = 10.0 ** (np.floor(np.log10(x)) - 1) if x > 0 else 1.0
    return f"{np.ceil(x / unit) * unit:.2g}"


def _stack(solution: Solution) -> str:
    num = solution.trusted.size
    rows = []
    for place in list(np.ndindex(solution.shape))[:MOST_ROWS]:
        bound = float(solution.residual[place])
        known = f"{percent_above(100 * bound)} %" if np.isfinite(bound) else "none"
        state = "trusted" if solution.trusted[place] else "not trusted"
        if solution.is_certified is not None:
            state = "certified" if solution.is_certified[place] else "not certified"
        cells = (
            ", ".join(map(str, place)),
            str(solution.model[place]),
            state,
            known,
            f"{solution.confidence[place]:.2f}",
        )
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("", "model", "verdict", "bound of the error", "confidence"))
    more = f"<small>and {num - MOST_ROWS:,} more</small>" if num > MOST_ROWS else ""
    return (
        f"<div><b>{escape(solution.task)}</b>: {num:,} problems, {int(solution.trusted.sum()):,} answers are trusted"
        f"<table><tr>{head}</tr>{''.join(rows)}</table>{more}</div>"
    )


def _matrix(matrix: Floats, errors: Floats | None) -> str:
    """Coefficients in four digits, coloured by their errors."""
    rows = []
    for i, row in enumerate(matrix):
        cells = []
        for j, value in enumerate(row):
            style = "" if errors is None else f" style='background: {_colour(float(errors[i, j]))}; color: #1b1b1b'"
            cells.append(f"<td{style}>{value:.4g}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _colour(error: float) -> str:
    return next((colour for limit, colour in COLOURS if error < limit), COLOURS[-1][1])
