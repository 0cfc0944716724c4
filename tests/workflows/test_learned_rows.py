"""A model that judges the very rows it has learned from says so, and leaves each out instead."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import workflows
from tallybayes.model.specification import ModelSpec

rng = np.random.default_rng(2)
N = 90
TABLE = {
    "x": rng.normal(size=N),
    "c": rng.choice(["r", "g", "b"], N),
    "y": rng.choice(["p", "q"], N),
}
ROWS = {name: TABLE[name] for name in "xc"}


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_rows_that_were_learned_are_left_out_one_by_one(order):
    stored = workflows.train(TABLE, "y", ModelSpec(plain=True)).stored
    table = {name: values[order] for name, values in TABLE.items()}
    found = workflows.evaluate(stored, table)
    assert found.result.held_out == "leave-one-out"
    assert "has learned from these very rows" in str(found)
    truth = tb.NaiveBayes().cross_val(ROWS, TABLE["y"], folds="loo").score("log_loss")
    assert found.to_dict()["scores"]["log_loss"] == pytest.approx(truth, rel=1e-9)


def test_a_model_whose_weights_were_fitted_on_the_rows_only_says_so():
    stored = workflows.train(TABLE, "y").stored
    found = workflows.evaluate(stored, TABLE)
    assert found.result.held_out == "training rows"
    assert "so their scores flatter it" in str(found)


def test_other_rows_with_as_many_of_each_class_are_held_out():
    stored = workflows.train(TABLE, "y", ModelSpec(plain=True)).stored
    found = workflows.evaluate(stored, {**TABLE, "x": TABLE["x"] + 0.1})
    assert found.result.held_out == "test set"
    assert "learned" not in str(found)
