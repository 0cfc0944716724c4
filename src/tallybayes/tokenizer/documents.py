"""Documents: texts as Python or Arrow holds them, read where they are."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.tokenizer.words import in_utf8

Array = NDArray[Any]
Integers = NDArray[np.int64]


class Memory(NamedTuple):
    """Where the bytes of each document are, and who keeps them there."""

    address: Integers
    size: Integers
    owner: Any


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
        self.missing: NDArray[np.bool_] | None = None
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
            return np.ascontiguousarray(array)
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
            return self._arrow_memory.size
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

    def memory(self, rows: Array) -> Memory:
        """Return where the documents of these rows are, as UTF-8."""
        if self._arrow is not None:
            every = self._arrow_memory
            return Memory(every.address[rows], every.size[rows], every.owner)
        from tallybayes.kernels.compiled_tokens import addresses

        objects = self._texts[rows]
        encoded = ~np.fromiter(map(str.isascii, objects.tolist()), bool, len(objects))
        for row in np.flatnonzero(encoded).tolist():
            # ASCII is UTF-8 already; a str would keep the UTF-8 of anything else for ever
            objects[row] = in_utf8(objects[row]).encode()
        address, size = np.zeros(len(objects), np.int64), np.zeros(len(objects), np.int64)
        addresses(_pointers(objects), encoded, address, size)
        return Memory(address, size, objects)

    @cached_property
    def _arrow_memory(self) -> Memory:
        import pyarrow

        assert self._arrow is not None
        address, size = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        chunks = [_with_offsets(chunk) for chunk in self._arrow.chunks]
        start = 0
        for chunk in chunks:
            n = len(chunk)
            _, offsets, data = chunk.buffers()
            large = pyarrow.types.is_large_string(chunk.type) or pyarrow.types.is_large_binary(
                chunk.type
            )
            if n and data is not None:
                kind = np.dtype(np.int64 if large else np.int32)
                edges = np.frombuffer(offsets, kind, n + 1, chunk.offset * kind.itemsize)
                here = slice(start, start + n)
                address[here] = data.address + edges[:-1].astype(np.int64)
                size[here] = np.diff(edges)
            start += n
        if self.missing is not None:
            size[self.missing] = 0
        return Memory(address, size, chunks)


def _pointers(objects: Array) -> Array:
    """Return where the objects of an array are: an array of objects is one of their addresses."""
    raw: Any = (ctypes.c_char * objects.nbytes).from_address(objects.ctypes.data)
    return np.frombuffer(raw, np.intp) if len(objects) else np.zeros(0, np.intp)


def _with_offsets(chunk: Any) -> Any:
    """Return an Arrow array in the form of bytes and offsets."""
    import pyarrow

    is_ = pyarrow.types
    plain = (is_.is_string, is_.is_large_string, is_.is_binary, is_.is_large_binary)
    if any(each(chunk.type) for each in plain):
        return chunk
    text = is_.is_string_view(chunk.type)
    return chunk.cast(pyarrow.large_string() if text else pyarrow.large_binary())


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
