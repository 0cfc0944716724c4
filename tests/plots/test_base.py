"""What all pictures share."""

import math
from unicodedata import east_asian_width

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb

import tallybayes as tb
from tallybayes.plots import ColumnDisplay, base

MODEL = tb.stated({"a": 0.5, "b": 0.5}, {"red": {"a": 0.8, "b": 0.1}})


def grey(colour):
    """The luminance of the standard for screens, Rec. 709."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_colours_are_those_of_okabe_and_ito():
    theirs = {(0, 0, 0), (230, 159, 0), (86, 180, 233), (0, 158, 115), (0, 114, 178), (213, 94, 0),
              (204, 121, 167)}  # fmt: skip
    ours = {tuple(round(255 * part) for part in to_rgb(colour)) for colour in base.PALETTE}
    assert ours == theirs


def test_forty_classes_look_different_without_colours():
    styles = [base.style_of(k) for k in range(40)]
    assert len({(str(each.line), each.marker) for each in styles}) == 40
    assert len({(each.hatch, each.marker) for each in styles}) == 40


def test_neighbours_differ_in_line_hatch_marker_and_the_first_two_in_grey():
    for k in range(40):
        one, other = base.style_of(k), base.style_of(k + 1)
        assert one.line != other.line
        assert one.hatch != other.hatch
        assert one.marker != other.marker
    assert abs(grey(base.PALETTE[0]) - grey(base.PALETTE[1])) > 0.2


def test_every_colour_stands_out_from_white():
    for colour in base.PALETTE:
        assert 1.05 / (grey(colour) + 0.05) > 2.0


@given(st.text(), st.integers(1, 40))
def test_readable_text_is_one_line_without_mathematics_and_short(text, most):
    found = base.readable(text, most)
    assert not is_math_text(found)
    assert "\n" not in found
    shown = found.replace(r"\$", "$")  # as matplotlib shows it
    assert len(shown) <= most
    assert shown == base.shortened(text, most)
    assert all(c.isprintable() for c in shown)


@given(st.text(), st.integers(2, 40))
def test_narrow_text_takes_less_room_the_broader_its_letters_are(text, most):
    found = base.narrow(text, most)
    assert not is_math_text(found)
    shown = found.replace(r"\$", "$").removesuffix("…")
    assert base.shortened(text, most).startswith(shown)
    broad = sum(c in "WMmw@%" or east_asian_width(c) in "WF" for c in shown)
    assert len(shown) + 0.7 * broad <= most + 1e-9


def test_narrow_text_is_cut_only_where_it_must_be():
    assert base.narrow("W" * 9, 16) == "W" * 9
    assert base.narrow("W" * 10, 16) == "W" * 8 + "…"
    assert base.narrow("漢" * 10, 16) == "漢" * 8 + "…"
    assert base.narrow("l" * 16, 16) == "l" * 16
    assert base.narrow("", 16) == '""'


def test_characters_that_turn_text_around_are_shown_as_such():
    assert (
        base.shortened("a\u202eb\x00c\td")
        == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c d"
    )


def test_text_that_fits_is_not_changed():
    assert base.shortened("größe_x <1> $5$", 15) == "größe_x <1> $5$"
    assert base.shortened(b"caf\xc3\xa9") == "café"
    assert base.shortened(12) == "12"
    assert base.shortened("x" * 200) == "x" * 31 + "…"


def test_lists_say_how_many_more():
    assert base.listed(["a"]) == "a"
    assert base.listed("abcdef") == "a, b, c, d, e and f"  # one more is named, not counted
    assert base.listed("abcdefg") == "a, b, c, d, e and 2 more"


@given(st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-12), st.integers(1, 6))
def test_figures_are_the_number_to_so_many_digits(value, digits):
    written = base.figures(value, digits).replace(base.MINUS, "-").replace(",", "")
    assert float(written) == pytest.approx(value, rel=0.5000001 * 10.0 ** (1 - digits))


def test_figures_of_what_is_no_ordinary_number():
    found = [base.figures(x) for x in (math.nan, math.inf, -math.inf, 0.0, -0.0)]
    assert found == ["undefined", "∞", f"{base.MINUS}∞", "0", "0"]


@given(st.floats(0.0, 1.0))
def test_a_chance_looks_sure_only_if_it_is(p):
    text = base.chance(p)
    assert (text == "0") == (p == 0.0)
    assert (text == "1") == (p == 1.0)
    if text[0] not in "<>":
        assert float(text) == pytest.approx(p, abs=0.0005000001)


def test_a_model_is_found_in_an_estimator_in_what_was_fitted_and_is_itself():
    estimator = tb.NaiveBayes().fit({"x": [1.0, 2.0, 4.0, 5.0]}, list("aabb"))
    pictures = [
        ColumnDisplay.from_estimator(subject, "x")
        for subject in (estimator, estimator.fitted_, estimator.model_)
    ]
    for each in pictures:
        np.testing.assert_allclose(each.likelihood, pictures[0].likelihood, rtol=1e-9)
    with pytest.raises(tb.TallyBayesError, match="dict is no model"):
        ColumnDisplay.from_estimator({}, "x")


def test_an_estimator_that_was_not_fitted_raises_scikit_learns_error():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ColumnDisplay.from_estimator(tb.NaiveBayes(), "x")


def test_an_unknown_class_is_told_with_a_hint():
    assert base.checked_class("b", MODEL.classes) == 1
    with pytest.raises(tb.TallyBayesError, match="did you mean 'spam'"):
        base.checked_class("spm", ("spam", "ham"))
    with pytest.raises(tb.TallyBayesError, match="not list"):
        base.checked_record(MODEL, [1])


def test_given_axes_are_drawn_on_and_others_are_new():
    figure, ax = pyplot.subplots()
    assert base.new_axes(ax) == (figure, ax)
    new, _ = base.new_axes()
    assert new is not figure
    assert new in map(pyplot.figure, pyplot.get_fignums())


def test_a_legend_is_drawn_only_of_what_has_a_name_and_stands_aside_if_it_is_long():
    _, ax = base.new_axes()
    assert base.legend(ax) is None
    assert base.key(ax) is None
    ax.plot([0], [0], label="the data")
    ax.plot([0], [0], label="zebra")
    assert [text.get_text() for text in base.key(ax).get_texts()] == ["zebra", "the data"]
    for k in range(9):
        ax.plot([0], [0], label=f"a class with a name {k}")
    assert base.key(ax)._ncols == 1


def test_a_legend_leaves_no_class_out_whatever_it_is_called():
    model = tb.NaiveBayes().fit(
        {"x": [1.0, 2.0, 3.0, 4.0, 6.0, 8.0]}, ["_a", "_a", "", "", "b", "b"]
    )
    display = ColumnDisplay.from_estimator(model, "x")
    names = [text.get_text().strip() for text in display.ax_.get_legend().get_texts()]
    assert names == ['""', "_a", "b"]
