"""What held-out predictions are worth: beside what can be said without looking at any column.

Without a model each row gets the shares of the classes among the other rows, (n_c + 1) / (n + k),
and the answer that is right most often. A model that does worse, by more than three standard errors
of the difference, is worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.errors import number
from tallybayes.metrics.scores import CLIP
from tallybayes.rendering.words import class_said, percent, score
from tallybayes.sources.labels import Label
from tallybayes.value import Value

if TYPE_CHECKING:
    from tallybayes.metrics.predictions import Predictions

ERRORS, WORTH = 3.0, 0.01  # standard errors of a difference, and its least size, to speak of it


class Baseline(Value, frozen=True):
    """Log-loss and accuracy of a model and of no model, and whether the model is worse.

    Examples
    --------
    >>> from tallybayes.metrics import Predictions
    >>> rows = Predictions.of(["n"] * 60 + ["y"] * 20, [[0.1, 0.9]] * 80)
    >>> print(Baseline.of(rows))
    a log-loss of 1.7533, where the shares of the classes alone have 0.5748, and right in 25.0 %, \
where always answering 'n' is right in 75.0 %
    """

    commonest: Label
    log_loss: float
    without: float  # log-loss
    accuracy: float
    share: float  # of the commonest class
    sure: tuple[bool, bool] = (False, False)  # that log-loss, and accuracy, are worse

    def __post_init__(self) -> None:
        for what in ("log_loss", "without", "accuracy", "share"):
            number(getattr(self, what), what, least=0.0)

    @classmethod
    def of(cls, rows: Predictions) -> Baseline:
        """Judge predictions."""
        n, w, k = len(rows), rows.weight, len(rows.classes)
        totals = np.bincount(rows.true, w, k)
        commonest, total = int(totals.argmax()), float(totals.sum()) or 1.0
        loss = -np.log(np.maximum(rows.proba[np.arange(n), rows.true], CLIP))
        alone = -np.log((totals[rows.true] - w + 1.0) / (total - w + k))
        right = (rows.predicted == rows.true).astype(np.float64)
        always = (rows.true == commonest).astype(np.float64)

        def worse(lost: Any) -> bool:
            mean = float(w @ lost) / total
            error = float(np.sqrt(w**2 @ (lost - mean) ** 2)) / total
            return mean > max(ERRORS * error, WORTH)

        scores = [float(w @ each) / total for each in (loss, alone, right, always)]
        return cls(
            rows.classes[commonest],
            log_loss=scores[0],
            without=scores[1],
            accuracy=scores[2],
            share=scores[3],
            # who decides by a rule wants something else than to be right most often
            sure=(worse(loss - alone), rows.rule is None and worse(always - right)),
        )

    @property
    def is_worse(self) -> bool:
        """Whether no model would be better."""
        return any(self.sure)

    def __str__(self) -> str:
        return self.said()

    def said(self, target: str = "") -> str:
        """Say how much worse the model is, of classes of this name."""
        always = class_said(target, self.commonest)
        loss = (
            f"a log-loss of {score(self.log_loss)}, where the shares of the classes alone have "
            f"{score(self.without)}"
        )
        right = (
            f"right in {percent(self.accuracy)}, where always answering {always} is right in "
            f"{percent(self.share)}"
        )
        said = zip((loss, right), self.sure, strict=True)
        return ", and ".join(part for part, is_sure in said if is_sure)
