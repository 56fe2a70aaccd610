"""A model in Python: load, solve, evaluate."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

import learnalg
from learnalg.cli import main
from learnalg.evaluation.result import Result
from learnalg.models import build, sides
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.zoo import model as module
from learnalg.zoo.index import MODEL_FILE, released
from learnalg.zoo.model import Model
from learnalg.zoo.operands import OutsideWarning

MATRIX = np.array([[1.0, -2.0], [3.0, 4.5]])


@pytest.fixture(scope="module")
def trained(tiny_run):
    return learnalg.load(tiny_run.folder)


@pytest.fixture
def untrained(tiny_config):
    def make(**changes):
        config = tiny_config(**changes)
        torch.manual_seed(1)
        return Model(config, build(config.model, *sides(Problem(config.data))).eval())

    return make


def test_a_model_is_loaded_from_its_folder_or_its_file(trained, tiny_run):
    again = learnalg.load(str(tiny_run.folder / MODEL_FILE))
    assert again.config == trained.config == tiny_run.config
    np.testing.assert_array_equal(again.solve(MATRIX).value, trained.solve(MATRIX).value)


def test_one_matrix_is_solved(trained):
    answer = trained.solve(MATRIX).value
    assert answer.shape == (2, 2)
    assert np.abs(answer - MATRIX.T).sum() < 0.2 * np.abs(MATRIX).sum()
    assert trained.solve([[3]]).value.shape == (1, 1)  # lists and whole numbers will do


def test_a_batch_is_solved_as_each_alone(trained):
    batch = np.random.default_rng(1).uniform(-10, 10, (20, 2, 2))
    answers = trained.solve(batch).value
    assert answers.shape == (20, 2, 2)
    np.testing.assert_array_equal(answers, [trained.solve(matrix).value for matrix in batch])
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
@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 1, 2), (0,), (3, 0)])
def test_answers_have_the_tasks_shape_even_before_training(untrained, task, operands, shape, lead):
    model = untrained(task=task, dim="3" if operands[0] == (3, 3) else "2x3")
    solution = model.solve(*(np.ones((*lead, *operand)) for operand in operands))
    assert solution.value.shape == (*lead, *shape)
    assert np.isfinite(solution.value).all()
    for known in (solution.residual, solution.trusted, solution.confidence, solution.well_formed):
        assert known.shape == lead == solution.shape
    assert [seen.shape for seen in solution.seen] == [
        (*lead, *matrix.shape[len(lead) :]) for matrix in solution.operands
    ]


@pytest.mark.parametrize(
    ("operands", "complaint"),
    [
        ([], "takes 1 matrices, not 0"),
        ([MATRIX, MATRIX], "takes 1 matrices, not 2"),
        ([np.eye(3)], "3x3 matrix, but this model was trained on dim 1-2"),
        ([np.ones((1, 2))], "1x2 matrix, but this model was trained on dim 1-2"),
        ([np.ones(2)], r"shape \(2,\)"),
        ([3.0], r"shape \(\)"),
        ([np.ones((0, 0))], "shape"),
        ([np.ones((3, 0, 2))], "shape"),
        ([[[np.nan]]], "NaN or infinity"),
        ([[[np.inf]]], "NaN or infinity"),
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
    assert model.solve([[1.0, 2.0], [2.0, 4.0]]).value.shape == model.problem.tasks[0][1].output_shape(2, 2)
    with pytest.raises(ValueError, match="symmetric"):
        model.solve(MATRIX)


def test_symmetric_means_up_to_rounding(untrained):
    matrix = np.array([[1.0, 0.1 + 0.2], [0.3, 2.0]])
    assert untrained(task="eigenvalues", dim="2").solve(matrix).value.shape == (2, 1)


def test_a_model_of_several_tasks_must_be_told_which(untrained):
    model = untrained(task="TA", dim="2")
    with pytest.raises(ValueError, match="which task\\? this model knows transpose, add"):
        model.solve(MATRIX)
    with pytest.raises(ValueError, match="this model knows transpose, add"):
        model.solve(MATRIX, task="inverse")
    assert model.solve(MATRIX, task="transpose").value.shape == (2, 2)
    assert model.solve(MATRIX, MATRIX, task="add").value.shape == (2, 2)


def test_a_solution_has_numpys_answer_beside_it(trained):
    solution = trained.solve([[1.23456, -2.0], [3.0, 4.5]])
    np.testing.assert_allclose(solution.seen[0], [[1.23, -2.0], [3.0, 4.5]])  # three digits
    np.testing.assert_array_equal(solution.expected, [[1.23456, 3.0], [-2.0, 4.5]])
    error = np.abs(solution.value - solution.expected).sum() / np.abs(solution.expected).sum()
    assert solution.error == pytest.approx(error)
    assert 0 < solution.seconds < 60


def test_what_has_no_solution_has_no_error(untrained):
    model = untrained(task="inverse", dim="2")
    assert np.isnan(model.solve(np.ones((2, 2))).error)
    assert np.isfinite(model.solve(MATRIX).error)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prediction", [0.0, 2.0])
def test_a_solution_of_zero_has_an_error(trained, prediction):
    solved = replace(trained.solve(np.zeros((2, 2))), matrix=np.full((2, 2), prediction))
    assert solved.error == (0.0 if prediction == 0 else np.inf)


def test_the_model_evaluates_itself(trained, tiny_run):
    written = Result.read(tiny_run.folder / "result.json").report
    tolerances = tuple(map(float, written.accuracy["l1"]))
    report = trained.evaluate(num=20, seed=tiny_run.config.train.seed, tolerances=tolerances, split="valid")
    assert report.accuracy == written.accuracy
    assert trained.evaluate(num=5, tolerances=(0.5,)).accuracy["l1"].keys() == {"0.5"}


def test_a_model_is_evaluated_with_the_words_of_the_command(trained, tiny_run, capsys):
    flags = ["--ensemble", "laplace", "--dim", "2", "--sigma-factor", "0.5", "--beam", "2", "--constrained"]
    assert main(["evaluate", str(tiny_run.folder), "--num", "20", "--seed", "3", "--json", *flags]) == 0
    said = json.loads(capsys.readouterr().out)
    report = trained.evaluate(20, 3, ensemble="laplace", dim=2, sigma_factor=0.5, beam=2, constrained=True)
    assert report.accuracy == said["accuracy"] and report.well_formed == said["well_formed"] == 1.0
    assert report.data == said["data"] and report.data["ensemble"] == ["laplace"]
    assert trained.evaluate(10, amplitude=3, noise=0.1).data["amplitude"] == [3.0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"ensemble": "laplacian"}, "did you mean 'laplace'"),
        ({"dim": "two"}, "dimensions 'two'"),
        ({"amplitude": -1}, "amplitude"),
        ({"sigma_factor": 0}, "sigma_factor 0.0: must be positive"),
        ({"noise": 11}, "noise 11.0"),
    ],
)
def test_words_that_mean_nothing_are_refused(trained, words, says):
    with pytest.raises(ValueError, match=says):
        trained.evaluate(5, **words)


def test_a_model_shows_what_it_is(trained, tiny_run, untrained):
    assert repr(trained).startswith(f"<Model {tiny_run.folder}: transpose, dim 1-2, iid-uniform, A = 10; accuracy ")
    assert "of the validation split)>" in repr(trained)
    assert repr(untrained(task="svd", dim="2", symmetric=True)) == (
        "<Model without a name: svd, dim 2, symmetric, iid-uniform, A = 10>"
    )


def test_released_models_are_a_table_in_a_notebook():
    names = learnalg.released()
    page = names._repr_html_()
    assert page.count("<tr>") == len(names) + 1 and "<td>laplace</td>" in page
    assert learnalg.released()[:2] == names[:2]


@pytest.mark.parametrize("task", ["svd", "singular_values"])
def test_models_of_symmetric_matrices_refuse_others(untrained, task):
    """They answered nonsense."""
    model = untrained(task=task, dim="2", symmetric=True)
    assert np.isfinite(model.solve([[1.0, 2.0], [2.0, 4.0]]).value).all()
    with pytest.raises(ValueError, match="was trained on symmetric matrices only"):
        model.solve(MATRIX)


def test_both_operands_of_a_symmetric_model_are_symmetric(untrained):
    model = untrained(task="add", dim="2", symmetric=True)
    with pytest.raises(ValueError, match="was trained on symmetric matrices only"):
        model.solve(np.eye(2), MATRIX)


def test_a_matrix_of_another_scale_is_rescaled(trained):
    rng = np.random.default_rng(2)
    batch = rng.uniform(-10, 10, (20, 2, 2))
    batch[0, 0, 0] = 10.0  # of full scale already
    for exponent in (-1000, -40, 40, 1000):
        solution = trained.solve(np.ldexp(batch, exponent))
        error = np.abs(np.ldexp(solution.value, -exponent) - batch.swapaxes(1, 2)).sum((1, 2)) / np.abs(batch).sum(
            (1, 2)
        )
        assert np.median(error) < 0.05
        np.testing.assert_array_equal(solution.trusted, error < 0.05)
        np.testing.assert_allclose(solution.seen[0], solution.operands[0], rtol=0.006)
    with pytest.raises(ValueError, match="too large for fp15"):
        trained.solve(1e200 * batch, rescale=False)


def test_what_is_in_distribution_is_read_as_it_is(trained):
    batch = np.random.default_rng(1).uniform(-10, 10, (50, 2, 2)).round(1)
    is_kept = (trained.solve(batch).seen[0] == batch).all(axis=(1, 2))
    assert is_kept.mean() > 0.95  # not where all four are small
    np.testing.assert_array_equal(trained.solve(batch, rescale=False).seen[0], batch)


def test_a_size_outside_is_allowed_with_a_warning(trained):
    with pytest.warns(OutsideWarning, match="3x3 matrix, but this model was trained on dim 1-2"):
        assert trained.solve(np.eye(3), allow_outside=True).value.shape == (3, 3)


def test_a_model_says_whether_it_wrote_a_matrix_of_its_own_accord(trained, untrained):
    batch = np.random.default_rng(3).uniform(-10, 10, (50, 2, 2))
    before, after = untrained(task="transpose", dim="2").solve(batch), trained.solve(batch)
    assert not before.well_formed.any() and after.well_formed.mean() > 0.9
    assert before.confidence.max() < after.confidence.mean() <= 1
    assert before.seconds > 0


def test_errors_of_a_stack_name_the_index(untrained):
    batch = np.ones((2, 3, 2, 2))
    batch[1, 0, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"the matrix \(1, 0\) holds NaN"):
        untrained(task="eigenvalues", dim="2").solve(batch)
    batch[1, 0, 0, 1] = 2.0
    with pytest.raises(ValueError, match=r"matrix \(1, 0\) is not symmetric"):
        untrained(task="eigenvalues", dim="2").solve(batch)


def test_a_stack_is_solved_in_portions(trained, monkeypatch):
    batch = np.random.default_rng(1).uniform(-10, 10, (7, 2, 2))
    whole = trained.solve(batch).value
    sizes = []
    monkeypatch.setattr(module, "PORTION_TOKENS", 3 * sum(trained.problem.lengths))
    predict = trained._predict
    monkeypatch.setattr(trained, "_predict", lambda inputs, *rest: sizes.append(len(inputs)) or predict(inputs, *rest))
    np.testing.assert_array_equal(trained.solve(batch).value, whole)
    assert sizes == [3, 3, 1]


MEMORY = """
import resource, sys
import numpy as np
import torch
import learnalg
torch.set_num_threads(1)
model = learnalg.load("inverse-3")
stack = np.random.default_rng(1).uniform(-10, 10, (int(sys.argv[1]), 3, 3))
model.solve(stack[:10])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.solve(stack)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ru_maxrss is in other units")
def test_a_large_stack_takes_little_memory():
    """2,000 inverses took 700 MB, and 100,000 of them 35 GB."""
    done = subprocess.run([sys.executable, "-c", MEMORY, "2000"], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 400


def test_a_model_solves_on_its_device(trained, monkeypatch):
    """torch's meta device takes no tensor from another one, so a tensor left on the CPU is an error here."""
    seen = []

    def greedy(model, source_BS, max_length, grammar, shape):
        seen.extend((source_BS.device.type, grammar.kinds_KV.device.type))
        raise InterruptedError

    monkeypatch.setattr(module, "greedy", greedy)
    away = Model(trained.config, build(trained.config.model, *sides(trained.problem)).to("meta"))
    with pytest.raises(InterruptedError):
        away.solve(MATRIX)
    assert seen == ["meta", "meta"]


def test_the_front_door_offers_what_the_readme_uses():
    config = learnalg.replace_fields(learnalg.preset("fast"), task="add", dim="2", examples=20_000)
    assert isinstance(config, learnalg.RunConfig)
    assert (config.data.task, config.train.examples) == ("add", 20_000)
    assert learnalg.TASKS is TASKS and learnalg.Model is Model
    assert learnalg.released() == released() != []
    with pytest.raises(AttributeError, match="nonsense"):
        _ = learnalg.nonsense


def test_the_front_door_shows_its_names():
    names = dir(learnalg)
    assert {
        "Model",
        "Solution",
        "linalg",
        "RunConfig",
        "TASKS",
        "Task",
        "load",
        "preset",
        "released",
        "replace_fields",
    } <= set(names)
    assert all(getattr(learnalg, name) is not None for name in names)


def test_import_changes_nothing_in_the_process():
    """OpenMP's and malloc's settings are the process's, and made by the commands."""
    code = (
        "import os; before = dict(os.environ); import learnalg; print(dict(os.environ) == before)\n"
        "import sys; print('ctypes' in sys.modules, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["True", "False", "False", "False"]


def test_the_commands_prepare_the_process(monkeypatch):
    code = "import os; from learnalg.cli import main; main(['encode', '3'])\nprint(os.environ['GOMP_SPINCOUNT'])"
    environment = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "10000"
