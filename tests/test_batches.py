"""Blocks of rows: however the rows are cut, the answer is the same."""

from bisect import bisect_left

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import tallybayes as tb
from laws.conftest import assert_same
from tallybayes import batches

N = 11
RNG = np.random.default_rng(4)
LABELS = RNG.choice(["p", "q", "r"], N)
TABLE = {
    "number": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
    "text": [None if k == 4 else "abc"[k % 3] for k in range(N)],
    "flag": (RNG.random(N) < 0.5).tolist(),
    "word": RNG.integers(0, 4, N),
    "switch": RNG.integers(0, 2, N),
}
KINDS = {"number": tb.Numeric(), "word": tb.Count(), "switch": tb.Binary()}
SEVERAL = {"x0": tb.Numeric(), "x1": tb.Count(), "x2": tb.Binary(), "x3": tb.Categories()}
CELLS = np.random.default_rng(1).integers(0, 3, (N, 4))
FORMS = {
    "mapping": (TABLE, KINDS),
    "pandas": (pd.DataFrame(TABLE), KINDS),
    "polars": (pl.DataFrame(TABLE), KINDS),
    "arrow": (pa.table(TABLE), KINDS),
    **{each: (np.asfortranarray(CELLS.astype(each)), SEVERAL) for each in ("f8", "f4", "i2", "?")},
    "sparse": (sparse.csr_array(CELLS), {"x1": tb.Binary(), "x3": tb.Count("others")}),
}


@pytest.fixture(params=[1, 3, 11])
def small_blocks(request, monkeypatch):
    """Switch to blocks of a few rows; before, all rows are one block."""

    def switch():
        monkeypatch.setattr(batches, "ROWS_IN_A_BLOCK", request.param)

    return switch


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 3, N)], ids=["plain", "weighted"])
@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_rows_change_no_tally_and_no_posterior(form, weights, small_blocks):
    data, kinds = FORMS[form]
    whole = tb.Tally.of(data, LABELS, weights, columns=kinds)
    model = tb.estimate(whole)
    posterior = model.posterior(data)
    small_blocks()
    assert_same(tb.Tally.of(data, LABELS, weights, columns=kinds), whole)
    np.testing.assert_allclose(model.posterior(data), posterior, rtol=1e-13)


def test_a_value_first_met_in_a_later_block_is_counted_there(small_blocks):
    small_blocks()
    table = {"c": [1, 1, 1, 1, 7], "d": ["a", "a", "a", "a", "z"]}
    tally = tb.Tally.of(table, [0, 0, 0, 0, 1], columns={"c": tb.Categories()})
    assert tally.blocks[0].labels == ((1, 7), ("a", "z"))
    assert tally.blocks[0].rows.tolist() == [[4, 0, 4, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("column", "kind", "saying"),
    [
        ([1.0, 2.0, 1.0, 3.0, 1.0, np.inf], tb.Numeric(), "column 'a' holds infinity in row 5"),
        ([0, 1, 0, 2, 0, -1], tb.Count(), r"column 'a' is -1(\.0)? in row 5"),
        ([1.0, 2.0, None, 3.0, 1.0, "x"], tb.Numeric(), "column 'a' holds 'x' in row 5"),
        (pa.array([None] * 5 + ["x"]), tb.Numeric(), "column 'a' holds 'x' in row 5"),
    ],
    ids=["infinity", "a negative count", "text", "text in Arrow"],
)
def test_what_is_wrong_is_found_at_its_row_in_whatever_block(column, kind, saying, small_blocks):
    small_blocks()
    model = tb.estimate(tb.Tally.of({"a": [1, 2, 4]}, [0, 1, 0], columns={"a": kind}))
    for call in (model.posterior, lambda X: tb.Tally.of(X, [0, 1] * 3, schema=model.schema)):
        with pytest.raises(tb.TallyBayesError, match=saying):
            call({"a": column})


def test_the_impossible_row_is_named_in_whatever_block(small_blocks):
    small_blocks()
    tally = tb.Tally.of({"a": ["x", "y"], "b": ["x", "y"]}, [0, 1])
    model = tb.estimate(tally, tb.Categorical(alpha=0))
    with pytest.warns(tb.TallyBayesWarning, match=r"row 4 is impossible in every class \(1 such"):
        model.posterior({"a": ["x"] * 6, "b": ["x", "x", "x", "x", "y", "x"]})


def test_no_rows_are_no_rows(small_blocks):
    small_blocks()
    model = tb.estimate(tb.Tally.of(TABLE, LABELS, columns=KINDS))
    none = {name: [] for name in TABLE}
    assert model.posterior(none).shape == (0, 3)
    assert model.predict(none).tolist() == []
    assert tb.Tally.of(none, [], schema=model.schema) == tb.Tally(model.schema)


@pytest.mark.parametrize("column", [np.array([-3, 0, 7, 500, 299]),
                                    np.array([-0.5, 7.0, 7.5, np.nan, np.inf, -np.inf, 299.0])],
                         ids=["whole", "decimal"])  # fmt: skip
@pytest.mark.parametrize("n", [3, 300], ids=["few", "many"])
def test_few_and_many_edges_tell_the_interval_of_a_number(column, n):
    edges = tuple(float(k) for k in range(n))
    expected = [-1 if x != x else bisect_left(edges, x) for x in column.tolist()]
    assert batches.interval_codes([column], [edges], len(column))[:, 0].tolist() == expected
