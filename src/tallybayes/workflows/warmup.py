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
ASCII = ("The lottery is yours: win today", "see you at dinner tonight", "buy now and get rich")
WORLD = ("Überweisung für das Straßenfest", "ужин сегодня вечером", "चलो खाना खाते हैं", "夕食 ΟΔΟΣ")


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
        for phrases in (ASCII, WORLD):
            yield {"a": [f"{phrases[k % len(phrases)]} {k}" for k in range(ROWS)]}
        return
    if read_as == "categorical":
        yield {name: np.array(["x", "y", "z"])[place % 3] for name in "ab"}
        yield dict.fromkeys("ab", place % 2 == 0)
    yield dict.fromkeys("ab", place % 5 + 1)
    yield {"a": place % 5 + 1}  # a bag of one column has its own layout
    if read_as == "float":
        yield dict.fromkeys("ab", 1.0 + place % 7)
        yield {"a": np.where(place % 7, 1.0 + place % 5, np.nan), "b": 1.0 + place % 7}


def _every_way(family: Family) -> None:
    """Count with and without weights, from memory and as files; estimate, predict, explain."""
    from scipy.sparse import csr_array

    from tallybayes.explanations import explain_all
    from tallybayes.model import estimate
    from tallybayes.tallies import Tally

    for table in _tables(family.kind.read_as):
        columns = dict.fromkeys(table, family)
        for weights in (None, np.full(ROWS, 0.5)):
            tally = Tally.of(table, LABELS, weights, columns=columns)
        tally.update(table, LABELS).forget(table, LABELS)
        model = estimate(tally, columns=columns)
        for rows in (table, _like_a_file(table, columns)):
            model.posterior(rows)
            model.log_posterior(rows)
            explain_all(model, rows)
        # columns of another kind between them change where explanations are written to
        mixed = {"t": np.array(["u", "v"])[np.arange(ROWS) % 2], **table, "n": np.arange(ROWS) / 9}
        explain_all(estimate(Tally.of(mixed, LABELS, columns=columns), columns=columns), mixed)
    if family.kind.counted_as == "counts":
        matrix = csr_array(np.stack([np.arange(ROWS) % 3, np.arange(ROWS) % 5], 1).astype(float))
        for weights in (None, np.full(ROWS, 0.5)):
            tally = Tally.of(matrix, LABELS, weights, columns=family)
        estimate(tally, family).posterior(matrix)


def _like_a_file(table: Mapping[str, Any], columns: Any) -> Any:
    """Train as if the rows came from a file; return them."""
    import pyarrow

    from tallybayes.model.specification import ModelSpec
    from tallybayes.workflows.training import train

    rows, spec = pyarrow.table(dict(table)), ModelSpec(columns=columns)
    # the order in which labels occur, and whether numbers had to be converted, decide on types
    for labels in (LABELS, LABELS[::-1]):
        labelled = rows.append_column("label", pyarrow.array(labels))
        train(labelled, "label", spec)
        for weights in (np.full(ROWS, 2.0), np.full(ROWS, 2)):
            weighed = labelled.append_column("weight", pyarrow.array(weights))
            train(weighed, "label", spec, weight="weight")
    return rows


def _left_out() -> None:
    """Leave each row out of numbers, categories, counts and texts."""
    from tallybayes.estimators import NaiveBayes, TextNB

    place = np.arange(ROWS)
    for table in (
        *_tables("float"),
        {name: np.where(place % 2, 1.0, place) for name in "ab"},
        {"a": place % 3, "b": place % 2},
    ):
        NaiveBayes().cross_val(table, LABELS, "loo")
    NaiveBayes("multinomial").cross_val({"a": place % 3}, LABELS, "loo")
    texts = [f"{ASCII[k % 3]} {k}" for k in range(ROWS)]
    TextNB().cross_val(texts, LABELS, "loo")
    TextNB(calibration="words").fit(texts, LABELS)


STEPS: Mapping[str, Callable[[], None]] = {
    **{name: partial(_every_way, family()) for name, family in FAMILIES.items()},
    "bins": partial(_every_way, Bins((2.0, 4.0))),
    "text by its presence": partial(_every_way, Text(event="bernoulli")),
    "leaving rows out": _left_out,
}
