"""The data of the benchmarks: random, seeded, the same for every competitor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix


class Workload(NamedTuple):
    """Rows and labels; `kind` says which family they are for."""

    name: str
    kind: str
    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None


def gaussian(n_rows: int = 1_000_000, n_columns: int = 50, n_classes: int = 5) -> Workload:
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X += rng.normal(size=(n_classes, n_columns))[y]
    return Workload(f"Gaussian {n_rows:,} x {n_columns}, {n_classes} classes", "gaussian", X, y)


def with_missing(work: Workload, share: float = 0.05) -> Workload:
    X = work.X.copy()
    X[np.random.default_rng(2).random(X.shape) < share] = np.nan
    return work._replace(name=f"{work.name}, {share:.0%} missing", X=X)


def with_weights(work: Workload) -> Workload:
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(work.y))
    return work._replace(name=f"{work.name}, weighted", weights=weights)


def categorical(n_rows: int = 500_000, n_columns: int = 20, n_classes: int = 5) -> Workload:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 12, (n_rows, n_columns))
    name = f"Categorical {n_rows:,} x {n_columns}, 12 values, {n_classes} classes"
    return Workload(name, "categorical", X, rng.integers(0, n_classes, n_rows))


def bernoulli(n_rows: int = 200_000, n_columns: int = 100, n_classes: int = 5) -> Workload:
    rng = np.random.default_rng(5)
    X = (rng.random((n_rows, n_columns)) < 0.3).astype(np.float64)
    name = f"Bernoulli dense {n_rows:,} x {n_columns}, {n_classes} classes"
    return Workload(name, "bernoulli", X, rng.integers(0, n_classes, n_rows))


def multinomial(
    n_rows: int = 100_000, n_columns: int = 50_000, n_classes: int = 20, a_row: int = 100
) -> Workload:
    rng = np.random.default_rng(6)
    # words by a power law, as in text: a few are everywhere, most are rare
    ranks = np.arange(1, n_columns + 1) ** -0.7
    words = rng.choice(n_columns, (n_rows, a_row), p=ranks / ranks.sum()).astype(np.int32)
    counts = rng.integers(1, 4, n_rows * a_row).astype(np.float64)
    pointers = np.arange(n_rows + 1) * a_row
    X = csr_matrix((counts, words.ravel(), pointers), shape=(n_rows, n_columns))
    name = f"Multinomial CSR {n_rows:,} x {n_columns:,}, {a_row * n_rows:,} stored, "
    return Workload(
        f"{name}{n_classes} classes", "multinomial", X, rng.integers(0, n_classes, n_rows)
    )


def records(n_classes: int, n_rows: int = 5_000) -> tuple[dict[str, Any], list[str]]:
    """Return a table of ten numeric and ten categorical columns, and labels."""
    rng = np.random.default_rng(7)
    table: dict[str, Any] = {f"number {j}": rng.normal(size=n_rows) for j in range(10)}
    for j in range(10):
        values = rng.integers(0, 12, n_rows)
        table[f"category {j}"] = np.array([f"level {v}" for v in values], dtype=object)
    return table, [f"class {c}" for c in rng.integers(0, n_classes, n_rows)]
