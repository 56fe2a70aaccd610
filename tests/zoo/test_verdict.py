"""Measured verdicts belong to weights, and count what they say."""

import pytest

from learnalg.zoo import verdict as module
from learnalg.zoo.verdict import Counts, Refined, Verdict, read_refined, read_verdict, refined_file, verdict_file


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "results_folder", lambda: tmp_path)
    return tmp_path


def verdict(**changes):
    sets = (
        Counts("test split", True, 200, 180, 171, 171),
        Counts("positive-1", False, 100, 50, 40, 39),
        Counts("hilbert", False, 100, 0, 0, 0),
    )
    return Verdict("tiny", "abc", sets, 0.9, {"commit": "1"}, **changes)


def test_shares_are_those_of_the_counts():
    assert verdict().shares(in_distribution=True) == pytest.approx((0.9, 1.0, 0.95))
    assert verdict().shares(in_distribution=False) == pytest.approx((0.25, 0.975, 0.78))


def test_nothing_trusted_has_no_precision():
    empty = Verdict("tiny", "abc", (Counts("a", True, 10, 0, 0, 0), Counts("b", False, 10, 0, 0, 0)), None, {})
    assert empty.shares(True) == (0.0, None, None)


def test_what_is_written_is_read_for_these_weights_only(results):
    verdict().write(verdict_file("tiny"))
    assert read_verdict("tiny", "abc") == verdict()
    assert read_verdict("tiny", "other weights") is None and read_verdict("other", "abc") is None
    refined = Refined("tiny", "abc", "inverse", 100, 99, 98, 0, 1e-13, 4.5, 16.0, 0, {})
    refined.write(refined_file("tiny"))
    assert read_refined("tiny", "abc") == refined and read_refined("tiny", "def") is None


def test_another_version_is_not_read(results):
    verdict(version=0).write(verdict_file("tiny"))
    assert read_verdict("tiny", "abc") is None
