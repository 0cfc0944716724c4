"""Categorical columns against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb

CLASSES = ("no", "yes")
COLOURS = ("blue", "green", "red")
ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)]

rows = st.lists(
    st.tuples(
        st.sampled_from(CLASSES), st.sampled_from(COLOURS), st.one_of(st.none(), st.integers(0, 3))
    ),
    max_size=12,
).map(lambda more: [("no", "red", 1), ("yes", "blue", 0), *more])
guess = st.fractions(0, 1, max_denominator=6)


def tally_of(rows, values=None):
    table = {"colour": [row[1] for row in rows], "size": [row[2] for row in rows]}
    kinds = {"colour": tb.Categories(values or ()), "size": tb.Categories()}
    return tb.Tally.of(table, [row[0] for row in rows], columns=kinds)


def counted(rows, column):
    """Counts by class and value, as integers."""
    seen = sorted({row[column] for row in rows} - {None})
    return seen, {
        (c, v): sum(row[0] == c and row[column] == v for row in rows) for c in CLASSES for v in seen
    }


def tables_of(model):
    """The model's probabilities by column, class and value."""
    out = {}
    for factor in model.factors:
        tables, start = factor.parameters, 0
        p = np.exp(tables.log_probabilities)
        for name, labels in zip(tables.names, tables.labels, strict=True):
            for c, label in enumerate(model.classes):
                out.update({(name, label, v): p[c, start + k].item() for k, v in enumerate(labels)})
            start += len(labels)
    return out


def same(got, expected):
    assert set(got) == set(expected)
    for key, fraction in expected.items():
        assert got[key] == pytest.approx(float(fraction), rel=1e-13, abs=0), key


def exact(rows, estimate):
    """Tables from a function of column, class, value, n, N and K."""
    out = {}
    for column, name in ((1, "colour"), (2, "size")):
        values, n = counted(rows, column)
        for c in CLASSES:
            total = sum(n[c, v] for v in values)
            for v in values:
                out[name, c, v] = estimate(name, c, v, n[c, v], total, len(values))
    return out


def pooled(rows, name, value):
    """The share of a value in all classes together."""
    _, n = counted(rows, {"colour": 1, "size": 2}[name])
    every = sum(n.values())
    return Fraction(sum(n[c, value] for c in CLASSES), every)


@given(rows, st.sampled_from(ALPHAS), st.sampled_from(ALPHAS))
def test_every_column_may_have_an_alpha_of_its_own(rows, first, second):
    alphas = {"colour": first, "size": second}

    def smoothed(name, c, v, n, total, k):
        if total + alphas[name] * k == 0:
            return pooled(rows, name, v)
        return (n + alphas[name]) / (total + alphas[name] * k)

    tally = tally_of(rows)
    one = tb.estimate(tally, tb.Categorical(alpha=(float(first), float(second))))
    families = {name: tb.Categorical(alpha=float(a)) for name, a in alphas.items()}
    two = tb.estimate(tally, columns=families)
    same(tables_of(one), exact(rows, smoothed))
    same(tables_of(two), exact(rows, smoothed))


@given(rows, st.lists(guess, min_size=14, max_size=14), st.sampled_from(["value", "class", "both"]))
def test_the_guess_may_depend_on_value_and_class(rows, numbers, by):
    values = (*COLOURS, 0, 1, 2, 3)
    p = {(c, v): numbers[7 * i + j] for i, c in enumerate(CLASSES) for j, v in enumerate(values)}
    if by != "both":
        p = {(c, v): p["no", v] if by == "value" else p[c, 0] for c, v in p}
    of = {c: tb.ByValue({v: float(p[c, v]) for v in values}) for c in CLASSES}
    stated = {
        "value": of["no"],
        "class": tb.ByClass({c: float(p[c, 0]) for c in CLASSES}),
        "both": tb.ByClass(of),
    }[by]
    expected = exact(rows, lambda name, c, v, n, total, k: (n + 3 * p[c, v]) / (total + 3))
    same(tables_of(tb.estimate(tally_of(rows), tb.Categorical(m=3, p=stated))), expected)
    expected = exact(rows, lambda name, c, v, n, total, k: (n + Fraction(5, 2 * k)) / (total + 2.5))
    same(tables_of(tb.estimate(tally_of(rows), tb.Categorical(m=2.5))), expected)


SEEN = [("no", "red", 1), ("no", "blue", 1), ("yes", "red", 0), ("yes", "red", 2)]


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ({"alpha": 0.5}, [0.5 / 3, 0.5 / 3]),  # alpha / (N + alpha K)
        ({"m": 2, "p": tb.ByClass({"no": 1 / 4, "yes": 1 / 2})}, [0.5 / 4, 1 / 4]),
    ],
)
def test_a_value_never_seen_may_be_smoothed(options, shares):
    model = tb.estimate(tally_of(SEEN), tb.Categorical(**options, unseen="smooth"))
    scores = model.scores({"colour": ["pink"], "size": [None]})[0]
    assert scores == pytest.approx(0.5 * np.array(shares), rel=1e-13)


def test_a_value_never_seen_may_be_an_error_that_names_it():
    model = tb.estimate(tally_of(SEEN), tb.Categorical(unseen="error"))
    with pytest.raises(tb.TallyBayesError, match=r"colour.*'reed'.*red"):
        model.joint_log_likelihood({"colour": ["red", "reed"], "size": [1, 1]})
    for door in (lambda: model.posterior({"size": [7], "colour": [None]}),
                 lambda: model.posterior_of({"size": 7})):  # fmt: skip
        with pytest.raises(tb.TallyBayesError, match=r"size.*7"):
            door()
    assert np.isfinite(model.joint_log_likelihood({"colour": [None], "size": [1]})).all()


def test_a_declared_value_is_not_unseen():
    tally = tally_of(SEEN, ("pink",))
    model = tb.estimate(tally, tb.Categorical(unseen="error"))
    scores = model.scores({"colour": ["pink"], "size": [None]})[0]
    assert scores == pytest.approx([0.5 / 5, 0.5 / 5], rel=1e-13)
