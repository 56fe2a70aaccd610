"""Jobs on this machine: in their order, to their end, through kills."""

import json
import os
import signal
import time

import pytest

from learnalg.config import to_dict
from learnalg.files import checksum
from learnalg.launch import Job, Queue, Resources, make_engine
from learnalg.launch.job import Outcome
from learnalg.launch.worker import work
from learnalg.training.checkpoint import list_checkpoints
from learnalg.training.loop import train
from learnalg.training.run import Run

SPLIT = "learnalg.naming:split_name"


def states(queue):
    return {name: entry.state for name, entry in queue.entries.items()}


def test_jobs_run_in_their_order_and_a_failure_takes_only_those_with_it_that_come_after_it(tmp_path):
    jobs = [
        Job("last", SPLIT, {"text": "a"}, after=("first",)),
        Job("first", SPLIT, {"text": "lstm:memory=100"}),
        Job("bad", SPLIT, {"text": "lstm:memory"}),
        Job("worse", SPLIT, {"text": "a"}, after=("first", "bad")),
        Job("worst", SPLIT, {"text": "a"}, after=("worse",)),
    ]
    queue, seen = Queue(jobs, make_engine("local", Resources(jobs=2)), tmp_path), []
    queue.run(lambda entries: seen.append(states(queue)))
    assert states(queue) == {"last": "done", "first": "done", "bad": "failed", "worse": "not run", "worst": "not run"}
    assert queue.entries["first"].outcome.value == ["lstm", {"memory": "100"}]
    assert "options are written" in queue.entries["bad"].note and queue.entries["worse"].note == "comes after bad"
    assert all(look["first"] == "done" for look in seen if look["last"] in ("queued", "running"))
    assert max(sum(state == "running" for state in look.values()) for look in seen) == 2
    assert [entry.job.name for entry in queue.left()] == ["bad", "worse", "worst"]


@pytest.fixture
def training(tiny_config, tmp_path):
    """A training of 60 steps as a job, that saves a checkpoint after each."""
    config = tiny_config(examples=60 * 64, checkpoint_seconds=0.0)
    out = str(tmp_path / "run")
    return Job("training", "learnalg.launch.training:train_or_resume", {"config": to_dict(config), "out": out}), config


def test_a_killed_job_is_run_again_and_ends_with_the_weights_of_an_undisturbed_one(training, tmp_path):
    job, config = training
    queue = Queue([job], make_engine("local", Resources()), tmp_path / "jobs")
    killed = []

    def kill(entries):
        if not killed and len(list_checkpoints(tmp_path / "run" / "checkpoints")) > 1:
            killed.append(entries[0].started()["process"])
            os.kill(killed[0], signal.SIGKILL)

    queue.run(kill)
    (entry,) = queue.entries.values()
    assert (entry.state, entry.submitted, entry.lost) == ("done", 2, 1)
    run = Run.open(tmp_path / "run")
    assert len(run.sessions()) == 2 and 0 < run.sessions()[1]["resumed_at"] < 60
    train(config, tmp_path / "undisturbed")
    assert checksum(run.folder / "model.safetensors") == checksum(tmp_path / "undisturbed" / "model.safetensors")


def test_an_interrupted_queue_stops_its_jobs_with_a_checkpoint_and_the_next_one_resumes(training, tmp_path):
    job, _ = training
    queue = Queue([job, Job("next", SPLIT, {"text": "a"}, after=("training",))], local(), tmp_path / "jobs")

    def interrupt(entries):
        if entries[0].state == "running" and list_checkpoints(tmp_path / "run" / "checkpoints"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        queue.run(interrupt_once(interrupt))
    assert states(queue) == {"training": "stopped", "next": "stopped"}
    assert queue.entries["training"].note.startswith("stopped at step ")
    again = Queue([job], local(), tmp_path / "jobs")
    again.run()
    assert states(again) == {"training": "done"} and len(Run.open(tmp_path / "run").sessions()) == 2


def test_jobs_of_a_command_that_is_killed_stop_with_a_checkpoint(cells):
    cells.pause(0.2)
    process = cells.start("--launch", "local", "--cells", "first")
    cells.wait_for("first", 10, process)
    process.kill()
    process.communicate()
    end = time.monotonic() + 60
    while not cells.job("first", "outcome.json") and time.monotonic() < end:
        time.sleep(0.1)
    outcome, saved = cells.job("first", "outcome.json"), list_checkpoints(cells.run("first").checkpoints)
    assert outcome["state"] == "stopped" and outcome["error"] == f"stopped at step {int(saved[-1].stem)}"


def local():
    return make_engine("local", Resources())


def interrupt_once(interrupt):
    """Stopping looks at the jobs too, and is not to be interrupted."""
    raised = []

    def show(entries):
        if not raised:
            try:
                interrupt(entries)
            except KeyboardInterrupt:
                raised.append(True)
                raise

    return show


def test_a_job_that_is_lost_again_and_again_has_failed(tmp_path):
    queue = Queue([Job("lost", SPLIT, {"text": "a"})], local(), tmp_path)
    queue.engine.resources = Resources(arguments=("--plugin", str(tmp_path / "none.py")))  # refused before it starts
    queue.run()
    assert states(queue) == {"lost": "failed"} and "ended 5 times without an outcome" in queue.entries["lost"].note
    assert "no such Python file" in (tmp_path / "lost" / "log.txt").read_text()


@pytest.mark.parametrize(
    "function", ["learnalg.naming:get_close_matches", "learnalg.naming:missing", "learnalg.nothing:at_all"]
)
def test_a_job_calls_what_its_module_defines_and_nothing_else(function, tmp_path):
    Job("job", function).write(tmp_path)
    with pytest.raises(ValueError, match="there is no function"):
        work(tmp_path)


def test_a_damaged_job_is_refused(tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({"name": "a", "function": "os:system", "arguments": {}, "after": []}))
    with pytest.raises(ValueError, match="function 'os:system' is not written"):
        work(tmp_path)
    (tmp_path / "outcome.json").write_text('{"state": "done", "values": 1}')
    with pytest.raises(ValueError, match=r"outcome.json is damaged"):
        Outcome.read(tmp_path)


@pytest.mark.parametrize("name", ["../above", "/root", "a//b", "", ".hidden", "a b"])
def test_a_name_stays_inside_the_folder(name):
    with pytest.raises(ValueError, match="a name has letters"):
        Job(name, SPLIT)


def test_what_cannot_be_launched_is_refused(tmp_path):
    with pytest.raises(ValueError, match="comes after nobody, which is none of the jobs"):
        Queue([Job("a", SPLIT, after=("nobody",))], local(), tmp_path)
    with pytest.raises(ValueError, match="two jobs have one name"):
        Queue([Job("a", SPLIT), Job("a", SPLIT)], local(), tmp_path)
    with pytest.raises(ValueError, match="unknown engine 'locl': did you mean 'local'"):
        make_engine("locl", Resources())
    with pytest.raises(ValueError, match="0 threads for each job"):
        Resources(threads=0)
