"""What all pictures share: colours, line styles, tidy axes, legends, and text from users.

The colours are those of Okabe and Ito ("Color universal design", 2008), which people with any of
the common kinds of colour blindness tell apart; the yellow one, too faint on white, is left out.
Markers, line styles and hatches repeat in other rhythms than the colours, so that a picture can be
read in black and white as well. Hatches are lines: an SVG has a path for every dot of others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from tallybayes.rendering.words import LONGEST, counted, label, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
STYLES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (8, 2, 1, 2, 1, 2)))
HATCHES = ("", "///", "---", "\\\\\\", "xxx", "|||", "+++", "//")
INK, QUIET, FAINT = "#222222", "#6b6b6b", "#dddddd"
TITLE, LABEL, NOTE = "large", "medium", "small"  # the three sizes of type, relative to the user's
PALE = 0.45  # of the colour is in a bar, the rest is white
BESIDE = "beside the classes"  # the gid of what a legend names after them
TURNED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
_UNATTACHED: ContextVar[bool] = ContextVar("unattached", default=False)


class Style(NamedTuple):
    """How one class, or one curve, looks: in colour, and without."""

    color: str
    marker: str
    line: Any
    hatch: str

    @property
    def of_line(self) -> dict[str, Any]:
        """What `Axes.plot` takes."""
        return {"color": self.color, "linestyle": self.line, "linewidth": 1.8}

    @property
    def of_point(self) -> dict[str, Any]:
        """What `Axes.plot` takes for a marker that stands out from a curve."""
        edge = {"markeredgecolor": self.color, "markeredgewidth": 2.0}
        return {"marker": self.marker, "markersize": 9, "markerfacecolor": "white", **edge}

    @property
    def of_bar(self) -> dict[str, Any]:
        """What `Axes.bar` takes: pale and hatched, with an edge of the colour.

        The pale colour is opaque: in an SVG, hatches of a transparent one would be lost.
        """
        from matplotlib.colors import to_rgb

        face = tuple(1.0 - PALE * (1.0 - part) for part in to_rgb(self.color))
        return {"facecolor": face, "edgecolor": self.color, "hatch": self.hatch, "linewidth": 1.0}


def style_of(k: int) -> Style:
    """Return the style of the k-th class: the same in every picture.

    Lines with their markers, and bars with markers, are all different up to 40.

    Examples
    --------
    >>> style_of(0).color, style_of(1).line
    ('#0072B2', '--')
    """
    return Style(*(part[k % len(part)] for part in (PALETTE, MARKERS, STYLES, HATCHES)))


@contextmanager
def unattached() -> Iterator[None]:
    """Draw on figures that pyplot does not know: no window, no backend, in any thread."""
    before = _UNATTACHED.set(True)
    try:
        yield
    finally:
        _UNATTACHED.reset(before)


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a new figure of pyplot's, as users of notebooks expect; `size` is in inches."""
    if _UNATTACHED.get():
        from matplotlib.figure import Figure

        return Figure(figsize=size, layout="constrained")
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained")


@dataclass(eq=False)
class Display(ABC):
    """A picture on one pair of axes: `figure_` and `ax_` hold it once it is drawn.

    What displays are made from: an `estimator` that was fitted, or a model; rows `X` with their
    labels `y` and their `sample_weight`, how often each counts; a `record`, a value for each
    column, and those that it does not have are missing. They draw on `ax`, or on a new figure.
    """

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    size: ClassVar[tuple[float, float]] = (6.4, 4.2)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture; on `ax` if it is given, on a new figure if not."""
        self.ax_ = new_figure(self._inches()).subplots() if ax is None else ax
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        self._draw(self.ax_)
        return self

    def _inches(self) -> tuple[float, float]:
        return self.size

    @abstractmethod
    def _draw(self, ax: Axes) -> None: ...

    @property
    @abstractmethod
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""


@dataclass(eq=False)
class PanelsDisplay(ABC):
    """A picture of several panels: `figure_` and `axes_` hold it once it is drawn."""

    figure_: Figure = field(init=False, repr=False)
    axes_: list[Axes] = field(init=False, repr=False)

    def _panels(self, n: int, across: int, inches: tuple[float, float], **options: Any) -> None:
        """Make a figure with n panels, so many beside each other."""
        self.figure_, down = new_figure(inches), -(-n // across)
        every = [*self.figure_.subplots(down, across, squeeze=False, **options).flat]
        for unused in every[n:]:
            unused.set_axis_off()
        self.axes_ = every[:n]

    @abstractmethod
    def plot(self) -> Self:
        """Draw the picture on a new figure."""

    @property
    @abstractmethod
    def alt_text(self) -> str:
        """What the picture shows, in words and numbers."""


def tidy(ax: Axes, grid: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Make axes quiet: no box, a faint grid along "x", "y", "both" or None, title to the left."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(QUIET)
    ax.tick_params(labelsize=NOTE, color=QUIET)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(True, axis=grid, color=FAINT, linewidth=0.6)
    ax.set_title(title, loc="left", fontsize=TITLE, pad=10)
    ax.set_xlabel(x, fontsize=LABEL)
    ax.set_ylabel(y, fontsize=LABEL)


def say_instead(ax: Axes, text: str) -> None:
    """Write why there is nothing to draw."""
    place: Any = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, fill(text, 44), color=QUIET, **place)


def add_legend(ax: Axes, **options: Any) -> None:
    """Draw a legend right of the axes, without a frame, if anything has a label."""
    handles = ax.get_legend_handles_labels()[0]
    if handles:
        handles.sort(key=lambda each: getattr(each, "get_gid", str)() == BESIDE)
        # at a distance in points: of one that grows with the axes no layout would be the last
        options |= {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.8}
        options |= {"frameon": False, "fontsize": NOTE, "title_fontsize": NOTE, "handlelength": 2.6}
        ax.legend(handles=handles, alignment="left", **options)


def readable(text: object, most: int = LONGEST) -> str:
    r"""Return a user's text as matplotlib may show it: one line, no mathematics, not too long.

    matplotlib leaves out of legends what has a name that begins with an underscore.

    Examples
    --------
    >>> print(readable("price in $\nper piece", 16))
    price in…r piece
    >>> print(readable("$_x_$"), readable("_other"), sep="|")
    \$_x_\$| _other
    """
    shown = label(text, most).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def written(value: Any) -> str:
    """Return a value of a record as pictures show it: decimals with four digits."""
    return number(value, 4) if isinstance(value, float) else str(value)


def not_drawn(n: int, one: str = "more class", several: str = "more classes") -> str:
    """Say how many are not drawn, if any."""
    return f"{counted(n, one, several)} not drawn" if n else ""


def record_of(estimator: Any, record: Any) -> Any:
    """Return a record by its columns; an estimator takes rows and texts too."""
    if hasattr(estimator, "record_of"):
        return estimator.record_of(record)
    return record.to_dict() if hasattr(record, "to_dict") else record  # a row of a pandas table
