"""One record in microseconds: a function written for the model, or one pass through small tables.

NumPy needs about 20 microseconds for any handful of calls. So for models of moderate size the sum
of log-likelihoods is written out as straight-line Python, one line a class and column, and compiled
when the first record arrives. Larger models gather rows of one table instead. Both leave everything
unusual (a value of the wrong type, an unknown column, a record that no class allows) to the careful
path.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    LogNormalParameters,
    MultinomialParameters,
    NormalParameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.parameters import safe_log
from tallybayes.kernels import plain
from tallybayes.model.factors import Factor
from tallybayes.schema import Schema
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Documents

Floats = NDArray[np.float64]
Posterior = dict[Label, float]
Score = Callable[[Mapping[str, Any]], Posterior | None]

# Columns times classes up to which the sum is written out
MOST_CELLS = 500


class RecordScorer:
    """Scores single records; None means that the careful path must look at the record."""

    def __init__(
        self,
        schema: Schema,
        classes: tuple[Label, ...],
        prior: Floats,
        factors: tuple[Factor, ...],
    ) -> None:
        cells = len(schema.names) * len(classes)
        write = _straight_line if cells <= MOST_CELLS else _gathering
        self._score: Score = write(schema, classes, safe_log(prior), factors)

    def __call__(self, record: Mapping[str, Any]) -> Posterior | None:
        """Return the posterior, or None."""
        try:
            return self._score(record)
        except (TypeError, ValueError, LookupError, OverflowError, AttributeError, RuntimeError):
            return None


def _names_of(schema: Schema, factor: Factor) -> list[str]:
    names = schema.names_of(schema.groups[factor.group])
    return [str(names[place]) for place in factor.places(len(names))]


def _other_values(
    tables: CategoricalParameters, column: int, n_classes: int
) -> Callable[[Any], tuple[float, ...]]:
    """Return what to do with a value that is not in the table: leave it out, or look with care."""
    known = tables.labels[column]
    nothing = (0.0,) * n_classes
    of_type = type(known[0]) if known else object

    def other(value: Any) -> tuple[float, ...]:
        if tables.unseen == "ignore" and isinstance(value, of_type):
            return nothing
        raise LookupError

    return other


def _rows_by_label(tables: CategoricalParameters) -> list[dict[Any, tuple[float, ...]]]:
    """Return for each column the log probabilities of each value, one a class."""
    n_classes = len(tables.log_probabilities)
    flat = tables.log_probabilities.T.tolist()
    out: list[dict[Any, tuple[float, ...]]] = []
    start = 0
    for labels in tables.labels:
        rows = {label: tuple(flat[start + k]) for k, label in enumerate(labels)}
        out.append({**rows, None: (0.0,) * n_classes})
        start += len(labels)
    return out


def _interval_scorer(
    edges: tuple[float, ...], rows: Mapping[Any, tuple[float, ...]]
) -> Callable[[Any], tuple[float, ...]]:
    """Return the function that finds the log probabilities of the interval of a number."""

    def score(x: Any) -> tuple[float, ...]:
        # adding 0.0 leaves text to the careful path, which alone would be read as a number
        missing = x is None or x != x
        return rows[None if missing else bisect_left(edges, float(x + 0.0))]

    return score


def _text_scorer(weights: TextParameters) -> Callable[[Any], list[float]]:
    """Return the function that scores one document."""
    zeros = np.zeros((1, weights.counted.n_classes))

    def score(document: Any) -> list[float]:
        out = zeros.copy()
        weights.add_log_likelihood(Documents([document]), out)
        scores: list[float] = out[0].tolist()
        return scores

    return score


def _straight_line(
    schema: Schema, classes: tuple[Label, ...], log_prior: Floats, factors: tuple[Factor, ...]
) -> Score:
    """Write the posterior out as Python and compile it."""
    every = range(len(classes))
    space: dict[str, Any] = {
        "inf": math.inf,
        "exp": math.exp,
        "log": math.log,
        "known": {*schema.names, schema.target},
    }
    start = log_prior.copy()
    lines: list[str] = []
    tables: list[str] = []

    def add(sign: str, terms: Iterable[Any]) -> None:
        lines.extend(f"    s{c} {sign}= {term}" for c, term in enumerate(terms))

    for factor in factors:
        p = factor.scored
        rows = _rows_by_label(p) if isinstance(p, CategoricalParameters) else []
        for j, name in enumerate(_names_of(schema, factor)):
            lines.append(f"x = get({name!r})")
            if isinstance(p, BinsParameters):
                k = len(tables)
                tables.append(f"r{k}")
                space[f"t{k}"] = _interval_scorer(p.edges[j], rows[j])
                lines.append(f"r{k} = t{k}(x)")
            elif isinstance(p, CategoricalParameters):
                k = len(tables)
                tables.append(f"r{k}")
                space[f"t{k}"], space[f"o{k}"] = rows[j], _other_values(p, j, len(classes))
                lines.append(f"r{k} = t{k}.get(x) or o{k}(x)")
            elif isinstance(p, TextParameters):
                k = len(tables)
                tables.append(f"r{k}")
                space[f"t{k}"] = _text_scorer(p)
                lines.append(f"r{k} = t{k}(x)")
            elif isinstance(p, NormalParameters):
                mean, scale, height = (part[:, j].tolist() for part in p.curves)
                start += height  # taken back in the rarer case that the value is missing
                logs = isinstance(p, LogNormalParameters)
                lines.append("if x is None or x != x" + (" or x <= 0:" if logs else ":"))
                add("-", map(repr, height))
                lines.append("else:")
                if logs:  # the density of x is less by the factor 1 / x in every class
                    lines.append("    x = log(x + 0.0)")
                for c in every:
                    lines += [f"    z = (x - {mean[c]!r}) * {scale[c]!r}", f"    s{c} -= z * z"]
            elif isinstance(p, BernoulliParameters):
                lines.append(f"if x is not None and x > {p.threshold!r}:")
                add("+", p.log_present[:, j].tolist())
                lines.append("elif x is not None and x == x:")
                add("+", p.log_absent[:, j].tolist())
            else:
                assert isinstance(p, MultinomialParameters | PoissonParameters)
                weights, base = (part[:, j].tolist() for part in p.line())
                lines.append("if x is not None and x > 0:")
                add("+", (f"{b!r} + x * {w!r}" for b, w in zip(base, weights, strict=True)))
                lines.append("elif x == 0:")
                add("+", base)
                lines.append("elif x is not None and x == x: return None")
    scores = "".join(f"s{c}, " for c in every)
    if tables:
        terms = "".join(f", a{k}" for k in range(len(tables)))
        total = "".join(f" + a{k}" for k in range(len(tables)))
        lines.append(f"{scores}= [s{total} for s{terms} in zip(({scores}), {', '.join(tables)})]")
    lines.append(f"top = max(({scores}))")
    lines.append("if not -inf < top < inf: return None")
    lines += [f"s{c} = exp(s{c} - top)" for c in every]
    lines.append("total = " + " + ".join(f"s{c}" for c in every))
    lines.append("if total != total: return None")
    pairs = ", ".join(f"label{c}: s{c} / total" for c in every)
    space.update({f"label{c}": label for c, label in enumerate(classes)})
    lines.append(f"return {{{pairs}}}")
    head = ["if not record.keys() <= known: return None", "get = record.get"]
    head += [f"s{c} = {value!r}" for c, value in enumerate(start.tolist())]
    source = "def score(record):\n" + "\n".join(f"    {each}" for each in head + lines)
    exec(compile(source, "<record scorer>", "exec"), space)
    score: Score = space["score"]
    return score


def _gathering(
    schema: Schema, classes: tuple[Label, ...], log_prior: Floats, factors: tuple[Factor, ...]
) -> Score:
    """Gather what each value contributes: rows of one table, and the bell curves of numbers."""
    n_classes = len(classes)
    means: list[Floats] = []
    scales: list[Floats] = []
    heights: list[Floats] = []
    stack: list[Floats] = [np.zeros((1, n_classes))]
    height_of_stack = 1
    plan: dict[str, tuple[int, Any]] = {}

    def push(rows: Floats) -> int:
        """Put rows on the table; return the place of the first."""
        nonlocal height_of_stack
        stack.append(np.ascontiguousarray(rows))
        height_of_stack += len(rows)
        return height_of_stack - len(rows)

    for factor in factors:
        p = factor.scored
        names = _names_of(schema, factor)
        if isinstance(p, NormalParameters):
            for parts, part in zip((means, scales, heights), p.curves, strict=True):
                parts.append(part.T)
            start = sum(map(len, means)) - len(names)
            how = 5 if isinstance(p, LogNormalParameters) else 0
            plan.update({name: (how, start + j) for j, name in enumerate(names)})
        elif isinstance(p, CategoricalParameters):
            start = push(p.log_probabilities.T)
            for j, name in enumerate(names):
                places: dict[Any, int] = {lb: start + k for k, lb in enumerate(p.labels[j])}
                places[None] = 0
                if isinstance(p, BinsParameters):
                    plan[name] = (6, (p.edges[j], start))
                    start += len(p.labels[j])
                    continue
                start += len(p.labels[j])
                plan[name] = (1, (places, _other_values(p, j, n_classes)))
        elif isinstance(p, TextParameters):
            plan[names[0]] = (4, _text_scorer(p))
        elif isinstance(p, BernoulliParameters):
            off, on = push(p.log_absent.T), push(p.log_present.T)
            plan.update({name: (2, (p.threshold, off + j, on + j)) for j, name in enumerate(names)})
        else:
            assert isinstance(p, MultinomialParameters | PoissonParameters)
            weights, base = p.line()
            at = push(weights.T)
            at_zero = push(base.T) if isinstance(p, PoissonParameters) else None
            for j, name in enumerate(names):
                plan[name] = (3, (at + j, None if at_zero is None else at_zero + j))
    table = np.concatenate(stack)
    mean, scale, height = (
        np.concatenate(part or [np.zeros((0, n_classes))]) for part in (means, scales, heights)
    )
    start_at = log_prior[None].copy()
    array, floats, integers = np.array, np.dtype(np.float64), np.dtype(np.int64)

    def score(record: Mapping[str, Any]) -> Posterior | None:
        numbers: list[Any] = []
        which: list[int] = []
        rows: list[int] = []
        times: list[float] = []
        joint = start_at.copy()
        for name, x in record.items():
            how, what = plan[name]
            if how == 1:
                place = what[0].get(x)
                if place is None:
                    what[1](x)
                else:
                    rows.append(place)
                    times.append(1.0)
            elif x is None or x != x:
                continue
            elif how == 0:
                numbers.append(x)
                which.append(what)
            elif how == 2:
                rows.append(what[2] if x > what[0] else what[1])
                times.append(1.0)
            elif how == 4:
                joint += what(x)
            elif how == 5:
                if x > 0:
                    numbers.append(math.log(x + 0.0))
                    which.append(what)
            elif how == 6:
                rows.append(what[1] + bisect_left(what[0], float(x + 0.0)))
                times.append(1.0)
            else:
                if x > 0:
                    rows.append(what[0])
                    times.append(x + 0.0)
                elif x < 0:
                    return None
                if what[1] is not None:
                    rows.append(what[1])
                    times.append(1.0)
        values, weights = array(numbers), array(times)
        if values.dtype is not floats:  # text must not turn into numbers here
            values = array([each + 0.0 for each in numbers])
        if values.ndim != 1 or weights.ndim != 1 or values.dtype.kind != "f":
            return None
        columns, places = array(which, integers), array(rows, integers)
        _add_terms(values, columns, places, weights, mean, scale, height, table, joint)
        shares: list[float] = joint[0].tolist()
        if not sum(shares) > 0.5:  # nothing is possible, or something is not a number
            return None
        return dict(zip(classes, shares, strict=True))

    return score


def _add_terms(
    x: Floats,
    which: NDArray[np.int64],
    rows: NDArray[np.int64],
    times: Floats,
    mean: Floats,
    scale: Floats,
    height: Floats,
    table: Floats,
    joint: Floats,
) -> None:
    """Add the terms of one record to the single row of `joint` and replace it by its shares.

    The numbers x belong to the columns `which`; the other terms are rows of the table, each taken
    so many times.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        if len(x):
            z = (x[:, None] - mean.take(which, 0)) * scale.take(which, 0)
            joint += (height.take(which, 0) - z * z).sum(axis=0)
        if len(rows):
            joint += (times[:, None] * table.take(rows, 0)).sum(axis=0)
    plain.shares(joint)
