"""Weights are fitted again on stored events, while scores go on."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from live.streams import FIRST, rows, tally_of, told
from tallybayes import SemiNaiveBayes, TallyBayesError
from tallybayes.live import LiveModel, LiveOptions
from tallybayes.live.entries import Learn
from tallybayes.live.refit import refitted
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored, load
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.calibration import calibrated


def rows_of(drawn, schema):
    table = {name: [record.get(name) for record, _ in drawn] for name in schema.names}
    return LabelledRows.of(as_source(table), schema, [label for _, label in drawn], None)


@pytest.mark.parametrize("how", ["temperature", "weights", "words"])
def test_a_refit_is_the_calibration_of_the_stored_events(loans, how):
    drawn = rows(200)
    loans.learn(told(drawn))
    loans.forget(told(drawn[:30]))
    loans.catch_up()
    assert loans.refit(how).outcome == "new"
    found = loans.fitted.recipe.calibration
    expected = calibrated(rows_of(drawn[30:], loans.fitted.tally.schema), Recipe(), how)
    assert (found.how, found.rows) == (how, expected.rows)
    assert found.exponents == pytest.approx(dict(expected.exponents))
    assert found.prior == pytest.approx(expected.prior)
    assert loans.state.champion == "original"


def test_all_workers_and_the_export_have_the_new_weights(store, loans):
    other = LiveModel.open(store, "loans")
    loans.learn(told(rows(120)))
    loans.catch_up()
    loans.refit("temperature", rows=100, key="monday")
    other.catch_up()
    assert other.fitted.recipe.calibration.default == loans.fitted.recipe.calibration.default
    assert other.fitted.recipe.calibration.default != 1.0
    record = rows(1)[0][0]
    assert other.score(record) == pytest.approx(loans.score(record))
    assert loans.refit("temperature", rows=100, key="monday").outcome == "same"


def test_weighed_evidence_is_weighed_anew_in_the_views_that_are_counted(store, tmp_path):
    random = np.random.default_rng(0)

    def draw(n):
        a, b = random.integers(0, 2, (2, n))
        table = {"a": np.array(["no", "yes"])[a].tolist(), "b": np.array(["no", "yes"])[b].tolist()}
        return table, ["same" if p == q else "other" for p, q in zip(a, b, strict=True)]

    model = SemiNaiveBayes().fit(*draw(300))
    model.save(tmp_path / "model.tally")
    live = LiveModel.open(store, "pairs", load(tmp_path / "model.tally"))
    before = live.fitted.recipe.calibration
    table, labels = draw(300)
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    live.learn(told(list(zip(records, labels, strict=True))))
    live.catch_up()
    live.refit()
    found = live.fitted.recipe.calibration
    assert (found.how, found.rows) == ("evidence", 300)
    assert set(found.exponents) == set(before.exponents)
    assert found.exponents["a x b"] == pytest.approx(before.exponents["a x b"], rel=0.2)
    for record, label in zip(records[:20], labels, strict=False):
        assert live.score(record)[label] > 0.9


def with_views(n=1_000, seed=0):
    """Draw records whose columns have views of every kind, joints, and one that says too much."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    turn = np.where(y, 0.9, -0.9)
    a = rng.normal(size=n)
    b = turn * a + 0.4 * rng.normal(size=n)
    c = rng.gamma(1.0 + y, size=n)
    mostly = np.where(rng.random(n) < 0.7, 0.0, rng.normal(y, 1.0))
    gaps = np.where(rng.random(n) < 0.2 + 0.2 * y, np.nan, rng.normal(size=n))
    left, right = rng.integers(0, 3, (2, n))
    right = np.where(y == 1, left, right)
    hidden = rng.normal(size=n)
    words = np.array(["r", "g", "b"])
    table = {
        "a": a, "b": b, "c": c, "mostly": mostly, "gaps": gaps, "noise": rng.normal(size=n),
        "over": 1.5 * y + hidden, "under": 0.4 * y + hidden + 0.3 * rng.normal(size=n),
        "left": words[left], "right": words[right],
    }  # fmt: skip
    return table, np.array(["no", "yes"])[y]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"joints": None},
        {"joints": None, "views": None},
        {"joints": [("left", "right"), ("a", "b", "c", "noise")], "views": ["smooth"]},
    ],
    ids=str,
)
def test_weights_fitted_again_on_the_same_rows_are_those_of_the_fit(asked):
    table, y = with_views()
    model = SemiNaiveBayes(**asked).fit(table, y)
    before = model.calibration_
    columns = {name: np.where(x == x, x, None).tolist() for name, x in table.items()}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    entries = [Learn(record, label) for record, label in zip(records, y.tolist(), strict=True)]
    found = refitted(model.fitted_, entries).calibration
    assert (found.how, found.rows, found.uncounted) == ("evidence", 1_000, before.uncounted)
    assert found.exponents == pytest.approx(before.exponents, rel=1e-3, abs=1e-4)
    assert found.constants == pytest.approx(before.constants, rel=1e-3, abs=1e-4)
    assert found.loss_before == pytest.approx(before.loss_before, rel=1e-6)
    if asked == {"joints": None}:
        assert "under in smooth parts" in before.uncounted
    again = refitted(replace(model.fitted_, recipe=refitted(model.fitted_, entries)), entries)
    assert again.calibration.exponents == pytest.approx(found.exponents, rel=1e-3, abs=1e-4)


def test_a_refit_in_the_background_does_not_stop_scores(loans):
    loans.learn(told(rows(150)))
    loans.catch_up()
    begun, go_on = threading.Event(), threading.Event()
    since = loans.store.since

    def waiting(*args):
        if threading.current_thread().name.startswith("refit") and not begun.is_set():
            begun.set()
            assert go_on.wait(240)
        return since(*args)

    loans.store.since = waiting
    future = loans.refit_in_background(how="temperature")
    assert begun.wait(240)
    assert set(loans.score({"status": "single"})) == {"no", "yes"}
    assert loans.learn(told(rows(5), start=900))[0].outcome == "new"
    assert loans.catch_up() == 155
    go_on.set()
    assert future.result(240).outcome == "new"
    assert loans.fitted.recipe.calibration.rows == 150


def test_weights_are_fitted_on_schedule_by_one_worker_only(store):
    stored = Stored(Fitted(tally_of(FIRST)), Provenance.now("first.csv", len(FIRST)))
    options = LiveOptions(refit_every=100, refit_rows=80)
    workers = [LiveModel.open(store, "loans", stored, options) for _ in range(3)]
    workers[0].learn(told(rows(120)))
    for worker in workers:
        worker.catch_up()
    refits = [worker._refitting for worker in workers if worker._refitting]
    assert [future.result(240).outcome for future in refits] == ["new"]
    for worker in workers:
        worker.catch_up()
        assert worker.fitted.recipe.calibration.rows == 80
    assert store.last("loans") == 121


def test_too_few_events_are_refused_and_change_nothing(loans):
    loans.learn(told(rows(10)))
    loans.catch_up()
    with pytest.raises(TallyBayesError, match=r"at least 50 labelled events.*there are 10"):
        loans.refit()
    with pytest.raises(TallyBayesError, match="at least 50 labelled events"):
        loans.refit_in_background().result(240)
    loans.learn(told(rows(90), start=10))
    loans.catch_up()
    with pytest.raises(TallyBayesError, match="weighs views and joints, which this model"):
        loans.refit("evidence")
    assert loans.catch_up() == 100


def test_events_are_folded_into_snapshots_and_ids_stay(store):
    stored = Stored(Fitted(tally_of(FIRST)), Provenance.now("first.csv", len(FIRST)))
    options = LiveOptions(snapshot_every=50, keep=2, retain=40)
    live, drawn = LiveModel.open(store, "loans", stored, options), rows(400)
    for k in range(0, 400, 20):
        live.learn(told(drawn[k : k + 20], start=k))
        live.catch_up()
    kept = store.snapshot_positions("loans")
    assert len(kept) == 2
    first = store.since("loans", kept[0])[0].position
    assert first == kept[0] + 1
    with pytest.raises(TallyBayesError, match="were folded into a snapshot"):
        store.since("loans", 0)
    assert {each.outcome for each in live.learn(told(drawn[:50]))} == {"same"}
    again = LiveModel.open(store, "loans")
    assert again.state.learnt == 400
    live.refit("temperature", rows=400)  # on those that are there
    assert 50 <= live.fitted.recipe.calibration.rows < 400
