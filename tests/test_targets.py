"""What is predicted: quantities are no classes, and many small classes cost seconds, not memory."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.evidence import EvidenceProblem, search
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.labels import FEWEST_ROWS, MANY_NUMBERS, MOST_NUMBERS
from tallybayes.workflows import predict, preview, train

QUANTITY = r"has [\d,]+ different numbers in [\d,]+ rows, from -?\d+.*no class to predict"


def table(labels, seed=0):
    draw = np.random.default_rng(seed)
    return {
        "size": draw.normal(size=len(labels)),
        "shape": draw.choice(["round", "flat", "long"], len(labels)),
        "t": labels,
    }


def features(rows):
    return {name: values for name, values in rows.items() if name != "t"}


def numbers(n, each, kind=int):
    """Return n different numbers, each so many times."""
    return np.random.default_rng(0).permutation(np.tile(np.arange(n, dtype=kind), each))


@pytest.mark.parametrize("spec", [ModelSpec(), ModelSpec(plain=True)], ids=["best", "plain"])
@pytest.mark.parametrize(
    "labels",
    [
        numbers(MANY_NUMBERS + 1, FEWEST_ROWS - 1),
        numbers(MOST_NUMBERS + 1, FEWEST_ROWS),
        numbers(MANY_NUMBERS + 1, 4, float),
    ],
    ids=["few rows each", "very many", "decimals"],
)
def test_a_quantity_is_refused_by_name_before_anything_is_counted(labels, spec):
    rows = table(labels)
    for run in (train, preview):
        with pytest.raises(tb.TallyBayesError, match="column 't' " + QUANTITY):
            run(rows, "t", spec)
    for model in (tb.NaiveBayes(), tb.SemiNaiveBayes()):
        with pytest.raises(tb.TallyBayesError, match="y " + QUANTITY):
            model.fit(features(rows), labels)


@pytest.mark.parametrize(
    "labels",
    [
        numbers(MANY_NUMBERS, 3),
        numbers(MANY_NUMBERS + 1, FEWEST_ROWS),
        np.char.add("c", numbers(MOST_NUMBERS + 1, 3).astype(str)),
    ],
    ids=["a hundred", "ten rows each", "names"],
)
def test_numbers_of_many_rows_each_are_classes_and_so_are_names(labels):
    rows = table(labels)
    model = tb.NaiveBayes().fit(features(rows), labels)
    assert len(model.classes_) == len(set(labels.tolist()))
    trained = train(rows, "t", ModelSpec(plain=True), scores=False)
    assert trained.stored.fitted.classes == tuple(model.classes_.tolist())


def test_of_very_many_classes_nothing_is_weighed_and_that_is_said():
    labels = np.char.add("c", numbers(search.MOST_CLASSES + 1, 2).astype(str))
    rows = table(labels)
    with pytest.warns(tb.TallyBayesWarning, match="at most 100 classes, and there are 101"):
        trained = train(rows, "t")
    with pytest.warns(tb.TallyBayesWarning, match="no weights"):
        model = tb.SemiNaiveBayes().fit(features(rows), labels)
    assert model.calibration_ is None
    assert trained.stored.fitted.recipe.calibration is None
    held = tb.NaiveBayes(prior="smoothed").cross_val(features(rows), labels, folds="loo")
    assert trained.scores.log_loss == pytest.approx(held.score("log_loss"))


def test_a_target_of_ten_thousand_classes_gives_a_model_that_predicts(tmp_path):
    """Leave-one-out of all would take gigabytes: it is left out, and the model is there."""
    rows = {"x": np.arange(20_000) % 97, "id": [f"u{k // 2}" for k in range(20_000)]}
    trained = train(rows, "id", ModelSpec(plain=True))
    assert "take too much memory" in str(trained)
    done = predict(trained.stored, {"x": [1, 2, 3]}, tmp_path / "out.csv")
    assert done.rows == 3
    assert "and 9,990 classes more" in str(done)


def test_a_row_is_left_out_of_the_weights_in_blocks_of_any_size(monkeypatch):
    draw = np.random.default_rng(1)
    n, k, c = 40, 3, 5
    y = draw.integers(0, c, n)
    terms, prior = draw.normal(size=(n, k, c)), np.zeros((n, c))
    problem = EvidenceProblem(terms, prior, y, np.ones(n), np.zeros(k, bool))
    found = problem.solved()
    whole = problem.left_out(found)
    monkeypatch.setattr("tallybayes.evidence.weights.CELLS_AT_ONCE", 100)
    np.testing.assert_allclose(problem.left_out(found), whole, rtol=1e-12)
