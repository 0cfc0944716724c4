"""Accuracy beside scikit-learn and Weka on UCI's tables."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.peers import scikit_learn
from benchmarks.run import DATA, Part, Table, say
from tallybayes import NaiveBayes

TARGETS = {
    "adult": "income",
    "german_credit": "class",
    "online_shoppers": "Revenue",
    "telco_churn": "Churn",
}
NAMES = {"split", "customerID", "animal", "Hospital Number"}  # they name rows, or tell parts apart
ONLY = tuple(filter(None, os.environ.get("TALLYBAYES_TABLES", "").split(",")))  # for a try
MANY_ROWS = 2_000  # beyond these, ten folds once instead of ten times
CLEAR = 1.0  # points of accuracy
PEERS = ("tallybayes", "scikit-learn", "scikit-learn, binned", "Weka")
WHY = """
- **Numbers that are far from normal within a class.** A bell curve is the wrong family for the echoes of sonar and spectf.train and for the sums of anneal and colic.orig that are mostly 0; bins follow any shape. `NaiveBayes()` takes the lectures' family for numbers, as Weka and `GaussianNB` do, which fare alike. It also shows in the log-loss of arrhythmia, ecoli and pendigits: many columns that say nearly the same make naive Bayes too sure of itself, and narrow curves more so than bins.
- **Columns that repeat each other** (anneal, online_shoppers, telco_churn, vote). The pages, seconds and rates of one visit, or the seven services that a customer without internet does not have, are the same evidence several times, and categories count it sharply. A bell curve over codes or one-hot columns blurs it, which happens to help on these four; on adult, cmc, bridges.version1 and primary.tumor the same blur costs 3 to 34 points.
- **A row or two.** One animal of zoo's 101, or one patient of spectf.train's 80, is a point.
- **Weka's log-loss on small tables with many classes** (bridges.version1, primary.tumor) is lower because it smooths the prior and knows the levels that do not occur in training; `NaiveBayes(prior=Empirical(alpha=1))` and declared categories do the same.
""".strip()


def part() -> Iterator[Part]:
    yield "## Tables"
    yield (
        "Accuracy and log-loss (nats, clipped at 1e-15) of `NaiveBayes()` with no arguments, stratified "
        "ten-fold cross-validation, ten times for tables of up to 2,000 rows. The tables are UCI's, read "
        "with their declared types; columns that name rows are left out."
    )
    weka = read_weka()
    found = {problem.name: compare(problem, weka) for problem in problems()}
    table = Table(f"table | rows | columns | classes | {' | | '.join(PEERS)} |")
    for problem in problems():
        size = f"{len(problem.y):,}", problem.X.shape[1], problem.y.nunique()
        scores = (found[problem.name].get(peer) for peer in PEERS)
        table.add(problem.name, *size, *(cell for score in scores for cell in cells_of(score)))
    yield table
    yield (
        "*scikit-learn* is the better of two pipelines, for accuracy and for log-loss each: numbers and "
        "categories as codes, or numbers and one-hot categories, with `GaussianNB`. *Binned* is one-hot "
        "categories and numbers in five bins with `BernoulliNB`. Missing values are filled in by mean "
        "or mode. *Weka* is its NaiveBayes (version 3.8, ten times ten-fold), as it was measured for these tables."
    )
    for peer in PEERS[1:]:
        yield verdict(found, peer)
    yield "## Where it is worse, and why"
    yield WHY


class Problem(NamedTuple):
    """A table and its labels."""

    name: str
    X: pd.DataFrame
    y: pd.Series


class Score(NamedTuple):
    """Accuracy in percent and log-loss in nats, means over all folds."""

    accuracy: float
    log_loss: float


def cells_of(score: Any) -> tuple[str, str]:
    return ("", "") if score is None else (f"{score.accuracy:.1f} %", f"{score.log_loss:.3f}")


def problems() -> Iterator[Problem]:
    """Go through the tables, or those that TALLYBAYES_TABLES names with commas between."""
    for path in sorted((DATA / "uci").glob("*.meta.json")):
        name = path.name.removesuffix(".meta.json")
        meta = json.loads(path.read_text())
        text = {column: str for column, kind in meta["types"].items() if kind == "categorical"}
        if not ONLY or name in ONLY:
            table = pd.read_csv(DATA / "uci" / f"{name}.csv", dtype=text)
            yield _problem(name, table, meta["target"])
    for name, target in TARGETS.items():
        path = DATA / "tables" / f"{name}.csv"
        if path.exists() and (not ONLY or name in ONLY):
            yield _problem(name, pd.read_csv(path, na_values=["?", " "]), target)


def _problem(name: str, table: pd.DataFrame, target: str) -> Problem:
    table = table.dropna(subset=[target])
    drop = [column for column in table.columns if column in NAMES]
    return Problem(name, table.drop(columns=[target, *drop]), table[target].astype(str))


def measure(model: Any, problem: Problem) -> Score:
    repeats = 1 if len(problem.y) > MANY_ROWS else 10
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    labels, codes = np.unique(problem.y, return_inverse=True)
    right, losses, rows = 0, 0.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folds that lack a class, and of constant columns
        for train, test in folds.split(problem.X, problem.y):
            model.fit(problem.X.iloc[train], problem.y.iloc[train])
            p = np.zeros((len(test), len(labels)))
            found = model.predict_proba(problem.X.iloc[test])
            p[:, np.searchsorted(labels, model.classes_)] = found
            p = np.clip(p, 1e-15, 1.0)
            right += int((p.argmax(axis=1) == codes[test]).sum())
            losses -= np.log(p[np.arange(len(test)), codes[test]]).sum()
            rows += len(test)
    return Score(100.0 * right / rows, losses / rows)


def compare(problem: Problem, weka: pd.DataFrame) -> dict[str, Score]:
    """Return the scores of ours, of scikit-learn's best ways, and of Weka if it was measured."""
    say(problem.name)
    theirs = {name: measure(model, problem) for name, model in scikit_learn.of_tables().items()}
    gaussian = theirs["codes"], theirs["one-hot"]
    best = max(each.accuracy for each in gaussian), min(each.log_loss for each in gaussian)
    ours = measure(NaiveBayes(), problem)
    scores = dict(zip(PEERS, (ours, Score(*best), theirs["bins"]), strict=False))
    if (problem.name, "NB") in weka.index:
        scores["Weka"] = Score(*weka.loc[(problem.name, "NB"), ["acc", "logloss_nats"]])
    return scores


def verdict(found: dict[str, dict[str, Score]], peer: str) -> str:
    """Say on how many tables ours is better, and on which it is clearly worse."""
    both = {name: (s["tallybayes"], s[peer]) for name, s in found.items() if peer in s}
    gains = {name: ours.accuracy - theirs.accuracy for name, (ours, theirs) in both.items()}
    losses = [ours.log_loss - theirs.log_loss for ours, theirs in both.values()]
    worse = [name for name, gain in gains.items() if gain < -CLEAR]
    return (
        f"Against {peer} on {len(both)} tables: accuracy higher by {np.mean([*gains.values()]):.1f} points on "
        f"average (higher on {sum(g > 0 for g in gains.values())}), log-loss lower by {-np.mean(losses):.2f} "
        f"(lower on {sum(g < 0 for g in losses)}). Clearly less accurate (by more than a point): "
        f"{', '.join(worse) or 'nowhere'}."
    )


def read_weka() -> pd.DataFrame:
    """Return what Weka was measured at, by table and model."""
    return pd.read_csv(DATA / "uci" / "weka_10x10fold.csv").set_index(["dataset", "model"])
