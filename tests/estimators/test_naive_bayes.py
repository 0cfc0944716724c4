"""NaiveBayes answers what naive Bayes is by definition: worked out by hand, and by scikit-learn."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sklearn.naive_bayes as sk
from hypothesis import assume, given, strategies as st
from scipy import stats

import tallybayes as tb
from tallybayes import NaiveBayes

# The lectures' loan table: text, booleans and numbers, with gaps.
LOAN = {
    "owner": [True, False, False, True, False, False, True, False, None, False],
    "status": ["Single", "Married", "Single", "Married", "Divorced",
               "Married", "Divorced", None, "Married", "Single"],
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, None, 85.0, 75.0, 90.0],
}  # fmt: skip
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]


def rows_of(table):
    return list(zip(*table.values(), strict=True))


def table_of(rows, names):
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def by_hand(table, labels, new, weights=None, alpha=1, unseen="ignore"):
    """Log P(c) + sum of log P(x | c), rows down and sorted classes across, in exact fractions.

    Decimal numbers are Gaussian, everything else is categorical; None is missing.
    """
    weights = [Fraction(w) for w in (weights or [1] * len(labels))]
    counted = [
        (row, label, w)
        for row, label, w in zip(rows_of(table), labels, weights, strict=True)
        if w > 0
    ]
    classes = sorted({label for _, label, _ in counted})
    total = sum(w for _, _, w in counted)
    columns = []
    for j in range(len(table)):
        there = [(label, row[j], w) for row, label, w in counted if row[j] is not None]
        decimal = any(isinstance(x, float) for _, x, _ in there)
        columns.append((_bell if decimal else _table)(there, classes, Fraction(alpha), unseen))
    out = []
    for record in rows_of(new):
        out.append([])
        for c in classes:
            share = sum(w for _, label, w in counted if label == c) / total
            score = math.log(share)
            for x, log_factor in zip(record, columns, strict=True):
                score += 0.0 if x is None else log_factor(x, c)
            out[-1].append(score)
    return np.array(out)


def _table(there, classes, alpha, unseen):
    """(n + alpha) / (N + alpha K)."""
    values = {x for _, x, _ in there}

    def log_factor(x, c):
        if not values or (x not in values and unseen == "ignore"):
            return 0.0
        n = sum(w for label, value, w in there if (label, value) == (c, x))
        whole = sum(w for label, _, w in there if label == c)
        if whole + alpha * len(values) == 0:  # the class has no value: take all classes together
            n = sum(w for _, value, w in there if value == x)
            whole = sum(w for _, _, w in there)
        p = Fraction(n + alpha) / (whole + alpha * len(values))
        return math.log(p) if p > 0 else -math.inf

    return log_factor


def _moments(pairs):
    weight = sum(w for _, w in pairs)
    if not weight:
        return weight, Fraction(0), Fraction(0)
    mean = sum(w * Fraction(x) for x, w in pairs) / weight
    return weight, mean, sum(w * (Fraction(x) - mean) ** 2 for x, w in pairs)


def _bell(there, classes, alpha, unseen):
    """The normal density, with variances M2 / (W - 1)."""
    everything = _moments([(x, w) for _, x, w in there])
    of_class = {c: _moments([(x, w) for label, x, w in there if label == c]) for c in classes}
    enough = [(weight, m2) for weight, _, m2 in of_class.values() if weight > 1]
    weight, middle, m2 = everything
    overall = m2 / (weight - 1) if weight > 1 else m2 / weight
    pooled = overall
    if enough:
        pooled = sum(m2 for _, m2 in enough) / sum(weight - 1 for weight, _ in enough)

    def log_factor(x, c):
        if m2 == 0:  # a constant column says nothing
            return 0.0
        own_weight, mean, own_m2 = of_class[c]
        variance = own_m2 / (own_weight - 1) if own_weight > 1 else pooled
        if own_weight == 0:
            mean, variance = middle, overall
        return float(stats.norm.logpdf(float(Fraction(x) - mean), scale=math.sqrt(variance)))

    return log_factor


def agree(ours, expected, tolerance=1e-10):
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


@pytest.fixture
def model():
    return NaiveBayes().fit(LOAN, CHEAT)


WORDS = st.sampled_from(["red", "green", "blue", None])
# Eighths are exact in both arithmetics.
NUMBERS = st.none() | st.integers(-40, 40).map(lambda n: n / 8)
CELLS = st.tuples(NUMBERS, WORDS, NUMBERS, st.sampled_from([True, False, None]))
WEIGHTS = st.sampled_from([0, 1, 2, 3, 0.5, 1.25])
NAMES = ("height", "colour", "width", "on")
KINDS = {"height": "gaussian", "colour": "categorical", "width": "gaussian", "on": "categorical"}


def without_equal_values(column, labels, weights):
    """Leave out numbers that do not differ within a class: what then keeps a variance from zero is
    a family's floor, with tests of its own."""
    rows = list(zip(labels, weights, column, strict=True))
    for c in set(labels):
        there = [(x, w) for label, w, x in rows if label == c and w and x is not None]
        if len({x for x, _ in there}) == 1 and sum(w for _, w in there) > 1:
            column[:] = [None if label == c else x for label, _, x in rows]
            rows = list(zip(labels, weights, column, strict=True))


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), WEIGHTS, CELLS), min_size=1),
    new=st.lists(CELLS, min_size=1, max_size=5),
    alpha=st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3)]),
    unseen=st.sampled_from(["ignore", "smooth"]),
    weighted=st.booleans(),
)
def test_any_table(rows, new, alpha, unseen, weighted):
    labels = [label for label, _, _ in rows]
    weights = [weight for _, weight, _ in rows] if weighted else None
    assume(not weighted or any(weights))
    table = table_of([cells for _, _, cells in rows], NAMES)
    for name in ("height", "width"):
        without_equal_values(table[name], labels, weights or [1] * len(rows))
    records = table_of(new, NAMES)
    expected = by_hand(table, labels, records, weights, alpha, unseen=unseen)
    model = NaiveBayes(KINDS, alpha=float(alpha), unseen=unseen).fit(table, labels, weights)
    agree(model.predict_joint_log_proba(records), expected, 1e-8)


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
    agree(ours, sum(parts) - 3 * prior)


def test_the_summary_of_many_columns_and_classes_is_short():
    X, y = np.zeros((40, 200)), np.arange(40)
    text = NaiveBayes().fit(X, y).summary()
    assert len(text.splitlines()) < 60
    assert "150 more" in text
    assert text.splitlines()[0].endswith("and 30 classes more")


def test_a_notebook_shows_the_families_and_is_safe_from_names(model):
    html = model._repr_html_()
    for word in ("NaiveBayes", "Gaussian()", "decimal numbers", "status", "7 &#x27;No&#x27;"):
        assert word in html
    for other in (NaiveBayes(), model.forget(LOAN, CHEAT)):  # not fitted, or of nothing any more
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
