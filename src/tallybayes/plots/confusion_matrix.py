"""The confusion matrix as a picture: rows are predicted classes and columns true ones.

Each cell has its count and the share that it is of its column, the rows of one true class; the
shade shows that share, blue where the prediction is right and orange where it is wrong. Of many
classes those are drawn that are confused most, and all others together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import whole
from tallybayes.metrics.checks import plain
from tallybayes.metrics.confusion import Confusion
from tallybayes.plots.base import (
    INK,
    LABEL,
    NOTE,
    PALETTE,
    QUIET,
    new_axes,
    readable,
    shortened,
    tidy,
)
from tallybayes.plots.predictions import Scored, codes_of, places_of, read_labels
from tallybayes.sources.labels import sorted_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST = 12
RIGHT, WRONG = PALETTE[0], PALETTE[4]


@dataclass(eq=False)
class ConfusionMatrixDisplay:
    """A confusion matrix; make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    confusion : Confusion
        The whole matrix.
    most
        How many rows and columns are drawn at most.

    Attributes
    ----------
    drawn : tuple of int
        The places of the classes that are drawn one by one.
    counts, shares : array
        The cells as drawn, rows predicted and columns true, and what share of their column they
        are; the last row and column are all other classes together if not all are drawn.
    figure_, ax_
        The figure and the axes, once drawn.

    Examples
    --------
    >>> truth, said = ["No", "No", "Yes", "Yes", "Yes"], ["No", "Yes", "Yes", "Yes", "No"]
    >>> display = ConfusionMatrixDisplay.from_predictions(truth, said)
    >>> display.counts.tolist()
    [[1, 1], [1, 2]]
    >>> print(display.alt_text)
    Confusion matrix of 5 rows and 2 classes: 3 (60.0%) are right. Most often Yes is taken for No: \
1 row, 33.3% of Yes; then No for Yes: 1 row, 50.0% of No.
    """

    confusion: Confusion
    most: int = MOST
    drawn: tuple[int, ...] = field(init=False)
    counts: NDArray[Any] = field(init=False, repr=False)
    shares: Floats = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        whole(self.most, "most", 2)
        self.drawn, self.counts = _gathered(self.confusion, self.most)
        columns = self.counts.sum(0)
        self.shares = np.divide(
            self.counts, columns, out=np.full(self.counts.shape, np.nan), where=columns > 0
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        ax: Any = None,
        most: int = MOST,
    ) -> Self:
        """Draw the confusion matrix of a fitted classifier on labelled rows.

        Parameters
        ----------
        estimator
            An estimator or a model of tallybayes, or another classifier.
        X, y
            Rows and their labels.
        sample_weight
            How often each row counts.
        ax
            Axes to draw on; a new figure when not given.
        most
            How many rows and columns are drawn at most.
        """
        if hasattr(estimator, "fitted_") or not hasattr(estimator, "classes_"):
            scored = Scored.of_estimator(estimator, X, y)
            found: Any = scored.winners
            true, classes = scored.true, scored.classes
        else:
            classes = plain(estimator.classes_)
            true = codes_of(y, classes, "y")
            found = codes_of(estimator.predict(X), classes, "predicted")
        confusion = Confusion.of_codes(found, true, classes, sample_weight)
        return cls.from_confusion(confusion, ax=ax, most=most)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        most: int = MOST,
    ) -> Self:
        """Draw the confusion matrix of predicted and true labels.

        Parameters
        ----------
        y_true, y_pred
            The true and the predicted label of each row: the truth first, as in scikit-learn.
        labels
            The classes in order; those that occur, sorted, when not given.
        sample_weight, ax, most
            As for `from_estimator`.
        """
        true, said = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
        if labels is None:
            labels = sorted_labels((*true[1], *said[1]), "the labels")
        classes = plain(labels)
        codes = places_of(said, classes, "y_pred"), places_of(true, classes, "y_true")
        confusion = Confusion.of_codes(*codes, classes, sample_weight)
        return cls.from_confusion(confusion, ax=ax, most=most)

    @classmethod
    def from_confusion(cls, confusion: Confusion, *, ax: Any = None, most: int = MOST) -> Self:
        """Draw a confusion matrix that was counted already."""
        return cls(confusion, most).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax
            Axes to draw on; a new figure when not given.
        """
        n = len(self.counts)
        side = min(9.0, 3.6 + 0.62 * n)
        self.figure_, self.ax_ = new_axes(ax, (side + 0.6, side))
        tidy(self.ax_, None, "Confusion matrix", "true class", "predicted class")
        colours = _colours(self.shares, len(self.drawn))
        self.ax_.imshow(colours, aspect="equal", interpolation="nearest")
        size = NOTE if n <= 8 else "x-small" if n <= 12 else "xx-small"
        for row in range(n):
            for column in range(n):
                ink = "white" if _is_dark(colours[row, column]) else INK
                self._write(row, column, LABEL if n <= 4 else size, ink)
        self._frame(n)
        names = [readable(self.confusion.classes[k], 18 if n <= 6 else 14) for k in self.drawn]
        names += [f"{self._hidden} others"] if self._hidden else []
        rows = [""] * n if n > 6 else [f"\n{_amount(k)} {_row(k)}" for k in self.counts.sum(0)]
        slanted = n > 4 and max(map(len, names)) > 40 // n
        self.ax_.set_xticks(
            range(n),
            [name + each for name, each in zip(names, rows, strict=True)],
            rotation=40 if slanted else 0,
            ha="right" if slanted else "center",
            rotation_mode="anchor" if slanted else "default",
        )
        self.ax_.set_yticks(range(n), names)
        return self

    @property
    def _hidden(self) -> int:
        """How many classes are not drawn one by one."""
        return len(self.confusion.classes) - len(self.drawn)

    def _write(self, row: int, column: int, size: str, ink: str) -> None:
        """Write the count and the share into a cell."""
        count, share = self.counts[row, column], self.shares[row, column]
        if not count and len(self.counts) > 6:  # many zeros would hide the rest
            return
        text = _amount(count)
        if not np.isnan(share):
            whole = f"{share:.0%}" if share >= 0.005 or not count else "<1%"
            text += f"\n{whole}" if len(self.counts) > 6 else f"\n{share:.1%}"
        self.ax_.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize=size,
            color=ink if count else QUIET,
            linespacing=1.35,
        )

    def _frame(self, n: int) -> None:
        """Draw thin lines between the cells, and a frame around each that is right."""
        from matplotlib.patches import Rectangle

        self.ax_.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        self.ax_.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        self.ax_.grid(True, which="minor", color="white", linewidth=2.0)
        self.ax_.tick_params(which="both", length=0)
        self.ax_.spines[:].set_visible(False)
        for k in range(len(self.drawn)):
            look: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 1.4, "zorder": 3}
            self.ax_.add_patch(Rectangle((k - 0.5, k - 0.5), 1.0, 1.0, clip_on=False, **look))

    @property
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""
        table = self.confusion
        total, right = table.counts.sum(), table.true_positives.sum()
        head = (
            f"Confusion matrix of {_amount(total)} {_row(total)} and {len(table.classes)} classes"
        )
        if not total:
            return f"{head}."
        text = f"{head}: {_amount(right)} ({right / total:.1%}) are right."
        if self._hidden:
            text += f" {self._hidden} classes are drawn together."
        worst = [
            f"{shortened(table.classes[t], 24)} {'is taken ' if not k else ''}for "
            f"{shortened(table.classes[p], 24)}: {_amount(n)} {_row(n)}, "
            f"{n / table.counts[:, t].sum():.1%} of {shortened(table.classes[t], 24)}"
            for k, (p, t, n) in enumerate(_most_confused(table, 3))
        ]
        return f"{text} Most often {'; then '.join(worst)}." if worst else text


def _gathered(confusion: Confusion, most: int) -> tuple[tuple[int, ...], NDArray[Any]]:
    """Return the classes to draw and the cells, with all other classes together at the end."""
    n, counts = len(confusion.classes), confusion.counts
    if n <= most:
        return tuple(range(n)), counts
    wrong = counts - np.diag(counts.diagonal())
    kept: list[int] = []
    for p, t, _ in _most_confused(confusion, n * n):
        kept += [k for k in (t, p) if k not in kept][: most - 1 - len(kept)]
    by_errors = np.argsort(-(wrong.sum(0) + wrong.sum(1)), kind="stable").tolist()
    kept += [k for k in by_errors if k not in kept][: most - 1 - len(kept)]
    drawn = sorted(kept)
    rest = [k for k in range(n) if k not in drawn]
    groups = np.zeros((len(drawn) + 1, n), counts.dtype)
    groups[range(len(drawn)), drawn] = 1
    groups[-1, rest] = 1
    return tuple(drawn), groups @ counts @ groups.T


def _most_confused(confusion: Confusion, most: int) -> list[tuple[int, int, Any]]:
    """Return predicted class, true class and count of the greatest cells that are wrong."""
    wrong = confusion.counts - np.diag(confusion.true_positives)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    rows, columns = np.unravel_index(order, wrong.shape)
    cells = zip(rows.tolist(), columns.tolist(), wrong[rows, columns].tolist(), strict=True)
    return [cell for cell in cells if cell[2] > 0]


def _colours(shares: Floats, alone: int) -> Floats:
    """Return the colour of each cell: the greater the share, the stronger.

    Where other classes are predicted for other classes, both right and wrong, it is grey.
    """
    from matplotlib.colors import to_rgb

    right, wrong, ground = (np.array(to_rgb(each)) for each in (RIGHT, WRONG, "#f5f5f5"))
    strength = np.nan_to_num(shares)[:, :, None]
    strength = np.where(strength > 0.0, 0.06 + 0.94 * strength, 0.0)
    full = np.where(np.eye(len(shares), dtype=np.bool_)[:, :, None], right, wrong)
    full[alone:, alone:] = to_rgb(QUIET)
    mixed: Floats = ground + strength * (full - ground)
    return mixed


def _is_dark(colour: Floats) -> bool:
    """Tell whether white is easier to read on a colour than dark grey is."""
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722]) < 0.25


def _amount(count: Any) -> str:
    """Return a number of rows, or of weights added up."""
    return f"{int(count):,}" if count == int(count) else f"{count:,.4g}"


def _row(count: Any) -> str:
    """Return the word for so many rows."""
    return "row" if count == 1 else "rows"
