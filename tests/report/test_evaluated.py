"""Rows that a model has judged: all that it says of them, and some of them themselves."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import tallybayes as tb
from tallybayes.model import Fitted, Recipe
from tallybayes.report import evaluated
from tallybayes.report.evaluated import drawn, judged_here, taken
from tallybayes.sources import as_source
from workflows.mixed import features, mixed

COLUMNS = {
    "mail": tb.Text(),
    "on": "bernoulli",
    "visits": "poisson",
    "calls": tb.Count(),
    "age": tb.Intervals((30.0, 50.0)),
    "rooms": "categorical",
}


@pytest.fixture(scope="module")
def frame():
    return mixed(200, seed=3)


@pytest.fixture(scope="module")
def model(frame):
    return tb.NaiveBayes(COLUMNS).fit(features(frame), frame["label"])


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(evaluated, "MOST_ROWS", 30)


def test_what_is_judged_is_what_the_estimator_says(frame, model):
    X, y = features(frame), frame["label"]
    weights = np.arange(len(frame)) % 3
    found, sample = judged_here(model.fitted_, model.source_of(X), y, weights)
    classes = np.array(model.classes_, dtype=object)
    assert (classes[found.true] == y.to_numpy()).all()
    assert (classes[found.predicted] == model.predict(X)).all()
    np.testing.assert_allclose(found.proba, model.predict_proba(X), rtol=1e-9)
    assert found.weights.tolist() == weights.tolist()
    assert sample.numbers.tolist() == list(range(len(frame)))
    assert len(found) == len(sample) == len(frame)


def forms(frame):
    X = features(frame)
    yield "pandas", X
    yield "Arrow", pa.Table.from_pandas(X, preserve_index=False)
    yield "columns", {name: X[name].astype(object).where(X[name].notna(), None) for name in X}


@pytest.mark.parametrize("form", ["pandas", "Arrow", "columns"])
def test_the_sample_holds_the_rows_whose_numbers_it_has(few, frame, model, form):
    X, y = dict(forms(frame))[form], frame["label"]
    source = model.source_of(X)
    found, sample = judged_here(model.fitted_, source, y)
    assert len(sample) == 30
    assert sorted(set(sample.numbers.tolist())) == sample.numbers.tolist()
    assert sample.y.tolist() == y.to_numpy()[sample.numbers].tolist()
    posterior = model.fitted_.model.posterior(sample.X)
    np.testing.assert_allclose(posterior, found.proba[sample.numbers], rtol=1e-12)


@pytest.mark.parametrize("form", ["pandas", "Arrow", "columns"])
def test_a_row_of_the_sample_is_a_record_that_the_model_judges_alike(few, frame, model, form):
    X = dict(forms(frame))[form]
    found, sample = judged_here(model.fitted_, model.source_of(X), frame["label"])
    schema = model.fitted_.tally.schema
    for row in range(5):
        record = sample.record(row, schema)
        assert list(record) == list(schema.names)
        wanted = features(frame).iloc[sample.numbers[row]]
        assert record["mail"] == (None if pd.isna(wanted["mail"]) else wanted["mail"])
        posterior = model.fitted_.model.posterior_of(record)
        np.testing.assert_allclose(
            list(posterior.values()), found.proba[sample.numbers[row]], rtol=1e-9
        )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_matrices_are_sampled_too(few, make):
    counts = np.random.default_rng(0).poisson(2.0, (100, 4))
    y = counts[:, 0] > 2
    source = as_source(make(counts))
    fitted = Fitted(tb.Tally.of(source, y, columns=tb.Count()), Recipe((tb.Multinomial(),)))
    found, sample = judged_here(fitted, source, y)
    np.testing.assert_allclose(
        fitted.model.posterior(sample.X), found.proba[sample.numbers], rtol=1e-12
    )
    record = sample.record(2, fitted.tally.schema)
    assert list(record.values()) == counts[sample.numbers[2]].tolist()


def test_few_rows_are_not_copied():
    source = as_source({"a": ["x", "y"]})
    schema = tb.Schema.infer(source)
    assert taken(source, schema, drawn(2)) is source


def test_the_draw_is_repeatable(few):
    assert drawn(1000).tolist() == drawn(1000).tolist()
    assert drawn(1000, seed=1).tolist() != drawn(1000).tolist()


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["n", "y"], "2 labels for 3 rows"),
        (["n", "y", "yes"], "'yes' in row 2, which is not a class; known: 'n', 'y'"),
        (["n", None, "y"], "label of row 1 is missing"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y, said):
    source = as_source({"a": ["p", "q", "q"]})
    fitted = Fitted(tb.Tally.of(source, ["n", "y", "y"]))
    with pytest.raises(tb.TallyBayesError, match=said):
        judged_here(fitted, source, y)


def test_no_rows_are_refused():
    fitted = Fitted(tb.Tally.of({"a": ["p", "q"]}, ["n", "y"]))
    with pytest.raises(tb.TallyBayesError, match="no rows to score"):
        judged_here(fitted, as_source({"a": []}), [])
