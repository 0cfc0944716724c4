"""Forgetting by age: a record counts half after so many events, or seconds; exactly."""

import time

import numpy as np
import pytest

from live.streams import FIRST, outcomes, rows, same, told
from tallybayes import Tally, TallyBayesError
from tallybayes.live import LiveModel
from tallybayes.live.fading import Faded

WEEK = 7 * 86_400.0


def expected(drawn, weights, schema):
    """Count rows with weights, in one pass."""
    kept = [(row, w) for row, w in zip(drawn, weights, strict=True) if w > 0.0]
    records, labels = [record for (record, _), _ in kept], [label for (_, label), _ in kept]
    return Tally.of(records, labels, [w for _, w in kept], schema=schema)


def weights_after(n, half_life, begin=1):
    """What events 1..n count: a step of a 32nd of a half-life comes after every so many."""
    step = max(1, round(half_life / 32))
    steps = [
        k // step - max(k_own - 1, begin) // step for k, k_own in ((n, p) for p in range(n + 1))
    ]
    return [2.0 ** (-step / half_life * passed) for passed in steps]


class Clock:
    """The time that a worker has."""

    def __init__(self, *workers):
        self.now = 1_000_000_000.0
        for worker in workers:
            worker._now = lambda: self.now


def test_a_record_counts_half_after_a_half_life_of_events(loans):
    loans.set_decay(320)  # a step after every ten events
    drawn = rows(400)
    loans.learn(told(drawn))
    assert loans.catch_up() == 401
    weights = weights_after(401, 320)
    assert weights[401 - 320] == pytest.approx(0.5)
    every = FIRST + drawn
    of_rows = [weights[0]] * len(FIRST) + weights[2:]
    same(loans.fitted.tally, expected(every, of_rows, loans.fitted.tally.schema))
    assert loans.fitted.tally.rows.sum() == len(every)  # rows are counted, weights fade


def test_workers_agree_whatever_batches_they_apply(store, loans):
    other = LiveModel.open(store, "loans")
    loans.set_decay(64)
    for k, row in enumerate(rows(90)):
        loans.learn(told([row], start=k))
        loans.catch_up()
    other.catch_up()
    loans.snapshot()
    again = LiveModel.open(store, "loans")
    for each in (other, again):
        same(each.fitted.tally, loans.fitted.tally)
        assert each.state.faded == loans.state.faded


def test_what_faded_is_forgotten_with_the_weight_that_it_has(loans):
    loans.set_decay(64)
    drawn = rows(100)
    loans.learn(told(drawn))
    assert set(outcomes(loans.forget(told(drawn[20:60], start=20)))) == {"new"}
    loans.catch_up()
    weights = weights_after(141, 64)
    of_rows = [weights[0]] * len(FIRST) + weights[2:22] + [0.0] * 40 + weights[62:102]
    same(loans.fitted.tally, expected(FIRST + drawn, of_rows, loans.fitted.tally.schema))


def test_what_faded_is_forgotten_by_its_id_alone(loans):
    clock = Clock(loans)
    loans.set_decay(WEEK, "seconds")
    drawn = rows(5)
    loans.learn(told(drawn))
    clock.now += WEEK
    (answer,) = loans.forget([{**told(drawn)[0], "id": "another"}])
    assert answer.outcome == "refused"
    assert "forgotten under the id by which it was learnt" in answer.why
    assert outcomes(loans.forget(told(drawn)[:1])) == ["new"]
    clock.now += 41 * WEEK
    (answer,) = loans.forget(told(drawn)[1:2])
    assert answer.outcome == "refused"
    assert "has faded away" in answer.why


def test_a_class_that_nobody_sees_any_more_fades_and_is_still_there(store, loans):
    clock = Clock(loans)
    loans.set_decay(WEEK, "seconds")
    for k in range(3):
        clock.now += 300 * WEEK  # 2^-900 in the end, which is below what is kept apart from 0
        loans.catch_up()
        loans.learn([{"id": str(k), "record": {"status": "single"}, "label": "no"}])
    loans.learn(told(rows(16)[:12], start=9))
    loans.catch_up()
    assert loans.snapshot() == 16
    again = LiveModel.open(store, "loans")
    assert again.fitted.classes == ("no", "yes")
    loans.catch_up()  # for the other has told the time
    assert again.fitted.tally.rows.tolist() == loans.fitted.tally.rows.tolist()
    assert again.score({"status": "single"}) == pytest.approx(loans.score({"status": "single"}))


def test_records_fade_by_time_once_for_all_workers(store, loans):
    other = LiveModel.open(store, "loans")
    clock, late = Clock(loans), Clock(other)
    loans.set_decay(WEEK, "seconds")
    loans.learn(told(rows(20)))
    for _day in range(7):
        clock.now += WEEK / 7
        loans.catch_up()
        late.now = clock.now - 60.0
        other.catch_up()
    late.now += WEEK / 7 * 0.5
    assert other.catch_up() > loans.position  # another step
    late.now -= WEEK  # a clock that goes back changes nothing
    other.catch_up()
    loans.catch_up()
    assert loans.state.faded == other.state.faded
    halvings = loans.state.faded.halvings[-1]
    assert halvings == pytest.approx(1.0 + 0.5 / 7, abs=1 / 32)
    every, schema = FIRST + rows(20), loans.fitted.tally.schema
    same(loans.fitted.tally, expected(every, [2.0**-halvings] * len(every), schema))


def test_a_clock_that_is_set_while_a_worker_runs_changes_nothing(loans, monkeypatch):
    loans.set_decay(WEEK, "seconds")
    loans.hold({"p": {"status": "single"}})
    monkeypatch.setattr(time, "time", lambda: 1e11)
    before = loans.position
    assert loans.catch_up() == before
    assert loans.store.expire() == 0
    assert loans.label([{"id": "p", "label": "yes"}])[0].outcome == "new"


def test_records_do_not_fade_any_more_when_that_is_said(loans):
    loans.set_decay(32)
    loans.learn(told(rows(40)))
    loans.set_decay(None)
    loans.catch_up()
    weight = loans.fitted.tally.weight.sum()
    loans.learn(told(rows(10, seed=3), start=40))
    loans.catch_up()
    assert loans.fitted.tally.weight.sum() == pytest.approx(weight + 10.0)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ((0.5, "events"), "at least 1"),
        ((5, "seconds"), "at least 60"),
        ((9, "days"), "by is 'days'"),
    ],
)
def test_what_is_no_half_life_is_refused(loans, told, why):
    with pytest.raises(TallyBayesError, match=why):
        loans.set_decay(*told)
    assert loans.catch_up() == 0


def test_steps_that_are_beyond_recall_are_not_kept():
    faded, weights = Faded(), {}
    for position in range(1, 3000):
        faded = faded.after(position, 1.0 / 32.0)
    assert len(faded.positions) <= 40 * 32 + 2
    for back in (1, 32, 320, 1278):
        weights[back] = faded.weight_of(2999 - back + 1)
        assert weights[back] == pytest.approx(2.0 ** (-back / 32.0))
    assert faded.weight_of(3000) == 1.0
    assert faded.weight_of(1) == faded.weight_of(2999 - 1400) == 0.0
    np.testing.assert_array_less(np.diff(list(weights.values())), 0.0)
