"""Pictures as SVG: whole in themselves, the same every time, in a style that all share."""

import re
from itertools import pairwise
from threading import Thread
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib import pyplot, rcParams
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import tallybayes as tb
from tallybayes.plots import ColumnDisplay, style, svg_of
from tallybayes.plots.svg import DRAWING

NS = {"svg": "http://www.w3.org/2000/svg"}
HREF = "{http://www.w3.org/1999/xlink}href"


def display(name="a", value="b<c>&\"$_'"):
    model = tb.stated({name: 0.5, "z": 0.5}, {value: {name: 0.8, "z": 0.1}})
    return ColumnDisplay.from_estimator(model, value, record={value: True})


def tree(svg):
    return ElementTree.fromstring(svg)


def test_an_svg_is_one_element_with_role_title_and_description():
    drawn = display()
    svg = svg_of(drawn)
    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>")
    root = tree(svg)
    title, desc = root.find("svg:title", NS), root.find("svg:desc", NS)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == desc.get("id")
    assert desc.text == drawn.alt_text
    assert drawn.alt_text.startswith(title.text.rstrip("…"))
    own = svg_of(drawn, alt='<Mine> & "yours"' + "a" * 200)
    assert tree(own).find("svg:desc", NS).text.startswith('<Mine> & "yours"')
    assert len(tree(own).find("svg:title", NS).text) == 120
    assert "max-width" not in root.get("style")  # the page decides how wide it may be


class Watched(Figure):
    """A figure that looks, while it is drawn, whether another thread could draw as well."""

    def savefig(self, *args, **options):
        def try_it():
            self.free = DRAWING.acquire(blocking=False)
            if self.free:
                DRAWING.release()

        other = Thread(target=try_it)
        other.start()
        other.join()
        super().savefig(*args, **options)


def test_only_one_thread_draws_at_a_time_and_settings_are_as_before():
    figure = Watched((2.0, 1.0))
    before = dict(rcParams)
    alone = svg_of(figure)
    assert figure.free is False
    with DRAWING:  # who draws a whole page may hold it
        assert svg_of(figure) == alone
    assert dict(rcParams) == before


def test_the_same_picture_gives_the_same_text_with_names_of_its_own():
    assert svg_of(display()) == svg_of(display())
    svgs = [svg_of(display()), svg_of(display("b"))]
    ids = [each.get("id") for svg in svgs for each in tree(svg).iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for svg in svgs:
        mine = {each.get("id") for each in tree(svg).iter()}
        refs = re.findall(r"url\(#([^)]+)\)", svg)
        refs += [each.get(HREF).removeprefix("#") for each in tree(svg).iter() if each.get(HREF)]
        assert refs
        assert set(refs) <= mine


def test_nothing_comes_from_elsewhere_and_no_date_or_version_is_told():
    svg = svg_of(display())
    for word in ("DOCTYPE", "<?xml", "<metadata", "<style", "atplotlib", "<script", "DejaVu"):
        assert word not in svg
    assert set(re.findall(r"https?://[^\"<]+", svg)) == {NS["svg"], HREF[1:-5]}
    assert "sans-serif" in tree(svg).get("style")


@pytest.mark.parametrize("text", ["b<c>&\"$_'", 'id="x" font-family: y; url(#z)', "漢字"])
def test_text_of_users_is_there_to_be_searched_exactly_as_it_is(text):
    words = "".join(tree(svg_of(display(value=text))).itertext())
    assert text in words
    assert r"\$" not in words


def test_hatches_are_drawn_in_another_colour_than_what_they_are_drawn_on():
    model = tb.NaiveBayes().fit({"colour": ["red", "blue", "red", "red"]}, list("aabb"))
    root = tree(svg_of(ColumnDisplay.from_estimator(model, "colour")))
    patterns = root.findall(".//svg:pattern", NS)
    assert patterns
    for pattern in patterns:
        ground, lines = pattern.find("svg:rect", NS), pattern.find("svg:path", NS)
        assert ground.get("fill").lower() not in lines.get("style").lower()
    styles = [each.get("style", "") for each in root.iter()]
    assert not any("url(#" in style and "fill-opacity" in style for style in styles)


def test_a_figure_is_drawn_too_and_anything_else_is_refused():
    root = tree(svg_of(Figure((2.0, 1.0)), alt="A line."))
    assert root.get("viewBox") == "0 0 144 72"
    assert (root.get("width"), root.get("height")) == ("192", "96")
    assert root.find("svg:title", NS).text == "A line."
    with pytest.raises(tb.TallyBayesError, match="a display that was drawn or of a figure"):
        svg_of("picture")


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
