"""Released models are found by task and size, the most accurate first."""

import pytest

from learnalg.zoo.catalog import index, models_for, released


def test_models_for_a_size_are_those_that_were_trained_on_it():
    names = models_for("eigenvalues", 5, 5)
    assert {"eigenvalues-5", "laplace-5", "eigenvalues"} <= set(names)
    entries = {entry.name: entry for entry in index()}
    assert all(entries[name].problem.dims.admits(5, 5) for name in names)
    accuracies = [entries[name].accuracy for name in names]
    assert accuracies == sorted(accuracies, reverse=True)


def test_other_sizes_are_for_those_who_allow_them():
    with pytest.raises(
        ValueError, match=r"no released model for inverse of 9x9 matrices; there are: .*inverse-5 \(5\)"
    ):
        models_for("inverse", 9, 9)
    assert "inverse-5" in models_for("inverse", 9, 9, allow_outside=True)


def test_a_task_without_a_model_is_refused():
    with pytest.raises(ValueError, match="no released model for trace of 2x2 matrices; there are: none"):
        models_for("trace", 2, 2)


def test_names_are_a_list():
    assert released() == sorted(released()) and isinstance(released(), list)
