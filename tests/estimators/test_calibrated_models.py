"""Estimators with a calibration: fitted with the model, and kept with it."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes import NaiveBayes, TextNB


def mixed(n=120, seed=0):
    """Make a table with a column given twice, categories, gaps, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    shift = np.array([{"a": 0.0, "b": 1.0, "c": 2.0}[label] for label in y])
    size = shift + rng.normal(size=n)
    size[::9] = np.nan
    colour = np.where(rng.random(n) < 0.5, y, rng.choice(["a", "b", "c"], n)).astype(object)
    colour[::11] = None
    return pd.DataFrame({"size": size, "again": size, "colour": colour}), y


def documents():
    """Documents of few words, most of which say what their class is."""
    texts = ["lunch soon", "see you", "win now", "buy you now", "see lunch now", "win you soon"]
    return texts * 6, ["ham", "ham", "spam", "spam", "ham", "spam"] * 6


def counts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["p", "q"], n)
    p = y == "p"
    rates = {"u": np.where(p, 3, 5), "v": np.where(p, 5, 3), "w": np.full(n, 4)}
    return {name: rng.poisson(rate) for name, rate in rates.items()}, y


PROBLEMS = {"NaiveBayes": (NaiveBayes, mixed), "TextNB": (TextNB, documents)}
every_problem = pytest.mark.parametrize("problem", PROBLEMS)


class TestLearning:
    """What happens to a calibration when more is learnt, or less."""

    @every_problem
    def test_a_first_partial_fit_is_refused(self, problem):
        estimator, data = PROBLEMS[problem]
        X, y = data()
        model = estimator(calibration="weights")
        with pytest.raises(tb.TallyBayesError, match=r"call fit\(\) with a first batch"):
            model.partial_fit(X, y)
        assert not hasattr(model, "classes_")

    def test_what_fails_leaves_the_model_as_it_was(self):
        X, y = documents()
        model = TextNB(calibration="weights").fit(X, y)
        before, proba = model.calibration_, model.predict_proba(X)
        with pytest.raises(tb.TallyBayesError, match="closed form"):
            model.set_params(best=3).fit(X, y)
        assert model.calibration_ is before
        model.set_params(best=None)
        np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9)

    def test_a_column_that_comes_later_has_the_mean_exponent(self):
        X, y = mixed()
        model = NaiveBayes(calibration="weights").fit(X, y)
        mean = np.mean(list(model.calibration_.exponents.values()))
        more, labels = mixed(40, seed=2)
        more["new"] = np.random.default_rng(0).normal(size=40)
        model.partial_fit(more, labels)
        (factor,) = (f for f in model.model_.factors if len(f.exponents) > 1)
        assert factor.exponents.tolist() == pytest.approx(
            [*(model.calibration_.exponents[name] for name in ("size", "again")), mean]
        )

    def test_a_bag_that_grows_keeps_its_exponent(self):
        X, y = counts()
        kinds = {"n": "gaussian", ...: "multinomial"}
        model = NaiveBayes(kinds, calibration="weights").fit({"n": np.arange(120.0), **X}, y)
        (exponent,) = (f.exponents.tolist() for f in model.model_.factors if f.group == 1)
        more = {"n": np.arange(120.0), **X, "k": X["u"]}
        model.partial_fit(more, y)
        (after,) = (f.exponents.tolist() for f in model.model_.factors if f.group == 1)
        assert set(after) == set(exponent)
        assert set(exponent) <= set(model.calibration_.exponents.values())


@pytest.mark.parametrize(
    "kinds",
    [{0: "poisson", ...: "multinomial"}, {0: tb.Bernoulli(0.5), ...: tb.Bernoulli(1.0)}],
    ids=str,
)
def test_families_of_one_bag_have_each_the_exponent_that_was_fitted(kinds):
    X, y = counts()
    rows = csr_array(np.stack(list(X.values()), axis=1))
    model = NaiveBayes(kinds, calibration="weights").fit(rows, y)
    fitted = sorted(model.calibration_.exponents.values())
    assert len(fitted) == 2
    used = {value for factor in model.model_.factors for value in factor.exponents.tolist()}
    assert sorted(used) == pytest.approx(fitted)


@every_problem
@pytest.mark.parametrize("wrong", ["platt", True, np.array([1, 2])])
def test_any_other_calibration_is_refused(problem, wrong):
    estimator, data = PROBLEMS[problem]
    for act in ("fit", "partial_fit", "cross_val"):
        with pytest.raises(tb.TallyBayesError, match="calibration is"):
            getattr(estimator(calibration=wrong), act)(*data())


def test_the_summary_shows_exponents():
    X, y = mixed()
    model = NaiveBayes(calibration="weights").fit(X, y)
    lines = model.summary().splitlines()
    for name, exponent in model.calibration_.exponents.items():
        (line,) = (line for line in lines if line.split()[:1] == [name])
        assert f"^ {exponent:.3f}" in line
    assert lines[-1].startswith("weights calibration, 120 rows: log-loss ")
    model = NaiveBayes(calibration="temperature").fit(X, y)
    found = model.calibration_
    said = f"exponent {found.default:.3f}; exponent of the prior {found.prior:.3f}"
    assert model.summary().splitlines()[-1].endswith(said)
    assert "^" not in model.summary()
