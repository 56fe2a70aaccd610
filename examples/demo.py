"""`make demo`: released models in and out of distribution, then a small model from nothing, in about two minutes.

python examples/demo.py            into runs/demo
python examples/demo.py --short    the same path in seconds, with almost no training
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnalg.cli import main
from learnalg.problems.ensembles import Mixture

if TYPE_CHECKING:
    from learnalg.certify.solution import Solution

OUT = Path("runs/demo")
RIGHT, WRONG = "#0072b2", "#d55e00"
MODELS = ("eigenvalues-5", "laplace-5")
MATRICES = {  # ensemble -> what its matrices are
    "iid-uniform": "independent coefficients",
    "laplace": "Laplace spectra",
    "positive": "positive eigenvalues",
}
NEXT = {
    f"learnalg evaluate {OUT}/run --ensemble laplace": "out of distribution",
    f"learnalg solve eigenvalues-5 {OUT}/matrix.npy": "a matrix of your own",
    "learnalg serve": "a page: try, explore, watch runs",
    "learnalg train --recipe eigenvalues-5": "a released model, in a quarter of an hour",
    "learnalg --help": "everything else",
    "docs/first-steps.md": "the manual; `make manual` builds it",
}
TRAINING = "--task eigenvalues --dim 2 --encoder-layers 2 --encoder-loops 1 --dim-model 64 --heads 4"


def demo(short: bool) -> None:
    print("1. Released models at work: eigenvalues of 5x5 matrices\n", flush=True)
    if OUT.exists():
        print(f"(removing the last demo in {OUT})\n")
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True)
    show_released(20 if short else 200)
    print("\n2. A small model from nothing: eigenvalues of 2x2 matrices, drawn as it goes\n", flush=True)
    examples = 640 if short else 32_000
    command = f"train {TRAINING} --examples {examples} --eval-every {examples // 8} --eval-num 500 --final-num 1000"
    run(*command.split(), "--threads", "1", "--out", str(OUT / "run"))
    show_trained()
    print("\n3. What to try next\n")
    for command, about in NEXT.items():
        print(f"{command:<52}{about}")


def show_released(num: int) -> None:
    """Two models on the same matrices: each is right on what it was trained on, and one of them on more."""
    import torch

    import learnalg

    torch.set_num_threads(1)  # so small a network gains nothing by more, and loses much where other work runs
    models = {name: learnalg.load(name) for name in MODELS}
    rng = np.random.default_rng(5)
    stacks = {name: Mixture((name,)).draw(rng, num, 5, 5, symmetric=True).matrices for name in MATRICES}
    A = stacks["iid-uniform"][0]
    np.save(OUT / "matrix.npy", A)
    print(in_rows(A))
    print(f"{MODELS[0]:>14}: {in_line(models[MODELS[0]].solve(A).value)}")
    print(f"{'NumPy':>14}: {in_line(exact(A))}\n", flush=True)
    found = {(m, e): model.solve(stack) for m, model in models.items() for e, stack in stacks.items()}
    print(f"{f'{num} matrices of each':<28}" + "".join(f"{text:>26}" for text in MATRICES.values()))
    for name in MODELS:
        cells = (f"{100 * is_right(found[name, e]).mean():.0f} % right, {proven(found[name, e])}" for e in MATRICES)
        print(f"{name:<28}" + "".join(f"{cell:>26}" for cell in cells))
    print("\nRight: a relative error below 5 %. Proven: shown to be right without knowing the answer.")
    draw_released(found)


def proven(solution: Solution) -> str:
    return f"{100 * solution.trusted.mean():.0f} % proven"


def exact(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.eigvalsh(matrices)[..., ::-1, None]


def is_right(solution: Solution) -> np.ndarray:
    wanted = exact(solution.operands[0])
    return np.abs(solution.value - wanted).sum((-2, -1)) < 0.05 * np.abs(wanted).sum((-2, -1))


def draw_released(found: dict[tuple[str, str], Solution]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.2), layout="constrained")
    axes = figure.subplots(len(MODELS), len(MATRICES), sharex=True, sharey=True)
    for axis, ((model, ensemble), solution) in zip(axes.flat, found.items(), strict=True):
        good, wanted = is_right(solution), exact(solution.operands[0])
        for chosen, color, label in ((good, RIGHT, "right at 5 %"), (~good, WRONG, "wrong")):
            axis.scatter(wanted[chosen], solution.value[chosen], s=5, color=color, label=label)
        axis.axline((0, 0), slope=1, color="#999999", linewidth=0.8)
        axis.set_title(f"{model}: {MATRICES[ensemble]}", fontsize=9)
    axes[0, 0].legend()
    figure.supxlabel("eigenvalues, by NumPy")
    figure.supylabel("predicted")
    save(figure, "released.png")


def show_trained() -> None:
    """Its learning curve, and three matrices that it has not seen."""
    import learnalg
    from learnalg.cli.bars import is_terminal
    from learnalg.evaluation.result import Result

    curve = Result.read(OUT / "run/result.json").curve
    if not is_terminal(sys.stdout):  # in a terminal `train` has drawn it
        print("\nexamples   accuracy at 5 % tolerance, validation split")
        for point in curve:
            share = point.accuracy["l1"]["0.05"]
            print(f"{point.examples:>8,}   {'█' * round(50 * share)} {100 * share:.1f} %")
    draw_curve([point.examples for point in curve], {t: [p.accuracy["l1"][t] for p in curve] for t in ("0.05", "0.01")})
    matrices = Mixture().draw(np.random.default_rng(), 3, 2, 2, symmetric=True).matrices
    solution = learnalg.load(OUT / "run").solve(matrices)
    print("\nThree new matrices:")
    for A, predicted, is_trusted in zip(matrices, solution.value, solution.trusted, strict=True):
        verdict = "proven to be right at 5 %" if is_trusted else "not proven"
        print(f"\n{in_rows(A)}\n     the model: {in_line(predicted)}   {verdict}\n         NumPy: {in_line(exact(A))}")


def draw_curve(examples: list[int], accuracy: dict[str, list[float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axis = figure.subplots()
    for tolerance, shares in accuracy.items():
        axis.plot(examples, [100 * share for share in shares], marker=".", label=f"at {100 * float(tolerance):g} %")
    axis.set(xlabel="examples", ylabel="accuracy, %", ylim=(-3, 103), title="2x2 eigenvalues, validation split")
    axis.legend()
    save(figure, "learning-curve.png")


def save(figure: object, name: str) -> None:
    figure.savefig(OUT / name, dpi=150)
    print(f"\npicture: {OUT / name}", flush=True)


def in_rows(matrix: np.ndarray) -> str:
    return "\n".join(" " * 16 + "".join(f"{value:8.2f}" for value in row) for row in matrix)


def in_line(values: np.ndarray) -> str:
    return "".join(f"{value:8.2f}" for value in values.ravel())


def run(*arguments: str) -> None:
    print("$ learnalg", *arguments, flush=True)
    code = main(list(arguments))
    if code:
        raise SystemExit(code)


def stop(*_: object) -> None:
    """At once: a KeyboardInterrupt may be lost in a callback of a library."""
    os.write(2, b"\nstopped; `make demo` begins again\n")
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, stop)
    try:
        demo(short="--short" in sys.argv[1:])
    except KeyboardInterrupt:
        stop()
