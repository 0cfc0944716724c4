"""Rows left out of the tally of more rows than are at hand: any split into parts gives the same."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tallybayes as tb
from tallybayes.tokenizer import Words
from tallybayes.validation.leave_one_out import LeaveOneOut
from tiers import scaled
from validation.refits import answer, encode, refitted
from validation.registry import CLASSES, PRIORS, SETTINGS, Setting

NO_TEXT = [
    each for each in SETTINGS if not any(isinstance(kind, Words) for kind in each.kinds)
]  # texts cannot be left out in parts


def tally_of(setting, rows, weighted):
    labels, weights, cells = zip(*rows, strict=True)
    source = setting.source(list(cells))
    return tb.Tally.of(source, labels, weights if weighted else None, schema=setting.schema)


def in_parts(setting, rows, cuts, weighted, recipe):
    """Leave out the rows part by part; return classes, scores and priors, or None."""
    tally = tally_of(setting, rows, weighted)
    found = []
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        if start == stop:
            continue
        part = LeaveOneOut(encode(setting, rows[start:stop], weighted), tally, part=True)
        scores = part.joint(recipe)
        if scores is None:
            return None
        found.append((part.y, *scores))
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))


def shares(joint, prior):
    """Turn log scores into posteriors; an impossible row has the prior."""
    top = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(top)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.exp(joint - np.where(possible, top, 0.0))
        scores /= scores.sum(axis=1, keepdims=True)
    return np.where(possible, scores, np.exp(prior))


def assert_parts_are_refits(setting, rows, cuts, weighted, prior, may_be_lost=True):
    """Every row that is not NaN has the posterior of a model counted without it."""
    recipe = setting.recipe(prior)
    each = [([j for j in range(len(rows)) if j != k], [k]) for k in range(len(rows))]
    oracle = answer(lambda: refitted(setting, rows, each, weighted, prior, list(CLASSES)))
    found = answer(lambda: in_parts(setting, rows, cuts, weighted, recipe))
    if found is None or oracle is None:
        return None
    y, joint, log_prior = found
    known = tally_of(setting, rows, weighted).classes
    for k, (label, weight, _) in enumerate(rows):
        if not weighted or weight:
            assert known[y[k]] == label
    lost = np.isnan(joint).any(axis=1)
    assert may_be_lost or not lost.any()
    proba, _, sure = (np.concatenate(part) for part in zip(*oracle, strict=True))
    places = [CLASSES.index(label) for label in known]
    assert np.isclose(proba[:, places].sum(axis=1), 1.0).all()
    off = np.abs(shares(joint, log_prior) - proba[:, places])
    assert (off <= 1e-12 + sure[:, None])[~lost].all(), f"off by {off[~lost].max()}"
    return lost


@pytest.mark.parametrize("setting", NO_TEXT, ids=str)
@scaled(0.12)
@given(data=st.data(), weighted=st.booleans())
def test_any_split_gives_every_row_the_posterior_of_a_refit(setting, data, weighted):
    rows = data.draw(setting.rows(min_size=3))
    assume(any(weight for _, weight, _ in rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4), label="cuts"))
    prior = data.draw(st.sampled_from(PRIORS))
    assert_parts_are_refits(setting, rows, cuts, weighted, prior)


def two_numbers(values, labels):
    second = [1.0, 2.0, 3.0] * len(values)
    return [(label, 1.0, pair) for label, *pair in zip(labels, values, second, strict=False)]


NUMBERS = Setting(
    "numbers", ((0.0,), (0.0,)), lambda rows: np.array(rows, float), (tb.Numeric(), tb.Numeric())
)


def test_an_outlier_of_a_million_deviations_is_lost_or_right_and_spoils_no_other_row():
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    values[11] = 1e6
    rows = two_numbers(values, ["a", "b"] * 20)
    lost = assert_parts_are_refits(NUMBERS, rows, [13, 27], False, PRIORS[0])
    assert not np.delete(lost, 11).any()


def test_the_only_row_of_a_class_is_judged_by_a_model_without_that_class():
    rows = two_numbers([1.0, 2.0, 3.5, 4.0, 9.0], ["a", "a", "a", "b", "b"])
    rows.append(("c", 1.0, (2.0, 1.0)))
    assert_parts_are_refits(NUMBERS, rows, [5], False, PRIORS[0], may_be_lost=False)


def test_what_cannot_be_taken_away_again_has_no_score():
    """The rest of the class is lost in the last digits of a number of 1e12 deviations."""
    values = [1e12, 1.0, 1.1, 1.25, 3.0, 4.5]
    rows = two_numbers(values, ["a", "a", "a", "a", "b", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, joint, _ = in_parts(NUMBERS, rows, [3], False, NUMBERS.recipe())
    assert np.isnan(joint[0]).all()
