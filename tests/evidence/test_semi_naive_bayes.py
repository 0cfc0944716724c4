"""Semi-naive Bayes: what naive Bayes cannot tell, in the same algebra."""

from itertools import product

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.evidence import search

RNG = np.random.default_rng(0)
N = 400
A, B = RNG.integers(0, 2, N), RNG.integers(0, 2, N)
X = {"a": np.array(["no", "yes"])[A], "b": np.array(["no", "yes"])[B], "c": RNG.normal(size=N)}
Y = np.where(A == B, "same", "other")


def some(rows, table=X):
    return {name: values[rows] for name, values in table.items()}


@pytest.fixture(scope="module")
def model():
    return tb.SemiNaiveBayes().fit(X, Y)


def test_exclusive_or_goes_from_chance_to_certainty(model):
    held = tb.SemiNaiveBayes().cross_val(X, Y, folds=5)
    plain = tb.NaiveBayes().cross_val(X, Y, folds=5)
    assert plain.score("accuracy") < 0.6
    assert held.score("accuracy") == 1.0
    assert held.score("log_loss") < 0.05
    assert list(model.gains_) == ["a x b"]


def test_three_columns_that_only_together_tell_are_found():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (600, 5))
    table = {f"x{k}": np.array(["n", "y"])[bits[:, k]] for k in range(5)}
    odd = bits[:, [0, 2, 3]].sum(axis=1) % 2
    model = tb.SemiNaiveBayes().fit(some(slice(0, 400), table), odd[:400])
    assert "x0 x x2 x x3" in model.gains_
    rest = some(slice(400, 600), table)
    assert (model.predict(rest) == odd[400:]).all()


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def ended_games():
    """Go through the boards of tic-tac-toe on which x, who began, or o has won, or all is full."""
    for board in product("xob", repeat=9):
        ahead = board.count("x") - board.count("o")
        x, o = (any(all(board[k] == mark for k in line) for line in LINES) for mark in "xo")
        if (x, o, ahead) in ((True, False, 1), (False, True, 0)) or (
            not x and not o and ahead == 1 and "b" not in board
        ):
            yield board, x


def test_tic_tac_toe_is_solved_by_triples():
    boards, won = map(np.array, zip(*ended_games(), strict=True))
    assert (len(won), won.sum()) == (958, 626)
    table = {f"x{k}": boards[:, k] for k in range(9)}
    learnt = np.random.default_rng(0).random(958) < 0.9
    model = tb.SemiNaiveBayes().fit(some(learnt, table), won[learnt])
    assert {" x ".join(f"x{k}" for k in line) for line in LINES} <= set(model.gains_)
    rest = model.predict_proba(some(~learnt, table))
    assert (rest.argmax(axis=1) == won[~learnt]).all()
    assert -np.log(rest[np.arange(len(rest)), won[~learnt].astype(int)]).mean() < 0.05
    plain = tb.NaiveBayes().fit(some(learnt, table), won[learnt])
    assert (plain.predict(some(~learnt, table)) == won[~learnt]).mean() < 0.8


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_noise_yields_no_joints(kind):
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        of = {
            "words": lambda r: r.choice(list("abcdefghijkl"), 500),
            "numbers": lambda r: r.normal(size=500),
        }
        table = {f"x{k}": of[kind](rng) for k in range(6)}
        model = tb.SemiNaiveBayes().fit(table, rng.random(500) < 0.2)
        found += bool(model.gains_)
    assert found <= 5  # in 95 % of draws none


def test_all_views_of_columns_and_of_columns_together_add_up():
    table = {**X, "d": np.where(X["c"] > 0.3, np.nan, X["c"])}
    y = ((A == B) & (X["c"] < 0.3)) ^ (np.arange(N) % 9 == 0)
    fitted = tb.SemiNaiveBayes(joints=[("a", "b", "d"), ("a", "b", "c")]).fit(table, y)
    of, joints = fitted.model_, fitted.model_.joints()
    assert {each.subject for each in joints} == {"a x b x d", "a x b x c"}
    assert len(of.column("d").views) > 1
    rows = list(zip(*table.values(), strict=True))[:50]
    total = np.tile(of.log_prior, (50, 1))
    for column in (*of.columns(), *joints):
        places = [list(table).index(name) for name in column.reads]
        some = [tuple(row[k] for k in places) for row in rows]
        total += column.evidence([value for (value,) in some] if len(places) == 1 else some)
    expected = of.joint_log_likelihood({name: values[:50] for name, values in table.items()})
    np.testing.assert_allclose(total, expected, rtol=1e-9)


def test_it_learns_forgets_and_merges_with_its_weights(model):
    first, rest = np.arange(100), np.arange(100, N)
    parts = tb.SemiNaiveBayes().fit(X, Y)
    parts.forget(some(first), Y[first])
    weights = parts.calibration_
    half = parts.predict_proba(X)
    parts.partial_fit(some(first), Y[first])
    np.testing.assert_allclose(parts.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    assert parts.calibration_ is weights
    parts.forget(some(first), Y[first])
    np.testing.assert_allclose(parts.predict_proba(X), half, rtol=1e-7)
    other = tb.SemiNaiveBayes().fit(X, Y).forget(some(rest), Y[rest])
    both = parts + other
    np.testing.assert_allclose(both.predict_proba(X), model.predict_proba(X), rtol=1e-7)
    with pytest.raises(tb.TallyBayesError, match="other views and joints"):
        parts.merge(tb.SemiNaiveBayes(joints=()).fit(X, Y))


def test_missing_values_are_evidence_and_unseen_ones_are_ignored():
    gone = RNG.random(N) < np.where(Y == "same", 0.6, 0.1)
    table = {**X, "c": np.where(gone, np.nan, X["c"])}
    model = tb.SemiNaiveBayes(joints=()).fit(table, Y)
    assert model.calibration_.exponents["c is missing"] > 0.3
    missing, there = model.predict_proba({"a": ["no"] * 2, "b": ["no"] * 2, "c": [np.nan, 0.0]})
    assert missing[1] > 0.75 > there[1]
    known = model.predict_proba({"a": [None], "b": ["no"], "c": [0.0]})
    unseen = model.predict_proba({"a": ["new"], "b": ["no"], "c": [0.0]})
    np.testing.assert_allclose(known, unseen)


def test_the_users_word_on_joints_holds(model):
    stated = tb.SemiNaiveBayes(joints=[("b", "a")]).fit(X, Y)
    assert list(stated.gains_) == ["b x a"]
    assert (stated.predict(X) == Y).all()
    assert not tb.SemiNaiveBayes(joints=None).fit(X, Y).gains_
    with pytest.raises(tb.TallyBayesError, match="no column 'd'"):
        tb.SemiNaiveBayes(joints=[("a", "d")]).fit(X, Y)
    with pytest.raises(tb.TallyBayesError, match=r"call fit\(\) with a first batch"):
        tb.SemiNaiveBayes().partial_fit(X, Y)


@pytest.mark.parametrize(
    "joints", ["none", 3, ["a"], [("a", "a")], [("a",)], [("a", "b", "c", "d")]]
)
def test_joints_that_mean_nothing_are_refused(joints):
    with pytest.raises(tb.TallyBayesError, match=r"^joints (is|has)"):
        tb.SemiNaiveBayes(joints=joints).fit(X, Y)


@pytest.mark.parametrize(("classes", "weighted"), [*product([2, 4], [False, True])])
def test_it_is_not_worse_than_naive_bayes_where_that_is_right(classes, weighted):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 500)
    table = {
        "n": rng.normal(y, 1.5),
        "c": np.array(list("uvwx"))[(y + rng.integers(0, 2, 500)) % 4],
        "words": np.array(["win cash", "see you", "lunch now", "hello"])[y],
    }
    w = rng.choice([1.0, 2.0], 500) if weighted else None
    columns = {"words": "text"}
    ours, plain = (
        kind(columns).cross_val(table, y, folds=5, sample_weight=w).score("log_loss")
        for kind in (tb.SemiNaiveBayes, tb.NaiveBayes)
    )
    assert ours < plain + 0.02


def test_the_users_word_on_views_holds():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2_500)
    two_hills = rng.normal(2.0 * y * rng.choice([-1, 1], 2_500))
    x = np.where(rng.random(2_500) < 0.1, np.nan, two_hills)
    every = tb.SemiNaiveBayes().fit({"x": x}, y)
    known = {"x", "x in smooth parts", "x in smoother parts", "x in supervised parts"}
    assert set(every.calibration_.exponents) <= known | {"x is missing"}
    assert len(every.calibration_.exponents) > 2
    some = tb.SemiNaiveBayes(views=["smoother", "missing"]).fit({"x": x}, y)
    assert set(some.calibration_.exponents) == {"x", "x in smoother parts", "x is missing"}
    assert set(tb.SemiNaiveBayes(views=None).fit({"x": x}, y).calibration_.exponents) == {"x"}
    for wrong in ("smooth", ["fine"]):
        with pytest.raises(tb.TallyBayesError, match=r"^views is"):
            tb.SemiNaiveBayes(views=wrong).fit({"x": x}, y)


def test_of_many_columns_few_are_joined_and_all_have_one_weight(monkeypatch):
    """Where the columns that tell would be chosen by the rows, they would be trusted too much."""
    monkeypatch.setattr(search, "MOST_PAIRED", 3)
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2, (800, 40))
    y = rng.random(800) < np.array([[0.5, 0.8], [0.8, 0.05]])[bits[:, 7], bits[:, 30]]
    table = {f"x{k}": np.array(["n", "y"])[bits[:, k]] for k in range(40)}
    table["n"] = rng.normal(y)
    few = tb.SemiNaiveBayes().fit(table, y)
    assert "x7 x x30" in few.gains_
    together = {name for pair in few.gains_ for name in pair.split(" x ")}
    assert len(together) <= 3
    monkeypatch.setattr(search, "MOST_WEIGHED", 40)
    many = tb.SemiNaiveBayes(joints=None).fit(table, y)
    assert not many.calibration_.exponents
    warm = tb.NaiveBayes(calibration="temperature", prior="smoothed").fit(table, y)
    assert many.calibration_.default == pytest.approx(warm.calibration_.default, rel=0.1)


def test_of_many_rows_some_are_weighed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(search, "MOST_ROWS", 150)
    labels = np.where(np.arange(N) == 3, "rare", Y)  # which the rows that are weighed do not have
    model = tb.SemiNaiveBayes().fit(X, labels)
    assert model.calibration_.rows == 150
    assert model.tally_.rows.sum() == N
    assert list(model.classes_) == ["other", "rare", "same"]
    assert (model.predict(X) == labels).mean() > 0.95


def test_numbers_that_are_mostly_the_same_are_no_bell_curve():
    """The only row that differs is all of its class: a curve would rule out the class elsewhere."""
    rng = np.random.default_rng(0)
    y = np.array([*["a", "b"] * 100, "c"])
    x = rng.normal(np.select([y == "a", y == "b"], [0.0, 2.0], 6.0))
    table = {f"x{k}": x + rng.normal(0.0, 0.1, len(y)) for k in range(4)}
    table["flag"] = (y == "c").astype(float)
    model = tb.SemiNaiveBayes().fit(table, y)
    weights = model.calibration_.exponents
    assert weights["flag"] == 0.0
    assert weights["flag in smooth parts"] > 0.0
    record = {**{f"x{k}": 6.0 for k in range(4)}, "flag": 0.0}
    assert model.model_.posterior_of(record)["c"] > 1e-4


def test_columns_together_promise_what_the_best_way_to_cut_them_does():
    rng = np.random.default_rng(1)
    table = {name: rng.normal(size=600) for name in "ab"}
    y = (table["a"] * table["b"] + rng.normal(0.0, 0.3, 600) > 0.0).astype(int)
    model = tb.SemiNaiveBayes().fit(table, y)
    ways = [gain for name, gain in model.gains_.items() if name.startswith("a x b")]
    [joint] = model.model_.joints()
    assert len(ways) > 1
    assert model.model_.gain(joint) == max(ways)
    [found] = tb.NaiveBayes().fit(table, y).diagnose(table, y).joints
    assert found.gain == pytest.approx(max(ways), rel=1e-3)  # by another prior
