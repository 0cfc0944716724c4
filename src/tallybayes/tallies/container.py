"""The bytes of a tally, and of a model file: a safetensors file that ends with a digest.

Arrays are tensors. Everything else, the manifest, is MessagePack in a tensor of bytes, and is read
into typed structs. The last 32 bytes are the SHA-256 of all that stands before them, so that every
cut, every changed bit and every byte more is noticed before anything is interpreted. Nothing in it
runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from hashlib import sha256
from itertools import pairwise
from operator import lt, or_
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec import Struct, json, msgpack

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError
from tallybayes.kinds import KINDS, Kind
from tallybayes.rendering.words import Target, label, labels_of, plain
from tallybayes.schema import Schema
from tallybayes.sources.atomic_file import cannot
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.sources.tables import NumberedNames
from tallybayes.sources.weights import MOST_WEIGHT
from tallybayes.tokenizer.terms import Terms

K = TypeVar("K", bound=Kind)

FORMAT = 2  # the version that is written, and the greatest that is read
BEGINNING = 64  # bytes that say whose the rest are
DIGEST = 32  # bytes
ALIGNED = 8  # bytes of which the header is a multiple, or numbers behind it stood askew
LONGEST_HEADER = 2**24  # bytes: more arrays than any model has
MOST_COLUMNS = 10_000_000  # far more than anyone has, and few enough to list
MOST_EMPTY = 1_000_000  # columns that have no sums, which a few bytes can claim
MOST_SAID = 300  # characters about what is wrong, which may quote a file

_OURS = re.compile(rb'(?s).{8}\{"__metadata__":\{"tallybayes":"(tally|model file) (\d{1,9})"')


class RefusedError(Exception):
    """What is wrong with some bytes: the end of a sentence that begins with their name."""


def version_of(what: str, data: bytes) -> int | None:
    """Return the format of a tally or model that begins so, be it cut or damaged later."""
    found = _OURS.match(data[:BEGINNING])
    return int(found[2]) if found is not None and found[1].decode() == what else None


def pack(what: str, manifest: Struct, arrays: Mapping[str, Array], form: Any) -> list[Any]:
    """Return the buffers that make up the bytes; `form` is the type as which they are read."""
    try:
        encoded = msgpack.encode(manifest, enc_hook=_plain)
        msgpack.decode(encoded, type=form)  # or it is not written
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TallyBayesError(
            f"the {what} cannot be stored: {error}; it may hold text, numbers of 64 bits, lists, "
            "mappings, families and kinds"
        ) from error
    # put together here, with no more copies than there must be of what may be most of the memory
    tensors = {**arrays, "manifest": np.frombuffer(encoded, np.uint8)}

    def rank(name: str) -> tuple[Any, ...]:
        """Return the place that safetensors gives a tensor: wide numbers before bytes."""
        kind = tensors[name].dtype
        return -kind.itemsize, kind.kind == "f", name

    order = sorted(tensors, key=rank)
    tensors["sha256"] = np.zeros(DIGEST, np.uint8)
    header: dict[str, Any] = {"__metadata__": {"tallybayes": f"{what} {FORMAT}"}}
    end, parts = 0, list[Any]()
    for name in (*order, "sha256"):
        array = np.ascontiguousarray(tensors[name], tensors[name].dtype.newbyteorder("<"))
        start, end = end, end + array.nbytes
        kind = f"{array.dtype.kind.upper()}{8 * array.itemsize}"
        header[name] = {"dtype": kind, "shape": tensors[name].shape, "data_offsets": (start, end)}
        parts.append(array.reshape(-1).view(np.uint8).data)
    text = json.encode(header)
    text += b" " * (-len(text) % ALIGNED)
    parts = [len(text).to_bytes(8, "little") + text, *parts[:-1]]
    digest = sha256()
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def unpack(what: str, data: Any, form: Any) -> tuple[Any, Arrays]:
    """Return the manifest, as the type `form`, and the arrays of bytes that `pack` made."""
    from safetensors.numpy import load

    data = bytes(data)
    version = version_of(what, data)
    if version is None:
        why = "it does not begin like one; give what tallybayes wrote"
        raise RefusedError(f"is not a {what}: {why}")
    if version > FORMAT:
        raise RefusedError(
            f"was made by a newer version of tallybayes: its format is {version}, and this one "
            f"reads up to {FORMAT}; upgrade, for example with pip install -U tallybayes"
        )
    if sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
        raise RefusedError(
            "is cut or damaged: it does not have the digest that it should; restore it from a "
            "copy, or make it anew"
        )
    require(int.from_bytes(data[:8], "little") <= LONGEST_HEADER)
    tensors = load(data)
    del tensors["sha256"]
    return msgpack.decode(tensors.pop("manifest").data, type=form), Arrays(tensors)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn whatever goes wrong with foreign bytes into one error that names them.

    Whoever wrote them chose what is read, so that anything may go wrong.
    """
    try:
        yield
    except RefusedError as error:
        raise TallyBayesError(f"{name} {error}") from error
    except OSError as error:
        raise cannot("read", name, error) from error
    except MemoryError as error:
        raise TallyBayesError(
            f"{name} does not fit into memory; free some, or use a larger machine"
        ) from error
    except Exception as error:
        raise TallyBayesError(
            f"{name} cannot be read by this version of tallybayes: {label(error, MOST_SAID)}; "
            "upgrade it, or import what registers the families and kinds, or make it anew"
        ) from error


def require(sound: Any) -> None:
    """Stop reading if something does not hold, or not for all of an array."""
    if not np.all(sound):
        raise ValueError("its parts do not fit together")


def require_weights(weight: Array) -> None:
    """Refuse sums of weights that no rows have: products of them leave the range of numbers."""
    require((weight == 0.0) | ((weight >= 1e-10 / MOST_WEIGHT) & (weight <= 1e20 * MOST_WEIGHT)))


class Arrays(dict[str, Array]):
    """Arrays that were read, to be taken by their names, each with the expected shape."""

    def take(self, name: str, shape: tuple[int | None, ...], dtype: Any) -> Array:
        """Take an array; its shape (None: any) and type must be as expected."""
        array = self.pop(name)
        sides = zip(array.shape, shape, strict=True)
        require(array.dtype == dtype and all(want is None or have == want for have, want in sides))
        require(array.dtype.kind != "f" or bool(np.isfinite(array).all()))
        return array

    def under(self, name: str) -> Arrays:
        """Take those whose names begin so."""
        names = [each for each in self if each.startswith(name)]
        return Arrays({each.removeprefix(name): self.pop(each) for each in names})

    def terms(self) -> Terms:
        """Take words: UTF-8, distinct, in the order of the alphabet; refuse all else."""
        letters, edges = self.take("letters", (None,), np.uint8), self.take("edges", (None,), int)
        require(len(edges) > 0 and edges[0] == 0 and edges[-1] == len(letters))
        require(bool((np.diff(edges) >= 0).all()))
        raw = letters.tobytes()
        raw.decode()  # all at once; then no word may begin within a character
        starts = letters[edges[:-1][edges[:-1] < len(letters)]]
        require(bool((starts & 0xC0 != 0x80).all()))
        words = [raw[a:b] for a, b in pairwise(edges.tolist())]
        require(all(map(lt, words, words[1:])))  # the order of UTF-8 is that of code points
        return Terms.of_letters(letters, edges)


def _plain(value: Any) -> Any:
    """Return what MessagePack has no form for in another; refuse what has none."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):  # a name that has a title
        return plain(value)
    if callable(value):
        raise TypeError(
            f"{value!r} is a function, which whoever reads the file would run; of words name "
            "the tokens: 'words', 'unicode', 'whitespace' or 'characters'"
        )
    raise TypeError(f"{value!r} is of no type that a file can hold")


def any_of(values: Iterable[Any], registered: Mapping[str, type]) -> Any:
    """Return the type of any value of the registered classes; refuse values of others."""
    classes = tuple(registered.values())
    for value in values:
        if type(value) not in classes:
            raise TallyBayesError(
                f"{value!r} cannot be stored: a file holds only families and kinds that are known "
                "by name; use one of those, or enter yours with @register or @register_kind"
            )
    return reduce(or_, classes)


class TallyManifest(Struct, Generic[K], frozen=True, forbid_unknown_fields=True):
    """What belongs to a tally beside its arrays.

    Of a matrix without names the number of columns is stated. Where all columns have one kind, or
    one reason for it, that is there once. `extra` has the columns that each unit reads, `labels`
    the values by which each block counted, if it did, `dates` the zones of columns of dates,
    `called` the names of classes, and `titles` what people read for names of columns.
    """

    names: int | tuple[str, ...]
    kinds: tuple[K, ...]
    reasons: tuple[str, ...]
    target: str
    extra: tuple[tuple[K, tuple[tuple[int, ...], ...]], ...]
    classes: tuple[Label, ...]
    labels: tuple[tuple[tuple[Label | tuple[Label, ...], ...], ...] | None, ...]
    dates: tuple[tuple[str, str], ...] = ()
    called: tuple[tuple[str, str], ...] = ()
    titles: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(schema: Schema, classes: tuple[Label, ...], labels: Any) -> TallyManifest[Kind]:
        """Describe a tally that has this schema and these classes."""
        names, kinds = schema.names, _once(schema.kinds)
        extra: Any = tuple((group.kind, group.reads) for group in schema.extra)
        any_of([*kinds, *(kind for kind, _ in extra)], KINDS)
        stated = len(names) if isinstance(names, NumberedNames) else tuple(names)
        reasons = _once(schema.reasons)
        called = tuple(labels_of(schema.target).items())
        said = schema.target, extra, classes, labels, schema.dates, called
        return TallyManifest(stated, kinds, reasons, *said, tuple(schema.titles.items()))

    @staticmethod
    def form() -> Any:
        """Return the type as which it is read: one with all kinds that are registered."""
        manifest: Any = TallyManifest
        return manifest[any_of((), KINDS)]

    @property
    def schema(self) -> Schema:
        """The schema; anything that no schema is is an error."""
        most = MOST_COLUMNS if self.classes else MOST_EMPTY
        require(isinstance(self.names, tuple) or 0 <= self.names <= most)
        names: Any = self.names if isinstance(self.names, tuple) else NumberedNames(self.names)
        require(isinstance(names, NumberedNames) or len(set(names)) == len(names))
        kinds: Any = self.kinds
        require(all(kind.settled("a column") == kind for kind in kinds))
        require(all(v == v for kind in kinds for v in getattr(kind, "values", ())))  # no NaN
        kinds, reasons = (
            each * len(names) if len(each) == 1 else each for each in (kinds, self.reasons)
        )
        require(len(kinds) == len(reasons) == len(names))
        require(len({name for _, name in self.called}) == len(dict(self.called)))
        target = Target.of(self.target, dict(self.called))
        schema = Schema(names, kinds, reasons, target, (), self.dates).titled(dict(self.titles))
        if self.dates:
            require(len(dict(self.dates)) == len(self.dates))
            require(set(schema.inputs).issuperset(dict(self.dates)))
        for kind, units in self.extra:
            places = [place for unit in units for place in unit]
            require(all(0 <= place < len(names) for place in places))
            schema = schema.with_extra(kind, *(tuple(names[k] for k in unit) for unit in units))
        return schema


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a single value if all are equal."""
    return values[:1] if values and values.count(values[0]) == len(values) else values


def require_labels(labels: Sequence[Any]) -> None:
    """Refuse labels that are not sorted, distinct and of one type, as those of a tally are."""
    parts = [part for each in labels for part in (each if isinstance(each, tuple) else (each,))]
    require(len(set(map(type, labels))) <= 1 and all(part == part for part in parts))
    require(tuple(labels) == sorted_labels(labels, "the labels"))
