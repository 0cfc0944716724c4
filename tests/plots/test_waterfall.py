"""The waterfall: its steps are the evidence, and add up."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from explanations.cases import fitted
from plots.scored_rows import loan
from tallybayes.explanations import explain
from tallybayes.plots import ColumnDisplay, NomogramDisplay, WaterfallDisplay


def bars(display):
    found = [bar for group in display.ax_.containers for bar in group]
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in found]


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(WaterfallDisplay, "plot", lambda self, ax=None: self)


def test_steps_add_up_to_the_log_odds(setting, undrawn):
    case = fitted(setting, setting.examples(12), "weights")
    for k, (_, _, cells) in enumerate(setting.examples(4, seed=7)):
        record = case.record(cells)
        joint = case.joint(record)
        if not np.isfinite(joint[:2]).all():
            continue
        display = WaterfallDisplay.from_estimator(case.model, record, "a", "b", most=1 + k)
        expected = (joint[0] - joint[1]) / math.log(2.0)
        assert math.fsum(step.bits for step in display.steps) == pytest.approx(expected, abs=1e-9)
        assert display.ends[-1] == pytest.approx(expected, abs=1e-9)
        assert display.total == pytest.approx(expected, abs=1e-9)


def test_bars_hang_on_each_other_and_the_last_one_is_the_total():
    record = {"refund": "No", "status": "S", "income": 95.0}
    display = WaterfallDisplay.from_estimator(loan(), record)
    contrast = explain(loan().model_, record).against()
    drawn = bars(display)
    assert drawn[0] == pytest.approx((0.0, contrast.prior))
    for (_, before), (start, _) in pairwise(drawn[:-1]):
        assert start == pytest.approx(before)
    lengths = [end - start for start, end in drawn[1:-1]]
    assert lengths == pytest.approx([each.bits for each in contrast.evidence])
    assert drawn[-1] == pytest.approx((0.0, contrast.total))
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == ["prior", "income = 95", "status = S", "refund = No", "total"]


def test_odds_and_probability_are_told():
    chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.25, "b": 0.5}}
    model = tb.stated({"a": 0.5, "b": 0.5}, chances)
    display = WaterfallDisplay.from_estimator(model, {"red": True, "wet": True})
    bits = ["+0.00 bits, 1 : 1", "+3.00 bits, 8 : 1", "-1.00 bits, 1 : 2", "+2.00 bits, 4 : 1"]
    assert [text.get_text() for text in display.ax_.texts] == bits
    assert display.ax_.get_title(loc="left") == "Why a rather than b: odds 4 : 1"
    assert "Together +2.00 bits, 4 : 1. The probability of a among all classes is 0.8000." in (
        display.alt_text
    )
    (upper,) = display.ax_.child_axes
    display.figure_.canvas.draw()
    ticks = [
        (text.get_text(), x)
        for text, x in zip(upper.get_xticklabels(), upper.get_xticks(), strict=True)
    ]
    assert dict(ticks)["0.9"] == pytest.approx(math.log2(9.0))
    assert dict(ticks)["0.5"] == pytest.approx(0.0)


def test_the_weakest_are_one_step():
    record = {"refund": "No", "status": "S", "income": 95.0}
    evidence = explain(loan().model_, record).against().evidence
    display = WaterfallDisplay.from_estimator(loan(), record, most=1)
    assert [step.name for step in display.steps] == ["prior", "income = 95", "2 more"]
    assert display.steps[2].bits == pytest.approx(evidence[1].bits + evidence[2].bits)
    every = WaterfallDisplay.from_estimator(loan(), record, most=2)
    assert len(every.steps) == 4  # one more takes as much room as saying so


def test_what_is_left_out_is_listed():
    display = WaterfallDisplay.from_estimator(loan(), {"refund": "No", "status": "X"})
    assert display.left_out == ("status = X (never seen before)", "income (missing)")
    assert [step.name for step in display.steps] == ["prior", "refund = No"]
    for text in (display.ax_.get_xlabel(), display.alt_text):
        assert "income (missing)" in text


def test_words_are_steps_with_their_number():
    model = tb.TextNB().fit(["win money", "see you"], ["spam", "ham"])
    (column,) = model.model_.schema.names
    display = WaterfallDisplay.from_estimator(model, {column: "win win see unknown"})
    assert {step.name for step in display.steps} == {"prior", "“win”, 2 times", "“see”"}
    assert display.left_out == ("“unknown” (not a word that the model knows)",)


def test_what_rules_a_class_out_comes_last_with_an_arrow():
    record = {"refund": "Yes", "status": "S", "income": 95.0}
    display = WaterfallDisplay.from_estimator(loan(alpha=0), record, "Yes")
    assert display.steps[-1].name == "refund = Yes"
    assert display.steps[-1].bits == display.total == -math.inf
    low, high = display.ax_.get_xlim()
    assert all(low <= x <= high for ends in bars(display) for x in ends)
    arrows = [line for line in display.ax_.lines if line.get_marker() == "<"]
    assert len(arrows) == 2
    assert "rules out Yes" in [text.get_text() for text in display.ax_.texts]
    assert "refund = Yes rules out Yes" in display.alt_text
    turned = WaterfallDisplay.from_estimator(loan(alpha=0), record, "No")
    assert turned.total == math.inf
    assert [line.get_marker() for line in turned.ax_.lines].count(">") == 2


def test_a_record_that_neither_class_allows_is_said_to_be():
    for red, wet in (({"a": 0.0, "b": 0.5}, {"a": 0.5, "b": 0.0}), ({"a": 0.0, "b": 0.0},) * 2):
        model = tb.stated({"a": 0.5, "b": 0.5}, {"red": red, "wet": wet})
        display = WaterfallDisplay.from_estimator(model, {"red": True, "wet": True})
        assert math.isnan(display.total)
        assert "Neither a nor b" in display.ax_.get_title(loc="left")
        assert "Both classes are impossible" in display.alt_text


@pytest.mark.parametrize("letter", ["W", "x y "])
def test_what_is_left_out_stays_within_the_picture(letter):
    table = {f"{letter * 30} {k}": ["u", "v", "u", "v"] for k in range(7)}
    model = tb.NaiveBayes().fit(table, list("aabb"))
    display = WaterfallDisplay.from_estimator(model, {f"{letter * 30} 0": "u"})
    display.figure_.canvas.draw()
    assert "left out" in display.ax_.get_xlabel()
    said = display.ax_.xaxis.label.get_window_extent()
    assert 0.0 <= said.x0 < said.x1 <= display.figure_.bbox.x1


def test_a_record_may_be_a_row_of_a_table():
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0, 7.0], "y": [3.0, 1.0, 2.0, 8.0]})
    model = tb.NaiveBayes().fit(X, list("aabb"))
    expected = WaterfallDisplay.from_estimator(model, {"x": 1.0, "y": 3.0}).steps
    for given in (model, model.model_):
        assert WaterfallDisplay.from_estimator(given, X.iloc[0]).steps == expected
    nomogram = NomogramDisplay.from_estimator(model, "a", record=X.iloc[0])
    assert nomogram.probability() == pytest.approx(nomogram.probability(X.iloc[0]))
    assert ColumnDisplay.from_estimator(model, "x", record=X.iloc[1]).value == 2.0
