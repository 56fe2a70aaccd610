"""Evaluate."""

import json

import numpy as np
import pytest

from learnalg.models import build, sides
from learnalg.models.weights import save_model
from learnalg.problem import Problem


def test_evaluate_prints_a_table(run, tiny_run):
    code, out, err = run("evaluate", tiny_run.folder, "--num", "100", "--tolerances", "0.1", "0", "--norms", "l1", "l2")
    assert (code, err) == (0, "")
    said = ("transpose, dim 1-2, iid-uniform", "100 examples, test split, seed 0", "10 %", "exact", "l2", "95 %", "2x2")
    for text in (*said, "well-formed"):
        assert text in out
    assert "linf" not in out


def test_evaluate_in_one_other_norm(run, tiny_run):
    code, out, _ = run("evaluate", tiny_run.folder, "--num", "20", "--norms", "l2")
    assert code == 0 and "2x2" in out


def test_evaluate_tests_on_what_the_flags_say(run, tiny_run):
    flags = "--dim 2 --ensemble gaussian laplace --amplitude 1 5 --sigma-factor 0.5 --noise 0.1"
    _, out, _ = run("evaluate", tiny_run.folder, "--num", "20", "--json", *flags.split())
    report = json.loads(out)
    assert report["data"] == {
        "dim": "2",
        "ensemble": ["gaussian", "laplace"],
        "amplitude": [1.0, 5.0],
        "sigma_factor": 0.5,
        "noise": 0.1,
    }
    assert report["by_dimension"].keys() == {"2x2"}


def test_the_factor_of_an_evaluation_multiplies_that_of_the_training(run, tiny_config, tmp_path):
    config = tiny_config(sigma_factor=3.0)
    save_model(tmp_path / "m.safetensors", config, build(config.model, *sides(Problem(config.data))))
    _, out, _ = run("evaluate", "m.safetensors", "--num", "5", "--sigma-factor", "0.5", "--json")
    assert json.loads(out)["data"]["sigma_factor"] == 1.5


@pytest.mark.parametrize("flags", [["--constrained"], ["--beam", "3", "--constrained"]])
def test_constrained_decoding_is_always_well_formed(run, tiny_run, flags):
    _, out, _ = run("evaluate", tiny_run.folder, "--num", "50", "--json", "--sigma-factor", "100", *flags)
    assert json.loads(out)["well_formed"] == 1.0


def test_evaluate_may_test_on_what_training_mixed_in_could_not_have(run, tiny_config, tmp_path):
    config = tiny_config(mix_share=0.5, mix_ensemble=("positive",))  # these are square
    save_model(tmp_path / "model.safetensors", config, build(config.model, *sides(Problem(config.data))))
    code, out, err = run("evaluate", "model.safetensors", "--dim", "1x2", "--num", 5, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)["by_dimension"]) == ["1x2"]


def test_evaluate_saves_what_it_saw_and_nothing_twice(run, tiny_run, tmp_path, contents):
    arguments = ["evaluate", tiny_run.folder, "--num", "30", "--json", "--save", "saved.npz"]
    report = json.loads(run(*arguments)[1])
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as saved:
        assert saved["inputs"].shape == (30, 2, 2)
        assert (saved["error_l1"] < 0.05).mean() == pytest.approx(report["accuracy"]["l1"]["0.05"])
    before = contents(tmp_path)
    assert run(*arguments)[0] == 2
    assert contents(tmp_path) == before


def test_a_place_to_save_that_is_not_there_is_refused_before_the_test(run, tiny_run, monkeypatch):
    monkeypatch.setattr("learnalg.evaluation.evaluate.predictions_of", lambda *a, **k: pytest.fail("tested first"))
    code, _, err = run("evaluate", tiny_run.folder, "--save", "missing/saved.npz")
    assert code == 2 and "missing" in err and ".part" not in err
