"""Which model is better: stored ones on a test file, or specifications on the same folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import Stored
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.rows import open_rows
from tallybayes.validation.comparison import Comparison, compare, compare_predictions
from tallybayes.workflows.evaluation import judge
from tallybayes.workflows.streams import Aside, Progress
from tallybayes.workflows.tables import estimator_of, read_labelled


def compare_models(
    models: Mapping[str, Stored],
    data: Any,
    *,
    target: str | None = None,
    level: float = 0.05,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> Comparison:
    """Compare stored models on labelled rows that none of them has seen, by McNemar's test.

    Parameters
    ----------
    models
        The models by name, two or more.
    data, target, read, progress
        As for `evaluate_model`.
    level
        How small a p-value shows a difference.
    aside
        What is told of the rows that were set aside, if anybody wants to know.
    """
    if len(models) < 2:
        raise TallyBayesError("there is nothing to compare with; give two models or more")
    read = read or ReadOptions()
    if read.bad_rows == "skip":
        read = replace(read, bad_rows="report")  # to know whether they are the same for all
    rows = open_rows(data, read)  # once, so that what can be read only once says so
    asides = {name: Aside() for name in models}
    predictions = {
        name: judge(stored, rows, target=target, read=read, progress=progress, aside=asides[name])
        for name, stored in models.items()
    }
    (_, first), *others = asides.items()
    for name, other in others:
        if other.lines != first.lines:
            raise TallyBayesError(
                f"the models could not judge the same rows: {name!r} set others aside; mend the "
                "rows that do not fit"
            )
    if aside is not None:
        aside.rows, aside.lines = first.rows, first.lines
    return compare_predictions(predictions, level=level)


def compare_specs(
    specs: Mapping[str, ModelSpec],
    data: Any,
    target: str,
    *,
    folds: Any = 10,
    repeats: int = 1,
    score: str = "accuracy",
    seed: int = 0,
    level: float = 0.05,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> Comparison:
    """Compare specifications on the same held-out rows.

    Parameters
    ----------
    specs
        The specifications by name, two or more; they must use the same columns.
    data, target, weight, read, progress
        As for `train`. All rows are read into memory.
    folds, repeats, seed
        As for `evaluate`. A single held-out set and leave-one-out are judged by McNemar's test,
        several folds by the paired t-test.
    score
        What is compared over several folds.
    level
        How small a p-value shows a difference.
    aside
        What is told of the rows that were set aside, if anybody wants to know.
    """
    used = {(spec.drop, spec.only) for spec in specs.values()}
    if len(used) > 1:
        raise TallyBayesError(
            "the specifications drop or use different columns, which only model files can: fit "
            "each on the same rows, then compare them on rows that none has seen"
        )
    if len(specs) < 2:
        raise TallyBayesError("there is nothing to compare with; give two specifications or more")
    first, *others = specs.values()
    rows = read_labelled(
        data,
        target,
        first,
        weight=weight,
        read=read,
        progress=progress,
        aside=aside,
        others=others,
    )
    labels = tuple(np.unique(rows.y).tolist())
    models = {name: estimator_of(spec.for_labels(labels)) for name, spec in specs.items()}
    return compare(
        models,
        rows.X,
        rows.y,
        folds=folds,
        repeats=repeats,
        score=score,
        sample_weight=rows.weights,
        seed=seed,
        level=level,
    )
