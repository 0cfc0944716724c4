"""The normal Q-Q picture of a Gaussian column: whether it is as Gaussian as the model believes.

In each class z = (x - mean)/sd, with the mean and standard deviation of the model, is put in order
and drawn against the values that a standard normal would be expected to have there, at Filliben's
places (1975): 1 - 0.5^(1/n) for the first, 0.5^(1/n) for the last, and (i - 0.3175)/(n + 0.365) for
those between. If the column is Gaussian, the points lie on the line y = x. Of a log-normal column,
x is the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.explanations.explanation import model_of
from tallybayes.families import NormalParameters
from tallybayes.plots.single_column import SingleColumn, classes_of, numbers_in
from tallybayes.plots.style import (
    BESIDE,
    QUIET,
    add_legend,
    new_axes,
    readable,
    source_of,
    style_of,
    tidy,
)
from tallybayes.rendering.words import label as shown
from tallybayes.rendering.words import listed, number
from tallybayes.sources.labels import Label
from tallybayes.sources.weights import weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_POINTS = 300  # of a class that are drawn; of more, as many at even places, and both ends
MOST_CLASSES = 7


@dataclass(eq=False)
class NormalQQDisplay:
    """How Gaussian a column is; make it with `from_estimator`.

    Parameters
    ----------
    column, target
        The names of the column and of what is predicted.
    classes
        The classes, in the order of the model.
    expected, observed
        For each class, what a standard normal would have, and the ordered z of the data.
    log
        Whether z is of the logarithm.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table, labels = {"size": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]}, list("aaabbb")
    >>> model = estimate(Tally.of(table, labels))
    >>> display = NormalQQDisplay.from_estimator(model, table, labels, "size")
    >>> display.observed["a"].tolist(), display.expected["a"].round(2).tolist()
    ([-1.0, 0.0, 1.0], [-0.82, 0.0, 0.82])
    """

    column: str
    target: str
    classes: tuple[Label, ...]
    expected: dict[Label, Floats]
    observed: dict[Label, Floats]
    log: bool = False
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, column: str, ax: Any = None, sample_weight: Any = None
    ) -> Self:
        """Draw a column of some rows against what the model believes of it.

        Parameters
        ----------
        estimator
            A fitted estimator, or a model.
        X, y
            Rows and their labels.
        column
            The name of a Gaussian or log-normal column.
        ax
            Axes to draw on; a new figure when not given.
        sample_weight
            How often each row counts; once when not given.
        """
        model = model_of(estimator)
        alone = SingleColumn.of(model, column)
        normals = alone.parameters
        if not isinstance(normals, NormalParameters):
            raise TallyBayesError(
                f"column {column!r} is not Gaussian in this model; ColumnDisplay draws what it is"
            )
        if not normals.used[0]:
            raise TallyBayesError(f"column {column!r} is left out of the model: it says nothing")
        source = source_of(estimator, X)
        x = numbers_in(source, column, model)
        of_class = classes_of(model, y, source.n_rows)
        weights = weights_of(sample_weight, source.n_rows)
        weights = np.ones(source.n_rows) if weights is None else weights
        log = normals.log
        if log:
            x = np.log(np.where(x > 0.0, x, np.nan))
        expected, observed = {}, {}
        for c, label in enumerate(model.classes):
            mine = np.flatnonzero((of_class == c) & np.isfinite(x) & (weights > 0.0))
            if len(mine):
                mine = mine[np.argsort(x[mine], kind="stable")]
                z = (x[mine] - normals.mean[c, 0]) / np.sqrt(normals.variance[c, 0])
                some = _some(len(z))
                quantiles = weighted_quantiles(weights[mine])
                observed[label], expected[label] = z[some], quantiles[some]
        if not observed:
            raise TallyBayesError(f"column {column!r} has no value in these rows")
        names = str(column), model.schema.target
        return cls(*names, model.classes, expected, observed, log).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it; on `ax` if it is given."""
        self.figure_, self.ax_ = new_axes(ax, (5.6, 5.2))
        name = readable(self.column)
        title = f"Is {'log ' if self.log else ''}{name} Gaussian?"
        tidy(self.ax_, "both", title, "expected of a normal (z)", "found in the data (z)")
        drawn = self._drawn()
        every = np.concatenate([np.array([-1.0, 1.0]), *(self.expected[c] for c in drawn)])
        ends = float(every.min()), float(every.max())
        self.ax_.plot(
            ends, ends, color=QUIET, linewidth=1.0, zorder=1, label="the line y = x", gid=BESIDE
        )
        for label in drawn:
            style = style_of(self.classes.index(label))
            self.ax_.plot(
                self.expected[label], self.observed[label], linestyle="none", marker=style.marker,
                markersize=4.5, markerfacecolor="none", markeredgecolor=style.color,
                label=readable(label, 24), zorder=2,
            )  # fmt: skip
        hidden = len(self.observed) - len(drawn)
        if hidden:
            self.ax_.plot([], [], linestyle="none", label=f"the other {hidden}: not drawn")
        add_legend(self.ax_)
        return self

    def _drawn(self) -> list[Label]:
        """Return the classes that are drawn: of many, those with the most values."""
        first = sorted(self.observed, key=lambda label: -len(self.observed[label]))
        chosen = set(first[:MOST_CLASSES])
        return [label for label in self.classes if label in chosen]

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        drawn, what = self._drawn(), ("log " if self.log else "") + shown(self.column)
        head = f"Normal Q-Q picture of {what} for {listed(drawn)}"
        hidden = len(self.observed) - len(drawn)
        head += f" ({hidden} more classes are not drawn)." if hidden else "."
        each = []
        for label in drawn:
            off = self.observed[label] - self.expected[label]
            worst = int(np.abs(off).argmax())
            at = number(float(self.observed[label][worst]))
            each.append(f"{shown(label)} {number(float(off[worst]))} (at z = {at})")
        return f"{head} Farthest from the line, in standard deviations: {', '.join(each)}."


def normal_quantiles(n: int) -> Floats:
    """Return what n ordered values of a standard normal are expected to be, by Filliben's rule.

    Examples
    --------
    >>> normal_quantiles(3).round(4).tolist()
    [-0.8193, 0.0, 0.8193]
    """
    from scipy.special import ndtri

    places = (np.arange(1, n + 1) - 0.3175) / (n + 0.365)
    places[-1] = 0.5 ** (1.0 / n)
    places[0] = 1.0 - places[-1]
    quantiles: Floats = ndtri(places) + 0.0
    return quantiles


def weighted_quantiles(weights: Floats) -> Floats:
    """Return what ordered values of a standard normal are expected to be that have weights.

    Each is in the middle of its weight, and all weights together are as many as the effective
    number of values, (sum of w)^2 / sum of w^2; weights that are all alike change nothing.

    Examples
    --------
    >>> weighted_quantiles(np.array([2.0, 2.0, 2.0])).round(4).tolist()
    [-0.8193, 0.0, 0.8193]
    >>> bool(weighted_quantiles(np.array([1.0, 1.0, 2.0]))[1] < 0.0)  # less than half is below
    True
    """
    if (weights == weights[0]).all():
        return normal_quantiles(len(weights))
    from scipy.special import ndtri

    share = weights / weights.sum()
    n = 1.0 / float(share @ share)
    middle = n * (np.cumsum(share) - share / 2.0)
    quantiles: Floats = ndtri((middle + 0.1825) / (n + 0.365))
    return quantiles


def _some(n: int) -> NDArray[Any]:
    """Return the places of the values that are drawn."""
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(np.int64))
