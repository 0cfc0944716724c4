"""Compile the kernels ahead of time, by work that is small but real.

numba compiles a loop for the types and the layout of the arrays that it meets, and keeps the result
on disk. Made-up arrays would be guesses at those, so each step here goes through the library as the
data of a user would.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.kernels.choice import LARGE, load_text, part_of

ROWS = 2_400
ASCII = ("The lottery is yours: win today", "see you at dinner tonight", "buy now and get rich")
WORLD = ("Überweisung für das Straßenfest", "ужин сегодня вечером", "चलो खाना खाते हैं", "夕食 ΟΔΟΣ")
LOOPS = tuple(f"compiled{part}" for part in ("", "_text"))


@dataclass(frozen=True, slots=True)
class Warmed:
    """What was made ready, how many compiled loops that took, and in how many seconds."""

    what: str
    loops: int
    seconds: float


def warm_up() -> Iterator[Warmed]:
    """Compile every kernel, or load it if it has been compiled on this machine, step by step.

    Examples
    --------
    >>> steps = warm_up()  # nothing is done before the first step is asked for
    """
    before = 0
    for what, work in STEPS.items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of made-up data
            warnings.filterwarnings("default", message=".*(NUMBA_CACHE_DIR|numba cannot be)")
            with part_of(LARGE):
                work()
        ready = sum(versions().values())
        yield Warmed(what, ready - before, time.perf_counter() - start)
        before = ready


def versions() -> dict[str, int]:
    """Return for each compiled loop for how many types of data it is ready."""
    found: dict[str, int] = {}
    for name in LOOPS:
        home = f"tallybayes.kernels.{name}"
        for each in vars(sys.modules[home]).values() if home in sys.modules else ():
            if hasattr(each, "signatures") and each.__module__ == home:
                found[f"{name}.{each.__name__}"] = len(each.signatures)
    return found


def _labels() -> list[str]:
    """Return two classes that take turns."""
    return ["no", "yes"] * (ROWS // 2)


def _numbers(gaps: bool) -> dict[str, Any]:
    """Return numbers of two classes."""
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=ROWS) for name in "ab"}
    if gaps:
        columns["a"][::7] = np.nan
    return columns


def _every_way(table: Mapping[str, Any], kinds: Any = None, family: Any = None) -> None:
    """Count with and without weights, from memory and as files; estimate, predict, explain."""
    from tallybayes.explanations import explain_all
    from tallybayes.model import estimate
    from tallybayes.tallies import Tally

    for weights in (None, np.full(ROWS, 0.5)):
        tally = Tally.of(table, _labels(), columns=kinds, weights=weights)
    model = estimate(tally, *(() if family is None else (family,)))
    arrow = _like_a_file(table, kinds)
    for rows in (table, arrow):
        model.posterior(rows)
        model.log_posterior(rows)
        explain_all(model, rows)
    # columns of another kind between them change where explanations are written to
    mixed = {"text": np.array(["u", "v"] * (ROWS // 2)), **table, "number": np.arange(ROWS) / ROWS}
    explain_all(estimate(Tally.of(mixed, _labels(), columns=kinds)), mixed)


def _like_a_file(table: Mapping[str, Any], kinds: Any = None) -> Any:
    """Train as if the rows came from a file; return them."""
    import pyarrow

    from tallybayes.model.specification import ModelSpec
    from tallybayes.workflows.training import train

    rows, spec = pyarrow.table(dict(table)), ModelSpec(columns=kinds or "auto")
    # the order in which labels occur, and whether numbers had to be converted, decide on types
    for labels in (_labels(), _labels()[::-1]):
        labelled = rows.append_column("label", pyarrow.array(labels))
        train(labelled, "label", spec)
        for weights in (np.full(ROWS, 2.0), np.full(ROWS, 2)):
            weighed = labelled.append_column("weight", pyarrow.array(weights))
            train(weighed, "label", spec, weight="weight")
    return rows


def _moments() -> None:
    for gaps in (False, True):
        _every_way(_numbers(gaps))


def _categories() -> None:
    _every_way({name: np.array(["x", "y", "z"] * (ROWS // 3)) for name in "ab"})
    _every_way({name: np.array([True, False] * (ROWS // 2)) for name in "ab"})
    _every_way({name: np.arange(ROWS) % 5 for name in "ab"})
    _every_way(_numbers(gaps=True), *_bins())


def _bins() -> tuple[Any, Any]:
    """Return intervals, and their family."""
    from tallybayes.families import Bins

    bins = Bins(edges=(-0.5, 0.5))
    return dict.fromkeys("ab", bins), bins


def _counts() -> None:
    from scipy.sparse import csr_array

    from tallybayes.families import Bernoulli, Multinomial, Poisson
    from tallybayes.model import estimate
    from tallybayes.tallies import Tally

    table = {name: np.arange(ROWS) % 7 for name in "ab"}
    matrix = csr_array(np.stack([np.arange(ROWS) % 3, np.arange(ROWS) % 5], 1).astype(float))
    for family in (Bernoulli(), Multinomial(), Poisson()):
        _every_way(table, dict.fromkeys("ab", family), family)
        for weights in (None, np.full(ROWS, 0.5)):
            tally = Tally.of(matrix, _labels(), columns=family, weights=weights)
        estimate(tally, family).posterior(matrix)
    _like_a_file({"a": table["a"]}, {"a": Multinomial()})  # a bag of one column has its own layout


def _texts(phrases: tuple[str, ...]) -> Callable[[], None]:
    """Return what counts and scores documents made of these phrases."""

    def work() -> None:
        from tallybayes.families import Text
        from tallybayes.model import estimate
        from tallybayes.tallies import Tally
        from tallybayes.tokenizer import Words

        load_text()
        documents = [f"{phrases[k % len(phrases)]} {k}" for k in range(ROWS)]
        for text in (Text(), Text(event="bernoulli")):
            tally = Tally.of({"text": documents}, _labels(), columns={"text": text})
            half = tally + tally
            half.update({"text": documents[:200]}, _labels()[:200])
            half.forget({"text": documents[:200]}, _labels()[:200])
            estimate(half, text).posterior({"text": documents})
        Tally.of({"text": documents}, _labels(), columns={"text": Text(Words(buckets=64))})
        _like_a_file({"text": documents}, {"text": Text()})

    return work


def _left_out() -> None:
    """Leave each row out of numbers, categories, counts and texts."""
    from tallybayes.estimators import NaiveBayes, TextNB

    for table in (
        _numbers(gaps=False),
        _numbers(gaps=True),
        {name: np.where(np.arange(ROWS) % 2, 1.0, np.arange(ROWS)) for name in "ab"},
        {"a": np.arange(ROWS) % 3, "b": np.arange(ROWS) % 2},
    ):
        NaiveBayes().cross_val(table, _labels(), "loo")
    NaiveBayes("multinomial").cross_val({"a": np.arange(ROWS) % 3}, _labels(), "loo")
    TextNB().cross_val([f"{ASCII[k % 3]} {k}" for k in range(ROWS)], _labels(), "loo")


STEPS: Mapping[str, Callable[[], None]] = {
    "numbers": _moments,
    "categories": _categories,
    "counts and yes-or-no": _counts,
    "text in ASCII": _texts(ASCII),
    "text in other scripts": _texts(WORLD),
    "leaving rows out": _left_out,
}
