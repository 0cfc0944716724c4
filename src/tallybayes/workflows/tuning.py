"""Parameters chosen by how well rows are predicted that the models never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import Provenance, Stored
from tallybayes.sources.formats import ReadOptions
from tallybayes.validation.tuning import Tuned, tune
from tallybayes.workflows.streams import Aside, Progress
from tallybayes.workflows.tables import estimator_of, read_labelled
from tallybayes.workflows.training import source_name, with_target

ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0, 100.0)


def tune_spec(
    data: Any,
    target: str,
    spec: ModelSpec | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    folds: Any = "loo",
    score: str = "log_loss",
    nested: int | None = 5,
    one_standard_error: bool = False,
    seed: int = 0,
    weight: str | None = None,
    read: ReadOptions | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> tuple[Tuned, Stored]:
    """Choose parameters on files; return what was found, and the best model to be saved.

    Parameters
    ----------
    data, target, spec, weight, read, progress
        As for `train`. All rows are read into memory.
    grid
        Values to try, by parameter of `NaiveBayes`; twelve values of alpha when not given.
    folds, score, nested, one_standard_error, seed
        As for `tallybayes.validation.tune`.
    aside
        What is told of the rows that were set aside, if anybody wants to know.
    """
    spec, values = spec or ModelSpec(), dict(grid or {"alpha": list(ALPHAS)})
    # what is tried for all columns leaves alone what is declared of some
    others = [spec.with_families(word) for word in values.get("columns", ())]
    if others:
        values["columns"] = [each.declared for each in others]
    rows = read_labelled(
        data,
        target,
        spec,
        weight=weight,
        read=read,
        progress=progress,
        aside=aside,
        others=others,
    )
    tuned = tune(
        estimator_of(rows.spec),
        rows.X,
        rows.y,
        values,
        folds=folds,
        score=score,
        nested=nested,
        one_standard_error=one_standard_error,
        seed=seed,
        sample_weight=rows.weights,
    )
    fitted = with_target(tuned.model, target)
    said = f"tune {source_name(data)}: {len(rows.y)} rows"
    provenance = Provenance.now(source_name(data), len(rows.y), rows.aside.rows, said)
    return tuned, Stored(fitted, provenance)
