"""`NaiveBayes`: one estimator for tables of numbers, categories, yes-or-no and counts together."""

from __future__ import annotations

from typing import Any

from tallybayes.estimators.table_classifier import TableClassifier
from tallybayes.families.categorical import Unseen
from tallybayes.model.calibration import How
from tallybayes.sources.labels import Label


class NaiveBayes(TableClassifier):
    """Naive Bayes for mixed tables: every column gets the family that suits it.

    Parameters
    ----------
    columns : "auto", a family, or a mapping of columns to families
        "auto" goes by the type: text, booleans and categoricals are categorical, decimal numbers
        Gaussian, sparse matrices multinomial; integers are categorical if they have at most 20
        values, ten times each on average, and Gaussian otherwise. A mapping overrules that for some
        columns: its keys are names, numbers, tuples of those, or ``...`` for all
        columns that are not named; its values are families
        (``Bernoulli(threshold=3)``), their names ("bernoulli"), or kinds (``Categories()``); "auto"
        goes by the type, and "drop" leaves the column out: ``{"age": "auto", ...: "drop"}``.
        ``Bins()`` without edges is cut where the labels of the first rows tell the classes apart,
        and later rows keep to those edges.
    prior : "empirical", "uniform", a mapping of classes to probabilities, or a prior
        What is believed of the classes beforehand.
    alpha : float
        Smoothing, for every column whose family does not state its own.
    unseen : {"ignore", "smooth", "error"}
        What a category does that was never counted: leave its factor out, count as a category that
        no row has, or be refused. For every column whose family does not ask for more.
    positive : label, optional
        A class that wins only when it is strictly more probable than all others.
    calibration : {"temperature", "weights"}, optional
        What mends over-confidence, fitted on leave-one-out posteriors: one exponent for all
        evidence, or one a column; and one for the prior, unless it is stated or uniform.

    Attributes
    ----------
    classes_ : array
        The labels, sorted: the order of all columns of probabilities.
    schema_ : Schema
        What each column was taken for, and why; ``print(model.schema_)``, or see `summary`.
    tally_ : Tally
        Everything that was counted; it adds, subtracts and can be stored.
    model_ : Model
        The model estimated from it: parameters, single records, decisions by loss.
    calibration_ : Calibration or None
        The exponents, and what they gain; ``print(model.calibration_)``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from tallybayes import NaiveBayes
    >>> table = {"income": [125.0, 100.0, 70.0, 95.0], "owner": ["Yes", "No", "No", None]}
    >>> model = NaiveBayes().fit(table, ["No", "No", "Yes", "Yes"])
    >>> model.predict({"owner": ["Yes"], "income": [110.0]}).tolist()
    ['No']
    >>> print(model.summary())
    4 rows: 2 'No', 2 'Yes'
    column  family                  why
    income  Gaussian()              decimal numbers
    owner   Categorical(alpha=1.0)  text
    """

    def __init__(
        self,
        columns: Any = "auto",
        *,
        prior: Any = "empirical",
        alpha: float = 1.0,
        unseen: Unseen = "ignore",
        positive: Label | None = None,
        calibration: How | None = None,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.alpha = alpha
        self.unseen = unseen
        self.positive = positive
        self.calibration = calibration
