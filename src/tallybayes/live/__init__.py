"""Models that learn from a log in a store: exactly once, with any number of workers.

    store = open_store("sqlite:///events.db")           # tallybayes.store
    live = LiveModel.open(store, "loans", stored)       # stored: of a .tally file, to begin with

    live.learn([{"id": "a1", "record": {...}, "label": "Yes"}])   # -> [Answered]; durable now
    live.forget([{"id": "a1", "record": {...}, "label": "Yes"}])  # -> [Answered]
    live.catch_up()             # apply what all workers appended -> last position; call it often
    live.score(record)          # {label: probability}; never waits
    live.fitted, live.model     # of this moment, for plans, explanations, reports
    live.snapshot()             # written by itself every `LiveOptions.snapshot_every` events too
    live.export()               # -> Stored, for modelfile.save or dump_bytes
    live.state                  # position, learnt, forgotten: one value that never changes

An `Answered` has id, outcome ("new", "same", "conflict", "refused"), position and why. What the
store cannot do raises a `StoreError`: scores go on, and learning works again when the fault is
gone.
"""

from tallybayes.live.live_model import Answered, LiveModel, LiveOptions, LiveState

__all__ = ["Answered", "LiveModel", "LiveOptions", "LiveState"]
