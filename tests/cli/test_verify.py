"""Verify tells true results from false ones."""

import dataclasses
import json
from dataclasses import replace

import pytest

import learnalg.cli.verify as verify
from learnalg.config import replace_fields
from learnalg.evaluation.result import Result
from learnalg.files import results_folder
from learnalg.zoo.index import released

NAME = "eigenvalues-3"


@pytest.fixture
def result():
    return Result.read(results_folder() / f"{NAME}.json")


def test_verify_agrees_with_a_released_result(run):
    code, out, err = run("verify", NAME, "--num", "300")
    assert (code, err) == (0, "")
    assert out.startswith(f"{NAME}: ") and "on 300 examples" in out and out.endswith("agrees\n")


def test_verify_takes_the_file_of_a_result(run, tmp_path, result):
    result.write(tmp_path / f"{NAME}.json")
    assert run("verify", f"{NAME}.json", "--num", "50")[0] == 0


def accuracy_of(result, share):
    accuracy = {norm: shares | {"0.005": share} for norm, shares in result.report.accuracy.items()}
    return replace(result, report=replace(result.report, accuracy=accuracy))


CHANGES = {
    "accuracy": lambda r: accuracy_of(r, 0.9),
    "SHA-256": lambda r: replace(r, sha256="0" * 64),
    "parameters": lambda r: replace(r, parameters=r.parameters + 1),
    "config.optim.learning_rate": lambda r: replace(r, config=replace_fields(r.config, learning_rate=0.5)),
    "config.stage": lambda r: replace(r, config=replace(r.config, stage=(learn_first(),))),
    "examples": lambda r: replace(r, examples=r.examples - r.config.train.batch_size),
}


def learn_first():
    from learnalg.config import StageConfig

    return StageConfig(examples=64, dim="2")


@pytest.mark.parametrize("what", CHANGES)
def test_verify_differs_from_a_claim_that_is_not_true(run, tmp_path, result, what):
    CHANGES[what](result).write(tmp_path / f"{NAME}.json")
    code, out, _ = run("verify", f"{NAME}.json", "--num", "300")
    assert code == 1
    assert out.endswith(f": DIFFERS in {what}\n")


def test_every_column_of_accuracy_is_compared(run, tmp_path, result, monkeypatch):
    """Also a norm or a tolerance that the report of today would not have by itself."""
    report = result.report
    few = replace(report, num=20, accuracy={"l1": {"0.1": 0.0}, "linf": {"0.1": 0.0}})
    replace(result, report=few).write(tmp_path / f"{NAME}.json")
    assert run("verify", f"{NAME}.json")[0] == 1


def test_without_names_all_released_models_are_verified(run, monkeypatch):
    seen = []
    monkeypatch.setattr(verify, "_verify", lambda name, path, num: seen.append((name, path.name)) or 0)
    assert run("verify") == (0, "", "")
    assert seen == [(name, f"{name}.json") for name in released()]


def test_a_result_that_is_missing_or_of_another_kind_gets_one_line(run, tmp_path, monkeypatch):
    (tmp_path / f"{NAME}.json").write_text(json.dumps({"report": {}}))
    code, _, err = run("verify", f"{NAME}.json")
    assert code == 2 and "is not a result of this version" in err and err.count("\n") == 1
    monkeypatch.setattr("learnalg.zoo.index.results_folder", lambda: tmp_path / "nowhere")
    code, _, err = run("verify", NAME)
    assert code == 2 and f"{NAME} has no result" in err and err.count("\n") == 1


def test_no_field_of_a_result_is_forgotten():
    """A new field is compared, or here for a reason."""
    compared = {"config", "examples", "parameters", "report", "sha256"}
    told = {"steps", "seconds", "flops_per_example", "provenance", "curve", "origin", "tests"}  # not in the weights
    told |= {"released", "note", "version"}
    assert {field.name for field in dataclasses.fields(Result)} == compared | told
