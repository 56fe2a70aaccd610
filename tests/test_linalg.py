"""The NumPy-like door: released models at work, by NumPy's conventions, with their proofs."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.linalg import LinAlgError

import learnalg
from learnalg import linalg
from learnalg.linalg import FallbackWarning, UntrustedWarning
from learnalg.zoo.index import find_model
from learnalg.zoo.operands import OutsideWarning

# The function, NumPy's, the sizes of the operands, and whether matrices are symmetric.
FUNCTIONS = {
    "transpose": (np.matrix_transpose, [(5, 5)], False),
    "add": (np.add, [(5, 5), (5, 5)], False),
    "matmul": (np.matmul, [(5, 5), (5, 5)], False),
    "matvec": (
        np.matvec if hasattr(np, "matvec") else lambda a, x: np.einsum("...ij,...j->...i", a, x),
        [(5, 5), (5,)],
        False,
    ),
    "inv": (np.linalg.inv, [(5, 5)], False),
    "eigvalsh": (np.linalg.eigvalsh, [(5, 5)], True),
    "eigh": (np.linalg.eigh, [(5, 5)], True),
    "svdvals": (np.linalg.svdvals, [(4, 4)], True),
    "svd": (np.linalg.svd, [(4, 4)], True),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def draw(rng, lead, name):
    _, shapes, symmetric = FUNCTIONS[name]
    drawn = [rng.uniform(-10, 10, (*lead, *shape)) for shape in shapes]
    return [np.triu(x) + np.triu(x, 1).swapaxes(-1, -2) for x in drawn] if symmetric else drawn


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def error(found, right):
    """Relative, L1, of each matrix of a stack."""
    found, right = (np.asarray(x).reshape(*np.shape(x)[:1], -1) for x in (found, right))
    return np.abs(found - right).sum(1) / np.abs(right).sum(1)


@pytest.fixture(scope="module")
def matrices():
    return np.random.default_rng(11).uniform(-10, 10, (12, 5, 5))


@pytest.fixture(scope="module")
def symmetric(matrices):
    return np.triu(matrices) + np.triu(matrices, 1).swapaxes(1, 2)


@every_function
@given(
    lead=st.sampled_from([(), (1,), (3,), (2, 2), (0,), (2, 0), (1, 1, 2)]),
    seed=st.integers(0, 99),
    single=st.booleans(),
)
@settings(max_examples=4, deadline=None)
@pytest.mark.filterwarnings("ignore::learnalg.linalg.UntrustedWarning")
def test_shapes_types_and_names_are_numpys(name, lead, seed, single):
    operands = draw(np.random.default_rng(seed), lead, name)
    if single:
        operands = [x.astype(np.float32) for x in operands]
    found, right = getattr(linalg, name)(*operands), FUNCTIONS[name][0](*operands)
    assert getattr(found, "_fields", None) == getattr(right, "_fields", None)
    for mine, theirs in zip(parts(found), parts(right), strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype


@every_function
def test_answers_are_numpys_within_five_percent(name):
    operands = draw(np.random.default_rng(5), (16,), name)
    function = FUNCTIONS[name][0]
    solution = getattr(linalg, name)(*operands, details=True)
    assert solution.trusted.mean() > 0.8
    found, right = parts(solution.value), parts(function(*operands))
    if name == "eigh":  # vectors are known up to their sign
        found = found[0], np.abs(found[1])
        right = right[0], np.abs(right[1])
    if name == "svd":
        found, right = ([np.abs(x) for x in both] for both in (found, right))
    for mine, theirs in zip(found, right, strict=True):
        assert np.median(error(mine, theirs)) < 0.05


@every_function
def test_a_stack_is_answered_as_each_alone(name):
    operands = draw(np.random.default_rng(6), (2, 2), name)
    whole = getattr(linalg, name)(*operands, details=True)
    alone = getattr(linalg, name)(*(x[1, 0] for x in operands), details=True)
    for stack, one in zip(parts(whole.value), parts(alone.value), strict=True):
        np.testing.assert_allclose(stack[1, 0], one)
    assert alone.shape == () and bool(alone.trusted) == bool(whole.trusted[1, 0])


def test_operands_are_broadcast(matrices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntrustedWarning)
        assert linalg.matmul(matrices[:6].reshape(2, 3, 5, 5), matrices[0]).shape == (2, 3, 5, 5)
        assert linalg.matvec(matrices[0], matrices[:4, 0]).shape == (4, 5)
        for a, b in ((matrices[:2], matrices[0, 0]), (matrices[0, 0], matrices[:2])):
            assert error(linalg.matmul(a, b), a @ b).max() < 0.05
        assert error(linalg.add(matrices[:3], matrices[0, 0]), matrices[:3] + matrices[0, 0]).max() < 0.05


@pytest.mark.parametrize("UPLO", ["L", "U", "u"])
def test_one_triangle_is_read(matrices, UPLO):
    assert error(linalg.eigvalsh(matrices, UPLO), np.linalg.eigvalsh(matrices, UPLO)).max() < 0.05
    values, vectors = linalg.eigh(matrices[:5], UPLO, refine=True)
    np.testing.assert_allclose(values, np.linalg.eigh(matrices[:5], UPLO).eigenvalues, atol=1e-9)
    assert vectors.shape == (5, 5, 5)


def test_svd_of_a_lower_triangle_and_of_values_alone(matrices):
    A = matrices[:3, :4, :4]
    U, S, Vh = linalg.svd(A, hermitian=True, refine=True)
    lower = np.tril(A) + np.tril(A, -1).swapaxes(1, 2)
    np.testing.assert_allclose(U * S[:, None, :] @ Vh, lower, atol=1e-9)
    values = linalg.svd(A, compute_uv=False, hermitian=True, refine=True)
    np.testing.assert_allclose(values, np.linalg.svd(A, compute_uv=False, hermitian=True), atol=1e-9)


@pytest.mark.parametrize("exponent", [-200, -6, 2, 200])
def test_scale_is_no_obstacle(symmetric, matrices, exponent):
    scale = 10.0**exponent
    before = linalg.eigvalsh(symmetric, details=True)
    solution = linalg.eigvalsh(scale * symmetric, details=True)
    assert solution.trusted.mean() > 0.9
    right = np.linalg.eigvalsh(symmetric)
    np.testing.assert_array_equal(solution.trusted, error(solution.value / scale, right) < 0.05)
    assert error(before.value, right).max() < 0.05
    inverse = linalg.inv(scale * matrices, refine=True)
    np.testing.assert_allclose(inverse * scale, np.linalg.inv(matrices), rtol=1e-6, atol=1e-10)
    product = linalg.matmul(scale * matrices, matrices / scale, details=True)
    assert product.trusted.mean() > 0.9
    np.testing.assert_array_equal(product.trusted, error(product.value, matrices @ matrices) < 0.05)


def test_what_no_double_can_hold_is_not_trusted(matrices):
    torch.set_flush_denormal(False)  # a training in this process makes 1e-310 zero
    solution = linalg.matmul(1e200 * matrices, 1e200 * matrices, details=True)
    assert not solution.trusted.any() and np.isinf(solution.value).all()
    solution = linalg.inv(1e-310 * matrices, refine=True, details=True)  # 1e310 is no double
    assert not solution.is_certified.any() and not solution.trusted.any()


@pytest.mark.parametrize("kind", ["times 100", "covariance", "gram", "identity", "diagonal", "ones", "zero"])
def test_well_known_matrices_are_right_or_flagged(matrices, symmetric, kind):
    A = {
        "times 100": 100 * symmetric,
        "covariance": np.stack([np.cov(x) for x in np.random.default_rng(1).standard_normal((12, 5, 50))]),
        "gram": matrices @ matrices.swapaxes(1, 2),
        "identity": np.eye(5)[None],
        "diagonal": np.diag([3.0, 1, 4, 1, 5])[None],
        "ones": np.ones((1, 5, 5)),
        "zero": np.zeros((1, 5, 5)),
    }[kind]
    solution = linalg.eigvalsh(A, details=True)
    right = np.linalg.eigvalsh(A)
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = ~(error(solution.value, right) < 0.05)
    assert not (solution.trusted & wrong & (right != 0).any(1)).any()
    if kind in ("times 100", "covariance", "gram"):
        assert solution.trusted.mean() > 0.9
    refined = linalg.eigvalsh(A, refine=True)
    np.testing.assert_allclose(refined, right, atol=1e-10 * np.abs(A).max(initial=1.0))


def test_another_model_answers_where_the_first_is_not_trusted(matrices, symmetric):
    positive = matrices @ matrices.swapaxes(1, 2)
    alone = linalg.eigvalsh(positive, model="eigenvalues-5", details=True)
    assert alone.trusted.mean() < 0.5 and set(alone.model) == {"eigenvalues-5"}
    chosen = linalg.eigvalsh(np.concatenate([positive, symmetric]), details=True)
    assert chosen.trusted.mean() > 0.95
    assert set(chosen.model[12:]) == {"eigenvalues-5"} and set(chosen.model[:12]) >= {"laplace-5"}
    assert (chosen.residual[:12] <= alone.residual).all()


@pytest.mark.parametrize("n", [2, 3, 5, 8, 10])
def test_the_model_fits_the_size(n):
    x = np.random.default_rng(n).uniform(-10, 10, (10, n, n))
    A = x + x.swapaxes(1, 2)
    assert linalg.eigvalsh(A, details=True).trusted.mean() >= 0.8


def test_a_model_is_a_name_a_path_or_a_model(symmetric):
    by_name = linalg.eigvalsh(symmetric[:3], model="eigenvalues-5")
    np.testing.assert_array_equal(linalg.eigvalsh(symmetric[:3], model=learnalg.load("eigenvalues-5")), by_name)
    path = find_model("eigenvalues-5")
    by_path = linalg.eigvalsh(symmetric[:3], model=path, details=True)
    np.testing.assert_array_equal(by_path.value, by_name)
    assert set(by_path.model) == {str(path)}
    with pytest.raises(ValueError, match=r"this model knows eigenvalues"):
        linalg.inv(symmetric[:3] + 1, model="eigenvalues-5")


@pytest.mark.parametrize("name", ["inv", "eigvalsh", "eigh", "svdvals", "svd"])
def test_refined_answers_are_numpys(name):
    operands = draw(np.random.default_rng(8), (3, 4), name)
    found, right = parts(getattr(linalg, name)(*operands, refine=True)), parts(FUNCTIONS[name][0](*operands))
    compared = {"eigh": [0], "svd": [1]}.get(name, [0])
    for k in compared:
        np.testing.assert_allclose(found[k], right[k], rtol=1e-7, atol=1e-9)
    if name == "eigh":
        np.testing.assert_allclose(
            found[1] * found[0][..., None, :] @ found[1].swapaxes(-1, -2), operands[0], atol=1e-9
        )
    if name == "svd":
        np.testing.assert_allclose(found[0] * found[1][..., None, :] @ found[2], operands[0], atol=1e-9)


def test_what_cannot_be_certified_raises_falls_back_or_is_flagged(matrices):
    stack = matrices[:4].copy()
    stack[2] = np.vander(1 + 1e-4 * np.arange(5))  # too ill-conditioned for any proof
    with pytest.raises(LinAlgError, match=r"1 of 4 answers cannot be certified: matrix \(2,\); fallback=True takes"):
        linalg.inv(stack, refine=True)
    flagged = linalg.inv(stack, refine=True, details=True)
    assert flagged.is_certified.tolist() == [True, True, False, True] and not flagged.fell_back.any()
    fallen = linalg.inv(stack, refine=True, fallback=True, details=True)
    assert fallen.fell_back.tolist() == [False, False, True, False]
    np.testing.assert_array_equal(fallen.value[2], np.linalg.inv(stack[2]))
    with pytest.warns(FallbackWarning, match=r"^1 of 4 answers are NumPy's, the first that of matrix \(2,\)$"):
        np.testing.assert_array_equal(linalg.inv(stack, refine=True, fallback=True), fallen.value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linalg.inv(stack[:2], refine=True, fallback=True)


def test_singular_matrices_are_refused_by_their_index(matrices):
    stack = matrices[:6].reshape(2, 3, 5, 5).copy()
    stack[1, 2] = 0
    with pytest.raises(LinAlgError, match=r"Singular matrix \(1, 2\)"):
        linalg.inv(stack)
    with pytest.raises(LinAlgError, match=r"Singular matrix$"):
        linalg.inv(np.ones((5, 5)))
    assert linalg.inv(1e-200 * matrices[0], refine=True).shape == (5, 5)  # its determinant is 1e-1000


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: linalg.eigvalsh(np.ones(3)), LinAlgError, "1-dimensional array given"),
        (lambda: linalg.inv(3.0), LinAlgError, "0-dimensional array given"),
        (lambda: linalg.matvec(np.eye(5), 3.0), LinAlgError, "at least one-dimensional"),
        (lambda: linalg.inv(np.ones((5, 4))), LinAlgError, "must be square, not 5x4"),
        (lambda: linalg.eigh(np.ones((5, 5), dtype=complex)), TypeError, "complex128 is unsupported"),
        (lambda: linalg.eigh(np.ones((5, 5), dtype=np.float16)), TypeError, "float16 is unsupported"),
        (lambda: linalg.eigh([["a"]]), TypeError, "unsupported"),
        (lambda: linalg.eigvalsh(np.stack([np.eye(5), np.full((5, 5), np.nan)])), LinAlgError, r"\(1,\) holds NaN"),
        (lambda: linalg.transpose(np.full((5, 5), np.inf)), LinAlgError, "matrix holds NaN or infinity"),
        (lambda: linalg.eigvalsh(np.eye(5), "X"), ValueError, "UPLO='X': must be 'L' or 'U'"),
        (lambda: linalg.svd(np.ones((5, 4))), ValueError, "of a 5x4 matrix, models write the reduced form only"),
        (lambda: linalg.svd(np.arange(16.0).reshape(4, 4)), ValueError, "svd of 4x4 matrices that are not symmetric"),
        (
            lambda: linalg.eigvalsh(np.eye(30)),
            ValueError,
            "no released model for eigenvalues of 30x30 matrices; there are",
        ),
        (lambda: linalg.eigvalsh(np.ones((0, 0))), ValueError, "no released model for eigenvalues of 0x0"),
        (
            lambda: linalg.inv(np.eye(6), model="inverse-5"),
            ValueError,
            "6x6 matrix, but this model was trained on dim 5",
        ),
        (lambda: linalg.matmul(np.ones((5, 4)), np.ones((5, 5))), ValueError, "do not go together: 4 is not 5"),
        (lambda: linalg.matvec(np.ones((5, 4)), np.ones(5)), ValueError, "do not go together: 4 is not 5"),
        (lambda: linalg.matmul(np.ones((3, 5)), np.ones((5, 5))), ValueError, "no released model for matmul of 5x3"),
        (lambda: linalg.matmul(np.ones(5), np.ones(5)), LinAlgError, "two vectors given"),
        (lambda: linalg.inv(np.full((5, 5), np.inf)), LinAlgError, "matrix holds NaN or infinity"),
        (lambda: linalg.matmul(np.ones((2, 5, 5)), np.ones((3, 5, 5))), ValueError, "cannot be broadcast"),
        (lambda: linalg.add(np.ones((5, 5)), np.ones((4, 4))), ValueError, "cannot be broadcast"),
        (lambda: linalg.eigvalsh(np.eye(5), model="eigenvalue-5"), ValueError, "did you mean 'eigenvalues-5'"),
        (lambda: linalg.eigvalsh(np.eye(5), refined=True), TypeError, "did you mean 'refine'"),
        (lambda: linalg.eigvalsh(np.eye(5), fallback=True), ValueError, "has no effect without refine=True"),
        (lambda: linalg.add(np.eye(5), np.eye(5), refine=True), ValueError, "no refinement for add; there is one for"),
        (lambda: np.asarray(linalg.eigh(np.eye(5), details=True)), TypeError, "the value is 2 arrays"),
    ],
)
def test_errors_say_what_is_wrong(call, kind, says):
    with warnings.catch_warnings(), pytest.raises(kind, match=says) as raised:
        warnings.simplefilter("error")
        call()
    assert "\n" not in str(raised.value)


def test_a_size_without_a_model_is_allowed_with_a_warning():
    A = np.eye(6) + 0.1
    with pytest.warns(OutsideWarning, match="6x6 matrix, but this model was trained on dim 5"):
        found = linalg.inv(A, allow_outside=True, model="inverse-5", details=True)
    assert not found.trusted
    with pytest.warns(OutsideWarning, match="11x11"):
        refined = linalg.eigvalsh(np.diag(np.arange(11.0)), allow_outside=True, refine=True)
    np.testing.assert_allclose(refined, np.arange(11), atol=1e-9)


@pytest.mark.parametrize("what", ["values", "spectrum"])
def test_what_no_model_was_trained_for_is_refused_or_warned_of(symmetric, what):
    calls = {
        "values": lambda **keywords: linalg.eigvalsh(1e4 * symmetric, rescale=False, **keywords),
        "spectrum": lambda **keywords: linalg.eigvalsh(symmetric @ symmetric, model="eigenvalues-5", **keywords),
    }
    says = rf"no model was trained for the {what} of matrix \(\d+,\) \(.*eigenvalues-5.*\), and the answer has no"
    with pytest.raises(ValueError, match=says) as raised:
        calls[what]()
    assert "\n" not in str(raised.value)
    with pytest.warns(UntrustedWarning, match=r"of 12 answers \(eigenvalues-5\) have no proof of an error below 5 %"):
        assert calls[what](allow_outside=True).shape == (12, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not calls[what](details=True).trusted.all()


def test_an_answer_that_is_not_proven_comes_with_a_warning():
    """In distribution: hard matrices are like others until they are solved."""
    A = np.random.default_rng(1).uniform(-10, 10, (100, 5, 5))
    with pytest.warns(UntrustedWarning, match=r"^\d+ of 100 answers \(inverse.*\) have no proof of an error below 5 %"):
        found = linalg.inv(A)
    assert (error(found, np.linalg.inv(A)) < 0.05).mean() > 0.8


def test_a_solution_is_its_value(symmetric):
    solution = linalg.eigvalsh(symmetric, details=True)
    np.testing.assert_array_equal(np.asarray(solution), solution.value)
    assert np.asarray(solution, dtype=np.float32).dtype == np.float32
    assert solution.matrix.shape == (12, 5, 1) and solution.value.shape == (12, 5)
