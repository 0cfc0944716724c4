"""A diagnosis: what columns tell, repeat and look like, against scikit-learn, scipy and loops."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import mutual_info_score

import tallybayes as tb
from nearness import near
from tallybayes.evidence import diagnose
from tallybayes.model import Fitted, Recipe
from tallybayes.sources import as_source
from validation.registry import CLASSES, SETTINGS

RNG = np.random.default_rng(0)
N = 300
SEED = 2
Y = RNG.choice(["ham", "spam"], N)
TABLE = pd.DataFrame(
    {
        "length": RNG.normal(np.where(Y == "spam", 2.0, 0.0), 1.0),
        "colour": RNG.choice(["red", "green", None], N),
        "mail": np.where(RNG.random(N) < 0.8, np.where(Y == "spam", "win now", "see you"), None),
        "hits": RNG.poisson(1.0, N).astype(float),
    }
)
COLUMNS = {"mail": "text", "hits": "poisson"}


@pytest.fixture(scope="module")
def model():
    return tb.NaiveBayes(COLUMNS).fit(TABLE, Y)


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    return X, y, diagnose(tb.NaiveBayes().fit(X, y), X, y)


def fitted_on(table, y, *families):
    return Fitted(tb.Tally.of(table, y), Recipe(families))


def told(fitted, X, y, w=None):
    return {each.column: each for each in diagnose(fitted, X, y, w).information}


# What columns tell


def by_brute_force(model, columns, setting, rows):
    """Ask the model about records that have the values of one unit only, one by one."""
    weight = {c: sum(w for label, w, _ in rows if label == c) for c in model.classes}
    total = sum(weight.values())
    bits = []
    for label, w, cells in rows:
        if w == 0.0:
            continue
        record = {name: cells[setting.names.index(name)] for name in columns}
        terms = model.joint_log_likelihood([record])[0] - model.log_prior
        own = math.exp(terms[model.classes.index(label)])
        mixed = sum(
            weight[c] / total * math.exp(t) for c, t in zip(model.classes, terms, strict=True)
        )
        bits.append((math.log2(own / mixed) if own else (-math.inf if mixed else 0.0), w))
    mean = sum(term * w for term, w in bits) / total
    return mean, math.sqrt(sum((w * (term - mean)) ** 2 for term, w in bits)) / total


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_every_family_tells_what_its_own_factor_says_of_each_row(setting):
    rows = setting.examples(12)
    X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
    w = [w for _, w, _ in rows]
    tally = tb.Tally.of(X, y, w, schema=setting.schema).with_classes(CLASSES)
    fitted = Fitted(tally, Recipe(setting.families, setting.columns))
    found = told(fitted, X, y, w)
    units = {}
    for factor in fitted.model.factors:
        joint = factor.title in found
        units |= {factor.title: factor.names} if joint else {n: (n,) for n in factor.names}
    assert set(found) == set(units)
    for name, columns in units.items():
        bits, error = by_brute_force(fitted.model, columns, setting, rows)
        assert found[name].bits == pytest.approx(bits, rel=1e-9, abs=1e-12), name
        assert found[name].error == pytest.approx(error, rel=1e-6, abs=1e-8, nan_ok=True), name


@pytest.mark.parametrize("n_classes", [2, 3])
def test_unsmoothed_frequencies_tell_the_mutual_information_with_the_class(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 300)
    table = {
        "dependent": np.array(list("abcd"))[(y + rng.integers(0, 3, 300)) % 4],
        "noise": np.array(list("xyz"))[rng.integers(0, 3, 300)],
        "copy": np.array(["one", "two", "three"])[y],
    }
    found = told(fitted_on(table, y, tb.Categorical(alpha=0)), table, y)
    for name, column in table.items():
        assert found[name].bits == pytest.approx(mutual_info_score(y, column) / math.log(2))
        assert found[name].rows == 300
    assert found["copy"].share == pytest.approx(1.0, abs=1e-12)


def test_columns_come_in_the_order_of_what_they_tell_and_equals_as_they_stand():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 500)
    X = {f"x{k}": rng.normal(k * y, 1.0) for k in (0, 2, 1, 3)}
    X |= {f"like {k}": X["x3"] * (k + 0.1) + 3.3 * k for k in range(4)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y).information
    equal = ["x3", *(f"like {k}" for k in range(4))]
    assert [each.column for each in found] == [*equal, "x2", "x1", "x0"]


def test_a_column_that_is_wrong_about_new_rows_tells_less_than_nothing():
    X, y = {"x": ["a", "b"] * 20}, ["s", "h"] * 20
    fitted = Fitted(tb.Tally.of(X, y))
    found = diagnose(fitted, X, ["h", "s"] * 20)
    assert found.information[0].bits < -1.0
    assert found.information[0].is_misleading
    assert (
        "worse than no column at all: it is too sure of itself; use another family"
        in found.warnings[0]
    )
    assert "drop" not in found.warnings[0]  # the only column
    assert not told(fitted, X, y)["x"].is_misleading


def test_what_no_smoothing_made_impossible_tells_minus_infinity():
    fitted = fitted_on({"x": ["a", "b"] * 9}, ["s", "h"] * 9, tb.Categorical(0))
    found = diagnose(fitted, {"x": ["a", "a", "b"]}, ["s", "h", "h"])
    assert found.information[0].bits == -math.inf
    assert found.information[0].assigns_zero
    assert found.to_dict()["information"][0]["bits"] == "-inf"
    assert "-inf" in str(found)
    assert found.warnings[0].startswith("columns have values that the model holds to be impossib")
    assert found.warnings[0].endswith("alpha above 0, or use another family")  # the only column


# What columns repeat


def evidence(model, X, y, name):
    """Return the log odds of each row's own class against the rest, of one column alone."""
    shares = np.array([np.mean(y == c) for c in model.classes_])
    alone = {each: X[each] if each == name else np.full(len(y), np.nan) for each in X}
    terms = model.predict_joint_log_proba(alone) - model.model_.log_prior + np.log(shares)
    own = np.searchsorted(model.classes_, y)
    rest = np.array([np.logaddexp.reduce(np.delete(t, k)) for t, k in zip(terms, own, strict=True)])
    return terms[np.arange(len(y)), own] - rest


def test_strength_is_the_rank_correlation_of_the_evidence_within_the_classes():
    """The ranks within each class are pooled."""
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 300)
    k = np.searchsorted(["a", "b", "c"], y)
    x = rng.normal(k)
    X = {"x": x, "z": x + rng.normal(0.0, 0.7, 300)}
    model = tb.NaiveBayes().fit(X, y)
    (pair,) = diagnose(model, X, y).dependence
    ranks = []
    for name in (pair.a, pair.b):
        of = pd.Series(evidence(model, X, y, name)).groupby(y)
        ranks.append(of.rank(pct=True) - of.rank(pct=True).groupby(y).transform("mean"))
    r = np.corrcoef(*ranks)[0, 1]
    assert pair.strength == pytest.approx(r, abs=1e-9)
    low = np.tanh(np.arctanh(r) - 1.96 * np.sqrt(1.06 / (300 - 3 - 2)))
    assert pair.low == pytest.approx(low, abs=1e-9)


KINDS = {
    "numbers": ("gaussian", lambda rng, k: rng.normal(2.0 * k)),
    "categories": ("auto", lambda rng, k: np.array(list("abcde"))[k + rng.integers(0, 4, len(k))]),
    "counts": ("poisson", lambda rng, k: rng.poisson(2.0 + 3.0 * k).astype(float)),
    "texts": ("text", lambda rng, k: np.array(
        [" ".join(rng.choice(["win", "now", "see"], 5, p=p))
         for p in np.array([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4]])[k]])),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_a_column_is_as_strong_as_can_be(kind):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    family, draw = KINDS[kind]
    X = dict.fromkeys(("x", "copy"), draw(rng, y))
    found = diagnose(tb.NaiveBayes(dict.fromkeys(X, family)).fit(X, y), X, y)
    (pair,) = found.dependence
    assert pair.strength == pytest.approx(1.0, abs=1e-9)
    assert pair.warned
    assert "it is counted twice: 'x' and 'copy' (1.00); drop the second of" in found.warnings[0]


@pytest.mark.parametrize("n", [30, 300])
def test_independent_columns_and_columns_that_say_nothing_are_not_warned_of(n):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, n)
        X = {f"x{k}": rng.normal(2.0 * y) for k in range(4)}
        found = diagnose(tb.NaiveBayes().fit(X, y), X, y)
        assert not any(pair.warned for pair in found.dependence)
        assert n == 30 or not found.dependence
    noise = np.random.default_rng(4).normal(size=n)
    X = {"noise": noise, "again": noise}
    found = diagnose(tb.NaiveBayes().fit(X, np.arange(n) % 2), X, np.arange(n) % 2)
    assert [pair.warned for pair in found.dependence] == [False]
    assert not found.warnings


# What columns look like


def two_classes(draw, n=1000, seed=0):
    """Draw numbers of a shape, in two classes of different means and spreads."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return draw(rng, n) * (1 + y) + 3 * y, y


def shape_in(x, y):
    columns = {"x": tb.Gaussian()}  # whole numbers too
    fitted = Fitted(tb.Tally.of({"x": x}, y, columns=columns))
    found = diagnose(fitted, {"x": x}, y)
    return found, found.normality[0]


SHAPES = {
    "normal": (lambda rng, n: rng.normal(size=n), "close to normal"),
    "nearly normal": (lambda rng, n: rng.gamma(60, size=n), "close to normal"),
    "rounded": (lambda rng, n: rng.normal(size=n).round(1), "close to normal"),
    "exponential": (lambda rng, n: rng.exponential(size=n), "skewed to the right"),
    "minus exponential": (lambda rng, n: -rng.exponential(size=n), "skewed to the left"),
    "student": (lambda rng, n: rng.standard_t(2.5, size=n), "heavy tails"),
    "laplace": (lambda rng, n: rng.laplace(size=n), "heavy tails"),
    "uniform": (lambda rng, n: rng.random(n), "an uneven shape"),
    "two humps": (lambda rng, n: rng.choice([-3, 3], n) + rng.normal(size=n), "an uneven shape"),
    "dice": (lambda rng, n: rng.integers(1, 4, n), "few distinct values"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_said_in_a_word(shape, seed):
    draw, word = SHAPES[shape]
    _, found = shape_in(*two_classes(draw, seed=seed))
    assert found.word == word
    assert found.normal is (word == "close to normal") is not bool(found.better)


@pytest.mark.parametrize("log", [False, True])
def test_the_measures_are_those_of_scipy_with_the_models_own_mean_and_spread(log):
    x, y = two_classes(lambda rng, n: rng.gamma(3.0, size=n), n=501)
    train, family = slice(0, 301), tb.LogNormal() if log else tb.Gaussian()
    tally = tb.Tally.of({"x": x[train]}, y[train], columns={"x": family})
    (found,) = diagnose(Fitted(tally, Recipe((family,))), {"x": x}, y).normality
    z, values = np.empty(501), np.log(x) if log else x
    for c in (0, 1):
        of_class = values[train][y[train] == c]
        z[y == c] = (values[y == c] - of_class.mean()) / of_class.std(ddof=1)
    assert found.rows == 501
    assert found.skewness == pytest.approx(stats.skew(z), rel=1e-9)
    assert found.kurtosis == pytest.approx(stats.kurtosis(z), rel=1e-9)
    assert found.correlation == pytest.approx(stats.probplot(z)[1][2], rel=1e-9)


@pytest.mark.parametrize(
    ("least", "family", "better"),
    [(0.1, tb.Gaussian(), "log_normal"), (0.0, tb.Gaussian(), "bins"),
     (0.1, tb.LogNormal(), "bins")],
    ids=["above 0", "from 0 on", "log-normal already"],
)  # fmt: skip
def test_the_family_to_try_is_named(least, family, better):
    x, y = two_classes(lambda rng, n: rng.exponential(size=n))
    if family == tb.LogNormal():
        x = np.exp(x)
    x += least - x.min()
    fitted = Fitted(tb.Tally.of({"x": x}, y, columns={"x": family}), Recipe((family,)))
    found = diagnose(fitted, {"x": x}, y)
    assert found.normality[0].better == better
    assert found.warnings[-1] == (
        f"columns are taken for normal but are not: 'x' ({found.normality[0].word}); try "
        f"columns={{'x': '{better}'}}, or SemiNaiveBayes(), which counts each in several ways and "
        "weighs these"
    )


# Rows


def test_estimators_what_they_fitted_and_models_are_diagnosed_alike(model):
    one = diagnose(model, TABLE, Y)
    for subject, X in ((model.fitted_, TABLE), (model.model_, as_source(TABLE))):
        assert diagnose(subject, X, Y).to_dict() == one.to_dict()
    assert {each.column: each.family for each in one.information} == {
        "length": "Gaussian", "colour": "categories", "mail": "text", "hits": "Poisson"
    }  # fmt: skip
    documents, y = ["win now", "see you", "win", "you"] * 8, ["spam", "ham"] * 16
    found = diagnose(tb.TextNB().fit(documents, y), documents, y)
    assert [(each.family, each.rows) for each in found.information] == [("text", 32)]


def test_rows_of_unknown_classes_and_of_weight_zero_are_left_out(model):
    labels = np.where(np.arange(N) < 3, "egg", Y)
    found = diagnose(model, TABLE, labels)
    assert found.rows == N - 3
    assert found.notes[0] == "3 rows of classes that the model does not know were left out"
    w = (np.arange(N) >= 100) * 1.0
    without = diagnose(model, TABLE.iloc[100:], Y[100:])
    assert diagnose(model, TABLE, Y, w).to_dict() == without.to_dict()


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_only_the_ratios_of_weights_matter(model, unit):
    w = np.random.default_rng(5).choice([1.0, 2.0, 4.0], N)
    for a, b in ((w, unit * w), (None, unit)):
        assert diagnose(model, TABLE, Y, a).to_dict() == near(
            diagnose(model, TABLE, Y, b).to_dict()
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y[:5]}, "5 labels for 300 rows"),
        ({"y": ["spas"] * N}, "model; did you mean 'spam'"),
        ({"sample_weight": np.zeros(N)}, "no row that counts"),
        ({"fitted": 3}, "int is no model"),
        ({"most_rows": 0}, "most_rows is 0"),
        ({"sample_weight": [1.0]}, "the weights have the shape"),
        ({"X": TABLE[["hits"]]}, "column 'length' is missing"),
    ],
)
def test_what_cannot_be_done_is_an_error(change, message, model):
    with pytest.raises(tb.TallyBayesError, match=message):
        diagnose(**{"fitted": model, "X": TABLE, "y": Y, **change})


@pytest.mark.parametrize("most_rows", [300, 200])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("length", np.inf, "column 'length' holds infinity in row 250"),
        ("hits", -1.0, "column 'hits' is -1.0 in row 250; counts must be"),
        ("hits", np.inf, "column 'hits' holds infinity in row 250"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_row(model, column, value, message, most_rows):
    broken = TABLE.copy()
    broken.loc[250, column] = value
    assert 250 in np.random.default_rng(SEED).choice(N, 200, replace=False)
    with pytest.raises(tb.TallyBayesError, match=message):
        diagnose(model, broken, Y, most_rows=most_rows, seed=SEED)


# How it is written


def test_it_prints_as_tables_warnings_and_notes(cancer):
    _, _, found = cancer
    text = str(found)
    assert text.startswith("569 rows\n\nwhat the columns tell of the class, of 0.953 bits there")
    assert "columns that say the same thing within the classes" in text
    assert "columns that are taken for normal" in text
    assert "... 10 more" in text
    assert text.count("warning: ") == len(found.warnings) == 2
    warned = [(pair.a, pair.b) for pair in found.dependence if pair.warned]
    assert ("worst texture", "mean texture") in warned
    (said,) = [each for each in found.warnings if "counted twice" in each]
    assert "'mean perimeter' and 'mean radius' (1.00), " in said
    assert f", {len(warned) - 6} more; drop the second" in said


def test_constant_empty_and_short_columns_and_classes_of_one_row_have_no_shape():
    y = np.arange(60) % 2
    X = {"constant": np.ones(60), "empty": np.full(60, np.nan), "x": np.arange(60.0)}
    fitted = Fitted(tb.Tally.of(X, y))
    assert [each.column for each in diagnose(fitted, X, y).normality] == ["x"]
    (few,) = diagnose(fitted, {name: c[:9] for name, c in X.items()}, y[:9]).normality
    assert (few.word, few.normal, few.better) == ("too few rows to tell", None, "")
    x = np.random.default_rng(9).exponential(size=40) ** 2
    found = diagnose(Fitted(tb.Tally.of({"x": x}, np.arange(40))), {"x": x}, np.arange(40))
    assert found.normality[0].word == "too few rows to tell"


def test_columns_that_would_help_together_are_those_that_semi_naive_bayes_finds():
    rng = np.random.default_rng(4)
    table = {name: rng.choice(["no", "yes"], 400) for name in "abc"}
    table["size"] = rng.normal(size=400)
    same = (table["a"] == table["b"]) ^ (rng.random(400) < 0.1)
    plain = tb.NaiveBayes().fit(table, same)
    found = plain.diagnose(table, same)
    gains = tb.SemiNaiveBayes(prior=tb.Empirical()).fit(table, same).gains_
    (pair,) = found.joints
    assert (pair.title, pair.columns) == ("a x b", ("a", "b"))
    assert pair.gain == pytest.approx(gains["a x b"], rel=1e-9)
    assert pair.per_row == pytest.approx(pair.gain / 400)
    # no row says anything yet, so a weight w gains sum of log 2 / (1 + exp(-w t)), about
    weighed = tb.SemiNaiveBayes(joints=[("a", "b")]).fit(table, same)
    plain_loss = tb.SemiNaiveBayes(joints=None).fit(table, same).calibration_.loss
    assert 0.5 < (plain_loss - weighed.calibration_.loss) / pair.per_row < 2.0
    assert "columns that would help if they were counted together" in str(found)
    assert found.notes[-1].startswith("a with b would help most, by ")
    assert "joints=[('a', 'b')]" in found.notes[-1]
    assert json.loads(json.dumps(found.to_dict()))["joints"][0]["columns"] == ["a", "b"]
    weights = rng.choice([1.0, 2.0], 400)
    doubled = plain.diagnose(table, same, 2.0 * weights).joints
    assert doubled == plain.diagnose(table, same, weights).joints


def test_a_model_with_weights_is_diagnosed_column_by_column():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 500)
    gone = rng.random(500) < np.where(y, 0.5, 0.1)
    table = {"n": np.where(gone, np.nan, rng.lognormal(y, 1.0)), "twice": rng.normal(y, 1.0)}
    table["again"] = table["twice"] * 2.0
    model = tb.SemiNaiveBayes(joints=[("n", "twice")]).fit(table, y)
    found = model.diagnose(table, y)
    assert sorted(each.column for each in found.information) == sorted(table)
    shares = np.log([np.mean(y == 0), np.mean(y == 1)])
    lines = {line: k for k, line in enumerate(model.explain_all(table).names)}
    terms = model.explain_all(table).terms
    for each in found.information:
        logs = terms[:, lines[each.column]]
        bits = logs[np.arange(500), y] - np.logaddexp.reduce(logs + shares, axis=1)
        assert each.bits == pytest.approx(bits.mean() / math.log(2.0), abs=1e-9)
    assert [(pair.a, pair.b, pair.warned) for pair in found.dependence] == [
        ("twice", "again", False)
    ]
    assert not found.normality
    assert not found.warnings
    assert not found.joints
