"""The milter protocol, spoken by hand: by what was agreed on, whatever comes, however much."""

import random
import socket
import struct
import threading
from pathlib import Path

import pytest

from spam.mail_serving import PATIENCE, mail_serving, trained
from spam.mails import HOSTILE, mail, mutated

ALL = (6, 0x1FF, 0x1FFFFF)  # what Postfix offers
NOTHING = (2, 0x1, 0)
SILENT = {b"C": 0x1000, b"H": 0x2000, b"M": 0x4000, b"R": 0x8000, b"L": 0x80, b"N": 0x40000}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("milter")
    place = f"unix:{folder}/milter"
    with mail_serving(folder, "--milter", place, "--model", trained(folder)) as made:
        made.path = f"{folder}/milter"
        yield made


class Server:
    """What speaks as a mail server."""

    def __init__(self, path, offered=ALL):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(PATIENCE)
        self.line.connect(path)
        self.file = self.line.makefile("rb")
        self.send(b"O", struct.pack(">III", *offered))
        letter, data = self.receive()
        assert letter == b"O"
        self.version, self.actions, self.steps = struct.unpack(">III", data)
        assert self.steps & ~offered[2] == 0
        assert self.actions & ~offered[1] == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.send(b"Q")
        assert self.file.read() == b""
        self.file.close()
        self.line.close()

    def send(self, letter, data=b""):
        self.line.sendall(struct.pack(">I", len(data) + 1) + letter + data)

    def receive(self):
        size = struct.unpack(">I", self.file.read(4))[0]
        packet = self.file.read(size)
        return packet[:1], packet[1:]

    def tell(self, letter, data=b""):
        """Send a packet, and take the answer that was agreed on."""
        self.send(letter, data)
        if letter not in b"D" and not SILENT.get(letter, 0) & self.steps:
            answer, _ = self.receive()
            assert answer in b"cs"
            return answer
        return None

    def message(self, raw, recipients=(b"<user@example.org>",)):
        """Go through a message, and return the fields that are added."""
        self.tell(b"C", b"mx.example\x004\x12\x34192.0.2.1\0")
        self.tell(b"H", b"mx.example\0")
        self.tell(b"D", b"Mi\x00ABC\x00j\x00mx.example\0")
        self.tell(b"M", b"<sender@example.com>\0SIZE=1\0")
        for each in recipients:
            self.tell(b"R", each + b"\0")
        head, _, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        for line in head.replace(b"\n ", b"\x01 ").replace(b"\n\t", b"\x01\t").split(b"\n"):
            name, _, value = line.replace(b"\x01", b"\n").partition(b":")
            if name:
                value = value if self.steps & 0x100000 else value.removeprefix(b" ")
                self.tell(
                    b"L", name.replace(b"\0", b"") + b"\0" + value.replace(b"\0", b"") + b"\0"
                )
        self.tell(b"N")
        for k in range(0, len(body), 65_535):
            if self.tell(b"B", body[k : k + 65_535]) == b"s":
                break
        return self.end()

    def end(self):
        self.send(b"E")
        fields = []
        while (found := self.receive())[0] == b"i":
            assert found[1][:4] == bytes(4)
            name, value, _ = found[1][4:].split(b"\0")
            fields.insert(0, f"{name.decode()}:{value.decode()}")
        assert found[0] == b"c"
        return fields


@pytest.mark.parametrize("offered", [ALL, NOTHING, (6, 0x1FF, 0x400), (6, 0x1FF, 0xFF)])
def test_messages_are_judged_whatever_was_agreed_on(offered, served):
    with Server(served.path, offered) as server:
        for k in range(4):
            fields = server.message(mail(k % 2 == 0, 800 + k, words=150))
            blank = " " if server.steps & 0x100000 else ""
            assert fields[0].startswith(f"X-Spam-Status:{blank}{('Yes', 'No')[k % 2]}, prob")
            assert fields[1].startswith(f"X-Tallybayes:{blank}{('spam', 'ham')[k % 2]}, log-odds=")


def test_an_abandoned_message_leaves_nothing_behind(served):
    with Server(served.path) as server:
        expected = server.message(mail(False, 800, words=150))
        for letter in (b"A", b"M"):
            server.tell(b"M", b"<x@y>\0")
            server.tell(b"L", b"Subject\0 viagra lottery casino\0")
            server.tell(b"N")
            server.tell(b"B", b"viagra cash " * 1000)
            if letter == b"A":
                server.send(letter)
            again = server.message(mail(False, 800, words=150))
            assert again[1].partition(",")[0] == expected[1].partition(",")[0]


def test_hostile_and_mutated_messages_are_judged(served):
    draw = random.Random(3)
    with Server(served.path) as server:
        for raw in (*HOSTILE.values(), *(mutated(mail(k % 2, k), draw) for k in range(60))):
            assert len(server.message(raw)) >= 2
    assert not served.events("fault")


def test_much_takes_little_memory(served):
    long = b"Subject: long\n\n" + b"words of a long mail\n" * 2_500_000
    with Server(served.path) as skipping, Server(served.path, NOTHING) as other:
        assert len(skipping.message(long)) >= 2
        assert len(other.message(long)) >= 2

    def send(k):
        with Server(served.path) as server:
            assert server.message(mail(k % 2, k) + b"word " * 10_000)

    threads = [threading.Thread(target=send, args=(k,)) for k in range(110)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) / 1024 < 250


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"\0", b"\0\0\0\0", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x01O",
        b"\0\0\0\x05O\0\0\0\0", b"\0\0\0\x02Z\0", b"\0\0\0\x01E" * 3, b"\0\0\0\x03C\0\0",
        b"\0\0\0\x01D\0\0\0\x01L\0\0\0\x01R\0\0\0\x01B\0\0\0\x01M\0\0\0\x01H",
    ],
)  # fmt: skip
def test_what_is_no_milter_protocol_hurts_nobody(sent, served):
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PATIENCE)
        line.connect(served.path)
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        while line.recv(1000):
            pass
    with Server(served.path) as server:
        assert server.message(mail(True, 1))
    assert "Traceback" not in served.log.read_text()


def test_the_log_holds_nothing_of_a_message(served):
    before = len(served.events("mail"))
    with Server(served.path) as server:
        server.message(b"Subject: confidential\n\nclandestine\n", [b"<somebody@example.org>"])
    served.wait_for("mail", before + 1)  # it is written after the answer
    log = served.log.read_text()
    for word in ("confidential", "clandestine", "somebody", "sender@", "192.0.2"):
        assert word not in log
    assert served.events("mail")[-1].keys() == {"time", "event", "answer", "bytes", "ms"}
