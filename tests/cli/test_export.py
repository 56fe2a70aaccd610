"""Export, and training on what was exported."""

import json
import shutil
import signal

import numpy as np
import pytest

from learnalg.evaluation.result import Result
from learnalg.files import checksum
from learnalg.pairs import read_pairs
from learnalg.pairs.given import given
from learnalg.training.devices import InterruptedRunError
from learnalg.training.loop import resume, train
from learnalg.training.watcher import Silent
from learnalg.zoo.load import load_weights
from learnalg.zoo.model import load


def pairs_of(path):
    return {
        (block.task, *(side[k].tobytes() for side in (*block.inputs, block.output)))
        for block in read_pairs(path)
        for k in range(len(block.rows))
    }


@pytest.mark.parametrize(
    "flags", ["--task eigenvalues --dim 2-3 --ensemble laplace --noise 0.1", "--task TA --dim 2-3"]
)
def test_a_file_depends_on_its_flags_alone(run, tmp_path, flags):
    export = ["--num", "1200", "--seed", "4", *flags.split()]
    assert run("export", "a.jsonl", *export)[0] == run("export", "b.parquet", *export)[0] == 0
    assert pairs_of(tmp_path / "a.jsonl") == pairs_of(tmp_path / "b.parquet")
    run("export", "again.jsonl", *export)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    run("export", "fewer.jsonl", *export[2:], "--num", "300")
    lines = [(tmp_path / name).read_text().splitlines() for name in ("fewer.jsonl", "a.jsonl")]
    assert lines[0][1:] == lines[1][1:301]
    header = json.loads(lines[1][0])["learnalg"]
    assert (header["seed"], header["num"], header["split"]) == (4, 1200, "all")
    assert header["config"]["task"] == flags.split()[1]
    run("export", "other.jsonl", *export, "--seed", "5")
    assert not pairs_of(tmp_path / "other.jsonl") & pairs_of(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("words.txt", "ends in .jsonl or .parquet"),
        ("missing/a.jsonl", "there is no folder missing"),
        ("a.jsonl --task nonsense", "unknown task 'nonsense'"),
        ("a.jsonl --split dev", "unknown split 'dev'"),
        ("a.jsonl --num 0", "--num 0"),
        ("a.jsonl --data b.jsonl", "in a file already"),
    ],
)
def test_what_cannot_be_exported_leaves_nothing(run, tmp_path, line, complaint):
    code, out, err = run("export", *line.split())
    assert (code, out, err.count("\n")) == (2, "", 1) and complaint in err
    assert list(tmp_path.iterdir()) == []


class Stop(Silent):
    def on_evaluation(self, examples, report):
        signal.raise_signal(signal.SIGINT)


def test_a_map_of_ones_own_is_learned_from_a_file_and_resumes(tmp_path, tiny_config):
    """Half a turn of 1x1 and 2x2 matrices, which is no registered task."""
    rng, path = np.random.default_rng(1), tmp_path / "turned.jsonl"
    matrices = [rng.uniform(-10, 10, (n, n)) for n in rng.integers(1, 3, 6_000)]
    rows = ({"input": M.tolist(), "output": M[::-1, ::-1].tolist()} for M in matrices)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = tiny_config(task="pairs", data=str(path), examples=8_000, eval_every=4_000, eval_num=100, final_num=1_000)
    run = train(config, tmp_path / "run")
    assert run.config.data.data == f"{path}:sha256={checksum(path)}"
    result = Result.read(run.folder / "result.json")
    assert 200 < result.report.num < 600 and result.report.split == "valid"  # a sixteenth of the file
    assert result.report.accuracy["l1"]["0.05"] > 0.5
    model = load(run.folder)
    test = model.evaluate(num=1_000)
    assert test.accuracy["l1"]["0.05"] > 0.5 and test.data["data"] == run.config.data.data

    solution = model.solve([[1.0, 2.0], [3.0, 4.0]])  # nothing is known of the right answer
    assert solution.value.shape == (2, 2) and not solution.trusted and np.isnan(solution.error)

    with pytest.raises(InterruptedRunError):
        train(config, tmp_path / "stopped", Stop())
    shutil.copy(path, tmp_path / "kept.jsonl")
    path.write_text(path.read_text() + "\n")
    with pytest.raises(ValueError, match=r"turned.jsonl has changed"):
        resume(tmp_path / "stopped")
    shutil.move(tmp_path / "kept.jsonl", path)
    resume(tmp_path / "stopped")
    weights, others = (load_weights(tmp_path / name)[1] for name in ("run", "stopped"))
    assert all((weights[name] == others[name]).all() for name in weights)


def test_what_is_exported_is_trained_on(run, tmp_path, small):
    run("export", "add.parquet", "--task", "add", "--dim", "2", "--num", "2000")
    said = run("train", "--data", "add.parquet", "--task", "add", *small, "--out", "known")
    assert said[0] == 0 and "pairs of add.parquet" in said[1]
    assert run("train", "--data", "add.parquet", *small, "--quiet")[0] == 0
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in ("known", "runs/add-seed-1")]
    assert [config["data"]["task"] for config in configs] == ["add", "pairs:columns=n;n"]
    assert configs[0]["data"]["data"] == f"add.parquet:sha256={checksum(tmp_path / 'add.parquet')}"
    weights = [load_weights(tmp_path / name)[1] for name in ("known", "runs/add-seed-1")]
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])  # judged otherwise, trained alike
    np.save("M.npy", np.eye(2))
    (tmp_path / "add.parquet").unlink()  # a model needs it no more
    assert run("solve", "known", "M.npy", "M.npy")[0] in (0, 1)
    given.cache_clear()  # as in a new process
    code, _, err = run("evaluate", "known")
    assert code == 2 and "add.parquet: no such file" in err
    assert run("evaluate", "known", "--ensemble", "gaussian", "--num", "20")[0] == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("--data missing.jsonl", "missing.jsonl: no such file"),
        ("--data words.txt", "words.txt: a file of pairs ends in .jsonl or .parquet"),
        ("--data bad.jsonl", "bad.jsonl, line 2: Expecting value"),
        ("--data few.jsonl", "few.jsonl: none of its 1 pairs belongs to the split"),
        ("--data few.jsonl --task add", "few.jsonl, line 1: matrices of 1x1 and 1x1, where task add has"),
        ("--data few.jsonl --ensemble laplace", "ensemble: has no effect on the pairs of a file"),
        ("--task pairs", "unknown task 'pairs'"),
    ],
)
def test_files_that_cannot_be_trained_on_leave_nothing(run, tmp_path, line, complaint):
    (tmp_path / "words.txt").write_text("no pairs\n")
    (tmp_path / "few.jsonl").write_text('{"input": [[1]], "output": [[1]]}\n')
    (tmp_path / "bad.jsonl").write_text('{"input": [[1]], "output": [[1]]}\nno JSON\n')
    before = sorted(tmp_path.iterdir())
    code, out, err = run("train", *line.split(), "--out", "run", "--examples", "1")
    assert (code, out, err.count("\n")) == (2, "", 1) and complaint in err
    assert sorted(tmp_path.iterdir()) == before
