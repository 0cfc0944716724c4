"""A mail server that keeps what it gets, by a library of others."""

from contextlib import contextmanager

from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP

from spam.mail_serving import PATIENCE


class Sink:
    """What was received; addresses with `no` in them are refused."""

    def __init__(self, lmtp):
        self.lmtp, self.got = lmtp, []

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if "no" in address:
            return "550 5.1.1 Nobody of that name"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.got.append((envelope.rcpt_tos, envelope.content))
        if b"Refuse this" in envelope.content[:1000]:
            replies = ["554 5.7.1 No"] * len(envelope.rcpt_tos)
        else:
            replies = [f"250 2.0.0 {each} has it" for each in envelope.rcpt_tos]
        return "\r\n".join(replies if self.lmtp else replies[:1])


@contextmanager
def mail_sink(port, lmtp=False):
    class Server(LMTP if lmtp else SMTP):
        line_length_limit = 1 << 24

    class Listening(Controller):
        def factory(self):
            return Server(self.handler, data_size_limit=0, hostname="sink.example")

    sink = Sink(lmtp)
    listening = Listening(sink, hostname="127.0.0.1", port=port, ready_timeout=PATIENCE)
    listening.start()
    try:
        yield sink
    finally:
        listening.stop()
