"""A model that is worse than none says so: when fitted, in its summary, its file, its report."""

import html
import warnings

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.metrics import Predictions
from tallybayes.metrics.baseline import Baseline
from tallybayes.model.specification import ModelSpec
from tallybayes.workflows import train

WORSE = "this model is worse than none: each row left out, "


def repeated(n=600, seed=0):
    """Return rows in which one weak and skewed column is repeated ten times, and their labels."""
    draw = np.random.default_rng(seed)
    y = np.where(draw.random(n) < 0.2, "late", "paid")
    size = draw.lognormal(np.where(y == "late", 1.3, 1.0), 1.5)
    table = {f"bill {k}": size * draw.lognormal(0.0, 0.05, n) for k in range(10)}
    return table, y


def useful(n=200, seed=0):
    draw = np.random.default_rng(seed)
    y = np.where(draw.random(n) < 0.4, "late", "paid")
    return {"delay": draw.normal(np.where(y == "late", 2.0, 0.0))}, y


def warned(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run()
    return found, [str(each.message) for each in caught if WORSE in str(each.message)]


@pytest.mark.usefixtures("words_only")
def test_fit_says_so_in_one_sentence_with_the_remedy_and_so_does_all_that_follows(tmp_path):
    table, y = repeated()
    model, (said,) = warned(lambda: tb.NaiveBayes().fit(table, y))
    assert "SemiNaiveBayes" in said
    assert "'log_normal'" in said
    assert said in model.summary()
    model.save(tmp_path / "m.tally")
    assert said in tb.load(tmp_path / "m.tally").summary()
    assert said.split("'")[0] in html.unescape(model.report().html)
    assert "worse than no model" in str(model.report(table, y).scores)
    trained = train({**table, "y": y}, "y", ModelSpec(plain=True))
    assert WORSE in str(trained)
    assert "'log_normal'" in str(trained)
    assert WORSE in trained.to_dict()["worse_than_none"]
    stored = train({**table, "y": y}, "y", ModelSpec(plain=True), scores=False)
    assert stored.to_dict()["worse_than_none"] is None  # nothing was left out


def test_what_is_said_are_the_scores_of_leave_one_out():
    table, y = repeated()
    model, _ = warned(lambda: tb.NaiveBayes().fit(table, y))
    held = tb.NaiveBayes().cross_val(table, y, folds="loo")
    worth = model.fitted_.worth.held_out
    assert worth.log_loss == pytest.approx(held.score("log_loss"))
    assert worth.accuracy == pytest.approx(held.score("accuracy"))
    assert worth.share == pytest.approx((y == "paid").mean())
    late = (y == "late").sum()
    alone = np.where(y == "late", late, 600 - late) / 601
    assert worth.without == pytest.approx(-np.log(alone).mean())


def test_a_useful_model_and_the_remedy_say_nothing():
    table, y = useful()
    model, said = warned(lambda: tb.NaiveBayes().fit(table, y))
    assert not said
    assert model.fitted_.worth.held_out.log_loss < model.fitted_.worth.held_out.without
    assert WORSE not in model.summary()
    table, y = repeated()
    model, said = warned(lambda: tb.SemiNaiveBayes().fit(table, y))
    assert not said
    assert not model.fitted_.worth.held_out.is_worse


@pytest.mark.parametrize(
    "make",
    [
        lambda table, y: tb.NaiveBayes(prior="uniform").fit(table, y),
        lambda table, y: tb.NaiveBayes().fit({n: x[:20] for n, x in table.items()}, y[:20]),
        lambda table, y: tb.NaiveBayes().partial_fit(table, y),
        lambda table, y: tb.NaiveBayes().fit(table, np.full(len(y), "paid")),
    ],
    ids=["another prior than the rows'", "few rows", "in parts", "one class"],
)
def test_what_cannot_be_judged_is_not(make):
    model, said = warned(lambda: make(*repeated()))
    assert not said
    assert model.fitted_.worth is None


def test_of_many_rows_some_are_left_out_of_all(monkeypatch):
    table, y = repeated()
    monkeypatch.setattr("tallybayes.evidence.appraisal.MOST_ROWS", 150)
    model, _ = warned(lambda: tb.NaiveBayes().fit(table, y))
    worth = model.fitted_.worth.held_out
    held = tb.NaiveBayes().cross_val(table, y, folds="loo")
    some = np.sort(np.random.default_rng(0).choice(600, 150, replace=False))
    assert worth.log_loss == pytest.approx(held.take(some).score("log_loss"))


def test_what_learns_on_is_not_what_was_judged():
    table, y = repeated()
    model, _ = warned(lambda: tb.NaiveBayes().fit(table, y))
    model.partial_fit(table, y)
    assert model.fitted_.worth is None
    assert WORSE not in model.summary()


def test_a_difference_that_may_be_chance_is_not_spoken_of():
    p = np.full((50, 2), [0.52, 0.48])
    close = Predictions.of(["a", "b"] * 25, p)
    assert not Baseline.of(close).is_worse
    wrong = Predictions.of(["a"] * 30 + ["b"] * 20, np.full((50, 2), [0.1, 0.9]))
    assert Baseline.of(wrong).sure == (True, False)
    certain = Predictions.of(["a"] * 45 + ["b"] * 5, np.full((50, 2), [0.1, 0.9]))
    assert Baseline.of(certain).sure == (True, True)
    assert "right in 10.0 %, where always answering 'a' is right in 90.0 %" in str(
        Baseline.of(certain)
    )
