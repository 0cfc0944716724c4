"""Streams of labelled records, and what is expected of tallies of them."""

import numpy as np

from tallybayes import Tally, Words
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored

COLUMNS = {"note": Words()}


def rows(n, seed=0):
    """Draw labelled records with gaps, of every usual kind of column."""
    random, drawn = np.random.default_rng(seed), []
    for _ in range(n):
        label = "yes" if random.random() < 0.4 else "no"
        record = {
            "income": round(float(random.normal(10.0 if label == "yes" else 8.0)), 3),
            "status": str(random.choice(["single", "married", "divorced"])),
            "age": int(random.integers(20, 70)),
            "owner": bool(random.random() < 0.5),
            "note": " ".join(random.choice(["late", "paid", "never", "again"], 3)),
        }
        drawn.append(({k: v for k, v in record.items() if random.random() > 0.1}, label))
    return drawn


def tally_of(drawn, schema=None):
    records, labels = [record for record, _ in drawn], [label for _, label in drawn]
    told = {"schema": schema} if schema else {"columns": COLUMNS, "target": "cheat"}
    return Tally.of(records, labels, **told)


FIRST = rows(60, seed=1)


def stored(recipe=None):
    fitted = Fitted(tally_of(FIRST), recipe or Recipe())
    return Stored(fitted, Provenance.now("first.csv", len(FIRST)))


def told(drawn, start=0):
    return [
        {"id": f"e{start + k}", "record": record, "label": label}
        for k, (record, label) in enumerate(drawn)
    ]


def same(tally, other):
    """Tell whether two tallies are equal but for the rounding of moments."""
    assert (tally.schema, tally.classes) == (other.schema, other.classes)
    np.testing.assert_array_equal(tally.rows, other.rows)
    for name, array in tally.arrays().items():
        if not name.endswith(("peak", "least", "most")):
            np.testing.assert_allclose(array, other.arrays()[name], rtol=1e-9, atol=1e-9)


def outcomes(answers):
    return [answer.outcome for answer in answers]
