"""Solve: matrices and stacks from every kind of file, to every kind, and what is said of answers without a proof."""

import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest

from learnalg.cli.matrices import read_matrices
from learnalg.zoo.model import load

SYMMETRIC = np.array([[1.0, 2.0, 3.0], [2.0, 5.0, -4.0], [3.0, -4.0, 0.5]])


def draw(num, n, seed=1):
    A = np.random.default_rng(seed).uniform(-10, 10, (num, n, n))
    return np.triu(A) + np.triu(A, 1).swapaxes(1, 2)


@pytest.fixture(scope="module")
def model():
    return load("eigenvalues-3")


def test_it_reads_and_writes_every_kind_of_file(run, tmp_path, model):
    stack = draw(3, 3)
    np.save("stack.npy", stack)
    np.save("fortran.npy", np.asfortranarray(stack))
    np.savez("stack.npz", any_name=stack)
    np.savez_compressed("small.npz", stack)
    for ending, delimiter in (("csv", ","), ("txt", " ")):
        lines = ["\n".join(delimiter.join(map(repr, row)) for row in matrix.tolist()) for matrix in stack]
        (tmp_path / f"stack.{ending}").write_text("# a comment\n" + "\n\n".join(lines) + "\n")
    expected = model.solve(stack).matrix
    for k, name in enumerate(("stack.npy", "fortran.npy", "stack.npz", "small.npz", "stack.csv", "stack.txt")):
        ending = ("npy", "npz", "csv", "txt")[k % 4]
        assert run("solve", "eigenvalues-3", name, "--out", f"{k}.{ending}")[::2] == (0, "")
        answers = read_matrices(f"{k}.{ending}") if ending != "npz" else dict(np.load(f"{k}.{ending}"))
        np.testing.assert_array_equal(next(iter(answers.values())), expected)
    with np.load("1.npz", allow_pickle=False) as known:
        assert known.keys() == {"answer", "residual", "trusted", "confidence", "model"}
        assert known["trusted"].shape == known["residual"].shape == (3,)


def test_json_has_the_proof_and_numpys_answer(run, model):
    stack = draw(4, 3).reshape(2, 2, 3, 3)
    np.save("stack.npy", stack)
    code, out, err = run("solve", "eigenvalues-3", "stack.npy", "--json")
    answer, solution = json.loads(out), model.solve(stack)
    np.testing.assert_array_equal(answer["answer"], solution.matrix)
    np.testing.assert_allclose(answer["expected"], np.linalg.eigvalsh(stack)[..., ::-1, None])
    for name in ("residual", "trusted", "confidence", "error", "well_formed"):
        np.testing.assert_array_equal(answer[name], getattr(solution, name))
    assert (answer["task"], np.shape(answer["model"])) == ("eigenvalues", (2, 2))
    assert (code, err) == (0, "") and np.all(answer["trusted"])


def test_a_pipe_has_numbers_alone(tmp_path, model):
    """What one process writes, the next one reads."""
    stack = draw(3, 3)
    text = "\n\n".join("\n".join(" ".join(map(repr, row)) for row in matrix) for matrix in stack.tolist())
    command = [sys.executable, "-m", "learnalg", "solve", "eigenvalues-3", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    (tmp_path / "answers.txt").write_bytes(done.stdout)
    np.testing.assert_array_equal(read_matrices(str(tmp_path / "answers.txt"))["answers"], model.solve(stack).matrix)
    np.save(tmp_path / "one.npy", SYMMETRIC)
    done = subprocess.run(command, input=(tmp_path / "one.npy").read_bytes(), capture_output=True, check=False)
    np.testing.assert_array_equal(np.loadtxt(done.stdout.splitlines()), model.solve(SYMMETRIC).value.ravel())


def test_a_terminal_has_the_answer_beside_numpys(tmp_path):
    np.save(tmp_path / "one.npy", SYMMETRIC)
    np.save(tmp_path / "stack.npy", draw(12, 3))
    first, second = pty.openpty()
    command = [sys.executable, "-m", "learnalg", "solve", "eigenvalues-3", "one.npy", "stack.npy"]
    environment = os.environ | {"COLUMNS": "120", "TERM": "dumb"}
    process = subprocess.Popen(command, stdout=second, stderr=second, cwd=tmp_path, env=environment)
    os.close(second)
    said = b""
    while True:
        try:
            part = os.read(first, 4096)
        except OSError:  # Linux: nobody writes any more
            break
        if not part:
            break
        said += part
    os.close(first)
    assert process.wait() == 0
    text = said.decode()
    assert "the model predicts" in text and "NumPy says" in text and "% (L1), trusted, error proven" in text
    assert "12 problems, 12 answers are trusted" in text and "and 2 more" in text


def test_answers_that_are_not_trusted_are_named(run, tiny_run):
    """A tiny run is mostly right; its proof says where not."""
    stack = np.random.default_rng(1).uniform(-10, 10, (30, 2, 2))
    stack[7] = [[1e-3, 9.0], [1e-7, 8.0]]
    np.save("stack.npy", stack)
    solution = load(tiny_run.folder).solve(stack)
    wrong = np.flatnonzero(~solution.trusted)
    assert 0 < len(wrong) < 30
    code, out, err = run("solve", tiny_run.folder, "stack.npy")
    assert code == 1 and len(out.split()) == 120
    are = "is" if len(wrong) == 1 else "are"
    assert err == (
        f"learnalg: stack: {len(wrong)} of 30 answers {are} not trusted: no proof of an error below 5 %; "
        f"the first is ({wrong[0]},)\n"
    )
    np.save("one.npy", stack[wrong[0]])
    assert run("solve", tiny_run.folder, "one.npy")[::2] == (
        1,
        "learnalg: one: the answer is not trusted: no proof of an error below 5 %\n",
    )


def test_without_a_model_the_released_one_that_fits_answers(run):
    np.save("one.npy", SYMMETRIC)
    code, out, _ = run("solve", "--task", "eigenvalues", "one.npy", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["trusted"] and answer["model"] in ("eigenvalues-3", "eigenvalues")
    A = np.random.default_rng(1).uniform(-10, 10, (20, 2, 2))
    A[4] = [[1.0, 2.0], [1.0, 2.0 + 1e-4]]
    np.save("stack.npy", A)
    code, _, err = run("solve", "--task", "inverse", "stack.npy", "--out", "plain.npz")
    assert code == 1 and "of 20 answers" in err
    assert run("solve", "--task", "inverse", "stack.npy", "--refine", "--out", "refined.npz")[::2] == (0, "")
    with np.load("refined.npz") as known:
        np.testing.assert_allclose(known["answer"] @ A, np.broadcast_to(np.eye(2), A.shape), atol=1e-5)
        assert known["certified"].all() and not known["fell_back"].any()


def test_what_cannot_be_certified_is_said_or_falls_back(run):
    A = np.random.default_rng(1).uniform(-10, 10, (5, 2, 2))
    A[3] = [[1.0, 1.0], [1.0, 1.0 + 4e-16]]
    np.save("stack.npy", A)
    code, _, err = run("solve", "inverse-2", "stack.npy", "--refine")
    assert code == 1 and err == "learnalg: stack: 1 of 5 answers is not certified; the first is (3,)\n"
    code, _, err = run("solve", "inverse-2", "stack.npy", "--refine", "--fallback", "--out", "all.npz")
    assert code == 0 and "1 of 5 answers is NumPy's" in err
    with np.load("all.npz") as known:
        np.testing.assert_array_equal(known["answer"][3], np.linalg.inv(A[3]))
        assert known["fell_back"].tolist() == [False, False, False, True, False]


def test_several_problems_have_their_names(run):
    np.savez("two.npz", a=SYMMETRIC, b=draw(2, 3))
    np.save("c.npy", np.eye(3))
    code, out, _ = run("solve", "eigenvalues-3", "two.npz", "c.npy", "--json")
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["a", "b", "c"]
    run("solve", "eigenvalues-3", "two.npz", "c.npy", "--out", "answers.npz")
    with np.load("answers.npz") as known:
        assert known["a.answer"].shape == (3, 1) and known["b.answer"].shape == (2, 3, 1)
    code, _, err = run("solve", "eigenvalues-3", "two.npz", "c.npy", "--out", "answers.npy")
    assert code == 2 and "3 problems need an archive, .npz" in err


def test_operands_come_in_pairs(run):
    M, V = np.random.default_rng(1).uniform(-10, 10, (2, 5, 5))
    np.savez("pair.npz", M=M, V=V[0])
    code, out, _ = run("solve", "matvec-5", "pair.npz", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["name"] == "M"
    np.testing.assert_allclose(answer["expected"], (M.T @ V[0])[:, None])


def test_sizes_and_scales_that_a_model_has_not_seen(run):
    np.save("four.npy", draw(1, 4)[0])
    assert run("solve", "eigenvalues-3", "four.npy")[0] == 2
    code, _, err = run("solve", "eigenvalues-3", "four.npy", "--allow-outside")
    assert code in (0, 1) and err.startswith("learnalg: a 4x4 matrix, but this model was trained on dim 3\n")
    np.save("large.npy", 1e3 * SYMMETRIC)
    assert run("solve", "eigenvalues-3", "large.npy")[0] == 0
    assert run("solve", "eigenvalues-3", "large.npy", "--no-rescale")[0] == 1


def test_a_released_model_is_found_by_its_name(run, tmp_path):
    (tmp_path / "m.txt").write_text("1 2 3\n2 5 -4\n3 -4 0.5\n")
    code, out, _ = run("solve", "eigenvalues-3", "m.txt", "--json")
    assert code == 0 and json.loads(out)["error"] < 0.2
    code, _, err = run("solve", "eigenvalues-4", "m.txt")
    assert code == 2 and "did you mean 'eigenvalues-" in err
