"""What tallies are keyed by: moving rows of an array to the places of a larger set of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.sources.labels import Label

Scalar = TypeVar("Scalar", bound=np.generic)


def spread(part: NDArray[Scalar], places: Sequence[int], n_classes: int) -> NDArray[Scalar]:
    """Return zeros of so many rows, with the given rows at their places."""
    out = np.zeros((n_classes, *part.shape[1:]), part.dtype)
    out[list(places)] = part
    return out


def never_counted(
    wrong: NDArray[Any], classes: Sequence[Label], names: Sequence[str], what: str = ""
) -> TallyBayesError:
    """Build the error about taking away what was never there; `wrong` marks class and column."""
    c, j = map(int, np.argwhere(wrong)[0])
    return TallyBayesError(
        f"column {names[j]!r}, class {classes[c]!r}{what}: more would be taken away than was "
        "counted; only rows that were counted can be forgotten, with the weight they had"
    )
