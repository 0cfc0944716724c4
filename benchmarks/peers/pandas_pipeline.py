"""What one would write without tallybayes: pandas, and scikit-learn's two naive Bayes put together.

python -m benchmarks.peers.pandas_pipeline pipeline|codes fit FILE MODEL
python -m benchmarks.peers.pandas_pipeline pipeline|codes predict MODEL FILE OUT

Text, small integers and the boolean go to `CategoricalNB`. Numbers go, with the mean where they are
missing, to `GaussianNB`. Their joint log-likelihoods add up, the prior counted once. `pipeline` has
an `OrdinalEncoder` before the categories; `codes` lets pandas read text as its own categories, whose
codes need no encoder and make labels that need no sorting.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.mixed_files import CATEGORIES, MOMENTS, TARGET, TEXTS

Array = Any


class Mixed:
    """Naive Bayes of categories and numbers."""

    def __init__(self) -> None:
        self.encoder = OrdinalEncoder(dtype=np.int64)
        self.categories = CategoricalNB()
        self.numbers = make_pipeline(SimpleImputer(), GaussianNB())

    def read(self, path: str) -> pandas.DataFrame:
        return pandas.read_parquet(path)

    def codes(self, table: pandas.DataFrame, learn: bool) -> Array:
        named = table[list(CATEGORIES)]
        return self.encoder.fit_transform(named) if learn else self.encoder.transform(named)

    def labels(self, table: pandas.DataFrame) -> Any:
        return table[TARGET]

    def names(self, winners: Array) -> Any:
        """Return the classes of which those are the places."""
        return self.numbers[-1].classes_[winners]

    def fit(self, table: pandas.DataFrame) -> Mixed:
        y = self.labels(table)
        self.categories.fit(self.codes(table, learn=True), y)
        self.numbers.fit(table[list(MOMENTS)], y)
        return self

    def predict_proba(self, table: pandas.DataFrame) -> Array:
        gaussian = self.numbers[-1]
        joint = self.categories.predict_joint_log_proba(self.codes(table, learn=False))
        numbers = self.numbers[:-1].transform(table[list(MOMENTS)])
        joint += gaussian.predict_joint_log_proba(numbers)
        joint -= np.log(gaussian.class_prior_)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint


class MixedOfCodes(Mixed):
    """The same with text that arrives as categories of pandas."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Any] = {}

    def read(self, path: str) -> pandas.DataFrame:
        return pandas.read_parquet(path, read_dictionary=[*TEXTS, TARGET])

    def codes(self, table: pandas.DataFrame, learn: bool) -> Array:
        found = np.empty((len(table), len(CATEGORIES)), np.int64)
        for place, name in enumerate(CATEGORIES):
            column = table[name]
            if learn:
                self.known[name] = column.cat.categories if name in TEXTS else int(column.min())
            if name in TEXTS:
                found[:, place] = column.cat.set_categories(self.known[name]).cat.codes
            else:
                found[:, place] = column.astype(np.int64) - self.known[name]
        return found

    def labels(self, table: pandas.DataFrame) -> Any:
        self.known[TARGET] = table[TARGET].cat.categories
        return table[TARGET].cat.codes.to_numpy()

    def names(self, winners: Array) -> Any:
        return pandas.Categorical.from_codes(winners, self.known[TARGET])


WAYS = {"pipeline": Mixed, "codes": MixedOfCodes}


def fit(way: str, path: str, model: str) -> int:
    mixed = WAYS[way]()
    table = mixed.read(path)
    mixed.fit(table)
    with Path(model).open("wb") as file:
        pickle.dump(mixed, file)
    return len(table)


def predict(model: str, path: str, out: str) -> int:
    """Write what tallybayes writes: the class and its probability."""
    with Path(model).open("rb") as file:
        mixed: Mixed = pickle.load(file)
    table = mixed.read(path)
    proba = mixed.predict_proba(table)
    winners = proba.argmax(axis=1)
    found = pandas.DataFrame(
        {
            "prediction": mixed.names(winners),
            "probability": proba[np.arange(len(proba)), winners],
        }
    )
    if out.endswith(".csv"):
        found.to_csv(out, index=False)
    else:
        found.to_parquet(out, index=False)
    return len(found)


def main() -> None:
    start = time.perf_counter()
    way, command, *given = sys.argv[1:]
    rows = fit(way, *given) if command == "fit" else predict(*given)
    print(json.dumps({"rows": rows, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    # a pickle finds its class by the name of its module
    from benchmarks.peers import pandas_pipeline

    pandas_pipeline.main()
