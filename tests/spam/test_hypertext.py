"""HTML is read as its reader sees it."""

import pytest
from hypothesis import given, strategies as st

from tallybayes.spam.hypertext import read_html, seems_html


def seen(text):
    return " ".join(read_html(text).seen.split())


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("plain words", "plain words"),
        ("V<b></b>i<!-- x -->ag<font size=1>ra</font>", "Viagra"),
        ("one<br>two<p>three</p>four<td>five", "one two three four five"),
        ("a &amp; b &#99;&#x64; &nbsp;e &nosuch; f", "a & b cd e &nosuch; f"),
        ("<script>var a = '<b>'; x</script>shown", "shown"),
        ("<style>p {color: red}</style>shown<style>", "shown"),
        ("<script>one</p>two</script>three", "three"),
        ("<head><title>Top</title><style>x</style></head>shown", "Top shown"),
        ('<p style="display:none">away <p>still</p> away</p>shown', "shown"),
        ("<span style='FONT-SIZE: 1px'>away</span>shown", "shown"),
        ("<div style=visibility:hidden>away</div>shown", "shown"),
        ('<font style="font-size:10px">shown</font>', "shown"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<!doctype html><?xml x?>shown", "shown"),
        ("shown<a href='unclosed", "shown"),
        ("<!-- never closed", ""),
    ],
)
def test_a_page_is_read_as_it_is_seen(page, text):
    assert seen(page) == text


def test_hidden_text_addresses_and_tags_stand_apart():
    page = read_html(
        '<p style="display:none">weather</p><A HREF="http://x.example/?a=1&amp;b">go</A>'
        '<img src=cid:1 width=1 height="1"><table bgcolor=#FFFFFF>'
    )
    assert page.hidden.strip() == "weather"
    assert page.addresses == ["http://x.example/?a=1&b", "cid:1"]
    assert {"a", "img", "width=", "height=", "bgcolor=", "href="} <= {*page.tags}


def test_html_is_known_by_its_tags():
    assert seems_html("\n<HTML><body>x")
    assert seems_html('see <a href="x">y</a>')
    assert not seems_html("1 < 2, and <ann@home.example> writes")


@given(st.text(alphabet="<>/!-=\"'abp &;#x0style:dinon", max_size=300))
def test_any_text_can_be_read(text):
    page = read_html(text)
    assert isinstance(page.seen, str)
    assert all(tag == tag.lower() and " " not in tag for tag in page.tags)


@given(st.text(alphabet="abc .,\n", max_size=200))
def test_text_without_tags_is_seen_as_it_is(text):
    assert read_html(text).seen == text
