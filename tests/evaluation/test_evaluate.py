"""Decode, check, report: right answers count as right, wrong and malformed ones as what they are."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from learnalg.config import DataConfig
from learnalg.data import Batch, Group, Stream, fixed_set
from learnalg.evaluation.evaluate import (
    evaluate,
    predict,
    predictions_of,
    report_of,
    save_predictions,
    teacher_forced,
)
from learnalg.evaluation.judge import NORMS, judge
from learnalg.evaluation.result import wilson
from learnalg.models import build, sides
from learnalg.problem import Problem
from learnalg.problems import TASKS
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_TASK, PAD
from learnalg.zoo.load import load_model

RECONSTRUCTED = ("eigenvectors", "svd", "inverse", "symmetric_inverse")


def problem_of(**fields):
    return Problem(DataConfig(**fields))


JOINT = problem_of(task="TADM", dim="1-2")


@pytest.fixture
def answer(monkeypatch):
    """answer(problem, change, num): the report on change(targets, batch) in place of a model's predictions."""

    def report(problem, change, num=200, **arguments):
        batches = fixed_set(problem, num, seed=3)

        def predicted(*_, **__):
            batch = next(batches)
            return change(batch.targets.copy(), batch)

        monkeypatch.setattr("learnalg.evaluation.evaluate.predict", predicted)
        monkeypatch.setattr(
            "learnalg.evaluation.evaluate.teacher_forced", lambda model, batch, size: (2.0 * len(batch), len(batch))
        )
        return evaluate(torch.nn.Identity(), problem, num, seed=3, **arguments)

    return report


def right(targets, batch):
    return targets


def written(problem, matrix, task=0):
    """The tokens of a prediction: one matrix and its end."""
    ids = problem.tokenizers[1].encode(np.asarray(matrix, dtype=float)[None], task)
    return np.pad(ids, ((0, 0), (0, 1)), constant_values=END)


def one_example(problem, matrix, solution):
    matrix, solution = np.asarray(matrix, dtype=float), np.asarray(solution, dtype=float)
    source = problem.tokenizers[0].encode(matrix[None])
    group = Group(0, matrix.shape, np.array([0]), matrix[None], solution[None])
    return Batch(source, written(problem, solution), (group,))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("dim", ["3", "1-4"])
def test_the_solution_itself_is_well_formed_and_exact(answer, task, dim):
    report = answer(problem_of(task=task, dim=dim), right, tolerances=(0,))
    assert (report.well_formed, report.malformed) == (1.0, {})
    assert {norm: shares["0"] for norm, shares in report.accuracy.items()} == {"l1": 1.0, "l2": 1.0, "linf": 1.0}


@pytest.mark.parametrize("task", [name for name in TASKS if name not in RECONSTRUCTED])
@pytest.mark.parametrize("encoding", ["p10", "p1000", "b1999", "fp15"])
def test_the_rounded_solution_is_within_one_percent(answer, task, encoding):
    # Three digits: half a unit in the last place is at most 0.5 % of any coefficient.
    problem = problem_of(task=task, dim="1-4", output_encoding=encoding)
    report = answer(problem, right, tolerances=(0.05, 0.02, 0.01), norms=tuple(NORMS))
    assert {share for shares in report.accuracy.values() for share in shares.values()} == {1.0}


def test_a_transposed_matrix_has_no_error_at_all():
    problem = problem_of(task="transpose", dim="2x3")
    (batch,) = fixed_set(problem, 100, 0)
    judged, _ = judge(problem, batch, batch.targets)
    for norm in NORMS:
        assert (judged.errors[norm] == 0).all() and (judged.distances[norm] == 0).all()


@pytest.mark.parametrize("task", ["inverse", "symmetric_inverse"])
def test_the_rounded_inverse_is_right_as_far_as_rounding_allows(task):
    problem = problem_of(task=task, dim="3")
    (batch,) = fixed_set(problem, 500, 0)
    judged, _ = judge(problem, batch, batch.targets)
    (group,) = batch.groups
    # |P M - Id| <= |P - M^-1| |M|, coefficient by coefficient, and rounding moves each by 0.5 % at most.
    bound = 0.005 * (np.abs(group.solutions) @ np.abs(group.inputs)).sum(axis=(1, 2)) / 3
    assert (judged.errors["l1"] <= bound).all()
    assert judged.correct("l1", 0.05)[bound < 0.05].all()
    assert (bound < 0.05).mean() > 0.5
    assert (judged.distances["l1"] <= 0.005).all()


@pytest.mark.parametrize("task", ["eigenvectors", "svd"])
def test_rounded_vectors_reconstruct_the_matrix(task):
    problem = problem_of(task=task, dim="3", output_encoding="p10000")
    (batch,) = fixed_set(problem, 500, 0)
    judged, _ = judge(problem, batch, batch.targets)
    # Four digits move H by 0.05 %, H^T M H by twice that; |M| in L1 is up to 3 |D|.
    assert judged.correct("l1", 0.01).all()
    assert (judged.errors["l1"] != judged.distances["l1"]).any()


@pytest.mark.parametrize(("task", "shape"), [("transpose", (2, 3)), ("add", (2, 2)), ("eigenvalues", (1, 3))])
def test_a_wrong_shape_is_wrong_but_well_formed(answer, task, shape):
    problem = problem_of(task=task, dim="3x2" if task == "add" else "3")
    report = answer(problem, lambda t, batch: written(problem, np.ones(shape)).repeat(len(t), axis=0), num=20)
    assert (report.well_formed, report.malformed) == (1.0, {})
    assert report.accuracy["l1"] == {"0.05": 0.0, "0.02": 0.0, "0.01": 0.0, "0.005": 0.0}


def test_the_token_of_another_task_is_wrong_but_well_formed(answer):
    def other_task(targets, batch):
        targets[:, 0] = FIRST_TASK + (targets[:, 0] - FIRST_TASK + 1) % 4
        return targets

    report = answer(JOINT, other_task, tolerances=(0, 10.0))
    assert report.well_formed == 1.0
    assert report.accuracy["l1"] == {"0": 0.0, "10.0": 0.0}


def test_malformed_predictions_are_counted_apart_with_their_reasons(answer):
    problem = problem_of(task="transpose", dim="2")  # V2 V2, four numbers of three tokens, an end

    def damage(targets, batch):
        targets[0] = PAD
        targets[1, -1] = PAD  # no end either
        targets[2, 0] = END
        targets[3, 1] = FIRST_DIM + 2  # 2x3
        targets[4, 1] = FIRST_DIM  # 2x1
        targets[5, 3] = targets[5, 2]  # a sign in the mantissa's place
        targets[6, 2:5] = targets[6, [4, 3, 2]]
        return targets

    report = answer(problem, damage, num=20, tolerances=(0,))
    assert report.malformed == {"no end": 2, "no dimensions": 1, "too short": 1, "too long": 1, "not a number": 2}
    assert report.well_formed == pytest.approx(13 / 20)
    assert report.accuracy["l1"]["0"] == pytest.approx(13 / 20)


def test_a_sequence_shorter_than_its_header_is_malformed(answer):
    report = answer(problem_of(task="transpose", dim="2"), lambda t, batch: t[:, :1], num=5)
    assert (report.well_formed, report.malformed) == (0.0, {"no end": 5})


@pytest.mark.parametrize(("off", "is_exact"), [(0.0, True), (0.004, True), (0.01, False), (-0.01, False)])
def test_tolerance_zero_asks_for_the_last_digit(off, is_exact):
    problem = problem_of(task="transpose", dim="1x2")
    batch = one_example(problem, [[3.14, -2.5]], [[3.141], [-2.5]])  # three digits: 3.14
    judged, _ = judge(problem, batch, written(problem, [[3.14 + off], [-2.5]]))
    assert judged.correct("l1", 0).tolist() == [is_exact]
    assert judged.correct("l1", 0.005).tolist() == [True]


def test_norms_by_hand():
    problem = problem_of(task="transpose", dim="2")
    batch = one_example(problem, [[1, 3], [2, -4]], [[1, 2], [3, -4]])
    judged, values = judge(problem, batch, written(problem, [[1.5, 2], [3, -6]]))
    expected = {"l1": 2.5 / 10, "l2": math.sqrt(4.25 / 30), "linf": 2 / 4, "l2-squared": 4.25 / 30}
    assert {norm: float(e[0]) for norm, e in judged.errors.items()} == pytest.approx(expected)
    assert {norm: float(e[0]) for norm, e in judged.distances.items()} == pytest.approx(expected)
    assert values[0, :4].tolist() == [1.5, 2, 3, -6]
    assert (judged.correct("l1", 0.25)[0], judged.correct("l1", 0.26)[0]) == (False, True)  # less than, not at most


def test_the_inverse_by_hand():
    problem = problem_of(task="inverse", dim="2")
    batch = one_example(problem, [[2, 0], [0, 4]], [[0.5, 0], [0, 0.25]])
    judged, _ = judge(problem, batch, written(problem, [[0.5, 0.1], [0, 0.3]]))
    # P M - Id = [[0, 0.4], [0, 0.2]] beside Id; P - O = [[0, 0.1], [0, 0.05]] beside O.
    expected = {"l1": 0.6 / 2, "l2": math.sqrt(0.2 / 2), "linf": 0.4, "l2-squared": 0.2 / 2}
    assert {norm: float(e[0]) for norm, e in judged.errors.items()} == pytest.approx(expected)
    assert judged.distances["l1"][0] == pytest.approx(0.15 / 0.75)


def test_a_solution_of_zero_is_right_only_when_met():
    problem = problem_of(task="transpose", dim="1")
    batch = one_example(problem, [[0]], [[0]])
    assert judge(problem, batch, written(problem, [[0]]))[0].errors["l1"].tolist() == [0.0]
    assert judge(problem, batch, written(problem, [[0.1]]))[0].errors["l1"].tolist() == [np.inf]


@pytest.mark.parametrize("task", TASKS)
def test_a_prediction_of_zeros_is_wrong(answer, task):
    problem = problem_of(task=task, dim="3")
    zeros = np.zeros(problem.tasks[0][1].output_shape(3, 3))
    report = answer(problem, lambda targets, batch: written(problem, zeros).repeat(len(targets), axis=0), num=20)
    assert report.well_formed == 1.0
    assert report.accuracy["l1"]["0.05"] == 0.0


def test_an_inverse_is_judged_against_the_matrix_seen():
    problem = problem_of(task="inverse", dim="2", noise=0.3, output_encoding="p10000")
    batch = Stream(problem, 1, "test", 100).batch(0)
    (group,) = batch.groups
    of_seen = np.concatenate([written(problem, np.linalg.inv(seen)) for seen in group.inputs])
    judged, _ = judge(problem, batch, of_seen)
    well_conditioned = np.linalg.cond(group.inputs) < 20
    assert well_conditioned.sum() > 30
    assert judged.correct("l1", 0.05)[well_conditioned].all()
    assert judged.distances["l1"].mean() > 0.1
    of_clean, _ = judge(problem, batch, batch.targets)
    assert of_clean.correct("l1", 0.05).mean() < 0.5
    assert of_clean.correct("l1", 0.05, distance=True).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("change", [right, lambda targets, batch: np.full_like(targets, PAD)], ids=["right", "no end"])
def test_the_distance_is_reported_for_tasks_judged_otherwise(answer, task, change):
    report = answer(problem_of(task=task, dim="3"), change, num=20)
    assert bool(report.distance_accuracy) == (task in RECONSTRUCTED)


@pytest.mark.parametrize(
    ("successes", "num", "low", "high"),  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_intervals_are_the_known_ones(successes, num, low, high):
    assert wilson(successes / num, num) == pytest.approx((low, high), abs=5e-5)
    assert wilson(1 - successes / num, num) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def half_wrong(targets, batch):
    """Every third sequence has no end, every third is the solution of another problem of its kind."""
    right = targets.copy()
    for group in batch.groups:
        rows = group.rows[group.rows % 3 == 1]
        targets[rows] = right[np.roll(rows, 1)]
    targets[::3] = PAD
    return targets


@pytest.mark.parametrize("problem", [JOINT, problem_of(task="transpose", dim="1-3x2-3")], ids=["joint", "rectangles"])
def test_breakdowns_sum_to_the_total(answer, problem):
    report = answer(problem, half_wrong, num=300, tolerances=(0, 0.05))
    assert 0.2 < report.accuracy["l1"]["0"] < 0.5
    for parts in (report.by_dimension, report.by_task):
        assert sum(part.num for part in parts.values()) == 300
        mean = sum(part.num * part.well_formed for part in parts.values()) / 300
        assert mean == pytest.approx(report.well_formed) == pytest.approx(2 / 3)
        for norm in ("l1", "l2", "linf"):
            for tolerance in ("0", "0.05"):
                mean = sum(part.num * part.accuracy[norm][tolerance] for part in parts.values()) / 300
                assert mean == pytest.approx(report.accuracy[norm][tolerance])


def test_breakdowns_name_every_dimension_and_task(answer):
    report = answer(JOINT, right)
    assert set(report.by_task) == {"transpose", "add", "matvec", "matmul"}
    assert set(report.by_dimension) == {"1x1", "2x2"}
    rectangles = answer(problem_of(task="transpose", dim="1-2x3"), right)
    assert set(rectangles.by_dimension) == {"1x3", "2x3"}
    assert set(rectangles.by_task) == {"transpose"}


def test_a_breakdown_finds_the_task_that_fails(answer):
    def spoil_add(targets, batch):
        for group in batch.groups:
            if JOINT.tasks[group.task][0] == "add":
                targets[group.rows] = PAD
        return targets

    by_task = answer(JOINT, spoil_add, tolerances=(0,)).by_task
    assert {name: part.accuracy["l1"]["0"] for name, part in by_task.items()} == {
        "transpose": 1.0,
        "add": 0.0,
        "matvec": 1.0,
        "matmul": 1.0,
    }


def test_a_report_is_json_with_what_was_tested(answer):
    problem = problem_of(task="add", dim="2", ensemble=("laplace",), noise=0.1)
    report = json.loads(json.dumps(dataclasses.asdict(answer(problem, half_wrong, num=50))))
    assert (report["task"], report["num"], report["seed"], report["loss"]) == ("add", 50, 3, 2.0)
    assert report["data"] == {
        "dim": "2",
        "ensemble": ["laplace"],
        "amplitude": [10.0],
        "sigma_factor": 1.0,
        "noise": 0.1,
    }
    for norm, shares in report["accuracy"].items():
        for tolerance, share in shares.items():
            low, high = report["interval"][norm][tolerance]
            assert low <= share <= high


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"num": 0}, "num 0"),
        ({"seed": -1}, "seed -1"),
        ({"tolerances": ()}, "tolerances"),
        ({"tolerances": (-0.1,)}, "tolerances"),
        ({"tolerances": (math.nan,)}, "tolerances"),
        ({"norms": ("l3",)}, "unknown norm l3; known: l1, l2, linf, l2-squared"),
        ({"norms": ()}, "norm"),
        ({"beam_width": 0}, "beam width 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        evaluate(torch.nn.Identity(), problem_of(), **arguments)


# With a model.


@pytest.fixture(scope="module")
def trained(tiny_run):
    config, model = load_model(tiny_run.folder)
    return Problem(config.data), model


@pytest.fixture(scope="module")
def untrained(tiny_config):
    config = tiny_config(paper=True, task="transpose", dim="1-3")
    problem = Problem(config.data)
    torch.manual_seed(1)
    return problem, build(config.model, *sides(problem)).eval()


@pytest.mark.parametrize("width", [1, 3])
def test_predictions_do_not_depend_on_the_decoding_batch(trained, width):
    problem, model = trained
    (batch,) = fixed_set(problem, 60, 0)
    whole = predict(model, problem, batch.sources, beam_width=width)
    np.testing.assert_array_equal(predict(model, problem, batch.sources, beam_width=width, rows=7), whole)
    alone = predict(model, problem, batch.sources[5:6], beam_width=width)
    np.testing.assert_array_equal(alone, whole[5:6])


def test_evaluation_repeats_itself_and_seeds_differ(trained):
    problem, model = trained
    one, same, other = (evaluate(model, problem, 100, seed) for seed in (0, 0, 1))
    assert (one.accuracy, one.loss, one.by_dimension) == (same.accuracy, same.loss, same.by_dimension)
    assert one.loss != other.loss


def test_the_model_learned_and_the_report_says_so(trained, untrained):
    report = evaluate(trained[1], trained[0], 300)
    assert report.accuracy["l1"]["0.05"] > 0.5 > report.accuracy["l1"]["0.005"]
    shares = list(report.accuracy["l1"].values())
    assert shares == sorted(shares, reverse=True)
    assert report.loss < 1.5
    random = evaluate(untrained[1], untrained[0], 100)
    assert random.accuracy["l1"]["0.05"] == 0 and random.loss > 3


def test_the_loss_is_the_mean_over_tokens(trained):
    problem, model = trained
    (batch,) = fixed_set(problem, 1, 0)
    target = torch.from_numpy(batch.targets)
    read = torch.cat([torch.tensor([[END]]), target[:, :-1]], dim=1)
    with torch.no_grad():
        log = model(torch.from_numpy(batch.sources), read).log_softmax(-1)
    expected = -log[0, torch.arange(target.shape[1]), target[0]].mean()
    assert evaluate(model, problem, 1).loss == pytest.approx(float(expected), rel=1e-5)
    assert teacher_forced(model, batch, problem.tokenizers[1].vocab_size)[1] == target.shape[1]


def test_padding_counts_for_nothing_in_the_loss(trained):
    problem, model = trained
    (batch,) = fixed_set(problem, 20, 0)
    assert (batch.targets == PAD).any()
    size = problem.tokenizers[1].vocab_size
    total, tokens = teacher_forced(model, batch, size)
    assert tokens == (batch.targets != PAD).sum()
    rows = [Batch(batch.sources[k : k + 1], batch.targets[k : k + 1], ()) for k in range(20)]
    alone = [teacher_forced(model, row, size) for row in rows]
    assert total == pytest.approx(sum(loss for loss, _ in alone), rel=1e-4)


def test_another_ensemble_is_another_test(trained):
    problem, model = trained
    wilder = Problem(dataclasses.replace(problem.config, ensemble=("laplace",), sigma_factor=3.0))
    usual, other = evaluate(model, problem, 200), evaluate(model, wilder, 200)
    assert (usual.data["ensemble"], other.data["ensemble"]) == (["iid-uniform"], ["laplace"])
    assert other.data["sigma_factor"] == 3.0
    assert other.accuracy["l1"]["0.05"] < usual.accuracy["l1"]["0.05"]  # three times larger than any seen


@pytest.mark.parametrize("is_training", [True, False])
def test_the_model_is_left_in_its_mode(trained, is_training):
    problem, model = trained
    model.train(is_training)
    evaluate(model, problem, 2)
    assert model.training == is_training
    model.eval()


def test_dropout_is_for_training_alone(tiny_config):
    """A model is judged without dropout, in the middle of training too."""
    config = tiny_config(paper=True, dropout=0.5)
    problem = Problem(config.data)
    torch.manual_seed(1)
    model = build(config.model, *sides(problem))
    assert any(isinstance(module, torch.nn.Dropout) and module.training for module in model.modules())
    inside = predictions_of(model.train(), problem, 50)
    expected = predictions_of(model.eval(), problem, 50)
    assert inside.loss == expected.loss
    np.testing.assert_array_equal(inside.values[0], expected.values[0])


@pytest.mark.parametrize("width", [1, 3])
def test_bound_to_the_grammar_every_prediction_is_well_formed(untrained, width):
    problem, model = untrained
    free = evaluate(model, problem, 50, beam_width=width)
    assert free.well_formed < 0.5
    assert sum(free.malformed.values()) == round(50 * (1 - free.well_formed))
    bound = evaluate(model, problem, 50, beam_width=width, constrained=True)
    assert (bound.well_formed, bound.malformed) == (1.0, {})


def test_saved_predictions_agree_with_the_report(trained, tmp_path):
    problem, model = trained
    predictions = predictions_of(model, problem, 1_100, 5)  # two chunks of the test set
    report = report_of(predictions)
    save_predictions(tmp_path / "saved.npz", predictions)
    assert [p.name for p in tmp_path.iterdir()] == ["saved.npz"]
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as file:
        saved = dict(file)
    assert saved.keys() == {"inputs", "solutions", "predictions", "dims", "tasks", "reasons", "error_l1"}
    assert saved["inputs"].shape == saved["solutions"].shape == saved["predictions"].shape == (1_100, 2, 2)
    assert set(saved["tasks"]) == {"transpose"}
    assert (saved["reasons"] == "ok").mean() == pytest.approx(report.well_formed)

    np.testing.assert_array_equal(saved["inputs"].swapaxes(1, 2), saved["solutions"])
    small = (saved["dims"] == 1).all(axis=1)
    assert small.sum() == report.by_dimension["1x1"].num
    assert np.isnan(saved["solutions"][small, 0, 1]).all() and not np.isnan(saved["solutions"][small, 0, 0]).any()
    assert not np.isnan(saved["solutions"][~small]).any()

    distance = np.nansum(np.abs(saved["predictions"] - saved["solutions"]), axis=(1, 2))
    size = np.nansum(np.abs(saved["solutions"]), axis=(1, 2))
    error = np.where(np.isnan(saved["predictions"][:, 0, 0]), np.inf, distance / size)
    np.testing.assert_allclose(error, saved["error_l1"])
    for tolerance, share in report.accuracy["l1"].items():
        assert (error < float(tolerance)).mean() == pytest.approx(share)
    first = next(fixed_set(problem, 10, 5)).sources
    inputs = [saved["inputs"][k, : saved["dims"][k, 0], : saved["dims"][k, 1]] for k in range(10)]
    for ids, matrix in zip(first, inputs, strict=True):
        expected = problem.tokenizers[0].encode(matrix[None])[0]
        np.testing.assert_array_equal(ids[: len(expected)], expected)


def test_saved_predictions_are_nan_where_there_is_no_matrix(untrained, tmp_path):
    problem, model = untrained
    save_predictions(tmp_path / "saved.npz", predictions_of(model, problem, 30))
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as file:
        malformed = file["reasons"] != "ok"
        assert malformed.any()
        assert np.isnan(file["predictions"][malformed]).all()
        assert np.isinf(file["error_l1"][malformed]).all()


def test_an_evaluation_says_how_much_is_done(tiny_config, tmp_path):
    config = tiny_config(dim="1")
    model, told = build(config.model, *sides(Problem(config.data))), []
    evaluate(model, Problem(config.data), num=1_200, done=told.append)
    assert told == [500, 1_000, 1_200]
