"""Pictures as SVG: whole in themselves, the same every time, and several on one page."""

import re
from threading import Thread
from xml.etree import ElementTree

import pytest
from matplotlib import rcParams
from matplotlib.figure import Figure

import tallybayes as tb
from tallybayes.plots import ColumnDisplay, WaterfallDisplay, svg_of
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
    assert root.get("role") == "img"
    title, desc = root.find("svg:title", NS), root.find("svg:desc", NS)
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == desc.get("id")
    assert desc.text == drawn.alt_text
    assert drawn.alt_text.startswith(title.text.rstrip("…"))


def test_an_alternative_text_may_be_given():
    assert tree(svg_of(display(), alt='<Mine> & "yours"')).find("svg:desc", NS).text == (
        '<Mine> & "yours"'
    )


def test_the_page_decides_how_wide_a_picture_may_be():
    assert "max-width" not in tree(svg_of(display())).get("style")


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


def test_the_same_picture_gives_the_same_text():
    assert svg_of(display()) == svg_of(display())
    drawn = display()
    assert svg_of(drawn) == svg_of(drawn)


def test_ids_are_unique_also_beside_another_picture_and_all_references_are_inside():
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
    for word in ("DOCTYPE", "<?xml", "<metadata", "<style", "atplotlib", "<script"):
        assert word not in svg
    assert set(re.findall(r"https?://[^\"<]+", svg)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_text_of_users_is_there_to_be_searched_exactly_as_it_is():
    words = "".join(tree(svg_of(display())).itertext())
    assert "b<c>&\"$_'" in words
    assert r"\$" not in words


def test_text_that_looks_like_markup_is_not_changed():
    words = "".join(tree(svg_of(display(value='id="x" font-family: y; url(#z)'))).itertext())
    assert 'id="x" font-family: y; url(#z)' in words


def test_hatches_are_drawn_in_another_colour_than_what_they_are_drawn_on():
    table = {"colour": ["red", "blue", "red", "red"]}
    model = tb.NaiveBayes().fit(table, list("aabb"))
    root = tree(svg_of(ColumnDisplay.from_estimator(model, "colour")))
    patterns = root.findall(".//svg:pattern", NS)
    assert patterns
    for pattern in patterns:
        ground, lines = pattern.find("svg:rect", NS), pattern.find("svg:path", NS)
        assert ground.get("fill").lower() not in lines.get("style").lower()
    assert "fill-opacity" not in " ".join(
        each.get("style", "") for each in root.iter() if "url(#" in each.get("style", "")
    )


def test_fonts_are_the_readers_own():
    root = tree(svg_of(display()))
    assert "sans-serif" in root.get("style")
    assert not any("DejaVu" in str(each.attrib) for each in root.iter())


def test_letters_that_the_font_lacks_are_left_to_the_reader():
    assert "漢字" in "".join(tree(svg_of(display(value="漢字"))).itertext())


def test_a_figure_without_words_is_drawn_too():
    figure = Figure((2.0, 1.0))
    figure.subplots().plot([0, 1], [0, 1])
    root = tree(svg_of(figure, alt="A line."))
    assert root.get("viewBox") == "0 0 144 72"
    assert (root.get("width"), root.get("height")) == ("192", "96")
    assert root.find("svg:title", NS).text == "A line."


def test_anything_else_is_refused():
    with pytest.raises(tb.TallyBayesError, match="a display that was drawn or of a figure"):
        svg_of("picture")


def test_a_long_description_has_a_short_title():
    model = tb.stated({"a" * 200: 0.5, "z": 0.5}, {"red": {"a" * 200: 0.8, "z": 0.1}})
    svg = svg_of(WaterfallDisplay.from_estimator(model, {"red": True}))
    assert len(tree(svg).find("svg:title", NS).text) <= 120
