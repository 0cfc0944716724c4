"""The server as a whole: it begins with nothing, learns, and has weights fitted beside it."""

import os
import smtplib
import socket
import struct
import time

from ports import free_port
from spam.mail_serving import PATIENCE, mail_serving
from spam.mail_sink import mail_sink
from spam.mails import mail, mails, write_folder
from tallybayes.cli.main import main


def test_it_begins_with_nothing_and_learns_while_it_runs(tmp_path):
    ports = free_port(), free_port()
    place, store = f"127.0.0.1:{ports[0]}", str(tmp_path / "mail.db")
    ham = write_folder(tmp_path / "ham", mails(40, False))
    spam = write_folder(tmp_path / "spam", mails(40, True))

    def answer(raw):
        with smtplib.SMTP("127.0.0.1", ports[0]) as client:
            client.sendmail("a@b.example", ["user@example.org"], raw.replace(b"\n", b"\r\n"))
        fields = sink.got[-1][1]
        return fields.partition(b"X-Tallybayes: ")[2].split(b",")[0].decode()

    with (
        mail_sink(ports[1]) as sink,
        mail_serving(tmp_path, "--smtp", place, "--forward", f"127.0.0.1:{ports[1]}") as served,
    ):
        assert answer(mail(True, 900)) == "unsure"
        learnt = ["spam", "learn", store, "--ham", str(ham), "--spam", str(spam), "--quiet"]
        assert main(learnt) == 0
        until = time.monotonic() + PATIENCE
        # the first fit may have begun when the last messages were not yet learnt
        while not any(each["adopted"] for each in served.events("weights")):
            assert time.monotonic() < until, served.log.read_text()
            time.sleep(0.02)
        told = [("spam", mail(True, 900, words=150)), ("ham", mail(False, 901, words=150))]
        while [answer(raw) for _, raw in told] != [kind for kind, _ in told]:
            assert time.monotonic() < until, served.log.read_text()
            time.sleep(0.1)
        assert not served.events("store")
        assert served.stop() == 0
        assert not served.events("fault")


def test_a_milter_defers_what_cannot_be_judged_if_that_was_chosen(tmp_path):
    broken = "from tallybayes.spam import desk\ndesk.features = lambda message: 1 / 0\n"
    (tmp_path / "sitecustomize.py").write_text(broken)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    for fault, expected in (("defer", b"t"), ("pass", b"c")):
        door = "--milter", f"unix:{tmp_path}/milter", "--on-fault", fault
        with (
            mail_serving(tmp_path, *door, PYTHONPATH=paths),
            socket.socket(socket.AF_UNIX) as line,
        ):
            line.settimeout(PATIENCE)
            line.connect(f"{tmp_path}/milter")
            line.sendall(struct.pack(">I", 13) + b"O" + struct.pack(">III", 6, 1, 0))
            line.recv(17, socket.MSG_WAITALL)
            line.sendall(b"\0\0\0\x01E")
            assert line.recv(5, socket.MSG_WAITALL) == b"\0\0\0\x01" + expected
