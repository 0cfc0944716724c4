"""What can be explained: a model, what it is estimated from, or an estimator."""

from __future__ import annotations

from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.model import Fitted, Model


def subject_of(given: Any) -> Model | Fitted:
    """Return a model, or better a tally and how to estimate from it, which knows the counts."""
    found = given.fitted_ if hasattr(type(given), "fitted_") else given
    if not isinstance(found, Model | Fitted):
        raise TallyBayesError(
            f"{type(given).__name__} is no model; give an estimator that was fitted, or what "
            "estimate() returned"
        )
    return found


def model_of(given: Any) -> Model:
    """Return the model that makes the predictions."""
    found = subject_of(given)
    return found.model if isinstance(found, Fitted) else found
