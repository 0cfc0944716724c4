"""Scores of rows that no model has seen, however many there are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions as F  # noqa: N812

from tallybayes.engines.judge_job import FoldJob, JudgeJob, Judgement
from tallybayes.engines.score_job import Parcel
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.metrics import ClassificationReport
from tallybayes.metrics.score_sums import ScoreSums
from tallybayes.metrics.scores import GREATER_IS_BETTER, MEANS, RANKING, check_score
from tallybayes.model.specification import ModelSpec
from tallybayes.rendering import Part, Renderable, Table
from tallybayes.sources.formats import BadRows
from tallybayes.spark.estimator import TallyModel
from tallybayes.spark.files import Rows, opened
from tallybayes.spark.passes import Job, column, summed
from tallybayes.spark.settling import SOURCE, settled

FOLD = "__tallybayes_fold"
ON_ALL = "views, joints and weights were found on a sample of all rows, not anew for each fold"


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidated(Renderable):
    """What models of other folds say of each fold, and the model of all rows.

    Parameters
    ----------
    reports, errors
        For each alpha that was tried the scores, and the standard error of `score`.
    score, alpha
        By what alpha was chosen, and which.
    model
        The model of all rows, with that alpha.
    """

    reports: Mapping[float, ClassificationReport]
    errors: Mapping[float, float]
    score: str
    alpha: float
    model: TallyModel

    @property
    def report(self) -> ClassificationReport:
        """The scores with the alpha that was chosen."""
        return self.reports[self.alpha]

    def document(self) -> Iterator[Part]:
        """Show what was tried, and all scores of the best."""
        if len(self.reports) > 1:
            columns = ("alpha", "text"), (self.score, "score"), ("standard error", "score")
            rows = [
                (f"{alpha:g}", report[self.score], self.errors[alpha])
                for alpha, report in self.reports.items()
            ]
            yield Table.of(f"alpha={self.alpha:g} is the best", columns, rows, name="alphas")
        yield from self.report.document()


def cross_val(
    df: DataFrame,
    target: str,
    *,
    key: str,
    folds: int = 10,
    alphas: Sequence[float] = (),
    score: str = "log_loss",
    weight: str | None = None,
    bad_rows: BadRows = "error",
    **spec: Any,
) -> CrossValidated:
    """Judge a model by rows held out in folds, and choose alpha: two passes for all of it.

    The first pass counts each fold, the second judges its rows by the sum of the others, for every
    alpha at once. The model of all rows is there too: the sum of all folds.

    Parameters
    ----------
    df, target, weight, bad_rows, **spec
        As for `fit`.
    key
        The column whose hash says in which fold a row is: rows with equal keys stay together. It
        is no column to predict from.
    folds
        How many.
    alphas
        The values of alpha to choose from; the one of `spec` when not given.
    score
        What alpha is chosen by. Scores that compare rows with each other cannot be had.
    """
    check_score(score)
    if score in RANKING:
        raise TallyBayesError(
            f"{score} compares rows with each other, which sums over parts cannot; take log_loss"
        )
    if key not in df.columns:
        raise TallyBayesError(f"there is no column {key!r}; {did_you_mean(key, df.columns)}")
    if key == target:
        raise TallyBayesError(f"the key {key!r} is what is predicted; name another column")
    asked, n_folds = ModelSpec(**spec), whole(folds, "folds", 2, 1_000)
    if key not in asked.drop:
        asked = replace(asked, drop=(*asked.drop, key))
    fold = F.pmod(F.xxhash64(column(key)), F.lit(n_folds)).cast("int").alias(FOLD)
    job, rows, vectors = settled(df, target, asked, weight, bad_rows, fold)
    counts = summed(rows, FoldJob(job, FOLD, n_folds), "counting folds")
    if counts is None:
        raise TallyBayesError(f"{SOURCE} has no rows; expected some to learn from")
    tried = tuple(alphas) or (asked.alpha,)
    jobs = [replace(job, spec=replace(job.spec, alpha=alpha)) for alpha in tried]
    recipes = [each.fitted(counts.whole.tally, SOURCE).recipe for each in jobs]
    found: Judgement = summed(rows, JudgeJob.held_out(counts, job, recipes, FOLD), "judging folds")
    notes = () if job.calibration is None else (ON_ALL,)
    reports, errors = {}, {}
    for way, alpha in enumerate(tried):
        sums, of_folds = found.whole(way), found.folds(way)
        reports[alpha] = sums.report(of_folds, "folds", notes)
        errors[alpha] = _standard_error(sums, reports[alpha], score)
    sign = 1.0 if GREATER_IS_BETTER[score] else -1.0
    best = max(range(len(tried)), key=lambda way: sign * reports[tried[way]][score])
    model = TallyModel(jobs[best].finish(counts.whole, SOURCE), vectors)
    return CrossValidated(reports, errors, score, tried[best], model)


def _standard_error(sums: ScoreSums, report: ClassificationReport, score: str) -> float:
    """Return the standard error of a score: over rows if it is a mean, else over folds."""
    if score in MEANS:
        return sums.standard_error(score)
    return report.sd[score] / math.sqrt(max(len(report.folds), 1))


def evaluate(
    model: TallyModel,
    df: Rows,
    target: str | None = None,
    *,
    weight: str | None = None,
    bad_rows: BadRows = "error",
    session: SparkSession | None = None,
) -> ClassificationReport:
    """Score a model on labelled rows that it has not seen, in one pass.

    Parameters
    ----------
    model
        The model.
    df
        The rows, or the address of Parquet files.
    target
        The column of labels, if it is not called as in training.
    weight, bad_rows, session
        As for `fit`.
    """
    df, files = opened(df, session)
    counting = model.counting(target, weight, bad_rows)
    job: Job = JudgeJob(counting, (Parcel.of(model.stored),))
    names = [*([weight] if weight else []), counting.plan.target]
    rows = df.select(*model.columns(df), *map(column, names))
    if files is not None:
        rows, job = files.pieces(rows, job)
    found = summed(rows, job, "evaluating")
    if found is None:
        raise TallyBayesError(f"{SOURCE} has no rows to score")
    report: ClassificationReport = found.whole().report()
    return report
