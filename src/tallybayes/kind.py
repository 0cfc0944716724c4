"""What every kind answers: `kinds` has those of columns of tables, `tokenizer` that of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.value import Value

Reader = Callable[[Any], Any]

ODD = TypeError, ValueError, LookupError, OverflowError, AttributeError, RuntimeError
LARGEST_PLAIN = 1e100  # sums of squares of numbers up to this are finite, with any usual weight
LARGEST_WHOLE = 2**53
MOST_NAMED = 3  # columns


class Kind(Value, frozen=True):
    """What is counted of a column, or of several together."""

    counted_as: ClassVar[str]
    read_as: ClassVar[Any] = "float"  # of a file; "categorical" is whatever the values are
    takes_plain_values: ClassVar[bool] = False  # what is encoded says no more than the value itself

    @property
    def together(self) -> Kind | None:
        """What columns must have in common to share a block; None: each has a block of its own."""
        return self

    def of_unit(self, unit: int) -> Kind:
        """Return the kind of one unit of an extra group."""
        return self

    def gathered(self, kinds: Sequence[Kind]) -> Kind:
        """Return the kind of an extra group of units that have this in common."""
        return self

    @property
    def reason(self) -> str | None:
        """Why a column is of this kind, if there is more to say than that it was declared."""
        return None

    def settled(self, name: str) -> Kind:
        """Return the kind as a column of that name has it; refuse what lacks something."""
        return self

    def encode(self, cells: Any) -> Any:
        """Lay out some rows for the block that counts them."""
        raise TallyBayesError(
            f"{type(self).__name__} does not say how columns are encoded; give it a method "
            "encode(cells)"
        )

    def kept(self, block: Any) -> Any:
        """Return rows in the form in which they are gone through several times."""
        return block

    def passes(self, source: Any) -> bool:
        """Tell whether the source's memory can go to the kernels as it is."""
        return False

    def merged(self, other: Kind, name: str) -> Kind:
        """Return the kind of a column that two schemas have; it must be one kind on both."""
        if self != other:
            raise unequal(name, self, other, f"declare it on both with columns={{{name!r}: ...}}")
        return self

    @property
    def absent(self) -> Any:
        """What a row without any value counts as, if it is counted as anything."""
        return None

    def reader(self, known: Sequence[Any]) -> Reader | None:
        """Return the function that checks and encodes one plain value; None: there is none.

        What it takes can be counted, in whatever rows: of anything else, and of what is odd, it
        raises one of `ODD`. A missing value is None. The values that the column was counted by, if
        it was by values, are `known`.
        """
        return None

    def fits(self, counted: Kind) -> bool:
        """Tell whether what was counted is what this kind, which a family wants, stands for."""
        return self == counted

    def holds(self, labels: Sequence[Any]) -> bool:
        """Tell whether a column of this kind can have been counted by these values."""
        return True

    def named(self, label: Any) -> str:
        """Write a value of which rows were counted."""
        return str(label)

    def shown(self, label: Any) -> Any:
        """Return what explanations show for what a kind made of several columns."""
        return label

    def example(self, label: Any) -> Any:
        """Return a value of a record that counts as this one."""
        return label

    def places(self, value: str) -> dict[str, list[tuple[int, int]]]:
        """Return where each word of a text stands, by what it is counted as."""
        return {}

    def title(self, columns: Sequence[str]) -> str:
        """Name what reads some columns beside their own kinds: "age x income"."""
        if len(columns) > 1:
            return about(columns)
        return f"{type(self).__name__.lower()} of {columns[0]}"

    def refuse_unusable(
        self, block: Any, names: Sequence[str], start: int, impossible: Any = None
    ) -> None:
        """Raise the error about rows that cannot be scored, of which `start` is the first.

        It is asked before rows are scored, and again if some are `impossible`.
        """
        return


def about(columns: Sequence[str]) -> str:
    """Name columns that are looked at together: "age x income", or how many there are."""
    if len(columns) <= MOST_NAMED:
        return " x ".join(columns)
    return f"{columns[0]} x ... x {columns[-1]} ({len(columns)} columns)"


def unequal(name: str, mine: Any, other: Any, remedy: str) -> TallyBayesError:
    """Build the error about a column that is of two kinds."""
    return TallyBayesError(
        f"column {name!r} is {mine} on one side and {other} on the other; {remedy}"
    )


def plain_number(value: Any) -> float | None:
    """Return a number of a record, None if it is missing; what is odd, infinite or huge is not."""
    if type(value) is float:
        if -LARGEST_PLAIN < value < LARGEST_PLAIN:
            return value
        if value != value:
            return None
        raise OverflowError
    if value is None:
        return None
    if not isinstance(value, int | float | np.number | np.bool_):
        raise TypeError
    if isinstance(value, int | np.integer) and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
        raise OverflowError
    return plain_number(float(value))
