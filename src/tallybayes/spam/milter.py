"""A milter: what Postfix and Sendmail ask about each message while they receive it.

The protocol is a sequence of packets, each four bytes of length, a letter, and data. Of headers and
body only as much is kept as is read of any message. A message that is judged gets fields in front
of its header; the rest stays as it is, and nothing is ever rejected.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from email.utils import formatdate

from tallybayes.spam.desk import Desk
from tallybayes.spam.messages import MOST_BYTES

LONGEST_PACKET = 1 << 20  # those of Postfix have up to 65,536 bytes
IDLE = 600.0  # seconds that a connection may rest between packets: servers keep some
QUICK = getattr(socket, "TCP_QUICKACK", None)  # where there is no such thing, it is not needed
ADD_HEADERS = 0x1
NOT_SENT = 0x100 | 0x200  # unknown commands, and that data begin
MAY_SKIP, AS_IT_IS = 0x400, 0x100000  # the rest of a body; blanks before the values of headers
SILENT = {b"C": 0x1000, b"H": 0x2000, b"M": 0x4000, b"R": 0x8000, b"L": 0x80, b"N": 0x40000}
ANSWERED = b"CHMRLNTUBE"
WANTED = NOT_SENT | MAY_SKIP | AS_IT_IS | sum(SILENT.values())


class MilterSession:
    """A connection of a mail server, over which messages come one after another.

    Parameters
    ----------
    desk
        What judges messages.
    reader, writer
        The connection.
    """

    def __init__(
        self, desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._desk, self._reader, self._writer = desk, reader, writer
        self._agreed, self._socket = 0, writer.get_extra_info("socket")
        self._client = self._helo = b""
        self._macros: dict[bytes, bytes] = {}
        self._begin()

    def _begin(self) -> None:
        """Forget the message before."""
        self._sender, self._recipients = b"", list[str]()
        self.busy = False
        self._kept: list[bytes] = []
        self._size = 0

    async def run(self) -> None:
        """Answer until the server has no more questions."""
        while True:
            async with asyncio.timeout(IDLE):
                self._quick()
                length = int.from_bytes(await self._reader.readexactly(4))
                if not 0 < length <= LONGEST_PACKET:
                    raise ValueError(f"no milter speaks in packets of {length} bytes")
                packet = await self._reader.readexactly(length)
            letter, data = packet[:1], packet[1:]
            if letter == b"Q":
                return
            if letter == b"O":
                self._negotiate(data)
            elif letter == b"E":
                self._keep(data)
                await self._judge()
            else:
                self._take(letter, data)
                if letter in ANSWERED and not SILENT.get(letter, 0) & self._agreed:
                    enough = letter == b"B" and self._agreed & MAY_SKIP and self._full
                    self._send(b"s" if enough else b"c")
            await self._writer.drain()

    def _quick(self) -> None:
        """Have what comes acknowledged at once: a server may send the next packet only then."""
        if QUICK is not None and self._socket.family != socket.AF_UNIX:
            self._socket.setsockopt(socket.IPPROTO_TCP, QUICK, 1)

    @property
    def _full(self) -> bool:
        return self._size >= MOST_BYTES

    def _send(self, letter: bytes, data: bytes = b"") -> None:
        self._writer.write(struct.pack(">I", 1 + len(data)) + letter + data)

    def _negotiate(self, data: bytes) -> None:
        """Agree on what is sent and answered."""
        version, actions, steps = struct.unpack(">III", data[:12])
        self._agreed = steps & WANTED
        self._send(b"O", struct.pack(">III", min(version, 6), actions & ADD_HEADERS, self._agreed))

    def _take(self, letter: bytes, data: bytes) -> None:
        """Keep what a packet says."""
        first, _, rest = data.partition(b"\0")
        if letter == b"D":
            names = data[1:].split(b"\0")
            self._macros.update(zip(names[::2], names[1::2], strict=False))
        elif letter == b"C":
            address = rest[3:].rstrip(b"\0")  # behind a letter for its kind, and the port
            self._client = b"%b [%b]" % (first, address) if address else first
        elif letter == b"H":
            self._helo = first
        elif letter in b"MAK":
            self._begin()
            self._sender, self.busy = first, letter == b"M"
        elif letter == b"R":
            self._recipients.append(first.strip(b"<>").decode("utf-8", "replace"))
        elif letter == b"L":
            blank = b"" if self._agreed & AS_IT_IS else b" "
            self._keep(b"%b:%b%b\n" % (first, blank, rest.rstrip(b"\0")))
        elif letter == b"N":
            self._keep(b"\n")
        elif letter == b"B":
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        if not self._full:
            self._kept.append(data[: MOST_BYTES - self._size])
            self._size += len(data)

    async def _judge(self) -> None:
        """Answer for a whole message."""
        fields = await self._desk.fields(self._delivered(), self._recipients)
        for field in reversed(fields or ()):
            name, _, value = field.partition(":")
            blank = " " if self._agreed & AS_IT_IS else ""
            text = f"{name}\0{blank}{value.strip()}\0".encode("ascii")
            self._send(b"i", struct.pack(">I", 0) + text)
        self._send(b"t" if fields is None else b"c")
        self._begin()

    def _delivered(self) -> bytes:
        """Return the message as it will be in a mailbox: with what its server puts in front."""
        host, queue = self._macros.get(b"j", b"localhost"), self._macros.get(b"i", b"")
        head = b"Return-Path: %b\nReceived: from %b (%b)\n\t" % (
            self._sender, self._helo, self._client
        )  # fmt: skip
        date = formatdate().encode()
        head += b"by %b (Postfix) with ESMTP id %b;\n\t%b\n" % (host, queue, date)
        return b"".join([head, *self._kept])
