"""Labels, of classes and of categories: plain Python values of one type, and codes for them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import Option, TallyBayesError

Label = str | bool | int | float
MOST_NUMBERS = 1_000  # that are classes
MANY_NUMBERS, FEWEST_ROWS = 100, 10  # so many are classes only if they have so many rows each


class Encoded(NamedTuple):
    """One code a row, -1 where the value is missing, and the label that each code stands for."""

    codes: NDArray[np.signedinteger[Any]]
    labels: tuple[Label, ...]


_TYPE_NAMES = {str: "text", bool: "booleans", int: "whole numbers", float: "decimal numbers"}


def is_missing(value: object) -> bool:
    """Tell whether a single value is None, NaN, pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def label_type(labels: Iterable[object], where: str) -> type | None:
    """Return the one type of the labels (None if there are none); several are an error."""
    types = sorted({type(label) for label in labels}, key=lambda each: each.__name__)
    if len(types) > 1:
        names = " and ".join(_TYPE_NAMES.get(each, each.__name__) for each in types)
        raise TallyBayesError(f"{where} mixes {names}; convert it to one type, for example text")
    return types[0] if types else None


def same_labels(a: tuple[Label, ...], b: tuple[Label, ...]) -> bool:
    """Tell whether two tuples of labels are equal in type too: True is not 1 here."""
    return a == b and (not a or type(a[0]) is type(b[0]))


def sorted_labels(labels: Iterable[Label], where: str) -> tuple[Label, ...]:
    """Sort labels of one type; the order in which they arrived leaves no trace.

    Integers beside floats that are whole become floats: a column of integers turns into one of
    floats where pandas has to mark a gap.
    """
    given = tuple(labels)
    distinct: dict[Label, None]  # in their order: what is sorted in part is sorted faster
    if set(map(type, given)) == {int, float} and all(float(each).is_integer() for each in given):
        distinct = dict.fromkeys(map(float, given))
    else:
        label_type(given, where)
        distinct = dict.fromkeys(given)
    return tuple(sorted(distinct))


def refuse_quantity(
    where: str, labels: Sequence[Label], n_rows: int, other: Option | None = None
) -> None:
    """Refuse to take numbers for classes that are rather measured or counted: too many of them."""
    n = len(labels)
    numbers = n > 0 and type(labels[0]) in (int, float)
    if numbers and (n > MOST_NUMBERS or (n > MANY_NUMBERS and n_rows < FEWEST_ROWS * n)):
        another = "" if other is None else f"name another {other}, "
        raise TallyBayesError(
            f"{where} has {n:,} different numbers in {n_rows:,} rows, from {labels[0]} to "
            f"{labels[-1]}, so it is a quantity and no class to predict; {another}sort its values "
            "into a few classes ('low', 'high'), or if they are names, write them as text",
            remedy=() if other is None else other,
        )


def encode(values: Any, where: str) -> Encoded:
    """Give every distinct value of a one-dimensional array a code.

    `where` names the data in errors: "the labels", "column 'status'".
    """
    array = as_vector(values, where)
    if array.dtype.kind == "b":
        return Encoded(array.astype(np.int8), (False, True))
    if array.dtype.kind in "iu":
        return _encode_integers(array)
    if array.dtype.kind == "f":
        return _encode_floats(array)
    return _encode_objects(array.tolist(), where)


def as_vector(values: Any, where: str) -> NDArray[Any]:
    """Return the values as a one-dimensional array of booleans, numbers, text or objects."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TallyBayesError(
            f"{where} must be a list or array, one value a row, not {type(values).__name__}"
        )
    if is_masked(values):
        array = unmasked(values)
    elif isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "__array__"):  # a pandas, polars or Arrow column
        try:
            array = np.asarray(values)
        except Exception as error:  # Arrow's, where text is not in UTF-8
            raise TallyBayesError(f"{where} cannot be read: {error}; convert it first") from None
    else:
        array = _from_list(list(values), where)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise TallyBayesError(
            f"{where} must have one dimension, one value a row; it has the shape {array.shape}"
        )
    if array.dtype.kind not in "biufUOT":
        raise TallyBayesError(
            f"{where} holds {array.dtype} values; convert them to numbers or text first"
        )
    return array


def is_masked(values: Any) -> bool:
    """Tell whether it is a masked array; there are none before numpy.ma is loaded."""
    return "numpy.ma" in sys.modules and bool(np.ma.isMaskedArray(values))


def unmasked(values: Any) -> NDArray[Any]:
    """Return a masked array as an ordinary one, with its masked values missing."""
    if values.dtype.kind in "biuf":
        array: NDArray[Any] = values.astype(np.float64).filled(np.nan)
    else:
        array = values.astype(object).filled(None)
    return array


def _from_list(values: list[Any], where: str) -> NDArray[Any]:
    """Make an array of a list without NumPy's silent conversion of numbers to text."""
    types = set(map(type, values))
    if types <= {int} or types <= {bool}:
        try:
            return np.array(values, dtype=bool if types == {bool} else np.int64)
        except OverflowError:
            raise TallyBayesError(f"{where} holds integers beyond 64 bits; use text") from None
    if types <= {int, float}:
        return np.array(values, dtype=np.float64)
    return np.fromiter(values, dtype=object, count=len(values))


def _encode_integers(array: NDArray[Any]) -> Encoded:
    if not len(array):
        return Encoded(array.astype(np.int32), ())
    least, greatest = int(array.min()), int(array.max())
    width = greatest - least + 1
    if width > max(4 * len(array), 65_536):  # too spread out for a table
        found, codes = np.unique(array, return_inverse=True)
        return Encoded(codes, tuple(found.tolist()))
    if least:  # a difference that does not fit a narrow type wraps around to the right one
        array = (array - array.dtype.type(least)).view(f"u{array.dtype.itemsize}")
    shifted = array.astype(np.int64, copy=False)
    present = np.bincount(shifted, minlength=width) > 0
    if present.all():
        return Encoded(shifted, tuple(range(least, greatest + 1)))
    labels = tuple(int(place) + least for place in np.flatnonzero(present))
    return Encoded((np.cumsum(present, dtype=np.int32) - 1)[shifted], labels)


def _encode_floats(array: NDArray[Any]) -> Encoded:
    there = ~np.isnan(array)
    values = array[there]
    if (
        len(values)
        and float(np.abs(values).max()) < 2**31
        and (values == (whole := values.astype(int))).all()
    ):
        inverse, labels = _encode_integers(whole)  # needs no sorting
        found = tuple(map(float, labels))
    else:
        distinct, inverse = np.unique(values, return_inverse=True)
        found = tuple(distinct.tolist())
    codes = np.full(len(array), -1, np.int32)
    codes[there] = inverse
    return Encoded(codes, found)


def _encode_objects(values: Sequence[Any], where: str) -> Encoded:
    """Encode Python values in one pass; missing ones get -1."""
    try:
        code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
        codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    except TypeError:
        raise _unusable(values, where) from None
    # NaN is unequal to itself, so several may have codes of their own: all are missing
    kept: dict[Label, int] = {}
    final = np.full(len(code_of) + 1, -1, np.int32)
    for value, code in code_of.items():
        if not is_missing(value):
            plain = _plain(value)
            if not isinstance(plain, str | bool | int | float):
                raise _unusable(values, where)
            final[code] = kept.setdefault(plain, len(kept))
    if {int, float} == set(map(type, kept)):  # a list of numbers with gaps
        kept = {float(label): code for label, code in kept.items()}
    if any(isinstance(label, int) and not -(1 << 63) <= label < 1 << 64 for label in kept):
        raise TallyBayesError(f"{where} holds integers beyond 64 bits; use text")
    label_type(kept, where)
    # True is 1 to Python, and shares its code
    if {0, 1} & code_of.keys() and {bool, np.bool_} & set(map(type, values)):
        label_type((_plain(value) for value in values if not is_missing(value)), where)
    return Encoded(final[codes], tuple(kept))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _unusable(values: Sequence[Any], where: str) -> TallyBayesError:
    """Build the error that names the first value that cannot be a label."""
    for row, value in enumerate(values):
        if not is_missing(value) and not isinstance(value, str | bool | int | float | np.generic):
            return TallyBayesError(
                f"{where} holds a {type(value).__name__} in row {row}; expected text, numbers or "
                "booleans"
            )
    return TallyBayesError(f"{where} holds values that are neither text, numbers nor booleans")
