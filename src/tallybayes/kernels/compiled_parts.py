"""The terms that the scores of rows are sums of, one by one; `plain_parts` has the NumPy twins.

Each function writes out[class, start + row, place of the column]; `places is None` stands for the
columns in their order, and is settled when numba specialises a function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.kernels.compilation import loop

Array = Any

_loop = loop("contract")


@_loop
def part_normals(
    X: Array, mean: Array, scale: Array, height: Array, out: Array, start: int, places: Array
) -> None:
    """Write the log density height - (scale (x - mean))^2 of each column that is there, or 0."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(mean.shape[0]):
            mean_c = mean[c]
            scale_c = scale[c]
            height_c = height[c]
            terms = out[c, start + i]
            for j in range(n_columns):
                v = x[j]
                z = (v - mean_c[j]) * scale_c[j]
                term = height_c[j] - z * z
                terms[j if places is None else places[j]] = term if v == v else 0.0


@_loop
def part_codes(
    X: Array,
    base: Array,
    width: Array,
    offset: Array,
    other: Array,
    table: Array,
    out: Array,
    start: int,
    places: Array,
) -> None:
    """Write table[class, place of the code] of each column."""
    n_rows, n_columns = X.shape
    entry = np.empty(n_columns, np.int64)
    for i in range(n_rows):
        x = X[i]
        for j in range(n_columns):
            k = x[j] - base[j]
            inside = (k >= 0) & (k < width[j])
            entry[j] = offset[j] + k if inside else other[j]
        for c in range(table.shape[0]):
            table_c = table[c]
            terms = out[c, start + i]
            for j in range(n_columns):
                terms[j if places is None else places[j]] = table_c[np.uint64(entry[j])]


@_loop
def part_binary(
    X: Array,
    threshold: float,
    absent: Array,
    present: Array,
    out: Array,
    start: int,
    places: Array,
) -> None:
    """Write the log probability of each column being above the threshold, or not."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(absent.shape[0]):
            absent_c = absent[c]
            present_c = present[c]
            terms = out[c, start + i]
            for j in range(n_columns):
                # both loads come first: a load behind a test would not vectorise
                v = x[j]
                if_absent = absent_c[j]
                if_present = present_c[j]
                term = if_present if v > threshold else if_absent
                terms[j if places is None else places[j]] = term if v == v else 0.0


@_loop
def part_counts(
    X: Array, weights: Array, base: Array, out: Array, start: int, places: Array
) -> None:
    """Write base + x weight of each column; 0 times -inf is 0, and a missing value adds nothing."""
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        x = X[i]
        for c in range(weights.shape[0]):
            weights_c = weights[c]
            base_c = base[c]
            terms = out[c, start + i]
            for j in range(n_columns):
                v = x[j]
                term = v * weights_c[j]
                at_zero = base_c[j]
                term = term if v > 0.0 else 0.0
                terms[j if places is None else places[j]] = term + at_zero if v == v else 0.0
