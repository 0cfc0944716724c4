"""A proxy for SMTP and LMTP: mail goes on to the next server, with fields in front of its header.

Commands and replies pass one by one as they are, so the next server decides who may send what to
whom, and a message is accepted when it was accepted there, not before. Only the message itself is
kept back, on disk where it is long, until it is judged.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from tempfile import SpooledTemporaryFile

from tallybayes.spam.desk import Desk
from tallybayes.spam.messages import MOST_BYTES

PATIENCE = 300.0  # seconds to wait for a line, a reply, or more of a message
CHUNK = 1 << 16
LONGEST_LINE = 1 << 13  # of a command
END = b"\r\n.\r\n"
REFUSED = (b"STARTTLS", b"AUTH", b"BDAT")  # what would hide the message
HIDDEN = re.compile(rb"\d{3}[- ](?:STARTTLS|AUTH|CHUNKING|BINARYMIME)\b", re.I)
_ADDRESS = re.compile(rb"RCPT\s+TO:\s*<([^>]*)>", re.I)


class ProxySession:
    """A connection over which messages come.

    Parameters
    ----------
    desk
        What judges them.
    reader, writer
        The connection.
    forward
        The host and port of the next server.
    longest
        The bytes that a message may have.
    lmtp
        Whether each recipient gets a reply to a message.
    """

    def __init__(
        self,
        desk: Desk,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        forward: tuple[str, int],
        longest: int,
        lmtp: bool,
    ) -> None:
        self._desk, self._reader, self._writer = desk, reader, writer
        self._forward, self._longest, self._lmtp = forward, longest, lmtp
        self._rest = b""  # what came and was not looked at yet
        self._recipients: list[str] = []
        self.busy = False

    async def run(self) -> None:
        """Pass commands on, and messages with what they are."""
        try:
            async with asyncio.timeout(PATIENCE):
                hop = await asyncio.open_connection(*self._forward)
        except OSError:
            await self._say(b"421 4.4.1 The next server cannot be reached\r\n")
            return
        self._next, self._hop = hop
        try:
            await self._say(await self._reply())
            while await self._command():
                pass
        finally:
            self._hop.close()

    async def _command(self) -> bool:
        """Pass a command on; tell whether another may come."""
        line = await self._line()
        verb = line.split()[0].upper() if line.strip() else b""
        if verb == b"DATA" and self._recipients:
            await self._message()
            return True
        if verb in REFUSED:
            await self._say(b"502 5.5.1 Not here\r\n")
            return True
        reply = await self._asked(line)
        if verb in (b"EHLO", b"LHLO"):
            lines = [each for each in reply.splitlines(True) if not HIDDEN.match(each)]
            lines[-1] = lines[-1][:3] + b" " + lines[-1][4:]
            reply = b"".join(lines)
        elif verb == b"RCPT" and reply.startswith(b"2"):
            found = _ADDRESS.match(line)
            self._recipients.append(found[1].decode("utf-8", "replace") if found else "")
        elif verb in (b"MAIL", b"RSET"):
            self._recipients = []
        self.busy = bool(self._recipients)
        await self._say(reply)
        return verb != b"QUIT"

    async def _message(self) -> None:
        """Take a message, have it judged, and pass it on."""
        await self._say(b"354 End data with <CR><LF>.<CR><LF>\r\n")
        with SpooledTemporaryFile(MOST_BYTES + CHUNK) as file:
            fault = await self._taken(file)
            if not fault:
                file.seek(0)
                raw = re.sub(rb"(?m)^\.", b"", file.read(MOST_BYTES))
                fields = await self._desk.fields(raw, self._recipients)
                if fields is None:
                    fault = b"451 4.3.0 The filter has a fault; try again later\r\n"
            if not fault:
                reply = await self._asked(b"DATA\r\n")
                fault = b"" if reply.startswith(b"3") else reply
            replies = len(self._recipients) if self._lmtp else 1
            if fault:
                await self._say(fault * replies)
            else:
                file.seek(0)
                self._hop.write("".join(f"{field}\r\n" for field in fields or ()).encode("ascii"))
                while chunk := file.read(CHUNK):
                    self._hop.write(chunk)
                    await self._hop.drain()
                self._hop.write(b".\r\n")
                for _ in range(replies):
                    await self._say(await self._reply())
        self._recipients, self.busy = [], False
        if fault:  # the next server still waits for this message
            await self._asked(b"RSET\r\n")

    async def _taken(self, file: SpooledTemporaryFile[bytes]) -> bytes:
        """Write a message to a file up to its end; return why it cannot be taken."""
        data, size, bare = b"\r\n" + self._rest, -2, False  # before the first line a line ends
        while True:
            end = data.find(END)
            # what may be the beginning of the end, or half of the end of a line, has to wait
            ready = data[: end + 2] if end >= 0 else data[: -len(END)].removesuffix(b"\r")
            bare = bare or ready.count(b"\n") != ready.count(b"\r\n")
            if size + len(ready) <= self._longest:
                file.write(ready[max(0, -size) :])
            size += len(ready)
            if end >= 0:
                break
            data = data[len(ready) :] + await self._more()
        self._rest = data[end + len(END) :]
        if size > self._longest:
            return b"552 5.3.4 The message is too long\r\n"
        # servers differ in what they take such a line for, so that one could hide a message
        return b"550 5.6.0 A line does not end with <CR><LF>\r\n" if bare else b""

    async def _more(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            more = await self._reader.read(CHUNK)
        if not more:
            raise EOFError
        return more

    async def _line(self) -> bytes:
        """Return the next command."""
        while b"\n" not in self._rest:
            if len(self._rest) > LONGEST_LINE:
                raise ValueError("a command without end")
            self._rest += await self._more()
        line, _, self._rest = self._rest.partition(b"\n")
        return line.rstrip(b"\r") + b"\r\n"

    async def _say(self, reply: bytes) -> None:
        self._writer.write(reply)
        async with asyncio.timeout(PATIENCE):
            await self._writer.drain()

    async def _asked(self, line: bytes) -> bytes:
        """Send a command to the next server, and return its reply."""
        self._hop.write(line)
        return await self._reply()

    async def _reply(self) -> bytes:
        """Return the next reply of the next server."""
        lines = list[bytes]()
        async with asyncio.timeout(PATIENCE):
            while not lines or lines[-1][3:4] == b"-":
                line = await self._next.readline()
                if not line.endswith(b"\n"):  # it is gone, in the middle of something perhaps
                    with suppress(OSError):
                        await self._say(b"421 4.4.2 The next server is gone\r\n")
                    raise EOFError
                lines.append(line)
        return b"".join(lines)
