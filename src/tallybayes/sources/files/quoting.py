"""Where the records of CSV end: at line breaks that are not between quotes.

A quote opens a field only where the field begins: in 5" pipe it is a letter like any other. Where
all quotes come in pairs around fields it is enough to count them, which NumPy does for many at
once; elsewhere the quoted fields are gone through one by one.
"""

from __future__ import annotations

import re

import numpy as np

SEGMENT = 64 << 10


class Quoting:
    r"""The quotes of a file, and between what they may stand.

    Examples
    --------
    >>> Quoting('"', ",").record_end(b'a,b\n"c\nd'), Quoting("", ",").record_end(b'a,b\n"c\nd')
    (4, 7)
    >>> Quoting('"', ",").record_end(b'5" pipe,1\n"c\nd",2\n"e\n')
    18
    """

    def __init__(self, quote: str, delimiters: str) -> None:
        self.mark = quote.encode()
        if not quote:
            return
        between = (delimiters + "\r\n").encode()
        self._beside = np.zeros(256, np.bool_)  # what stands beside quotes that are in order
        self._beside[list(between + self.mark)] = True
        mark = re.escape(self.mark)
        first = b"(?<![^" + re.escape(between) + b"]" + mark + b")"
        inside = b"[^" + mark + b"]*+"
        self._field = re.compile(
            mark + first + inside + b"(?:" + mark * 2 + inside + b")*+(?:" + mark + rb"|\Z)"
        )

    def record_end(self, data: bytes) -> int:
        """Return where the last whole record ends, if a record begins where the data do."""
        limit = data.rfind(b"\n") + 1
        if not self.mark or self.mark not in data:
            return limit
        safe = 0
        while safe < limit:
            stop = data.rfind(b"\n", safe, safe + SEGMENT) + 1 or data.find(b"\n", safe) + 1
            if self._paired(data, safe, stop):
                safe = stop
            else:
                safe, closed = self._end_among_fields(data, safe, stop)
                if not closed:
                    break
        return safe

    def unclosed(self, data: bytes) -> bytes:
        """Return the record at the end of the data whose quote is never closed; b"" if none is."""
        if not self.mark or self.mark not in data:
            return b""
        return data[self.record_end(data if data.endswith(b"\n") else data + b"\n") :]

    def _paired(self, data: bytes, start: int, stop: int) -> bool:
        """Tell whether every other quote opens a field, or a pair in one, and the rest close it."""
        letters = np.frombuffer(data, np.uint8, stop - start, start)
        quotes = np.flatnonzero(letters == self.mark[0])
        if len(quotes) % 2:
            return False
        # before the first letter is a line break, as the last one is, which index -1 stands for
        before, after = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]
        return bool(self._beside[before].all() and self._beside[after].all())

    def _end_among_fields(self, data: bytes, start: int, stop: int) -> tuple[int, bool]:
        """Return the first end of a record from `stop` on, and that all quotes are closed there.

        If they are not, it is the last end before the quote that stays open.
        """
        at = start
        while True:
            for field in self._field.finditer(data, at, stop):
                at = field.end()
            if at < stop:
                return stop, True
            # the last field goes on: a line break stands before `stop`, and no quote
            opened = field.start()
            whole = self._field.match(data, opened)
            assert whole is not None
            at = whole.end()
            stop = data.find(b"\n", at) + 1
            if not stop:
                return self._end_before(data, start, opened), False

    def _end_before(self, data: bytes, start: int, opened: int) -> int:
        """Return the last end of a record before a quote."""
        end, at = start, start
        for field in self._field.finditer(data, start, opened):
            end = data.rfind(b"\n", at, field.start()) + 1 or end
            at = field.end()
        return data.rfind(b"\n", at, opened) + 1 or end
