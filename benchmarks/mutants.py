"""Do the tests notice a mistake? Each mutant is the package with one mistake; the tests of that module must fail.

    python benchmarks/mutants.py                     # all, into results/mutants/score.json: `make mutants`
    python benchmarks/mutants.py step judge          # those whose names contain one of these

A mutant lives in a temporary copy: the package in a checkout is never changed. One that survives is a test that is
missing, or a line that does not matter.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from learnalg.files import read_json, write_json
from learnalg.training.run import provenance

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/learnalg")
SCORE = ROOT / "results" / "mutants" / "score.json"
SECONDS = 900  # of the tests of one mutant: one that hangs is noticed


class Mutant(NamedTuple):
    file: str
    old: str  # text that the file has once
    new: str
    tests: str  # files, and -k with what it selects

    @property
    def name(self) -> str:
        return f"{self.file}: {self.old} -> {self.new}"


DATA, TOKENIZER = "tests/test_data.py", "tests/tokens/test_tokenizer.py"
GOLDEN = "tests/tokens/test_golden.py tests/contracts/test_encodings.py"
TASKS = "tests/problems/test_tasks.py tests/contracts/test_tasks.py"
ENSEMBLES, DIMS = "tests/problems/test_ensembles.py", "tests/problems/test_dims.py"
JUDGE, DECODE = "tests/evaluation/test_evaluate.py", "tests/evaluation/test_decode.py"
LOSS, LOOP = "tests/training/test_loss.py", "tests/training/test_loop.py"
TRAINING_DATA = "tests/test_training_data.py"

MUTANTS = [
    # data: splits, batches, what is mixed in
    Mutant("splits.py", "share == (0 if", "share <= (0 if", DATA),
    Mutant("splits.py", "return share > 1", "return share > 0", DATA),
    Mutant("splits.py", "np.uint64(2) * k + ", "", DATA),
    Mutant("splits.py", "+ 0.0).view", ").view", DATA),
    Mutant("data.py", "self.split), index])", "self.split), 0])", DATA),
    Mutant("data.py", "[self.seed, (*SPLITS, EVERY).index", "[0, (*SPLITS, EVERY).index", DATA),
    Mutant("data.py", "clean = seen if config.rounded else drawn", "clean = drawn", DATA),
    Mutant("data.py", "clean + config.noise * sigma", "clean + config.noise", DATA),
    Mutant("data.py", "& task.accept(clean)", "", DATA),
    Mutant("data.py", "< self.mix.mix_share and", "<= 0.5 and", TRAINING_DATA),
    Mutant(
        "data.py", "pool.sources[rows], batch.sources[num:]", "pool.sources[rows], batch.sources[:-num]", TRAINING_DATA
    ),
    Mutant("data.py", "if index < end:", "if index <= end:", TRAINING_DATA),
    # tokens: numbers and sequences
    Mutant("tokens/decimal.py", "(mantissa >= 10**digits)", "(mantissa > 10**digits)", GOLDEN),
    Mutant("tokens/decimal.py", "& (number.mantissa != 0)", "", GOLDEN),
    Mutant("tokens/decimal.py", "(1 - 0.5 * 10.0**-digits)", "(1 + 0.5 * 10.0**-digits)", GOLDEN),
    Mutant(
        "tokens/floating.py",
        "+ number.negative\n        ids = np.where(number.exponent",
        "\n        ids = np.where(number.exponent",
        GOLDEN,
    ),
    Mutant("tokens/positional.py", "range(self.num_places, 0, -1)", "range(1, self.num_places + 1)", GOLDEN),
    Mutant("tokens/encoding.py", "(ids[..., place] < stop)", "(ids[..., place] <= stop)", GOLDEN),
    Mutant("tokens/tokenizer.py", "(end > expected) | trailing.any(axis=1)", "(end > expected)", TOKENIZER),
    Mutant("tokens/tokenizer.py", "end < expected,", "end < expected - 1,", TOKENIZER),
    Mutant("tokens/tokenizer.py", "(inside & ~is_number).any", "(inside & ~is_number).all", TOKENIZER),
    # problems
    Mutant("problems/eigen.py", "vectors = vectors * leading_signs(vectors)", "pass", TASKS),
    Mutant("problems/singular.py", "U, V = U * signs, V * signs", "U = U * signs", TASKS),
    Mutant("problems/inverse.py", "predicted @ seen - identity", "seen @ predicted - identity", TASKS),
    Mutant("problems/inverse.py", "np.log(1e-10)", "np.log(1e-300)", TASKS),
    Mutant("problems/products.py", "inputs[..., :-1].swapaxes(-1, -2) @", "inputs[..., :-1] @", TASKS),
    Mutant("problems/ensembles.py", "* np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]", "", ENSEMBLES),
    Mutant("problems/ensembles.py", "np.sqrt(n / (n + 1))", "1.0", ENSEMBLES),
    Mutant("problems/dims.py", "rng.choice(m, p=m / m.sum())", "rng.choice(m)", DIMS + " " + DATA),
    # judge and evaluate
    Mutant("evaluation/judge.py", "< tolerance", "<= tolerance", JUDGE),
    Mutant("evaluation/judge.py", "right &= decoded.tasks[group.rows] == group.task", "pass", JUDGE),
    Mutant(
        "evaluation/judge.py",
        "(decoded.shapes[group.rows] == shape).all",
        "(decoded.shapes[group.rows] == shape).any",
        JUDGE,
    ),
    Mutant("evaluation/judge.py", "np.where(exact, 0.0, np.inf)", "0.0", JUDGE),
    Mutant("evaluation/evaluate.py", "    model.eval()\n", "", JUDGE),
    Mutant("evaluation/evaluate.py", "    model.train(was_training)\n", "", JUDGE + " " + LOOP),
    Mutant("evaluation/evaluate.py", "ignore_index=PAD, ", "", JUDGE),
    # decode
    Mutant("evaluation/decode.py", "scores_BW[:, 0] = 0.0", "scores_BW[:] = 0.0", DECODE),
    Mutant("evaluation/decode.py", "log_RV[done_R, PAD] = 0.0", "log_RV[done_R, PAD] = -1.0", DECODE),
    Mutant("evaluation/decode.py", "* self.width <= room", "* self.width <= room + 1", DECODE),
    Mutant("evaluation/decode.py", "_reorder(state, parents_R)", "pass", DECODE),
    # loss and step
    Mutant("training/loss.py", "(targets_N != pad)", "(targets_N >= 0)", LOSS),
    Mutant("training/loss.py", "/ weights_NW.sum(1, keepdim=True)", "", LOSS),
    Mutant("training/loss.py", "(tokens_NW < ranges_N2[:, 1:])", "(tokens_NW <= ranges_N2[:, 1:])", LOSS),
    Mutant(
        "training/devices.py",
        "SeedSequence([seed, step, first_row])",
        "SeedSequence([seed, 0, first_row])",
        LOOP + " -k dropout",
    ),
    Mutant(
        "training/step.py",
        "state.step, 0 if is_shared else first)",
        "0, 0 if is_shared else first)",
        LOOP + " -k dropout",
    ),
    Mutant(
        "training/step.py",
        "loss_sum * (1 / num_tokens)",
        "loss_sum * (1 / len(part))",
        "tests/training/test_golden_losses.py",
    ),
    Mutant("training/step.py", "(len(part) / num)", "1", "tests/training/test_processes.py -k micro"),
    Mutant("training/optim.py", "(step + 1) / warmup", "step / warmup", "tests/training/test_optim.py"),
    Mutant(
        "training/optim.py", "(at.num_steps - at.step)", "(at.num_steps - at.step - 1)", "tests/training/test_optim.py"
    ),
    # certify
    Mutant("certify/proofs.py", "- bound\n", "\n", "tests/certify/test_proofs.py"),
    Mutant(
        "certify/proofs.py", "(counts[:, 1] <= below_of", "(counts[:, 1] < below_of", "tests/certify/test_proofs.py"
    ),
    Mutant(
        "certify/proofs.py",
        "np.maximum(_by_residual(task, inputs, predicted), _orthogonal(predicted[:, 1:]))",
        "_by_residual(task, inputs, predicted)",
        "tests/certify/test_proofs.py",
    ),
    Mutant("certify/refine.py", "proven * (1 + proven) / (1 - proven)", "proven", "tests/certify/test_refine.py"),
    Mutant("certify/refine.py", "return c, t * c", "return c, -t * c", "tests/certify/test_refine.py"),
    Mutant(
        "certify/scaling.py",
        '"inverse": Scaling(-1)',
        '"inverse": Scaling(1)',
        "tests/certify/test_scaling.py tests/certify/test_proofs.py",
    ),
]


def is_noticed(mutant: Mutant, folder: Path) -> tuple[bool, str]:
    """Whether a test fails, and which was the first. `folder` has the package."""
    path = folder / PACKAGE / mutant.file
    whole = path.read_text()
    if whole.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} has {mutant.old!r} {whole.count(mutant.old)} times, not once")
    path.write_text(whole.replace(mutant.old, mutant.new))
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests.split()]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True, f"no end after {SECONDS} s"
    finally:
        path.write_text(whole)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode not in (0, 1, 2) or (done.returncode and not failed):
        raise RuntimeError(done.stdout + done.stderr)
    return bool(failed), failed[0].split(" - ")[0].removeprefix("FAILED ") if failed else ""


def copy_into(folder: Path) -> None:
    """What tests read: the package is copied, all else is the checkout's own."""
    (folder / "src").mkdir()
    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.name not in ("src", ".git", "runs"):
            (folder / path.name).symlink_to(path)


def write_score(found: dict[str, dict[str, Any]]) -> None:
    """Of the mutants of today, with what was found of each last."""
    known = [found[mutant.name] for mutant in MUTANTS if mutant.name in found]
    survivors = [entry["mutant"] for entry in known if not entry["noticed"]]
    SCORE.parent.mkdir(exist_ok=True)
    score = {"mutants": len(known), "noticed": len(known) - len(survivors), "survivors": survivors}
    write_json(SCORE, score | {"provenance": provenance(), "all": known})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="only mutants whose names contain one of these")
    asked = parser.parse_args().names
    chosen = [mutant for mutant in MUTANTS if not asked or any(name in mutant.name for name in asked)]
    found = {entry["mutant"]: entry for entry in read_json(SCORE)["all"]} if SCORE.is_file() else {}
    with tempfile.TemporaryDirectory() as name:
        copy_into(Path(name))
        for mutant in chosen:
            started = time.monotonic()
            noticed, test = is_noticed(mutant, Path(name))
            seconds = round(time.monotonic() - started)
            found[mutant.name] = {"mutant": mutant.name, "noticed": noticed, "by": test, "seconds": seconds}
            print(f"{'noticed ' if noticed else 'SURVIVES'}  {json.dumps(mutant.name)}  {test}", flush=True)
            write_score(found)
    survivors = sum(not found[mutant.name]["noticed"] for mutant in chosen)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants are noticed")


if __name__ == "__main__":
    main()
