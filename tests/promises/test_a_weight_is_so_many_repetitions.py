"""A weight of w equals w repetitions of the row: in models, held-out answers and scores."""

import numpy as np
import pytest

import tallybayes as tb
from validation.refits import answer
from validation.registry import SETTINGS


def model_of(setting, rows, repeat):
    """Estimate from rows that weigh 1, 2 or 3, or are there so often."""
    times = [1 + k % 3 for k in range(len(rows))]
    if repeat:
        rows = [row for row, n in zip(rows, times, strict=True) for _ in range(n)]
    labels, _, cells = zip(*rows, strict=True)
    source = setting.source(list(cells))
    tally = tb.Tally.of(source, labels, None if repeat else times, schema=setting.schema)
    return setting.recipe().model(tally)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_weighted_model_is_that_of_repeated_rows(setting):
    # how many documents have a word is a number of rows, whatever they weigh
    if "min_df" in setting.name or "max_df" in setting.name:
        pytest.skip("min_df and max_df count documents, not weights")
    rows = setting.examples(13, seed=2)
    asked = setting.source([cells for *_, cells in setting.examples(8, seed=5)])
    weighted, repeated = (
        answer(lambda repeat=repeat: model_of(setting, rows, repeat).posterior(asked))
        for repeat in (False, True)
    )
    assert (weighted is None) == (repeated is None)
    if weighted is not None:
        np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-12)


def test_fractions_of_a_row_add_up_to_the_row():
    X, y = {"c": ["u", "v", "v"], "n": [1, 0, 2]}, ["a", "b", "b"]
    columns = {"c": "categorical", "n": "poisson"}
    one = tb.NaiveBayes(columns).fit(X, y)
    halves = tb.NaiveBayes(columns)
    for share in (0.25, 0.75):
        halves.partial_fit(X, y, sample_weight=[share] * 3)
    np.testing.assert_allclose(halves.predict_proba(X), one.predict_proba(X), rtol=1e-12)


def test_weights_count_in_every_score():
    rng = np.random.default_rng(1)
    X, y = {"c": rng.choice(list("uvw"), 60)}, rng.choice(list("ab"), 60)
    w = rng.integers(1, 4, 60)
    model = tb.NaiveBayes().fit(X, y)
    weighted = tb.metrics.Predictions.from_estimator(model, X, y, sample_weight=w)
    repeated = tb.metrics.Predictions.from_estimator(
        model, {"c": np.repeat(X["c"], w)}, np.repeat(y, w)
    )
    for name in ("accuracy", "log_loss", "balanced_accuracy", "matthews_corrcoef", "roc_auc"):
        assert weighted.score(name) == pytest.approx(repeated.score(name), rel=1e-12), name
