"""Messages are found wherever mail is kept."""

import io
import mailbox
import os
import sys
from email import message_from_bytes

import pytest
from hypothesis import given, strategies as st

from spam.mails import mail, mails, write_folder
from tallybayes import TallyBayesError
from tallybayes.spam.mailboxes import messages_in
from tallybayes.spam.messages import MOST_BYTES, Message

ENVELOPE = b"From ann@work.example Mon Jan  1 10:00:00 2024\n"


def found(*paths):
    return [raw for _, raw in messages_in(paths)]


def test_a_file_is_a_message(tmp_path):
    (tmp_path / "mail").write_bytes(mail(False, 1))
    assert [*messages_in([tmp_path / "mail"])] == [(str(tmp_path / "mail"), mail(False, 1))]


def test_a_folder_is_read_in_the_order_of_names_with_its_folders(tmp_path):
    write_folder(tmp_path / "2024", mails(2, True))
    (tmp_path / "1.eml").write_bytes(b"Subject: first\n\n")
    for hidden in (".index", "dovecot.index.cache", "dovecot-uidlist", "cmds"):
        (tmp_path / hidden).write_bytes(b"no mail")
    assert found(tmp_path) == [b"Subject: first\n\n", *mails(2, True)]


def test_a_maildir_is_what_the_standard_library_writes(tmp_path):
    box = mailbox.Maildir(tmp_path / "Maildir")
    junk = box.add_folder("Junk")
    for raw in mails(3, False):
        box.add(raw)
    junk.add(mail(True, 9))
    (tmp_path / "Maildir" / "tmp" / "unfinished").write_bytes(b"half")
    (tmp_path / "Maildir" / "dovecot-uidlist").write_bytes(b"3 V1")
    assert sorted(found(tmp_path / "Maildir")) == sorted(mails(3, False))  # not those in Junk
    assert found(tmp_path / "Maildir" / ".Junk") == [mail(True, 9)]


def test_an_mbox_is_what_the_standard_library_writes(tmp_path):
    path, raws = tmp_path / "box", [mail(False, 1), mail(True, 2), b"Subject: x\n\nFrom me\n"]
    box = mailbox.mbox(path)
    for raw in raws:
        box.add(message_from_bytes(raw))
    box.close()
    names = [name for name, _ in messages_in([path])]
    assert names == [f"{path}#1", f"{path}#2", f"{path}#3"]
    assert [Message(raw).digest for raw in found(path)] == [Message(raw).digest for raw in raws]
    assert found(path)[2].rstrip() == b"Subject: x\n\nFrom me"  # >From is From again


@pytest.mark.parametrize(
    ("content", "n"),
    [
        (ENVELOPE + b"Subject: x\n\none", 1),
        (ENVELOPE + b"Subject: x\n\none\n\n" + ENVELOPE + b"Subject: y\n\ntwo", 2),
        (ENVELOPE + b"Subject: x\n\none\n" + ENVELOPE + b"Subject: y\n", 1),  # no blank line
        (ENVELOPE + b"Subject: x\n\none\n\nFrom here it is a mile to 10:00 in 2024\nnext", 1),
        (ENVELOPE + b"Subject: x\n\none\n\nFrom now on: read this\nnext", 1),
        (ENVELOPE + b"Subject: x\n\n\n\n" + ENVELOPE, 1),  # cut in the middle of an envelope
        (ENVELOPE, 1),
        (b"From: ann\n\n" + ENVELOPE + b"Subject: y\n", 1),  # no mbox: it begins with a header
        (b"", 1),
        (ENVELOPE.replace(b"\n", b"\r\n") + b"A: b\r\n\r\nx\r\n\r\n" + ENVELOPE + b"C: d\r\n", 2),
        (b"From MAILER-DAEMON Mon Jan  1 10:00:00 2024\nA: b\n\nx\n\nFrom - Mon Jan  1\nC: d\n", 2),
    ],
)
def test_an_mbox_is_cut_where_a_message_begins(tmp_path, content, n):
    (tmp_path / "box").write_bytes(content)
    assert len(found(tmp_path / "box")) == n


@given(st.lists(st.binary(max_size=60).filter(lambda raw: b"\r" not in raw), max_size=5))
def test_messages_come_back_from_an_mbox(tmp_path_factory, bodies):
    raws = [b"Subject: x\n\n" + body for body in bodies]
    quoted = [
        b"\n".join(b">" + line if line.lstrip(b">").startswith(b"From ") else line
                   for line in raw.split(b"\n"))
        for raw in raws
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("box") / "box"
    path.write_bytes(b"".join(ENVELOPE + raw + b"\n\n" for raw in quoted))
    back = found(path) if raws else []
    assert [raw.rstrip(b"\n") for raw in back] == [raw.rstrip(b"\n") for raw in raws]


def test_only_the_beginning_of_long_messages_is_kept(tmp_path):
    line = b"x" * 999 + b"\n"
    (tmp_path / "long").write_bytes(b"A: b\n\n" + line * 2000)
    (tmp_path / "box").write_bytes((ENVELOPE + b"A: b\n\n" + line * 2000 + b"\n") * 2)
    assert [len(raw) for raw in found(tmp_path / "long")] == [MOST_BYTES]
    assert all(len(raw) <= MOST_BYTES + len(line) for raw in found(tmp_path / "box"))
    assert len(found(tmp_path / "box")) == 2


def test_standard_input_holds_a_message_or_an_mbox(monkeypatch):
    for content, n in ((mail(True, 1), 1), ((ENVELOPE + mail(True, 1) + b"\n") * 3, 3)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert len(found("-")) == n


def test_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(TallyBayesError, match=r"nowhere.*check the path"):
        found(tmp_path / "nowhere")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_pipes_and_loops_in_a_folder_are_passed_by(tmp_path):
    write_folder(tmp_path / "in", mails(1, True))
    os.mkfifo(tmp_path / "in" / "pipe")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "lost").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path / "in") == mails(1, True)
