"""Dependence given the class, against scipy, plain loops and columns made to depend."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2, chi2_contingency, norm, rankdata

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.validation.diagnosis import dependence as module
from tallybayes.validation.diagnosis import pair_sums
from tallybayes.validation.diagnosis.dependence import dependence
from tallybayes.validation.diagnosis.diagnosis import diagnose
from tallybayes.validation.diagnosis.few_codes import few_codes
from tallybayes.validation.diagnosis.information import information
from tallybayes.validation.diagnosis.rows import Rows

CATEGORIES = tb.Categorical()


def pairs_of(X, y, w=None, columns=None):
    fitted = Fitted(tb.Tally.of(X, y, w, columns=columns))
    rows = Rows.of(fitted, X, y, w, 10**9, 0)
    return dependence(rows, information(rows))


def strengths(X, y, w=None, columns=None):
    found = pairs_of(X, y, w, columns)[0]
    return {frozenset((pair.a, pair.b)): pair for pair in found}


def entropy(counts):
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts if n)


def by_loops(a, b, y):
    """Return the strength, the information and the p-value of two columns of categories."""
    gain = own_a = own_b = 0.0
    freedom, g, n = 0, 0.0, len(y)
    for c in set(y):
        rows = [i for i in range(n) if y[i] == c]
        of_a, of_b = Counter(a[i] for i in rows), Counter(b[i] for i in rows)
        both = Counter((a[i], b[i]) for i in rows)
        gain += len(rows) * (entropy(of_a.values()) + entropy(of_b.values()))
        gain -= len(rows) * entropy(both.values())
        own_a += len(rows) * entropy(of_a.values())
        own_b += len(rows) * entropy(of_b.values())
        freedom += (len(of_a) - 1) * (len(of_b) - 1)
        table = pd.crosstab(np.array([a[i] for i in rows]), np.array([b[i] for i in rows]))
        g += chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    nats = (gain - freedom / 2) / n
    most = min(own_a, own_b) / n
    strength = math.sqrt((1 - math.exp(-2 * nats)) / (1 - math.exp(-2 * most)))
    return strength, nats, chi2.sf(g, freedom)


@pytest.mark.parametrize("at_once", [97, 4096])
@pytest.mark.parametrize("gaps", [False, True])
def test_categories_are_compared_as_plain_loops_compare_them(gaps, at_once, monkeypatch):
    monkeypatch.setattr(pair_sums, "ROWS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    n = 1500
    y = rng.integers(0, 2, n)
    a = rng.integers(0, 4, n)
    b = np.where(rng.random(n) < 0.6, (a + y) % 3, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.6, b, rng.integers(0, 3, n))
    X = {
        name: np.array([f"{name}{v}" for v in each], object)
        for name, each in {"a": a, "b": b, "c": c}.items()
    }
    there = np.ones(n, bool)
    if gaps:
        X["a"][rng.random(n) < 0.2] = None
        X["b"][rng.random(n) < 0.3] = None
        there = pd.notna(X["a"]) & pd.notna(X["b"])
    found = strengths(X, y)
    pair = found[frozenset("ab")]
    strength, nats, p = by_loops(X["a"][there].tolist(), X["b"][there].tolist(), y[there].tolist())
    assert pair.rows == there.sum()
    assert pair.nats == pytest.approx(nats, rel=1e-9)
    assert pair.strength == pytest.approx(strength, rel=1e-9)
    # the smallest of three p-values is tripled, the next doubled
    ratios = [pair.p / p] if p > 1e-300 else []
    assert all(any(r == pytest.approx(k, rel=1e-6) for k in (1, 2, 3)) for r in ratios)


def test_the_p_value_of_a_single_pair_is_that_of_the_g_test():
    rng = np.random.default_rng(9)
    y, a = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    b = np.where(rng.random(400) < 0.45, a, rng.integers(0, 3, 400))
    X = {"a": a.astype(str), "b": b.astype(str)}
    pair = strengths(X, y)[frozenset("ab")]
    strength, _, p = by_loops(X["a"].tolist(), X["b"].tolist(), y.tolist())
    assert pair.p == pytest.approx(p, rel=1e-6)
    assert pair.strength == pytest.approx(strength, rel=1e-9)


@pytest.mark.parametrize("r", [-0.9, 0.4, 0.75, 0.95])
def test_normal_columns_are_as_strong_as_their_correlation_within_the_classes(r):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 6000)
    z = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], 6000)
    # means far apart would make any two columns correlated over all rows
    X = {"a": z[:, 0] + 5 * y, "b": (z[:, 1] - 7 * y) * (1 + y)}
    pair = strengths(X, y)[frozenset("ab")]
    assert pair.strength == pytest.approx(abs(r), abs=0.03)
    assert pair.p < 1e-12


def test_columns_that_depend_on_each_other_through_the_class_only_are_independent_given_it():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2000)
    X = {
        "a": rng.normal(4 * y, 1.0),
        "b": rng.normal(-4 * y, 1.0),
        "c": np.where(rng.random(2000) < 0.9, y, 1 - y).astype(str),
    }
    assert abs(np.corrcoef(X["a"], X["b"])[0, 1]) > 0.7
    assert strengths(X, y) == {}


def test_dependence_that_only_the_class_brings_to_light_is_seen():
    rng = np.random.default_rng(3)
    y, a = rng.integers(0, 2, 1000), rng.integers(0, 2, 1000)
    X = {"a": a.astype(str), "b": (a ^ y).astype(str)}  # independent of each other over all rows
    pair = strengths(X, y)[frozenset("ab")]
    assert pair.strength == pytest.approx(1.0, abs=0.01)


def test_numbers_that_depend_without_being_correlated_are_seen():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=4000), rng.integers(0, 2, 4000)
    pair = strengths({"x": x, "square": x * x}, y)[frozenset(("x", "square"))]
    assert pair.strength > 0.85


def test_integers_in_a_matrix_may_be_any_categories():
    rng = np.random.default_rng(16)
    y, a = rng.integers(0, 2, 500), rng.integers(-2, 2, 500)
    b = np.where(rng.random(500) < 0.8, -a, rng.integers(-2, 2, 500))
    pair = strengths(np.column_stack([a, b]), y, columns=CATEGORIES)[frozenset(("x0", "x1"))]
    strength, nats, _ = by_loops(a.tolist(), b.tolist(), y.tolist())
    assert pair.strength == pytest.approx(strength, rel=1e-9)
    assert pair.nats == pytest.approx(nats, rel=1e-9)
    assert pair.rows == 500


COPIES = {
    "numbers": (lambda rng: rng.normal(size=400), None),
    "skewed numbers": (lambda rng: rng.lognormal(0, 2, 400), None),
    "categories": (lambda rng: rng.choice(list("abcde"), 400), None),
    "a rare yes": (lambda rng: (rng.random(400) < 0.08).astype(str), None),
    "many categories": (lambda rng: rng.integers(0, 40, 400).astype(str), None),
    "counts": (lambda rng: rng.poisson(1.0, 400).astype(float), tb.Poisson()),
    "on or off": (lambda rng: (rng.random(400) < 0.3).astype(float), tb.Bernoulli()),
    "intervals": (lambda rng: rng.normal(size=400), tb.Bins(edges=(-1.0, 0.0, 1.0))),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_of_a_column_is_as_strong_as_can_be(kind):
    rng = np.random.default_rng(5)
    make, family = COPIES[kind]
    y, a = rng.integers(0, 2, 400), make(rng)
    columns = None if family is None else dict.fromkeys(("a", "b", "c"), family)
    found = strengths({"a": a, "b": a.copy(), "c": make(rng)}, y, columns=columns)
    assert list(found) == [frozenset("ab")]
    assert 0.9 < found[frozenset("ab")].strength <= 1.0


def test_copied_texts_are_seen():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 300)
    words = np.array([f"word{k}" for k in range(40)])
    lean = rng.dirichlet(np.full(40, 0.5), 2)
    texts, others = (
        [" ".join(rng.choice(words, 8, p=lean[c])) for c in y.tolist()] for _ in range(2)
    )
    X = {"subject": texts, "body": [f"{text} ." for text in texts], "other": others}
    found = strengths(X, y, columns=dict.fromkeys(X, tb.Words()))
    assert list(found) == [frozenset(("subject", "body"))]
    assert found[frozenset(("subject", "body"))].strength > 0.95


def test_a_missing_text_has_no_part():
    rng = np.random.default_rng(19)
    y = rng.integers(0, 2, 300)
    texts = np.array([f"{'win' if c else 'see'} {rng.choice(list('abcdef'))}x" for c in y], object)
    gaps = texts.copy()
    gaps[:100] = None
    X = {"subject": gaps, "body": texts}
    found = strengths(X, y, columns=dict.fromkeys(X, tb.Words()))
    assert found[frozenset(X)].rows == 200


def test_words_that_occur_together_are_seen_in_a_sparse_matrix():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 600)
    x = (rng.random((600, 300)) < 0.05 + 0.2 * y[:, None]).astype(float)
    x[:, 17] = x[:, 4]
    found, notes = pairs_of(csr_array(x), y)
    assert [(pair.a, pair.b) for pair in found] == [("x4", "x17")]
    assert notes == ("only the 200 columns that say most were compared with each other",)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [60, 300, 3000])
def test_independent_columns_are_not_listed(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = {
        **{f"number{k}": rng.normal(0.5 * k * y, 1.0) for k in range(6)},
        **{f"skewed{k}": rng.lognormal(0, 1.5, n) for k in range(4)},
        **{f"word{k}": rng.choice(list("abcdefghij"), n, p=[0.4] + [1 / 15] * 9) for k in range(6)},
        **{f"rare{k}": rng.choice(["no", "yes"], n, p=[0.93, 0.07]) for k in range(4)},
    }
    assert pairs_of(X, y)[0] == ()


def test_ten_rows_prove_nothing():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=10), np.arange(10) % 2
    X = {"a": x, "b": x, "c": (x > 0).astype(str), "d": (x > 0).astype(str)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y)
    assert found.dependence == ()
    assert found.warnings == ()
    assert "no class has the 20 rows that it takes to see dependence" in found.notes


def test_classes_of_few_rows_are_left_out_and_named_in_number():
    rng = np.random.default_rng(10)
    y = np.r_[np.zeros(100, int), np.ones(100, int), np.full(5, 2)]
    X = {"a": rng.normal(size=205), "b": rng.normal(size=205)}
    X["b"][200:] = X["a"][200:]
    found, notes = pairs_of(X, y)
    assert found == ()
    assert notes == ("1 class has too few rows to see dependence in",)


@pytest.mark.parametrize(("most", "pairs"), [(1, 0), (2, 1)])
def test_of_very_many_classes_the_most_frequent_are_looked_into(monkeypatch, most, pairs):
    monkeypatch.setattr(module, "MOST_CLASSES", most)
    rng = np.random.default_rng(18)
    y = np.repeat([0, 1], [90, 110])
    a = rng.normal(size=200)
    X = {"a": a, "b": np.where(y == 1, rng.normal(size=200), a)}
    found, notes = pairs_of(X, y)
    assert len(found) == pairs
    said = "dependence was measured in the 1 most frequent classes"
    assert notes == ((said,) if most == 1 else ())


def test_of_very_many_columns_those_that_say_most_are_compared(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    rng = np.random.default_rng(21)
    y = rng.integers(0, 2, 400)
    loud, noise = rng.normal(2 * y, 1.0), rng.normal(size=400)
    X = {"a": noise, "b": noise, "c": loud, "d": loud, "e": rng.normal(y, 1.0)}
    found, notes = pairs_of(X, y)
    assert [{pair.a, pair.b} for pair in found] == [{"c", "d"}]
    assert notes == ("only the 3 columns that say most were compared with each other",)


def table_of(a, b, w):
    """Return the weights of two columns' values, added up by plain loops."""
    table = Counter()
    for one, other, weight in zip(a.tolist(), b.tolist(), w.tolist(), strict=True):
        table[one, other] += weight
    rows, columns = (sorted({key[k] for key in table}) for k in (0, 1))
    return np.array([[table[row, column] for column in columns] for row in rows])


def test_weights_make_tables_of_the_effective_number_of_rows_of_each_class():
    rng = np.random.default_rng(11)
    y, w = rng.integers(0, 2, 300), rng.integers(0, 4, 300)
    c = rng.integers(0, 3, 300).astype(str)
    d = np.where(rng.random(300) < 0.5, c, "0")
    gain = freedom = rows = 0.0
    for label in (0, 1):
        here = (y == label) & (w > 0)
        weight = w[here].astype(float)
        n = weight.sum() ** 2 / (weight**2).sum()
        table = table_of(c[here], d[here], weight * n / weight.sum())
        result = chi2_contingency(table, correction=False, lambda_="log-likelihood")
        gain, freedom, rows = gain + result.statistic, freedom + result.dof, rows + n
    (pair,) = strengths({"c": c, "d": d}, y, w).values()
    assert pair.p == pytest.approx(chi2.sf(gain, freedom), rel=1e-6)
    assert pair.nats == pytest.approx((gain - freedom) / 2 / rows, rel=1e-9)
    assert pair.rows == (w > 0).sum()


def test_columns_are_not_compared_by_rows_that_hardly_count():
    rng = np.random.default_rng(23)
    y, a = np.zeros(400, int), rng.normal(size=400)
    y[:2] = 1
    b = np.where(np.arange(400) < 370, np.nan, a)
    assert len(strengths({"a": a, "b": b}, y)) == 1
    assert strengths({"a": a, "b": b}, y, np.where(np.isnan(b), 1.0, 0.01)) == {}


def test_scores_of_weighted_numbers_are_those_of_repeated_ones():
    rng = np.random.default_rng(11)
    w = rng.integers(1, 4, 300)
    y, a = np.zeros(300, int), rng.normal(size=300)
    b = a + rng.normal(0, 0.2, 300)
    y[:3] = 1
    (pair,) = strengths({"a": a, "b": b}, y, w).values()
    often = w[3:].sum()
    scores = [norm.ppf((rankdata(x[3:].repeat(w[3:])) - 0.5) / often) for x in (a, b)]
    assert pair.strength == pytest.approx(np.corrcoef(*scores)[0, 1], rel=1e-9)
    assert pair.rows == 297


@pytest.mark.parametrize("unit", [1 / 400, 1000.0])
def test_weights_that_are_equal_within_each_class_change_nothing(unit):
    rng = np.random.default_rng(22)
    y = np.r_[np.zeros(380, int), np.ones(20, int)]
    X = {name: rng.normal(y, 1.0) for name in "abcd"}
    X["e"] = X["a"] + rng.normal(0, 0.7, 400)
    balanced = unit * np.where(y == 1, 10.0, 0.5)
    found, notes = pairs_of(X, y, balanced)
    expected, same_notes = pairs_of(X, y)
    assert [(pair.a, pair.b) for pair in expected] in ([("a", "e")], [("e", "a")])
    assert [(each.strength, each.nats, each.p) for each in found] == [
        (each.strength, each.nats, each.p) for each in expected
    ]
    assert notes == same_notes


@pytest.mark.parametrize("seed", range(5))
def test_heavy_rows_do_not_make_independent_columns_depend(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = {f"x{k}": rng.normal(y, 1.0) for k in range(4)}
    assert strengths(X, y, np.full(60, 1000.0)) == {}
    assert strengths(X, y, rng.choice([500.0, 1000.0, 3000.0], 60)) == {}
    few = np.where(np.arange(60) < 6, 1e6, 1.0)  # three of each class
    found, notes = pairs_of(X, y, few)
    assert found == ()
    assert notes == ("no class has the 20 rows that it takes to see dependence",)


def test_rows_without_one_of_the_values_have_no_part():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 800)
    a = rng.normal(size=800)
    b = a + rng.normal(0, 0.5, 800)
    a[:300], b[700:] = np.nan, np.nan
    both = slice(300, 700)
    gaps = strengths({"a": a, "b": b}, y)[frozenset("ab")]
    whole = strengths({"a": a[both], "b": b[both]}, y[both])[frozenset("ab")]
    assert gaps.rows == whole.rows == 400
    assert gaps.strength == pytest.approx(whole.strength, abs=0.01)


@pytest.mark.parametrize("gaps", [False, True])
def test_numbers_are_also_compared_by_their_normal_scores_within_the_classes(gaps):
    rng = np.random.default_rng(20)
    y = rng.integers(0, 2, 120)
    a = rng.lognormal(3 * y, 1.0)
    b = np.log(a) * (1 - 3 * y) + rng.normal(0, 0.1, 120)
    b *= 1 - 2 * y  # the same direction in both classes
    if gaps:  # where the other is small, so that what is left is not centred
        low = [a < np.quantile(a[y == c], 0.3) for c in (0, 1)]
        high = [b > np.quantile(b[y == c], 0.8) for c in (0, 1)]
        b[np.where(y, low[1], low[0])] = np.nan
        a[np.where(y, high[1], high[0])] = np.nan
    scores = {}
    for name, x in {"a": a, "b": b}.items():
        scores[name] = np.full(120, np.nan)
        for c in (0, 1):
            here = (y == c) & ~np.isnan(x)
            scores[name][here] = norm.ppf((rankdata(x[here]) - 0.5) / here.sum())
    both = ~np.isnan(scores["a"]) & ~np.isnan(scores["b"])
    pairs = pd.DataFrame(scores)[both]
    centred = pairs - pairs.groupby(y[both]).transform("mean")
    r = centred["a"] @ centred["b"] / np.sqrt((centred**2).sum().prod())
    pair = strengths({"a": a, "b": b}, y)[frozenset("ab")]
    assert pair.rows == both.sum()
    assert pair.strength == pytest.approx(r, rel=1e-9)
    assert pair.nats == pytest.approx(-0.5 * math.log(1 - r * r), rel=1e-9)


@pytest.mark.parametrize("most", [2, 5, 8, 20])
def test_numbers_are_cut_into_cells_of_equally_many_rows(most):
    x = np.random.default_rng(13).permutation(997).astype(float)
    codes, scores = few_codes(x, np.ones(997), True, most)
    expected = pd.qcut(x, min(most, 8), labels=False)
    assert (codes != expected).mean() < 0.01  # a row beside an edge
    assert np.ptp(np.bincount(codes)) <= 2
    assert np.array_equal(np.argsort(scores), np.argsort(x))
    assert scores.std() == pytest.approx(1.0, abs=0.01)


def test_equal_numbers_share_a_cell():
    x = np.r_[np.zeros(90), np.arange(1.0, 11.0)]
    codes, _ = few_codes(x, np.ones(100), True, 8)
    assert set(codes[:90].tolist()) == {0}
    assert sorted(set(codes.tolist())) == list(range(len(set(codes.tolist()))))


def test_rare_categories_are_put_together():
    values = np.r_[np.zeros(50, int), np.ones(30, int), np.arange(2, 22)]
    codes, _ = few_codes(values, np.ones(100), False, 3)
    assert Counter(codes.tolist()) == {0: 50, 1: 30, 2: 20}


def test_only_pairs_of_columns_that_say_something_are_warned_of():
    rng = np.random.default_rng(14)
    y = rng.integers(0, 2, 1000)
    telling, noise = rng.normal(2 * y, 1.0), rng.normal(size=1000)
    X = {"a": telling, "b": telling * 2 + 1, "c": noise, "d": -noise}
    fitted = Fitted(tb.Tally.of(X, y))
    found = diagnose(fitted, X, y)
    assert {frozenset((pair.a, pair.b)) for pair in found.dependence} == {
        frozenset("ab"), frozenset("cd")
    }  # fmt: skip
    (warning,) = found.warnings
    assert warning.startswith("'a' and 'b' say the same thing twice: given the class they depend ")
    assert "as strongly as a correlation of 1.00 does" in warning
    assert warning.endswith('drop one of them, or use calibration="weights"')


def test_groups_of_columns_are_warned_of_together_and_pairs_between_groups_named():
    rng = np.random.default_rng(15)
    y = rng.integers(0, 2, 4000)
    a = rng.normal(2 * y, 1.0)

    def near(x, noise):
        return x + rng.normal(0, noise, 4000)

    far = near(a, 0.9)
    X = {"z": a, "b": near(a, 0.1), "c": near(a, 0.1), "far": far, "farther": near(far, 0.6)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y)
    first, second, third = found.warnings
    assert first.startswith("'z', ")
    assert "say the same thing 3 times: given the class any two of them" in first
    assert first.endswith("keep one of them ('z' tells most), or use calibration=\"weights\"")
    assert "'far' and 'farther' say the same thing twice" in second
    assert third.startswith("further pairs depend on each other, given the class: 'z' and 'far' (")
    # within a class far has the variance 1 + .9^2
    strength = {frozenset((pair.a, pair.b)): pair.strength for pair in found.dependence}
    assert strength[frozenset(("z", "far"))] == pytest.approx(1 / math.sqrt(1 + 0.9**2), abs=0.02)


@pytest.mark.parametrize(
    ("copies", "last"), [(10, None), (11, "1 more group"), (13, "3 more groups")]
)
def test_many_groups_are_counted_rather_than_named(copies, last):
    rng = np.random.default_rng(17)
    y = rng.integers(0, 2, 400)
    columns = [rng.normal(2 * y, 1.0) for _ in range(copies)]
    X = {f"{name}{k}": x for k, x in enumerate(columns) for name in "ab"}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y).warnings
    assert sum("say the same thing twice" in each for each in found) == 10
    more = [f"{last} of columns repeat each other like that"] if last else []
    assert list(found[10:]) == more


def test_long_documents_have_more_of_everything_which_is_no_dependence():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 400)
    shares = rng.dirichlet(np.full(30, 3.0), 2)
    x = np.array([rng.multinomial(rng.integers(5, 200), shares[int(c == "a")]) for c in y])
    found = tb.MultinomialNB().fit(x, y).diagnose(x, y).dependence
    assert all(pair.strength < 0.4 for pair in found)
    twice = np.hstack([x, x[:, :1]])
    found = tb.MultinomialNB().fit(twice, y).diagnose(twice, y).dependence
    assert [{pair.a, pair.b} for pair in found if pair.warned] == [{"x0", "x30"}]


def test_columns_that_few_rows_have_both_of_are_not_compared():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 400)
    rare = {
        f"c{j}": np.where(rng.random(400) < 0.93, np.nan, rng.normal(size=400) + (y == "a"))
        for j in range(12)
    }
    assert not tb.NaiveBayes().fit(rare, y).diagnose(rare, y).dependence
