"""Reads the formulas of a working as they are printed, and works them out anew.

It knows nothing of how they were made: a misplaced bracket or a number that does not follow from
the ones before it comes out as another value.
"""

import math
import re
from decimal import Decimal, localcontext

PI = Decimal("3.14159265358979323846264338327950288419716939937510")
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?!?|pi|exp|sqrt|log|[x+\-/^()])")
SIGNS = {"x": "*", "^": "**"}


class Never:
    """An exponent of 0, to which 0 gives 1 too."""

    def __rpow__(self, base):
        return Decimal(1)


NAMES = {
    "exp": Decimal.exp,
    "sqrt": Decimal.sqrt,
    "log": Decimal.ln,
    "pi": PI,
    "never": Never(),
    "Decimal": Decimal,
    "factorial": lambda text: Decimal(math.gamma(float(text) + 1.0)),
}


def worked_out(text):
    """Return the value of a formula, as Python reads it once every product has its sign."""
    code, before = "", "("
    for token in TOKEN.findall(text):
        starts = token == "(" or (token[0].isalnum() and token != "x")
        if starts and (before[0].isdigit() or before in ("pi", ")")):
            code += "*"
        if token[0].isdigit():
            maker = "factorial" if token.endswith("!") else "Decimal"
            value = f"{maker}('{token.rstrip('!')}')"
            code += "never" if (before, token) == ("^", "0") else value
        else:
            code += SIGNS.get(token, token)
        before = token
    assert TOKEN.sub("", text).strip() == "", f"{text!r} has no meaning"
    with localcontext() as context:
        context.prec = 30
        context.Emin, context.Emax = -(10**9), 10**9
        return +eval(code, NAMES)


def log(value):
    """Return the logarithm of a Decimal that may be too small for a float."""
    with localcontext() as context:
        context.Emin = -(10**9)
        return float(value.ln()) if value > 0 else -math.inf


def near(one, other, digits=5.1e-4):
    """Tell whether two values are the same but for the rounding of what they come from."""
    if one > 0 and other > 0:
        a, b = log(one), log(other)
        return abs(a - b) <= digits * (1.0 + abs(a))
    return abs(one - other) <= Decimal(digits) * max(abs(one), abs(other))
