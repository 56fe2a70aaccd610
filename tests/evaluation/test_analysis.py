"""Failure anatomy: statistics known by hand, what is malformed or wild, and the command as a process."""

import dataclasses
import json
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path

import numpy as np
import pytest

from learnalg.config import DataConfig
from learnalg.data import Batch, Group, fixed_set
from learnalg.evaluation.analysis import analyse, bins, most_below, spread
from learnalg.evaluation.anatomy import markdown, print_analysis, save_analysis
from learnalg.evaluation.evaluate import Predictions
from learnalg.evaluation.figures import draw_figures
from learnalg.evaluation.judge import judge
from learnalg.evaluation.measurements import collect, condition_numbers, spectrum_gaps, vector_columns
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.reproduction.claims import THRESHOLDS, numbers_for
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_TASK, PAD
from learnalg.training.loop import train

VECTORS = Problem(DataConfig(task="eigenvectors", dim="3"))
INVERSE = Problem(DataConfig(task="inverse", dim="3"))
NAN, INF = float("nan"), float("inf")


def array(*values):
    return np.array(values, dtype=float)


def flags(text):
    """'..x' -> two right, one failed."""
    return np.array([letter == "x" for letter in text], dtype=bool)


def predicted(problem, change, num=200):
    """Predictions, with change(targets, batch) in place of a model's."""
    batches = tuple(fixed_set(problem, num, seed=3))
    found = [judge(problem, batch, change(batch.targets.copy(), batch)) for batch in batches]
    judged, values = zip(*found, strict=True)
    return Predictions(problem, num, 3, "test", batches, judged, values, loss=0.0, seconds=0.0)


def anatomy(config, change, num=200, **arguments):
    tasks = analyse(config, collect(predicted(config, change, num)), thresholds=THRESHOLDS, **arguments)
    return {task: found | {"paper": numbers_for(task, config.config, config.config)} for task, found in tasks.items()}


def right(targets, batch):
    return targets


def malformed(targets, batch):
    return np.full_like(targets, PAD)


def rewrite(config, new):
    """A change that writes new(inputs, solutions) in place of the solutions of a batch of one size."""

    def change(targets, batch):
        (group,) = batch.groups
        ids = config.tokenizers[1].encode(new(group.inputs, group.solutions.copy()), group.task)
        return np.pad(ids, ((0, 0), (0, 1)), constant_values=END)

    return change


def stretch(inputs, solutions):
    """Of the first 30, the eigenvector of the largest eigenvalue gets the length 1.2: H^T M H then has 1.44 lambda
    where D has lambda, an error of at least 0.44 / 3."""
    rows = np.arange(30)
    solutions[rows, 1:, np.abs(solutions[rows, 0]).argmax(axis=1)] *= 1.2
    return solutions


def wrapped(tested, tasks):
    """What the command puts around the tasks."""
    return {
        "model": "hand-made",
        "num": 200,
        "seed": 3,
        "tolerance": 0.05,
        "data": dataclasses.asdict(tested.config),
        "provenance": {"commit": "0123abc", "time": "2026-11-15T00:00:00Z"},
        "tasks": tasks,
    }


# What is measured of a problem and of a prediction.


def test_condition_numbers_by_hand():
    cos, sin = 0.6, 0.8
    matrices = array(
        [[4, 0], [0, 0.5]], [[cos, -sin], [sin, cos]], [[1, 1], [1, 1]], [[0, 0], [0, 0]], [[NAN, 0], [0, 1]]
    )
    found = condition_numbers(matrices)
    assert found[:2].tolist() == [8, 1]  # a rotation's, exactly: rounding is rounded away
    assert found[2] > 1e9 and found[3] == INF and np.isnan(found[4])
    assert condition_numbers(array([[3, 0, 0], [0, 0, 2]])).tolist() == [1.5]
    assert condition_numbers(np.empty((0, 2, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("diagonal", "is_symmetric", "gap"),
    [
        ([1, 2, 10], True, 0.1),
        ([-10, 1, 3], True, 0.2),
        ([3, -3], True, 2.0),
        ([3, -3], False, 0.0),  # equal singular values
        ([5], True, NAN),
        ([0, 0], True, NAN),
    ],
)
def test_spectrum_gaps_by_hand(diagonal, is_symmetric, gap):
    (found,) = spectrum_gaps(np.diag(array(*diagonal))[None], is_symmetric)
    assert found == pytest.approx(gap, nan_ok=True)


def test_the_gap_of_a_noisy_symmetric_matrix_is_that_of_its_symmetric_part():
    assert spectrum_gaps(array([[1, 0.5], [-0.5, 3]]), True) == pytest.approx(2 / 3)


def one_problem(config, inputs, solution, predicted=None):
    """A test set of one problem, solved rightly or as predicted."""
    inputs, solution = array(inputs), array(solution)
    source, target = config.tokenizers

    def written(matrices):
        return np.pad(target.encode(matrices), ((0, 0), (0, 1)), constant_values=END)

    dims = (inputs.shape[1], config.dims.cols[1])
    batch = Batch(source.encode(inputs), written(solution), (Group(0, dims, np.array([0]), inputs, solution),))
    judged, values = judge(config, batch, written(solution if predicted is None else array(predicted)))
    return collect(Predictions(config, 1, 0, "test", (batch,), (judged,), (values,), loss=0.0, seconds=0.0))[0]


def test_of_two_operands_the_worse_one_counts():
    # Singular values 4 and 1, gap 3/4; 9 and 1, gap 8/9.
    found = one_problem(Problem(DataConfig(task="add", dim="2")), [[4, 0, 9, 0], [0, 1, 0, 1]], [[13, 0], [0, 2]])
    drivers = {name: float(values[0]) for name, values in found.drivers.items()}
    assert drivers == pytest.approx({"condition": 9, "gap": 0.75, "norm": 15, "size": 8})


def test_a_vector_has_no_gap_of_its_own():
    found = one_problem(Problem(DataConfig(task="matvec", dim="2")), [[4, 0, 1], [0, 1, 1]], [[4], [1]])
    drivers = {name: float(values[0]) for name, values in found.drivers.items()}
    assert drivers == pytest.approx({"condition": 4, "gap": 0.75, "norm": 5, "size": 6})


@pytest.mark.parametrize(
    ("changes", "solution", "gap"),
    [
        ({"task": "eigenvalues"}, [[3], [-3]], 2.0),
        ({"task": "singular_values"}, [[3], [3]], 0.0),
        ({"task": "singular_values", "symmetric": True}, [[3], [3]], 2.0),
    ],
)
def test_the_gap_of_symmetric_matrices_is_between_eigenvalues(changes, solution, gap):
    found = one_problem(Problem(DataConfig(dim="2", **changes)), [[3, 0], [0, -3]], solution)
    assert found.drivers["gap"] == pytest.approx(gap)


def test_an_inverse_has_two_accuracies():
    # P M - Id = [[0, 0.4], [0, 0.2]] beside Id: 0.3; P - O = [[0, 0.1], [0, 0.05]] beside O: 0.2.
    config = Problem(DataConfig(task="inverse", dim="2"))
    found = one_problem(config, [[2, 0], [0, 4]], [[0.5, 0], [0, 0.25]], predicted=[[0.5, 0.1], [0, 0.3]])
    found = analyse(config, [found])["inverse"]
    assert (found["accuracy"]["0.25"], found["distance_accuracy"]["0.25"]) == (0.0, 1.0)
    assert found["failures"] == 1


def test_eigenvectors_by_hand():
    # M = diag(3, 1). H's columns are (1, 0) and (0.6, 0.8): H^T H = [[1, 0.6], [0.6, 1]], eigenvalues 1.6 and 0.4.
    # H D H^T - M for D = (3, 1) is [[0.36, 0.48], [0.48, -0.36]].
    found = vector_columns(
        array([[3, 0], [0, 1]]), array([[3, 1], [1, 0], [0, 1]]), array([[3, 1], [1, 0.6], [0, 0.8]]), widest=3
    )
    assert found["norms"][0].tolist() == pytest.approx([1, 1, NAN], nan_ok=True)
    assert found["dots"][0].tolist() == pytest.approx([0.6, NAN, NAN], nan_ok=True)
    assert found["condition_of_h"] == pytest.approx(2)
    assert found["weak_errors"] == pytest.approx(1.68 / 4)
    assert found["eigenvalue_errors"] == 0
    other = vector_columns(
        array([[3, 0], [0, 1]]), array([[3, 1], [1, 0], [0, 1]]), array([[3.3, 1], [1, 0], [0, 1]]), 2
    )
    assert other["eigenvalue_errors"] == pytest.approx(0.3 / 4)
    assert other["weak_errors"] == pytest.approx(0.3 / 4)


def test_spread_by_hand():
    # Lines of 2, 1 and 2 numbers: 1, 1.02 | 0.98 | 1, 1.06; what is beyond does not count.
    lines = array([1, 1.02, NAN], [0.98, 77, NAN], [1, 1.06, NAN])
    found = spread(lines, np.array([2, 1, 2]), 1.0, (0.01, 0.05))
    assert (found["num"], found["vectors"], found["not_finite"]) == (3, 5, 0)
    assert (found["mean"], found["median"]) == pytest.approx((1.012, 1.0))
    assert found["sd"] == pytest.approx((0.00368 / 5) ** 0.5)  # 0.012^2 + 0.008^2 + 0.032^2 + 0.012^2 + 0.048^2
    assert found["share"] == {"0.01": 0.0, "0.05": pytest.approx(2 / 3)}
    assert found["share_of_vectors"] == {"0.01": pytest.approx(2 / 5), "0.05": pytest.approx(4 / 5)}


def test_numbers_that_are_not_finite_are_far_from_everything():
    found = spread(array([1, INF], [1, NAN], [1, 1]), np.array([2, 2, 2]), 1.0, (0.05,))
    assert (found["not_finite"], found["mean"], found["share"]) == (2, 1.0, {"0.05": pytest.approx(1 / 3)})
    nothing = spread(np.empty((0, 2)), np.empty(0, dtype=int), 1.0, (0.05,))
    assert (nothing["num"], nothing["mean"], nothing["sd"], nothing["share"]) == (0, None, None, {"0.05": None})


def test_most_are_below():
    values = np.random.default_rng(0).permutation(np.arange(1.0, 101))
    assert (most_below(values), -most_below(-values)) == (98, 3)  # 98 of 100 are at or below 98, and at or above 3
    assert most_below(array(NAN, 7)) == 7
    assert most_below(array()) is None and most_below(array(INF)) is None


def test_bins_by_hand():
    scores = np.arange(200.0)
    errors = np.where(scores < 100, 0.01, 0.2)
    found = bins(scores, errors, errors >= 0.05)
    assert sum(part["num"] for part in found) == 200
    assert [part["high"] for part in found] == sorted(part["high"] for part in found)
    assert (found[0]["low"], found[0]["num"], found[-1]["high"]) == (0, 3, 199)  # 1 %, its top rounded up
    assert (found[0]["accuracy"], found[0]["median_error"]) == (1.0, 0.01)
    assert (found[-1]["accuracy"], found[-1]["median_error"]) == (0.0, 0.2)


def test_equal_scores_share_a_bin_and_missing_ones_have_none():
    found = bins(array(1, 1, 1, INF, NAN), array(0.1, 0.2, INF, INF, 0), flags("xxxx."))
    assert [(part["low"], part["high"], part["num"]) for part in found] == [(1, 1, 3), (None, None, 1)]
    assert [part["median_error"] for part in found] == [0.2, None]
    assert bins(array(NAN), array(0), flags(".")) == []


# A whole anatomy.


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("change", [right, malformed])
def test_every_task_can_be_taken_apart_whether_all_is_right_or_nothing(task, change):
    config = Problem(DataConfig(task=task, dim="2", output_encoding="p10000"))
    (found,) = anatomy(config, change, num=50).values()
    hopeless = found["rounded_solution_fails"]  # an ill-conditioned matrix may have no inverse of four digits
    assert found["failures"] == (50 if change is malformed else hopeless)
    assert found["failures_by_rounding"] == hopeless < 10
    if change is malformed:
        assert (found["without_matrix"], found["malformed"]) == (50, {"no end": 50})
        assert set(found["accuracy"].values()) == {0.0}
        assert {driver["no_roc"] for driver in found["drivers"].values()} <= {"every example failed"}
    elif not hopeless:
        assert {driver["no_roc"] for driver in found["drivers"].values()} == {"no example failed"}
    json.dumps(found, allow_nan=False)
    text = markdown(wrapped(config, {task: found}))
    assert ("There is no ROC" in text) == (change is malformed or not hopeless)


def test_failures_at_large_condition_numbers_are_predicted_without_error():
    def double_the_hard_ones(inputs, solutions):
        return np.where(np.linalg.cond(inputs)[:, None, None] > 10, 2 * solutions, solutions)

    config = Problem(dataclasses.replace(INVERSE.config, output_encoding="p10000"))
    found = anatomy(config, rewrite(config, double_the_hard_ones))["inverse"]
    condition = np.concatenate([np.linalg.cond(g.inputs) for b in fixed_set(config, 200, 3) for g in b.groups])
    number = int((condition > 10).sum())
    assert 20 < number < 180
    predictor = found["drivers"]["condition"]
    assert (found["failures"], predictor["failures"], predictor["auc"]) == (number, number, 1.0)
    assert predictor["best"]["threshold"] == pytest.approx(condition[condition <= 10].max())
    assert (predictor["best"]["failures_caught"], predictor["best"]["false_alarms"]) == (number, 0)
    (at_the_papers,) = predictor["paper"]
    assert at_the_papers["threshold"] == 51.5
    assert at_the_papers["failures_caught"] == (condition > 51.5).sum()
    assert at_the_papers["failures_missed"] == ((condition > 10) & (condition <= 51.5)).sum()
    assert at_the_papers["right_let_through"] == 200 - number
    assert (predictor["bins"][0]["accuracy"], predictor["bins"][-1]["accuracy"]) == (1.0, 0.0)
    # 2 P M - Id = Id and 2 P - P = P: the error is 1 in both metrics.
    share = pytest.approx(1 - number / 200)
    assert (found["accuracy"]["0.25"], found["distance_accuracy"]["0.25"]) == (share, share)


def test_a_long_vector_is_seen_in_the_norms_and_in_nothing_else():
    found = anatomy(VECTORS, rewrite(VECTORS, stretch))["eigenvectors"]
    vectors = found["vectors"]
    assert vectors["norms"]["all"]["share"] == {"0.01": pytest.approx(170 / 200), "0.05": pytest.approx(170 / 200)}
    assert vectors["norms"]["all"]["share_of_vectors"]["0.05"] == pytest.approx(570 / 600)
    assert vectors["norms"]["all"]["mean"] == pytest.approx(1 + 0.2 * 30 / 600, abs=1e-3)
    assert vectors["dots"]["all"]["share"]["0.01"] == 1.0
    assert vectors["eigenvalue_accuracy"]["0.01"] == 1.0
    assert found["failures"] == vectors["norms"]["failures"]["num"] == 30
    assert vectors["norms"]["failures"]["share"]["0.05"] == 0.0
    predictor = vectors["condition_of_h"]
    assert (predictor["auc"], predictor["best"]["failures_caught"], predictor["best"]["false_alarms"]) == (1.0, 30, 0)
    assert 1 < predictor["right_98_below"] <= predictor["best"]["threshold"] < 1.02
    assert predictor["failures_98_above"] == pytest.approx(1.2, abs=0.02)
    assert [mark["threshold"] for mark in predictor["paper"]] == [1.035, 1.04]
    assert [mark["failures_caught"] for mark in predictor["paper"]] == [30, 30]


def test_wrong_eigenvalues_spoil_the_weak_metric_and_not_the_vectors():
    def shift(inputs, solutions):
        solutions[:, 0] *= 1.1
        return solutions

    found = anatomy(VECTORS, rewrite(VECTORS, shift), num=100)["eigenvectors"]
    vectors = found["vectors"]
    assert (vectors["eigenvalue_accuracy"]["0.05"], vectors["eigenvalue_accuracy"]["0.15"]) == (0.0, 1.0)
    assert (vectors["weak_accuracy"]["0.05"], vectors["weak_accuracy"]["0.15"]) == (0.0, 1.0)
    assert (vectors["norms"]["all"]["share"]["0.01"], vectors["dots"]["all"]["share"]["0.01"]) == (1.0, 1.0)
    assert found["drivers"]["condition"]["no_roc"] == "every example failed"


def test_what_is_no_matrix_fails_and_is_left_out_of_what_measures_matrices():
    def damage(targets, batch):
        targets[0] = PAD
        targets[1, -1] = PAD  # no end either
        targets[2, 0] = FIRST_DIM  # 1x3: too long
        return targets

    found = anatomy(VECTORS, damage, num=100)["eigenvectors"]
    assert (found["failures"], found["without_matrix"]) == (3, 3)
    assert found["malformed"] == {"no end": 2, "too long": 1}
    assert found["accuracy"]["0.25"] == found["vectors"]["weak_accuracy"]["0.25"] == pytest.approx(0.97)
    assert found["vectors"]["eigenvalue_accuracy"]["0.25"] == pytest.approx(0.97)
    assert (found["vectors"]["norms"]["all"]["num"], found["vectors"]["norms"]["failures"]["num"]) == (97, 0)
    assert found["vectors"]["condition_of_h"]["left_out"] == 3
    assert found["vectors"]["condition_of_h"]["no_roc"] == "no example failed"  # of those that have an H
    assert (found["drivers"]["condition"]["num"], found["drivers"]["condition"]["failures"]) == (100, 3)
    text = markdown(wrapped(VECTORS, {"eigenvectors": found}))
    assert "3 of them are no matrix of the right shape (no end: 2, too long: 1)" in text


def test_a_matrix_of_another_shape_is_no_matrix_and_not_malformed():
    config = Problem(DataConfig(task="transpose", dim="2x3"))

    def same_shape(targets, batch):
        targets[:5, :2] = targets[:5, 1::-1]  # 2x3 for 3x2: as many coefficients
        return targets

    found = anatomy(config, same_shape, num=50)["transpose"]
    assert (found["failures"], found["without_matrix"], found["malformed"]) == (5, 5, {})
    assert "another shape or task: 5" in markdown(wrapped(config, {"transpose": found}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0.0, 5e170])
def test_wild_predictions_are_wrong_and_harm_nothing(size):
    config = Problem(
        dataclasses.replace(VECTORS.config, output_encoding="positional:base=1000,digits=3,exponents=-200:200")
    )

    def wild(inputs, solutions):
        solutions[:10] = size  # whose square is 0, or beyond what a double can hold
        return solutions

    found = anatomy(config, rewrite(config, wild), num=100)["eigenvectors"]
    assert (found["failures"], found["without_matrix"]) == (10, 0)
    json.dumps(found, allow_nan=False)
    norms = found["vectors"]["norms"]
    assert norms["all"]["share"]["0.05"] == pytest.approx(0.9)
    assert norms["all"]["not_finite"] == (30 if size else 0)
    assert found["vectors"]["weak_accuracy"]["0.25"] == pytest.approx(0.9)
    examples = collect(predicted(config, rewrite(config, wild), 100))[0]
    assert all(content.startswith(b"<?xml") for content in draw_figures(examples, found, 0.05).values())


def test_solutions_that_no_answer_can_meet_are_counted():
    # det M is 0.0078, and M^-1 has coefficients near 300: three digits leave errors of up to 0.5 in each of them.
    config = Problem(DataConfig(task="inverse", dim="2"))
    M = np.array([[3.14, 2.72], [2.71, 2.35]])
    solution = np.linalg.inv(M)
    rounded = np.array([[float(f"{x:.2e}") for x in row] for row in solution])
    error = np.abs(rounded @ M - np.eye(2)).sum() / 2
    examples = one_problem(config, M, solution)
    assert examples.rounded_errors == pytest.approx(error) and error > 0.05
    found = analyse(config, [examples])["inverse"]
    assert (found["failures"], found["rounded_solution_fails"], found["failures_by_rounding"]) == (1, 1, 1)
    found = analyse(config, [examples], failure=2 * error)["inverse"]
    assert (found["failures"], found["rounded_solution_fails"], found["failures_by_rounding"]) == (0, 0, 0)


def test_sizes_are_told_apart():
    config = Problem(DataConfig(task="eigenvectors", dim="1-3"))

    def spoil_the_large(targets, batch):
        for group in batch.groups:
            if group.dims == (3, 3):
                targets[group.rows] = PAD
        return targets

    found = anatomy(config, spoil_the_large, num=150)["eigenvectors"]
    by_size = found["by_dimension"]
    assert by_size.keys() == {"1x1", "2x2", "3x3"} and sum(part["num"] for part in by_size.values()) == 150
    assert [by_size[size]["accuracy"] for size in by_size] == [1.0, 1.0, 0.0]
    size = found["drivers"]["size"]
    assert (size["side"], size["auc"], size["best"]["threshold"]) == ("large", 1.0, 4)
    assert found["drivers"]["gap"]["left_out"] == by_size["1x1"]["num"]  # one eigenvalue has no gap
    assert found["vectors"]["dots"]["all"]["num"] == by_size["2x2"]["num"]  # one vector has no neighbour
    assert "### By dimension" in markdown(wrapped(config, {"eigenvectors": found}))


def test_joint_training_has_one_anatomy_a_task():
    config = Problem(DataConfig(task="EFI", dim="2"))

    def no_inverse(targets, batch):
        targets[targets[:, 0] == FIRST_TASK + 2] = PAD
        return targets

    found = anatomy(config, no_inverse)
    assert list(found) == ["eigenvalues", "eigenvectors", "inverse"]
    assert sum(part["num"] for part in found.values()) == 200
    assert [part["failures"] for part in found.values()] == [0, 0, found["inverse"]["num"]]
    assert ["vectors" in part for part in found.values()] == [False, True, False]


def test_the_tolerance_says_what_a_failure_is():
    def off_by_three_percent(inputs, solutions):
        return 1.03 * solutions

    config = Problem(DataConfig(task="transpose", dim="2"))
    change = rewrite(config, off_by_three_percent)
    assert anatomy(config, change, num=20)["transpose"]["failures"] == 0
    assert anatomy(config, change, num=20, failure=0.02)["transpose"]["failures"] == 20
    for failure in (0, -0.1, NAN, INF):
        with pytest.raises(ValueError, match="tolerance"):
            anatomy(config, change, num=20, failure=failure)


# Texts and figures.


def test_the_text_has_ours_and_the_papers_side_by_side(capsys):
    analysis = wrapped(VECTORS, anatomy(VECTORS, rewrite(VECTORS, stretch)))
    text = markdown(analysis)
    found = analysis["tasks"]["eigenvectors"]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    weak = next(k for k, row in enumerate(rows) if row[0].startswith("weak"))
    assert rows[weak][4] == f"{100 * found['vectors']['weak_accuracy']['0.05']:.1f}"
    assert rows[weak + 1][1:5] == ["73.0", "88.4", "92.9", "95.7"]
    assert ["all norms within 0.05 of 1, %", "85.0", "0.0", "99.9"] in rows
    assert any(row[0] == "paper's, 1.04" and row[1] == str(found["failures"]) for row in rows)
    assert "(the paper: 1.035)" in text and "section 4.5" in text and "0123abc" in text
    assert "nan" not in text.lower() and "none" not in text.lower()
    print_analysis(analysis)
    said = capsys.readouterr().out
    assert "What predicts failure" in said and "Columns of the predicted H" in said
    assert max(map(len, said.split("Accuracy by")[1].splitlines())) <= 80


def test_the_folder_has_all_and_the_figures_are_svg(tmp_path):
    parts = collect(predicted(VECTORS, rewrite(VECTORS, stretch)))
    analysis = wrapped(VECTORS, analyse(VECTORS, parts, thresholds=THRESHOLDS))
    names = {f"eigenvectors-{name}.svg" for name in ("accuracy", "roc", "condition", "vectors")}
    for folder in (tmp_path / "a" / "first", tmp_path / "second"):
        save_analysis(folder, analysis, parts)
        assert {path.name for path in folder.iterdir()} == names | {"analysis.json", "analysis.md"}
    for name in names:
        content = (tmp_path / "second" / name).read_bytes()
        assert xml.dom.minidom.parseString(content).documentElement.tagName == "svg"
        assert content == (tmp_path / "a" / "first" / name).read_bytes()
        assert f"({name})" in (tmp_path / "second" / "analysis.md").read_text()


@pytest.mark.parametrize(("change", "missing"), [(right, {"roc"}), (malformed, {"roc", "condition", "vectors"})])
def test_figures_that_cannot_be_drawn_are_not_there(change, missing):
    examples = collect(predicted(VECTORS, change, 50))
    drawn = draw_figures(examples[0], analyse(VECTORS, examples)["eigenvectors"], 0.05)
    everything = {"accuracy", "roc", "condition", "vectors"}
    assert {name.removeprefix("eigenvectors-").removesuffix(".svg") for name in drawn} == everything - missing


def test_matplotlib_is_loaded_for_figures_only():
    code = "import sys, learnalg.cli.analyse, learnalg.evaluation.anatomy; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# The command.


@pytest.fixture(scope="module")
def vectors_run(tiny_config, tmp_path_factory):
    """A run that has learned hardly anything of the eigenvectors of 2x2 matrices."""
    config = tiny_config(task="eigenvectors", dim="2", examples=40 * 64)
    return train(config, tmp_path_factory.mktemp("vectors") / "run")


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


def test_the_command_as_a_process(tiny_run, tmp_path, learnalg_process):
    done = learnalg_process("analyse", tiny_run.folder, "--num", 300, "--seed", 5, "--out", "found", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "run: dim 1-2, iid-uniform, A=10, 300 examples, seed 5" in done.stdout
    assert "What predicts failure" in done.stdout
    analysis = json.loads((tmp_path / "found" / "analysis.json").read_text(), parse_constant=refuse)
    assert (analysis["model"], analysis["num"], analysis["seed"], analysis["tolerance"]) == ("run", 300, 5, 0.05)
    assert analysis["provenance"].keys() == {"time", "command", "commit", "versions", "machine"}
    assert analysis["data"]["dim"] == analysis["trained_on"]["dim"] == "1-2"
    found = analysis["tasks"]["transpose"]
    evaluated = learnalg_process("evaluate", tiny_run.folder, "--num", 300, "--seed", 5, "--json", cwd=tmp_path)
    report = json.loads(evaluated.stdout)
    for tolerance in ("0.05", "0.02", "0.01", "0.005"):
        assert found["accuracy"][tolerance] == pytest.approx(report["accuracy"]["l1"][tolerance])
    assert found["failures"] == round(300 * (1 - report["accuracy"]["l1"]["0.05"]))
    for size, part in report["by_dimension"].items():
        assert found["by_dimension"][size]["num"] == part["num"]
        assert found["by_dimension"][size]["accuracy"] == pytest.approx(part["accuracy"]["l1"]["0.05"])
    assert (tmp_path / "found" / "analysis.md").read_text().startswith("# Failure anatomy\n")
    assert (tmp_path / "found" / "transpose-accuracy.svg").is_file()

    again = learnalg_process("analyse", tiny_run.folder, "--num", 300, "--out", "found", cwd=tmp_path)
    assert again.returncode == 2 and "found exists already" in again.stderr


@pytest.mark.parametrize("decoding", [[], ["--constrained"]])
def test_a_model_that_knows_nothing_can_be_analysed(vectors_run, tmp_path, learnalg_process, decoding):
    flags = ["--num", 100, "--ensemble", "laplace", "--sigma-factor", 0.5, "--json", "--out", "found", *decoding]
    done = learnalg_process("analyse", vectors_run.folder, *flags, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    analysis = json.loads(done.stdout, parse_constant=refuse)
    assert analysis == json.loads((tmp_path / "found" / "analysis.json").read_text())
    assert (analysis["data"]["ensemble"], analysis["data"]["sigma_factor"]) == (["laplace"], 0.5)
    assert analysis["trained_on"]["ensemble"] == ["iid-uniform"]
    found = analysis["tasks"]["eigenvectors"]
    assert found["failures"] > 50
    assert found["vectors"]["norms"]["all"]["num"] == 100 - found["without_matrix"]
    assert not decoding or found["malformed"] == {}


def test_a_place_that_is_taken_is_refused_before_the_test(tiny_run, tmp_path, monkeypatch, capsys):
    from learnalg.cli import main

    monkeypatch.setattr(
        "learnalg.evaluation.evaluate.predictions_of", lambda *a, **k: pytest.fail("the test was run first")
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("full", "file"):
        assert main(["analyse", str(tiny_run.folder), "--out", str(tmp_path / name)]) == 2
        assert f"{tmp_path / name} exists already" in capsys.readouterr().err
    for tolerance in ("0", "-1", "nan", "inf"):
        assert main(["analyse", str(tiny_run.folder), "--tolerance", tolerance]) == 2
        assert "tolerance" in capsys.readouterr().err


def test_a_shipped_model_is_found_and_only_prints_without_out(tmp_path, monkeypatch, capsys):
    from learnalg.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["analyse", "eigenvalues-3", "--num", "100", "--ensemble", "positive"]) == 0
    assert "eigenvalues-3: dim 3, positive" in capsys.readouterr().out
    assert list(Path().iterdir()) == []
