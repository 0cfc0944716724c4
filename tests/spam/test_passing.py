"""A message passes byte for byte, with fields in front that nobody else can write."""

import io
from email.parser import BytesHeaderParser

import pytest
from hypothesis import example, given, strategies as st

from spam.mails import HOSTILE, mail
from tallybayes.spam.messages import MOST_BYTES
from tallybayes.spam.passing import fields_of, marked, pass_on
from tallybayes.spam.verdict import Verdict

FOUND = Verdict("spam", 0.9991, 7.0, {"links": 5.0, "prior": -2.0}, (9, 8))
FIELDS = fields_of(FOUND)


def passed(raw, judge=lambda message: FOUND):
    out = io.BytesIO()
    pass_on(io.BytesIO(raw), out, judge)
    return out.getvalue()


def assert_passed(raw):
    before, fields, after = marked(raw, FIELDS)
    assert before + after == raw
    assert passed(raw) == before + fields + after
    lines = fields.decode("ascii").splitlines()
    assert lines == FIELDS
    parsed = BytesHeaderParser().parsebytes(before + fields + after)
    assert parsed["X-Spam-Status"] == "Yes, probability=0.9991"
    assert parsed["X-Tallybayes"] == "spam, log-odds=7.00, learnt=9+8"


@given(st.binary(max_size=300))
@example(b" folded from the start\n\nbody")
@example(b"From ann Mon Jan 1\r\nSubject: x\r\n\r\nbody\r\n")
@example(b"\r\n\r\n")
def test_any_bytes_pass_as_they_are(raw):
    assert_passed(raw)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_pass_as_they_are(name):
    assert_passed(HOSTILE[name])


def test_fields_stand_behind_the_envelope_and_end_lines_as_the_message_does():
    raw = b"From ann Mon Jan 1 10:00:00 2024\r\nSubject: x\r\n\r\nbody\nbare\r\n"
    out = passed(raw)
    assert out.startswith(b"From ann Mon Jan 1 10:00:00 2024\r\nX-Spam-Status: Yes, ")
    assert out.count(b"\n") - out.count(b"\r\n") == 1
    assert b"\r" not in passed(mail(True, 1))


def test_what_is_longer_than_is_read_passes_whole():
    raw = b"Subject: x\n\n" + b"0123456789\n" * (MOST_BYTES // 5)
    seen = []
    out = passed(raw, lambda message: seen.append(message) or FOUND)
    assert out.endswith(raw)
    assert len(seen) == 1


def test_nothing_of_the_message_gets_into_the_fields():
    raw = b"Subject: \r\nX-Spam-Status: No\r\n\r\nX-Tallybayes: ham\n"
    for field in fields_of(FOUND):
        assert field.isascii()
        assert "\n" not in field
        assert "\r" not in field
    assert passed(raw).endswith(raw)
    assert fields_of(Verdict("unsure", 0.5, 0.0, {}, (0, 0)))[0].startswith("X-Spam-Status: Unsure")
    odd = Verdict("spam", 1.0, float("inf"), {"body": float("inf")}, (1, 1))
    assert "inf" not in fields_of(odd)[1]


def test_a_message_that_cannot_be_judged_passes_as_it_is():
    def broken(message):
        raise OSError("no filter")

    out = io.BytesIO()
    with pytest.raises(OSError, match="no filter"):
        pass_on(io.BytesIO(mail(True, 1)), out, broken)
    assert out.getvalue() == mail(True, 1)
