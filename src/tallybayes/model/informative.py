"""The words, or values, that tell most: much more probable in one class than in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.families.parameters import Entries, safe_log
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.model.factors import Factor
from tallybayes.model.model import Model
from tallybayes.model.recipe import Fitted
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Words

Floats = NDArray[np.float64]

NO_SINGLE_VALUE = (
    "of which no single value tells anything; diagnose() says how much the whole column tells"
)


class InformativeValue(NamedTuple):
    """A column's value, the logarithm of how much more probable it is here, and its counts.

    The value is a word, a category, an interval as text, True for a column of yes or no, and 1 for
    one occurrence of what a column counts. The counts are those that the family looks at: rows,
    occurrences, documents; a model that was stated has none, and they are NaN.
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

    They are weighed by log P(w | c) - log P(w | other classes), the others mixed by their priors.
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
    asked = _asked(of, column)
    words = any(isinstance(factor.kind, Words) for factor, _ in asked)
    places = _places(of.classes, between, "word" if words else "value")
    if column is not None:
        ((factor, entries),) = asked
        asked = [(factor, _of_unit(entries, list(map(str, factor.names)).index(column)))]
    return _most(of, asked, n, places)


def informative_values(model: Model, n: int) -> dict[Label, list[InformativeValue]]:
    """Return for each class up to n values of any column, words among them, that speak most."""
    every = [(factor, factor.parameters.entries()) for factor in model.factors]
    asked = [(factor, entries) for factor, entries in every if entries is not None]
    return _most(model, asked, n, list(range(len(model.classes))))


def _most(
    of: Model, asked: list[tuple[Factor, Entries]], n: int, places: list[int]
) -> dict[Label, list[InformativeValue]]:
    """Return the values that tell most of those that are asked for."""
    order = {str(name): number for number, name in enumerate(of.schema.names)}
    found: dict[Label, list[InformativeValue]] = {of.classes[place]: [] for place in places}
    for factor, entries in asked:
        for place, best in _best(entries, safe_log(of.prior), n, places):
            found[of.classes[place]] += [
                InformativeValue(str(factor.names[unit]), value, *numbers)
                for unit, value, *numbers in best
            ]
    return {
        label: sorted(each, key=lambda v: (-v.log_ratio, _fewest_last(v.here), order[v.column]))[:n]
        for label, each in found.items()
    }


def _places(labels: Sequence[Label], between: tuple[Label, Label] | None, what: str) -> list[int]:
    """Return which classes are told from each other."""
    classes = list(labels)
    if between is None:
        if len(classes) < 2:
            raise TallyBayesError(f"there is only one class, so no {what} tells anything")
        return list(range(len(classes)))
    pair = isinstance(between, tuple | list) and len(between) == 2
    if not pair or between[0] == between[1]:
        raise TallyBayesError(f"between is {between!r}; give two different classes")
    for label in between:
        if label not in classes:
            hint = did_you_mean(label, classes)
            raise TallyBayesError(f"between: {label!r} is not a class; {hint}")
    return [classes.index(label) for label in between]


def _asked(model: Model, column: str | None) -> list[tuple[Factor, Entries]]:
    """Return the factors whose values are meant: a text, a column, or all that have values."""
    with_values: list[Factor] = []
    texts: list[Factor] = []
    for factor in model.factors:
        if column is not None and column not in map(str, factor.names):
            continue
        if isinstance(factor.kind, Words):
            texts.append(factor)
        else:
            with_values.append(factor)
    if column is not None and not texts and not with_values:
        known = [str(f.names[0]) for f in model.factors if isinstance(f.kind, Words)]
        if not known:
            model.schema.place_of(column)
        raise TallyBayesError(f"{column!r} is not a column of text; {did_you_mean(column, known)}")
    if len(texts) > 1:
        names = sorted(str(factor.names[0]) for factor in texts)
        raise TallyBayesError(f"say which column of text: {', '.join(map(repr, names))}")
    asked = []
    for factor in texts or with_values:
        entries = factor.parameters.entries()
        if entries is not None:
            asked.append((factor, entries))
    if not asked:
        what = "the model has columns of numbers only" if column is None else f"{column!r} holds"
        numbers = "" if column is None else " numbers"
        raise TallyBayesError(f"{what}{numbers}, {NO_SINGLE_VALUE}")
    return asked


def _of_unit(entries: Entries, unit: int) -> Entries:
    """Return the entries of one unit."""
    some = np.flatnonzero(entries.units == unit)
    values = [entries.values[k] for k in some.tolist()]
    return Entries(entries.units[some], values, entries.log_p[some], entries.counts[some])


def _best(
    entries: Entries, log_prior: Floats, n: int, places: list[int]
) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """Go through the classes: the entries that tell most, with ratio and counts."""
    logs, counts = entries.log_p[:, places], entries.counts[:, places]
    for k, place in enumerate(places):
        others = [j for j in range(len(places)) if j != k]
        ratio = against(logs, log_prior[places], k, others)
        here, elsewhere = counts[:, k], counts[:, others].sum(axis=1)
        telling = np.flatnonzero((ratio > 0.0) & ((here > 0.0) | np.isnan(here)))
        best = telling[np.lexsort((-here[telling], -ratio[telling]))][:n]
        yield (
            place,
            [
                (int(entries.units[e]), entries.values[e], float(ratio[e]), float(here[e]),
                 float(elsewhere[e]))
                for e in best.tolist()
            ],
        )  # fmt: skip


def _fewest_last(count: float) -> float:
    return 0.0 if np.isnan(count) else -count


def against(logs: Floats, log_prior: Floats, k: int, others: list[int]) -> Floats:
    """Return log P(w | class k) - log P(w | the others), for every w (down)."""
    prior = log_prior[others]
    if np.isneginf(prior).all():
        prior = np.zeros(len(others))
    mixed = log_sum_exp(logs[:, others] + prior) - float(log_sum_exp(prior[None])[0])
    with np.errstate(invalid="ignore"):
        ratio = logs[:, k] - mixed
    return np.where(np.isnan(ratio), 0.0, ratio)  # impossible here and there
