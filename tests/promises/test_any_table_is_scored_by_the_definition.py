"""Any table of mixed columns is scored as naive Bayes is by definition, in exact fractions."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, strategies as st
from scipy import stats

from tallybayes import NaiveBayes

WORDS = st.sampled_from(["red", "green", "blue", None])
# Eighths are exact in both arithmetics.
NUMBERS = st.none() | st.integers(-40, 40).map(lambda n: n / 8)
CELLS = st.tuples(NUMBERS, WORDS, NUMBERS, st.sampled_from([True, False, None]))
WEIGHTS = st.sampled_from([0, 1, 2, 3, 0.5, 1.25])
NAMES = ("height", "colour", "width", "on")
KINDS = {"height": "gaussian", "colour": "categorical", "width": "gaussian", "on": "categorical"}


def rows_of(table):
    return list(zip(*table.values(), strict=True))


def table_of(rows, names):
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def by_hand(table, labels, new, weights=None, alpha=1, unseen="ignore"):
    """Log P(c) + sum of log P(x | c), rows down and sorted classes across, in exact fractions.

    Decimal numbers are Gaussian, everything else is categorical; None is missing.
    """
    weights = [Fraction(w) for w in (weights or [1] * len(labels))]
    counted = [
        (row, label, w)
        for row, label, w in zip(rows_of(table), labels, weights, strict=True)
        if w > 0
    ]
    classes = sorted({label for _, label, _ in counted})
    total = sum(w for _, _, w in counted)
    columns = []
    for j in range(len(table)):
        there = [(label, row[j], w) for row, label, w in counted if row[j] is not None]
        decimal = any(isinstance(x, float) for _, x, _ in there)
        columns.append((_bell if decimal else _table)(there, classes, Fraction(alpha), unseen))
    out = []
    for record in rows_of(new):
        out.append([])
        for c in classes:
            share = sum(w for _, label, w in counted if label == c) / total
            score = math.log(share)
            for x, log_factor in zip(record, columns, strict=True):
                score += 0.0 if x is None else log_factor(x, c)
            out[-1].append(score)
    return np.array(out)


def _table(there, classes, alpha, unseen):
    """(n + alpha) / (N + alpha K)."""
    values = {x for _, x, _ in there}

    def log_factor(x, c):
        if not values or (x not in values and unseen == "ignore"):
            return 0.0
        n = sum(w for label, value, w in there if (label, value) == (c, x))
        whole = sum(w for label, _, w in there if label == c)
        if whole + alpha * len(values) == 0:  # the class has no value: take all classes together
            n = sum(w for _, value, w in there if value == x)
            whole = sum(w for _, _, w in there)
        p = Fraction(n + alpha) / (whole + alpha * len(values))
        return math.log(p) if p > 0 else -math.inf

    return log_factor


def _moments(pairs):
    weight = sum(w for _, w in pairs)
    if not weight:
        return weight, Fraction(0), Fraction(0)
    mean = sum(w * Fraction(x) for x, w in pairs) / weight
    return weight, mean, sum(w * (Fraction(x) - mean) ** 2 for x, w in pairs)


def _bell(there, classes, alpha, unseen):
    """The normal density, with variances M2 / (W - 1)."""
    everything = _moments([(x, w) for _, x, w in there])
    of_class = {c: _moments([(x, w) for label, x, w in there if label == c]) for c in classes}
    enough = [(weight, m2) for weight, _, m2 in of_class.values() if weight > 1]
    weight, middle, m2 = everything
    overall = m2 / (weight - 1) if weight > 1 else m2 / weight
    pooled = overall
    if enough:
        pooled = sum(m2 for _, m2 in enough) / sum(weight - 1 for weight, _ in enough)

    def log_factor(x, c):
        if m2 == 0:  # a constant column says nothing
            return 0.0
        own_weight, mean, own_m2 = of_class[c]
        variance = own_m2 / (own_weight - 1) if own_weight > 1 else pooled
        if own_weight == 0:
            mean, variance = middle, overall
        return float(stats.norm.logpdf(float(Fraction(x) - mean), scale=math.sqrt(variance)))

    return log_factor


def without_equal_values(column, labels, weights):
    """Leave out numbers that do not differ within a class: what then keeps a variance from zero is
    a family's floor, with tests of its own."""
    rows = list(zip(labels, weights, column, strict=True))
    for c in set(labels):
        there = [(x, w) for label, w, x in rows if label == c and w and x is not None]
        if len({x for x, _ in there}) == 1 and sum(w for _, w in there) > 1:
            column[:] = [None if label == c else x for label, _, x in rows]
            rows = list(zip(labels, weights, column, strict=True))


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), WEIGHTS, CELLS), min_size=1),
    new=st.lists(CELLS, min_size=1, max_size=5),
    alpha=st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3)]),
    unseen=st.sampled_from(["ignore", "smooth"]),
    weighted=st.booleans(),
)
def test_any_table_is_scored_by_the_definition(rows, new, alpha, unseen, weighted):
    labels = [label for label, _, _ in rows]
    weights = [weight for _, weight, _ in rows] if weighted else None
    assume(not weighted or any(weights))
    table = table_of([cells for _, _, cells in rows], NAMES)
    for name in ("height", "width"):
        without_equal_values(table[name], labels, weights or [1] * len(rows))
    records = table_of(new, NAMES)
    expected = by_hand(table, labels, records, weights, alpha, unseen=unseen)
    model = NaiveBayes(KINDS, alpha=float(alpha), unseen=unseen).fit(table, labels, weights)
    found = model.predict_joint_log_proba(records)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
