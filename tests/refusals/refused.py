"""What every refusal promises: one class of errors, words that say where, and nothing changed."""

import pytest

import tallybayes as tb


def state(thing):
    if isinstance(thing, tb.Tally):
        return thing.to_bytes()
    kept = {name: id(value) for name, value in vars(thing).items()}
    return kept, thing.tally_.to_bytes() if "_fitted" in vars(thing) else None


def refused(call, message, *unchanged, error=tb.TallyBayesError):
    """Call, expect the error and its message, and that estimators and tallies stay as they were.

    `error` is ValueError where scikit-learn's own checks refuse.
    """
    before = [state(thing) for thing in unchanged]
    with pytest.raises(error, match=message):
        call()
    assert [state(thing) for thing in unchanged] == before


assert issubclass(tb.TallyBayesError, ValueError)
