"""Mail passes the proxy as it is, but for the fields; what the next server says is what counts."""

import os
import random
import signal
import smtplib
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from ports import free_port
from spam.mail_serving import PATIENCE, mail_serving, trained
from spam.mail_sink import mail_sink
from spam.mails import HOSTILE, mail, mutated


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module", params=["smtp", "lmtp"])
def proxy(request, model, tmp_path_factory):
    """A proxy, what is behind it, and how it is spoken to."""
    kind, ports = request.param, [free_port() for _ in range(2)]
    options = f"--{kind}", f"127.0.0.1:{ports[0]}", "--forward", f"127.0.0.1:{ports[1]}"
    folder = tmp_path_factory.mktemp(kind)
    with (
        mail_sink(ports[1], kind == "lmtp") as sink,
        mail_serving(folder, *options, "--model", model, "--longest", 60_000_000) as served,
    ):
        served.kind, served.sink, served.port = kind, sink, ports[0]
        yield served


def client_of(proxy):
    client = {"smtp": smtplib.SMTP, "lmtp": smtplib.LMTP}[proxy.kind]("127.0.0.1", proxy.port)
    client.ehlo_or_helo_if_needed()
    return client


def received(proxy, raw, to=("user@example.org",)):
    """Send a message, and return it as it arrived."""
    with client_of(proxy) as client:
        client.sendmail("a@b.example", to, raw)
    return proxy.sink.got[-1][1]


def lines_of(raw):
    return raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def test_mail_arrives_byte_for_byte_behind_its_fields(proxy):
    odd = (
        b"Subject: dots\r\n\r\n.\r\n..\r\n.x\r\n\r\n" + b"y" * 5_000 + b"\r\n" + bytes([255, 0, 13])
    )
    for raw in (
        lines_of(mail(True, 1)),
        lines_of(mail(False, 2)),
        odd + b"\r\n",
        b"\r\n",
        b"x\r\n",
    ):
        got = received(proxy, raw)
        assert got.endswith(raw)
        fields = got.removesuffix(raw).splitlines(keepends=True)
        names = [field.partition(b":")[0] for field in fields]
        assert names[:2] == [b"X-Spam-Status", b"X-Tallybayes"]
        assert all(field.endswith(b"\r\n") for field in fields)


@pytest.mark.parametrize("spam", [False, True])
def test_the_header_says_what_it_is(proxy, spam):
    raw = received(proxy, lines_of(mail(spam, 700, words=150)))
    assert b"\r\nX-Tallybayes: " + (b"spam" if spam else b"ham") in raw


def test_hostile_and_mutated_mail_arrives(proxy):
    draw = random.Random(5)
    many = [*HOSTILE.values(), *(mutated(mail(k % 2, k), draw) for k in range(40))]
    for raw in map(lines_of, many):
        raw = raw if raw.endswith(b"\r\n") else raw + b"\r\n"
        assert received(proxy, raw).endswith(raw)
    assert not proxy.events("fault")


def test_cut_anywhere_a_message_is_the_same(proxy):
    """However the bytes come, where a message ends is found."""
    body = b"Subject: x\r\n\r\na\r\n..\r\nb\r\n"
    hello = b"LHLO me\r\n" if proxy.kind == "lmtp" else b"EHLO me\r\n"
    talk = hello + b"MAIL FROM:<a@b.example>\r\nRCPT TO:<user@example.org>\r\nDATA\r\n"
    whole = talk + body + b".\r\nQUIT\r\n"
    for step in (1, 2, 3, 5, 7, 1000):
        before = len(proxy.sink.got)
        with socket.create_connection(("127.0.0.1", proxy.port)) as line:
            for k in range(0, len(whole), step):
                line.sendall(whole[k : k + step])
            while line.recv(1000):
                pass
        ((_, raw),) = proxy.sink.got[before:]
        assert raw.endswith(b"Subject: x\r\n\r\na\r\n.\r\nb\r\n")


def test_what_the_next_server_refuses_is_refused(proxy):
    with client_of(proxy) as client:
        client.mail("a@b.example")
        assert client.rcpt("nobody@example.org")[0] == 550
        assert client.rcpt("user@example.org")[0] == 250
        code, text = client.data(b"Subject: Refuse this\r\n\r\n")
        assert (code, b"5.7.1 No" in text) == (554, True)
        client.sendmail("a@b.example", ["user@example.org"], b"Subject: again\r\n\r\nx\r\n")
        for command in ("STARTTLS", "AUTH PLAIN x", "BDAT 10"):
            assert client.docmd(command)[0] == 502
        assert not client.has_extn("chunking")
        assert client.has_extn("8bitmime")


def test_each_recipient_has_an_answer(proxy):
    recipients = ["ann@example.org", "bob@example.org", "eve@example.org"]
    with client_of(proxy) as client:
        client.mail("a@b.example")
        for each in recipients:
            client.rcpt(each)
        client.docmd("DATA")
        client.send(b"Subject: x\r\n\r\nx\r\n.\r\n")
        replies = [client.getreply() for _ in (recipients if proxy.kind == "lmtp" else [1])]
        assert all(code == 250 for code, _ in replies)
        assert client.noop()[0] == 250  # and no reply is left over
    assert proxy.sink.got[-1][0] == recipients


def test_lines_that_could_hide_a_message_are_refused(proxy):
    before = len(proxy.sink.got)
    for odd in (b"\n.\r\nMAIL FROM:<x@y>\r\n", b"\n.\nMAIL", b"a\nb"):
        with client_of(proxy) as client:
            client.mail("a@b.example")
            client.rcpt("user@example.org")
            client.docmd("DATA")
            client.send(b"Subject: x\r\n\r\nx" + odd + b"\r\n.\r\n")
            assert client.getreply()[0] == 550
            assert client.noop()[0] == 250
    assert len(proxy.sink.got) == before


def test_a_long_mail_takes_little_memory_and_a_longer_one_is_refused(proxy):
    raw = b"Subject: long\r\n\r\n" + (b"0123456789" * 90 + b"\r\n") * (50_000_000 // 902)
    assert received(proxy, raw).endswith(raw)
    del proxy.sink.got[-1]
    status = Path(f"/proc/{proxy.process.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    assert peak < 250
    with client_of(proxy) as client, pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail("a@b.example", ["user@example.org"], raw + raw)
    assert refused.value.smtp_code == 552


def test_many_connections_at_once(proxy):
    before, n = len(proxy.sink.got), 150

    def send(k):
        with client_of(proxy) as client:
            for each in range(3):
                raw = lines_of(mail(each % 2, 1000 * k + each))
                client.sendmail("a@b.example", ["user@example.org"], raw)

    threads = [threading.Thread(target=send, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(proxy.sink.got) == before + 3 * n


def test_without_a_next_server_nothing_is_accepted(model, tmp_path):
    port = free_port()
    options = "--smtp", f"127.0.0.1:{port}", "--forward", f"127.0.0.1:{free_port()}"
    with (
        mail_serving(tmp_path, *options, "--model", model),
        pytest.raises(smtplib.SMTPConnectError) as refused,
    ):
        smtplib.SMTP("127.0.0.1", port)
    assert refused.value.smtp_code == 421


@pytest.mark.parametrize("fault", ["pass", "defer"])
def test_a_mail_that_cannot_be_judged_passes_or_waits(fault, model, tmp_path):
    ports = free_port(), free_port()
    options = "--smtp", f"127.0.0.1:{ports[0]}", "--forward", f"127.0.0.1:{ports[1]}"
    broken = "from tallybayes.spam import desk\ndesk.features = lambda message: 1 / 0\n"
    (tmp_path / "sitecustomize.py").write_text(broken)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with (
        mail_sink(ports[1]) as sink,
        mail_serving(
            tmp_path, *options, "--model", model, "--on-fault", fault, PYTHONPATH=paths
        ) as served,
        smtplib.SMTP("127.0.0.1", ports[0]) as client,
    ):
        raw = lines_of(mail(True, 3))
        if fault == "pass":
            client.sendmail("a@b.example", ["user@example.org"], raw)
            assert sink.got[-1][1] == raw
        else:
            with pytest.raises(smtplib.SMTPDataError) as refused:
                client.sendmail("a@b.example", ["user@example.org"], raw)
            assert refused.value.smtp_code == 451
            assert not sink.got
        (line,) = served.wait_for("fault")
        assert line["what"] == "ZeroDivisionError"
        assert line["then"] == fault


def test_it_stops_when_what_was_begun_is_done(model, tmp_path):
    ports = free_port(), free_port()
    options = "--smtp", f"127.0.0.1:{ports[0]}", "--forward", f"127.0.0.1:{ports[1]}"
    with mail_sink(ports[1]) as sink, mail_serving(tmp_path, *options, "--model", model) as served:
        with smtplib.SMTP("127.0.0.1", ports[0]) as client:
            client.helo()
            client.mail("a@b.example")
            client.rcpt("user@example.org")
            client.docmd("DATA")
            client.send(b"Subject: half\r\n\r\n")
            served.process.send_signal(signal.SIGTERM)
            with suppress(ConnectionError):  # until it listens no more
                while True:
                    socket.create_connection(("127.0.0.1", ports[0]), timeout=PATIENCE).close()
            client.send(b"a whole\r\n.\r\n")
            assert client.getreply()[0] == 250
        assert served.process.wait(PATIENCE) == 0
        assert b"a whole" in sink.got[-1][1]
