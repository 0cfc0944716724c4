"""Compile the kernels ahead of time, by work that is small but real.

numba compiles a loop for the types and the layout of the arrays that it meets, and keeps the result
on disk. Made-up arrays would be guesses at those, so each step here goes through the library as the
data of a user would: for every family, tables that it can be counted from.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from tallybayes.families import FAMILIES, Bins, Family, Text
from tallybayes.kernels.choice import LARGE, load_text, part_of

ROWS = 2_400
LABELS = ["no", "yes"] * (ROWS // 2)
WORDS = "The lottery is yours: win today", "see you at dinner tonight", "buy now and get rich"


def warm_up() -> Iterator[tuple[str, float]]:
    """Compile every kernel, or load it if it has been compiled on this machine, step by step.

    Each step is what was made ready, and in how many seconds.

    Examples
    --------
    >>> steps = warm_up()  # nothing is done before the first step is asked for
    """
    for what, work in STEPS.items():
        start = time.perf_counter()
        with warnings.catch_warnings(), part_of(LARGE):
            warnings.simplefilter("ignore")  # of made-up data
            warnings.filterwarnings("default", message=".*(NUMBA_CACHE_DIR|numba cannot be)")
            work()
        yield what, time.perf_counter() - start


def _tables(read_as: str) -> Iterator[Mapping[str, Any]]:
    """Go through tables of columns that are read so."""
    place = np.arange(ROWS)
    if read_as == "text":
        load_text()
        yield {"a": [f"{WORDS[k % 3]} {k}" for k in range(ROWS)]}
        return
    if read_as == "categorical":
        yield {name: np.array(["x", "y", "z"])[place % 3] for name in "ab"}
    yield {"a": place % 5 + 1}  # a bag of one column has its own layout
    if read_as == "float":
        yield {"a": np.where(place % 7, 1.0 + place % 5, np.nan), "b": 1.0 + place % 7}


def _every_way(family: Family) -> None:
    """Count with and without weights, and leave each row out; estimate and predict."""
    import pyarrow
    from scipy.sparse import csr_array

    from tallybayes.model import estimate
    from tallybayes.model.specification import ModelSpec
    from tallybayes.tallies import Tally
    from tallybayes.workflows.training import train

    for table in _tables(family.kind.read_as):
        columns = dict.fromkeys(table, family)
        estimate(Tally.of(table, LABELS, columns=columns), columns=columns).posterior(table)
        rows = pyarrow.table({**table, "label": LABELS, "weight": np.full(ROWS, 2.0)})
        train(rows.drop("weight"), "label", ModelSpec(columns=columns, plain=True))
        train(rows, "label", ModelSpec(columns=columns), weight="weight")
    if family.kind.counted_as == "counts":
        matrix = csr_array(np.stack([np.arange(ROWS) % 3, np.arange(ROWS) % 5], 1).astype(float))
        for weights in (None, np.full(ROWS, 0.5)):
            tally = Tally.of(matrix, LABELS, weights, columns=family)
        estimate(tally, family).posterior(matrix)


def _words_weighed() -> None:
    """Give the words of texts weights of their own."""
    from tallybayes.estimators import TextNB

    TextNB(calibration="words").fit([f"{WORDS[k % 3]} {k}" for k in range(ROWS)], LABELS)


STEPS: Mapping[str, Callable[[], None]] = {
    **{name: partial(_every_way, family()) for name, family in FAMILIES.items()},
    "bins": partial(_every_way, Bins((2.0, 4.0))),
    "text by its presence": partial(_every_way, Text(event="bernoulli")),
    "weights of words": _words_weighed,
}
