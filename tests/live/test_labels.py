"""Records are scored now, and their labels come later."""

import pytest

from live.streams import FIRST, outcomes, rows, same, tally_of
from tallybayes import TallyBayesError
from tallybayes.live import LiveModel


def test_a_record_is_learnt_when_its_label_comes(store, loans):
    (record, label), (other, _) = rows(2)
    loans.hold({"p1": record, "p2": other})
    assert store.n_pending("loans") == 2
    assert outcomes(loans.label([{"id": "p1", "label": label}])) == ["new"]
    assert store.n_pending("loans") == 1
    loans.catch_up()
    same(loans.fitted.tally, tally_of([*FIRST, (record, label)], loans.fitted.tally.schema))


def test_a_label_counts_once_also_when_the_prediction_waits_no_more(loans):
    record, label = rows(1)[0]
    wrong = "no" if label == "yes" else "yes"
    loans.hold({"p1": record})
    told = [{"id": "p1", "label": label}]
    assert outcomes(loans.label(told)) == ["new"]
    assert outcomes(loans.label(told)) == ["same"]
    assert outcomes(loans.label([{"id": "p1", "label": wrong}])) == ["conflict"]
    assert loans.catch_up() == 1


def test_the_id_of_a_prediction_is_its_own_also_when_its_label_was_learnt(loans):
    (record, label), (other, _) = rows(2)
    loans.hold({"p1": record})
    loans.hold({"p1": record})  # the answer was lost
    for learnt in (False, True):
        with pytest.raises(TallyBayesError, match="another prediction has the id 'p1'"):
            loans.hold({"p0": record, "p1": other} if learnt else {"p1": other})
        loans.label([{"id": "p1", "label": label}])
    assert outcomes(loans.label([{"id": "p0", "label": label}])) == ["refused"]


def test_a_label_is_the_same_if_nobody_let_go_of_the_prediction(store, loans):
    """A worker may be killed in between."""
    record, label = rows(1)[0]
    loans.hold({"p1": record})
    release, store.release = store.release, lambda *_: None
    assert outcomes(loans.label([{"id": "p1", "label": label}])) == ["new"]
    store.release = release
    assert outcomes(loans.label([{"id": "p1", "label": label}])) == ["same"]
    assert loans.catch_up() == 1


def test_a_new_class_may_come_later_too(loans):
    loans.hold({"p1": {"status": "single"}})
    assert outcomes(loans.label([{"id": "p1", "label": "perhaps"}])) == ["new"]
    loans.catch_up()
    assert "perhaps" in loans.fitted.classes


def test_predictions_that_wait_too_long_expire(store, loans):
    loans.hold({"p1": {"status": "single"}}, seconds=-1.0)
    (answer,) = loans.label([{"id": "p1", "label": "no"}])
    assert answer.outcome == "refused"
    assert "no prediction waits under the id 'p1'" in answer.why
    assert store.expire() == 1


def test_another_worker_may_learn_the_label(store, loans):
    other = LiveModel.open(store, "loans")
    loans.hold({"p1": {"status": "single"}})
    assert outcomes(other.label([{"id": "p1", "label": "no"}])) == ["new"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"id": "p1"}, "the event has no label"),
        ({"id": "p1", "label": 7}, "the label is 7"),
        ({"id": "p9", "label": "no"}, "no prediction waits under the id 'p9'"),
        ({"id": "p1", "label": "no", "record": {}}, "an event has no 'record'; it has id, label"),
    ],
)
def test_what_is_no_label_is_refused_and_the_prediction_waits_on(store, loans, told, why):
    loans.hold({"p1": {"status": "single"}})
    (answer,) = loans.label([told])
    assert answer.outcome == "refused"
    assert why in answer.why
    assert store.n_pending("loans") == 1


def test_a_record_that_cannot_be_counted_is_not_held(store, loans):
    with pytest.raises(TallyBayesError, match="'income' holds 'much'"):
        loans.hold({"p1": {"income": "much"}})
    loans.hold({"p2": {"status": "single"}})
    loans.hold({"p2": {"status": "single"}})
    with pytest.raises(TallyBayesError, match="another prediction has the id"):
        loans.hold({"p2": {"status": "married"}})
    assert store.n_pending("loans") == 1


def test_what_was_labelled_later_is_forgotten_by_its_id(loans):
    record, label = rows(1)[0]
    loans.hold({"p1": record})
    loans.label([{"id": "p1", "label": label}])
    assert outcomes(loans.forget([{"id": "p1", "record": record, "label": label}])) == ["new"]
    loans.catch_up()
    same(loans.fitted.tally, tally_of(FIRST, loans.fitted.tally.schema))
