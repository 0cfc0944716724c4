"""Posteriors, predictions and decisions, each against its definition."""

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
