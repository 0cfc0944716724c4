"""Smoothing is (n + alpha) / (N + alpha K), or (n + m p) / (N + m): against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb

CLASSES = ("no", "yes")
COLOURS = ("blue", "green", "red")
COLUMNS = ("colour", "size")
ALPHAS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 2)])

rows = st.lists(
    st.tuples(
        st.sampled_from(CLASSES), st.sampled_from(COLOURS), st.one_of(st.none(), st.integers(0, 3))
    ),
    max_size=12,
).map(lambda more: [("no", "red", 1), ("yes", "blue", 0), *more])
guess = st.fractions(0, 1, max_denominator=6)


def tally_of(rows, values=()):
    labels, *columns = zip(*rows, strict=True)
    kinds = {"colour": tb.Categories(values), "size": tb.Categories()}
    return tb.Tally.of(dict(zip(COLUMNS, columns, strict=True)), labels, columns=kinds)


def tables_of(model):
    """The model's probabilities by column, class and value."""
    out = {}
    for factor in model.factors:
        entries = factor.parameters.entries()
        for unit, value, logs in zip(entries.units, entries.values, entries.log_p, strict=True):
            for label, p in zip(model.classes, np.exp(logs), strict=True):
                out[factor.names[unit], label, value] = p
    return out


def assert_tables(model, rows, estimate):
    """Compare with a function of column, class, value, n, N and K."""
    got, expected = tables_of(model), {}
    for column, name in enumerate(COLUMNS, 1):
        values = {row[column] for row in rows} - {None}
        for c in CLASSES:
            mine = [row[column] for row in rows if row[0] == c and row[column] is not None]
            for v in values:
                p = estimate(name, c, v, mine.count(v), len(mine), len(values))
                if p is None:  # of no rows, and nothing added: the share in all classes together
                    everywhere = [row[column] for row in rows if row[column] is not None]
                    p = Fraction(everywhere.count(v), len(everywhere))
                expected[name, c, v] = float(p)
    assert got == pytest.approx(expected, rel=1e-13, abs=0)


@given(rows, ALPHAS, ALPHAS)
def test_every_column_may_have_an_alpha_of_its_own(rows, first, second):
    alphas = {"colour": first, "size": second}

    def smoothed(name, c, v, n, total, k):
        below = total + alphas[name] * k
        return (n + alphas[name]) / below if below else None

    tally = tally_of(rows)
    one = tb.estimate(tally, tb.Categorical(alpha=(float(first), float(second))))
    families = {name: tb.Categorical(alpha=float(a)) for name, a in alphas.items()}
    for model in (one, tb.estimate(tally, columns=families)):
        assert_tables(model, rows, smoothed)


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
    for family, guessed in (
        (tb.Categorical(m=3, p=stated), lambda name, c, v, n, N, k: (n + 3 * p[c, v]) / (N + 3)),
        (tb.Categorical(m=2.5), lambda name, c, v, n, N, k: (n + Fraction(5, 2 * k)) / (N + 2.5)),
    ):
        assert_tables(tb.estimate(tally_of(rows), family), rows, guessed)


SEEN = [("no", "red", 1), ("no", "blue", 1), ("yes", "red", 0), ("yes", "red", 2)]


@pytest.mark.parametrize(
    ("options", "declared", "shares"),
    [
        ({"alpha": 0.5, "unseen": "smooth"}, (), [0.5 / 3, 0.5 / 3]),  # alpha / (N + alpha K)
        (
            {"m": 2, "p": tb.ByClass({"no": 1 / 4, "yes": 1 / 2}), "unseen": "smooth"},
            (),
            [0.5 / 4, 1 / 4],
        ),
        ({"unseen": "error"}, ("pink",), [1 / 5, 1 / 5]),  # what is declared is not unseen
    ],
)
def test_a_value_never_seen_may_be_smoothed_or_declared(options, declared, shares):
    model = tb.estimate(tally_of(SEEN, declared), tb.Categorical(**options))
    scores = model.scores({"colour": ["pink"], "size": [None]})[0]
    assert scores == pytest.approx(0.5 * np.array(shares), rel=1e-13)


def test_a_value_never_seen_may_be_an_error_that_names_it():
    model = tb.estimate(tally_of(SEEN), tb.Categorical(unseen="error"))
    for ask, message in (
        (lambda: model.scores({"colour": ["red", "reed"], "size": [1, 1]}), r"colour.*'reed'.*red"),
        (lambda: model.posterior({"size": [7], "colour": [None]}), r"size.*7"),
        (lambda: model.posterior_of({"size": 7}), r"size.*7"),
    ):
        with pytest.raises(tb.TallyBayesError, match=message):
            ask()
    assert np.isfinite(model.joint_log_likelihood({"colour": [None], "size": [1]})).all()


SIMPLE = {"x": ["red", "red", "blue"], "y": ["a", "a", "b"]}


def test_declared_values_count_among_the_k_and_observed_ones_vanish_when_forgotten():
    declared = tb.Categories(("red", "green", "blue", "grey"))
    model = tb.NaiveBayes({"x": declared}, prior="uniform").fit({"x": SIMPLE["x"]}, SIMPLE["y"])
    np.testing.assert_allclose(
        model.predict_proba({"x": ["red"]})[0], np.array([3 / 6, 1 / 5]) / (3 / 6 + 1 / 5)
    )
    open_ended = tb.NaiveBayes("categorical", prior="uniform")
    open_ended.fit({"x": [*SIMPLE["x"], "pink"]}, [*SIMPLE["y"], "b"])
    open_ended.forget({"x": ["pink"]}, ["b"])
    np.testing.assert_allclose(
        open_ended.predict_proba({"x": ["red"]})[0], np.array([3 / 4, 1 / 3]) / (3 / 4 + 1 / 3)
    )
