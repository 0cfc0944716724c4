"""How single things are written: labels, lists, numbers, probabilities, odds; and as JSON.

Every name and number that a person reads passes through here, so that one rule holds for minus
signs, infinities, long names and characters that would reach a terminal as commands.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from msgspec import Struct, structs

from tallybayes.errors import TallyBayesError

LONGEST = 32  # characters of a label
LONGEST_QUOTED = 60
NEAR = 1e-4  # probabilities nearer to 0 or 1 are written by their distance
ELLIPSIS = "…"


def label(value: object, most: int = LONGEST) -> str:
    r"""Write what a user named or typed on one line that is safe to print.

    Long ones are shortened in the middle, so that names which differ at their end stay apart.
    """
    value = title_of(value)
    if isinstance(value, float | np.floating):
        text = f"{value:.10g}"
    else:
        text = " ".join(str(value).split())
    text = printable(text)
    if len(text) > most:
        behind = (most - 1) // 2
        text = f"{text[: most - 1 - behind]}{ELLIPSIS}{text[len(text) - behind :]}"
    return text or '""'


def labels(names: Iterable[object], most: int = LONGEST) -> list[str]:
    """Write several names; those that differ look different, however they are shortened.

    Examples
    --------
    >>> labels([f"how many {what} in the last year" for what in ("calls", "mails", "calls")], 16)
    ['how many…st year', 'how man…2…t year', 'how many…st year']
    """
    written: dict[str, str] = {}  # of which name each is
    shown = []
    for name in names:
        whole, short, twins = label(name, sys.maxsize), label(name, most), 1
        while written.setdefault(short, whole) != whole:
            twins += 1
            mark = f"{ELLIPSIS}{twins}{ELLIPSIS}"
            room = max(most - len(mark), 0)
            short = f"{whole[: room - room // 2]}{mark}{whole[len(whole) - room // 2 :]}"
        shown.append(short)
    return shown


def printable(text: str) -> str:
    """Return text in which nothing is left that a terminal takes for a command."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def listed(
    names: Iterable[object], most: int = 8, last: str = "and", longest: int = LONGEST
) -> str:
    """Write names for a sentence; of many the first ones, and how many more there are."""
    several = list(names)
    shown = labels(several[:most], longest)
    if len(several) > most:
        shown.append(f"{len(several) - most:,} more")
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def count(n: float) -> str:
    """Write a number of rows, or weights added up."""
    return f"{int(n):,}" if float(n).is_integer() and abs(n) < 1e16 else f"{n:,.10g}"


def counted(n: float, one: str, several: str = "") -> str:
    """Write a number with the noun that it counts."""
    return f"{count(n)} {one if n == 1 else several or one + 's'}"


class Name(str):
    """The name of a column that has a title, which people read in its place.

    It goes wherever the name goes, and is equal to it. What writes for people, `label` and its
    like, writes the title; data, JSON, code and errors about columns have the name. `str` leaves it
    what it is, `plain` makes it text.

    Examples
    --------
    >>> name = Name.of("DebtRatio", "debts per income")
    >>> label(name), plain(name), name == "DebtRatio"
    ('debts per income', 'DebtRatio', True)
    >>> label(composed(" x ".join, [name, "age"]))
    'debts per income x age'
    """

    shown: str  # `title` is a method of texts

    @classmethod
    def of(cls, name: str, title: str | None) -> str:
        """Give a name a title, if there is one."""
        if title is None or title == name:
            return name
        named = cls(name)
        named.shown = title
        return named

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> Any:
        return Name.of, (plain(self), self.shown)


def title_of(name: Any) -> Any:
    """Return what people read for a name; of anything else, itself."""
    return name.shown if isinstance(name, Name) else name


def quoted(name: object) -> str:
    """Write a name in a sentence: 'age'."""
    return label(repr(title_of(name)), LONGEST_QUOTED)


def composed(write: Callable[[Sequence[str]], str], names: Sequence[str]) -> str:
    """Write a name that is made of others, with a title that is made of theirs."""
    name = write(names)
    if not any(isinstance(each, Name) for each in names):
        return name
    return Name.of(name, write([title_of(each) for each in names]))


class Target(Name):
    """The name of what is predicted, which knows what its classes are called.

    `class_name` and `class_label` ask it. A target whose classes need no names, and that has no
    title, is a plain `str`.

    Examples
    --------
    >>> target = Target.of("BAD", {0: "repaid", 1: "default"})
    >>> class_name(target, 1), class_label(target, 0), target == "BAD"
    ('default', 'repaid', True)
    """

    labels: Mapping[str, str]  # by the class as it is written

    @classmethod
    def of(  # type: ignore[override]  # of which names of columns have none
        cls, name: str, labels: Mapping[Any, str] | None = None, title: str | None = None
    ) -> str:
        """Give classes names, and the target a title; without any it is the name alone."""
        title = title_of(name) if title is None else title
        labels = labels or labels_of(name)
        found = {str(value): text for value, text in labels.items()}
        if len(set(found.values())) < len(found):
            raise TallyBayesError(f"labels calls two classes the same: {dict(labels)!r}")
        if not found and title == name:
            return name
        target = cls(name)
        target.labels, target.shown = found, plain(title)
        return target

    def __reduce__(self) -> Any:
        return Target.of, (plain(self), dict(self.labels), self.shown)


def labels_of(target: str) -> dict[str, str]:
    """Return what the classes of a target are called, if they have names."""
    return dict(target.labels) if isinstance(target, Target) else {}


def class_label(target: object, value: Any) -> Any:
    """Return what a class is called among others: its name, or else itself."""
    return target.labels.get(str(value), value) if isinstance(target, Target) else value


def class_name(target: object, value: object) -> str:
    """Write a class in a sentence, where a number needs the name of what it is of, if known.

    Examples
    --------
    >>> class_name("BAD", 1), class_name("cheat", "Yes")
    ('BAD = 1', 'Yes')
    """
    called = class_label(target, value)
    if called is not value:
        return label(called)
    is_number = isinstance(value, bool | int | float | np.number | np.bool_)
    return f"{label(target)} = {label(value)}" if is_number and target else label(value)


def class_said(target: object, value: object) -> str:
    """Write a class that is said of rows: 'Yes', or of a number BAD = 1."""
    called = class_label(target, value)
    return label(repr(called)) if isinstance(called, str) else class_name(target, value)


def class_quoted(target: object, value: object) -> str:
    """Write "class 'Yes'", or of a number "BAD = 1", or "class 1" where nobody knows of what."""
    called = class_label(target, value)
    if not isinstance(called, str) and target:
        return class_name(target, value)
    return f"class {label(repr(called))}"


def tallied(rows: Iterable[tuple[object, float]], target: str, most: int = 10) -> str:
    """Write how many rows each class has: 1,234 'No', 3 'Yes', or 12 with BAD = 1.

    Of many classes the most frequent ones are written.
    """
    rows = list(rows)
    often = rows if len(rows) <= most else sorted(rows, key=lambda row: -row[1])[:most]
    shown = [
        f"{count(n)} {'' if isinstance(class_label(target, each), str) else 'with '}"
        f"{class_said(target, each)}"
        for each, n in often
    ]
    more = len(rows) - len(often)
    return ", ".join(shown) + f" and {counted(more, 'class', 'classes')} more" * bool(more)


def score(x: float) -> str:
    """Write a score with four decimals."""
    return f"{x:z.4f}" if abs(x) < 1e8 else f"{x:.6g}"


def short(x: float) -> str:
    """Write a number with at most six digits."""
    return f"{x + 0.0:.6g}"


def number(x: float, digits: int = 3) -> str:
    """Write a number rounded to so many digits, as a picture has room for."""
    return f"{float(f'{x:.{digits}g}') + 0.0:,.10g}"


def percent(share: float) -> str:
    """Write a share of one in hundredths."""
    return f"{100.0 * share:z.1f} %"


def bits(x: float) -> str:
    """Write evidence in bits, with its sign."""
    return f"{x + 0.0:+.2f}"


def probability(p: float) -> str:
    """Write a probability so that one near 0 or 1 still says how near."""
    if p in (0.0, 1.0):
        return f"{p:.0f}"
    if p < NEAR:
        return f"{p:.3g}"
    return f"1 - {1.0 - p:.3g}" if p > 1.0 - NEAR else f"{p:.4f}"


def odds(weight: float) -> str:
    """Write the odds of so many bits."""
    large = abs(weight)
    number = f"{2.0**large:.3g}" if large < 1000.0 or math.isinf(large) else f"2^{large:.0f}"
    return f"1 : {number}" if weight < 0.0 else f"{number} : 1"


FORMATS: dict[str, Callable[[Any], str]] = {
    "label": label, "text": lambda value: str(title_of(value)), "count": count,
    "score": score, "short": short, "bits": bits,
    "percent": percent, "probability": probability, "odds": odds,
}  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Infinities become text and NaN becomes None, arrays and tuples lists, fractions text,
    dataclasses dicts of the fields that their `repr` shows.

    Examples
    --------
    >>> from fractions import Fraction
    >>> plain({"a": np.array([0.5, -np.inf, np.nan]), "b": Fraction(1, 6), 3: (True, b"text")})
    {'a': [0.5, '-inf', None], 'b': '1/6', '3': [True, 'text']}
    """
    if value is None or isinstance(value, bool | int | str):
        return str.__str__(value) if isinstance(value, Name) else value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)  # of NumPy's, which are floats, too
        return None if math.isnan(value) else str(value)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Struct):
        return plain(structs.asdict(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
    if isinstance(value, dict):
        return {plain(str(key)): plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return str(value)
