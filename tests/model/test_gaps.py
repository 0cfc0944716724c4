"""Missing values as evidence: a model with a column of its own for each column that has gaps."""

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.model.gaps import ignored_gaps

RNG = np.random.default_rng(0)
N = 60
CODES = RNG.integers(0, 3, N)
Y = np.array(list("abc"))[CODES]
X = pd.DataFrame(
    {
        "x": np.where(RNG.random(N) < 0.2 + 0.2 * CODES, np.nan, RNG.normal(CODES, 1.0)),
        "c": np.where(RNG.random(N) < 0.3, None, RNG.choice(list("uvw"), N)),
        "once": np.where(np.arange(N) == 5, np.nan, CODES + RNG.integers(0, 2, N) + 0.5),
        "full": RNG.normal(size=N),
        "mail": np.where(np.arange(N) % 7, RNG.choice(["win cash", "see you"], N), None),
    }
)
TEXT = {"mail": "text"}
EVIDENCE = {"columns": TEXT, "missing": "evidence"}


def with_indicators(rows):
    """Add a column that says of each that has gaps whether a value is missing."""
    two = pd.CategoricalDtype(["gone", "there"])
    said = {
        f"{name} gone": values.isna().map({True: "gone", False: "there"}).astype(two)
        for name, values in rows.items()
        if values.isna().any()
    }
    return rows.assign(**said)


def brute_force(rows, y, asked, weights=None):
    """Return the posteriors of a plain model with explicit columns; `asked` are among the rows."""
    table = with_indicators(rows)
    model = tb.NaiveBayes(TEXT).fit(table, y, sample_weight=weights)
    of_all = with_indicators(pd.concat([rows, X])).iloc[len(rows) :]
    return model.predict_proba(of_all.loc[asked, table.columns])


@pytest.fixture
def model():
    return tb.NaiveBayes(**EVIDENCE).fit(X, Y)


@pytest.mark.parametrize("weights", [None, RNG.choice([1.0, 2.0, 0.0], N)], ids=["rows", "weights"])
def test_a_gap_counts_as_a_column_of_its_own_would(weights):
    model = tb.NaiveBayes(**EVIDENCE).fit(X, Y, sample_weight=weights)
    expected = brute_force(X, Y, X.index, weights)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
    record = {name: None if value != value else value for name, value in X.iloc[0].items()}
    found = list(model.model_.posterior_of(record).values())
    np.testing.assert_allclose(found, expected[0], rtol=1e-9)


def test_each_row_left_out_is_a_refit_without_it(model):
    """The only gap of a column among them: without its row there is none."""
    held = tb.NaiveBayes(**EVIDENCE).cross_val(X, Y, "loo")
    for row in range(N):
        rest = X.index != row
        expected = brute_force(X[rest], Y[rest], [row])
        np.testing.assert_allclose(held.proba[row], expected[0], rtol=1e-9)


def test_columns_and_gaps_may_come_later(model):
    """A column that a batch lacks is missing there, and so it is in a model that is merged."""
    first, rest = X.index < 20, X.index >= 20
    late = X.copy()
    late.loc[first, ["x", "mail"]] = None
    whole = tb.NaiveBayes(**EVIDENCE).fit(late, Y)
    some = ["full", "once", "c"]
    parts = tb.NaiveBayes(**EVIDENCE).partial_fit(X.loc[first, some], Y[first])
    parts.partial_fit(X[rest], Y[rest])
    merged = tb.NaiveBayes(missing="evidence").fit(X.loc[first, some], Y[first])
    merged += tb.NaiveBayes(**EVIDENCE).fit(X[rest], Y[rest])
    expected = whole.predict_proba(X)
    for found in (parts, merged):
        np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-9)
    model.partial_fit(X[first], Y[first]).forget(X[first], Y[first])
    np.testing.assert_allclose(model.predict_proba(X), brute_force(X, Y, X.index), rtol=1e-9)


def test_gaps_that_would_tell_are_warned_of():
    many = pd.concat([X.drop(columns="mail")] * 4, ignore_index=True)
    y = np.tile(Y, 4)
    with pytest.warns(tb.TallyBayesWarning, match=r"value of 'x' .*use missing='evidence'"):
        plain = tb.NaiveBayes().fit(many.drop(columns="once"), y)
    assert "value of 'x' tells of the class" in plain.summary()
    rows = many.drop(columns="once")
    assert any("value of 'x' tells" in each for each in plain.diagnose(rows, y).warnings)
    evidence = tb.NaiveBayes(missing="evidence").fit(many, y)
    assert "tells of the class" not in evidence.summary()
    assert not any("tells of the class" in each for each in evidence.diagnose(many, y).warnings)


def test_gaps_by_chance_are_not():
    """In none of 20 tables of 20 columns, with two classes and with ten."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, (2, 10)[seed % 2], 200)
        table = np.where(rng.random((200, 20)) < 0.1, np.nan, rng.normal(size=(200, 20)))
        assert ignored_gaps(tb.Tally.of(table, y)) == []


def test_another_word_is_refused():
    with pytest.raises(tb.TallyBayesError, match="missing is 'drop'; say 'ignore' or 'evidence'"):
        tb.NaiveBayes(missing="drop").fit(X[["full"]], Y)
