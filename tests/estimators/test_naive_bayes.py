"""NaiveBayes beside scikit-learn's models of each family, and how it is shown."""

import numpy as np
import pytest
import sklearn.naive_bayes as sk

import tallybayes as tb
from forms import LABELS, TABLE
from tallybayes import NaiveBayes

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 3, 80)
NUMBERED = RNG.normal(Y[:, None] * [1.0, -2.0, 0.0], [1.0, 3.0, 0.1])
COUNTED = RNG.poisson(1 + Y[:, None] * [1, 0, 2, 0.5])
CODED = RNG.integers(0, 4, (80, 3))


def test_one_table_of_all_families_is_the_product_of_scikit_learns_models():
    table = {f"n{j}": NUMBERED[:, j] for j in range(3)}
    table |= {f"c{j}": CODED[:, j] for j in range(3)}
    table |= {f"w{j}": COUNTED[:, j] for j in range(4)}
    table |= {f"b{j}": COUNTED[:, j] for j in range(4)}
    columns = {
        ...: tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9)),
        **dict.fromkeys(("c0", "c1", "c2"), "categorical"),
        **dict.fromkeys(("w0", "w1", "w2", "w3"), "multinomial"),
        **dict.fromkeys(("b0", "b1", "b2", "b3"), "bernoulli"),
    }
    ours = NaiveBayes(columns).fit(table, Y).predict_joint_log_proba(table)
    parts = [
        sk.GaussianNB().fit(NUMBERED, Y).predict_joint_log_proba(NUMBERED),
        sk.CategoricalNB().fit(CODED, Y).predict_joint_log_proba(CODED),
        sk.MultinomialNB().fit(COUNTED, Y).predict_joint_log_proba(COUNTED),
        sk.BernoulliNB().fit(COUNTED, Y).predict_joint_log_proba(COUNTED),
    ]
    prior = np.log(np.bincount(Y) / len(Y))
    np.testing.assert_allclose(ours, sum(parts) - 3 * prior, rtol=1e-10, atol=1e-10)


def test_the_summary_of_many_columns_and_classes_is_short():
    X, y = np.zeros((40, 200)), np.arange(40)
    text = NaiveBayes().fit(X, y).summary()
    assert len(text.splitlines()) < 60
    assert "150 more" in text
    assert text.splitlines()[0].endswith("and 30 classes more")


def test_a_notebook_shows_the_families_and_is_safe_from_names():
    model = NaiveBayes().fit(TABLE, LABELS)
    html = model._repr_html_()
    for word in ("NaiveBayes", "Gaussian()", "decimal numbers", "status", "5 &#x27;No&#x27;"):
        assert word in html
    for other in (NaiveBayes(), model.forget(TABLE, LABELS)):  # not fitted, or of nothing any more
        assert "NaiveBayes" in other._repr_html_()
    html = NaiveBayes().fit({"<script>alert(1)</script>": ["<b>", "x"]}, ["<i>", "y"])._repr_html_()
    assert "<script>alert" not in html
    assert "<i>" not in html


@pytest.mark.parametrize("names", [("class",), ("y", "class", "label", "target", "")])
def test_columns_may_have_any_name(names):
    table = {name: [1.0, 2.0, 4.0] for name in names}
    model = NaiveBayes().fit(table, ["p", "q", "q"])
    assert model.feature_names_in_.tolist() == list(names)
    assert len(model.sample(2, seed=0)) == len(names) + 1
