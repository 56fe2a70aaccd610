"""Files of a run that are damaged: found by a checksum and named, or of no consequence. Never a traceback."""

import random
import shutil
from pathlib import Path

import pytest

from learnalg.cli import main
from learnalg.evaluation.result import Result
from learnalg.training.loop import train
from learnalg.training.run import Run
from learnalg.zoo.load import MODEL_FILE, RESULT_FILE, load_weights

NUM_STEPS = 4


@pytest.fixture(scope="module")
def whole(tiny_config, tmp_path_factory):
    """A finished run, and another one."""
    folder = tmp_path_factory.mktemp("whole")
    changes = {"examples": NUM_STEPS * 16, "batch_size": 16, "eval_num": 2, "final_num": 2, "checkpoint_seconds": 0}
    return [train(tiny_config(**changes, seed=seed), folder / f"seed-{seed}").folder for seed in (1, 2)]


def flip(path, rng, other):
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def truncate(path, rng, other):
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


def empty(path, rng, other):
    path.write_bytes(b"")


def swap(path, rng, other):
    path.write_bytes((other / path.relative_to(path.parents[len(path.parts) - len(other.parts) - 1])).read_bytes())


def lengthen(path, rng, other):
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.randint(1, 9)))


def garbage(path, rng, other):
    path.write_bytes(rng.randbytes(path.stat().st_size))


DAMAGES = {
    "a bit flipped": flip,
    "truncated": truncate,
    "emptied": empty,
    "swapped with another run's": swap,
    "lengthened": lengthen,
    "overwritten with noise": garbage,
}
FILES = [f"checkpoints/{NUM_STEPS:08d}.ckpt", MODEL_FILE, "config.json", "metrics.jsonl", "provenance.json"]


def copy_of(folder, to, is_finished):
    copy = shutil.copytree(folder, to)
    if not is_finished:
        (copy / RESULT_FILE).unlink()
    return copy


@pytest.mark.parametrize("name", DAMAGES)
def test_weights_are_refused(whole, tmp_path, times, record, name):
    """With the result beside them, and of a run that is not finished."""
    rng, num = random.Random(name), times(4, 100)
    for number in range(num):
        # With no result beside it, another run's model is whole: it says itself what it is.
        is_finished = number % 2 == 0 or name.startswith("swapped")
        copy = copy_of(whole[0], tmp_path / str(number), is_finished)
        DAMAGES[name](copy / MODEL_FILE, rng, whole[1])
        with pytest.raises(ValueError, match=MODEL_FILE):
            load_weights(copy)
    record(f"a model {name}", num, "refused by its checksum or its form, and named")


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_refused_by_name_or_resumes_to_the_same(whole, tmp_path, times, record, capsys, name):
    rng, num = random.Random(f"run {name}"), times(1, 20)
    expected, ends = Result.read(whole[0] / RESULT_FILE).sha256, {}
    for number in range(num):
        for file in FILES:
            copy = copy_of(whole[0], tmp_path / f"{number}-{file.replace('/', '-')}", is_finished=False)
            DAMAGES[name](copy / file, rng, whole[1])
            code, said = main(["resume", str(copy), "--quiet"]), capsys.readouterr().err
            if code:
                assert code == 2 and said.startswith("learnalg: error: ") and said.count("\n") == 1, said
                assert Path(file).name in said or (file == "config.json" and "config" in said), said
            else:
                assert Result.read(copy / RESULT_FILE).sha256 == expected, f"{name}: {file}"
            refused, taken = ends.get(file, (0, 0))
            ends[file] = refused + bool(code), taken + (not code)
    assert ends[FILES[0]] == (num, 0)  # a checkpoint is never taken
    assert ends[MODEL_FILE] == (0, num)  # written again from the checkpoint
    text = ", ".join(
        f"{file.rpartition('/')[2].replace(f'{NUM_STEPS:08d}', '*')} {a} / {b}" for file, (a, b) in ends.items()
    )
    record(f"a run with one file {name} is resumed", num * len(FILES), f"refused by name / the same weights: {text}")


@pytest.mark.parametrize(
    ("name", "metadata"),
    [("version", '{"learnalg": "0.0.1", "torch": "2.9.0"}'), ("processes", "4"), ("config", "")],
)
def test_a_checkpoint_of_another_run_is_refused_or_taken_by_a_flag(whole, tmp_path, record, capsys, name, metadata):
    from learnalg.training.checkpoint import load_checkpoint, save_checkpoint

    copy = copy_of(whole[0], tmp_path / "run", is_finished=False)
    folder = copy / "checkpoints"
    if metadata:
        tensors, words = load_checkpoint(folder)
        save_checkpoint(folder, NUM_STEPS, tensors, words | {name: metadata})
    else:
        shutil.copy(whole[1] / FILES[0], folder)
    assert main(["resume", str(copy), "--quiet"]) == 2
    assert f"another {name}" in (said := capsys.readouterr().err) and f"--despite {name}" in said
    assert main(["resume", str(copy), "--quiet", "--despite", name]) == 0
    assert Run.open(copy).sessions()[-1]["resumed_at"] == NUM_STEPS
    record(
        f"a checkpoint of another {'number of ' * (name == 'processes')}{name}",
        1,
        f"refused with what differs; taken with --despite {name}",
    )
