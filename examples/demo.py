"""`make demo`: train a small model on 3x3 eigenvalues, test it, solve one matrix beside NumPy."""

import shutil
from pathlib import Path

import numpy as np

from learnalg.cli import main

OUT = Path("runs/demo")


def demo() -> None:
    if OUT.exists():
        print(f"removing the last demo in {OUT}")
        shutil.rmtree(OUT)
    print("1. Training on random symmetric 3x3 matrices and their eigenvalues, drawn as it goes:\n")
    run("train", "--recipe", "eigenvalues-3", "--out", str(OUT))

    rng = np.random.default_rng()
    upper = np.triu(rng.uniform(-10, 10, (3, 3)))
    matrix = upper + np.triu(upper, 1).T
    path = OUT / "matrix.npy"
    np.save(path, matrix)
    print("\n2. The eigenvalues of a matrix that it has not seen:\n")
    run("solve", str(OUT), str(path))
    print(f"\nMore: learnalg evaluate {OUT} --ensemble laplace (out of distribution), learnalg --help")


def run(*arguments: str) -> None:
    print("$ learnalg", *arguments)
    code = main(list(arguments))
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    demo()
