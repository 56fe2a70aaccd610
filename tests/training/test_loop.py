"""The loop: a run is a function of its config, whether it was stopped or not."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch

import learnalg.files
import learnalg.training.loop
from learnalg.config import StageConfig, to_dict
from learnalg.data import Stream
from learnalg.evaluation.evaluate import evaluate
from learnalg.evaluation.result import Result
from learnalg.files import load_tensors
from learnalg.problem import Problem
from learnalg.training.devices import InterruptedRunError, pick_device
from learnalg.training.loop import Silent, resume, train
from learnalg.training.run import Run
from learnalg.training.step import new_state, set_first_weights, train_step
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, load_model, load_weights


def weights(run):
    return load_weights(run.folder if isinstance(run, Run) else run)[1]


def assert_same_weights(a, b):
    a, b = weights(a), weights(b)
    assert a.keys() == b.keys()
    assert [name for name in a if not torch.equal(a[name], b[name])] == []


def losses(run):
    """All that metrics say but the times."""
    times = ("seconds", "examples_per_second")
    return [{k: v for k, v in m.items() if k not in times} for m in run.metrics()]


def files(folder):
    return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


class StopAt(Silent):
    """Sends its own process a signal at the evaluation after so many examples."""

    def __init__(self, examples, number=signal.SIGINT):
        self.examples, self.number = examples, number

    def on_evaluation(self, examples, report):
        if examples == self.examples:
            signal.raise_signal(self.number)


class Seen(Silent):
    def __init__(self):
        self.logs, self.evaluations = [], []

    def on_log(self, log):
        self.logs.append(log)

    def on_evaluation(self, examples, report):
        self.evaluations.append((examples, report))


@pytest.mark.parametrize("workers", [0, 2])
def test_two_runs_of_one_config_have_the_same_weights(tmp_path, tiny_config, workers):
    torch.manual_seed(99)  # what happened before a run does not matter
    one = train(tiny_config(dropout=0.1), tmp_path / "one")
    other = train(tiny_config(dropout=0.1, workers=workers), tmp_path / "other")
    assert_same_weights(one, other)
    assert losses(one) == losses(other)


@pytest.mark.parametrize(
    "change",
    [
        *({"seed": 2}, {"dropout": 0.1}, {"learning_rate": 1e-3}, {"noise": 0.1}, {"soft_width": 0.0}),
        *({"mix_share": 1.0, "mix_dim": "3"}, {"mix_share": 1.0, "mix_ensemble": ("laplace",)}),
        *({"repeated_share": 0.5}, {"stage": (StageConfig(64, dim="3"),)}),
    ],
)
def test_a_run_depends_on_its_config(tmp_path, tiny_config, change):
    one = weights(train(tiny_config(examples=128), tmp_path / "one"))
    other = weights(train(tiny_config(examples=128, **change), tmp_path / "other"))
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("number", "changes"),
    [(signal.SIGINT, {}), (signal.SIGTERM, {"dropout": 0.2}), (signal.SIGINT, {"paper": True, "dropout": 0.1})],
)
def test_a_run_stopped_by_a_signal_resumes_as_if_it_had_not_been(tmp_path, tiny_config, changes, number):
    config = tiny_config(eval_every=7 * 64, eval_num=5, **changes)  # step 7: in the middle of a logged stretch
    straight = train(config, tmp_path / "straight")
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(InterruptedRunError, match="stopped at step 7") as stop:
        train(config, tmp_path / "stopped", watcher=StopAt(7 * 64, number))
    assert stop.value.number == number
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert not (tmp_path / "stopped" / RESULT_FILE).exists()

    torch.manual_seed(99)
    stopped = resume(tmp_path / "stopped")
    assert_same_weights(straight, stopped)
    assert losses(straight) == losses(stopped)
    one, other = (Result.read(run.folder / RESULT_FILE) for run in (straight, stopped))
    assert (one.report.accuracy, one.steps, one.curve) == (other.report.accuracy, 20, other.curve)
    assert (one.steps, one.provenance["sessions"], other.provenance["sessions"]) == (other.steps, 1, 2)
    sessions = json.loads((stopped.folder / "provenance.json").read_text())
    assert [s.get("resumed_at") for s in sessions] == [None, 7]


MIX = {"mix_share": 0.5, "mix_until": 0.6, "mix_dim": "1", "repeated_share": 0.25, "pool": 9}
STAGES = {"stage": (StageConfig(5 * 64, dim="1", rate=0.5), StageConfig(4 * 64, ensemble=("laplace",)))}


@pytest.mark.parametrize("changes", [MIX, STAGES], ids=["mix", "stages"])
def test_a_run_with_a_mix_or_with_stages_resumes_as_if_it_had_not_been_stopped(tmp_path, tiny_config, changes):
    config = tiny_config(eval_every=7 * 64, eval_num=5, **changes)
    straight = train(config, tmp_path / "straight")
    with pytest.raises(InterruptedRunError, match="stopped at step 7"):
        train(config, tmp_path / "stopped", watcher=StopAt(7 * 64))
    stopped = resume(tmp_path / "stopped")
    assert stopped.config == config
    assert_same_weights(straight, stopped)
    assert losses(straight) == losses(stopped)


def test_a_run_may_stop_many_times(tmp_path, tiny_config):
    config = tiny_config(eval_every=64, eval_num=2, examples=6 * 64, dropout=0.1)
    straight = train(config, tmp_path / "straight")
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "stopped", watcher=StopAt(2 * 64))
    for step in (3, 5):
        with pytest.raises(InterruptedRunError):
            resume(tmp_path / "stopped", watcher=StopAt(step * 64))
    assert_same_weights(straight, resume(tmp_path / "stopped"))
    assert losses(straight) == losses(Run.open(tmp_path / "stopped"))


def test_resuming_from_an_older_checkpoint_gives_the_same(tmp_path, tiny_config):
    config = tiny_config(eval_every=7 * 64, eval_num=5)
    straight = train(config, tmp_path / "straight")
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "stopped", watcher=StopAt(14 * 64))
    newest = tmp_path / "stopped" / "checkpoints" / "00000014.ckpt"
    newest.write_bytes(newest.read_bytes()[:-1])
    before = files(tmp_path / "stopped")
    with pytest.raises(ValueError, match=r"damaged: .*; the last good one is 00000000.ckpt"):
        resume(tmp_path / "stopped")
    assert files(tmp_path / "stopped") == before
    stopped = resume(tmp_path / "stopped", checkpoint="00000000.ckpt")
    assert_same_weights(straight, stopped)
    assert losses(straight) == losses(stopped)


def test_resuming_a_finished_run_changes_nothing(tiny_run):
    before = files(tiny_run.folder)
    assert resume(tiny_run.folder).config == tiny_run.config
    assert files(tiny_run.folder) == before


@pytest.mark.parametrize("early", [False, True])
def test_a_run_killed_in_its_last_evaluation_is_only_evaluated(tmp_path, tiny_config, tiny_run, monkeypatch, early):
    changes = FROZEN | {"eval_every": 5 * 64, "stop_accuracy": 0.1} if early else {"examples": 5 * 64}
    config = tiny_config(init=str(tiny_run.folder), **changes)
    with monkeypatch.context() as patch:
        patch.setattr(learnalg.training.loop, "_write_result", lambda *arguments: signal.default_int_handler(2, None))
        with pytest.raises(KeyboardInterrupt):
            train(config, tmp_path / "run")
    trained = weights(tmp_path / "run")
    run = resume(tmp_path / "run")
    assert Result.read(run.folder / RESULT_FILE).steps == 5
    for name, tensor in weights(run).items():
        assert torch.equal(tensor, trained[name])


def older(model):
    """The weights of an earlier step, as a kill leaves them between the last checkpoint and the model's file."""
    tensors, metadata = load_tensors(model)
    learnalg.files.save_tensors(model, {name: tensor - 1e-3 for name, tensor in tensors.items()}, metadata)


@pytest.mark.parametrize("lost", [(RESULT_FILE,), (MODEL_FILE,), (MODEL_FILE, RESULT_FILE)], ids="+".join)
@pytest.mark.parametrize("damage", [lambda path: path.unlink(), older], ids=["missing", "older"])
def test_after_resume_the_model_file_is_the_state_that_was_evaluated(tmp_path, tiny_run, lost, damage):
    """Whatever a kill has left beside the last checkpoint."""
    folder, before = shutil.copytree(tiny_run.folder, tmp_path / "run"), Result.read(tiny_run.folder / RESULT_FILE)
    for name in lost:
        (damage if name == MODEL_FILE else os.unlink)(folder / name)
    if lost == (RESULT_FILE,) and damage is older:
        older(folder / MODEL_FILE)
    run = resume(folder)
    after = Result.read(folder / RESULT_FILE)
    assert after.sha256 == learnalg.files.checksum(folder / MODEL_FILE) == before.sha256
    assert_same_weights(run, tiny_run)
    assert (after.report.accuracy, after.steps) == (before.report.accuracy, before.steps)
    unchanged = files(folder)
    resume(folder)
    assert files(folder) == unchanged


# A training, or the resumption of one, in a process of its own.
PROGRAM = """
import json, sys
from pathlib import Path
from learnalg.config import from_dict
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import resume, train
config, out = sys.argv[1:]
try:
    train(from_dict(json.loads(Path(config).read_text())), Path(out)) if config else resume(Path(out))
except InterruptedRunError as stop:
    sys.exit(128 + stop.number)
"""


def start(config, tmp_path, name):
    """A training in a process, once it has taken a few steps."""
    (tmp_path / f"{name}.json").write_text(json.dumps(to_dict(config)))
    out = tmp_path / name
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, f"{name}.json", name], cwd=tmp_path, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not any(int(p.stem) >= 3 for p in out.glob("checkpoints/*.ckpt")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    return process, out


def test_a_process_that_was_killed_resumes_to_the_same_weights(tmp_path, tiny_config):
    # A checkpoint every step: the kill may well come while one is written.
    changes = {"batch_size": 16, "examples": 30 * 16, "eval_every": 9 * 16, "eval_num": 2, "checkpoint_seconds": 0}
    config = tiny_config(workers=1, dropout=0.2, **changes)
    process, out = start(config, tmp_path, "stopped")
    process.kill()
    said = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, said) == (-signal.SIGKILL, "")
    assert not (out / RESULT_FILE).exists()
    # kill -9 may leave half of anything that was not there before
    with (out / "metrics.jsonl").open("a") as metrics:
        metrics.write('{"step": 29, "lo')
    resume(out)
    straight = train(config, tmp_path / "straight")
    assert_same_weights(straight, out)
    assert losses(straight) == losses(Run.open(out))
    assert [m["step"] for m in Run.open(out).metrics() if "loss" in m] == [10, 20, 30]
    assert len(list(out.rglob("*.safetensors"))) == 1


@pytest.mark.parametrize("kept", [(".config.json.07.part",), ("config.json",), ("config.json", "provenance.json")])
def test_a_run_that_was_killed_before_its_first_checkpoint_begins_again(tmp_path, tiny_config, tiny_run, kept):
    config = tiny_config(examples=64, init=str(tiny_run.folder))
    straight = train(config, tmp_path / "straight")
    folder = tmp_path / "killed"
    folder.mkdir()
    for name in kept:
        source = straight.folder / name
        (folder / name).write_bytes(source.read_bytes() if source.is_file() else b"{")
    run = resume(folder) if "config.json" in kept else train(config, folder)
    assert_same_weights(run, straight)
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in straight.folder.iterdir())
    assert Result.read(folder / RESULT_FILE).origin == Result.read(straight.folder / RESULT_FILE).origin is not None


def test_a_run_that_has_lost_its_checkpoints_is_refused(tmp_path, tiny_run):
    folder = shutil.copytree(tiny_run.folder, tmp_path / "run", ignore=shutil.ignore_patterns("*.ckpt", RESULT_FILE))
    with pytest.raises(ValueError, match="has no checkpoint"):
        resume(folder)


def test_a_checkpoint_is_written_when_its_time_has_come(tmp_path, tiny_config, monkeypatch):
    saved = []
    monkeypatch.setattr(learnalg.training.loop, "_save", lambda run, state: saved.append(state.step))
    train(tiny_config(examples=4 * 64, checkpoint_seconds=0), tmp_path / "often")
    assert saved == [0, 1, 2, 3, 4]
    saved.clear()
    train(tiny_config(examples=4 * 64, checkpoint_seconds=1e6), tmp_path / "seldom")
    assert saved == [0, 4]


def test_the_watcher_sees_logs_and_evaluations(tmp_path, tiny_config):
    seen = Seen()
    run = train(tiny_config(examples=25 * 64, eval_every=10 * 64), tmp_path / "run", watcher=seen)
    assert [log.examples for log in seen.logs] == [640, 1280, 1600]
    assert [log.loss for log in seen.logs] == [m["loss"] for m in run.metrics() if "loss" in m]
    shares = [m["learning_rate_share"] for m in run.metrics() if "loss" in m]
    assert [log.learning_rate for log in seen.logs] == [share * run.config.optim.learning_rate for share in shares]
    assert all(log.speed > 0 for log in seen.logs)
    assert [log.counts_evaluations for log in seen.logs] == [False, True, True]  # the first evaluation is at 640
    assert [(examples, report.num) for examples, report in seen.evaluations] == [(640, 20), (1280, 20), (1600, 20)]


def test_training_looks_at_the_validation_split_only(tmp_path, tiny_config, monkeypatch):
    """Checks, first weights, evaluations on the way, the last one, and those of a run that is resumed."""
    made, init = [], Stream.__init__

    def note(stream, problem, seed, split, batch_size):
        made.append(split)
        init(stream, problem, seed, split, batch_size)

    monkeypatch.setattr(Stream, "__init__", note)
    config = tiny_config(eval_every=2 * 64, examples=4 * 64, mix_share=0.5, mix_dim="1", repeated_share=0.5)
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "run", watcher=StopAt(2 * 64))
    report = Result.read(resume(tmp_path / "run").folder / RESULT_FILE).report
    assert set(made) == {"train", "valid"}
    assert (report.split, report.seed) == ("valid", config.train.seed)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, [4_096]), ({"output_bias": "token"}, []), ({"init": "RUN"}, []), ({"init": "RUN:encoder"}, [4_096])],
)
def test_examples_are_drawn_for_token_frequencies_only_where_the_output_starts_at_them(
    tiny_config, tiny_run, monkeypatch, changes, expected
):
    sizes, draw = [], Stream.batch
    monkeypatch.setattr(Stream, "batch", lambda stream, index: sizes.append(stream.batch_size) or draw(stream, index))
    changes = {name: value.replace("RUN", str(tiny_run.folder)) for name, value in changes.items()}
    state = new_state(tiny_config(**changes), torch.device("cpu"))
    assert not state.model.decoder.bias.any()
    set_first_weights(state)
    assert sizes == expected
    assert bool(state.model.decoder.bias.any()) == (bool(expected) or "init" in changes)


def test_dropout_differs_from_step_to_step(tiny_config):
    """The same batch, with weights that do not move."""
    config = tiny_config(paper=True, dropout=0.3, learning_rate=1e-12)
    batch = Stream(Problem(config.data), 1, "train", 64).batch(0)

    def losses_of_three_steps():
        state, found = new_state(config, torch.device("cpu")), []
        for _ in range(3):
            state.loss_sum = 0.0
            train_step(state, batch)
            found.append(state.loss_sum)
        return found

    found = losses_of_three_steps()
    assert len(set(found)) == 3
    assert losses_of_three_steps() == found


def test_validation_is_without_dropout(tmp_path, tiny_config):
    config = tiny_config(paper=True, dropout=0.5, examples=64)
    run = train(config, tmp_path / "run")
    config, model = load_model(run.folder)
    report = evaluate(model, Problem(config.data), config.train.eval_num, config.train.seed, split="valid")
    (found,) = (m["valid_loss"] for m in run.metrics() if "valid_loss" in m)
    assert found == report.loss == Result.read(run.folder / RESULT_FILE).report.loss


def test_evaluations_along_the_way_do_not_change_the_weights(tmp_path, tiny_config):
    never = train(tiny_config(dropout=0.1), tmp_path / "never")
    often = train(tiny_config(dropout=0.1, eval_every=128), tmp_path / "often")
    assert_same_weights(never, often)


FROZEN = {"learning_rate": 1e-9, "optimizer": "muon:learning_rate=1e-9"}


@pytest.mark.parametrize(("accuracy", "tolerance", "steps"), [(0.1, 0.03, 5), (1.0, 0.03, 20), (0.0, 0.05, 20)])
def test_a_run_stops_early_on_its_criterion(tmp_path, tiny_config, tiny_run, accuracy, tolerance, steps):
    init = str(tiny_run.folder)
    config = tiny_config(**FROZEN, init=init, eval_every=5 * 64, stop_accuracy=accuracy, stop_tolerance=tolerance)
    run = train(config, tmp_path / "run")
    reached = [m["accuracy"]["l1"][str(tolerance)] for m in run.metrics() if "accuracy" in m]
    assert 0.1 <= reached[0] < 1.0  # the criterion lies between
    assert Result.read(run.folder / RESULT_FILE).steps == steps
    assert resume(run.folder).metrics()[-1]["step"] == steps


def test_fine_tuning_starts_from_other_weights_at_other_dimensions(tmp_path, tiny_config, tiny_run):
    config = tiny_config(dim="3", ensemble=("laplace",), examples=64, init=str(tiny_run.folder))
    run = train(config, tmp_path / "run")
    first, _ = load_tensors(run.checkpoints / "00000000.ckpt")
    for name, tensor in weights(tiny_run).items():
        assert torch.equal(first[f"model.{name}"], tensor)
    assert load_weights(run.folder)[0].data.dim == "3"
    result, before = (Result.read(r.folder / RESULT_FILE) for r in (run, tiny_run))
    assert (result.origin.model, result.origin.part) == (str(tiny_run.folder), "all")
    assert (result.origin.examples, result.all_examples) == (8_000, 8_064)
    assert result.all_seconds == result.seconds + before.seconds
    assert result.all_flops == pytest.approx(64 * result.flops_per_example + before.all_flops)


def test_fine_tuning_from_a_single_file_is_the_same(tmp_path, tiny_config, tiny_run):
    a = train(tiny_config(examples=64, init=str(tiny_run.folder)), tmp_path / "a")
    assert_same_weights(a, train(tiny_config(examples=64, init=str(tiny_run.folder / MODEL_FILE)), tmp_path / "b"))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"dim_model": 16}, "encoder.embed"),
        ({"encoder_layers": 2}, r"encoder.layers.1"),
        ({"output_encoding": "p1000"}, "decoder"),
        ({"norm": "post"}, "norm.weight"),
    ],
)
def test_fine_tuning_another_network_is_refused(tmp_path, tiny_config, tiny_run, changes, name):
    with pytest.raises(ValueError, match=rf"do not fit: \S*{name}.* there"):
        train(tiny_config(init=str(tiny_run.folder), **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_encoder_gets_a_new_decoder(tmp_path, tiny_config, tiny_run):
    """Whatever the decoder is: another encoding, more layers. It starts as in a run from nothing."""
    changes = {"task": "add", "output_encoding": "p1000", "decoder_layers": 2, "examples": 64}
    run = train(tiny_config(**changes, init=f"{tiny_run.folder}:encoder"), tmp_path / "run")
    new = train(tiny_config(**changes), tmp_path / "new")
    (first, _), (fresh, _) = (load_tensors(r.checkpoints / "00000000.ckpt") for r in (run, new))
    old = weights(tiny_run)
    for name in (name.removeprefix("model.") for name in first if name.startswith("model.")):
        expected = old[name] if name.startswith("encoder.") else fresh[f"model.{name}"]
        assert torch.equal(first[f"model.{name}"], expected)
    assert Result.read(run.folder / RESULT_FILE).origin.part == "encoder"


def test_an_encoder_that_does_not_fit_is_refused(tmp_path, tiny_config, tiny_run):
    with pytest.raises(ValueError, match="do not fit"):
        train(tiny_config(encoder_layers=2, init=f"{tiny_run.folder}:encoder"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_outlives_what_it_started_from(tmp_path, tiny_config, tiny_run):
    origin = shutil.copytree(tiny_run.folder, tmp_path / "origin")
    config = tiny_config(examples=4 * 64, eval_every=2 * 64, init=str(origin))
    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "run", watcher=StopAt(2 * 64))
    shutil.rmtree(origin)
    found = Result.read(resume(tmp_path / "run").folder / RESULT_FILE).origin
    assert (found.model, found.part, found.examples) == (str(origin), "all", 8_000)


@pytest.mark.parametrize("init", ["missing", "missing:encoder"])
def test_fine_tuning_from_nothing_is_refused(tmp_path, tiny_config, init):
    with pytest.raises(ValueError, match="unknown run or model 'missing'"):
        train(tiny_config(init=init), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_full_disk_is_refused_before_anything_starts(tmp_path, tiny_config, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=10**9, used=10**9 - 1000, free=1000))
    with pytest.raises(ValueError, match=r"too full: this run needs [1-9]\d* MB"):
        train(tiny_config(), tmp_path / "a" / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_during_a_run_leaves_its_last_checkpoint(tmp_path, tiny_config, monkeypatch):
    config = tiny_config(examples=6 * 64, checkpoint_seconds=0)
    straight = train(config, tmp_path / "straight")
    fsync, left = os.fsync, [12]

    def fill(descriptor):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fill)
        with pytest.raises(OSError, match="No space left"):
            train(config, tmp_path / "run")
    assert not list((tmp_path / "run").rglob("*.part"))
    assert_same_weights(straight, resume(tmp_path / "run"))


def test_bf16_trains(tmp_path, tiny_config):
    run = train(tiny_config(precision="bf16", examples=128), tmp_path / "bf16")
    full = train(tiny_config(examples=128), tmp_path / "fp32")
    assert load_weights(run.folder)[0].train.precision == "bf16"
    assert {t.dtype for t in weights(run).values()} == {torch.float32}
    loss, expected = (r.metrics()[0]["loss"] for r in (run, full))
    assert loss != expected and loss == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("pays", "precision"), [(True, "mixed"), (False, "fp32")])
def test_the_config_says_which_precision_auto_was(tmp_path, tiny_config, monkeypatch, pays, precision):
    monkeypatch.setattr(learnalg.training.loop, "bf16_pays", lambda device, dim: pays)
    run = train(tiny_config(precision="auto", examples=1), tmp_path / "run")
    assert run.config.train.precision == Run.open(run.folder).config.train.precision == precision


def test_the_last_batch_is_whole(tmp_path, tiny_config):
    run = train(tiny_config(examples=65), tmp_path / "run")
    assert run.metrics()[-1]["examples"] == 128


@pytest.mark.parametrize(("name", "complaint"), [("tpu", "unknown device"), ("cuda:x", "unknown device")])
def test_an_unknown_device_is_refused(tmp_path, tiny_config, name, complaint):
    with pytest.raises(ValueError, match=complaint):
        train(tiny_config(device=name), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_a_missing_gpu_is_refused():
    with pytest.raises(ValueError, match="cuda:0 is not available here"):
        pick_device("cuda:0")
    assert pick_device("cpu") == torch.device("cpu")
