"""Naive Bayes as the lectures write it, in fractions and loops: what promises are held to.

Nothing here is taken from the library: a table is a list of rows, a row a list of values, and None
is missing.
"""

from fractions import Fraction
from math import prod


def counted(rows, labels, weights=None):
    """Return the rows, their labels and their weights as fractions."""
    weights = [1] * len(rows) if weights is None else weights
    return list(zip(rows, labels, map(Fraction, weights), strict=True))


def class_shares(rows, alpha=0):
    """Return P(c) = (W_c + alpha) / (W + alpha C)."""
    classes = sorted({label for _, label, weight in rows if weight})
    total = sum(weight for *_, weight in rows) + Fraction(alpha) * len(classes)
    return {
        label: (sum(weight for _, other, weight in rows if other == label) + Fraction(alpha))
        / total
        for label in classes
    }


def share_of_value(rows, label, column, value, alpha=1, declared=()):
    """Return P(value | c) = (n + alpha) / (N + alpha K), K being the values that there are."""
    there = [(row[column], c, w) for row, c, w in rows if row[column] is not None and w]
    values = {each for each, *_ in there} | set(declared)
    hits = sum(w for each, c, w in there if c == label and each == value)
    total = sum(w for _, c, w in there if c == label)
    below = total + Fraction(alpha) * len(values)
    return (hits + Fraction(alpha)) / below if below else Fraction(1, len(values))


def m_estimate(rows, label, column, value, m, p):
    """Return P(value | c) = (n + m p) / (N + m)."""
    there = [(row[column], w) for row, c, w in rows if row[column] is not None and c == label]
    hits = sum(w for each, w in there if each == value)
    return (hits + Fraction(m) * Fraction(p)) / (sum(w for _, w in there) + Fraction(m))


def posterior(prior, likelihood, record):
    """Return P(c | record) where `likelihood(label, column, value)` is P(value | c)."""
    joint = {
        label: share * prod(likelihood(label, j, x) for j, x in enumerate(record) if x is not None)
        for label, share in prior.items()
    }
    total = sum(joint.values())
    return {label: part / total for label, part in joint.items()} if total else prior
