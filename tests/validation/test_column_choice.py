"""Choosing columns: judged as if models were fitted on every set, without every row."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, StratifiedKFold

import tallybayes as tb
from tallybayes import NaiveBayes, TallyBayesError, TallyBayesWarning
from tallybayes.validation import choose_columns, column_choice
from tallybayes.validation.cross_validation import OPTIMISTIC
from tiers import scaled

FIVE = StratifiedKFold(5, shuffle=True, random_state=1)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


# Brute force: a model is cross-validated for every set of columns


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
        if not names:
            return chosen.steps[0].score if direction == "forward" else math.nan
        model = NaiveBayes({name: FAMILIES[name] for name in names})
        X = {name: table[name] for name in names}
        return model.cross_val(X, y, folds="loo", sample_weight=w).score("log_loss")

    chosen = choose_columns(
        NaiveBayes(FAMILIES), table, y, direction=direction, nested=None, sample_weight=w
    )
    path = greedy(loss, list(table), direction)
    assert [step.column for step in chosen.steps] == ["", *(name for name, _ in path)]
    found = [step.score for step in chosen.steps]
    start = loss([] if direction == "forward" else list(table))
    np.testing.assert_allclose(found, [start, *(value for _, value in path)], rtol=0, atol=1e-9)
    # of the ways that were gone, the best set is taken
    best = min(found if direction == "backward" else found[1:])
    assert chosen.score == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize(
    ("score", "folds"), [("log_loss", FIVE), ("brier_score", 0.3), ("accuracy", "loo")]
)
def test_every_score_and_its_error_are_those_of_cross_validating_each_set(
    iris, score, folds, monkeypatch
):
    X, y = iris
    w = np.where(np.arange(len(y)) % 7, 1.0, 0.0)
    options = {"folds": folds, "sample_weight": w if folds == "loo" else None}
    asked = {"score": score, "most": 3, "nested": None, **options}
    chosen = choose_columns(NaiveBayes(), X, y, **asked)
    for step in chosen.steps[1:]:
        held = NaiveBayes().cross_val(X[list(step.columns)], y, **options)
        held = held if folds != "loo" else held.take(w > 0.0)
        assert step.score == pytest.approx(held.score(score), abs=1e-9)
        assert step.standard_error == pytest.approx(held.standard_error(score), abs=1e-9)
    # of more rows than fit into memory some judge for all
    monkeypatch.setattr(column_choice, "MOST_CELLS", len(y) * 4 * 3 // 2)
    some = choose_columns(NaiveBayes(), X, y, **{**asked, "most": 1})
    assert some.columns[0].startswith("petal")
    assert 1e-6 < abs(some.score - chosen.steps[1].score) < 0.1


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
    chosen = choose_columns(NaiveBayes(), X, y, direction=direction, nested=None)
    same = [name for name in chosen.columns if name not in ("other", "noise")]
    assert len(same) == 1
    assert "other" in chosen.columns
    everything = NaiveBayes().cross_val(X, y, folds="loo").score("log_loss")
    assert chosen.score < everything - 0.1


def test_nothing_but_noise_is_said_to_be_no_better_than_the_prior():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    with pytest.warns(TallyBayesWarning, match="better log_loss than the prior alone"):
        chosen = choose_columns(NaiveBayes(), X, y, nested=None)
    assert len(chosen.columns) == 1


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_rule_takes_the_smallest_set_within_one_standard_error_of_the_best(wine, direction):
    X, y = wine
    chosen = choose_columns(
        NaiveBayes(), X, y, direction=direction, one_standard_error=True, nested=None
    )
    best = min(chosen.steps, key=lambda step: step.score)
    near = [s for s in chosen.steps if s.columns and s.score <= best.score + best.standard_error]
    assert chosen.columns == min(near, key=lambda step: len(step.columns)).columns
    assert len(chosen.columns) < len(best.columns)
    for most in (1, 3):
        few = choose_columns(NaiveBayes(), X, y, direction=direction, most=most, nested=None)
        assert len(few.columns) == most


# Columns that need each other


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
    said = {("a", "b"): tb.Multinomial(alpha=[1.0, 2.0]), "text": tb.Text()}
    chosen = choose_columns(NaiveBayes(said), X, y, direction="backward", most=1, nested=None)
    assert {step.column for step in chosen.steps} <= {"", "bag 'words'", "size", "text"}
    assert all(("a" in step.columns) == ("b" in step.columns) for step in chosen.steps)
    for step in chosen.steps[1:]:
        columns = {key: word for key, word in said.items() if {*step.columns} & {*key, key}}
        columns |= dict.fromkeys({*X} - {*step.columns}, "drop")
        held = NaiveBayes(columns).cross_val(X, y, folds="loo")
        assert step.score == pytest.approx(held.score("log_loss"), abs=1e-9)


def test_a_sparse_matrix_is_one_unit():
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = sparse.csr_array(rng.poisson(1.0 + 2.0 * y[:, None] * [1, 0, 0, 1]))
    chosen = choose_columns(NaiveBayes(), X, y, nested=2)
    assert chosen.columns == ("x0", "x1", "x2", "x3")
    held = NaiveBayes().cross_val(X, y, folds="loo")
    assert chosen.score == pytest.approx(held.score("log_loss"), abs=1e-9)


@pytest.mark.parametrize(
    "family",
    [tb.Gaussian(floor=tb.AdditiveFloor(0.01)), tb.Bernoulli((0.1, 0.2, 0.3, 0.4), 3.0)],
    ids=["a floor of all columns", "an alpha a column"],
)
def test_columns_that_are_not_estimated_alone_are_chosen_as_one(iris, family):
    X, y = iris
    chosen = choose_columns(NaiveBayes(family), X, y, nested=None)
    assert chosen.columns == tuple(X)
    held = NaiveBayes(family).cross_val(X, y, folds="loo")
    assert chosen.score == pytest.approx(held.score("log_loss"), abs=1e-9)


@pytest.mark.parametrize("columns", ["best", tb.Bins()], ids=["best families", "supervised bins"])
def test_families_and_edges_are_found_first_and_then_stay(wine, columns):
    X, y = wine
    X = X.iloc[:, :4]
    chosen = choose_columns(NaiveBayes(columns), X, y, folds=FIVE, most=2, nested=3)
    frozen = NaiveBayes(columns).fit(X, y)
    families = {
        name: frozen.fitted_.recipe.family_of(frozen.schema_, name).bound(kind)
        for name, kind, _ in frozen.schema_
    }
    for step in chosen.steps[1:]:
        model = NaiveBayes({name: families[name] for name in step.columns})
        held = model.cross_val(X[list(step.columns)], y, folds=FIVE)
        assert step.score == pytest.approx(held.score("log_loss"), abs=1e-9)
    own = NaiveBayes(columns).fit(X[list(chosen.columns)], y)
    np.testing.assert_allclose(
        chosen.model.predict_proba(X), own.predict_proba(X[list(chosen.columns)]), rtol=1e-9
    )


# Nested: rows that had no part in choosing


def test_the_nested_score_is_that_of_choosing_anew_in_every_fold(wine):
    X, y = wine
    chosen = choose_columns(NaiveBayes(calibration="temperature"), X, y, most=3, nested=FIVE)
    proba = np.zeros((len(y), 3))
    often = 0
    for train, test in FIVE.split(X, y):
        within = choose_columns(
            NaiveBayes(calibration="temperature"), X.iloc[train], y.iloc[train], most=3, nested=None
        )
        proba[test] = within.model.predict_proba(X.iloc[test])
        often += "flavanoids" in within.columns
    assert chosen.nested.log_loss == pytest.approx(log_loss(y, proba), abs=1e-9)
    assert any(f"flavanoids ({often} of 5)" in note for note in chosen.nested.notes)
    assert chosen.model.calibration_ is not None
    assert chosen.training == pytest.approx(log_loss(y, chosen.model.predict_proba(X)), abs=1e-9)


def test_groups_stay_together_within_and_without(iris):
    X, y = iris
    groups = np.arange(len(y)) // 3
    by_hand = list(GroupKFold(3).split(X, y, groups))
    one = choose_columns(NaiveBayes(), X, y, folds=GroupKFold(3), groups=groups, nested=2, most=1)
    other = choose_columns(NaiveBayes(), X, y, folds=by_hand, nested=None, most=1)
    assert one.score == pytest.approx(other.score, rel=1e-9)
    with pytest.raises(TallyBayesError, match="groups cannot stay together"):
        choose_columns(NaiveBayes(), X, y, groups=groups)


# The model picks its columns itself

FORMS = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "Arrow": lambda X: pl.from_pandas(X).to_arrow(),
    "mapping": lambda X: {name: X[name].to_numpy() for name in X},
    "records": lambda X: X.to_dict("records"),
    "array": lambda X: X.to_numpy(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_goes_in_and_out(iris, form):
    X, y = iris
    rows, model = FORMS[form](X), NaiveBayes()
    chosen = choose_columns(model, rows, y, most=2, nested=None)
    assert not hasattr(model, "classes_")
    assert chosen.columns == (("x2", "x3") if form == "array" else tuple(X)[2:])
    expected = NaiveBayes().fit(X.iloc[:, 2:], y).predict_proba(X.iloc[:, 2:])
    np.testing.assert_allclose(chosen.model.predict_proba(rows), expected, rtol=1e-9)
    np.testing.assert_allclose(chosen.model.partial_fit(rows, y).predict_proba(rows).sum(1), 1.0)


@pytest.mark.parametrize("by_name", [True, False])
def test_a_dropped_column_is_as_if_it_were_not_there(iris, by_name):
    X, y = iris
    first, *names = X
    columns = {first: "drop"} if by_name else {**dict.fromkeys(names, "auto"), ...: "drop"}
    model, expected = NaiveBayes(columns).fit(X, y), NaiveBayes().fit(X[names], y)
    assert list(model.schema_.names) == names
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X[names]), rtol=1e-12)
    held = model.cross_val(X, y, folds="loo").proba
    np.testing.assert_allclose(held, expected.cross_val(X[names], y, folds="loo").proba, rtol=1e-12)
    assert model.forget(X[:3], y[:3]).tally_.rows.sum() == 147
    numbered = {0: "drop"} if by_name else {**dict.fromkeys((1, 2, 3), "auto"), ...: "drop"}
    assert list(NaiveBayes(numbered).fit(X, y).schema_.names) == names


# What comes out


def test_it_is_printed_and_stored(wine):
    X, y = wine
    chosen = choose_columns(NaiveBayes(), X, y, most=2, nested=2)
    lines = str(chosen).splitlines()
    assert lines[0] == "2 columns chosen, forward: alcohol and flavanoids"
    assert lines[3].split() == ["step", "log_loss", "change", "standard", "error"]
    assert lines[4].split() == ["no", "column", f"{chosen.steps[0].score:.4f}"]
    assert lines[6].endswith("<- chosen")
    assert "nested: no part in choosing" in str(chosen)
    data = json.loads(json.dumps(chosen.to_dict()))
    assert data["columns"] == list(chosen.columns)
    assert data["steps"][0]["score"] == chosen.steps[0].score
    assert data["nested"]["scores"]["log_loss"] == chosen.nested.log_loss
    assert "model" not in data
    assert choose_columns(NaiveBayes(), X, y, most=1, nested=None).notes[-1] == OPTIMISTIC


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": tb.TextNB()}, r"columns are chosen for a NaiveBayes.*best=1000"),
        ({"model": tb.GaussianNB()}, "columns are chosen for a NaiveBayes"),
        ({"model": NaiveBayes}, r"such as NaiveBayes\(\)"),
        ({"direction": "forwards"}, "direction is 'forwards'; did you mean 'forward'"),
        ({"score": "logloss"}, "score is 'logloss'; did you mean 'log_loss'"),
        ({"most": 0}, "most is 0"),
        ({"nested": "loo"}, r"nested='loo'.*nested=5"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_a_remedy(iris, options, message):
    X, y = iris
    options = {"model": NaiveBayes(), **options}
    with pytest.raises(TallyBayesError, match=message):
        choose_columns(options.pop("model"), X, y, **options)
