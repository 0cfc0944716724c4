"""Documents: texts as Python or Arrow holds them, and their bytes for the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Integers
from tallybayes.errors import TallyBayesError
from tallybayes.tokenizer.words import in_utf8


class Letters(NamedTuple):
    """Documents in UTF-8: where each begins and ends among the letters."""

    letters: NDArray[np.uint8]
    starts: Integers
    ends: Integers

    @classmethod
    def joined(cls, parts: Sequence[bytes]) -> Letters:
        """Return documents that stand one behind the other."""
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        ends = np.cumsum(sizes)
        return cls(np.frombuffer(b"".join(parts) or b" ", np.uint8), ends - sizes, ends)

    def spelled(self, some: NDArray[np.bool_], speller: Callable[[str], str]) -> Letters:
        """Return the documents, of which some are spelled anew."""
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        parts = [self.letters[start:end].tobytes() for start, end in places]
        for row in np.flatnonzero(some).tolist():
            parts[row] = speller(parts[row].decode()).encode()
        return Letters.joined(parts)


class Documents:
    """Some texts in a row; a missing one is empty and marked.

    Parameters
    ----------
    texts
        A sequence of str or bytes, None (or NaN) where missing, or an Arrow array of text. What is
        not UTF-8, and half a surrogate pair, is replaced by U+FFFD.
    where, start
        What to call the texts in errors, and the number of the first row.
    """

    def __init__(self, texts: Any, where: str = "the documents", start: int = 0) -> None:
        self._arrow: Any = None
        if hasattr(texts, "chunks"):
            self._arrow, texts = _sound(texts)
        if self._arrow is None:
            missing = self._as_text(texts, where, start)
        else:
            missing = self._arrow.is_null().to_numpy(zero_copy_only=False)
        self.missing: NDArray[np.bool_] | None = missing if missing.any() else None

    def _as_text(self, texts: Any, where: str, start: int) -> NDArray[np.bool_]:
        """Keep the texts as an array of str; return marks of those that are missing."""
        values = texts.tolist() if hasattr(texts, "tolist") else list(texts)
        missing = np.zeros(len(values), bool)
        for row, text in enumerate(values) if not set(map(type, values)) <= {str} else ():
            nan = isinstance(text, float | np.floating) and text != text
            if isinstance(text, str):
                values[row] = str(text)
            elif isinstance(text, bytes | bytearray):
                values[row] = text.decode("utf-8", "replace")
            elif text is None or nan or type(text).__name__ in ("NAType", "NaTType"):
                values[row], missing[row] = "", True
            else:
                many = isinstance(text, list | tuple)
                hint = "join tokens with ' '.join(tokens)" if many else "convert it with str()"
                raise TallyBayesError(
                    f"{where}: row {start + row} holds {type(text).__name__}, where text was "
                    f"expected; {hint}"
                )
        self._texts = np.empty(len(values), object)
        self._texts[:] = values
        return missing

    def __len__(self) -> int:
        return len(self._texts if self._arrow is None else self._arrow)

    @cached_property
    def sizes(self) -> Integers:
        """The size of each document: bytes if it is in Arrow's memory, otherwise characters."""
        if self._arrow is None:
            return np.fromiter(map(len, self._texts.tolist()), np.int64, len(self))
        return self._in_arrow.ends - self._in_arrow.starts

    def strings(self) -> list[str]:
        """Return the documents as Python strings."""
        if self._arrow is None:
            return [in_utf8(text) for text in self._texts.tolist()]
        return [text or "" for text in self._arrow.to_pylist()]

    def letters(self, rows: Array) -> Letters:
        """Return the documents of these rows in UTF-8."""
        if self._arrow is not None:
            letters, starts, ends = self._in_arrow
            return Letters(letters, starts[rows], ends[rows])
        texts = self._texts[rows].tolist()
        try:
            return Letters.joined([text.encode() for text in texts])
        except UnicodeEncodeError:
            return Letters.joined([in_utf8(text).encode() for text in texts])

    @cached_property
    def _in_arrow(self) -> Letters:
        """All documents, in Arrow's memory."""
        _, offsets, data = self._arrow.buffers()
        letters = np.frombuffer(data if data is not None and data.size else b" ", np.uint8)
        letters.flags.writeable = False  # kernels are compiled for one kind of array
        n = len(self)
        edges = np.frombuffer(offsets, np.int64, n + 1, 8 * self._arrow.offset) if n else [0]
        starts, ends = np.array(edges[:-1], np.int64), np.array(edges[1:], np.int64)
        if self.missing is not None:  # what stands behind a missing text is not read
            ends[self.missing] = starts[self.missing]
        return Letters(letters, starts, ends)


def _sound(texts: Any) -> tuple[Any, Any]:
    """Return an Arrow array as long strings in one piece, or the bytes of what is not UTF-8."""
    import pyarrow

    try:
        strings = texts.cast(pyarrow.large_string())
        strings.validate(full=True)
    except pyarrow.ArrowInvalid:
        return None, texts.cast(pyarrow.large_binary()).to_pylist()
    return strings.combine_chunks(), None
