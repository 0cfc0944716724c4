"""What a message is judged by."""

import re

from hypothesis import given, strategies as st

from spam.mails import mail, multipart, part
from tallybayes.spam.features import COLUMNS, MOST_WORDS, as_table, features, letters
from tallybayes.spam.messages import Message


def of(raw, column):
    return {*features(Message(raw))[column].split()}


def test_a_word_counts_once_and_in_lower_case():
    body = features(Message(b"\nCheap, CHEAP... cheap pills!"))["body"]
    assert body == "cheap pills"


def test_long_words_are_taken_by_their_shape_and_parts():
    found = of(b"\n" + b"x" * 30 + b" a-long.name@of-some.host.example", "body")
    assert found == {"long:x3", "long:a3", "a-long", "name", "of-some", "host", "example"}


def test_scripts_without_blanks_are_read_in_pairs():
    assert {"你好", "好世", "世界"} <= of("\n你好世界".encode(), "body")


def test_subject_sender_and_recipients_have_columns_of_their_own():
    raw = (
        b"From: Ann Lee <ann.lee7@mail.work.example>\nTo: a@x.example, b@x.example\n"
        b"Subject: WIN $$$ now!\nReply-To: other@free.example\n\nbody"
    )
    assert {"win", "now", "sign:$", "sign:!"} <= of(raw, "subject")
    sender = of(raw, "sender")
    assert {"from:ann", "from@work.example", "from@example", "from~a.a9"} <= sender
    assert "reply-to@free.example" in sender
    assert {"to@x.example", "to#2"} <= of(raw, "recipients")


def test_a_header_tells_by_its_names_their_order_and_the_shapes_of_its_ids():
    raw = b"X-Mailer: Bulk 7\nMessage-ID: <20020801.g71@mx.example>\nDate: Mon, 1 Jan 2001\n\n"
    headers = of(raw, "headers")
    assert {"has:x-mailer", "x-mailer:bulk", "order:x-mailer>message-id", "lacks:from"} <= headers
    assert {"id:9.a9", "message-id@mx.example", "date:a,9a9", "zone:none"} <= headers
    assert not any("2001" in token or "20020801" in token for token in headers)  # a date of its own


def test_the_way_of_a_message_tells_hosts_and_prefixes():
    raw = (
        b"Received: from [10.9.8.7] (unknown [203.0.113.5]) by mx.example.org with SMTP;"
        b" Tue, 2 Jan 2001 12:00:00 +0000\nDate: Sun, 31 Dec 2000 12:00:00 +0000\n\n"
    )
    found = of(raw, "received")
    assert {"203.0", "203.0.113", "203.0.113.5", "mx.example.org", "example.org"} <= found
    assert {"hops:1", "first:nameless", "first:helo:address"} <= found


def test_links_tell_their_hosts_and_parts():
    raw = b"\nSee http://user@203.0.113.9:8080/buy/now?cid=77 and www.shop.example.com"
    links = of(raw, "links")
    assert {"http:", "has:user", "has:address", "host:203.0.113"} <= links
    assert not {"buy", "cid", "77"} & links  # paths differ from mail to mail
    assert {"host:shop.example.com", "host:example.com", "host:com"} <= links


def test_html_is_read_as_seen_and_its_tags_stand_apart():
    raw = part(
        b"text/html", b'<b>V</b>iagra <p style="display:none">poem</p><a href="http://x.example">'
    )
    assert of(raw, "body") == {"viagra"}
    assert {"b", "a", "href=", "hidden:poem"} <= of(raw, "html")
    assert "host:x.example" in of(raw, "links")


def test_parts_tell_types_charsets_names_and_boundaries():
    raw = multipart(
        part(b"text/plain; charset=KOI8-R", b"x"),
        part(b"application/pdf; name=Invoice-77.pdf", b"x"),
        boundary=b"----=_NextPart_000_01",
    )
    found = of(raw, "parts")
    assert {"type:multipart/mixed", "charset:koi8-r", "ending:pdf", "name:invoice-77.pdf"} <= found
    assert "boundary:----=_a_9_9" in found


def test_runs_of_letters_are_of_subject_and_sender():
    found = of(b"From: Bo <b@x>\nSubject: V1agra\n\nother words", "letters")
    assert {"^v1a", "v1ag", "gra$", "^bo_", "@x>$"} <= found
    assert not {"othe", "word"} & found
    assert letters("") == ["^$"]


def test_columns_are_bounded():
    raw = b"\n" + b" ".join(b"w%d" % n for n in range(3 * MOST_WORDS))
    assert len(of(raw, "body")) == MOST_WORDS


def test_a_table_has_a_row_for_each_message():
    table = as_table([features(Message(mail(k == 1, k))) for k in range(3)])
    assert [*table] == [*COLUMNS]
    assert {len(rows) for rows in table.values()} == {3}


@given(st.binary(max_size=500))
def test_tokens_hold_no_white_space_and_are_text(raw):
    for column in features(Message(raw)).values():
        column.encode()
        assert column == " ".join(column.split())
        assert not re.search(r"\s\s", column)
