"""What is in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallybayes.model import Fitted
from tallybayes.modelfile.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Stored:
    """A fitted model, where it comes from, and what an estimator wants kept beside it.

    Parameters
    ----------
    fitted
        What was counted, and how to estimate from it.
    provenance
        Where it comes from.
    estimator
        Plain data (text, numbers, lists, mappings with text as keys) that is kept as it is.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> stored = Stored(Fitted(tally), Provenance.now("loan.csv", 2))
    >>> stored.fitted.model.predict({"status": ["Single"]}).tolist()
    ['Yes']
    """

    fitted: Fitted
    provenance: Provenance
    estimator: Mapping[str, Any] | None = None
