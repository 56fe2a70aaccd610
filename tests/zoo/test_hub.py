"""Any model as a folder of the Hugging Face hub, which loads again, and whose card the hub's own library reads."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCard

import learnalg
from learnalg.cli import main
from learnalg.evaluation.result import Result
from learnalg.files import checksum, results_folder
from learnalg.models.weights import save_model
from learnalg.zoo.hub import write_hub
from learnalg.zoo.index import ZOO

CHECKPOINT = Path(__file__).parent / "lawt" / "eigenvalues-3.pth"
FILES = {"README.md", "config.json", "model.safetensors", "result.json"}


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)


def test_a_released_model_becomes_a_folder_that_loads(tmp_path, no_network):
    folder = tmp_path / "eigenvalues-3"
    write_hub("eigenvalues-3", folder)
    assert names_in(folder) == FILES
    assert (folder / "model.safetensors").read_bytes() == (ZOO / "eigenvalues-3.safetensors").read_bytes()
    assert Result.read(folder / "result.json") == Result.read(results_folder() / "eigenvalues-3.json")
    model, matrix = learnalg.load(folder), np.diag([1.0, 2.0, 3.0])
    released = learnalg.load("eigenvalues-3")
    assert json.loads((folder / "config.json").read_text())["config"]["data"]["task"] == "eigenvalues"
    assert model.config == released.config
    np.testing.assert_array_equal(model.solve(matrix).value, released.solve(matrix).value)


def test_the_hubs_library_reads_the_card(tmp_path):
    write_hub("eigenvalues-3", tmp_path / "it", name="my eigenvalues: 3x3")
    card = ModelCard.load(tmp_path / "it" / "README.md")
    report = Result.read(results_folder() / "eigenvalues-3.json").report
    assert (card.data.license, card.data.library_name, card.data.metrics) == ("mit", "learnalg", ["accuracy"])
    assert {"learnalg", "linear-algebra", "eigenvalues"} <= set(card.data.tags)
    assert card.data.model_name == "my eigenvalues: 3x3"
    found = [round(result.metric_value, 6) for result in card.data.eval_results]
    assert found == [round(share, 6) for share in report.accuracy["l1"].values()]
    assert {result.dataset_split for result in card.data.eval_results} == {"test"}
    assert "# my eigenvalues: 3x3" in card.text and "10,000 examples of the test split" in card.text


def test_a_run_is_tested_on_the_test_split(tiny_run, tmp_path):
    report = write_hub(tiny_run.folder, tmp_path / "it", num=50, note="A small one.")
    assert (report.split, report.num) == ("test", 50)
    result = Result.read(tmp_path / "it" / "result.json")
    assert result.report == report and result.sha256 == checksum(tmp_path / "it" / "model.safetensors")
    card = (tmp_path / "it" / "README.md").read_text()
    assert "A small one." in card and "50 examples of the test split" in card and "8,000 examples" in card
    again = write_hub(tmp_path / "it", tmp_path / "again")  # its result is of the test split already
    assert again == report


def test_weights_alone_become_a_folder(tiny_run, tmp_path):
    shutil.copy(tiny_run.folder / "model.safetensors", tmp_path / "alone.safetensors")
    write_hub(tmp_path / "alone.safetensors", tmp_path / "it", num=20)
    assert names_in(tmp_path / "it") == FILES - {"result.json"}
    assert "**Training:** not known" in (tmp_path / "it" / "README.md").read_text()


def test_a_model_of_the_papers_code_becomes_one_of_ours(tmp_path):
    with pytest.raises(ValueError, match="say the license"):
        write_hub(CHECKPOINT, tmp_path / "it", num=20)
    write_hub(CHECKPOINT, tmp_path / "it", license="cc-by-nc-4.0", num=20)
    assert ModelCard.load(tmp_path / "it" / "README.md").data.license == "cc-by-nc-4.0"
    model, theirs, matrix = learnalg.load(tmp_path / "it"), learnalg.load(CHECKPOINT), np.diag([1.0, 2.0, 3.0])
    assert model.config == theirs.config
    np.testing.assert_array_equal(model.solve(matrix).value, theirs.solve(matrix).value)


def test_damaged_weights_of_a_folder_are_refused(tmp_path):
    write_hub("eigenvalues-3", tmp_path / "it")
    content = bytearray((tmp_path / "it" / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "it" / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="SHA-256"):
        learnalg.load(tmp_path / "it")


def test_text_in_a_header_stays_text(tiny_run, tmp_path):
    write_hub(tiny_run.folder, tmp_path / "it", name='a "name": - [x]', license="no: such\nthing", num=10)
    data = ModelCard.load(tmp_path / "it" / "README.md").data
    assert (data.model_name, data.license) == ('a "name": - [x]', "no: such\nthing")


def test_several_tasks_are_tags(tiny_config, tmp_path):
    from learnalg.models import build, sides
    from learnalg.problem import Problem

    config = tiny_config(task="transpose+add", dim="2")
    save_model(tmp_path / "m.safetensors", config, build(config.model, *sides(Problem(config.data))))
    write_hub(tmp_path / "m.safetensors", tmp_path / "it", num=10)
    data = ModelCard.load(tmp_path / "it" / "README.md").data
    assert {"transpose", "add"} <= set(data.tags) and data.eval_results[0].task_type == "transpose+add"


def test_a_folder_is_replaced_when_asked_for(tiny_run, tmp_path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / ".git").write_text("mine")
    with pytest.raises(ValueError, match="exists already: choose another folder, or --replace"):
        write_hub(tiny_run.folder, tmp_path / "it", num=10)
    write_hub(tiny_run.folder, tmp_path / "it", num=10, replace=True)
    assert names_in(tmp_path / "it") == FILES | {".git"}


def test_the_command_in_a_process(learnalg_process, tmp_path):
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = learnalg_process("release", "eigenvalues-3", "--hub", "eigenvalues-3-hub", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "test split" in done.stdout and "learnalg solve eigenvalues-3-hub" in done.stdout
    assert ModelCard.load(tmp_path / "eigenvalues-3-hub" / "README.md").data.model_name == "eigenvalues-3-hub"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("release eigenvalues-3", "a released model needs a name"),
        ("release eigenvalues-3 it --license mit", "--license: has no effect without --hub"),
        ("release eigenvalues-3 it --num 5", "--num: has no effect without --hub"),
        ("release eigenvalues-3 --hub it --uncommitted x", "--uncommitted: has no effect with --hub"),
        ("release eigenvalues-3 --hub it --num -1", "num -1"),
        ("release missing --hub it", "unknown run or model 'missing'"),
        ("release eigenvalues-3 --hub file.txt", "file.txt exists already"),
        ("resume hub", "unknown table 'format'"),  # a folder of the hub is no run
    ],
)
def test_what_has_no_effect_or_no_place_is_refused(tmp_path, monkeypatch, capsys, line, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("mine")
    if line == "resume hub":
        write_hub("eigenvalues-3", tmp_path / "hub")
    before = sorted(tmp_path.rglob("*"))
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert complaint in error and error.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
