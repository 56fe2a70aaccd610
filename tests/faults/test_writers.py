"""Two processes on one run's folder: one trains, the other is refused and leaves no trace."""

import re
import time

from learnalg.evaluation.result import Result
from learnalg.training.run import Run
from learnalg.zoo.load import RESULT_FILE

REFUSED = r"learnalg: error: .* (is being trained by another process|exists already: .*)\n"
FLAGS = [
    *("--task", "transpose", "--dim", "1-2", "--examples", "64", "--batch-size", "32", "--eval-num", "2"),
    *("--final-num", "2", "--encoder-layers", "1", "--encoder-loops", "1", "--dim-model", "16", "--heads", "2"),
    *("--products", "0", "--threads", "1", "--precision", "fp32", "--device", "cpu", "--quiet"),
]


def test_two_that_begin(fork, tmp_path, times, record):
    num, weights, won = times(3, 50), {}, {1: 0, 2: 0}
    for seed in won:
        assert fork("train", *FLAGS, "--seed", seed, "--out", tmp_path / f"alone-{seed}").wait() == 0
        weights[seed] = Result.read(tmp_path / f"alone-{seed}" / RESULT_FILE).sha256
    for number in range(num):
        folder = tmp_path / str(number)
        start = time.monotonic() + 0.1  # both at the same moment
        racers = {seed: fork("train", *FLAGS, "--seed", seed, "--out", folder, at=start) for seed in won}
        codes = {seed: racer.wait() for seed, racer in racers.items()}
        assert sorted(codes.values()) == [0, 2]
        winner = next(seed for seed in codes if codes[seed] == 0)
        assert re.fullmatch(REFUSED, racers[3 - winner].said()), racers[3 - winner].said()
        assert racers[winner].said() == ""
        assert Run.open(folder).config.train.seed == winner
        assert Result.read(folder / RESULT_FILE).sha256 == weights[winner]
        assert len(Run.open(folder).sessions()) == 1
        won[winner] += 1
    record(
        "two processes begin a run in one folder", num, f"one trains ({won[1]} : {won[2]}), the other leaves no trace"
    )


def test_two_that_resume(tiny_config, fork, same_bits, tmp_path, times, record):
    num, both = times(2, 50), 0
    config = tiny_config(examples=64, batch_size=32, eval_num=2, final_num=2)
    straight = Run.create(tmp_path / "straight", config).folder
    assert fork("resume", straight, "--quiet").wait() == 0
    for number in range(num):
        folder = Run.create(tmp_path / str(number), config).folder
        start = time.monotonic() + 0.1
        racers = [fork("resume", folder, "--quiet", at=start) for _ in range(2)]
        codes = [racer.wait() for racer in racers]
        assert set(codes) <= {0, 2} and 0 in codes  # a late one finds the run finished
        assert all(re.fullmatch(REFUSED, r.said()) for r, code in zip(racers, codes, strict=True) if code == 2)
        same_bits(straight, folder)
        assert len(Run.open(folder).sessions()) == 1
        both += codes == [0, 0]
    record(
        "two processes resume one run",
        num,
        f"one trains, the other is refused or ({both} times) finds the run finished",
    )
