"""How single things are written: labels, lists, numbers, probabilities, odds; and as JSON.

Every name and number that a person reads passes through here, so that one rule holds for minus
signs, infinities, long names and characters that would reach a terminal as commands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from msgspec import Struct, structs

LONGEST = 32  # characters of a label
NEAR = 1e-4  # probabilities nearer to 0 or 1 are written by their distance
LEAST_P = 1e-12  # p-values below are not that exact
ELLIPSIS = "…"


def label(value: object, most: int = LONGEST) -> str:
    r"""Write what a user named or typed on one line that is safe to print.

    Long ones are shortened in the middle, so that names which differ at their end stay apart.

    Examples
    --------
    >>> label("a\nb\x1b[41m"), label(""), label(0.1 + 0.2)
    ('a b�[41m', '""', '0.3')
    >>> label("total_charges_before_tax_2025", 20)
    'total_char…_tax_2025'
    """
    if isinstance(value, float | np.floating):
        text = f"{value:.10g}"
    else:
        text = " ".join(str(value).split())
    if not text.isprintable():
        text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) > most:
        behind = (most - 1) // 2
        text = f"{text[: most - 1 - behind]}{ELLIPSIS}{text[len(text) - behind :]}"
    return text or '""'


def listed(
    names: Iterable[object], most: int = 8, last: str = "and", longest: int = LONGEST
) -> str:
    """Write names for a sentence; of many the first ones, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcde", most=3), listed("ab", last="or")
    ('a, b and c', 'a, b, c and 2 more', 'a or b')
    """
    shown = [label(name, longest) for name in names]
    if len(shown) > most:
        shown[most:] = [f"{len(shown) - most:,} more"]
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def count(n: float) -> str:
    """Write a number of rows, or weights added up.

    Examples
    --------
    >>> count(1234567), count(0.1 + 0.2)
    ('1,234,567', '0.3')
    """
    return f"{int(n):,}" if float(n).is_integer() and abs(n) < 1e16 else f"{n:,.10g}"


def counted(n: float, one: str, several: str = "") -> str:
    """Write a number with the noun that it counts.

    Examples
    --------
    >>> counted(1, "row"), counted(1234, "row"), counted(2, "class", "classes")
    ('1 row', '1,234 rows', '2 classes')
    """
    return f"{count(n)} {one if n == 1 else several or one + 's'}"


def score(x: float) -> str:
    """Write a score with four decimals."""
    return f"{x:z.4f}" if abs(x) < 1e8 else f"{x:.6g}"


def short(x: float) -> str:
    """Write a number with at most six digits."""
    return f"{x + 0.0:.6g}"


def number(x: float, digits: int = 3) -> str:
    """Write a number rounded to so many digits, as a picture has room for.

    Examples
    --------
    >>> number(0.123456), number(1234567.0), number(-2.0), number(1e-7)
    ('0.123', '1,230,000', '-2', '1e-07')
    """
    return f"{float(f'{x:.{digits}g}') + 0.0:,.10g}"


def percent(share: float) -> str:
    """Write a share of one in hundredths."""
    return f"{100.0 * share:z.1f} %"


def bits(x: float) -> str:
    """Write evidence in bits, with its sign."""
    return f"{x + 0.0:+.2f}"


def probability(p: float) -> str:
    """Write a probability so that one near 0 or 1 still says how near.

    Examples
    --------
    >>> [probability(p) for p in (0.25, 0.99999999, 1e-9, 1.0)]
    ['0.2500', '1 - 1e-08', '1e-09', '1']
    """
    if p in (0.0, 1.0):
        return f"{p:.0f}"
    if p < NEAR:
        return f"{p:.3g}"
    return f"1 - {1.0 - p:.3g}" if p > 1.0 - NEAR else f"{p:.4f}"


def odds(weight: float) -> str:
    """Write the odds of so many bits.

    Examples
    --------
    >>> [odds(bits) for bits in (1.0, 0.0, -2.0, 4000.0, -math.inf)]
    ['2 : 1', '1 : 1', '1 : 4', '2^4000 : 1', '1 : inf']
    """
    large = abs(weight)
    number = f"{2.0**large:.3g}" if large < 1000.0 or math.isinf(large) else f"2^{large:.0f}"
    return f"1 : {number}" if weight < 0.0 else f"{number} : 1"


def p_value(p: float) -> str:
    """Write the p-value of a test.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-30)
    ('0.031', '< 1e-12')
    """
    return f"{p:.2g}" if p >= LEAST_P else f"< {LEAST_P:g}"


FORMATS: dict[str, Callable[[Any], str]] = {
    "label": label,
    "text": str,
    "count": count,
    "score": score,
    "short": short,
    "percent": percent,
    "bits": bits,
    "probability": probability,
    "odds": odds,
    "p": p_value,
}


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
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
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
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return str(value)
