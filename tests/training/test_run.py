"""A run's folder: what is in it, and that it is not written over."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

import learnalg
from learnalg.config import to_dict
from learnalg.data import Stream
from learnalg.evaluation.evaluate import TOLERANCES, evaluate
from learnalg.evaluation.result import VERSION, Result
from learnalg.files import checksum, load_tensors, save_tensors
from learnalg.models import build, decoder_input, sides
from learnalg.models.weights import save_model
from learnalg.problem import Problem
from learnalg.training.flops import flops_per_example
from learnalg.training.loop import train
from learnalg.training.run import Run, provenance
from learnalg.zoo.load import MODEL_FILE, load_model, load_weights


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def random_model(config):
    torch.manual_seed(3)
    return build(config.model, *sides(Problem(config.data))).eval()


def test_a_finished_run_has_these_files_and_no_others(tiny_run):
    names = sorted(p.name for p in tiny_run.folder.iterdir())
    assert names == ["checkpoints", "config.json", "metrics.jsonl", MODEL_FILE, "provenance.json", "result.json"]
    assert [p.name for p in tiny_run.folder.rglob("*.safetensors")] == [MODEL_FILE]
    checkpoints = sorted(p.name for p in tiny_run.checkpoints.iterdir())
    assert checkpoints == ["00000000.ckpt", "00000125.ckpt"]


def test_the_config_is_written_whole(tiny_run, tiny_config):
    asked = tiny_config(examples=8_000, eval_every=4_000)
    assert json.loads((tiny_run.folder / "config.json").read_text()) == json.loads(json.dumps(to_dict(asked)))
    assert Run.open(tiny_run.folder).config == asked
    assert load_weights(tiny_run.folder)[0] == asked


def test_the_provenance_says_commit_versions_machine_and_command(tiny_run):
    (session,) = json.loads((tiny_run.folder / "provenance.json").read_text())
    assert session["versions"].keys() == {"python", "learnalg", "torch", "numpy"}
    assert session["versions"]["torch"] == torch.__version__
    assert session["machine"].keys() == {"cpu", "cores", "system"}
    assert session["machine"]["cores"] >= 1 and session["machine"]["cpu"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", session["time"])
    assert session["command"]
    assert (session["device"], session["threads"]) == ("cpu", 1)


def test_the_commit_is_that_of_the_source():
    source = Path(learnalg.__file__).parent
    git = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    assert provenance()["commit"].rstrip("+") == (git.stdout.strip() if git.returncode == 0 else "")


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["/venv/bin/learnalg", "train", "--dim", "3"], "learnalg train --dim 3"),
        (["/src/learnalg/__main__.py", "train"], "learnalg train"),
        (["my_script.py", "7"], "my_script.py 7"),
    ],
)
def test_the_command_is_what_was_typed(monkeypatch, argv, command):
    monkeypatch.setattr("sys.argv", argv)
    assert provenance()["command"] == command


def test_metrics_have_losses_and_accuracies(tiny_run):
    metrics = tiny_run.metrics()
    losses = [m for m in metrics if "loss" in m]
    assert [m["step"] for m in losses] == [*range(10, 121, 10), 125]
    assert losses[-1]["loss"] < 0.5 * losses[0]["loss"]
    assert all(m["examples"] == 64 * m["step"] and m["examples_per_second"] > 0 for m in losses)
    evaluations = [m for m in metrics if "accuracy" in m]
    assert [m["step"] for m in evaluations] == [62, 124, 125]
    assert evaluations[0].keys() >= {"valid_loss", "accuracy", "well_formed", "seconds"}
    assert evaluations[0]["accuracy"]["l1"].keys() == {"0.05", "0.02", "0.01", "0.005"}


def test_the_result_has_the_report_the_curve_and_the_weights_that_were_evaluated(tiny_run):
    result = Result.read(tiny_run.folder / "result.json")
    assert (result.version, result.steps, result.examples, result.config) == (VERSION, 125, 8_000, tiny_run.config)
    assert result.parameters == sum(t.numel() for t in load_weights(tiny_run.folder)[1].values())
    assert result.sha256 == checksum(tiny_run.folder / MODEL_FILE)
    assert result.provenance["versions"]["torch"] == torch.__version__
    assert (result.provenance["sessions"], result.origin, result.all_examples) == (1, None, 8_000)
    assert [point.examples for point in result.curve] == [62 * 64, 124 * 64, 8_000]
    report = result.report
    assert (report.task, report.num, report.split, report.seed) == (
        "transpose",
        20,
        "valid",
        tiny_run.config.train.seed,
    )
    assert 0 < report.accuracy["l1"]["0.05"] <= 1
    assert result.curve[-1].loss == pytest.approx(report.loss)  # of the same examples


def test_the_result_says_what_is_exact_and_what_an_example_costs(tiny_run):
    result = Result.read(tiny_run.folder / "result.json")
    config, model = load_model(tiny_run.folder)
    report = evaluate(model, Problem(config.data), 20, config.train.seed, tolerances=(0.0,), split="valid")
    for norm in ("l1", "l2", "linf"):
        assert list(result.report.accuracy[norm]) == [*map(str, TOLERANCES), "0.0"]
        assert result.report.accuracy[norm]["0.0"] == report.accuracy[norm]["0.0"]
    assert result.flops_per_example == flops_per_example(model, config) > 1e5


@pytest.mark.parametrize("content", [{"result.json": b"{}"}, {"notes.txt": b"mine"}, {"sub/empty": b""}])
def test_a_folder_that_has_something_is_refused_and_not_touched(tmp_path, tiny_config, content):
    for name, text in content.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    with pytest.raises(ValueError, match="exists already"):
        train(tiny_config(), tmp_path)
    assert contents(tmp_path) == content


def test_a_file_in_the_folders_place_is_refused_and_not_touched(tmp_path, tiny_config):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        train(tiny_config(), tmp_path / "run")
    assert contents(tmp_path) == {"run": b"mine"}


def test_a_run_is_not_trained_over(tiny_run):
    before = contents(tiny_run.folder)
    with pytest.raises(ValueError, match="exists already: choose another --out, or `learnalg resume"):
        train(tiny_run.config, tiny_run.folder)
    assert contents(tiny_run.folder) == before


def test_an_empty_folder_and_missing_parents_will_do(tmp_path, tiny_config):
    Run.create(tmp_path, tiny_config())
    Run.create(tmp_path / "a" / "b", tiny_config())
    assert (tmp_path / "config.json").is_file() and (tmp_path / "a" / "b" / "config.json").is_file()


def test_what_is_no_run_is_not_opened(tmp_path):
    with pytest.raises(ValueError, match="is not a run's folder"):
        Run.open(tmp_path)
    with pytest.raises(ValueError, match="is not a run's folder"):
        Run.open(tmp_path / "missing")


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_broken_config_is_refused_by_name(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "config.json"))):
        Run.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"data": {"dim": 5}}', "dim 5: must be text"),
        ('{"data": {"taks": "add"}}', "unknown key in data 'taks': did you mean 'task'"),
        ('{"date": {}}', "unknown table 'date'"),
    ],
)
def test_a_config_of_unknown_things_is_refused(tmp_path, content, complaint):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=complaint):
        Run.open(tmp_path)


@pytest.mark.parametrize("of", ["folder", "file"])
@pytest.mark.parametrize("paper", [False, True])
def test_a_loaded_model_gives_the_same_logits(tmp_path, tiny_config, paper, of):
    config = tiny_config(paper=paper)
    model = random_model(config)
    save_model(tmp_path / MODEL_FILE, config, model)
    loaded_config, loaded = load_model(tmp_path if of == "folder" else tmp_path / MODEL_FILE)
    assert loaded_config == config and not loaded.training
    batch = Stream(Problem(config.data), 1, "test", 8).batch(0)
    source, target = torch.from_numpy(batch.sources), torch.from_numpy(batch.targets)
    with torch.no_grad():
        expected = model(source, decoder_input(target))
        assert expected.std() > 0
        assert torch.equal(loaded(source, decoder_input(target)), expected)


def test_a_model_moves_without_its_folder(tmp_path, tiny_run):
    (tmp_path / "renamed.safetensors").write_bytes((tiny_run.folder / MODEL_FILE).read_bytes())
    config, model = load_model(tmp_path / "renamed.safetensors")
    assert config == tiny_run.config
    for name, tensor in load_model(tiny_run.folder)[1].state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda t: t.pop("decoder.bias"), "decoder.bias is missing there, SHAPE in this model"),
        (lambda t: t.update(extra=torch.zeros(2, 3)), "extra is (2, 3) there, missing in this model"),
        (lambda t: t.update({"decoder.bias": torch.zeros(7)}), "decoder.bias is (7,) there, SHAPE in this model"),
    ],
)
def test_weights_that_do_not_fit_are_refused_with_the_tensors_name(tmp_path, tiny_run, change, complaint):
    tensors, metadata = load_tensors(tiny_run.folder / MODEL_FILE)
    complaint = complaint.replace("SHAPE", str(tuple(tensors["decoder.bias"].shape)))
    change(tensors)
    save_tensors(tmp_path / MODEL_FILE, tensors, metadata)
    with pytest.raises(ValueError, match=re.escape(complaint)):
        load_model(tmp_path)


@pytest.mark.parametrize("metadata", [{}, {"format": "other-1"}])
def test_tensors_of_another_program_are_refused(tmp_path, metadata):
    save_tensors(tmp_path / "a.safetensors", {"w": torch.zeros(2)}, metadata)
    with pytest.raises(ValueError, match="was not written by learnalg"):
        load_model(tmp_path / "a.safetensors")


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(ValueError, match=MODEL_FILE):
        load_model(tmp_path)
    with pytest.raises(ValueError, match=r"unknown run or model '.*missing'"):
        load_model(tmp_path / "missing")


@pytest.mark.parametrize("config", ["[]", "7", "{", '{"data": 7}', '{"data": {"dim": "2", "taks": 1}}'])
@pytest.mark.parametrize("version", ["learnalg-1", "learnalg-2"])
def test_weights_with_a_config_that_cannot_be_read_are_refused(tmp_path, config, version):
    save_tensors(tmp_path / "a.safetensors", {"w": torch.zeros(2)}, {"format": version, "config": config})
    with pytest.raises(ValueError, match=r"a\.safetensors: its config cannot be read"):
        load_model(tmp_path / "a.safetensors")


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def swap(path):
    """Sound weights of the same network, of another step."""
    tensors, metadata = load_tensors(path)
    save_tensors(path, {name: tensor + 1e-3 for name, tensor in tensors.items()}, metadata)


@pytest.mark.parametrize("damage", [flip_a_bit, swap])
@pytest.mark.parametrize("of", ["folder", "file"])
def test_weights_that_are_not_their_results_are_refused(tmp_path, tiny_run, damage, of):
    run = shutil.copytree(tiny_run.folder, tmp_path / "run")
    name = run if of == "folder" else run / MODEL_FILE
    assert load_weights(name)[0] == tiny_run.config
    damage(run / MODEL_FILE)
    for load in (load_weights, load_model, learnalg.load):
        with pytest.raises(ValueError, match=r"model\.safetensors is damaged: it is not the file that .*result\.json"):
            load(name)


def test_weights_of_a_run_on_its_way_are_loaded(tmp_path, tiny_run):
    """It has no result yet."""
    run = shutil.copytree(tiny_run.folder, tmp_path / "run")
    (run / "result.json").unlink()
    swap(run / MODEL_FILE)
    assert load_weights(run)[0] == tiny_run.config


def test_metrics_after_a_step_are_forgotten(tmp_path, tiny_config):
    run = Run(tmp_path, tiny_config())
    assert run.metrics() == []
    for step in (10, 20, 20, 30):
        run.add_metrics({"step": step, "loss": 1 / step})
    run.forget_metrics_after(20)
    assert [m["step"] for m in run.metrics()] == [10, 20, 20]
    run.forget_metrics_after(5)
    assert run.metrics() == []


WHOLE = '{"step": 20, "loss": 1.5, "accuracy": {"l1": {"0.05": 0.1}, "l2": {"0.05": 0.2}}}'


@pytest.mark.parametrize("end", range(1, len(WHOLE)))
def test_half_a_last_line_of_metrics_is_left_out(tmp_path, tiny_config, end):
    run = Run(tmp_path, tiny_config())
    run.add_metrics({"step": 10})
    with run.metrics_file.open("a") as file:
        file.write(WHOLE[:end])
    assert run.metrics() == [{"step": 10}]


def test_a_damaged_line_in_the_middle_of_metrics_is_refused_by_name(tmp_path, tiny_config):
    run = Run(tmp_path, tiny_config())
    run.metrics_file.write_text('{"step": 10}\n{"step": 2\n{"step": 30}\n')
    with pytest.raises(ValueError, match=r"metrics\.jsonl is damaged in line 2"):
        run.metrics()


def test_metrics_that_are_not_finite_are_refused(tmp_path, tiny_config):
    run = Run(tmp_path, tiny_config())
    run.add_metrics({"step": 10})
    with pytest.raises(ValueError, match=r"metrics\.jsonl: valid_loss = nan cannot be written"):
        run.add_metrics({"step": 20, "valid_loss": math.nan})
    assert run.metrics() == [{"step": 10}]


def test_a_damaged_provenance_is_refused_by_name(tmp_path, tiny_config):
    run = Run.create(tmp_path / "run", tiny_config())
    (run.folder / "provenance.json").write_text("{")
    with pytest.raises(ValueError, match=r"provenance\.json is damaged"):
        run.add_session(device="cpu")


def test_metrics_continue_after_half_a_line(tmp_path, tiny_config):
    run = Run(tmp_path, tiny_config())
    run.metrics_file.write_text('{"step": 10}\n{"step": 20, "lo')
    run.forget_metrics_after(15)
    run.add_metrics({"step": 20})
    assert run.metrics_file.read_text() == '{"step": 10}\n{"step": 20}\n'


def test_every_session_adds_its_provenance(tmp_path, tiny_config):
    run = Run.create(tmp_path / "run", tiny_config())
    run.add_session(device="cpu")
    run.add_session(device="cuda", resumed_at=7)
    sessions = json.loads((run.folder / "provenance.json").read_text())
    assert [s["device"] for s in sessions] == ["cpu", "cuda"]
    assert sessions[1]["resumed_at"] == 7
