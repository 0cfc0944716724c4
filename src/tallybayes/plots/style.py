"""What all pictures share: colours, line styles, tidy axes, legends, and text from users.

The colours are those of Okabe and Ito ("Color universal design", 2008), which people with any of
the common kinds of colour blindness tell apart; the yellow one, too faint on white, is left out.
Markers, line styles and hatches repeat in other rhythms than the colours, so that a picture can be
read in black and white as well. Hatches are lines: an SVG has a path for every dot of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallybayes.errors import TallyBayesError
from tallybayes.rendering.words import LONGEST, counted, label, number
from tallybayes.sources import as_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
STYLES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (8, 2, 1, 2, 1, 2)))
HATCHES = ("", "///", "---", "\\\\\\", "xxx", "|||", "+++", "//")
INK, QUIET, FAINT = "#222222", "#6b6b6b", "#dddddd"
TITLE, LABEL, NOTE = "large", "medium", "small"  # the three sizes of type, relative to the user's
PALE = 0.45  # of the colour is in a bar, the rest is white
BESIDE = "beside the classes"  # the gid of what a legend names after them
WIDTH = 6.4  # inches of a picture of one panel


@dataclass(frozen=True, slots=True)
class Style:
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
        return {
            "marker": self.marker,
            "markersize": 9,
            "markerfacecolor": "white",
            "markeredgecolor": self.color,
            "markeredgewidth": 2.0,
        }

    @property
    def of_bar(self) -> dict[str, Any]:
        """What `Axes.bar` and `Axes.fill_between` take: pale, hatched, with an edge of the colour.

        A hatch is drawn in the colour of the edge. The pale colour is opaque: in an SVG, hatches of
        a transparent one would be lost.
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
    parts = PALETTE, MARKERS, STYLES, HATCHES
    return Style(*(part[k % len(part)] for part in parts))


_UNATTACHED: ContextVar[bool] = ContextVar("unattached", default=False)


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


def new_axes(ax: Any = None, size: tuple[float, float] = (WIDTH, 4.2)) -> tuple[Figure, Axes]:
    """Return the axes to draw on and their figure: those given, or new ones of this size."""
    if ax is not None:
        return ax.figure, ax
    figure = new_figure(size)
    return figure, figure.subplots()


def new_panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a new figure of equal panels, row by row; `size` is that of the whole."""
    figure = new_figure(size)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def tidy(ax: Axes, grid: str | None = "y", title: str = "", x: str = "", y: str = "") -> None:
    """Make axes quiet: no box, a faint grid behind the data, title to the left.

    Parameters
    ----------
    ax
        The axes.
    grid
        Along which axis to draw lines: "x", "y", "both" or None.
    title, x, y
        The title and the names of the axes, as they are; make text of users `readable` first.
    """
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(QUIET)
    ax.tick_params(labelsize=NOTE, color=QUIET)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(True, axis=grid, color=FAINT, linewidth=0.6)  # type: ignore[arg-type]
    if title:
        ax.set_title(title, loc="left", fontsize=TITLE, pad=10)
    if x:
        ax.set_xlabel(x, fontsize=LABEL)
    if y:
        ax.set_ylabel(y, fontsize=LABEL)


def add_legend(ax: Axes, **options: Any) -> Legend | None:
    """Draw a legend right of the axes, without a frame, if anything has a label.

    Options are those of `Axes.legend`.
    """
    handles = ax.get_legend_handles_labels()[0]
    if not handles:
        return None
    handles.sort(key=lambda each: getattr(each, "get_gid", str)() == BESIDE)
    look = {"frameon": False, "fontsize": NOTE, "title_fontsize": NOTE, "handlelength": 2.6}
    # at a distance in points: of one that grows with the axes no layout would be the last
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.8}
    return ax.legend(handles=handles, alignment="left", **{**place, **look, **options})


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


def source_of(estimator: Any, X: Any) -> Any:
    """Return rows as the model of an estimator reads them: a source of columns."""
    return estimator.source_of(X) if hasattr(estimator, "source_of") else as_source(X)


def checked_record(estimator: Any, record: Any) -> Mapping[str, Any]:
    """Return a record by its columns; an estimator takes rows and texts too."""
    found: Mapping[str, Any]
    if hasattr(estimator, "record_of"):
        found = estimator.record_of(record)
        return found
    if hasattr(record, "to_dict") and getattr(record, "ndim", 0) == 1:  # a row of a pandas table
        found = record.to_dict()
        return found
    if not isinstance(record, Mapping):
        raise TallyBayesError(
            f"a record must be a mapping from columns to values, not {type(record).__name__}; "
            "a row of a pandas table has to_dict()"
        )
    return record
