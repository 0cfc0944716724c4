"""The values that tell most, against probabilities worked out by hand and by scikit-learn."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import tallybayes as tb
from tallybayes.model import Fitted, InformativeValue, Recipe
from tallybayes.model.informative import most_informative

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 90)
COLOURS = np.array(["red", "green", "blue", "grey"])[
    [RNG.choice(4, p=np.roll([0.6, 0.3, 0.1, 0.0], c)) for c in Y.tolist()]
]
SIZES = np.array(["s", "m", "l"])[RNG.integers(0, 3, 90)]
TABLE = {"colour": COLOURS, "size": SIZES, "weight": RNG.normal(size=90)}


def by_brute_force(y, columns, alpha, places):
    """Return {class: [(column, value, ratio, here, elsewhere)]} of categories, by loops."""
    n = {c: sum(label == c for label in y) for c in places}
    found = {c: [] for c in places}
    for name, column in columns.items():
        values = sorted(set(column))
        for value in values:
            count = {
                c: sum(v == value and k == c for v, k in zip(column, y, strict=True))
                for c in set(y)
            }
            p = {c: (count[c] + alpha) / (n[c] + alpha * len(values)) for c in places}
            for c in places:
                others = [k for k in places if k != c]
                mixed = sum(n[k] * p[k] for k in others) / sum(n[k] for k in others)
                if count[c] and p[c] > mixed:
                    ratio = math.log(p[c] / mixed) if mixed else math.inf
                    rest = sum(count[k] for k in others)
                    found[c].append((name, value, ratio, count[c], rest))
    return {c: sorted(each, key=lambda v: (-v[2], -v[3])) for c, each in found.items()}


def assert_same(got, expected, n):
    assert list(got) == list(expected)
    for label, values in got.items():
        assert all(isinstance(each, InformativeValue) for each in values)
        assert len(values) == min(n, len(expected[label]))
        for mine, theirs in zip(values, expected[label], strict=False):
            assert mine.log_ratio == pytest.approx(theirs[2], rel=1e-10)
        by_value = {each[:2]: each for each in expected[label]}
        for mine in values:
            theirs = by_value[mine[:2]]
            assert mine.log_ratio == pytest.approx(theirs[2], rel=1e-10)
            assert (mine.here, mine.elsewhere) == theirs[3:]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("between", [None, (0, 2), (2, 1)])
@pytest.mark.parametrize("n", [1, 3, 100])
def test_categories_are_weighed_against_the_other_classes_mixed_by_their_shares(alpha, between, n):
    fitted = Fitted(tb.Tally.of(TABLE, Y), Recipe((tb.Categorical(alpha),)))
    places = between or (0, 1, 2)
    columns = {name: TABLE[name].tolist() for name in ("colour", "size")}
    expected = by_brute_force(Y.tolist(), columns, alpha, places)
    assert_same(most_informative(fitted, n, between), expected, n)


def test_one_column_can_be_asked_for():
    fitted = Fitted(tb.Tally.of(TABLE, Y))
    expected = by_brute_force(Y.tolist(), {"size": SIZES.tolist()}, 1.0, (0, 1, 2))
    assert_same(most_informative(fitted, 9, column="size"), expected, 9)


def test_intervals_are_written_with_their_edges():
    x = np.r_[np.full(6, 10.0), np.full(4, 30.0), np.full(10, 70.0)]
    y = np.repeat(["young", "old"], 10)
    fitted = Fitted(tb.Tally.of({"age": x}, y, columns={"age": tb.Bins(edges=(18, 65.5))}))
    got = most_informative(fitted)
    assert [each[:2] for each in got["old"]] == [("age", "(65.5, inf)")]
    assert [each[:2] for each in got["young"]] == [("age", "(-inf, 18]"), ("age", "(18, 65.5]")]
    best = got["young"][0]
    assert best.log_ratio == pytest.approx(math.log((7 / 13) / (1 / 13)))
    assert (best.here, best.elsewhere) == (6.0, 0.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_that_are_on_are_weighed_as_scikit_learn_estimates_them(sparse):
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 2, (80, 6)).astype(float), rng.integers(0, 2, 80)
    peer = BernoulliNB(alpha=0.5).fit(x, y).feature_log_prob_
    X = csr_array(x) if sparse else x
    fitted = Fitted(tb.Tally.of(X, y, columns=tb.Bernoulli()), Recipe((tb.Bernoulli(0.5),)))
    got = most_informative(fitted)
    for c in (0, 1):
        gap = peer[c] - peer[1 - c]
        assert [each.column for each in got[c]] == [
            f"x{j}" for j in np.argsort(-gap, kind="stable") if gap[j] > 0.0
        ]
        for each in got[c]:
            j = int(each.column[1:])
            assert each.value is True
            assert each.log_ratio == pytest.approx(gap[j], rel=1e-10)
            assert each.here == x[y == c, j].sum()
            assert each.elsewhere == x[y != c, j].sum()


@pytest.mark.parametrize("family", [tb.Multinomial(0.5), tb.Complement(0.5)])
@pytest.mark.parametrize("fitted", [True, False])
def test_counts_are_weighed_by_their_shares_of_the_bag(family, fitted):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (60, 7)).astype(float), rng.integers(0, 2, 60)
    peer = MultinomialNB(alpha=0.5).fit(x, y).feature_log_prob_
    made = Fitted(tb.Tally.of(csr_array(x), y, columns=family), Recipe((family,)))
    got = most_informative(made if fitted else made.model)
    for c in (0, 1):
        gap = {f"x{j}": peer[c, j] - peer[1 - c, j] for j in range(7)}
        assert {each.column: each.log_ratio for each in got[c]} == pytest.approx(
            {name: each for name, each in gap.items() if each > 0.0}, rel=1e-9
        )
        for each in got[c]:
            j = int(each.column[1:])
            assert (each.value, each.here) == (1, x[y == c, j].sum())
            assert each.elsewhere == x[y != c, j].sum()


def test_single_counts_of_events_are_not_among_them():
    x = np.array([[4.0, 0.0], [6.0, 1.0], [1.0, 1.0], [1.0, 2.0]])
    fitted = Fitted(
        tb.Tally.of(x, ["a", "a", "b", "b"], columns=tb.Poisson()), Recipe((tb.Poisson(0),))
    )
    with pytest.raises(tb.TallyBayesError, match="no single value tells anything"):
        most_informative(fitted)


def test_a_model_that_was_stated_has_no_counts():
    by_class = {"s": {"a": 3 / 4, "b": 1 / 4}, "h": {"a": 1 / 3, "b": 2 / 3}}
    model = tb.stated({"s": 2 / 3, "h": 1 / 3}, {"x": by_class})
    [best] = most_informative(model)["s"]
    assert best[:2] == ("x", "a")
    assert math.isnan(best.here)
    assert math.isnan(best.elsewhere)
    assert best.log_ratio == pytest.approx(math.log((3 / 4) / (1 / 3)))


def test_smoothing_alone_does_not_make_a_value_speak_for_a_class():
    y = ["few", *["many"] * 50]
    table = {"x": ["a", *["a"] * 25, *["b"] * 24, "c"]}
    got = most_informative(Fitted(tb.Tally.of(table, y)))
    assert "c" not in {each.value for each in got["few"]}


def test_words_come_first_where_there_is_text_and_values_when_their_column_is_named():
    table = {"mail": ["win", "see", "win"], "size": ["s", "l", "s"]}
    fitted = Fitted(tb.Tally.of(table, ["x", "y", "x"], columns={"mail": tb.Words()}))
    assert most_informative(fitted)["x"][0].value == "win"
    assert most_informative(fitted, column="size")["x"][0].value == "s"


def test_estimators_know_the_counts():
    model = tb.NaiveBayes().fit(pd.DataFrame(TABLE), Y)
    expected = by_brute_force(
        Y.tolist(), {name: TABLE[name].tolist() for name in ("colour", "size")}, 1.0, (0, 1, 2)
    )
    assert_same(model.most_informative(4), expected, 4)


def test_a_single_class_has_nothing_to_tell():
    fitted = Fitted(tb.Tally.of({"x": ["a"]}, ["s"]))
    with pytest.raises(tb.TallyBayesError, match="only one class, so no value tells anything"):
        most_informative(fitted)


def test_classes_of_no_prior_are_mixed_evenly():
    table = {"x": ["a"] * 4 + ["b"] * 2 + ["c"] * 2}
    y = ["s"] * 4 + ["h"] * 2 + ["i"] * 2
    prior = tb.Fixed({"s": 1.0, "h": 0.0, "i": 0.0})
    fitted = Fitted(tb.Tally.of(table, y), Recipe(prior=prior))
    [best] = most_informative(fitted)["s"]
    # (4 + 1)/(4 + 3) here; (0 + 1)/(2 + 3) in both others
    assert best.log_ratio == pytest.approx(math.log((5 / 7) / (1 / 5)))
    [of_h] = most_informative(fitted)["h"]
    # all prior is on s, so that h is told from s alone
    assert of_h.log_ratio == pytest.approx(math.log((3 / 5) / (1 / 7)))
