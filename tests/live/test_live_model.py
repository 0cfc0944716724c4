"""A model that learns from a log: exactly once, the same for every worker."""

import numpy as np
import pytest

from live.streams import FIRST, outcomes, rows, same, stored, tally_of, told
from tallybayes import Categorical, NaiveBayes, Tally, TallyBayesError
from tallybayes.live import LiveModel, LiveOptions
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored, dump_bytes, load
from tallybayes.priors import Fixed
from tallybayes.schema import Schema
from tallybayes.store import open_store


def test_what_is_learnt_is_what_a_tally_of_all_rows_has(loans):
    drawn = rows(50)
    assert set(outcomes(loans.learn(told(drawn)))) == {"new"}
    assert loans.catch_up() == 50
    same(loans.fitted.tally, tally_of(FIRST + drawn, loans.fitted.tally.schema))


def test_an_event_counts_once(loans):
    drawn = rows(3)
    loans.learn(told(drawn))
    again = told(drawn)
    again[1] = {**again[1], "label": "yes" if again[1]["label"] == "no" else "no"}
    shuffled = dict(reversed(again[2]["record"].items()))
    again[2] = {**again[2], "record": {**shuffled, "cheat": again[2]["label"]}}
    answers = loans.learn([*again, *told(rows(1, seed=7), start=3)])
    assert outcomes(answers) == ["same", "conflict", "same", "new"]
    assert [answer.position for answer in answers] == [1, 2, 3, 4]
    assert answers[1].why == "another event has this id"
    assert loans.catch_up() == 4
    same(loans.fitted.tally, tally_of(FIRST + drawn + rows(1, seed=7), loans.fitted.tally.schema))


def test_rows_that_were_counted_elsewhere_are_added_once_as_one_event(loans):
    drawn, schema = rows(300), loans.fitted.tally.schema
    loans.learn(told(drawn[:7]))
    answer = loans.add(tally_of(drawn[7:200], schema), "q 0")
    assert (answer.outcome, answer.position, loans.position) == ("new", 8, 8)
    assert loans.add(tally_of(drawn[200:], schema), "q 1").outcome == "new"
    assert loans.add(tally_of(drawn[7:201], schema), "q 0").outcome == "same"
    same(loans.fitted.tally, tally_of(FIRST + drawn, schema))
    assert loans.state.learnt == 300
    loans.forget(told(drawn[150:160]))
    again = LiveModel.open(loans.store, "loans")
    same(again.fitted.tally, tally_of(FIRST + drawn[:150] + drawn[160:], schema))
    with pytest.raises(TallyBayesError, match="in only one of the two"):
        loans.add(Tally.of([{"a": 1.0}], ["yes"], target="cheat"), "q 2")
    assert loans.store.last("loans") == 19


def test_the_label_may_be_in_the_record(loans):
    record, label = rows(1)[0]
    assert outcomes(loans.learn([{"id": "a", "record": {**record, "cheat": label}}])) == ["new"]
    assert outcomes(loans.learn([{"id": "a", "record": record, "label": label}])) == ["same"]


def test_what_is_forgotten_was_never_learnt(loans):
    drawn = rows(40)
    loans.learn(told(drawn))
    answers = loans.forget(told(drawn[10:20], start=10))
    assert set(outcomes(answers)) == {"new"}
    assert set(outcomes(loans.forget(told(drawn[10:20], start=10)))) == {"same"}
    loans.catch_up()
    same(loans.fitted.tally, tally_of(FIRST + drawn[:10] + drawn[20:], loans.fitted.tally.schema))


def test_what_cannot_be_right_is_refused_and_changes_nothing(loans):
    record, label = rows(1)[0]
    before = dump_bytes(loans.export())
    never = [
        {"id": "a", "record": {"status": "widowed"}, "label": "no"},
        {"id": "b", "record": {"status": "single"}, "label": "perhaps"},
        {"id": "c", "record": {"income": 1e9}, "label": "no"},
    ]
    answers = loans.forget(never)
    assert outcomes(answers) == ["refused"] * 3
    assert "'widowed'" in answers[0].why
    assert "class 'perhaps' was never counted" in answers[1].why
    loans.catch_up()
    assert dump_bytes(loans.export()) == before
    loans.learn([{"id": "d", "record": record, "label": label}])
    twice = {"record": {"status": "widowed"}, "label": "no"}
    loans.learn([{"id": "w", **twice}])
    answers = loans.forget([{"id": "w", **twice}, {"id": "x", **twice}])
    assert outcomes(answers) == ["new", "refused"]


def test_new_categories_words_and_classes_are_welcome(loans):
    drawn = [({"status": "widowed", "note": "unheard of"}, "no"), ({"status": "single"}, "perhaps")]
    assert outcomes(loans.learn(told(drawn))) == ["new", "new"]
    loans.catch_up()
    same(loans.fitted.tally, tally_of(FIRST + drawn, loans.fitted.tally.schema))
    assert set(loans.score({"status": "single"})) == {"no", "perhaps", "yes"}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"id": "a", "record": {"incom": 1.0}, "label": "no"}, "did you mean 'income'"),
        (
            {"id": "a", "record": {"income": "much"}, "label": "no"},
            "'income' holds 'much', but a n",
        ),
        ({"id": "a", "record": {"income": float("inf")}, "label": "no"}, "finite number"),
        ({"id": "a", "record": {"income": 1e200}, "label": "no"}, "no larger than 1e+100"),
        ({"id": "a", "record": {"status": 3}, "label": "no"}, "'status' holds 3, but text"),
        ({"id": "a", "record": {"owner": "true"}, "label": "no"}, "true or false was expected"),
        ({"id": "a", "record": {"note": ["a"]}, "label": "no"}, "text was expected"),
        ({"id": "a", "record": {"status": "single"}, "label": 1}, "the label is 1"),
        ({"id": "a", "record": {"status": "single"}}, "the event has no label"),
        ({"id": "a", "label": "no"}, "the event has no record"),
        ({"id": "", "record": {}, "label": "no"}, "the id of an event is ''"),
        ({"record": {}, "label": "no"}, "the id of an event is None"),
        ({"id": "a", "record": {}, "label": "no", "weight": 2}, "an event has no 'weight'"),
        ("text", "must be a mapping"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_it_is_stored(loans, event, why):
    good = {"id": "good", "record": {"status": "single"}, "label": "no"}
    answers = loans.learn([event, good])
    assert outcomes(answers) == ["refused", "new"]
    assert why in answers[0].why
    assert loans.catch_up() == 1


def test_missing_values_in_all_their_forms_are_left_out(loans):
    record = {"income": float("nan"), "status": None, "age": np.float64("nan"), "owner": True}
    loans.learn([{"id": "a", "record": record, "label": "no"}])
    assert outcomes(loans.learn([{"id": "a", "record": {"owner": True}, "label": "no"}])) == [
        "same"
    ]


def test_workers_on_one_log_agree(store, store_url, loans):
    with open_store(store_url) as far:
        other = LiveModel.open(far, "loans")
        drawn = rows(60)
        for k in range(0, 60, 4):
            worker = loans if k % 8 else other
            worker.learn(told(drawn[k : k + 4], start=k))
            worker.catch_up()
        other.forget(told(drawn[:3]))
        assert loans.catch_up() == other.catch_up() == 63
        same(loans.fitted.tally, other.fitted.tally)
        same(loans.fitted.tally, tally_of(FIRST + drawn[3:], loans.fitted.tally.schema))


def test_two_that_open_a_new_log_at_once_begin_with_one_model(store, store_url, loans):
    loans.learn(told(rows(2)))
    with open_store(store_url) as far:
        late = LiveModel.open(
            far, "loans", Stored(Fitted(tally_of(rows(9, 4))), Provenance.now("x", 9))
        )
        loans.catch_up()
        same(late.fitted.tally, loans.fitted.tally)


def test_what_two_could_contradict_is_settled_by_whoever_comes_first(store, store_url):
    """Neither knows yet what the values of the column are."""
    schema = Schema.infer({"a": [1.5], "b": [None]}, {"b": Categorical()}, target="y")
    empty = Stored(Fitted(Tally(schema)), Provenance.now(None, 0))
    first = LiveModel.open(store, "log", empty)
    with open_store(store_url) as far:
        second = LiveModel.open(far, "log")
        assert outcomes(first.learn([{"id": "1", "record": {"b": "text"}, "label": 1}])) == ["new"]
        answers = second.learn(
            [
                {"id": "2", "record": {"b": 7}, "label": 1},
                {"id": "3", "record": {"b": "text"}, "label": "one"},
                {"id": "4", "record": {"b": "more"}, "label": 2},
            ]
        )
        assert outcomes(answers) == ["refused", "refused", "new"]
        assert second.catch_up() == first.catch_up() == 2
        assert first.state.void == second.state.void == 0


def test_a_class_that_the_prior_does_not_know_is_refused(store):
    recipe = Recipe(prior=Fixed({"no": 0.5, "yes": 0.5}))
    loans = LiveModel.open(store, "loans", stored(recipe))
    (answer,) = loans.learn([{"id": "1", "record": {"status": "single"}, "label": "perhaps"}])
    assert answer.outcome == "refused"
    assert "perhaps" in answer.why
    assert outcomes(loans.learn(told(rows(1)))) == ["new"]


def test_it_starts_from_the_newest_snapshot_and_replays_the_rest(store, loans):
    drawn = rows(30)
    loans.learn(told(drawn[:20]))
    loans.catch_up()
    assert loans.snapshot() == 16  # the end of a block
    assert store.snapshot_positions("loans") == [0, 16]
    loans.learn(told(drawn[20:], start=20))
    again = LiveModel.open(store, "loans")
    assert (again.position, again.state.learnt) == (30, 30)
    same(again.fitted.tally, tally_of(FIRST + drawn, again.fitted.tally.schema))


def test_snapshots_are_written_as_events_come(store):
    options = LiveOptions(snapshot_every=20, keep=2)
    loans = LiveModel.open(store, "loans", stored(), options)
    for k in range(0, 80, 5):
        loans.learn(told(rows(5, seed=k), start=k))
        loans.catch_up()
    assert store.snapshot_positions("loans") == [32, 64]


def test_a_worker_that_was_away_goes_on_from_a_snapshot(store, store_url, loans):
    with open_store(store_url) as far:
        away = LiveModel.open(far, "loans")
        loans.learn(told(rows(30)))
        loans.catch_up()
        for _ in range(3):
            loans.learn(told(rows(20, loans.position), start=loans.position))
            loans.catch_up()
            loans.snapshot()
        assert store.fold("loans", 100) > 0
        assert away.catch_up() == loans.position
        same(away.fitted.tally, loans.fitted.tally)
        assert outcomes(away.learn(told(rows(30)))) == ["same"] * 30


def test_scores_are_those_of_a_model_that_learnt_all_rows_at_once(loans):
    drawn = rows(80)
    loans.learn(told(drawn))
    loans.catch_up()
    everything = FIRST + drawn
    table = {
        n: [r.get(n) for r, _ in everything] for n in ("income", "status", "age", "owner", "note")
    }
    kinds = {"note": "text", "age": "gaussian"}
    truth = NaiveBayes(columns=kinds).fit(table, [label for _, label in everything])
    for record, _ in drawn[:10]:
        row = {name: [record.get(name)] for name in table}
        assert list(loans.score(record).values()) == pytest.approx(truth.predict_proba(row)[0])


def test_an_export_is_a_model_file_that_says_what_was_learnt(loans):
    loans.learn(told(rows(10)))
    loans.forget(told(rows(2)))
    loans.catch_up()
    exported = load(dump_bytes(loans.export()))
    same(exported.fitted.tally, loans.fitted.tally)
    assert exported.provenance.rows == int(exported.fitted.tally.rows.sum()) == len(FIRST) + 8
    assert exported.provenance.history[-1] == "live: 10 learnt, 2 forgotten"


def test_a_log_that_begins_anew_is_followed_from_its_beginning(store, loans):
    """It was deleted, or the database was restored from a backup."""
    drawn = rows(45)
    loans.learn(told(drawn[:40]))
    assert loans.catch_up(40) == loans.catch_up(39) == 40  # an old look takes nothing back
    store.remove("loans")
    other = LiveModel.open(store, "loans", stored())
    other.learn(told(drawn[40:], start=40))
    assert loans.catch_up(store.logs()["loans"]) == other.catch_up() == 5
    same(loans.fitted.tally, tally_of(FIRST + drawn[40:], loans.fitted.tally.schema))


def test_a_log_without_a_model_is_an_error(store):
    with pytest.raises(TallyBayesError, match="the store has no model 'nothing'"):
        LiveModel.open(store, "nothing")
    assert not store.logs()
