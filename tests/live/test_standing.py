"""Every labelled event is scored before it is learnt, by the champion and by challengers."""

import numpy as np
import pytest

from live.streams import FIRST, outcomes, rows, stored, told
from tallybayes import Categorical, NaiveBayes, TallyBayesError
from tallybayes.live import LiveModel
from tallybayes.live.state import FEWEST, MOST, SHARE
from tallybayes.metrics import Predictions
from tallybayes.model import Recipe
from tallybayes.priors import Uniform

KINDS = {"note": "text", "age": "gaussian"}
NAMES = ("income", "status", "age", "owner", "note")


def table(drawn):
    return {name: [record.get(name) for record, _ in drawn] for name in NAMES}


def prequential(drawn, prior="empirical"):
    """Score each block by a model of all rows before it, fitted anew, in plain sight."""
    proba, blocks, begin = [], [], 0
    while begin + (size := min(max(begin // SHARE, FEWEST), MOST)) <= len(drawn):
        seen = FIRST + drawn[:begin]
        model = NaiveBayes(columns=KINDS, prior=prior).fit(table(seen), [y for _, y in seen])
        proba.append(model.predict_proba(table(drawn[begin : begin + size])))
        blocks.append(size)
        begin += size
    labels = [label for _, label in drawn[:begin]]
    return Predictions.of(labels, np.concatenate(proba), classes=["no", "yes"]), blocks


def scores_of(predictions):
    return (
        len(predictions),
        predictions.score("log_loss"),
        predictions.score("accuracy"),
        predictions.reliability(bins=10).error,
    )


def test_a_challenger_is_judged_from_the_next_block_on(loans):
    drawn = rows(100)
    loans.challenge("uniform", Recipe(prior=Uniform()))  # the first event of the first block
    for k in range(0, 100, 7):
        loans.learn(told(drawn[k : k + 7], start=k))
        loans.catch_up()
    rows_of = {name: each.total.rows for name, each in loans.state.standings.items()}
    assert rows_of == {"original": 6 * 16 - 1, "uniform": 5 * 16}


@pytest.mark.parametrize("n", [40, 700])
def test_scores_agree_with_refits_block_by_block(store_url, store, n):
    live, drawn = LiveModel.open(store, "loans", stored()), rows(n)
    live.learn(told(drawn))
    live.catch_up()
    expected, _ = prequential(drawn)
    found = live.state.standings["original"].total
    assert tuple(found) == pytest.approx(scores_of(expected), rel=1e-9)


def test_recent_scores_weigh_events_by_their_age(loans):
    drawn = rows(160)
    loans.learn(told(drawn))
    loans.catch_up()
    expected, _ = prequential(drawn)
    age = len(expected) - 1.0 - np.arange(len(expected))
    weights = 2.0 ** (-age / 1000.0)
    own = expected.proba[np.arange(len(expected)), expected.true]
    recent = loans.state.standings["original"].recent
    assert recent.rows == pytest.approx(weights.sum())
    assert recent.log_loss == pytest.approx(np.average(-np.log(own), weights=weights))
    right = expected.true == expected.predicted
    assert recent.accuracy == pytest.approx(np.average(right, weights=weights))


def test_a_batch_of_any_size_gives_the_same_scores(store):
    drawn, found = rows(150), []
    for size in (1, 7, 150):
        live = LiveModel.open(store, f"by {size}", stored())
        for k in range(0, 150, size):
            live.learn(told(drawn[k : k + size], start=k))
            live.catch_up()
        again = LiveModel.open(store, f"by {size}")
        for each in (live, again):
            standing, drift = each.state.standings["original"], each.state.drift
            found.append((*standing.total, *standing.recent, *drift.sums, *drift.squares))
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-9)


def test_a_challenger_is_scored_on_the_same_events_and_takes_over(loans):
    drawn = rows(200)
    assert loans.challenge("uniform", Recipe(prior=Uniform())).outcome == "new"
    loans.learn(told(drawn))
    loans.catch_up()
    state = loans.state
    assert (state.champion, set(state.recipes)) == ("original", {"original", "uniform"})
    before = loans.score({"status": "single"})
    assert loans.promote("uniform").outcome == "new"
    assert loans.state.champion == "uniform"
    after = loans.score({"status": "single"})
    assert before != after
    truth = NaiveBayes(columns=KINDS, prior="uniform")
    truth.fit(table(FIRST + drawn), [y for _, y in FIRST + drawn])
    assert list(after.values()) == pytest.approx(
        truth.predict_proba(table([({"status": "single"}, 0)]))[0]
    )
    assert loans.export().fitted.recipe.prior == Uniform()
    assert loans.promote("original").outcome == "new"
    assert loans.score({"status": "single"}) == before


def test_all_workers_and_snapshots_have_the_same_recipes(store, loans):
    other = LiveModel.open(store, "loans")
    loans.challenge("uniform", Recipe(prior=Uniform()))
    loans.promote("uniform")
    loans.learn(told(rows(40)))
    loans.catch_up()
    other.catch_up()
    loans.snapshot()
    again = LiveModel.open(store, "loans")
    for each in (loans, other, again):
        assert each.state.champion == "uniform"
        assert each.fitted.recipe.prior == Uniform()
        assert list(each.state.challengers) == ["original"]
    loans.withdraw("original")
    other.catch_up()
    assert list(other.state.recipes) == ["uniform"]
    assert "original" not in other.state.standings


def test_a_request_with_an_id_is_done_once(loans):
    recipe = Recipe(prior=Uniform())
    assert loans.challenge("uniform", recipe, key="r1").outcome == "new"
    assert loans.promote("uniform", key="r2").outcome == "new"
    assert loans.promote("uniform", key="r2").outcome == "same"
    assert loans.promote("original", key="r2").outcome == "conflict"
    assert loans.state.champion == "uniform"


def test_a_recipe_that_makes_no_model_is_refused(loans):
    before = loans.position
    with pytest.raises(TallyBayesError, match="'statu'"):
        loans.challenge("bad", Recipe(columns={"statu": Categorical()}))
    with pytest.raises(TallyBayesError, match="no challenger 'nobody' to promote"):
        loans.promote("nobody")
    with pytest.raises(TallyBayesError, match="no challenger 'nobody' to take away"):
        loans.withdraw("nobody")
    assert loans.catch_up() == before


def test_a_class_that_no_model_knew_costs_its_capped_loss(loans):
    drawn = [({"status": "single"}, "new")] * 16
    assert set(outcomes(loans.learn(told(drawn)))) == {"new"}
    loans.catch_up()
    total = loans.state.standings["original"].total
    assert (total.rows, total.accuracy) == (16, 0.0)
    assert total.log_loss == pytest.approx(-np.log(1e-15))
