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


LEVELS = (8, 16, 7, 14, 6, 5, 2, 41)  # of the columns of text in UCI Adult
RANGES = (73, 28_000, 16, 120, 99, 96)  # of its columns of integers


def people(n_rows: int = 48_842) -> tuple[Any, Any]:
    """Return a pandas table with the shape of UCI Adult, and labels."""
    import pandas as pd

    table, labels, categorical = people_as_numbers(n_rows)
    rng = np.random.default_rng(10)
    columns = {}
    for j in range(table.shape[1]):
        values = table[:, j].astype(np.int64)
        if j in categorical:
            text = np.array([f"level {k}" for k in range(LEVELS[j])], dtype=object)[values]
            if j in (1, 3, 7):  # where Adult has gaps
                text[rng.choice(n_rows, 2_155, replace=False)] = None
            columns[f"text {j}"] = pd.Series(text, dtype="str")
        else:
            columns[f"number {j}"] = values
    return pd.DataFrame(columns), pd.Series(np.array(["<=50K", ">50K"])[labels], name="income")


def people_as_numbers(n_rows: int = 48_842) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the same as one array of floats, labels 0 and 1, and the categorical columns."""
    rng = np.random.default_rng(9)
    labels = (rng.random(n_rows) < 0.24).astype(np.int64)
    text = [
        rng.choice(k, n_rows, p=rng.dirichlet(np.ones(k))) * (1 - labels)
        + rng.choice(k, n_rows, p=rng.dirichlet(np.ones(k))) * labels
        for k in LEVELS
    ]
    numbers = [
        np.clip(rng.normal(0.4 + 0.1 * labels, 0.2), 0.0, 1.0) * most // 1 for most in RANGES
    ]
    return np.stack([*text, *numbers], axis=1).astype(np.float64), labels, list(range(len(text)))
