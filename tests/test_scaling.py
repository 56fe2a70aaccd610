"""The page on more machines shows what is measured, counted and predicted."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def scaling():
    spec = importlib.util.spec_from_file_location("scaling", ROOT / "benchmarks" / "scaling.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_up_to_date(scaling):
    text = scaling.PAGE.read_text()
    assert all(mark in text for section in scaling.SECTIONS for mark in scaling.marks(section))
    assert scaling.page(text, scaling.Cluster()) == text, "run: make docs"


def test_a_prediction_follows_its_formulas(scaling):
    cost = scaling.Cost(100, 60, parameters=249_999, flops=1e9, attention=0, vocabulary=0, memory=1)
    cluster = scaling.Cluster(rate=1e12, share=0.5, inside=1e9, between=1e8, latency=0.0, tokens=1_600)
    alone, node, many = (scaling.predict(cost, 1e4, gpus, cluster) for gpus in (1, 8, 100))
    assert (alone.batch, alone.compute, alone.reduce) == (10, pytest.approx(0.02), 0)
    assert alone.limit == "GPUs" and alone.examples() == pytest.approx(500)
    assert node.reduce == pytest.approx(2 * 7 / 8 * 1e6 / 1e9)  # a megabyte of gradients
    assert many.reduce == pytest.approx(2 * 0.99 * 1e6 / 1e8)
    assert (many.batch, many.limit) == (1_000, "data") and many.examples() == pytest.approx(1e4)


def test_what_a_step_sent_is_what_the_formula_says(scaling):
    """Measured by benchmarks/processes.py: given to the collectives to the byte, on the wire with headers."""
    cases = scaling.read_json(scaling.RESULTS / "processes.json")["cases"]
    for case in cases.values():
        assert case["given"] == scaling.gradient_bytes(case["parameters"])
        assert 1 <= case["carried"] / 2 / case["given"] < 1.01
