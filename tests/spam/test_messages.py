"""A message is read whatever it is, and what it says is what its reader sees."""

import random
import time
from email.message import EmailMessage
from email.mime.text import MIMEText

import pytest
from hypothesis import given, strategies as st

from spam.mails import BASE64, HOSTILE, QUOTED, mail, multipart, mutated, nested, part
from tallybayes.spam.features import COLUMNS, _of_link as of_link, features
from tallybayes.spam.messages import LONGEST_HEADER, MOST_BYTES, MOST_PARTS, MOST_TEXT, Message
from tiers import scaled, some

CHARSETS = ["utf-8", "latin-1", "koi8-r", "gb2312", "iso-2022-jp", "utf-16", "big5", "cp1251"]
WORDS = {
    "koi8-r": "привет",
    "gb2312": "你好",
    "iso-2022-jp": "件名",
    "big5": "你好",
    "cp1251": "мир",
}


def texts(raw):
    return [piece.text for piece in Message(raw).pieces if piece.text is not None]


def assert_read(raw):
    """Read a message, and check that what comes out is bounded and can be stored."""
    message = Message(raw)
    columns = features(message)
    assert list(columns) == [*COLUMNS]
    for column in columns.values():
        column.encode()
        tokens = column.split()
        assert len(tokens) == len(set(tokens))
        assert all(len(token) < 250 for token in tokens)
    assert len(message.digest) == 16
    assert all(len(value) <= LONGEST_HEADER for _, value in message.headers)
    assert len(message.pieces) <= MOST_PARTS + 1
    assert sum(len(piece.text or "") for piece in message.pieces) <= MOST_TEXT
    return columns


@pytest.mark.parametrize("name", HOSTILE)
def test_every_file_yields_features(name):
    assert_read(HOSTILE[name])
    assert_read(HOSTILE[name].replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("link", ["\x1fhttp://a.example/x", "ht\x85tp://a.example", "http ://a.b"])
def test_tokens_of_links_have_no_blanks(link):
    assert all(token.split() == [token] for token in of_link(link))


def test_mutated_messages_yield_features():
    draw, raws = random.Random(20), [*HOSTILE.values(), *(mail(k % 2 == 0, k) for k in range(30))]
    longest = 0.0
    for _ in range(some(20_000, 400)):
        raw = mutated(draw.choice(raws)[:30_000], draw)
        start = time.process_time()
        assert_read(raw)
        longest = max(longest, time.process_time() - start)
    assert longest < 60.0  # it takes milliseconds: what hangs takes minutes


@scaled(4)
@given(st.binary(max_size=2_000))
def test_any_bytes_yield_features(raw):
    assert_read(raw)
    assert_read(b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" + raw)


def test_what_is_far_behind_is_not_read():
    raw = b"Subject: x\n\n" + b"near " * 10 + b"\n" * MOST_BYTES + b"far"
    assert features(Message(raw))["body"] == "near"


def test_a_large_attachment_leaves_the_text():
    raw = multipart(
        part(b"text/plain", b"see the attachment"),
        part(b"application/zip; name=large.zip", b"UEsDBBQ" * 7_000_000, BASE64),
    )
    columns = assert_read(raw)
    assert "attachment" in columns["body"].split()
    assert {"ending:zip", "name:large.zip"} <= {*columns["parts"].split()}


@pytest.mark.parametrize("charset", CHARSETS)
def test_texts_are_decoded_by_their_charset(charset):
    word = WORDS.get(charset, "café")
    assert texts(part(b"text/plain; charset=" + charset.encode(), word.encode(charset))) == [word]


@pytest.mark.parametrize(
    ("said", "real"), [("us-ascii", "utf-8"), ("us-ascii", "cp1252"), ("klingon", "utf-8"),
                       ("iso-8859-1", "utf-8"), ("", "latin-1")],
)  # fmt: skip
def test_a_wrong_charset_is_seen_through(said, real):
    assert texts(part(b"text/plain; charset=" + said.encode(), "café".encode(real))) == ["café"]


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_transfer_encodings_are_undone_as_the_standard_library_does_them(encoding):
    wanted = EmailMessage()
    wanted.set_content("Grüße aus Köln\n", cte=encoding)
    assert texts(bytes(wanted)) == ["Grüße aus Köln\n"]
    assert texts(bytes(MIMEText("Grüße", "plain", "utf-8"))) == ["Grüße"]


def test_what_cannot_be_decoded_is_read_as_far_as_it_goes():
    (broken,) = texts(part(b"text/plain", b"Y2hlYXAgcGlsbHM=\n%%%", BASE64))
    assert "cheap pills" in broken
    (quoted,) = texts(part(b"text/plain", b"cheap=20pills=ZZ", QUOTED))
    assert quoted.startswith("cheap pills")


def test_headers_are_decoded():
    raw = b"Subject: =?koi8-r?b?8NLJ18XU?= =?utf-8?q?_caf=C3=A9?=\nFrom: caf\xc3\xa9\nTo: \xe9\n\n"
    assert Message(raw).headers == [("subject", "Привет café"), ("from", "café"), ("to", "é")]


def test_nested_messages_are_read():
    inside = nested(5)
    assert texts(inside) == ["core"]
    assert texts(part(b"message/rfc822", part(b"text/plain", b"words within"))) == ["words within"]


def test_too_deep_a_message_is_one_text():
    (text,) = texts(nested(2000))
    assert "core" in text


def test_control_characters_do_not_join_words():
    assert texts(b"\nch\x00eap\x1b pills") == ["cheap pills"]


@pytest.mark.parametrize(
    "header",
    ["X-Spam-Status: Yes, score=9", "X-Spam-Flag: YES", "X-Tallybayes: spam", "X-Bogosity: Ham",
     "X-Spambayes-Classification: ham", "X-CRM114-Status: SPAM", "X-Rspamd-Score: 9",
     "X-Virus-Scanned: yes", "Status: RO", "X-Keywords: Junk", "X-Mozilla-Status: 0001",
     "x-spam-level: *****\n *****"],
)  # fmt: skip
def test_what_filters_and_mailboxes_add_is_no_evidence_and_makes_no_other_message(header):
    raw = mail(True, 1)
    added = header.encode() + b"\n" + raw
    assert features(Message(added)) == features(Message(raw))
    assert Message(added).digest == Message(raw).digest


def test_a_message_is_known_by_its_content():
    raw = mail(False, 1)
    same = [raw.replace(b"\n", b"\r\n"), raw + b"\n\n", b"Received: from here\n" + raw,
            b"From ann@x.example Mon Jan  1 10:00:00 2024\n" + raw]  # fmt: skip
    assert {Message(each).digest for each in same} == {Message(raw).digest}
    other = [raw.replace(b"Subject: ", b"Subject: not "), raw + b"more", mail(False, 2), b""]
    assert Message(raw).digest not in {Message(each).digest for each in other}
    id_only = b"Message-ID: <1@x>\n\none", b"Message-ID: <1@x>\n\ntwo"
    assert Message(id_only[0]).digest != Message(id_only[1]).digest
