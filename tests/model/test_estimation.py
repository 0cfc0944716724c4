"""From a tally to a model: its families and size; its decisions, against their definition."""

import numpy as np
import pytest

import tallybayes as tb

TABLE = {
    "a": ["x", "y", "x", "y", "x"],
    "b": ["x", "x", "y", "z", "x"],
    "n": [1.0, 2.0, 4.0, 5.0, 9.0],
    "m": [1.0, 1.0, 3.0, 5.0, 2.0],
}
LABELS = ["p", "q", "p", "q", "p"]
TALLY = tb.Tally.of(TABLE, LABELS)


def probabilities(model, name):
    """P(value | class) of a column, read through the model's own scores."""
    rows = {key: [None] * 3 for key in TABLE} | {name: ["x", "y", "z"]}
    return model.scores(rows) / model.prior


def test_a_default_goes_to_all_columns_of_its_kind():
    model = tb.estimate(TALLY, tb.Categorical(alpha=2.0))
    np.testing.assert_allclose(probabilities(model, "a")[:2], [[5 / 7, 2 / 6], [2 / 7, 4 / 6]])
    np.testing.assert_allclose(probabilities(model, "b")[0], [4 / 9, 3 / 8])


def test_a_family_by_name_goes_before_the_default():
    model = tb.estimate(TALLY, tb.Categorical(alpha=2.0), columns={"b": tb.Categorical(alpha=0)})
    np.testing.assert_allclose(probabilities(model, "a")[:2], [[5 / 7, 2 / 6], [2 / 7, 4 / 6]])
    np.testing.assert_allclose(probabilities(model, "b")[:2], [[2 / 3, 1 / 2], [1 / 3, 0]])


COUNTED = {"x": [0, 1, 3, 0, 1], "y": [1, 1, 0, 2, 0], "z": [2, 0, 1, 2, 0]}
SIZES = {
    "categories": ({"a": TABLE["a"], "b": TABLE["b"]}, None, 1 + 2, 2 + 3),
    "declared values": ({"a": TABLE["a"]}, tb.Categories(("x", "y", "z", "w")), 3, 4),
    "means and variances": ({"n": TABLE["n"], "m": TABLE["m"]}, None, 4, 4),
    "a constant": ({"n": [1.5] * 5}, None, 0, 0),
    "yes or no": (COUNTED, tb.Bernoulli(), 3, 3 * 2),
    "shares of three words": (COUNTED, tb.Multinomial(), 2, 3),
    "shares of the other words": (COUNTED, tb.Complement(), 2, 3),
    "rates": (COUNTED, tb.Poisson(), 3, 3),
}


@pytest.mark.parametrize(("table", "family", "free", "entries"), SIZES.values(), ids=SIZES)
def test_a_model_has_the_parameters_of_its_families_in_each_class(table, family, free, entries):
    tally = tb.Tally.of(table, LABELS, columns=family and dict.fromkeys(table, family))
    model = tb.estimate(tally, *([family] if hasattr(family, "estimate") else []))
    # and those of the prior
    assert (model.free_parameters, model.table_entries) == (1 + 2 * free, 2 + 2 * entries)


def test_a_model_says_what_it_is():
    assert repr(tb.estimate(TALLY)) == "Model(4 columns, classes 'p', 'q')"


def test_a_stated_model_is_the_model_of_those_numbers():
    model = tb.stated(
        {"spam": 0.4, "ham": 0.6},
        {
            "prince": {"spam": 0.2, "ham": 0.01},
            "from": {"spam": {"friend": 0.1, "other": 0.9}, "ham": {"friend": 1.0}},
            "length": {"spam": tb.Normal(5.0, 4.0), "ham": tb.Normal(7.0, 1.0)},
        },
    )
    assert model.classes == ("ham", "spam")
    score = model.scores({"prince": [True], "from": ["friend"], "length": [6.0]})[0]
    curve = np.exp([-0.5, -0.125]) / np.sqrt(2 * np.pi * np.array([1.0, 4.0]))
    np.testing.assert_allclose(score, np.array([0.6 * 0.01 * 1.0, 0.4 * 0.2 * 0.1]) * curve)
    assert model.posterior_of({"from": "other"}) == {"ham": 0.0, "spam": 1.0}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"c": 0.5}, "column 'c': state a distribution for each class"),
        ({"c": {"a": 0.5}}, "column 'c': class 'b' has no distribution"),
        ({"c": {"a": 0.5, "b": 0.5, "bb": 0.1}}, "column 'c': class 'bb' is not in the prior"),
        ({"c": {"a": 0.5, "b": 1.5}}, "column 'c': state the same form for every class"),
        ({"c": {"a": 0.5, "b": tb.Normal(0, 1)}}, "column 'c': state the same form"),
        ({"c": {"a": {"x": 1.0}, "b": {"x": 0.5}}}, "column 'c': .*must add up to 1"),
        ({"c": {"a": {"x": 1.0}, "b": {"x": 1.5, "y": -0.5}}}, "column 'c': .*at least 0"),
    ],
)
def test_a_statement_that_cannot_be_is_refused(columns, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        tb.stated({"a": 0.5, "b": 0.5}, columns)


RNG = np.random.default_rng(11)
N = 60
TABLE_OF_MODEL = {
    "number": RNG.normal(size=N),
    "text": RNG.choice(["a", "b", "c"], N),
    "flag": RNG.random(N) < 0.4,
    "word": RNG.integers(0, 4, N),
    "event": RNG.integers(0, 5, N),
    "switch": RNG.integers(0, 2, N),
}
KINDS = {"word": tb.Count(), "event": tb.Count("events"), "switch": tb.Binary()}
LABELS_OF_MODEL = RNG.choice(["p", "q", "r"], N, p=[0.5, 0.3, 0.2])
TALLY_OF_MODEL = tb.Tally.of(TABLE_OF_MODEL, LABELS_OF_MODEL, columns=KINDS)
MODEL = tb.estimate(TALLY_OF_MODEL, tb.Poisson(bag="events"))


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
    for row in MODEL.posterior(TABLE_OF_MODEL):
        risk = {
            decision: sum(loss[label] * p for label, p in zip(MODEL.classes, row, strict=True))
            for decision, loss in LOSSES.items()
        }
        expected.append(min(risk, key=risk.get))
    assert MODEL.decide(TABLE_OF_MODEL, LOSSES).tolist() == expected
    assert len(set(expected)) > 1


def test_equal_losses_go_to_the_decision_named_first():
    same = dict.fromkeys("abc", 1.0)
    assert tie().decide({"col": ["y"]}, {"z": same, "refer": same}).tolist() == ["z"]
    assert tie().decide({"col": ["y"]}, {"refer": same, "z": same}).tolist() == ["refer"]
