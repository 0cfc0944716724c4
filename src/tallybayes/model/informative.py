"""The words, or values, that tell most: much more probable in one class than in the others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, whole
from tallybayes.families.parameters import safe_log, times
from tallybayes.kinds import Joint
from tallybayes.metrics.confusion import place_of
from tallybayes.model.factors import Factor
from tallybayes.model.model import Model
from tallybayes.model.recipe import Fitted
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Words


class InformativeValue(NamedTuple):
    """A column's value, how much it speaks for a class, and its counts.

    `log_ratio` is the logarithm of how much more probable the value is here; of a calibrated model
    by what it counts there: with the exponents of its column and word. The value is a word, a
    category, an interval as text, True for a column of yes or no, and 1 for one occurrence of what
    a column counts. The counts are those that the family looks at: rows, occurrences, documents; a
    model that was stated has none, and they are NaN.
    """

    column: str
    value: Label
    log_ratio: float
    here: float
    elsewhere: float


def most_informative(
    model: Any,
    n: int = 10,
    between: tuple[Label, Label] | None = None,
    column: str | None = None,
) -> dict[Label, list[InformativeValue]]:
    """Return for each class up to n words, or values, that were seen in it and speak most for it.

    The evidence of a value is log P(w | c) - log P(w | other classes), the others mixed by their
    priors; what tells most has most of it in all: evidence times how often the value occurs in c.
    A calibrated model takes all P to the exponents of columns and words, as in its answers.
    A model with a column of text is asked for words, unless another column is named; any other
    model for the categories, intervals, columns of yes or no that are on, and counts that tell
    most. Of a column of numbers no single value tells anything.

    Parameters
    ----------
    model
        A model, or an estimator after `fit`.
    n
        How many.
    between
        Two classes, to be told from each other only.
    column
        Only this column; needed if there are several texts.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"status": ["Single", "Single", "Married", "Married", "Married"]}
    >>> model = estimate(Tally.of(table, ["Yes", "Yes", "Yes", "No", "No"]))
    >>> [best] = most_informative(model)["Yes"]
    >>> best.column, best.value, round(best.log_ratio, 3), best.here, best.elsewhere
    ('status', 'Single', 0.875, 2.0, 0.0)
    """
    whole(n, "n", 1)
    fitted: Model | Fitted = model.fitted_ if hasattr(type(model), "fitted_") else model
    of = fitted.model if isinstance(fitted, Fitted) else fitted
    if column is not None:
        of.schema.place_of(column)  # refuses what is no column
    factors = [f for f in of.factors if column is None or column in map(str, f.names)]
    texts = [factor for factor in factors if isinstance(factor.kind, Words)]
    if len(texts) > 1:
        names = sorted(str(factor.names[0]) for factor in texts)
        raise TallyBayesError(f"say which column of text: {', '.join(map(repr, names))}")
    places = list(range(len(of.classes)))
    if between is not None:
        if not isinstance(between, tuple | list) or len({*between}) != 2 or len(between) != 2:
            raise TallyBayesError(f"between is {between!r}; give two different classes")
        places = [place_of(label, of.classes, "between: ") for label in between]
    elif len(places) < 2:
        what = "word" if texts else "value"
        raise TallyBayesError(f"there is only one class, so no {what} tells anything")
    most = _most(of, texts or factors, n, places, column)
    if most is None:
        what = f"{column!r} holds numbers" if column else "the model has columns of numbers only"
        raise TallyBayesError(
            f"{what}, of which no single value tells anything; diagnose() says how much the whole "
            "column tells"
        )
    return most


def informative_values(model: Model, n: int) -> dict[Label, list[InformativeValue]]:
    """Return for each class up to n values of any column, words among them, that speak most."""
    return _most(model, model.factors, n, list(range(len(model.classes)))) or {}


def _most(
    of: Model, factors: Iterable[Factor], n: int, places: list[int], column: str | None = None
) -> dict[Label, list[InformativeValue]] | None:
    """Return the values that tell most; None if of no factor a single value can tell anything."""
    order = {str(name): number for number, name in enumerate(of.schema.names)}
    most: dict[Label, list[InformativeValue]] = {of.classes[place]: [] for place in places}
    some = False
    for factor in factors:
        # a cell of columns together speaks only beyond the values that are in it
        entries = None if isinstance(factor.kind, Joint) else factor.parameters.entries()
        if entries is None:
            continue
        some, names = True, [str(name) for name in factor.names]
        asked = column is None or entries.units == names.index(column)
        exponents = [factor.exponent(unit) for unit in range(len(names))]
        weights = np.array(exponents)[entries.units] * entries.weights
        logs = times(entries.log_p[:, places], weights[:, None])
        ratios = _against_others(logs, safe_log(of.prior)[places])
        counts = entries.counts[:, places]
        rest = _of_others(np.add, counts)
        for c, (values, ratio, here, elsewhere) in enumerate(
            zip(most.values(), ratios.T, counts.T, rest.T, strict=True)
        ):
            telling = np.flatnonzero((ratio > 0.0) & ((here > 0.0) | np.isnan(here)) & asked)
            # one that is found once may be thousands of times as probable, and tells little in all
            counted, log_p = here[telling], entries.log_p[telling, places[c]]
            much = ratio[telling] * np.where(np.isnan(counted), np.exp(log_p), counted)
            best = telling[np.lexsort((-counted, -much))][:n]
            numbers = (x[best].tolist() for x in (ratio, here, elsewhere))
            values += [
                InformativeValue(names[entries.units[e]], entries.values[e], *said)
                for e, *said in zip(best.tolist(), *numbers, strict=True)
            ]

    def rank(value: InformativeValue) -> tuple[float, ...]:
        often = 1.0 if math.isnan(value.here) else value.here
        place = order.get(value.column, len(order))
        return -value.log_ratio * often, -np.nan_to_num(value.here), place

    if not some:
        return None
    return {label: sorted(values, key=rank)[:n] for label, values in most.items()}


def _against_others(logs: Floats, log_prior: Floats) -> Floats:
    """Return log P(w | class) - log P(w | the others by their priors), for w down, classes across.

    Where the others have no prior, they are mixed evenly.
    """
    prior = _of_others(np.logaddexp, log_prior[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        even = _of_others(np.logaddexp, logs) - np.log(len(log_prior) - 1)
        mixed = _of_others(np.logaddexp, logs + log_prior) - prior
        ratio = logs - np.where(np.isneginf(prior), even, mixed)
    return np.where(np.isnan(ratio), 0.0, ratio)  # impossible here and there, or no others


def _of_others(add: np.ufunc, table: Floats) -> Floats:
    """Return for each column what all others come to, in one pass from either side."""
    edge = np.full((len(table), 1), add.identity)
    before = add.accumulate(np.hstack([edge, table[:, :-1]]), axis=1)
    behind = add.accumulate(np.hstack([edge, table[:, :0:-1]]), axis=1)[:, ::-1]
    others: Floats = add(before, behind)
    return others
