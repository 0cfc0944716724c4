"""Semi-naive Bayes: weighted evidence of counts, of single columns and of a few together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.estimators.base import Labelled
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.evidence import Joints, Views, weigh_evidence
from tallybayes.evidence.search import can_weigh
from tallybayes.families.categorical import Unseen
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import How
from tallybayes.model.doubts import warn_of
from tallybayes.model.worth import Worth, worth_of
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally


class SemiNaiveBayes(NaiveBayes):
    """Naive Bayes past naive: columns that belong together are counted together, all is weighed.

    Each column is counted in several ways at once, and whether it is missing; so are the pairs and
    triples of columns that say more together than alone. One convex fit on exact leave-one-out
    terms gives every term a weight, and every class a constant. An answer is still a sum, and the
    model still learns, forgets, merges and explains itself; the weights stay until the next `fit`.

    Parameters
    ----------
    columns, alpha, unseen, positive, labels, titles
        As for `NaiveBayes`.
    prior
        As for `NaiveBayes`; "smoothed" adds a row to each class, for classes of few rows.
    joints : "auto", list of tuples of names, or None
        Columns that are looked at together: those that promise to help, these, or none.
    views : "auto", list of names, or None
        The further views of each column: some of "supervised" (cut where the classes differ, of
        2,000 rows or more), "smooth" and "smoother" (kernel densities over ranks), "missing"
        (whether it is); all that fit a column, or none.

    Attributes
    ----------
    calibration_ : Calibration
        The weights of columns, views and joints; ``print(model.calibration_)``.
    gains_ : dict
        What each joint promised when it was chosen, in nats of log-loss of all rows.

    Examples
    --------
    >>> from tallybayes import NaiveBayes, SemiNaiveBayes
    >>> table = {"a": ["no", "no", "yes", "yes"] * 30, "b": ["no", "yes"] * 60}
    >>> differ = ["same", "other", "other", "same"] * 30  # which neither tells alone
    >>> for model in (NaiveBayes(), SemiNaiveBayes()):
    ...     print((model.fit(table, differ).predict(table) == differ).mean())
    0.5
    1.0
    >>> list(model.gains_)
    ['a x b']
    """

    calibration: How | None = "evidence"

    def __init__(
        self,
        columns: Any = "auto",
        *,
        joints: Joints = "auto",
        views: Views = "auto",
        prior: Any = "smoothed",
        alpha: float = 1.0,
        unseen: Unseen = "ignore",
        positive: Label | None = None,
        labels: Mapping[Any, str] | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self.columns = columns
        self.joints = joints
        self.views = views
        self.prior = prior
        self.alpha = alpha
        self.unseen = unseen
        self.positive = positive
        self.labels = labels
        self.titles = titles

    def _estimated(self, rows: Labelled, tally: Tally) -> tuple[Tally, Recipe, Worth | None]:
        """Weigh what the rows say, and count them in all views."""
        warn_of(tally.schema)
        recipe, X, y, w = self._recipe(tally, ()), rows.X, rows.labels, rows.weights
        if not can_weigh(tally.rows):
            return tally, recipe, None
        evidence = weigh_evidence(X, y, w, tally.schema, recipe, self.joints, self.views)
        self._calibration = evidence.calibration
        tally = Tally.of(X, y, w, schema=evidence.schema)
        recipe = replace(self._recipe(tally, ()), calibration=evidence.calibration)
        worth = worth_of(evidence.predictions, recipe.prior)
        if worth is not None and worth.held_out.is_worse:
            warn(worth.warning(recipe.calibration, tally.schema.target), TallyBayesWarning)
        return tally, recipe, worth

    @property
    def gains_(self) -> Mapping[str, float]:
        """What each joint promised when it was chosen."""
        return {} if self.calibration_ is None else self.calibration_.gains

    def merge(self, other: Self) -> Self:
        """Add what another model has counted, in the same views; this model's weights hold."""
        if isinstance(other, SemiNaiveBayes) and other.schema_.extra != self.schema_.extra:
            raise TallyBayesError(
                "the two models count other views and joints of their columns; fit one of them, "
                "and let copies of it learn the rest with partial_fit()"
            )
        return super().merge(other)

    def _how(self) -> How | None:
        return "evidence"

    def _why_refit(self, rows: Labelled) -> str:
        """Return why models have to be fitted for every fold."""
        return "evidence is chosen and weighed on the rows to learn from"

    @classmethod
    def _parameters_of(cls, fitted: Fitted) -> dict[str, Any]:
        parameters = super()._parameters_of(fitted)
        del parameters["calibration"]
        return parameters
