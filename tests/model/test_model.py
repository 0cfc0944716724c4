"""Posteriors, predictions and decisions, each against its definition."""

import warnings

import numpy as np
import pytest

import tallybayes as tb

RNG = np.random.default_rng(11)
N = 60
TABLE = {
    "number": RNG.normal(size=N),
    "text": RNG.choice(["a", "b", "c"], N),
    "flag": RNG.random(N) < 0.4,
    "word": RNG.integers(0, 4, N),
    "event": RNG.integers(0, 5, N),
    "switch": RNG.integers(0, 2, N),
}
KINDS = {"word": tb.Count(), "event": tb.Count("events"), "switch": tb.Binary()}
LABELS = RNG.choice(["p", "q", "r"], N, p=[0.5, 0.3, 0.2])
TALLY = tb.Tally.of(TABLE, LABELS, columns=KINDS)
MODEL = tb.estimate(TALLY, tb.Poisson(bag="events"))


def tie(positive=None):
    """Three classes: x speaks for a and c alike, y for b, a missing value for none."""
    thirds = dict.fromkeys("abc", 1 / 3)
    even = {"x": 0.5, "y": 0.5}
    values = {"a": even, "b": {"x": 0.4, "y": 0.6}, "c": even}
    return tb.stated(thirds, {"col": values}, positive=positive)


def test_the_score_is_the_prior_times_the_factors():
    table = {"n": [1.0, 2.0, 4.0, 7.0], "t": ["x", "y", "y", "y"]}
    model = tb.estimate(tb.Tally.of(table, ["a", "a", "b", "b"]))
    mean, var = np.array([1.5, 5.5]), np.array([0.5, 4.5])
    density = np.exp(-((3.0 - mean) ** 2) / (2 * var)) / np.sqrt(2 * np.pi * var)
    expected = 0.5 * density * np.array([2 / 4, 3 / 4])  # y, add-one smoothed
    np.testing.assert_allclose(model.scores({"n": [3.0], "t": ["y"]})[0], expected, rtol=1e-12)


def test_5000_columns_do_not_underflow():
    x = np.random.default_rng(0).normal(size=(20, 5000))
    y = np.arange(20) % 2
    x[y == 1] += 0.05
    model = tb.estimate(tb.Tally.of(x, y))
    posterior = model.posterior(x)
    assert model.scores(x).max() == 0.0  # a product of densities would say nothing
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    joint = model.joint_log_likelihood(x)
    assert np.isfinite(joint).all()
    odds = np.diff(model.log_posterior(x), axis=1)
    np.testing.assert_allclose(odds, np.diff(joint, axis=1), rtol=1e-9)


def test_a_far_away_number_goes_to_the_class_with_the_wider_curve():
    curves = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 4.0)}
    model = tb.stated({"a": 0.999, "b": 0.001}, {"n": curves})
    assert model.posterior({"n": [1e6, -1e150]}).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert model.posterior_of({"n": 1e6}) == {"a": 0.0, "b": 1.0}


def test_the_positive_class_wins_only_when_strictly_greater():
    assert tie("a").predict({"col": ["x", "y", None]}).tolist() == ["c", "b", "b"]
    assert tie("b").predict({"col": ["x", "y", None]}).tolist() == ["a", "b", "a"]


def test_a_record_impossible_in_every_class_gets_the_prior_and_a_warning():
    tally = tb.Tally.of({"u": ["x", "y", "y"], "v": ["x", "y", "y"]}, ["a", "b", "b"])
    model = tb.estimate(tally, tb.Categorical(alpha=0))
    rows = {"u": ["x", "x", "y"], "v": ["x", "y", "x"]}
    with pytest.warns(tb.TallyBayesWarning, match=r"row 1 is impossible .*\(2 such rows\).*alpha"):
        posterior = model.posterior(rows)
    np.testing.assert_allclose(posterior, [[1, 0], [1 / 3, 2 / 3], [1 / 3, 2 / 3]], rtol=1e-14)
    with pytest.warns(tb.TallyBayesWarning, match="impossible"):
        one = model.posterior_of({"u": "x", "v": "y"})
    assert list(one.values()) == pytest.approx([1 / 3, 2 / 3])
    with pytest.warns(tb.TallyBayesWarning, match="impossible"):
        assert model.predict(rows).tolist() == ["a", "b", "b"]


def test_a_record_impossible_in_one_class_is_certain_and_warns_of_nothing():
    tally = tb.Tally.of({"u": ["x", "y", "y"]}, ["a", "b", "b"])
    model = tb.estimate(tally, tb.Categorical(alpha=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.posterior({"u": ["x", "y"]}), [[1, 0], [0, 1]])


LOSSES = {
    "p": {"p": 0, "q": 5, "r": 1},
    "refer": {"p": 1.1, "q": 1.1, "r": 1.1},
    "q": {"p": 2, "q": 0, "r": 3},
    "r": {"p": 1, "q": 6, "r": -0.5},
}


def test_a_decision_has_the_least_expected_loss():
    expected = []
    for row in MODEL.posterior(TABLE):
        risk = {
            decision: sum(loss[label] * p for label, p in zip(MODEL.classes, row, strict=True))
            for decision, loss in LOSSES.items()
        }
        expected.append(min(risk, key=risk.get))
    assert MODEL.decide(TABLE, LOSSES).tolist() == expected
    assert len(set(expected)) > 1


def test_equal_losses_go_to_the_decision_named_first():
    same = dict.fromkeys("abc", 1.0)
    assert tie().decide({"col": ["y"]}, {"z": same, "refer": same}).tolist() == ["z"]
    assert tie().decide({"col": ["y"]}, {"refer": same, "z": same}).tolist() == ["refer"]


@pytest.mark.parametrize("value", [-3, 0, 9, 10**12])
def test_integers_never_seen_leave_their_factor_out(value):
    x = np.array([[1], [2], [5], [5]])
    schema = tb.Schema.same(("x0",), tb.Categories())
    model = tb.estimate(tb.Tally.of(x, [0, 0, 1, 1], schema=schema))
    np.testing.assert_allclose(model.posterior(np.array([[value], [5]]))[0], model.prior)
    strict = tb.estimate(
        tb.Tally.of(x, [0, 0, 1, 1], schema=schema), tb.Categorical(unseen="error")
    )
    with pytest.raises(tb.TallyBayesError, match=f"column 'x0' .*{value}"):
        strict.posterior(np.array([[5], [value]]))
