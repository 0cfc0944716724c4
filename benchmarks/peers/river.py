"""Single events with river, in a process of its own: river may be installed elsewhere.

python -m benchmarks.peers.river FILE

reads lines of JSON, the first with the name of a pipeline and how many rows come before those that
are timed, each other one with a record and its label; and prints microseconds of processor time as JSON: of learning,
of scoring, and of both in turn.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from river import compose, feature_extraction, naive_bayes, preprocessing

# river has no naive Bayes for numbers beside categories: these become numbers
PIPELINES: dict[str, Callable[[], Any]] = {
    "numbers": naive_bayes.GaussianNB,
    "mixed": lambda: (
        (compose.SelectType(int, float) + (compose.SelectType(str) | preprocessing.OneHotEncoder()))
        | naive_bayes.GaussianNB()
    ),
    "text": lambda: feature_extraction.BagOfWords(on="text") | naive_bayes.MultinomialNB(),
}


def each(work: Callable[[Any, Any], Any], events: list[Any]) -> float:
    start = time.process_time()
    for record, label in events:
        work(record, label)
    return (time.process_time() - start) / len(events) * 1e6


def times(pipeline: str, before: list[Any], events: list[Any]) -> list[float]:
    model = PIPELINES[pipeline]()

    def score(record: Any, label: Any) -> None:
        model.predict_proba_one(record)

    def both(record: Any, label: Any) -> None:
        model.predict_proba_one(record)
        model.learn_one(record, label)

    each(model.learn_one, before)
    return [each(work, events) for work in (model.learn_one, score, both)]


if __name__ == "__main__":
    with Path(sys.argv[1]).open() as lines:
        (name, before), *rows = map(json.loads, lines)
    turns = [times(name, rows[:before], rows[before:]) for _ in range(5)]
    best = [*map(min, zip(*turns, strict=True))]
    print(json.dumps(best))
