"""Models that learn from a log in a store: exactly once, with any number of workers.

    store = open_store("sqlite:///events.db")           # tallybayes.store
    live = LiveModel.open(store, "loans", stored)       # stored: of a .tally file, to begin with

    live.learn([{"id": "a1", "record": {...}, "label": "Yes"}])   # -> [Answered]; durable now
    live.add(tally, "batch 7")  # what was counted elsewhere, once -> Answered
    live.forget([{"id": "a1", "record": {...}, "label": "Yes"}])  # -> [Answered]
    live.catch_up()             # apply what all workers appended -> last position; call it often
    live.score(record)          # {label: probability}; never waits
    live.fitted, live.model     # of this moment, for plans, explanations, reports
    live.hold({id: record}); live.label([{"id": id, "label": "Yes"}])   # labels that come later
    live.challenge(name, recipe); live.promote(name); live.withdraw(name)
    live.state.standings[name].total, .recent   # rows, log_loss, accuracy, calibration_error
    live.state.champion, .recipes, .drift.alarms, .drift.latest, .decay
    live.set_decay(10_000); live.set_decay(7 * 86_400, "seconds")
    live.refit(); live.refit_in_background()    # -> Answered, Future[Answered]

    live.snapshot()             # written by itself every `LiveOptions.snapshot_every` events too
    live.export()               # -> Stored, for modelfile.save or dump_bytes
    live.state                  # position, learnt, forgotten: one value that never changes

An `Answered` has id, outcome ("new", "same", "conflict", "refused"), position and why. What the
store cannot do raises a `StoreError`: scores go on, and learning works again when the fault is
gone.
"""

from tallybayes.live.drift import Alarm, Drift
from tallybayes.live.fading import Decay
from tallybayes.live.live_model import Answered, LiveModel, LiveOptions
from tallybayes.live.standing import RunningScores, Standing
from tallybayes.live.state import LiveState

__all__ = [
    "Alarm",
    "Answered",
    "Decay",
    "Drift",
    "LiveModel",
    "LiveOptions",
    "LiveState",
    "RunningScores",
    "Standing",
]
