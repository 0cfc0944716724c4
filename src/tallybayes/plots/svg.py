"""Pictures as SVG that stands in a page by itself: no file, no font and no script from elsewhere.

Text stays text, in the reader's own sans-serif font: it can be searched, copied and read aloud, and
has every letter that the reader's computer has.
"""

from __future__ import annotations

import re
import warnings
from hashlib import sha256
from html import escape
from io import StringIO
from threading import RLock
from typing import TYPE_CHECKING, Any

from tallybayes.errors import TallyBayesError
from tallybayes.rendering.words import label, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif"
STYLE = f"font-family: {FONT}; stroke-linejoin: round; stroke-linecap: butt"
# settings of matplotlib and of warnings belong to the whole program: who changes them for a while
# holds this, so that no other thread draws by them or puts back what they were
DRAWING = RLock()


def svg_of(display_or_figure: Any, alt: str | None = None) -> str:
    """Return a picture as an `<svg>` element that can stand in an HTML page.

    The same picture gives the same text every time. Names inside it carry a mark of their own, so
    that several pictures can be on one page.

    Parameters
    ----------
    display_or_figure
        A display that was drawn, or a matplotlib figure.
    alt
        What the picture shows, in words; the display's own `alt_text` when not given.

    Examples
    --------
    >>> from tallybayes import stated
    >>> from tallybayes.plots import WaterfallDisplay
    >>> model = stated({"a": 0.5, "b": 0.5}, {"red": {"a": 0.8, "b": 0.1}})
    >>> svg = svg_of(WaterfallDisplay.from_estimator(model, {"red": True}))
    >>> svg.startswith("<svg"), 'role="img"' in svg, svg.count("<title")
    (True, True, 1)
    """
    figure = getattr(display_or_figure, "figure_", display_or_figure)
    if not hasattr(figure, "savefig"):
        raise TallyBayesError(
            f"an SVG is of a display that was drawn or of a figure, not of "
            f"{type(display_or_figure).__name__}"
        )
    said = printable(str(getattr(display_or_figure, "alt_text", "") if alt is None else alt))
    mark = "p" + sha256(said.encode()).hexdigest()[:10]
    svg = _drawn(figure, mark)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    # only inside of tags: what people wrote stays as it is
    svg = re.sub(r"<[^>]*>", lambda tag: _own(tag.group(), used), svg)
    head, _, body = svg.partition(">")
    width, height, box = re.findall(r'(?:width|height|viewBox)="([^"]+)"', head)
    # 96 pixels of the page make an inch, as 72 points do
    width, height = (f"{float(side.removesuffix('pt')) * 96 / 72:.0f}" for side in (width, height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'role="img" aria-labelledby="{mark}-title" aria-describedby="{mark}-desc" '
        f'width="{width}" height="{height}" viewBox="{box}" style="{STYLE}">'
        f'<title id="{mark}-title">{escape(label(said.partition(". ")[0], 120))}</title>'
        f'<desc id="{mark}-desc">{escape(said)}</desc>{body}'
    )


def _drawn(figure: Figure, salt: str) -> str:
    """Return what matplotlib writes, without date, version and a style sheet for the whole page."""
    from matplotlib import rc_context

    out = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": salt}
    with DRAWING, rc_context(settings), warnings.catch_warnings():
        # a letter that matplotlib's font lacks is drawn by the reader's browser
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(out, format="svg", metadata=nothing)
    text = out.getvalue()
    unwanted = r"\s*<(metadata|style)[^>]*>.*?</\1>|\s*<!--.*?-->"
    return re.sub(unwanted, "", text[text.index("<svg") :].strip(), flags=re.DOTALL)


def _own(tag: str, used: set[str]) -> str:
    """Return a tag without a name that nothing refers to, and without a font of its own."""
    tag = re.sub(r'\sid="([^"]+)"', lambda name: name.group() if name[1] in used else "", tag)
    return re.sub(r"font-family:[^;\"]*;?\s*", "", tag)
