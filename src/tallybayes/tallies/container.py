"""The bytes form of a tally: a magic line, a JSON manifest, plain arrays. Nothing in it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.kinds import KINDS, Categories, Intervals, Kind
from tallybayes.schema import Group, Schema
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.sources.tables import NumberedNames
from tallybayes.tokenizer import Idf

MOST_COLUMNS = 10_000_000  # far more than anyone has, and few enough to list

MAGIC = b"tally\x001\n"
_NOT_A_TALLY = "these bytes are not a tally, or are cut or damaged; write them anew with to_bytes()"


class NotATallyError(TallyBayesError):
    """Something that was read does not fit together as a tally does."""


def pack(manifest: dict[str, Any], arrays: list[NDArray[Any]]) -> bytes:
    """Put a manifest and arrays into one string of bytes."""
    described = {**manifest, "arrays": [[a.dtype.str, list(a.shape)] for a in arrays]}
    head = json.dumps(described, separators=(",", ":"), allow_nan=False).encode()
    parts = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return b"".join([MAGIC, len(head).to_bytes(8, "little"), head, *parts])


def unpack(data: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Read the manifest and the arrays back, checking every length."""
    with trouble_explained():
        require(bytes(data[: len(MAGIC)]) == MAGIC)
        start = len(MAGIC) + 8
        end = start + int.from_bytes(data[len(MAGIC) : start], "little")
        manifest = json.loads(bytes(data[start:end]).decode())
        arrays = []
        for dtype, shape in manifest["arrays"]:
            require(dtype in ("<i8", "<f8", "|u1") and len(shape) <= 2)
            require(all(isinstance(side, int) and side >= 0 for side in shape))
            count = prod(shape)
            stop = end + count * np.dtype(dtype).itemsize
            require(len(data) >= stop)
            arrays.append(np.frombuffer(data, dtype, count, end).reshape(shape).copy())
            end = stop
        require(len(data) == end)
        return manifest, arrays


def plain_label(label: Any) -> Any:
    """Return a label as plain data; infinity has no name in JSON."""
    if isinstance(label, tuple):
        return [plain_label(part) for part in label]
    if isinstance(label, float) and not isfinite(label):
        return {"float": repr(float(label))}
    return label


def label_from(plain: Any) -> Label:
    """Return the label that `plain_label` described."""
    if isinstance(plain, dict):
        require(plain in ({"float": "inf"}, {"float": "-inf"}))
        return float(plain["float"])
    require(isinstance(plain, str | bool | int | float) and plain == plain)
    label: Label = plain
    return label


def plain_labels(labels: Iterable[Label]) -> list[Any]:
    """Return labels as plain data."""
    return [plain_label(label) for label in labels]


def labels_from(plain: Any, tuples: bool = False) -> tuple[Label, ...]:
    """Return labels that are sorted, distinct and of one type, as a tally has them.

    What was counted of several columns together has `tuples` of labels.
    """
    require(isinstance(plain, list))
    labels: tuple[Any, ...] = tuple(
        tuple(map(label_from, each)) if tuples and isinstance(each, list) else label_from(each)
        for each in plain
    )
    require(len(set(map(type, labels))) <= 1 and labels == sorted_labels(labels, "the bytes"))
    return labels


class Arrays:
    """Arrays that were read, to be taken one after the other, each with the expected shape."""

    def __init__(self, arrays: Iterable[NDArray[Any]]) -> None:
        self._left = list(arrays)

    def take(self, shape: tuple[int | None, ...], dtype: Any) -> NDArray[Any]:
        """Take the next array; its shape (None: any) and type must be as expected."""
        array = self._left.pop(0)
        sides = zip(array.shape, shape, strict=True)
        require(array.dtype == dtype and all(want is None or have == want for have, want in sides))
        require(array.dtype.kind != "f" or bool(np.isfinite(array).all()))
        return array

    def __len__(self) -> int:
        return len(self._left)


def require(sound: bool) -> None:
    """Stop reading if something does not hold."""
    if not sound:
        raise NotATallyError(_NOT_A_TALLY)


@contextmanager
def trouble_explained() -> Iterator[None]:
    """Turn whatever goes wrong with foreign bytes into the one error."""
    try:
        yield
    except TallyBayesError:
        raise
    except (
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError
    ) as error:  # fmt: skip
        raise NotATallyError(_NOT_A_TALLY) from error


def describe(schema: Schema) -> dict[str, Any]:
    """Return a schema as plain data."""
    names = schema.names
    groups = [
        _plain_group(group, positions=None if isinstance(group.reads, range) else group.reads)
        for group in schema.groups[: len(schema.groups) - len(schema.extra)]
    ]
    plain = {
        "names": len(names) if isinstance(names, NumberedNames) else list(names),
        "groups": groups,
        "declared": {name: plain_labels(values) for name, values in schema.declared.items()},
        "edges": {name: list(edges) for name, edges in schema.edges.items()},
        "reasons": None if len(set(schema.reasons)) == 1 else list(schema.reasons),
        "reason": schema.reasons[0] if schema.reasons else "declared",
        "target": schema.target,
    }
    if schema.extra:
        plain["extra"] = [_plain_group(group, reads=list(group.reads)) for group in schema.extra]
    return plain


def _plain_group(group: Group, **reads: Any) -> dict[str, Any]:
    options = {k: v for k, v in plain_kind(group.kind).items() if k not in ("values", "edges")}
    return {"kind": type(group.kind).__name__, "options": options, **reads}


def plain_kind(kind: Kind) -> dict[str, Any]:
    """Return the options of a kind as plain data."""
    if KINDS.get(type(kind).__name__) is not type(kind):
        raise TallyBayesError(
            f"{kind!r} is not known by name, so it cannot be stored; enter it with @register_kind"
        )
    options = {name: getattr(kind, name) for name in kind.__struct_fields__}
    if callable(options.get("tokens")):
        raise TallyBayesError(
            "tokens is a function, which cannot be stored; only the tokens that have names can"
        )
    if isinstance(options.get("idf"), Idf):
        idf = options["idf"]
        options["idf"] = dict(zip(idf.terms, idf.values.tolist(), strict=True))
    return options


def kind_from(name: str, options: dict[str, Any]) -> Kind:
    """Build the kind that `plain_kind` described."""
    if options.get("idf") is not None:
        options = {**options, "idf": Idf(options["idf"])}
    kind: Kind = KINDS[name](**options)
    return kind


def schema_from(plain: dict[str, Any]) -> Schema:
    """Build the schema that `describe` described."""
    names = plain["names"]
    require(isinstance(names, list) or (isinstance(names, int) and 0 <= names <= MOST_COLUMNS))
    names = NumberedNames(names) if isinstance(names, int) else tuple(names)
    require(isinstance(plain["target"], str) and all(isinstance(n, str) for n in names))
    require(isinstance(names, NumberedNames) or len(set(names)) == len(names))
    groups = []
    for group in plain["groups"]:
        places = group["positions"]
        if places is not None:
            require(all(isinstance(p, int) and 0 <= p < len(names) for p in places))
        reads = range(len(names)) if places is None else tuple(places)
        groups.append(Group(kind_from(group["kind"], group["options"]), reads))
    require(sum(map(len, groups)) == len(names))
    declared = {name: labels_from(values) for name, values in plain["declared"].items()}
    edges = {name: Intervals(each).edges for name, each in plain.get("edges", {}).items()}

    def own(kind: Kind, name: str) -> Kind:
        if kind == Intervals():
            found = edges.pop(name)
            require(found is not None)
            return Intervals(found)
        return Categories(declared.pop(name, ())) if kind == Categories() else kind

    if len(groups) == 1 and not declared and not edges:
        # of a few bytes that speak of many columns, no list is made
        require(groups[0].kind != Intervals())
        settled = (groups[0].kind,) * len(names)
    else:
        require(len(edges) == sum(len(group) for group in groups if group.kind == Intervals()))
        kinds: dict[int, Kind] = {}
        for group in groups:
            for (place,) in map(group.columns, range(len(group))):
                kinds[place] = own(group.kind, names[place])
        require(len(kinds) == len(names) and not declared)
        settled = tuple(kinds[place] for place in range(len(names)))
    reasons = plain["reasons"] or [plain["reason"]] * len(names)
    require(len(reasons) == len(names) and all(isinstance(each, str) for each in reasons))
    schema = Schema(names, settled, tuple(reasons), plain["target"])
    require(schema.groups == tuple(groups))  # in this order they were counted
    for each in plain.get("extra", ()):
        units = [tuple(columns) for columns in each["reads"]]
        require(all(isinstance(p, int) and 0 <= p < len(names) for unit in units for p in unit))
        named = [tuple(names[place] for place in unit) for unit in units]
        schema = schema.with_extra(kind_from(each["kind"], each["options"]), *named)
    return schema
