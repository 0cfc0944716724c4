"""How the model files of format 1 in this folder were made, once: python make_v1.py.

They stay as they are: later versions must read them. A new format gets new files beside them.
"""

from pathlib import Path

import numpy as np

import tallybayes as tb
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Provenance, Stored, save

HERE = Path(__file__).parent
LOANS = {
    "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    "status": [
        *("Single", "Married", "Single", "Married", "Divorced"),
        *("Married", "Divorced", "Single", "Married", "Single"),
    ],
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
}
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
MAILS = ["lottery win", "buy lottery lottery", "see you", "you buy lunch", None]
SPAM = [True, True, False, False, False]
WORDS = tb.Words(idf=tb.Idf({"buy": 1.5, "lunch": 2.0, "never": 0.25}))
NUMBERS = {
    "on": [1, 0, 1, 1],
    "age": [12, 18, 40, 70],
    "size": [1.0, 1.0, 8.0, 2.0],
    "visits": [3, 1, 0, 2],
    "calls": [1, 4, 0, 0],
    "letter": ["buy lunch", "lunch", "", None],
    "note": ["a b", "b", "b c", "a"],
}
LABELS = np.array([7, 7, 300, 300], np.int16)


def provenance(source, rows):
    time = "2026-11-16T12:00:00+00:00"
    return Provenance(time, time, "0.1.0", (source,), rows, 0, (f"fit {source}: {rows} rows",))


def loan():
    """Categories and a number; a prior that is stated, and a positive class."""
    fitted = Fitted(
        tb.Tally.of(LOANS, CHEAT, target="cheat"),
        Recipe(
            (tb.Gaussian(),),
            {
                "owner": tb.Categorical(alpha=0),
                "status": tb.Categorical(m=3, p=tb.ByClass({"Yes": 1 / 3, "No": 2 / 3})),
            },
            tb.Fixed({"Yes": 0.25, "No": 0.75}),
            "Yes",
            reasons={"income": "declared"},
        ),
        labels=np.array(["No", "Yes"]),
    )
    return Stored(fitted, provenance("loan.csv", 10))


def mails():
    """Text, booleans as classes, and a temperature."""
    tally = tb.Tally.of({"mail": MAILS}, SPAM, columns={"mail": tb.Text()}, target="spam")
    calibration = Calibration("temperature", default=0.5, loss=0.25, loss_before=0.75, rows=5)
    fitted = Fitted(tally, Recipe((tb.Text(alpha=0.5),), {}, tb.Uniform(), calibration=calibration))
    return Stored(fitted, provenance("mails.jsonl", 5), {"name": "TextNB", "alpha": 0.5})


def numbers():
    """The other kinds and families, whole numbers as classes, and weights."""
    kinds = {
        "on": tb.Binary(0.5),
        "age": tb.Intervals((18, 65)),
        "size": tb.Numeric(log=True),
        "visits": tb.Count("a"),
        "calls": tb.Count("b"),
        "letter": WORDS,
        "note": tb.Words(tokens="whitespace", buckets=8),
    }
    tally = tb.Tally.of(NUMBERS, LABELS, [1.0, 1.0, 0.5, 2.0], columns=kinds)
    fitted = Fitted(
        tally,
        Recipe(
            (),
            {
                "on": tb.Bernoulli(alpha=0.5, threshold=0.5),
                "age": tb.Bins((18, 65), alpha=1),
                "size": tb.LogNormal(ddof=0, floor=tb.AdditiveFloor(0.5, of=2.0)),
                "visits": tb.Poisson(alpha=0.25, bag="a"),
                "calls": tb.Complement(alpha=1, bag="b"),
                "letter": tb.Text(WORDS, event="boolean"),
            },
            tb.Empirical(alpha=1),
            300,
            declared_classes=(7, 300, 1000),
        ),
        labels=np.array([7, 300, 1000], np.int16),
    )
    return Stored(fitted, provenance("numbers.parquet", 4))


if __name__ == "__main__":
    for made in (loan, mails, numbers):
        save(HERE / f"v1-{made.__name__}.tally", made())
