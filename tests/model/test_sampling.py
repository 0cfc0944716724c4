"""Whole plausible records: their frequencies are the model's probabilities."""

import numpy as np
import pytest

import tallybayes as tb

RNG = np.random.default_rng(8)
ROWS = 80
LABELS = RNG.choice(["p", "q", "r"], ROWS, p=[0.5, 0.3, 0.2])
TABLE = {
    "t": np.where(RNG.random(ROWS) < 0.6, LABELS, RNG.choice(["p", "q", "z"], ROWS)),
    "n": RNG.normal(size=ROWS) + (LABELS == "p"),
    "s": RNG.integers(0, 2, ROWS),
    "w": RNG.integers(0, 4, ROWS),
    "e": RNG.integers(0, 6, ROWS) + 3 * (LABELS == "r"),
}
KINDS = {"s": tb.Binary(), "w": tb.Count(), "e": tb.Count("events")}
TALLY = tb.Tally.of(TABLE, LABELS, columns=KINDS, target="letter")
MODEL = tb.estimate(TALLY, tb.Poisson(bag="events"))
N = 40_000


def close(got, expected, n=N):
    """Frequencies within five standard errors."""
    got, expected = np.asarray(got), np.asarray(expected)
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(got - expected) <= 5 * error + 1e-12).all(), (got, expected)


def shares(values, labels):
    return [np.mean(values == label) for label in labels]


def test_classes_are_drawn_by_the_prior():
    close(shares(MODEL.sample(N, seed=1)["letter"], MODEL.classes), MODEL.prior)


@pytest.mark.parametrize(
    "given",
    [{"t": "p"}, {"t": "z", "n": 0.5}, {"s": 1, "e": 7}, {"n": -1.0, "w": 2}, {"t": "never seen"}],
)
def test_what_is_given_of_the_columns_changes_the_classes_by_the_posterior(given):
    drawn = MODEL.sample(N, given, seed=2)
    close(shares(drawn["letter"], MODEL.classes), list(MODEL.posterior_of(given).values()))
    for name, value in given.items():
        assert set(drawn[name].tolist()) == {value}


def test_a_given_class_is_the_class_of_every_record():
    drawn = MODEL.sample(N, {"letter": "q"}, seed=3)
    assert set(drawn["letter"].tolist()) == {"q"}
    rows = {name: [None] * 3 for name in TABLE} | {"t": ["p", "q", "z"]}
    expected = MODEL.scores(rows)[:, 1] / MODEL.prior[1]
    close(shares(drawn["t"], ["p", "q", "z"]), expected)
    of_q = MODEL.factors[0].parameters
    error = np.sqrt(of_q.variance[1, 0] / N)
    assert abs(drawn["n"].mean() - of_q.mean[1, 0]) < 5 * error
    assert drawn["n"].var() == pytest.approx(of_q.variance[1, 0], rel=0.05)


def test_columns_that_are_counted_together_draw_nothing_but_judge_what_is_given():
    bits = RNG.integers(0, 2, (400, 2))
    table = {"a": np.array(["n", "y"])[bits[:, 0]], "b": np.array(["n", "y"])[bits[:, 1]]}
    same = bits[:, 0] == bits[:, 1]
    model = tb.SemiNaiveBayes(joints=[("a", "b")]).fit(table, same).model_
    plain = tb.NaiveBayes().fit(table, same).model_
    drawn, naive = (each.sample(N, {"class": True}, seed=4) for each in (model, plain))
    for name in table:
        np.testing.assert_array_equal(drawn[name], naive[name])
    close(np.mean(drawn["a"] == drawn["b"]), 0.5)  # though all rows of the class have the same
    given = model.sample(N, {"a": "y", "b": "n"}, seed=4)
    close(np.mean(given["class"]), model.posterior_of({"a": "y", "b": "n"})[True])
    assert np.mean(given["class"]) < 0.05


def test_a_sample_has_every_column_in_order_and_the_target_last():
    drawn = MODEL.sample(7)
    assert list(drawn) == [*TABLE, "letter"]
    assert {len(values) for values in drawn.values()} == {7}


def test_a_seed_makes_the_draw_repeatable():
    def same(a, b):
        return all(np.array_equal(a[name], b[name]) for name in a)

    assert same(MODEL.sample(50, seed=9), MODEL.sample(50, seed=9))
    assert not same(MODEL.sample(50, seed=9), MODEL.sample(50, seed=10))
    generator = np.random.default_rng(9)
    assert same(MODEL.sample(50, seed=generator), MODEL.sample(50, seed=9))
    assert not same(MODEL.sample(50, seed=generator), MODEL.sample(50, seed=9))


def test_a_stated_model_can_be_sampled():
    model = tb.stated({"a": 0.2, "b": 0.8}, {"c": {"a": {"x": 1.0}, "b": {"x": 0.25, "y": 0.75}}})
    drawn = model.sample(N, seed=0)
    close(shares(drawn["c"], ["x", "y"]), [0.2 + 0.8 * 0.25, 0.8 * 0.75])
    assert set(model.sample(100, {"c": "y"}, seed=0)["class"].tolist()) == {"b"}


def test_of_whole_numbers_whole_numbers_are_drawn():
    draw = np.random.default_rng(0)
    table = {"age": draw.integers(18, 90, 500), "size": draw.normal(size=500), "n": np.arange(500)}
    y = draw.choice(["a", "b"], 500)
    model = tb.NaiveBayes({"n": "poisson", "age": "gaussian"}).fit(table, y)
    drawn = model.sample(2000, seed=1)
    assert (drawn["age"] == np.rint(drawn["age"])).all()
    assert drawn["age"].mean() == pytest.approx(table["age"].mean(), abs=2.0)
    assert drawn["age"].std() == pytest.approx(table["age"].std(), rel=0.1)
    assert (drawn["size"] != np.rint(drawn["size"])).all()
