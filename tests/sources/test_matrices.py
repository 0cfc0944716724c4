"""NumPy arrays and sparse matrices: the same tally whatever their type and layout."""

import numpy as np
import pytest
from scipy import sparse

import tallybayes as tb
from tiers import crossed

RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 5, (40, 3))
Y = RNG.integers(0, 3, 40)
NAMES = ("x0", "x1", "x2")
KINDS = {
    "numbers": tb.Numeric(),
    "categories": tb.Categories(),
    "counts": tb.Count(),
    "switches": tb.Binary(1.5),
}
LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
}


def tally(x, kind):
    return tb.Tally.of(x, Y, schema=tb.Schema.same(NAMES, kind))


def same_tally(a, b, exact):
    assert a.classes == b.classes
    np.testing.assert_array_equal(a.rows, b.rows)
    for mine, theirs in zip(a.blocks, b.blocks, strict=True):
        for part in type(mine).__slots__:
            if exact or part == "labels":
                np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))
            else:
                np.testing.assert_allclose(getattr(mine, part), getattr(theirs, part), rtol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "layout", "kind"),
    crossed(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u8"], LAYOUTS, KINDS),
)
def test_type_and_layout_of_a_matrix_change_nothing(dtype, layout, kind):
    x = LAYOUTS[layout](WHOLE.astype(dtype))
    same_tally(tally(x, KINDS[kind]), tally(WHOLE, KINDS[kind]), exact=kind != "numbers")


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_counts_like_a_table_of_its_columns_and_lists_of_its_rows(kind):
    exact, on = kind != "numbers", WHOLE > 2
    table = {name: WHOLE[:, k] for k, name in enumerate(NAMES)}
    for same in (table, WHOLE.tolist()):
        same_tally(tally(same, KINDS[kind]), tally(WHOLE, KINDS[kind]), exact)
    same_tally(tally(on, KINDS[kind]), tally(on.astype(int), KINDS[kind]), exact)


def test_an_array_of_text_is_categories():
    x = np.array([["a", "p"], ["b", "p"], ["a", "q"]])
    assert tb.Tally.of(x, [0, 1, 1]) == tb.Tally.of({"x0": x[:, 0], "x1": x[:, 1]}, [0, 1, 1])


@pytest.mark.parametrize(
    ("dtype", "form", "kind"),
    crossed(
        ["f8", "f4", "i8", "i4", "u1", "?"],
        ["csr", "csc", "coo", "lil"],
        ["counts", "switches"],
        every=5,
    ),
)
def test_a_sparse_matrix_counts_like_a_dense_one(form, kind, dtype):
    dense = (WHOLE * (WHOLE > 2)).astype(dtype)
    matrix = sparse.coo_array(dense).asformat(form)
    expected = tally(dense, KINDS[kind])
    same_tally(tally(matrix, KINDS[kind]), expected, exact=True)
    model = tb.estimate(expected)
    scored = model.joint_log_likelihood(matrix)
    np.testing.assert_allclose(scored, model.joint_log_likelihood(dense), rtol=1e-12)


TWICE = (np.ones(4), np.array([0, 0, 1, 2]), np.array([0, 2, 3, 4]))
ZERO = (np.array([1.0, 0.0, 2.0]), np.array([0, 1, 2]), np.array([0, 1, 2, 3]))


@pytest.mark.parametrize("parts", [TWICE, ZERO], ids=["twice", "zero"])
@pytest.mark.parametrize("kind", ["counts", "switches"])
def test_entries_stored_twice_are_their_sum_and_stored_zeros_are_zeros(kind, parts):
    stored, schema = sparse.csr_array(parts, shape=(3, 3)), tb.Schema.same(NAMES, KINDS[kind])
    once = tb.Tally.of(stored.toarray(), [0, 1, 1], schema=schema)
    assert tb.Tally.of(stored, [0, 1, 1], schema=schema) == once
    for family in ([], [tb.Poisson()]) if kind == "counts" else ([],):
        model = tb.estimate(once, *family)
        expected = model.joint_log_likelihood(stored.toarray())
        np.testing.assert_allclose(model.joint_log_likelihood(stored), expected)
