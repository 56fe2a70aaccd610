"""What the paper says of failures and of accuracy out of distribution, to set beside ours."""

import dataclasses

import pytest

from learnalg.config import DataConfig
from learnalg.reproduction.claims import FAILURES, OUT_OF_DISTRIBUTION, numbers_for


def test_the_papers_numbers_are_those_of_its_text():
    vectors, inverse = FAILURES["eigenvectors"], FAILURES["inverse"]
    assert vectors["accuracy"] == {"0.05": 0.911, "0.02": 0.821, "0.01": 0.452, "0.005": 0.014, "0.25": 0.956}
    assert vectors["weak_accuracy"] == {"0.05": 0.957, "0.02": 0.929, "0.01": 0.884, "0.005": 0.73}
    assert inverse["accuracy"] == {"0.05": 0.896, "0.02": 0.817, "0.01": 0.591, "0.005": 0.237, "0.25": 0.966}
    assert inverse["distance_accuracy"] == {"0.05": 0.982, "0.02": 0.96, "0.01": 0.923, "0.005": 0.845, "0.25": 0.995}
    laplace = OUT_OF_DISTRIBUTION[("laplace",), (10.0,)]
    assert (laplace["wigner", 0.3], laplace["positive", 0.6], laplace["laplace", 1.0]) == (95, 100, 96)


@pytest.mark.parametrize(
    ("trained", "tested", "expected"),
    [
        ({}, {}, {"0.05": 1.0, "0.02": 1.0, "0.01": 0.998, "0.005": 0.937}),
        ({"dim": "5-15"}, {}, {"0.05": 1.0, "0.02": 1.0, "0.01": 0.943, "0.005": 0.406}),
        ({}, {"ensemble": ("positive",)}, {"0.02": 0.0}),
        ({}, {"ensemble": ("laplace",), "sigma_factor": 0.6}, {"0.02": 0.28}),
        ({}, {"sigma_factor": 1.1}, {"0.02": 0.26}),
        ({"ensemble": ("laplace", "wigner")}, {"ensemble": ("gaussian",)}, {"0.02": 1.0}),
        ({"amplitude": (1.0, 100.0)}, {"sigma_factor": 0.3}, {"0.02": 0.99}),
        ({"sigma_factor": 2.0}, {"sigma_factor": 2.4}, {"0.02": 0.07}),
        ({}, {"noise": 0.01}, None),
        ({}, {"sigma_factor": 0.5}, None),
        ({}, {"dim": "6"}, None),
        ({"dim": "7"}, {"ensemble": ("positive", "laplace")}, None),
    ],
)
def test_the_papers_numbers_for_eigenvalues_depend_on_training_and_test(trained, tested, expected):
    trained = DataConfig(task="eigenvalues", **trained)
    found = numbers_for("eigenvalues", trained, dataclasses.replace(trained, **tested))
    assert found.get("accuracy") == expected


def test_a_task_that_the_paper_does_not_know_has_no_numbers():
    assert numbers_for("symmetric_inverse", DataConfig(), DataConfig()) == {}
