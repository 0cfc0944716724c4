"""Rows that a model has judged: all that it says of them, and some of them themselves."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import tallybayes as tb
from tallybayes.errors import CannotDrawError
from tallybayes.explanations.explanation import record_in
from tallybayes.model import Fitted, Recipe
from tallybayes.report import contents
from tallybayes.report.contents import Contents, evaluate
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
    monkeypatch.setattr(contents, "MOST_ROWS", 30)


def test_rows_learned_in_parts_are_known_again_and_others_are_not_counted(frame, monkeypatch):
    X, y = features(frame), frame["label"]
    parts = tb.NaiveBayes(COLUMNS)
    for rows in (slice(120, 200), slice(0, 120)):
        parts.partial_fit(X[rows], y[rows])
    assert evaluate(parts.fitted_, parts.source_of(X), y)[0].held_out == "leave-one-out"
    monkeypatch.setattr("tallybayes.tallies.labelled_rows.encoded", None)
    some = evaluate(parts.fitted_, parts.source_of(X[:50]), y[:50])[0]
    assert some.held_out == "test set"


def test_as_many_other_rows_of_each_class_are_not_taken_for_those_learned_from(frame, model):
    X = features(frame).assign(visits=lambda rows: rows["visits"] + 1)
    assert evaluate(model.fitted_, model.source_of(X), frame["label"])[0].held_out == "test set"


def forms(frame):
    X = features(frame)
    yield "pandas", X
    yield "Arrow", pa.Table.from_pandas(X, preserve_index=False)
    yield "columns", {name: X[name].astype(object).where(X[name].notna(), None) for name in X}


@pytest.mark.parametrize("form", ["pandas", "Arrow", "columns"])
def test_the_sample_holds_rows_that_the_model_judges_alike_as_records(few, frame, model, form):
    X = dict(forms(frame))[form]
    found, sample = evaluate(model.fitted_, model.source_of(X), frame["label"])
    assert len(sample.places) == 30
    assert sorted(set(sample.places.tolist())) == sample.places.tolist()
    seen = found.training().proba[sample.places]
    np.testing.assert_allclose(model.fitted_.model.posterior(sample.X), seen, rtol=1e-12)
    for row in range(5):
        record = record_in(model.model_, sample.X, row)
        assert list(record) == list(model.fitted_.tally.schema.names)
        wanted = features(frame).iloc[sample.places[row]]
        assert record["mail"] == (None if pd.isna(wanted["mail"]) else wanted["mail"])
        posterior = model.fitted_.model.posterior_of(record)
        np.testing.assert_allclose(list(posterior.values()), seen[row], rtol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_matrices_are_sampled_too(few, make):
    counts = np.random.default_rng(0).poisson(2.0, (100, 4))
    y = counts[:, 0] > 2
    source = as_source(make(counts))
    fitted = Fitted(tb.Tally.of(source, y, columns=tb.Count()), Recipe((tb.Multinomial(),)))
    found, sample = evaluate(fitted, source, y)
    np.testing.assert_allclose(
        fitted.model.posterior(sample.X), found.training().proba[sample.places], rtol=1e-12
    )
    record = record_in(fitted.model, sample.X, 2)
    assert list(record.values()) == counts[sample.places[2]].tolist()
    again = evaluate(fitted, source, y)[1].places
    assert again.tolist() == sample.places.tolist()
    assert evaluate(fitted, source, y, seed=1)[1].places.tolist() != again.tolist()


def test_a_model_that_cannot_draw_has_no_records_and_other_mistakes_are_not_hidden(monkeypatch):
    fitted = Fitted(tb.Tally.of({"a": ["p", "q"]}, ["n", "y"]))

    def failing(error):
        def sample(*given, **options):
            raise error

        monkeypatch.setattr(type(fitted.model), "sample", sample)

    failing(CannotDrawError("no way to draw"))
    assert Contents(fitted).examples == []
    failing(tb.TallyBayesError("something else"))
    with pytest.raises(tb.TallyBayesError, match="something else"):
        _ = Contents(fitted).examples


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
        evaluate(fitted, source, y)
