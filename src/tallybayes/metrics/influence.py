"""How a score of a confusion matrix changes with each of its cells: its derivatives.

With rows predicted and columns true, P_k and T_k their sums for class k, n the sum of all, and
TP_k the diagonal, by the quotient rule:

- recall TP_k / T_k: ([p = k] - recall_k) / T_k in column k, and 0 elsewhere; precision likewise
  in row k.
- F1 2 TP_k / (P_k + T_k): (2 [both] - f_k [p = k] - f_k [t = k]) / (P_k + T_k).
- specificity TN_k / (n - T_k): ([p != k] - specificity_k) / (n - T_k) outside column k.
- Matthews' correlation c / sqrt(u v), with c = n sum TP_k - sum P_k T_k, u = n^2 - sum P_k^2 and
  v = n^2 - sum T_k^2: as c, u and v change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallybayes.metrics.checks import Floats


def influence(name: str, counts: Floats) -> Floats | None:
    """Return the derivative of a score by each cell; None where the score is not defined.

    Examples
    --------
    >>> import numpy as np
    >>> influence("balanced_accuracy", np.array([[3.0, 1.0], [1.0, 1.0]])).tolist()
    [[0.03125, -0.125], [-0.09375, 0.125]]
    """
    true, predicted = counts.sum(0), counts.sum(1)
    if not counts.sum() > 0.0:
        return None
    if name == "matthews":
        return _of_matthews(counts, predicted, true)
    among = true > 0.0
    if name != "balanced_accuracy":
        among |= predicted > 0.0
    measure = "recall" if name == "balanced_accuracy" else name.removeprefix("macro_")
    change: Floats = _of_measure(measure, counts, predicted, true, among) / among.sum()
    return change


def _of_measure(
    name: str,
    counts: Floats,
    predicted: Floats,
    true: Floats,
    among: NDArray[np.bool_],
) -> Floats:
    """Return the derivative of the sum of a measure over the classes; undefined ones count 0."""
    hits, total = counts.diagonal(), counts.sum()
    one = np.eye(len(counts))
    if name == "recall":
        return (one - _over(hits, true)) * _over(1.0, true)
    if name == "precision":
        return (one - _over(hits, predicted)[:, None]) * _over(1.0, predicted)[:, None]
    if name == "f1":
        both = predicted + true
        f1 = _over(2.0 * hits, both)
        per_row = f1 * _over(1.0, both)
        return 2.0 * one * _over(1.0, both) - per_row[:, None] - per_row
    outside = total - true
    outside[outside < 1e-12 * total] = 0.0
    share = _over(total - true - predicted + hits, outside)
    # cell (p, t) lies outside the columns of all classes but t; it is a true negative of all
    # of these but p
    scale = among * _over(1.0, outside)
    loss = share * scale
    change: Floats = (scale.sum() - scale[:, None] - scale + one * scale) - (
        loss.sum() - loss[None, :]
    )
    return change


def _of_matthews(counts: Floats, predicted: Floats, true: Floats) -> Floats | None:
    """Return the derivative of the correlation."""
    if min((predicted > 0.0).sum(), (true > 0.0).sum()) < 2:
        return None
    scale = counts.sum()
    counts, predicted, true = counts / scale, predicted / scale, true / scale
    hits = counts.trace()
    both, u, v = hits - predicted @ true, 1.0 - predicted @ predicted, 1.0 - true @ true
    d_both = hits + np.eye(len(counts)) - true[:, None] - predicted
    d_u, d_v = 2.0 - 2.0 * predicted[:, None], 2.0 - 2.0 * true
    root = np.sqrt(u * v)
    change: Floats = (d_both - both / 2.0 * (d_u / u + d_v / v)) / root / scale
    return change


def _over(part: Floats | float, whole: Floats) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    share: Floats = np.divide(part, whole, out=np.zeros(whole.shape), where=whole > 0.0)
    return share
