"""HTML from elements: nothing that a user wrote is ever taken for markup."""

from html.parser import HTMLParser
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.report.blocks import (
    count,
    counted,
    decimal,
    folded,
    p_value,
    percent,
    short,
    spaced,
    table,
)
from tallybayes.report.html import element, joined, label, listed, shortened, text

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"' onload='x'",
    "a & b &amp; c",
    "]]>",
    "<!--",
)


class Reader(HTMLParser):
    """Collect the elements, the attributes and the text that a browser would see."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_text_stays_text(value):
    found = read(element("p", value, title=value))
    assert found.tags == ["p"]
    assert found.text == value
    assert found.attributes == [("title", value)]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Cn"])))
def test_any_text_is_read_back_as_it_was(value):
    found = read(element("p", value, title=value))
    assert (found.tags, found.text, found.attributes) == (["p"], value, [("title", value)])


@given(st.text())
def test_no_text_is_beyond_utf_8_or_holds_what_html_forbids(value):
    made = text(value)
    made.encode("utf-8")
    assert not set(made) & {chr(code) for code in (*range(9), 11, *range(14, 32), *range(127, 160))}


def test_half_of_a_character_and_a_null_become_the_sign_of_what_cannot_be_shown():
    assert text("a\ud800b\0c") == "a\ufffdb\ufffdc"


def test_markup_is_not_escaped_again():
    assert element("p", element("b", "x"), "<") == "<p><b>x</b>&lt;</p>"
    assert joined(listed([label("a"), label("b")])) == "<bdi>a</bdi> and <bdi>b</bdi>"
    assert element("td", spaced(element("b", "x"), "<")) == "<td><b>x</b><br>&lt;</td>"


def test_attributes_without_a_value_and_none_at_all():
    assert element("details", open=True) == "<details open></details>"
    assert element("p", id=None, hidden=False, class_="x") == '<p class="x"></p>'
    assert element("p", aria_label="x") == '<p aria-label="x"></p>'


def test_children_may_be_lists_and_nothing():
    assert element("ul", [element("li", 1), [element("li", 2)]], None) == (
        "<ul><li>1</li><li>2</li></ul>"
    )


def test_a_long_label_is_cut_and_tells_more_when_pointed_at():
    found = read(label("x" * 10_000, most=20))
    assert found.text == "x" * 19 + "…"
    assert found.attributes == [("title", "x" * 299 + "…")]
    assert len(shortened("abc", 3)) == 3


def test_a_label_is_on_one_line_and_keeps_its_direction_to_itself():
    assert label("a\n\tb") == "<bdi>a b</bdi>"
    assert label("a\u202ebc\u2066") == "<bdi>a\ufffdbc\ufffd</bdi>"


def test_an_empty_label_says_so():
    assert read(label(" ")).text == "empty text"


def test_a_list_in_words():
    assert listed([]) == ""
    assert listed(["a", "b"], "or") == "a or b"
    assert listed("abcde", most=3) == "a, b, c and 2 more"


def test_a_table_has_a_caption_and_its_cells_know_their_headings():
    made = table(
        "rows & co", ["class", "n", "why"], [["a", 1, "<x>"]], words=(2,), foot=[["b", 2, ""]]
    )
    found = read(made)
    assert found.tags.count("tr") == 3
    assert [value for name, value in found.attributes if name == "scope"] == ["col"] * 3 + [
        "row"
    ] * 2
    assert ("aria-label", "rows & co") in found.attributes
    assert "<caption>rows &amp; co</caption>" in made
    assert '<td class="number">1</td><td class="word">&lt;x&gt;</td>' in made


def test_a_line_of_a_table_that_is_too_short_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        table("x", ["a", "b"], [["only one"]])


def test_what_is_folded_can_be_open():
    assert "<details open>" in folded("more", "inside", opened=True)
    assert "<details><summary>more</summary>" in folded("more", "inside")


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.5, "50 %"), (0.0, "0 %"), (1.0, "100 %"), (0.123, "12.3 %"), (0.9996, "> 99.9 %")],
)
def test_shares_as_percentages(share, shown):
    assert percent(share) == shown.replace(" ", "\N{NO-BREAK SPACE}")


def test_numbers_have_a_minus_sign_and_a_dash_where_there_is_none():
    assert decimal(-0.5, 2) == "\N{MINUS SIGN}0.50"
    assert decimal(None) == decimal(float("nan")) == percent(float("nan")) == "\N{EN DASH}"
    assert short(float("inf")) == "∞"
    assert short(-1e-9) == "\N{MINUS SIGN}1e\N{MINUS SIGN}09"


def test_what_rounds_to_nothing_has_no_sign_and_shares_have_a_minus_sign():
    assert decimal(-1e-9) == "0.0000"
    assert percent(-0.0001) == "0 %".replace(" ", "\N{NO-BREAK SPACE}")
    assert percent(-0.002) == "\N{MINUS SIGN}0.2 %".replace(" ", "\N{NO-BREAK SPACE}")


@pytest.mark.parametrize(
    ("number", "shown"),
    [(27_090.0, "27,090"), (1e7, "10,000,000"), (0.0, "0"), (12_345.5, "12,345.5")],
)
def test_counts_are_written_out(number, shown):
    assert counted(number) == shown


def test_p_values_are_no_more_exact_than_the_tests():
    assert p_value(0.0) == p_value(1e-300) == "< 1e\N{MINUS SIGN}12"
    assert p_value(0.05) == "0.05"


def test_a_caption_with_markup_is_a_name_without_it():
    found = read(table(joined("For ", label("a <b> & c")), ["class"], [["x"]]))
    assert ("aria-label", "For a <b> & c") in found.attributes


def test_a_named_tuple_is_not_run_together():
    class Pair(NamedTuple):
        a: str
        b: float

    assert read(element("td", Pair("x", 0.5))).text == "Pair(a='x', b=0.5)"
    assert joined(("a", ["b"]), None) == "ab"


def test_counted_things_agree_with_their_number():
    assert count(0, "row") == "0 rows"
    assert count(2.5, "row") == "2.5 rows"
