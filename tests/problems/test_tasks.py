"""What each task means, against computations that do not go through it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.naming import make
from learnalg.problems import LETTERS, TASKS, Task, parse_tasks
from learnalg.problems.ensembles import Mixture

RECTANGLES = [(1, 1), (2, 5), (5, 2), (4, 4), (1, 3), (3, 1)]
rectangles = pytest.mark.parametrize(("m", "n"), RECTANGLES)
quick = settings(max_examples=40, deadline=None, derandomize=True)


def draw(m, n, num=6, symmetric=False, seed=0):
    return Mixture().draw(np.random.default_rng(seed), num, m, n, symmetric).matrices


def get_task(name):
    return make("task", name, TASKS)


def solve(name, inputs):
    return get_task(name).solve(inputs)


def leading_coefficients(vectors):
    """The first coefficient of each column that is not zero, one matrix after the other."""
    return [next(x for x in column if abs(x) > 1e-9) for matrix in vectors for column in matrix.T]


# Transposition, addition, products.


@rectangles
def test_transpose_moves_coefficient_ij_to_ji(m, n):
    M = draw(m, n)
    out = solve("transpose", M)
    for i in range(m):
        for j in range(n):
            np.testing.assert_array_equal(out[:, j, i], M[:, i, j])


@rectangles
def test_add_takes_its_operands_side_by_side(m, n):
    M, N = draw(m, n, seed=1), draw(m, n, seed=2)
    np.testing.assert_array_equal(solve("add", np.concatenate([M, N], axis=2)), M + N)


@rectangles
def test_matvec_is_the_transpose_times_the_last_column(m, n):
    M, V = draw(m, n, seed=1), draw(m, 1, seed=2)
    expected = np.einsum("bij,bi->bj", M, V[:, :, 0])[:, :, None]
    np.testing.assert_allclose(solve("matvec", np.concatenate([M, V], axis=2)), expected)


@rectangles
def test_matmul_is_the_transpose_of_the_left_times_the_right(m, n):
    M, N = draw(m, n, seed=1), draw(m, n, seed=2)
    expected = np.einsum("bij,bik->bjk", M, N)
    np.testing.assert_allclose(solve("matmul", np.concatenate([M, N], axis=2)), expected)


def test_products_of_a_worked_example():
    M, N = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    np.testing.assert_array_equal(solve("matmul", np.hstack([M, N])[None])[0], [[26, 30], [38, 44]])
    np.testing.assert_array_equal(solve("matvec", np.hstack([M, N[:, :1]])[None])[0], [[26], [38]])


# Eigenvalues and eigenvectors.


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_eigenvalues_are_the_roots_of_the_characteristic_polynomial_largest_first(n):
    M = draw(n, n, symmetric=True)
    expected = [np.sort(np.roots(np.poly(matrix)).real)[::-1] for matrix in M]
    np.testing.assert_allclose(solve("eigenvalues", M)[:, :, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["eigenvalues", "eigenvectors"])
def test_ascending_order_is_descending_order_reversed(name):
    M = draw(5, 5, symmetric=True)
    descending, ascending = solve(name, M), solve(f"{name}:order=ascending", M)
    axis = 1 if name == "eigenvalues" else 2
    np.testing.assert_array_equal(ascending, np.flip(descending, axis))
    values = ascending[:, :, 0] if name == "eigenvalues" else ascending[:, 0]
    assert (np.diff(values, axis=1) > 0).all()


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_eigenvectors_are_columns_below_their_eigenvalues(n):
    M = draw(n, n, symmetric=True)
    out = solve("eigenvectors", M)
    values, H = out[:, 0], out[:, 1:]
    np.testing.assert_allclose(values, solve("eigenvalues", M)[:, :, 0])
    np.testing.assert_allclose(M @ H, H * values[:, None, :], atol=1e-9)
    np.testing.assert_allclose(H.swapaxes(1, 2) @ H, np.tile(np.eye(n), (len(M), 1, 1)), atol=1e-9)
    assert min(leading_coefficients(H)) > 0


def test_leading_zeros_do_not_decide_the_sign():
    M = np.array([[2.0, 0, 0], [0, 1, -3], [0, -3, 1]])
    r = np.sqrt(0.5)
    expected = [[4, 2, -2], [0, 1, 0], [r, 0, r], [-r, 0, r]]
    np.testing.assert_allclose(solve("eigenvectors", M[None])[0], expected, atol=1e-12)


@quick
@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_eigenvectors_do_not_depend_on_how_the_matrix_came_about(n, seed):
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.standard_normal((n, n)))[0]
    H /= np.sign(H[0])
    values = np.arange(n, 0, -1.0) - n / 2
    for signs in rng.choice([-1.0, 1.0], (3, n)):
        M = (H * signs) @ np.diag(values) @ (H * signs).T
        np.testing.assert_allclose(solve("eigenvectors", M[None])[0], np.vstack([values, H]), atol=1e-9)
    # A shift and a positive factor move the eigenvalues and keep the eigenvectors.
    moved = solve("eigenvectors", (3 * M + 2 * np.eye(n))[None])[0]
    np.testing.assert_allclose(moved, np.vstack([3 * values + 2, H]), atol=1e-9)


def test_sign_lapack_leaves_the_vectors_as_they_come():
    M = draw(5, 5, num=50, symmetric=True)
    H = np.linalg.eigh(M)[1][:, :, ::-1]
    np.testing.assert_array_equal(solve("eigenvectors:sign=lapack", M)[:, 1:], H)
    assert min(leading_coefficients(H)) < 0


def test_eigenvector_signs_are_free_in_the_check_of_a_prediction():
    M = draw(4, 4, symmetric=True)
    task = get_task("eigenvectors")
    solution = task.solve(M)
    flipped = solution * np.array([1.0, -1, -1, -1, -1])[:, None]
    residual, reference = task.residual(M, solution, flipped)
    assert np.abs(residual).max() < 1e-9 * np.abs(reference).max()


# Singular values.


@rectangles
def test_singular_values_are_roots_of_the_eigenvalues_of_the_gram_matrix(m, n):
    M = draw(m, n)
    largest = np.linalg.eigvalsh(M.swapaxes(1, 2) @ M)[:, ::-1][:, : min(m, n)]
    np.testing.assert_allclose(solve("singular_values", M)[:, :, 0], np.sqrt(largest), atol=1e-9)
    np.testing.assert_allclose(solve("singular_values:of=gram", M)[:, :, 0], largest, atol=1e-9)


def test_singular_values_of_a_symmetric_matrix_are_its_absolute_eigenvalues():
    M = draw(4, 4, symmetric=True)
    expected = -np.sort(-np.abs(solve("eigenvalues", M)), axis=1)
    np.testing.assert_allclose(solve("singular_values", M), expected)


@rectangles
def test_svd_stacks_values_left_vectors_right_vectors(m, n):
    M, k = draw(m, n), min(m, n)
    out = solve("svd", M)
    S, U, V = out[:, 0], out[:, 1 : m + 1], out[:, m + 1 :]
    np.testing.assert_allclose(S, solve("singular_values", M)[:, :, 0])
    assert (np.diff(S, axis=1) <= 0).all()
    np.testing.assert_allclose((U * S[:, None, :]) @ V.swapaxes(1, 2), M, atol=1e-9)
    for vectors in (U, V):
        gram = vectors.swapaxes(1, 2) @ vectors
        np.testing.assert_allclose(gram, np.tile(np.eye(k), (len(M), 1, 1)), atol=1e-9)
    assert min(leading_coefficients(U)) > 0


def test_svd_sign_lapack_leaves_the_vectors_as_they_come():
    M = draw(4, 6, num=50)
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    out = solve("svd:sign=lapack", M)
    np.testing.assert_array_equal(out[:, 1:5], U)
    np.testing.assert_array_equal(out[:, 5:], Vt.swapaxes(1, 2))
    assert min(leading_coefficients(U)) < 0


# Inversion.


def test_inverse_of_a_worked_example():
    np.testing.assert_allclose(solve("inverse", np.array([[[1.0, 2], [3, 4]]]))[0], [[-2, 1], [1.5, -0.5]])


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_inverse_is_one_on_both_sides(n):
    M = draw(n, n)
    P = solve("inverse", M)
    identity = np.tile(np.eye(n), (len(M), 1, 1))
    np.testing.assert_allclose(P @ M, identity, atol=1e-9)
    np.testing.assert_allclose(M @ P, identity, atol=1e-9)


def test_inverse_of_a_symmetric_matrix_is_symmetric():
    P = solve("symmetric_inverse", draw(5, 5, symmetric=True))
    np.testing.assert_allclose(P, P.swapaxes(1, 2), atol=1e-9)


def test_inverse_compares_with_the_identity():
    M = draw(5, 5)
    task = get_task("inverse")
    _, reference = task.residual(M, task.solve(M), np.zeros_like(M))
    np.testing.assert_array_equal(np.abs(reference).sum(axis=(1, 2)), 5)
    P = draw(5, 5, seed=1)  # P M - Id, as the paper has it: a wrong P has another error on the other side
    residual, _ = task.residual(M, task.solve(M), P)
    np.testing.assert_allclose(residual, np.einsum("bij,bjk->bik", P, M) - np.eye(5))


SINGULAR = {
    "zero": np.zeros((3, 3)),
    "zero-1x1": np.zeros((1, 1)),
    "zero-row": np.array([[1.0, 2], [0, 0]]),
    "proportional": np.array([[1.0, 2], [2, 4]]),
    "rounding": np.arange(1.0, 10).reshape(3, 3) / 10,  # its determinant is not quite 0 in floating point
    "rank-4": draw(5, 4, num=1)[0] @ draw(4, 5, num=1)[0],
}


@pytest.mark.parametrize("task", ["inverse", "symmetric_inverse"])
@pytest.mark.parametrize("singular", SINGULAR.values(), ids=SINGULAR)
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_singular_matrices_are_refused_and_their_neighbours_are_not(task, singular, scale):
    invertible = np.eye(len(singular)) + 0.1 * np.ones_like(singular)
    accepted = get_task(task).accept(scale * np.stack([invertible, singular, invertible]))
    assert accepted.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "n",
    [
        5,
        20,
        60,
    ],
)
def test_well_conditioned_matrices_are_accepted_whatever_their_dimension(n):
    M = draw(n, n, num=100)
    M = M[np.linalg.cond(M) < 1e4]
    assert len(M) > 50
    assert get_task("inverse").accept(M).all()


# Names and options.


def test_symmetric_tasks_are_the_paper_s():
    assert {name for name in TASKS if get_task(name).symmetric} == {"eigenvalues", "eigenvectors", "symmetric_inverse"}


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="determinant") as error:
        get_task("determinant")
    assert all(name in str(error.value) for name in TASKS)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("eigenvalues:order=up", ["order=up", "descending", "ascending"]),
        ("eigenvectors:order=up", ["order=up", "descending", "ascending"]),
        ("eigenvectors:sign=plus", ["sign=plus", "canonical", "lapack"]),
        ("svd:sign=plus", ["sign=plus", "canonical", "lapack"]),
        ("singular_values:of=M", ["of=M", "matrix", "gram"]),
        ("eigenvalues:sign=canonical", ["eigenvalues", "'sign'", "order"]),
        ("add:order=ascending", ["add", "'order'", "none"]),
        ("eigenvalues:ascending", ["'eigenvalues:ascending'", "name:option=value"]),
    ],
)
def test_a_wrong_option_is_refused_with_the_allowed_ones(name, named):
    with pytest.raises(ValueError) as error:
        parse_tasks(name)
    assert all(text in str(error.value) for text in named)


def test_a_task_needs_no_more_than_a_summary_and_a_solution():
    trace = Task("the trace", solve=lambda M: np.trace(M, axis1=1, axis2=2)[:, None, None], square=True)
    M = draw(3, 3)
    assert trace.accept(M).all()
    assert trace.input_shape(3, 3) == trace.output_shape(3, 3) == (3, 3)
    residual, reference = trace.residual(M, trace.solve(M), trace.solve(M) + 1)
    np.testing.assert_allclose(residual, 1)
    np.testing.assert_array_equal(reference, trace.solve(M))


# Joint training.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TADM", ["transpose", "add", "matvec", "matmul"]),
        ("EFI", ["eigenvalues", "eigenvectors", "inverse"]),
        ("IT", ["inverse", "transpose"]),
        ("TADMEFI", list(LETTERS.values())),
        ("transpose+add", ["transpose", "add"]),
        ("svd+eigenvectors:order=ascending", ["svd", "eigenvectors"]),
        ("add", ["add"]),
    ],
)
def test_tasks_are_letters_or_names_in_their_order(text, expected):
    assert [name for name, _ in parse_tasks(text)] == expected


def test_options_reach_each_of_several_tasks():
    (_, svd), (_, eigenvalues) = parse_tasks("svd+eigenvalues:order=ascending")
    np.testing.assert_allclose(eigenvalues.solve(np.diag([2.0, 3, 1])[None]).ravel(), [1, 2, 3])
    assert svd.output_shape(3, 3) == (7, 3)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "unknown task ''"),
        ("T", "unknown task 'T'"),
        ("TT", "each task once"),
        ("add+add", "each task once"),
        ("eigenvalues+eigenvalues:order=ascending", "each task once"),
        ("TAX", "unknown task 'TAX'"),
        ("add+trace", "unknown task 'trace'"),
        ("add+", "unknown task ''"),
        ("inverss", "did you mean 'inverse'"),
    ],
)
def test_a_task_twice_and_unknown_ones_are_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        parse_tasks(text)
