"""The same in Python, and a task of one's own."""

import json

import numpy as np
import pytest
import torch

import learnalg
from learnalg.zoo.model import Model
from learnalg.cli import main
from learnalg.evaluation.evaluate import TOLERANCES
from learnalg.models import build, sides
from learnalg.training.run import MODEL_FILE
from learnalg.problems import TASKS

MATRIX = np.array([[1.0, -2.0], [3.0, 4.5]])


@pytest.fixture(scope="module")
def trained(tiny_run):
    return learnalg.load(tiny_run.folder)


@pytest.fixture
def untrained(tiny_config):
    def make(**changes):
        config = tiny_config(**changes)
        torch.manual_seed(1)
        return Model(config, build(config.model, *sides(config.data)).eval())

    return make


def test_a_model_is_loaded_from_its_folder_or_its_file(trained, tiny_run):
    again = learnalg.load(str(tiny_run.folder / MODEL_FILE))
    assert again.config == trained.config == tiny_run.config
    np.testing.assert_array_equal(again.solve(MATRIX), trained.solve(MATRIX))


def test_one_matrix_is_solved(trained):
    answer = trained.solve(MATRIX)
    assert answer.shape == (2, 2)
    assert np.abs(answer - MATRIX.T).sum() < 0.2 * np.abs(MATRIX).sum()
    assert trained.solve([[3]]).shape == (1, 1)  # lists and whole numbers will do


def test_a_batch_is_solved_as_each_alone(trained):
    batch = np.random.default_rng(1).uniform(-10, 10, (20, 2, 2))
    answers = trained.solve(batch)
    assert answers.shape == (20, 2, 2)
    np.testing.assert_array_equal(answers, [trained.solve(matrix) for matrix in batch])
    error = np.abs(answers - batch.swapaxes(1, 2)).sum(axis=(1, 2)) / np.abs(batch).sum(axis=(1, 2))
    assert np.median(error) < 0.05


@pytest.mark.parametrize(
    ("task", "operands", "shape"),
    [
        ("add", [(2, 3), (2, 3)], (2, 3)),
        ("matvec", [(2, 3), (2,)], (3, 1)),
        ("matvec", [(2, 3), (2, 1)], (3, 1)),
        ("matmul", [(2, 3), (2, 3)], (3, 3)),
        ("singular_values", [(2, 3)], (2, 1)),
        ("svd", [(2, 3)], (6, 2)),
        ("eigenvalues", [(3, 3)], (3, 1)),
        ("eigenvectors", [(3, 3)], (4, 3)),
        ("inverse", [(3, 3)], (3, 3)),
    ],
)
@pytest.mark.parametrize("num", [None, 1, 4])
def test_answers_have_the_tasks_shape_even_before_training(untrained, task, operands, shape, num):
    model = untrained(task=task, dim="3" if operands[0] == (3, 3) else "2x3")
    batch = () if num is None else (num,)
    answer = model.solve(*(np.ones((*batch, *operand)) for operand in operands))
    assert answer.shape == (*batch, *shape)
    assert np.isfinite(answer).all()


@pytest.mark.parametrize(
    ("operands", "complaint"),
    [
        ([], "takes 1 matrices, not 0"),
        ([MATRIX, MATRIX], "takes 1 matrices, not 2"),
        ([np.eye(3)], "3x3 matrix, but this model was trained on dim 1-2"),
        ([np.ones((1, 2))], "1x2 matrix, but this model was trained on dim 1-2"),
        ([np.ones(2)], r"shape \(2,\)"),
        ([3.0], r"shape \(\)"),
        ([np.ones((2, 2, 2, 2))], "shape"),
        ([np.ones((0, 0))], "shape"),
        ([np.ones((0, 2, 2))], "shape"),
        ([[[np.nan]]], "NaN or infinity"),
        ([[[np.inf]]], "NaN or infinity"),
        ([[[1e12]]], "too large for fp15"),
        ([[[1j]]], "real numbers"),
        ([[["one"]]], "real numbers"),
        ([[[None]]], "real numbers"),
    ],
)
def test_what_is_no_problem_for_the_model_is_refused(trained, operands, complaint):
    with pytest.raises(ValueError, match=complaint):
        trained.solve(*operands)


@pytest.mark.parametrize(
    ("task", "operands", "complaint"),
    [
        ("eigenvalues", [[[1.0, 2.0], [3.0, 4.0]]], "symmetric"),
        ("eigenvectors", [[[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]]], "symmetric"),
        ("add", [np.eye(2), np.eye(3)], r"shapes \(2, 2\) and \(2, 2\), not \(2, 2\) and \(3, 3\)"),
        ("add", [np.ones((4, 2, 2)), np.ones((2, 2))], "shapes"),
        ("matvec", [np.eye(2), np.ones(3)], "shapes"),
    ],
)
def test_operands_that_do_not_go_together_are_refused(untrained, task, operands, complaint):
    with pytest.raises(ValueError, match=complaint):
        untrained(task=task, dim="2").solve(*operands)


def test_a_triangle_is_read_of_symmetric_matrices_alone(untrained):
    model = untrained(task="svd", dim="2", symmetric=True, triangle=True)
    assert model.solve([[1.0, 2.0], [2.0, 4.0]]).shape == model.config.data.tasks[0][1].output_shape(2, 2)
    with pytest.raises(ValueError, match="symmetric"):
        model.solve(MATRIX)


def test_symmetric_means_up_to_rounding(untrained):
    matrix = np.array([[1.0, 0.1 + 0.2], [0.3, 2.0]])
    assert untrained(task="eigenvalues", dim="2").solve(matrix).shape == (2, 1)


def test_a_model_of_several_tasks_must_be_told_which(untrained):
    model = untrained(task="cotraining", subset=("TA",), dim="2")
    with pytest.raises(ValueError, match="which task\\? this model knows transpose, add"):
        model.solve(MATRIX)
    with pytest.raises(ValueError, match="this model knows transpose, add"):
        model.solve(MATRIX, task="inverse")
    assert model.solve(MATRIX, task="transpose").shape == (2, 2)
    assert model.solve(MATRIX, MATRIX, task="add").shape == (2, 2)


def test_explain_sets_the_answer_beside_numpys(trained):
    matrix = np.array([[1.23456, -2.0], [3.0, 4.5]])
    answer = trained.explain(matrix)
    assert answer["task"] == "transpose"
    np.testing.assert_allclose(answer["seen"], [[1.23, -2.0], [3.0, 4.5]])  # three digits
    np.testing.assert_array_equal(answer["solution"], answer["seen"].T)
    np.testing.assert_array_equal(answer["prediction"], trained.solve(matrix))
    error = np.abs(answer["prediction"] - answer["solution"]).sum() / np.abs(answer["solution"]).sum()
    assert answer["error"] == pytest.approx(error)
    assert 0 < answer["seconds"] < 60


def test_explain_takes_one_problem(trained):
    with pytest.raises(ValueError, match="one problem at a time"):
        trained.explain(np.ones((2, 2, 2)))


def test_explain_refuses_what_has_no_solution(untrained):
    model = untrained(task="inverse", dim="2")
    with pytest.raises(ValueError, match="no solution"):
        model.explain(np.ones((2, 2)))
    assert np.isfinite(model.explain(MATRIX)["error"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prediction", [0.0, 2.0])
def test_explain_has_an_error_for_a_solution_of_zero(trained, monkeypatch, prediction):
    monkeypatch.setattr(trained, "solve", lambda *operands, task: np.full((2, 2), prediction))
    assert trained.explain(np.zeros((2, 2)))["error"] == (0.0 if prediction == 0 else None)


def test_the_model_evaluates_itself(trained, tiny_run):
    report = trained.evaluate(num=20, seed=0, tolerances=(*TOLERANCES, 0.0))
    written = json.loads((tiny_run.folder / "result.json").read_text())["report"]
    assert report.accuracy == written["accuracy"]
    assert trained.evaluate(num=5, seed=0, tolerances=(0.5,)).accuracy["l1"].keys() == {"0.5"}


def test_the_front_door_offers_what_the_readme_uses():
    config = learnalg.replace_fields(learnalg.preset("fast"), task="add", dim="2", examples=20_000)
    assert isinstance(config, learnalg.RunConfig)
    assert (config.data.task, config.train.examples) == ("add", 20_000)
    assert learnalg.TASKS is TASKS and learnalg.Model is Model
    with pytest.raises(AttributeError, match="nonsense"):
        _ = learnalg.nonsense


# A task from outside the package.

DETERMINANT = """
import numpy as np
from learnalg.problems import TASKS, Task

TASKS["determinant"] = lambda: Task(
    "the determinant",
    solve=lambda M: np.linalg.det(M)[:, None, None],
    output_shape=lambda m, n: (1, 1),
    square=True,
)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "determinant.py").write_text(DETERMINANT)
    known = dict(TASKS)
    yield "determinant.py"
    TASKS.clear()
    TASKS.update(known)


def test_a_task_of_ones_own_goes_all_the_way(plugin, capsys, tmp_path):
    small = "--encoder-layers 1 --dim-model 16 --heads 2 --batch-size 64 --eval-num 10 --final-num 20 --workers 0"
    flags = [*small.split(), "--device", "cpu", "--precision", "fp32", "--quiet", "--examples", "640"]
    assert main(["train", "--plugin", plugin, "--task", "determinant", "--dim", "2", *flags, "--out", "det2"]) == 0
    capsys.readouterr()

    assert main(["evaluate", "det2", "--plugin", plugin, "--num", "50", "--json", "--constrained"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["task"], report["num"], report["well_formed"]) == ("determinant", 50, 1.0)
    assert report["by_task"].keys() == {"determinant"}

    np.save(tmp_path / "matrix.npy", [[1.0, 2.0], [3.0, 5.0]])
    assert main(["solve", "--plugin", plugin, "det2", "matrix.npy", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert np.shape(answer["prediction"]) == (1, 1)
    assert answer["solution"] == [[pytest.approx(-1.0)]]

    assert main(["list", "--plugin", plugin, "tasks"]) == 0
    assert "determinant         the determinant\n" in capsys.readouterr().out

    del TASKS["determinant"]  # as in a new process
    for command in (["evaluate", "det2"], ["solve", "det2", "matrix.npy"], ["resume", "det2"]):
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "unknown task 'determinant'" in error and "--plugin FILE" in error
        assert error.count("\n") == 1


def test_several_plugins_may_be_given(plugin, tmp_path, capsys):
    (tmp_path / "other.py").write_text(DETERMINANT.replace('"determinant"', '"other"'))
    assert main(["list", "tasks", "--plugin", plugin, "--plugin=other.py"]) == 0
    assert {"determinant", "other"} <= {line.split()[0] for line in capsys.readouterr().out.splitlines()}
