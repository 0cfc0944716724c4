"""(n + alpha) / (N + alpha K), or (n + m p) / (N + m): exactly, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tallybayes as tb
from oracles import class_shares, counted, m_estimate, posterior, share_of_value

COLOURS = ("red", "green", "blue")
VALUES = st.sampled_from([*COLOURS, None])
ROWS = st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=12)
SEEN = {"x": ["red", "red", "blue"], "y": ["a", "a", "b"]}


def table(rows):
    return {name: [row[k] for row in rows] for k, name in enumerate(("first", "second"))}


def labels_of(draw, n):
    return draw.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))


def assert_posteriors(model, rows, expected):
    """Check the posteriors of rows against fractions."""
    found = model.predict_proba(table(rows))
    exact = [[float(part) for part in expected(row).values()] for row in rows]
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-300)


@given(rows=ROWS, alpha=st.sampled_from(["1", "1/2", "0.001", "7"]), data=st.data())
def test_alpha_is_added_to_every_count(rows, alpha, data):
    labels = labels_of(data, len(rows))
    assume(all(any(row[k] for row in rows) for k in (0, 1)))  # a value in each column
    known = counted(rows, labels)
    model = tb.NaiveBayes("categorical", alpha=float(Fraction(alpha))).fit(table(rows), labels)

    def likelihood(label, column, value):
        return share_of_value(known, label, column, value, alpha)

    assert_posteriors(model, rows, lambda row: posterior(class_shares(known), likelihood, row))


@given(rows=ROWS, m=st.integers(1, 5), p=st.sampled_from(["1/3", "1/10", "3/4"]), data=st.data())
def test_the_m_estimate_draws_to_a_guess_that_need_not_add_up_to_one(rows, m, p, data):
    labels = labels_of(data, len(rows))
    assume(all(any(row[k] for row in rows) for k in (0, 1)))
    known = counted(rows, labels)
    family = tb.Categorical(m=m, p=float(Fraction(p)))
    model = tb.NaiveBayes(family).fit(table(rows), labels)

    def likelihood(label, column, value):
        return m_estimate(known, label, column, value, m, p)

    assert_posteriors(model, rows, lambda row: posterior(class_shares(known), likelihood, row))


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (tb.ByValue({"red": 0.7, "blue": 0.3}), {"a": (2 + 2 * 0.7) / 4, "b": 2 * 0.7 / 3}),
        (tb.ByClass({"a": 0.1, "b": 0.9}), {"a": (2 + 2 * 0.1) / 4, "b": 2 * 0.9 / 3}),
        (
            tb.ByClass({"a": tb.ByValue({"red": 0.2, "blue": 0.8}), "b": 0.5}),
            {"a": (2 + 2 * 0.2) / 4, "b": 2 * 0.5 / 3},
        ),
    ],
    ids=["by value", "by class", "by both"],
)
def test_guesses_may_differ_by_value_and_by_class(p, expected):
    model = tb.NaiveBayes({"x": tb.Categorical(m=2, p=p)}, prior="uniform")
    found = model.fit({"x": SEEN["x"]}, SEEN["y"]).predict_proba({"x": ["red"]})[0]
    total = sum(expected.values())
    np.testing.assert_allclose(found, [part / total for part in expected.values()], rtol=1e-12)


def test_declared_values_count_among_the_k_and_observed_ones_vanish_when_forgotten():
    declared = tb.Categories(("red", "green", "blue", "grey"))
    model = tb.NaiveBayes({"x": declared}, prior="uniform").fit({"x": SEEN["x"]}, SEEN["y"])
    np.testing.assert_allclose(
        model.predict_proba({"x": ["red"]})[0], np.array([3 / 6, 1 / 5]) / (3 / 6 + 1 / 5)
    )
    open_ended = tb.NaiveBayes("categorical", prior="uniform")
    open_ended.fit({"x": [*SEEN["x"], "pink"]}, [*SEEN["y"], "b"])
    open_ended.forget({"x": ["pink"]}, ["b"])
    np.testing.assert_allclose(
        open_ended.predict_proba({"x": ["red"]})[0], np.array([3 / 4, 1 / 3]) / (3 / 4 + 1 / 3)
    )


def test_no_smoothing_is_maximum_likelihood_with_real_zeros():
    model = tb.NaiveBayes("categorical", alpha=0).fit({"x": SEEN["x"]}, SEEN["y"])
    assert model.predict_proba({"x": ["red", "blue"]}).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@given(
    counts=st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=8),
    alpha=st.sampled_from(["1", "1/2", "3"]),
)
def test_counts_of_words_are_smoothed_alike(counts, alpha):
    labels = [("a", "b")[k % 2] for k in range(len(counts))]
    model = tb.NaiveBayes("multinomial", alpha=float(Fraction(alpha))).fit(np.array(counts), labels)
    prior = class_shares(counted(counts, labels))
    for row, found in zip(counts, model.predict_proba(np.array(counts)), strict=True):
        joint = {}
        for label, share in prior.items():
            own = [c for c, other in zip(counts, labels, strict=True) if other == label]
            below = sum(map(sum, own)) + Fraction(alpha) * 3
            parts = [(sum(c[j] for c in own) + Fraction(alpha)) / below for j in range(3)]
            joint[label] = share * np.prod([p**x for p, x in zip(parts, row, strict=True)])
        exact = [float(part / sum(joint.values())) for part in joint.values()]
        np.testing.assert_allclose(found, exact, rtol=1e-11)
