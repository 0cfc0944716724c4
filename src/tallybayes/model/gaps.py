"""Columns of which it would tell of the class whether they have a value, where that is ignored.

With m for whether a column has a value, a row of class c tells log2 P(m | c) - log2 sum_k P(k)
P(m | k) bits. The shares are Laplace's, those of the row's own class without the row: where gaps
come by chance, the mean is below nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tallybayes.arrays import Array
from tallybayes.errors import Option
from tallybayes.kinds import GAPS
from tallybayes.rendering.words import listed, quoted
from tallybayes.schema import Schema
from tallybayes.tallies import Tally

Missing = Literal["ignore", "evidence"]  # what a missing value does

WORTH = 0.01  # share of what there is to know that is worth speaking of
ERRORS = 2.0  # standard errors
LEAST = 30  # rows
MOST_NAMED = 6
REMEDY = Option("missing", "evidence")


def telling(missing: Array, rows: Array) -> Array:
    """Tell of which columns gaps would tell: rows by class and column, and by class."""
    total, of_class = float(rows.sum()), rows[:, None]
    shares = of_class[:, 0] / max(total, 1.0)
    n = np.stack([of_class - missing, missing])
    own, whole = n / (of_class + 1.0), (n + 1.0) / (of_class + 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -float(np.nansum(shares * np.log2(shares)))
        mixed = np.einsum("mcj,c->mj", whole, shares)[:, None] + shares[:, None] * (own - whole)
        bits = np.where(n > 0, np.log2(own) - np.log2(mixed), 0.0)
        mean = (n * bits).sum(axis=(0, 1)) / total
        error = np.sqrt((n * (bits - mean) ** 2).sum(axis=(0, 1))) / total
        enough = total >= LEAST and np.count_nonzero(rows) > 1
        return np.asarray((mean > WORTH * entropy) & (mean > ERRORS * error) & enough)


def ignored_gaps(tally: Tally) -> list[str]:
    """Return the columns whose gaps would tell, and are not counted; a bag has none of its own."""
    found: list[str] = []
    schema = tally.schema
    for group, block in zip(schema.groups, tally.blocks, strict=True):
        if group in schema.extra or len(group) == 0:
            continue
        missing = tally.rows[:, None] - block.present
        if missing.shape[1] == len(group) and missing.any():
            some = np.flatnonzero(missing.any(axis=0))
            names = schema.names_of(group)
            found += [str(names[k]) for k in some[telling(missing[:, some], tally.rows)].tolist()]
    return [name for name in found if not is_evidence(schema, name)]


def is_evidence(schema: Schema, name: str) -> bool:
    """Tell whether it is counted whether a column has a value."""
    return GAPS.title([name]) in schema.places


def sentence_of(names: Sequence[str]) -> str:
    """Say that gaps of these columns would tell, and what to do about it."""
    shown = listed(map(quoted, names), MOST_NAMED)
    return f"whether there is a value of {shown} tells of the class, and is ignored; use {REMEDY}"
