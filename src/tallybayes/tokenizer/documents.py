"""Documents: texts as Python or Arrow holds them, and their bytes for the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.tokenizer.words import in_utf8

Array = NDArray[Any]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class Letters(NamedTuple):
    """Documents as bytes: where each begins and ends among the letters, and which are ASCII."""

    letters: NDArray[np.uint8]
    starts: Integers
    ends: Integers
    in_ascii: Booleans


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
        self._arrow = texts if hasattr(texts, "chunks") else None
        self.missing: Booleans | None = None
        if self._arrow is None:
            self._texts = self._as_text(texts, where, start)
        elif self._arrow.null_count:
            self.missing = self._arrow.is_null().to_numpy(zero_copy_only=False)

    def _as_text(self, texts: Any, where: str, start: int) -> Array:
        """Return the texts as an array of str, and mark those that are missing."""
        array = texts if isinstance(texts, np.ndarray) and texts.dtype == object else None
        if array is None:
            array = np.empty(len(texts), object)
            array[:] = texts.tolist() if isinstance(texts, np.ndarray) else texts
        listed = array.tolist()
        if set(map(type, listed)) <= {str}:
            return array
        fixed = np.empty(len(listed), object)
        missing = np.zeros(len(listed), bool)
        for row, text in enumerate(listed):
            if isinstance(text, bytes | bytearray):
                fixed[row] = bytes(text).decode("utf-8", "replace")
            elif isinstance(text, str):
                fixed[row] = str(text)
            elif text is None or type(text).__name__ == "NAType" or _is_nan(text):
                fixed[row], missing[row] = "", True
            else:
                hint = "join tokens with ' '.join(tokens)" if isinstance(text, list | tuple) else ""
                raise TallyBayesError(
                    f"{where}: row {start + row} holds {type(text).__name__}, where text was "
                    f"expected; {hint or 'convert it with str()'}"
                )
        self.missing = missing if missing.any() else None
        return fixed

    def __len__(self) -> int:
        return len(self._texts if self._arrow is None else self._arrow)

    @cached_property
    def sizes(self) -> Integers:
        """The size of each document: bytes if it is in Arrow's memory, otherwise characters."""
        if self._arrow is not None:
            _, (_, starts, ends, _) = self._in_arrow
            sizes: Integers = ends - starts
            return sizes
        return np.fromiter(map(len, self._texts.tolist()), np.int64, len(self))

    def strings(self) -> list[str]:
        """Return the documents as Python strings."""
        if self._arrow is None:
            return [in_utf8(text) for text in self._texts.tolist()]
        import pyarrow

        try:
            found = self._arrow.cast(pyarrow.large_string()).to_pylist()
        except (UnicodeDecodeError, pyarrow.ArrowInvalid):
            raw = self._arrow.cast(pyarrow.large_binary()).to_pylist()
            found = [None if each is None else each.decode("utf-8", "replace") for each in raw]
        return [text or "" for text in found]

    def letters(self, rows: Array, spelled: Callable[[str], str]) -> Letters:
        """Return the documents of these rows as UTF-8: spelled, if they are not in ASCII."""
        if self._arrow is None:
            texts = self._texts[rows].tolist()
            in_ascii = np.fromiter(map(str.isascii, texts), bool, len(texts))
            if in_ascii.all():
                return _joined("".join(texts).encode(), self.sizes[rows], in_ascii)
            parts = [
                text.encode() if plain else _encoded(text, spelled)
                for text, plain in zip(texts, in_ascii.tolist(), strict=True)
            ]
        else:
            chunks, places = self._in_arrow
            places = places.take(rows, axis=1)
            starts, ends, in_ascii = places[1], places[2], places[3].astype(bool)
            if len(chunks) == 1 and in_ascii.all():
                return Letters(chunks[0], starts, ends, in_ascii)
            parts = []
            for chunk, start, end, plain in places.T.tolist():
                part = chunks[chunk][start:end].data
                parts.append(part if plain else _encoded(str(part, "utf-8", "replace"), spelled))
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        return _joined(b"".join(parts), sizes, in_ascii)

    @cached_property
    def _in_arrow(self) -> tuple[list[NDArray[np.uint8]], Integers]:
        """The bytes of each chunk; for each document its chunk, begin, end, and whether ASCII."""
        assert self._arrow is not None
        chunks: list[NDArray[np.uint8]] = []
        places = [np.zeros((4, 0), np.int64)]
        for chunk in map(_with_offsets, self._arrow.chunks):
            n = len(chunk)
            _, offsets, data = chunk.buffers()
            letters = np.frombuffer(data if data is not None and data.size else b" ", np.uint8)
            letters.flags.writeable = False  # kernels are compiled for one kind of array
            edges = np.zeros(1, np.int64)
            if n:
                edges = np.frombuffer(offsets, np.int64, n + 1, 8 * chunk.offset)
            of_chunk = np.full(n, len(chunks)), edges[:-1], edges[1:], _in_ascii(letters, edges)
            chunks.append(letters)
            places.append(np.stack(of_chunk).astype(np.int64))
        together = np.concatenate(places, axis=1)
        if self.missing is not None:  # what stands behind a missing text is not read
            together[2, self.missing] = together[1, self.missing]
        return chunks, together


def _joined(raw: bytes, sizes: Integers, in_ascii: Booleans) -> Letters:
    """Return documents that stand one behind the other."""
    ends = np.cumsum(sizes)
    return Letters(np.frombuffer(raw or b" ", np.uint8), ends - sizes, ends, in_ascii)


def _encoded(text: str, spelled: Callable[[str], str]) -> bytes:
    """Spell a text in UTF-8; what has none is replaced before."""
    try:
        return spelled(text).encode()
    except UnicodeEncodeError:
        return spelled(in_utf8(text)).encode()


def _in_ascii(letters: NDArray[np.uint8], edges: Integers) -> Booleans:
    """Mark the documents that are in ASCII."""
    in_ascii = np.ones(len(edges) - 1, bool)
    there = np.flatnonzero(edges[1:] > edges[:-1])
    if len(there) and letters[edges[0] : edges[-1]].max() >= 0x80:
        highest = np.maximum.reduceat(letters[: edges[-1]], edges[there])
        in_ascii[there] = highest < 0x80
    return in_ascii


def _with_offsets(chunk: Any) -> Any:
    """Return an Arrow array in the form of bytes and long offsets."""
    import pyarrow

    is_text = pyarrow.types.is_string_view(chunk.type)
    return chunk.cast(pyarrow.large_string() if is_text else pyarrow.large_binary())


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
