"""A number that predicts failure: ranks, ROC and thresholds, by hand."""

from itertools import product

import numpy as np
import pytest

from learnalg.evaluation.predictor import auc, confusion, ranks, rate_predictor, roc, spearman

NAN, INF = float("nan"), float("inf")


def array(*values):
    return np.array(values, dtype=float)


def flags(text):
    """'..x' -> two right, one failed."""
    return np.array([letter == "x" for letter in text], dtype=bool)


def test_ranks_share_their_mean_among_equals():
    assert ranks(array(30, 10, 20, 20, INF)).tolist() == [4, 1, 2.5, 2.5, 5]


@pytest.mark.parametrize(
    ("scores", "errors", "expected"),
    [
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8),  # 1 - 6 * 4 / (5 * 24)
        ([1, 2, 3, 4], [1, 10, 100, 1000], 1.0),  # ranks only
        ([1, 2, 3], [9, 5, 1], -1.0),
        ([1, 2, 2, 3], [1, 2, 3, 4], 0.9486832980505138),  # 4.5 / sqrt(4.5 * 5)
        ([1, 2, INF], [1, 2, 3], 1.0),
        ([1, 2, 0, 3], [1, 2, INF, NAN], 1.0),  # errors that are no numbers are left out
        ([5, 5, 5], [1, 2, 3], None),
        ([1, 2, 3], [4, 4, 4], None),
        ([1, 2], [INF, INF], None),
        ([], [], None),
    ],
)
def test_spearman_by_hand(scores, errors, expected):
    assert spearman(array(*scores), array(*errors)) == (None if expected is None else pytest.approx(expected))


def test_auc_by_hand():
    # Failures 3 and 5, right 1, 3 and 4. 3 beats 1 and ties with 3; 5 beats all: 4.5 of 6 pairs.
    assert auc(array(1, 3, 4, 3, 5), flags("...xx")) == 0.75


def test_auc_is_the_share_of_pairs_in_order_and_the_area_under_the_curve():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 12, size=80).astype(float)
    failed = rng.random(80) < 0.1 + 0.05 * scores
    pairs = [(a > b) + (a == b) / 2 for a, b in product(scores[failed], scores[~failed])]
    assert auc(scores, failed) == pytest.approx(sum(pairs) / len(pairs))
    false_alarms, caught, _ = roc(scores, failed)
    assert np.trapezoid(caught, false_alarms) == pytest.approx(auc(scores, failed))
    assert (false_alarms[0], caught[0], false_alarms[-1], caught[-1]) == (0, 0, 1, 1)


def test_every_point_of_the_roc_is_what_its_threshold_does():
    scores, failed = array(1, 2, 2, 3, 7, 7, 9), flags("..x.x.x")
    for false_alarms, caught, threshold in zip(*roc(scores, failed), strict=True):
        refused = scores > threshold
        assert false_alarms == refused[~failed].mean()
        assert caught == refused[failed].mean()


def test_the_best_threshold_catches_most_beyond_its_false_alarms():
    # Above 2: two of two failures, one of four right ones: 1 - 1/4. Above 4: one of two and none: 1/2.
    found = rate_predictor(array(1, 1, 2, 3, 4, 9), flags("....xx"), side="large")
    assert found["auc"] == 1.0 and found["best"]["threshold"] == 3
    found = rate_predictor(array(1, 1, 2, 4, 3, 9), flags("....xx"), side="large")
    assert found["best"] == {
        "threshold": 2.0,
        "failures_caught": 2,
        "failures_missed": 0,
        "false_alarms": 1,
        "right_let_through": 3,
        "share_of_failures_caught": 1.0,
        "share_of_right_let_through": 0.75,
        "share_predicted_rightly": pytest.approx(5 / 6),
    }


def test_the_side_is_that_of_the_failures_unless_it_is_given():
    scores, failed = array(9, 8, 3, 2, 1), flags("..x.x")
    found = rate_predictor(scores, failed)
    assert (found["side"], found["auc"]) == ("small", pytest.approx(5 / 6))
    assert found["best"]["threshold"] == 8  # below it: both failures, one of three right ones
    assert (found["best"]["failures_caught"], found["best"]["false_alarms"]) == (2, 1)
    assert rate_predictor(scores, failed, side="large")["auc"] == pytest.approx(1 / 6)
    assert rate_predictor(-scores, failed)["side"] == "large"
    with pytest.raises(ValueError, match="side 'left'"):
        rate_predictor(scores, failed, side="left")


def test_a_score_that_is_worse_than_chance_has_no_threshold():
    found = rate_predictor(array(1, 2, 3, 4), flags("xx.."), side="large")
    assert (found["auc"], found["best"], found["no_roc"]) == (0.0, None, "")


def test_scores_that_are_missing_are_left_out_and_infinite_ones_count():
    found = rate_predictor(array(1, NAN, 2, INF, NAN), flags(".x.xx"), array(1, 2, 3, INF, 5), side="large")
    assert (found["num"], found["left_out"], found["failures"]) == (3, 2, 1)
    assert (found["auc"], found["best"]["threshold"], found["spearman"]) == (1.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("scores", "failed", "said"),
    [
        ([1, 2], "..", "no example failed"),
        ([1, 2], "xx", "every example failed"),
        ([NAN, 2], "x.", "no example failed"),
        ([NAN, NAN], "x.", "there is nothing to measure"),
        ([], "", "there is nothing to measure"),
    ],
)
def test_without_failures_or_successes_it_says_so_instead_of_a_roc(scores, failed, said):
    found = rate_predictor(array(*scores), flags(failed), thresholds=(1.5,))
    assert (found["no_roc"], found["roc"], found["auc"], found["best"]) == (said, None, None, None)
    assert found["paper"][0]["threshold"] == 1.5


def test_shares_of_nothing_are_none():
    done = confusion(array(1, 2), flags(".."), 1.0, "large")
    assert (done["share_of_failures_caught"], done["share_of_right_let_through"]) == (None, 0.5)


def test_a_threshold_lets_through_what_is_equal_to_it():
    assert confusion(array(51.5), flags("."), 51.5, "large")["right_let_through"] == 1
    assert confusion(array(-51.5), flags("."), 51.5, "small")["right_let_through"] == 1


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    scores = np.arange(5_000.0)
    found = rate_predictor(scores, scores % 7 == 0)
    assert len(found["roc"]["caught"]) == len(found["roc"]["false_alarms"]) == 100
    assert (found["roc"]["caught"][0], found["roc"]["caught"][-1]) == (0, 1)
