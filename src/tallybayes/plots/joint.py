"""Columns that are counted together: what each cell says beyond what its values say alone.

The evidence of a cell for a class is what the model adds to the class's score there, in bits,
against the mean of what it adds to the others: sum_j w_j (log P(a, b | c) - log P(a | c) -
log P(b | c)), where j goes through the ways in which the columns are cut, each with its weight w_j.
Of two classes it is the logarithm of what the cell multiplies the odds by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.explanation import model_of
from tallybayes.kinds import Part
from tallybayes.metrics.confusion import place_of
from tallybayes.model.column import ModelColumn
from tallybayes.plots import style
from tallybayes.plots.style import INK, NOTE, PanelsDisplay, not_drawn, readable, style_of, tidy
from tallybayes.rendering.words import bits as signed, class_name, label, listed, number
from tallybayes.sources.labels import Label

MOST_VALUES, MOST_PANELS, ACROSS = 24, 6, 3
FEW = 64  # cells of a panel that have their bits written on them
WEAK = 0.25  # of the strongest: weaker ones have no sign where there are more
ROOM = 1.3  # so much stronger than any cell is the full colour, so that letters can be read


@dataclass(eq=False)
class JointDisplay(PanelsDisplay):
    """A heat map of columns that are counted together; make it with `from_estimator`.

    Of three columns the one with the fewest values has a panel for each. In black and white the
    numbers on the cells tell for from against; where there are too many cells, + and - do.

    Parameters
    ----------
    joint
        What the model counts of the columns together: see `Model.joints`.
    one
        The class that the cells speak for.
    record
        A record, whose cell is framed.
    target
        What the classes are of.

    Attributes
    ----------
    parts
        How each column is cut: wherever one of the views cuts it.
    bits
        The evidence of each cell for the class, with an axis for each column.

    Examples
    --------
    >>> from tallybayes import SemiNaiveBayes
    >>> table = {"a": ["no", "no", "yes", "yes"] * 30, "b": ["no", "yes"] * 60}
    >>> model = SemiNaiveBayes().fit(table, ["same", "other", "other", "same"] * 30)
    >>> display = JointDisplay.from_estimator(model, ("a", "b"))
    >>> display.one, (display.bits > 0.0).tolist()
    ('same', [[True, False], [False, True]])
    """

    joint: ModelColumn
    one: Label
    record: Any = None
    target: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, columns: Any, one: Label | None = None, record: Any = None
    ) -> Self:
        """Draw what a model counts of columns together.

        Parameters
        ----------
        estimator, record
            As for every `Display`; the cell of the record is framed.
        columns
            Their names, ("age", "income"), in the order of the model; or "age x income".
        one
            The class that the cells speak for; the positive one or the last one if not given.
        """
        model = model_of(estimator)
        # of one bell curve there are no cells
        known = {joint.subject: joint for joint in model.joints() if joint.support.values}
        subject = columns if isinstance(columns, str) else " x ".join(map(str, columns))
        subject = model.units[subject].subject if subject in model.units else subject
        if subject not in known and subject in {joint.subject for joint in model.joints()}:
            raise TallyBayesError(f"{subject!r} has no picture: one bell curve has no cells")
        if subject not in known:
            why = "SemiNaiveBayes counts those together that help"
            hint = did_you_mean(subject, [*known]) if known else why
            raise TallyBayesError(f"the model counts no {subject!r} together; {hint}")
        last = model.classes[-1] if model.positive is None else model.positive
        one = model.classes[place_of(last if one is None else one, model.classes)]
        given = None if record is None else style.record_of(estimator, record)
        return cls(known[subject], one, given, model.schema.target).plot()

    def __post_init__(self) -> None:
        kinds: list[Any] = [view.kind for view in self.joint.views]
        self.parts: tuple[Part, ...] = tuple(
            map(_refined, zip(*(kind.units[0] for kind in kinds), strict=True))
        )
        values = [[part.example(k) for k in range(part.size)] for part in self.parts]
        terms = in_bits(self.joint.evidence([*product(*values)]))
        place = self.joint.classes.index(self.one)
        self.bits: Floats = terms[:, place].reshape([len(each) for each in values])

    @property
    def cell(self) -> tuple[int, ...] | None:
        """The cell that the record is in, if it is in one."""
        values = [(self.record or {}).get(name) for name in self.joint.reads]
        codes = tuple(part.code(x) for part, x in zip(self.parts, values, strict=True))
        return None if self.record is None or min(codes) < 0 else codes

    def plot(self) -> Self:
        """Draw it: the column with most values across, a panel for each value of a third one."""
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        order = np.argsort(self.bits.shape, kind="stable").tolist()
        table, names = self.bits.transpose(order), [self.joint.reads[k] for k in order]
        labels = [[_named(self.parts[k], code) for code in range(table.shape[j])]
                  for j, k in enumerate(order)]  # fmt: skip
        cell = None if self.cell is None else [self.cell[k] for k in order]
        if len(order) == 2:
            table, names, labels = table[None], ["", *names], [[""], *labels]
            cell = None if cell is None else [0, *cell]
        most = MOST_PANELS, MOST_VALUES, MOST_VALUES
        panels, rows, columns = kept = [_strongest(table, j, n) for j, n in enumerate(most)]
        shown, top = table[np.ix_(*kept)], float(np.abs(self.bits).max()) or 1.0
        across = min(len(panels), ACROSS)
        down = math.ceil(len(panels) / across)
        width = (2.2 + 0.36 * max(len(columns), 4)) * across + 1.0
        height = (1.7 + 0.32 * max(len(rows), 5)) * down + 0.4
        self._panels(len(panels), across, (min(width, 15.0), height))
        sides = [style_of(k).color for k, name in enumerate(self.joint.classes) if name != self.one]
        against = sides[0] if len(sides) == 1 else style.QUIET
        of = style_of(self.joint.classes.index(self.one)).color
        colours = LinearSegmentedColormap.from_list("evidence", [against, "white", of])
        for ax, k, cells in zip(self.axes_, panels, shown, strict=True):
            title = readable(f"{names[0]}: {labels[0][k]}", 36) if names[0] else ""
            tidy(ax, None, title, readable(names[2]), readable(names[1]))
            reach = ROOM * top
            image = ax.imshow(cells, colours, aspect="auto", vmin=-reach, vmax=reach)
            for (y, x), value in np.ndenumerate(cells):
                text = number(value, 2) if shown[0].size <= FEW else "-+"[int(value > 0.0)]
                if shown[0].size <= FEW or abs(value) > WEAK * top:
                    look: Any = {"ha": "center", "va": "center", "fontsize": "x-small"}
                    ax.text(x, y, text, color=INK, **look)
            values = [[readable(labels[j][k]) for k in kept[j]] for j in (1, 2)]
            ax.set_yticks(range(len(rows)), values[0])
            ax.set_xticks(range(len(columns)), values[1], **style.TURNED)
            ax.tick_params(length=0)
            if self.parts[order[-2]].edges is not None:  # numbers rise upwards
                ax.invert_yaxis()
            ax.spines[:].set_visible(False)
            if cell is not None and cell[0] == k and cell[1] in rows and cell[2] in columns:
                x, y = columns.index(cell[2]) - 0.5, rows.index(cell[1]) - 0.5
                ax.add_patch(Rectangle((x, y), 1, 1, fill=False, linewidth=2.0, clip_on=False))
        self.figure_.colorbar(image, ax=self.axes_, label=f"bits for {readable(self._for, 40)}")
        title = " with ".join(readable(name, 20) for name in self.joint.reads)
        self.figure_.suptitle(title, fontsize=style.TITLE)
        hidden = not_drawn(table.size - shown.size, "more cell", "more cells")
        self.figure_.supxlabel(hidden, fontsize=NOTE)
        return self

    @property
    def _for(self) -> str:
        """The class, and what it is weighed against."""
        others = [name for name in self.joint.classes if name != self.one]
        other = "the mean of the others"
        if len(others) == 1:
            other = class_name(self.target, others[0])
        return f"{class_name(self.target, self.one)} against {other}"

    def _said(self, cell: Sequence[int]) -> str:
        """Return a cell with its bits."""
        values = [_named(part, k) for part, k in zip(self.parts, cell, strict=True)]
        return f"{', '.join(values)} ({signed(self.bits[tuple(cell)])})"

    @property
    def alt_text(self) -> str:
        size = " x ".join(map(str, self.bits.shape))
        ends = [
            np.unravel_index(k, self.bits.shape) for k in (self.bits.argmax(), self.bits.argmin())
        ]
        most, least = (self._said(tuple(map(int, cell))) for cell in ends)
        text = (
            f"Heat map of {listed(self.joint.reads)}: bits for {self._for} of {size} cells, beyond "
            f"what each column says alone. Most for it speaks {most}, most against it {least}."
        )
        return text if self.cell is None else f"{text} The record is in {self._said(self.cell)}."


def in_bits(evidence: Floats) -> Floats:
    """Return what is added to the scores of classes (across) against the mean of the others."""
    n = max(evidence.shape[1], 2)
    bits: Floats = (n * evidence - evidence.sum(axis=1, keepdims=True)) / ((n - 1) * math.log(2.0))
    return bits


def _refined(parts: Sequence[Part]) -> Part:
    """Return a column cut wherever one of several ways cuts it."""
    first, missing = parts[0], any(part.missing for part in parts)
    if first.edges is None:
        return Part(values=first.values, missing=missing)
    edges = sorted({edge for part in parts for edge in part.edges or ()})
    return Part(edges=tuple(edges), missing=missing)


def _named(part: Part, code: int) -> str:
    """Write a value, or a range of numbers, as short as a picture needs it."""
    if part.edges is None or code == part.known:
        return label(part.named(code), 18)
    edges = [number(edge, 4) for edge in part.edges]
    if 0 < code < len(edges):
        return f"{edges[code - 1]} to {edges[code]}"
    return f"≤ {edges[0]}" if code == 0 else f"> {edges[-1]}"


def _strongest(table: Floats, axis: int, most: int) -> list[int]:
    """Return the places along an axis that tell most, in their order."""
    other = tuple(k for k in range(table.ndim) if k != axis)
    return sorted(np.argsort(-np.abs(table).max(axis=other), kind="stable")[:most].tolist())
