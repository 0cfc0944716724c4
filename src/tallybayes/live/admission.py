"""Which records may enter a log: those that can be counted, now and in every replay.

A record is brought into the form in which it is counted: values of the type of their column, and
nothing for what is missing. What is new in a way that others could contradict at the same time (the
first value of a column, a class that never occurred) is *open*: it is tried out on the model while
nobody else appends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.kinds import Binary, Categories, Count, Intervals, Numeric
from tallybayes.model import Recipe
from tallybayes.model.plans import counted_types, type_of_labels
from tallybayes.sources.columns import PYTHON_TYPES
from tallybayes.sources.labels import Label, is_missing
from tallybayes.tallies import Tally
from tallybayes.tokenizer import Words

LARGEST = 1e100  # a number whose squares add up
INTEGERS = -(1 << 63), 1 << 63
LONGEST_TEXT = 1_000_000

Reader = Callable[[Any], Any]


class Admission:
    """What the records of a model must be, by its tally and recipes."""

    def __init__(self, tally: Tally, recipes: Mapping[str, Recipe]) -> None:
        schema = self.schema = tally.schema
        self.classes = frozenset(
            label for recipe in recipes.values() for label in recipe.classes(tally)
        )
        self._counted, every = tally.classes, tuple(self.classes)
        self._label_type = PYTHON_TYPES[type(every[0])] if every else None
        types, empty = counted_types(tally), set(tally.empty_columns())
        self._open = set()
        self._readers: dict[str, Reader] = {}
        for name in schema.names:
            kind = schema.kind(name)
            if isinstance(kind, Categories):
                declared = schema.declared.get(name, ())
                of_values = type_of_labels(declared) if declared else types[name]
                if name in empty and not declared:
                    self._open.add(name)
                    self._readers[name] = _plain
                else:
                    self._readers[name] = _VALUES[str(of_values)]
                if any(recipe.family_of(schema, name).is_stated for recipe in recipes.values()):
                    self._open.add(name)
            elif isinstance(kind, Words):
                self._readers[name] = _text
            elif isinstance(kind, Numeric):
                self._readers[name] = _above_zero if kind.log else _number
            elif isinstance(kind, Count):
                self._readers[name] = _count
            elif isinstance(kind, Binary | Intervals):
                self._readers[name] = _number
            else:
                self._open.add(name)
                self._readers[name] = _plain

    def settled_for(self, tally: Tally) -> bool:
        """Tell whether it holds for a tally that has learnt more of the same."""
        return not self._open and self._counted == tally.classes

    def label(self, label: Any) -> Label:
        """Return a label in the type of the classes."""
        if is_missing(label):
            raise TallyBayesError("the event has no label; say what was true of the record")
        try:
            found: Label = (_VALUES[self._label_type] if self._label_type else _plain)(label)
        except ValueError as error:
            raise TallyBayesError(f"the label is {label!r}, but {error}") from None
        return found

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record in the form in which it is counted; refuse what cannot be."""
        readers, plain = self._readers, {}
        for name, value in self.schema.laid_out(record).items():
            reader = readers.get(name)
            if reader is None:
                if name == self.schema.target:
                    continue
                self.schema.place_of(name)  # which has the error
            if value is None:
                continue
            try:
                plain[name] = reader(value)  # type: ignore[misc]
            except (ValueError, TypeError, OverflowError) as error:
                if is_missing(value):
                    continue
                raise TallyBayesError(
                    f"column {name!r} holds {_short(value)}, but {error}"
                ) from None
        return plain

    def is_open(self, record: Mapping[str, Any], label: Label) -> bool:
        """Tell whether a record has to be tried out before it is appended."""
        return label not in self.classes or not self._open.isdisjoint(record)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | bool | int | float):
        raise ValueError("text, a number or a boolean was expected")
    return _VALUES[PYTHON_TYPES[type(value)]](value)


def _number(value: Any) -> float:
    if type(value) is float and -LARGEST <= value <= LARGEST:  # nearly always
        return value
    if isinstance(value, str | bytes) or not isinstance(value, int | float | np.number | np.bool_):
        raise ValueError("a number was expected")
    found = float(value)
    if not -LARGEST <= found <= LARGEST:
        raise ValueError(f"a finite number was expected, no larger than {LARGEST:g}")
    return found


def _above_zero(value: Any) -> float:
    if (found := _number(value)) <= 0.0:
        raise ValueError("only numbers above 0 have a logarithm")
    return found


def _count(value: Any) -> float:
    if not 0.0 <= (found := _number(value)) <= 1e40:
        raise ValueError("a count was expected, 0 or more")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("text was expected")
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"it is longer than {LONGEST_TEXT:,} letters")
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValueError("true or false was expected, as in the column")
    return bool(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise ValueError("a whole number was expected, as in the column")
    if not math.isfinite(value) or value != int(value):
        raise ValueError("a whole number was expected, as in the column")
    if not INTEGERS[0] <= value < INTEGERS[1]:
        raise ValueError("an integer of 64 bits was expected")
    return int(value)


def _decimal(value: Any) -> float:
    if isinstance(value, bool | np.bool_):
        raise ValueError("a number was expected, as in the column")
    return _number(value)


_VALUES: dict[Any, Reader] = {
    "text": _text,
    "categorical": _text,
    "boolean": _boolean,
    "integer": _whole,
    "float": _decimal,
}
