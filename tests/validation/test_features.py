"""Choosing columns: judged as if models were fitted on every set, with reasons that can be read."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

import tallybayes as tb
from tallybayes import NaiveBayes, TallyBayesError, TallyBayesWarning
from tallybayes.validation.features import terms as feature_terms
from tallybayes.validation.features.features import OPTIMISTIC, choose_features
from tallybayes.validation.features.fits import narrowed
from tallybayes.validation.features.kept_columns import kept
from tallybayes.validation.features.steps import _standard_error
from tiers import scaled

CLIP = 1e-15
FIVE = StratifiedKFold(5, shuffle=True, random_state=1)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


# Brute force: a model is fitted for every set of columns and every row


def refitted_loss(columns, table, y, w, names):
    """Leave every row out, fit on the rest, and look at what the row's own class gets."""
    y, w = np.asarray(y), np.asarray(w, float)
    losses = np.zeros(len(y))
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        if not names:
            share = w[rest & (y == y[row])].sum() / w[rest].sum()
            losses[row] = -np.log(max(share, CLIP))
            continue
        X = {name: [table[name][k] for k in np.flatnonzero(rest)] for name in names}
        model = NaiveBayes({name: columns[name] for name in names}).fit(X, y[rest], w[rest])
        proba = model.predict_proba({name: [table[name][row]] for name in names})[0]
        own = dict(zip(model.classes_.tolist(), proba, strict=True)).get(y[row], 0.0)
        losses[row] = -np.log(max(own, CLIP))
    return float(losses @ w / w.sum())


def greedy(loss, names, direction):
    """Walk the lectures' way: the best next column, until none helps; one is kept at least."""
    forward = direction == "forward"
    chosen = [] if forward else list(names)
    now, path = loss(chosen), []
    while len(chosen) < len(names) if forward else len(chosen) > 1:
        moves = [name for name in names if (name in chosen) != forward]
        sets = [[*chosen, m] if forward else [c for c in chosen if c != m] for m in moves]
        losses = [loss(sorted(each, key=names.index)) for each in sets]
        best = next(k for k, each in enumerate(losses) if each <= min(losses) + 1e-11)
        better = losses[best] < now - 1e-11 if forward else losses[best] <= now + 1e-11
        if not better and not (forward and not chosen):
            break
        chosen, now = sets[best], losses[best]
        path.append((moves[best], now))
    return path


FLOOR = tb.RelativeFloor(0.01)  # far from it rounding is far from 1e-9 too
FAMILIES = {
    "size": tb.Gaussian(floor=FLOOR),
    "weight": tb.LogNormal(floor=FLOOR),
    "colour": tb.Categorical(alpha=0.5),
    "hits": tb.Poisson(),
}


@st.composite
def mixed_tables(draw):
    n = draw(st.integers(8, 12))
    y = draw(
        st.lists(st.sampled_from("abc"), min_size=n, max_size=n).filter(lambda y: len({*y}) > 1)
    )
    gap = st.none()
    few = {"min_size": n, "max_size": n}
    table = {
        "size": draw(st.lists(gap | st.integers(-9, 9).map(lambda k: k / 4), **few)),
        "weight": draw(st.lists(gap | st.integers(1, 9).map(lambda k: k / 2), **few)),
        "colour": draw(st.lists(gap | st.sampled_from(["red", "green", "blue"]), **few)),
        "hits": draw(st.lists(st.integers(0, 4), **few)),
    }
    w = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), **few))
    return table, y, w


@pytest.mark.parametrize("direction", ["forward", "backward"])
@scaled(0.32)
@given(mixed_tables())
@pytest.mark.filterwarnings("ignore::tallybayes.TallyBayesWarning")
def test_the_way_is_that_of_refitting_every_set_without_every_row(direction, data):
    table, y, w = data

    def loss(names):
        return refitted_loss(FAMILIES, table, y, w, names)

    chosen = choose_features(
        NaiveBayes(FAMILIES), table, y, direction=direction, nested=None, sample_weight=w
    )
    path = greedy(loss, list(table), direction)
    assert [step.column for step in chosen.steps] == [name for name, _ in path]
    found = [chosen.start, *(step.score for step in chosen.steps)]
    start = loss([] if direction == "forward" else list(table))
    np.testing.assert_allclose(found, [start, *(value for _, value in path)], rtol=0, atol=1e-9)
    # of the ways that were gone, the best set is taken
    best = min(found if direction == "backward" else found[1:])
    assert chosen.score == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("score", ["log_loss", "brier", "accuracy", "matthews", "roc_area"])
@pytest.mark.parametrize("folds", [FIVE, 0.3])
def test_with_folds_every_score_is_that_of_cross_validating_each_set(iris, score, folds):
    X, y = iris
    sign = 1.0 if score in ("log_loss", "brier") else -1.0

    def value(names):
        report = NaiveBayes().cross_val(X[names], y, folds=folds).report()
        return sign * report[score]

    chosen = choose_features(NaiveBayes(), X, y, folds=folds, score=score, nested=None)
    path = greedy(lambda names: value(names) if names else np.inf, list(X), "forward")
    assert [step.column for step in chosen.steps] == [name for name, _ in path]
    expected = [sign * each for _, each in path]
    np.testing.assert_allclose([s.score for s in chosen.steps], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("score", ["accuracy", "brier", "macro_f1", "calibration_error"])
def test_leave_one_out_has_every_score_but_those_that_rank(iris, score):
    X, y = iris
    chosen = choose_features(NaiveBayes(), X, y, score=score, most=2, nested=None)
    for step in chosen.steps:
        held = NaiveBayes().cross_val(X[list(step.columns)], y, folds="loo")
        assert step.score == pytest.approx(held.report()[score], abs=1e-9)


def test_a_class_of_one_row_and_one_that_fills_a_fold_are_judged_as_by_refitting():
    rng = np.random.default_rng(8)
    y = np.array(["a"] * 10 + ["b"] * 9 + ["c"])
    X = {"x": rng.normal(y == "b"), "u": rng.normal(size=20), "s": np.where(y == "a", "p", "q")}
    kinds = {"x": "gaussian", "u": "gaussian", "s": "categorical"}
    chosen = choose_features(NaiveBayes(kinds), X, y, direction="backward", most=1, nested=None)
    for step in chosen.steps:
        expected = refitted_loss(kinds, X, y, np.ones(20), step.columns)
        assert step.score == pytest.approx(expected, abs=1e-9)
    of_one_class, rest = np.arange(10), np.arange(10, 20)
    folds = [(np.r_[of_one_class, rest[:5]], rest[5:]), (np.r_[rest, 0], of_one_class[1:])]
    chosen = choose_features(NaiveBayes(kinds), X, y, folds=folds, most=2, nested=None)
    for step in chosen.steps:
        part = {name: X[name] for name in step.columns}
        held = NaiveBayes({name: kinds[name] for name in part}).cross_val(part, y, folds=folds)
        assert step.score == pytest.approx(held.report().log_loss, abs=1e-9)


def test_rows_of_weight_0_have_no_part(iris):
    X, y = iris
    w = np.ones(len(y))
    w[::7] = 0.0
    given_weights = choose_features(NaiveBayes(), X, y, sample_weight=w, nested=None)
    without = choose_features(NaiveBayes(), X[w > 0], y[w > 0], nested=None)
    assert given_weights.columns == without.columns
    assert given_weights.score == pytest.approx(without.score, abs=1e-9)


# What the choice is good for


def correlated(n=200, seed=0):
    """One column that tells the classes apart, five copies of it, another one, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = {"signal": rng.normal(1.5 * y)}
    X |= {f"copy {k}": X["signal"] for k in range(5)}
    return X | {"other": rng.normal(y), "noise": rng.normal(size=n)}, y


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_of_columns_that_say_the_same_one_is_kept(direction):
    """Copies count as independent evidence: the lectures' correlated features."""
    X, y = correlated()
    chosen = choose_features(NaiveBayes(), X, y, direction=direction, nested=None)
    same = [name for name in chosen.columns if name not in ("other", "noise")]
    assert len(same) == 1
    assert "other" in chosen.columns
    everything = NaiveBayes().cross_val(X, y, folds="loo").report().log_loss
    assert chosen.score < everything - 0.1


def test_columns_of_noise_are_left_out_by_the_one_standard_error_rule():
    chosen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 120)
        X = {"signal": rng.normal(2.0 * y)} | {f"noise {k}": rng.normal(size=120) for k in range(6)}
        found = choose_features(NaiveBayes(), X, y, one_standard_error=True, nested=None)
        assert "signal" in found.columns
        chosen += len(found.columns) - 1
    assert chosen == 0


def test_nothing_but_noise_is_said_to_be_no_better_than_the_prior():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    with pytest.warns(TallyBayesWarning, match="better log_loss than the prior alone"):
        chosen = choose_features(NaiveBayes(), X, y, nested=None)
    assert len(chosen.columns) == 1
    assert "a model needs a column" in chosen.steps[0].why


def test_a_constant_column_goes_first():
    X, y = correlated()
    X = {"other": X["other"], "constant": np.ones(len(y)), "signal": X["signal"]}
    chosen = choose_features(NaiveBayes(), X, y, direction="backward", nested=None)
    assert [step.column for step in chosen.steps] == ["constant"]
    assert chosen.steps[0].change == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_calibration_has_no_part_in_the_choice_and_is_that_of_the_chosen_columns(wine, how):
    X, y = wine
    X = X.iloc[:, :6]
    plain = choose_features(NaiveBayes(), X, y, nested=None)
    chosen = choose_features(NaiveBayes(calibration=how), X, y, nested=3)
    assert chosen.columns == plain.columns
    assert [step.score for step in chosen.steps] == pytest.approx([s.score for s in plain.steps])
    fitted = NaiveBayes(calibration=how).fit(X[list(chosen.columns)], y)
    assert chosen.model.calibration_.loss == pytest.approx(fitted.calibration_.loss)
    assert chosen.nested.log_loss < 1.0


# Columns that need each other, and what cannot be added up


def test_a_bag_of_counts_and_a_text_are_chosen_as_one():
    rng = np.random.default_rng(2)
    y = np.array(["ham", "spam"] * 30)
    spam = y == "spam"
    X = {
        "a": rng.poisson(3 + 4 * spam),
        "size": rng.normal(size=60),
        "b": rng.poisson(4, 60),
        "text": np.where(spam, "buy pills now", "see you now"),
    }
    counts = tb.Multinomial(alpha=[1.0, 2.0])
    model = NaiveBayes({("a", "b"): counts, "text": tb.Text()})
    chosen = choose_features(model, X, y, direction="backward", most=1, nested=None)
    names = {step.column for step in chosen.steps}
    assert names <= {"a ... b (2 columns)", "size", "text"}
    assert all(("a" in step.columns) == ("b" in step.columns) for step in chosen.steps)
    for step in chosen.steps:
        part = {name: X[name] for name in step.columns}
        said = {"text": tb.Text()} if "text" in part else {}
        said |= {("a", "b"): counts} if "a" in part else {}
        held = NaiveBayes(said or "auto").cross_val(part, y, folds="loo").report()
        assert step.score == pytest.approx(held.log_loss, abs=1e-9)


def test_a_sparse_matrix_is_one_unit():
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = sparse.csr_array(rng.poisson(1.0 + 2.0 * y[:, None] * [1, 0, 0, 1]))
    chosen = choose_features(NaiveBayes(), X, y, nested=2)
    assert chosen.columns == ("x0", "x1", "x2", "x3")
    held = NaiveBayes().cross_val(X, y, folds="loo").report()
    assert chosen.score == pytest.approx(held.log_loss, abs=1e-9)


@pytest.mark.parametrize(
    "columns",
    [tb.Bins(), tb.Gaussian(floor=tb.AdditiveFloor(0.01))],
    ids=["supervised bins", "a floor of all columns"],
)
def test_what_does_not_add_up_is_fitted_for_every_set(wine, columns):
    X, y = wine
    X = X.iloc[:, :4]
    chosen = choose_features(NaiveBayes(columns), X, y, folds=FIVE, nested=None)

    def loss(names):
        return NaiveBayes(columns).cross_val(X[names], y, folds=FIVE).report().log_loss

    path = greedy(lambda names: loss(names) if names else np.inf, list(X), "forward")
    assert [step.column for step in chosen.steps] == [name for name, _ in path]
    np.testing.assert_allclose(
        [step.score for step in chosen.steps], [value for _, value in path], rtol=0, atol=1e-9
    )
    counted = choose_features(NaiveBayes(), X, y, folds=FIVE, nested=None)
    assert chosen.start == pytest.approx(counted.start, abs=1e-12)  # the prior alone
    assert any("fitted anew" in reason for reason in chosen.reasons)
    assert any("counted once" in reason for reason in counted.reasons)


def test_fitting_for_every_set_knows_leave_one_out_and_weights(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    some = rng.permutation(len(y))[:40]
    X, y, w = X.iloc[some, 2:], y.iloc[some], rng.integers(0, 3, 40).astype(float)
    floor = tb.Gaussian(floor=tb.AdditiveFloor(0.05))
    chosen = choose_features(
        NaiveBayes(floor), X, y, most=1, nested=None, sample_weight=w, direction="backward"
    )
    held = NaiveBayes(floor).cross_val(X, y, folds="loo", sample_weight=w).report()
    assert chosen.start == pytest.approx(held.log_loss, abs=1e-9)
    begun = choose_features(NaiveBayes(floor), X, y, nested=None, sample_weight=w).start
    same = choose_features(NaiveBayes(), X, y, nested=None, sample_weight=w).start
    assert begun == pytest.approx(same, abs=1e-12)


def test_more_rows_than_fit_into_memory_are_judged_by_some(iris, monkeypatch):
    X, y = iris
    monkeypatch.setattr(feature_terms, "MOST_CELLS", 700)
    chosen = choose_features(NaiveBayes(), X, y, most=1, nested=None)
    assert any("one row in 3" in reason for reason in chosen.reasons)
    proba = NaiveBayes().cross_val(X[list(chosen.columns)], y, folds="loo").proba
    assert chosen.score == pytest.approx(log_loss(y[::3], proba[::3]), abs=1e-9)


# Standard errors and the rule that goes by them


def test_the_standard_error_is_that_of_the_mean_over_rows(iris):
    X, y = iris
    chosen = choose_features(NaiveBayes(), X, y, nested=None)

    def losses(names):
        proba = NaiveBayes().cross_val(X[list(names)], y, folds="loo").proba
        return -np.log(proba[np.arange(len(y)), y])

    one, two = (losses(step.columns) for step in chosen.steps[:2])
    step = chosen.steps[1]
    assert step.standard_error == pytest.approx(stats.sem(two), rel=1e-9)
    assert step.error_of_change == pytest.approx(stats.sem(two - one), rel=1e-9)
    assert step.change == pytest.approx(two.mean() - one.mean(), abs=1e-9)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 4)), min_size=3))
def test_a_weight_is_a_repetition_in_the_standard_error_too(pairs):
    values, often = np.array([v for v, _ in pairs]), np.array([k for _, k in pairs])
    repeated = np.repeat(values, often)
    found = _standard_error(values, often.astype(float))
    if len(repeated) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(stats.sem(repeated), rel=1e-9, abs=1e-12)


def test_scores_that_are_no_mean_over_rows_have_the_standard_error_of_folds(iris):
    X, y = iris
    chosen = choose_features(NaiveBayes(), X, y, score="macro_f1", folds=FIVE, nested=None)
    report = NaiveBayes().cross_val(X[list(chosen.columns)], y, folds=FIVE).report()
    per_fold = [fold["macro_f1"] for fold in report.folds]
    assert chosen.standard_error == pytest.approx(stats.sem(per_fold), rel=1e-9)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_rule_takes_the_smallest_set_within_one_standard_error_of_the_best(wine, direction):
    X, y = wine
    options = {"direction": direction, "nested": None}
    chosen = choose_features(NaiveBayes(), X, y, one_standard_error=True, **options)
    best = min(chosen.steps, key=lambda step: step.score)
    near = [s for s in chosen.steps if s.score <= best.score + best.standard_error]
    smallest = min(near, key=lambda step: len(step.columns))
    assert chosen.columns == smallest.columns
    assert len(chosen.columns) < len(best.columns)
    assert len(chosen.columns) < len(choose_features(NaiveBayes(), X, y, **options).columns)
    assert any("one-standard-error rule" in reason for reason in chosen.reasons)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("most", [1, 3])
def test_no_more_columns_are_kept_than_allowed(wine, direction, most):
    X, y = wine
    chosen = choose_features(NaiveBayes(), X, y, direction=direction, most=most, nested=None)
    assert len(chosen.columns) == most


# Nested: rows that had no part in choosing


def test_the_nested_score_is_that_of_choosing_anew_in_every_fold(wine):
    X, y = wine
    chosen = choose_features(NaiveBayes(), X, y, most=3, nested=FIVE)
    proba = np.zeros((len(y), 3))
    often = 0
    for train, test in FIVE.split(X, y):
        within = choose_features(NaiveBayes(), X.iloc[train], y.iloc[train], most=3, nested=None)
        proba[test] = within.model.predict_proba(within.kept(X.iloc[test]))
        often += "flavanoids" in within.columns
    assert chosen.nested.log_loss == pytest.approx(log_loss(y, proba), abs=1e-9)
    assert len(chosen.nested.folds) == 5
    assert any(f"flavanoids {often}" in note for note in chosen.nested.notes)
    seen = chosen.model.predict_proba(chosen.kept(X))
    assert chosen.training == pytest.approx(log_loss(y, seen), abs=1e-9)
    assert chosen.nested.training["log_loss"] == pytest.approx(chosen.training, abs=1e-12)


def test_what_was_chosen_from_pure_noise_looks_better_than_it_is():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 60)), np.arange(60) % 2
    chosen = choose_features(NaiveBayes(), X, y, score="accuracy", folds=5)
    assert chosen.score > 0.65
    assert chosen.nested.accuracy < 0.55


def test_groups_stay_together_within_and_without(iris):
    X, y = iris
    groups = np.arange(len(y)) // 3
    chosen = choose_features(NaiveBayes(), X, y, folds=3, groups=groups, nested=3, most=1)
    assert chosen.nested.rows == len(y)
    splitter = GroupKFold(3)
    by_hand = [(a, b) for a, b in splitter.split(X, y, groups)]
    one = choose_features(NaiveBayes(), X, y, folds=splitter, groups=groups, nested=None)
    other = choose_features(NaiveBayes(), X, y, folds=by_hand, nested=None)
    assert one.score == pytest.approx(other.score, rel=1e-9)
    with pytest.raises(TallyBayesError, match="groups cannot stay together"):
        choose_features(NaiveBayes(), X, y, groups=groups)


def test_without_nesting_the_optimism_is_pointed_out(iris):
    X, y = iris
    off, on = (choose_features(NaiveBayes(), X, y, nested=k, most=1) for k in (None, 2))
    assert off.nested is None
    assert OPTIMISTIC in str(off)
    assert "nested: no part in choosing" not in str(off)
    assert OPTIMISTIC not in str(on)
    assert "nested: no part in choosing" in str(on)


# What comes in and what goes out


def forms(table):
    frame = pd.DataFrame(table)
    return {
        "pandas": frame,
        "polars": pl.DataFrame(table),
        "arrow": pa.table(table),
        "mapping": table,
        "records": frame.to_dict("records"),
        "array": frame.to_numpy(),
        "list": frame.to_numpy().tolist(),
    }


@pytest.mark.parametrize("form", forms({"a": [1.0]}))
def test_every_form_of_a_table_is_kept(form):
    X, y = correlated(80)
    table = {name: X[name] for name in ("noise", "signal", "copy 0", "other")}
    given_form = forms(table)[form]
    chosen = choose_features(NaiveBayes(), given_form, y, nested=2)
    expected = ("x1", "x3") if form in ("array", "list") else ("signal", "other")
    assert chosen.columns == expected
    part = chosen.kept(given_form)
    assert type(part) is type(given_form)
    np.testing.assert_allclose(
        chosen.model.predict_proba(part),
        NaiveBayes()
        .fit({n: table[n] for n in ("signal", "other")}, y)
        .predict_proba({n: table[n] for n in ("signal", "other")}),
        atol=1e-12,
    )


def test_a_matrix_of_numbers_without_names_in_pandas_is_kept_by_number():
    X, y = correlated(80)
    frame = pd.DataFrame({3: X["noise"], 1: X["signal"]})
    chosen = choose_features(NaiveBayes(), frame, y, nested=None)
    assert chosen.columns == ("1",)
    assert list(chosen.kept(frame).columns) == [1]


def test_kept_columns_of_a_sparse_matrix_and_of_other_arrow_tables():
    X = sparse.coo_array(np.arange(6).reshape(2, 3))
    assert kept(X, ["x0", "x2"]).toarray().tolist() == [[0, 2], [3, 5]]
    reader = pa.table({"a": [1], "b": [2]}).to_reader()
    assert kept(reader.read_all(), ["b"]).column_names == ["b"]


CUT = tb.Bins(edges=(0.5,))
SAID = {
    "name": {"signal": CUT, "noise": "gaussian"},
    "number": {1: CUT},
    "from the end": {-3: CUT},
    "tuple": {("noise", "signal"): CUT},
    "name above tuple": {"signal": CUT, ("noise", "signal"): "gaussian"},
    "all that are not named": {"signal": CUT, ...: "gaussian"},
    "for all": CUT,
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_what_is_said_of_a_column_goes_with_it(said):
    X, y = correlated(80)
    frame = pd.DataFrame({name: X[name] for name in ("noise", "signal", "copy 0", "other")})
    everything = NaiveBayes(said).fit(frame, y)
    for names in (["signal"], ["signal", "other"], ["noise", "copy 0"]):
        part = narrowed(NaiveBayes(said), frame, names).fit(frame[names], y)
        for name in names:
            assert part.schema_.kind(name) == everything.schema_.kind(name)
    chosen = choose_features(NaiveBayes(said), frame, y, nested=2)
    held = narrowed(NaiveBayes(said), frame, chosen.columns).cross_val(
        frame[list(chosen.columns)], y, folds="loo"
    )
    assert chosen.score == pytest.approx(held.report().log_loss, abs=1e-9)


@pytest.mark.parametrize("key", [2, "x2", (2,), -1])
def test_the_columns_of_an_array_are_numbered_anew(key):
    X, y = correlated(80)
    array = np.column_stack([X["noise"], X["signal"], X["other"]])
    model = narrowed(NaiveBayes({key: CUT}), array, ["x0", "x2"]).fit(array[:, [0, 2]], y)
    assert model.schema_.kind("x0") == tb.Numeric()
    assert model.schema_.kind("x1") == tb.Intervals((0.5,))


class Cells(HTMLParser):
    """Collects the cells of tables."""

    def __init__(self, html):
        super().__init__()
        self.cells, self.open = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_the_reasons_are_printed_in_a_table(iris):
    X, y = iris
    chosen = choose_features(NaiveBayes(), X, y, nested=2)
    text = str(chosen)
    lines = text.split("\n")
    top = next(line for line in lines if line.startswith("step"))
    rows = lines[lines.index(top) + 1 :][: len(chosen.steps) + 1]
    for row, score in zip(rows, [chosen.start, *(s.score for s in chosen.steps)], strict=True):
        end = top.index("log_loss") + len("log_loss")
        assert row[:end].endswith(f" {score:.4f}")
    for row, step in zip(rows[1:], chosen.steps, strict=True):
        assert row.startswith(f"+ {step.column} ")
        assert row.index(step.why) == top.index("why")
    assert "<- chosen" in rows[-1]
    assert "before petal length (cm) with" in chosen.steps[0].why
    assert "the way ended: no other step improves log_loss: adding" in text


def test_it_can_be_shown_and_stored(iris):
    X, y = iris
    X = X.rename(columns={"petal width (cm)": "petal <width>"})
    chosen = choose_features(NaiveBayes(), X, y, nested=2)
    cells = Cells(chosen._repr_html_()).cells
    assert f"+ {chosen.steps[0].column}" in cells
    assert "<width>" not in chosen.to_html()
    stored = json.loads(json.dumps(chosen.to_dict(), allow_nan=False))
    assert stored["columns"] == list(chosen.columns)
    assert [step["column"] for step in stored["steps"]] == [s.column for s in chosen.steps]
    assert stored["nested"]["rows"] == len(y)
    assert repr(chosen) == f"<ChosenFeatures: 2 columns, log_loss {chosen.score:.4f} held out>"


def test_a_score_that_is_undefined_is_none_in_json(iris):
    X, y = iris
    rare = (y == 2).to_numpy()
    chosen = choose_features(NaiveBayes(), X, rare, score="precision", nested=None)
    stored = chosen.to_dict()
    assert stored["start"] is None  # the prior alone never predicts the rare class
    assert stored["steps"][0]["change"] is None
    assert stored["standard_error"] is None
    assert chosen.score > 0.9


def test_the_positive_class_is_that_of_the_model():
    X, y = correlated(100)
    labels = np.where(y == 1, "yes", "no")
    found = {
        positive: choose_features(
            NaiveBayes(positive=positive), X, labels, score="precision", most=1, nested=None
        )
        for positive in ("yes", "no")
    }
    for positive, chosen in found.items():
        held = NaiveBayes(positive=positive).cross_val(chosen.kept(X), labels, folds="loo")
        right = labels[held.predictions == positive] == positive
        assert chosen.score == pytest.approx(right.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": tb.TextNB()}, r"TextNB has no columns.*best=1000"),
        ({"model": tb.GaussianNB()}, "GaussianNB has no columns to choose from"),
        ({"model": TheirGaussianNB()}, r"columns are chosen for a NaiveBayes"),
        ({"model": NaiveBayes}, r"such as NaiveBayes\(\)"),
        ({"direction": "forwards"}, "direction is 'forwards'; did you mean 'forward'"),
        ({"score": "logloss"}, "'logloss' is not a score; did you mean 'log_loss'"),
        ({"score": "roc_area"}, r"'roc_area', which ranks rows.*folds=10"),
        ({"score": "f1", "one_standard_error": True}, r"no standard error of 'f1'.*folds=10"),
        ({"most": 0}, "most is 0"),
        ({"nested": "loo"}, r"nested='loo'.*nested=5"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_a_remedy(iris, options, message):
    X, y = iris
    options = {"model": NaiveBayes(), **options}
    with pytest.raises(TallyBayesError, match=message):
        choose_features(options.pop("model"), X, y, **options)


def test_the_model_that_came_in_stays_as_it_was(iris):
    X, y = iris
    model = NaiveBayes()
    choose_features(model, X, y, most=1, nested=None)
    assert not hasattr(model, "classes_")
