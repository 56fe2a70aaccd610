"""A checkpoint says what has written it. Of another config, version or number of processes it is refused, with the
flag that takes it."""

import json
import re
import shutil
import signal

import pytest

from learnalg.config import to_dict
from learnalg.evaluation.result import Result
from learnalg.files import load_tensors
from learnalg.training.checkpoint import load_checkpoint, save_checkpoint
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import Silent, resume, train
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE


class StopAt(Silent):
    def on_log(self, log):
        if log.examples == 10 * 64:
            signal.raise_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def stopped(tiny_config, tmp_path_factory):
    """A run stopped at step 10 of 20."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.raises(InterruptedRunError):
        train(tiny_config(), folder, StopAt())
    return folder


@pytest.fixture
def run(stopped, tmp_path):
    return shutil.copytree(stopped, tmp_path / "run")


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def rewrite(run, **changes):
    """The newest checkpoint, sound, with other words about itself."""
    tensors, metadata = load_checkpoint(run / "checkpoints")
    save_checkpoint(run / "checkpoints", 10, tensors, metadata | changes)


def edit_config(run, **changes):
    values = json.loads((run / "config.json").read_text())
    for name, value in changes.items():
        values["train" if name in values["train"] else "optim"][name] = value
    (run / "config.json").write_text(json.dumps(values))


def test_a_checkpoint_has_config_versions_and_processes(stopped, tiny_config):
    metadata = load_checkpoint(stopped / "checkpoints")[1]
    assert json.loads(metadata["config"]) == json.loads(json.dumps(to_dict(tiny_config())))
    assert json.loads(metadata["version"]).keys() == {"learnalg", "torch"}
    assert json.loads(metadata["processes"]) == 1


CASES = {
    "config": (lambda run: edit_config(run, clip=0.5), r"clip 1.0 there, 0.5 here"),
    "version": (lambda run: rewrite(run, version='{"learnalg": "0.1.0", "torch": "2.9.0"}'), "torch 2.9.0 there, "),
    "processes": (lambda run: rewrite(run, processes="4"), "processes 4 there, 1 here"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_checkpoint_of_another_run_is_refused_or_taken_by_a_flag(run, name):
    change, complaint = CASES[name]
    change(run)
    before = contents(run)
    with pytest.raises(ValueError, match=rf"another {name}: .*{complaint}.*resume with --despite {name}"):
        resume(run)
    others = tuple(other for other in CASES if other != name)
    with pytest.raises(ValueError, match=f"another {name}"):
        resume(run, despite=others)
    assert contents(run) == before
    assert Result.read(resume(run, despite=(name,)).folder / RESULT_FILE).steps == 20


def test_an_unknown_difference_is_refused(run):
    with pytest.raises(ValueError, match="did you mean 'processes'"):
        resume(run, despite=("proceses",))


def test_a_budget_that_was_edited_is_checked(run):
    """With 15 steps the warm-up of 20 would have been shorter."""
    edit_config(run, examples=15 * 64)
    with pytest.raises(ValueError, match="other learning rates"):
        resume(run)


def test_older_checkpoints_say_nothing_and_are_taken(run):
    tensors, metadata = load_checkpoint(run / "checkpoints")
    save_checkpoint(run / "checkpoints", 10, tensors, {name: metadata[name] for name in ("step", "kept")})
    assert Result.read(resume(run).folder / RESULT_FILE).steps == 20


def test_fields_newer_than_a_checkpoint_have_their_defaults(run):
    config = json.loads(load_checkpoint(run / "checkpoints")[1]["config"])
    del config["train"]["skip_nonfinite"], config["data"]["triangle"]
    rewrite(run, config=json.dumps(config))
    assert Result.read(resume(run).folder / RESULT_FILE).steps == 20


def test_a_checkpoint_under_anothers_name_is_refused(run):
    (run / "checkpoints/00000010.ckpt").rename(run / "checkpoints/00000015.ckpt")
    with pytest.raises(ValueError, match=r"00000015.ckpt is of step 10: it has another's name; .* 00000000.ckpt"):
        resume(run)


def swap(a, b):
    content = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(content)


def test_checkpoints_that_changed_places_are_refused(run):
    first, last = sorted((run / "checkpoints").glob("*.ckpt"))
    swap(first, last)
    with pytest.raises(ValueError, match=r"00000010.ckpt is of step 0: it has another's name; no other is good"):
        resume(run)


DAMAGED_SESSIONS = [b"", b"half", b"{}", b"[7]", b'[{"commit": ""}]', b"\xff", b'[{"time": "", "origin": {}}]']
DAMAGED_LINES = [
    *(b"7", b"[]", b"{}", b'{"step": "1"}', b'{"step": true}', b"\xff\xfe", b"\0" * 40, b'{"step": 5', b"NaN"),
    *(b'{"step": 5, "loss": NaN}', b'{"step": 5, "accuracy": {}}', b"[" * 100_000),
]


@pytest.mark.parametrize("damage", DAMAGED_SESSIONS)
def test_a_damaged_provenance_is_refused_by_name_before_anything_is_written(run, damage):
    (run / "provenance.json").write_bytes(damage)
    before = contents(run)
    with pytest.raises(ValueError, match=r"provenance\.json"):
        resume(run)
    assert contents(run) == before


@pytest.mark.parametrize("damage", DAMAGED_LINES, ids=lambda line: repr(line[:30]))
def test_a_damaged_line_of_metrics_is_refused_by_name_before_anything_is_written(run, damage):
    metrics = run / "metrics.jsonl"
    metrics.write_bytes(damage + b"\n" + metrics.read_bytes())
    before = contents(run)
    with pytest.raises(ValueError, match=r"metrics\.jsonl is damaged in line 1: .*; repair or remove the line"):
        resume(run)
    assert contents(run) == before


def test_a_lost_provenance_begins_anew(run):
    (run / "provenance.json").unlink()
    result = Result.read(resume(run).folder / RESULT_FILE)
    assert (result.steps, result.provenance["sessions"]) == (20, 1)


def test_the_command_takes_what_differs(run, learnalg_process):
    rewrite(run, processes="2")
    refused = learnalg_process("resume", run)
    assert refused.returncode == 2 and re.fullmatch(r"learnalg: error: .*--despite processes.*\n", refused.stderr)
    assert learnalg_process("resume", run, "--despite", "processes", "config").returncode == 0
    assert load_tensors(Run.open(run).checkpoints / "00000020.ckpt")[1]["processes"] == "1"
