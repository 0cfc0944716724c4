"""Models of every kind, as they are stored: what the tests of the model file go over."""

from dataclasses import fields

import numpy as np

import tallybayes as tb
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Provenance, Stored
from tallybayes.tokenizer import WordWeights

TABLE = {
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, None],
    "size": [1.5, 20.0, 300.0, 4.0, 5.0, 60.0],
    "age": [12, 15, 40, 52, 70, 81],
    "status": ["Single", "Married", "Single", "Married", "Divorced", None],
    "owner": [True, False, False, True, False, None],
    "rooms": [1, 2, 2, 3, 3, 1],
    "on": [0, 1, 1, 0, 1, 1],
    "visits": [0, 3, 1, 2, 0, 5],
    "calls": [1, 0, 0, 2, 4, 1],
    "mail": ["Buy a lottery", "über über lunch", None, "", "lunch now", "you buy, you win"],
}
LABELS = ["yes", "no", "no", "yes", "no", "no"]
WEIGHTS = [1.0, 2.0, 0.5, 1.0, 0.25, 3.0]
NEW = {
    "income": [90.0, None, 500.0],
    "size": [2.0, 1e6, None],
    "age": [18, 66, 40],
    "status": ["Married", "Widowed", None],
    "owner": [True, None, False],
    "rooms": [2, 7, 1],
    "on": [1, 0, None],
    "visits": [2, 0, 1],
    "calls": [0, 9, 1],
    "mail": ["lunch! a lottery", None, "unheard of"],
}
WORDS = tb.Words(ngrams=(1, 2), stop_words=("a",))
KINDS = {
    "size": tb.LogNormal(),
    "age": tb.Bins(edges=(18, 65)),
    "status": tb.Categories(("Widowed",)),
    "rooms": tb.Categories(),
    "on": tb.Binary(0.5),
    "visits": tb.Count("a"),
    "calls": tb.Count("b"),
    "mail": WORDS,
}
GUESS = tb.ByClass({"yes": 1 / 3, "no": tb.ByValue({True: 0.1, False: 2 / 3})})
COLUMNS = {
    "income": tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-3, of=2.5)),
    "size": tb.LogNormal(ddof=0.5),
    "age": tb.Bins((18, 65), alpha=0.1),
    "status": tb.Categorical(alpha=0.3, unseen="smooth"),
    "owner": tb.Categorical(m=3, p=GUESS),
    "rooms": tb.Categorical(m=np.float32(0.1), p=tb.ByValue({1: 0.2, 2: 1 / 7, 3: 0.5})),
    "on": tb.Bernoulli(alpha=0.7, threshold=0.5),
    "visits": tb.Multinomial(alpha=0.2, bag="a"),
    "calls": tb.Complement(bag="b", norm=True),
    "mail": tb.Text(WORDS, event="bernoulli", alpha=0.1 + 0.2, min_df=2, best=5),
}
PROVENANCE = Provenance(
    "2031-02-03T04:05:06+00:00",
    "2031-02-03T04:05:07+00:00",
    "0.1.0",
    ("loan.csv", "größer.csv"),
    6,
    2,
    ("fit loan.csv: 6 rows", "update größer: 0 rows"),
)


def mixed(**changes):
    """A model with columns of every kind, each with a family of its own."""
    tally = tb.Tally.of(TABLE, LABELS, WEIGHTS, columns=KINDS, target="cheat")
    said = {"columns": COLUMNS, "positive": "yes"}
    return Fitted(tally, Recipe(**said | changes))


def stored(fitted, **changes):
    return Stored(fitted, changes.get("provenance", PROVENANCE), changes.get("estimator"))


def small():
    """A model that takes few bytes, so that every one of them can be tried."""
    table = {"x": [1.0, 2.5, 4.0], "c": ["r", "b", "r"]}
    return stored(
        Fitted(tb.Tally.of(table, ["y", "n", "n"]), Recipe(prior=tb.Fixed({"y": 0.4, "n": 0.6})))
    )


def assert_same(ours, expected):
    """Two values are the same; NaN is NaN, and True is not 1."""
    assert type(ours) is type(expected)
    assert ours == expected or repr(ours) == repr(expected)


def assert_same_stored(ours, expected):
    """Two stored models are the same, whatever one asks of them."""
    assert_same(ours.provenance, expected.provenance)
    assert_same(ours.estimator, expected.estimator)
    mine, theirs = ours.fitted, expected.fitted
    assert mine.tally == theirs.tally
    assert mine.tally.to_bytes() == theirs.tally.to_bytes()
    assert mine.tally.schema.reasons == theirs.tally.schema.reasons
    for name in (each.name for each in fields(Recipe)):
        assert_same(getattr(mine.recipe, name), getattr(theirs.recipe, name))
    assert repr(mine.classes) == repr(theirs.classes)
    assert repr(mine.labels) == repr(theirs.labels)


CALIBRATIONS = {
    "temperature": Calibration("temperature", {}, 1 / 3, 0.7, 0.1, 0.2, 0.9, 0.8, 100),
    "weights": Calibration(
        "weights", {"income": 0.1 + 0.2, "bag 'a'": 0.0, "mail": 2.0}, loss_before=float("inf")
    ),
    "words": Calibration(
        "words", {"mail": 0.7}, words={"mail": WordWeights({"a": 1.5, "b": -0.5, "é": 0.0})}
    ),
    "evidence": Calibration("evidence", {"income": 0.3}, 0.0, constants={"no": 0.25, "yes": -0.5}),
}
