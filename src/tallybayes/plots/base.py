"""What all pictures share: colours, line styles, text from users, tidy axes, and where models are.

The colours are those of Okabe and Ito ("Color universal design", 2008), which people with any of
the common kinds of colour blindness tell apart; the yellow one, too faint on white, is left out.
Markers, line styles and hatches repeat in other rhythms than the colours, so that a picture can be
read in black and white as well.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
STYLES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (8, 2, 1, 2, 1, 2)))
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo", "|||")
INK, QUIET, FAINT = "#222222", "#6b6b6b", "#dddddd"
TITLE, LABEL, NOTE = "large", "medium", "small"  # the three sizes of type, relative to the user's
PALE = 0.45  # of the colour is in a bar, the rest is white
MINUS = "\N{MINUS SIGN}"
WIDTH = 6.4  # inches of a picture of one panel
# control characters but spaces, those that turn the text after them around, halves of characters
NO_TEXT = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
BROAD = 1.7  # ordinary letters that a broad one takes the room of


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
    return Style(
        PALETTE[k % len(PALETTE)],
        MARKERS[k % len(MARKERS)],
        STYLES[k % len(STYLES)],
        HATCHES[k % len(HATCHES)],
    )


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
    """Return the axes to draw on and their figure: those given, or new ones.

    Parameters
    ----------
    ax
        Axes of the user, or None.
    size
        The size of a new figure, in inches.
    """
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


def legend(ax: Axes, outside: bool = False, **options: Any) -> Legend | None:
    """Draw a legend without a frame if anything has a label; `outside` right of the axes.

    Other options are those of `Axes.legend`.
    """
    if not ax.get_legend_handles_labels()[1] and "handles" not in options:
        return None
    place: dict[str, Any] = {"loc": "best"}
    if outside:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    look = {"frameon": False, "fontsize": NOTE, "title_fontsize": NOTE, "handlelength": 2.6}
    return ax.legend(**{**place, **look, **options})


def key(ax: Axes, stacked: bool = False, **options: Any) -> Legend | None:
    """Draw a legend between title and axes if it fits there, else right of the axes.

    It is one line, or one for each name if they are `stacked`.
    """
    handles, names = ax.get_legend_handles_labels()
    # bars before the marks on them, whatever matplotlib holds them by
    order = sorted(range(len(names)), key=lambda k: names[k].startswith("the "))
    handles, names = [handles[k] for k in order], [names[k] for k in order]
    options = {"handles": handles, "labels": names, **options}
    if not names:
        return None
    if not stacked and sum(map(len, names)) + 6 * len(names) > 80:
        return legend(ax, outside=True, **options)
    lines = len(names) if stacked else 1
    if ax.get_title(loc="left"):
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=TITLE, pad=12 + 14 * lines)
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.005), "borderaxespad": 0.2}
    look = {"ncols": len(names) // lines, "columnspacing": 1.6, "handletextpad": 0.6}
    return legend(ax, **{**place, **look, "borderpad": 0.0, **options})


def readable(text: object, most: int = 32) -> str:
    r"""Return a user's text as matplotlib may show it: one line, no mathematics, not too long.

    Examples
    --------
    >>> print(readable("price in $\nper piece", 16))
    price in \$ per …
    """
    return shortened(text, most).replace("$", r"\$")


def for_legend(text: object, most: int = 32) -> str:
    """Return a user's text as the name of something in a legend.

    matplotlib leaves out of legends what has a name that begins with an underscore.

    Examples
    --------
    >>> for_legend("yes"), for_legend("_other")
    ('yes', ' _other')
    """
    shown = narrow(text, most)
    return f" {shown}" if shown.startswith("_") else shown


def narrow(text: object, most: int) -> str:
    """Return readable text that takes no more room than so many ordinary letters do.

    Examples
    --------
    >>> narrow("a very long name", 8), narrow("WWWWWWWW", 8)
    ('a very …', 'WWWW…')
    """
    line = shortened(text, most)
    ends = list(accumulate(map(_room, line)))
    if ends[-1] > most:
        line = line[: bisect_right(ends, most - 1)] + "…"
    return line.replace("$", r"\$")


def _room(letter: str) -> float:
    """Return how many ordinary letters a letter takes the room of."""
    return BROAD if letter in "WMmw@%" or east_asian_width(letter) in "WF" else 1.0


def shortened(text: object, most: int = 32) -> str:
    r"""Return text in one line of at most so many characters; what is cut ends in an ellipsis.

    Examples
    --------
    >>> shortened("home\nowner"), shortened("a very long name", 8)
    ('home owner', 'a very …')
    """
    whole = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    whole = NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", whole)
    line = " ".join("".join(c if c.isprintable() else " " for c in whole).split()) or '""'
    return line if len(line) <= most else line[: most - 1] + "…"


def listed(names: Iterable[object], most: int = 5, each: int = 32) -> str:
    """Return names for a sentence; when there are many, the first ones and how many more.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcdefg", most=2)
    ('a, b and c', 'a, b and 5 more')
    """
    found = [shortened(name, each) for name in names]
    if len(found) > most + 1:
        found = [*found[:most], f"{len(found) - most} more"]
    return found[0] if len(found) == 1 else ", ".join(found[:-1]) + " and " + found[-1]


def figures(value: float, digits: int = 3) -> str:
    """Return a number in so many figures, as people write it.

    Examples
    --------
    >>> figures(0.123456), figures(1234567.0), figures(-2.0), figures(float("-inf"))
    ('0.123', '1,230,000', '−2', '−∞')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    size = abs(value)
    if size and not 1e-4 <= size < 1e9:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    rounded = float(f"{value:.{digits}g}") + 0.0  # no -0
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded)))) if rounded else 0
    text = f"{rounded:,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", MINUS)


def chance(p: float) -> str:
    """Return a probability; one that is not 0 or 1 never looks like it.

    Examples
    --------
    >>> chance(0.8587), chance(0.99999), chance(1e-12), chance(1.0)
    ('0.859', '> 0.999', '< 0.001', '1')
    """
    if 0.0 < p < 0.0005:
        return "< 0.001"
    if 0.9995 <= p < 1.0:
        return "> 0.999"
    return f"{p:.3f}" if 0.0 < p < 1.0 else f"{p:.0f}"


def source_of(estimator: Any, X: Any) -> Any:
    """Return rows as the model of an estimator reads them: a source of columns."""
    return estimator.source_of(X) if hasattr(estimator, "source_of") else as_source(X)


def checked_class(label: Any, classes: Sequence[Label], what: str = "the class") -> int:
    """Return the place of a class, or say which classes there are."""
    if label not in classes:
        raise TallyBayesError(f"{what} {label!r} is not a class; {did_you_mean(label, classes)}")
    return list(classes).index(label)


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
