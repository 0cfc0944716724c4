"""A table of columns of every kind, and what one process makes of it."""

from decimal import Decimal

import numpy as np
import pyarrow as pa

from tallybayes import Bins
from tallybayes.model.specification import ModelSpec
from tallybayes.workflows import train
from workflows.mixed import assert_same_tally

N = 3_000
SPEC = {
    "columns": {"visits": "poisson", "age": "bins:edges=30;50", "on": "bernoulli"},
    "text": ("mail",),
    "drop": ("id",),
}


def rows_of(n=N, seed=0):
    """Return a table of columns of every kind, with gaps, a weight and classes of unequal size."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 12, n), 2)  # 1/12, 1/12, 10/12
    words = np.array(["buy", "now", "lottery", "dinner", "tonight", "see", "you", "é", "w"], object)
    texts = [" ".join(words[(rng.integers(0, 6, 4) + 2 * k) % 9]) for k in y]
    income = rng.normal(1e6 + 20.0 * y, 15.0)
    price = [Decimal(int(v)) / 100 for v in rng.integers(100, 10_000, n) + 1000 * y]
    gap = rng.random((4, n)) < 0.1
    columns = {
        "id": range(n),
        "income": pa.array(income, mask=gap[0]),
        "price": pa.array(price, pa.decimal128(12, 2), mask=gap[1]),
        "age": rng.integers(18, 70, n) + 5 * y,
        "rooms": (1 + (rng.integers(3, size=n) + y) % 4).astype(np.int32),
        "status": pa.array(np.array(list("abcde"))[(rng.integers(3, size=n) + y) % 5], mask=gap[2]),
        "owner": rng.random(n) < 0.3 + 0.2 * y,
        "on": rng.integers(0, 2 + y),
        "visits": rng.poisson(1.0 + y),
        "mail": pa.array(texts, mask=gap[3]),
        "times": rng.integers(0, 4, n),
        "label": np.array(["no", "so", "yes"])[y],
    }
    return pa.table(columns)


TABLE = rows_of()


def plain(table, weight=None, **more):
    """Return what one process makes of it."""
    columns = {"visits": "poisson", "age": Bins((30, 50)), "on": "bernoulli"}
    spec = ModelSpec(**{**SPEC, "columns": columns, "plain": True, **more})
    return train(table, "label", spec, weight=weight, scores=False).stored


def assert_same_model(found, wanted, table=TABLE, rtol=1e-10):
    """The tallies are equal, bit for bit where they are counts, and so are the answers."""
    assert_same_tally(found.fitted.tally, wanted.fitted.tally)
    rows = table.select(list(wanted.fitted.tally.schema.inputs)).slice(0, 200)
    np.testing.assert_allclose(
        found.fitted.model.posterior(rows), wanted.fitted.model.posterior(rows), rtol=rtol
    )
