"""What all pictures share."""

from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb

import tallybayes as tb
from tallybayes.plots import ColumnDisplay, style, svg_of


def grey(colour):
    """The luminance of the standard for screens, Rec. 709."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_forty_classes_and_all_neighbours_look_different_without_colours():
    styles = [style.style_of(k) for k in range(40)]
    assert len({(str(each.line), each.marker) for each in styles}) == 40
    assert len({(each.hatch, each.marker) for each in styles}) == 40
    for one, other in pairwise(styles):
        assert one.line != other.line
        assert one.hatch != other.hatch
        assert one.marker != other.marker
    assert abs(grey(style.PALETTE[0]) - grey(style.PALETTE[1])) > 0.2


@given(st.text(), st.integers(3, 40))
def test_readable_text_is_one_line_without_mathematics_and_short(text, most):
    found = style.readable(text, most)
    assert not is_math_text(found)
    assert "\n" not in found
    assert not found.startswith("_")  # such names matplotlib leaves out of legends
    assert len(found.replace(r"\$", "$").strip()) <= most
    assert all(c.isprintable() for c in found)


def test_bars_of_every_class_are_small_in_an_svg():
    X = {"x": [*"abc"] * 24}
    model = tb.NaiveBayes().fit(X, [f"class {k}" for k in range(8) for _ in range(9)])
    assert len(svg_of(ColumnDisplay.from_estimator(model, "x", most=8))) < 60_000


def test_a_legend_is_drawn_only_of_what_has_a_name():
    _, ax = pyplot.subplots()
    style.add_legend(ax)
    assert ax.get_legend() is None


def test_a_legend_leaves_no_class_out_whatever_it_is_called():
    classes = ["_a", "_a", "", "", "the b", "the b"]
    model = tb.NaiveBayes().fit({"x": [1.0, 2.0, 3.0, 4.0, 6.0, 8.0]}, classes)
    display = ColumnDisplay.from_estimator(model, "x")
    names = [text.get_text().strip() for text in display.ax_.get_legend().get_texts()]
    assert names == ['""', "_a", "the b"]
