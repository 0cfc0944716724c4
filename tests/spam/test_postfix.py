"""A real Postfix: whatever happens to the filter, every mail arrives, with the right header."""

import re
import signal
import threading
import time
from email.parser import BytesHeaderParser
from pathlib import Path

import pytest

from ports import free_port
from spam.mail_serving import PATIENCE, mail_serving, trained
from spam.mail_sink import mail_sink
from spam.mails import HOSTILE, mail
from spam.postfix import Postfix
from tiers import some

PAGE = Path(__file__).parents[2] / "docs" / "spam.md"
N = some(500, 100)
SENT = {
    (kind, k): mail(kind == "spam", 10_000 + k, words=150)
    for k in range(N // 2)
    for kind in ("ham", "spam")
}
IDS = {re.search(rb"Message-ID: (\S+)", raw)[1].decode(): kind for (kind, _), raw in SENT.items()}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("model"))


def answers(delivered):
    """Return what the header of each message says, and check that none is lost or doubled."""
    found = {}
    for raw in delivered:
        head = BytesHeaderParser().parsebytes(raw)
        assert head["Message-ID"] not in found
        found[head["Message-ID"]] = (head["X-Tallybayes"] or "none").partition(",")[0]
        body = raw.replace(b"\r\n", b"\n").split(b"\n\n", 1)[1]
        (sent,) = (s for s in SENT.values() if head["Message-ID"].encode() in s)
        assert body == sent.split(b"\n\n", 1)[1]
    assert found.keys() == IDS.keys()
    return found


def kill_when(served, n):
    """Kill a server in the middle of what it does, once it has judged so many messages.

    Return the thread that does it, and all messages, of which the last come when it is done.
    """

    def run():
        served.wait_for("mail", n)
        served.process.send_signal(signal.SIGKILL)

    def messages():
        yield from every[: 2 * n]
        thread.join()
        yield from every[2 * n :]

    thread, every = threading.Thread(target=run), list(SENT.values())
    thread.start()
    return thread, messages()


def stated(name, port, fault="accept"):
    """Return the lines of main.cf that the page shows, for a filter at a port."""
    lines = re.search(rf"```ini\n(?:# main.cf\n)?(\s*{name} = [^`#]*)", PAGE.read_text())[1]
    lines = "\n".join(line.strip() for line in lines.splitlines())
    return re.sub("8891|10025", str(port), lines).replace("accept", fault)


def milter(port, fault):
    return stated("smtpd_milters", port, fault)


def test_every_mail_passes_the_milter_with_its_header_though_it_is_killed(model, tmp_path):
    port = free_port()
    options = "--milter", f"127.0.0.1:{port}", "--model", model
    with Postfix(milter(port, "tempfail")) as postfix:
        with mail_serving(tmp_path, *options) as served:
            killed, messages = kill_when(served, N // 3)
            sending = threading.Thread(target=postfix.send, args=(messages,))
            sending.start()
            killed.join()
            assert served.process.wait(PATIENCE) == -signal.SIGKILL
        with mail_serving(tmp_path, *options) as served:
            sending.join()
            found = answers(postfix.delivered(N))
            assert served.stop() == 0
    assert found == IDS


def test_without_a_filter_mail_passes_as_it_is_where_that_was_chosen(model, tmp_path):
    port = free_port()
    options = "--milter", f"127.0.0.1:{port}", "--model", model
    with Postfix(milter(port, "accept")) as postfix, mail_serving(tmp_path, *options) as served:
        _, messages = kill_when(served, N // 3)
        postfix.send(messages)
        found = answers(postfix.delivered(N))
    said = [answer for answer in found.values() if answer != "none"]
    assert N // 3 <= len(said) < N
    assert all(answer in (IDS[key], "none") for key, answer in found.items())


@pytest.mark.parametrize("kind", ["smtp", "lmtp"])
def test_every_mail_passes_the_proxy_with_its_header_though_it_is_killed(kind, model, tmp_path):
    port, behind = free_port(), free_port()
    how = {"smtp": "content_filter = smtp", "lmtp": "virtual_transport = lmtp"}
    with (
        Postfix(f"{how[kind]}:[127.0.0.1]:{port}") as postfix,
        mail_sink(behind, lmtp=True) as sink,
    ):
        back = postfix.back if kind == "smtp" else behind
        options = f"--{kind}", f"127.0.0.1:{port}", "--forward", f"127.0.0.1:{back}"
        with mail_serving(tmp_path, *options, "--model", model) as served:
            _, messages = kill_when(served, N // 3)
            postfix.send(messages)
            assert served.process.wait(PATIENCE) == -signal.SIGKILL
        with mail_serving(tmp_path, *options, "--model", model) as served:
            until, once = time.monotonic() + PATIENCE, {}
            while once.keys() < IDS.keys():
                assert time.monotonic() < until, postfix.log[-3_000:]
                time.sleep(0.02)
                got = postfix.mailbox() if kind == "smtp" else [raw for _, raw in sink.got]
                once = {BytesHeaderParser().parsebytes(raw)["Message-ID"]: raw for raw in got}
            assert served.stop() == 0
    assert len(got) <= N + 20  # what was passed on just before the end may come twice
    assert answers(once.values()) == IDS


def test_hostile_mail_passes_the_milter(model, tmp_path):
    port = free_port()
    sent = {name: raw for name, raw in HOSTILE.items() if not re.search(rb"^From |\x00", raw, re.M)}
    with (
        mail_serving(tmp_path, "--milter", f"127.0.0.1:{port}", "--model", model) as served,
        Postfix(milter(port, "tempfail")) as postfix,
    ):
        postfix.send(sent.values())
        for raw in postfix.delivered(len(sent)):
            assert re.search(rb"^X-Tallybayes: (spam|ham|unsure), ", raw, re.M)
        assert not served.events("fault")
        assert not served.events("protocol")
