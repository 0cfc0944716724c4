"""Recent events that are unlike those before raise an alarm; others do at the stated rate."""

import numpy as np
import pytest

from live.streams import told
from tallybayes import Tally
from tallybayes.live import LiveModel
from tallybayes.live.drift import FIRST, HALF_LIFE, RATE, WINDOW, Drift
from tallybayes.model import Fitted
from tallybayes.modelfile import Provenance, Stored
from tallybayes.store import open_store
from tiers import some

DRAWS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "skewed": lambda random, shape: -(random.normal(size=shape) ** 2) / 2.0,
    "waiting": lambda random, shape: random.exponential(size=shape),
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("columns", [1, 6, 21])
def test_a_stream_that_does_not_drift_raises_alarms_at_the_stated_rate(draw, columns):
    random, names = np.random.default_rng(7), [f"c{k}" for k in range(columns)]
    drift, judged, seen = Drift(), some(4000, 800), 0
    for window in range(FIRST + judged):
        drift = drift.after(names, DRAWS[draw](random, (WINDOW, columns)), window)
        if window == FIRST - 1:
            assert not drift.alarms
        seen += any(alarm.position == window for alarm in drift.alarms)
    # the count is binomial; 1.5 times the stated rate is what skewed columns may have
    most = 1.5 * RATE * judged + 4.0 * np.sqrt(1.5 * RATE * judged)
    assert RATE * judged - 4.0 * np.sqrt(RATE * judged) <= seen <= most


def test_z_is_that_of_the_window_against_the_weighted_events_before():
    random, names = np.random.default_rng(3), ["a", "b"]
    windows = [random.normal(size=(WINDOW + 7 * k, 2)) for k in range(FIRST + 1)]
    drift = Drift()
    for k, values in enumerate(windows):
        cut = len(values) // 3
        drift = drift.after(names, values[:cut], 10 * k)
        drift = drift.after(names, values[cut:], 10 * k + 1)
    before = np.concatenate(windows[:-1])
    age = np.repeat(np.arange(FIRST)[::-1], [len(each) for each in windows[:-1]])
    weight = 2.0 ** (-age / HALF_LIFE)
    mean = np.average(before, axis=0, weights=weight)
    variance = np.average((before - mean) ** 2, axis=0, weights=weight)
    effective = weight.sum() ** 2 / (weight**2).sum()
    expected = (windows[-1].mean(axis=0) - mean) / np.sqrt(
        variance * (1.0 / len(windows[-1]) + 1.0 / effective)
    )
    assert list(drift.latest.values()) == pytest.approx(expected, rel=1e-9)


def stream(random, n, *, shifted=False):
    """Draw records of which one column may shift."""
    drawn = []
    for _ in range(n):
        label = "yes" if random.random() < 0.5 else "no"
        middle = (2.0 if label == "yes" else 0.0) + (1.0 if shifted else 0.0)
        same = "x" if random.random() < 0.7 else "y"
        drawn.append(({"moves": float(random.normal(middle)), "stays": same}, label))
    return drawn


def test_the_column_that_shifts_is_named_and_the_loss_rises(tmp_path):
    random = np.random.default_rng(0)
    first = stream(random, 2000)
    tally = Tally.of([record for record, _ in first], [label for _, label in first])
    stored = Stored(Fitted(tally), Provenance.now("first.csv", 2000))
    with open_store(tmp_path / "events.db") as store:
        live = LiveModel.open(store, "stream", stored)
        live.learn(told(stream(random, 5000)))
        live.catch_up()
        drift = live.state.drift
        assert drift.windows > FIRST
        assert drift.alarms == ()
        assert set(drift.latest) == {"", "moves", "stays"}
        live.learn(told(stream(random, 1200, shifted=True), start=5000))
        live.catch_up()
        alarms = live.state.drift.alarms
        assert {alarm.column for alarm in alarms} == {"", "moves"}
        assert all(alarm.z < 0.0 for alarm in alarms if alarm.column == "moves")
        assert all(alarm.z > 0.0 for alarm in alarms if alarm.column == "")
        assert min(alarm.position for alarm in alarms) > 5000
        loss = live.state.standings["original"]
        assert loss.recent.log_loss > loss.total.log_loss
