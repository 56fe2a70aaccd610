"""Try and Explore: what a model reads, writes and looks at, beside NumPy's answer; and what is refused."""

import html
import re

import numpy as np
import pytest
import torch

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.models import build, sides
from learnalg.models.watching import watch_attention
from learnalg.problem import Problem
from learnalg.serve.attention import find_place, picture, places
from learnalg.serve.drawing import MOST_SIDE, draw, matrix_text, parse_matrix, parse_size
from learnalg.serve.models import Models
from learnalg.serve.runs import Runs
from learnalg.serve.sampling import Wanted, explore
from learnalg.serve.solving import LEVELS, solve_one
from learnalg.tokens.tokenizer import PAD
from learnalg.zoo.model import load

SMALL = "eigenvalues-3"
A = np.array([[-5.08, 7.98, 8.98], [7.98, 4.83, 7.44], [8.98, 7.44, 4.06]])


@pytest.fixture(scope="module")
def model():
    return load(SMALL)


@pytest.fixture(scope="module")
def shown(model):
    return solve_one(model, "eigenvalues", (A,))


@pytest.mark.parametrize(
    "text", ["1 2\n3 4", "1,2\n3,4\n", "[[1, 2], [3, 4]]", "[1 2; 3 4]", "1\t2\r\n\r\n3\t4", "([[1., 2.],\n [3., 4.]])"]
)
def test_matrices_are_read_as_they_are_pasted(text):
    assert parse_matrix(text, "M").tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "M is empty"),
        ("[]", "M is empty"),
        ("1 2\n3", "row 2 has 1 numbers, row 1 has 2"),
        ("1 x", "'x' is not a number"),
        ("__import__('os')", "is not a number"),
        ("1 " * (MOST_SIDE + 1), f"at most {MOST_SIDE}"),
        ("1\n" * (MOST_SIDE + 1), f"at most {MOST_SIDE}"),
        ("1 " * 100_000, "characters"),
        ("1" * 50_000, ""),
    ],
)
def test_what_is_no_matrix_is_refused(text, reason):
    if reason:
        with pytest.raises(ValueError, match=reason):
            parse_matrix(text, "M")
    else:
        assert parse_matrix(text, "M").tolist() == [[np.inf]]


def test_drawn_matrices_come_back_from_their_text(model):
    (drawn,) = draw(model.problem, "eigenvalues", "laplace", (3, 3), seed=5)
    assert np.array_equal(drawn, drawn.T)
    assert np.allclose(parse_matrix(matrix_text(drawn), "M"), drawn, rtol=1e-5)
    assert np.array_equal(drawn, draw(model.problem, "eigenvalues", "laplace", (3, 3), seed=5)[0])
    with pytest.raises(ValueError, match="square"):
        draw(model.problem, "eigenvalues", "laplace", (3, 4), seed=5)
    assert parse_size("6x4") == (6, 4)
    for text in ("2-5", "99", "x", ""):
        with pytest.raises(ValueError):
            parse_size(text)


def test_the_answer_is_the_models(model, shown):
    solution = model.solve(A, task="eigenvalues")
    assert [[c.text for c in row] for row in shown.answer] == [[f"{x:.4g}"] for x in solution.matrix[:, 0]]
    exact = np.linalg.eigvalsh(solution.seen[0])[::-1]
    assert [row[0].text for row in shown.numpy] == [f"{x:.4g}" for x in exact]
    error = np.abs(solution.matrix[:, 0] - exact).sum() / np.abs(exact).sum()
    assert shown.error == pytest.approx(error) and shown.met["5"] == (error < 0.05)
    assert float(shown.proven) >= 100 * shown.residual >= 100 * error
    off = np.abs(solution.matrix[:, 0] - exact) / np.abs(exact).mean()
    assert [row[0].level for row in shown.answer] == [sum(x >= level for level in LEVELS) for x in off]


def test_tokens_are_those_of_the_answer_with_their_probabilities(model, shown):
    source, target = model.problem.tokenizers
    assert [t.text for t in shown.read[:2]] == ["V3", "V3"]
    ids = [target.tokens.index(t.text) if t.text != "end" else 0 for t in shown.written]
    decoded = target.decode(np.array([ids]))
    assert decoded.values[0, :3].tolist() == model.solve(A).matrix[:, 0].tolist()
    body = [t.share for t in shown.written[2:-1]]
    assert np.exp(np.log(body).mean()) == pytest.approx(float(shown.solution.confidence), rel=1e-5)
    assert len(shown.read) == len(source.encode(A[None])[0]) - (3 if model.problem.config.triangle else 0)


def test_refined_answers_are_exact(shown):
    assert [row[0].text for row in shown.refined] == [f"{x:.4g}" for x in np.linalg.eigvalsh(A)[::-1]]
    assert "Certified" in shown.refining
    added = solve_one(load("add-5"), "add", (np.ones((5, 5)), np.ones((5, 5))))
    assert added.refined == [] and "compute" in added.refining and len(added.seen) == 2


def test_attention_sums_to_one_and_is_what_the_network_used(model, shown):
    config = model.config.model
    per_loop = config.encoder_layers * config.encoder_loops + 2 * config.decoder_layers * config.decoder_loops
    assert len(shown.attention) == per_loop == len(set(places(shown.attention)))
    for seen in shown.attention:
        assert seen.weights_BHQL.sum(-1).allclose(seen.weights_BHQL.new_ones(()), atol=1e-5)
    cross = find_place(shown.attention, "nonsense")
    assert cross.is_cross and cross.weights_BHQL.shape[2:] == (len(shown.written), len(shown.read))


def test_a_picture_has_a_square_for_each_link(shown):
    seen = shown.attention[0]
    num = seen.weights_BHQL.shape[-1]
    names = [t.text for t in shown.read]
    drawn = picture(seen, 0, names, names)
    weights = seen.weights_BHQL[0, 0].numpy()
    faint = (np.ceil(weights / weights.max() * 8 - 0.25) < 1).sum()
    assert sum(path.count("z") for path in drawn.paths) == num * num - faint
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert drawn.links[0].startswith(f"{names[row]} (place {row + 1}) looks at {names[column]} (place {column + 1})")
    assert [text for _, text in drawn.rows] == names


def test_recurrent_models_have_no_attention():
    config = replace_fields(preset("recurrent"), task="transpose", dim="1-2")
    network = build(config.model, *sides(Problem(config.data)))
    with watch_attention(network) as seen:
        network(torch.zeros((1, 4), dtype=torch.long), torch.full((1, 3), PAD))
    assert seen == []


def test_exploring_counts_as_evaluating_does(model):
    report = model.evaluate(num=120, seed=4)
    found = explore(model, Wanted("eigenvalues", model.config.data.ensemble[0], (3, 3), 120, seed=4))
    assert found.num == 120 and found.shares == {t: report.accuracy["l1"][t] for t in found.shares}
    assert found.intervals["0.05"] == tuple(report.interval["l1"]["0.05"])
    errors = [float(case.error.split()[0]) for case in found.worst]
    assert errors == sorted(errors, reverse=True) and len(found.charts) == 2
    again = solve_one(model, "eigenvalues", (parse_matrix(found.worst[0].texts["matrix-1"], "M"),))
    assert 100 * again.error == pytest.approx(errors[0], rel=0.01)


def test_exploring_ends_when_the_time_is_over(model, monkeypatch):
    from learnalg.serve import sampling

    monkeypatch.setattr(sampling, "out_of_time", lambda: True)
    assert explore(model, Wanted("eigenvalues", "laplace", (3, 3), 300, seed=4)).num == sampling.PORTION


def test_models_are_found_by_name_only(folder):
    models = Models(Runs(folder))
    assert models.choices("eigenvalues")[-1].name == "runs/first"
    assert models.best("eigenvalues", 3, 3, True).problem.dims.admits(3, 3)
    for name in ("../runs/first", "/etc/passwd", "runs/../first", "eigenvalues-3.safetensors", ""):
        with pytest.raises(ValueError, match="unknown model"):
            models.find(name)
    with models.using(models.find("runs/first")) as of_run, models.using(models.find(SMALL)) as released:
        assert of_run.solve(A).matrix.tolist() == released.solve(A).matrix.tolist()


def text_of(answer):
    return html.unescape(answer.text)


def test_a_matrix_is_solved_on_the_page(client):
    form = {
        "task": "eigenvalues",
        "model": "runs/first",
        "matrix-1": matrix_text(A),
        "action": "solve",
        "head": "every",
    }
    answer = client.post("/try", data=form)
    assert answer.status_code == 200 and answer.text.count("<svg") == load(SMALL).config.model.num_heads("decoder")
    assert f"{np.linalg.eigvalsh(A)[-1]:.4g}" in answer.text and "Refined" in answer.text
    (address,) = re.findall(r'href="(/try\?[^"]+)"', text_of(answer))
    again = client.get(address).text
    assert "-5.08" in again and 'hx-trigger="submit, load"' in again, "the page asks for the solution itself"
    assert 'value="runs/first" selected' in again


def test_drawing_fills_the_form_and_solves(client):
    first = client.post(
        "/try", data={"task": "inverse", "model": "inverse-2", "size": "2", "seed": "3", "action": "draw"}
    )
    assert first.status_code == 200 and 'value="4"' in first.text and "The model's answer" in text_of(first)
    assert "and writes" in first.text
    empty = client.get("/try?task=matmul").text
    assert empty.count("<textarea") == 2 and "The model" not in empty


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"matrix-1": "nan 1\n1 2"}, "NaN or infinity"),
        ({"matrix-1": "1e999 1\n1 2"}, "NaN or infinity"),
        ({"matrix-1": "1 2\n3 4"}, "not symmetric"),
        ({"matrix-1": "hello"}, "'hello' is not a number"),
        ({"matrix-1": ""}, "empty"),
        ({"matrix-1": "1 2 3"}, "not symmetric"),
        ({"matrix-1": ("1 " * 40 + "\n") * 40}, "tokens"),
        ({"model": "/etc/passwd", "matrix-1": "1"}, "unknown model"),
        ({"task": "<b>cube</b>", "matrix-1": "1"}, "unknown problem"),
        ({"action": "draw", "size": "1000"}, "dimensions"),
        ({"action": "draw", "seed": "-1"}, "seed"),
        ({"action": "draw", "seed": "9" * 400}, "seed"),
        ({"task": "inverse", "matrix-1": "1 1\n1 1"}, ""),
        ({f"x{k}": "" for k in range(1000)}, ""),
    ],
)
def test_what_cannot_be_solved_is_said_in_a_line(client, form, reason):
    answer = client.post("/try", data=form)
    assert answer.status_code in (400, 422) and reason.lower() in text_of(answer).lower()
    assert 'role="alert"' in answer.text and "Traceback" not in answer.text and "<b>cube" not in answer.text
    if "matrix-1" in form and answer.status_code == 422:
        assert form["matrix-1"].strip()[:50] in text_of(answer), "what was typed stays"


def test_bodies_that_are_no_form_are_refused(client):
    for content in (b"\xff\xfe\x00", b"matrix-1=" + b"%ff" * 100):
        answer = client.post("/try", content=content)
        assert answer.status_code in (400, 422) and "Traceback" not in answer.text


def test_exploring_on_the_page(client):
    form = {"task": "eigenvalues", "model": SMALL, "ensemble": "laplace", "size": "3", "num": "60", "seed": "2"}
    answer = client.post("/explore", data=form)
    assert answer.status_code == 200 and "60 3x3 matrices of laplace" in answer.text
    links = [html.unescape(link) for link in re.findall(r'href="(/try\?[^"]+)"', answer.text)]
    assert len(links) == 10 and client.get(links[0]).status_code == 200
    assert "<rect" in client.get("/explore/heatmap").text


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"num": "1001"}, "1 to 1,000"),
        ({"num": "0"}, "1 to 1,000"),
        ({"num": "nan"}, "expected"),
        ({"num": "1e400"}, "expected"),
        ({"factor": "x"}, "expected"),
        ({"factor": "inf"}, "0.01 to 100"),
        ({"size": "40"}, "tokens"),
        ({"size": "3x4"}, "square"),
        ({"model": "../x"}, "unknown model"),
    ],
)
def test_what_cannot_be_explored_is_said_in_a_line(client, form, reason):
    answer = client.post("/explore", data={"task": "eigenvalues", "size": "3", "num": "10"} | form)
    assert answer.status_code in (400, 422) and reason.lower() in text_of(answer).lower()
