"""Reads the formulas of a working as they are printed, and works them out anew.

It knows nothing of how they were made: a misplaced bracket or a number that does not follow from
the ones before it comes out as another value.
"""

import math
import re
from decimal import Decimal, localcontext

TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|pi|exp|sqrt|log|[x+\-/^()!])")
PI = Decimal("3.14159265358979323846264338327950288419716939937510")


class Reader:
    """Reads a formula from the left to the right."""

    def __init__(self, text):
        self.tokens = []
        place = 0
        while place < len(text):
            found = TOKEN.match(text, place)
            if not found:
                raise ValueError(f"{text!r} has no meaning at {text[place:]!r}")
            self.tokens.append(found[1])
            place = found.end()
        self.k = 0

    @property
    def next(self):
        return self.tokens[self.k] if self.k < len(self.tokens) else ""

    def take(self, token=None):
        found = self.next
        assert token is None or found == token, (token, self.tokens, self.k)
        self.k += 1
        return found

    def sum(self):
        sign = -1 if self.next == "-" and self.take() else 1
        total = sign * self.product()
        while self.next in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            total += sign * self.product()
        return total

    def product(self):
        total = self.fraction()
        while self.next and self.next not in "+-)":
            if self.next == "x":
                self.take()
            total *= self.fraction()
        return total

    def fraction(self):
        above = self.power()
        if self.next != "/":
            return above
        self.take()
        return above / self.power()

    def power(self):
        base = self.atom()
        if self.next != "^":
            return base
        self.take()
        sign = -1 if self.next == "-" and self.take() else 1
        exponent = sign * self.atom()
        if not base:
            return Decimal(exponent == 0)
        return base**exponent

    def atom(self):
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take(")")
        elif token == "pi":
            value = PI
        elif token in ("exp", "sqrt", "log"):
            self.take("(")
            value = self.sum()
            self.take(")")
            value = {"exp": value.exp, "sqrt": value.sqrt, "log": value.ln}[token]()
        else:
            value = Decimal(token)
        if self.next == "!":
            self.take()
            value = Decimal(math.gamma(float(value) + 1.0))
        return value


def worked_out(text):
    """Return the value of a formula."""
    with localcontext() as context:
        context.prec = 30
        context.Emin, context.Emax = -(10**9), 10**9
        reader = Reader(text)
        value = reader.sum()
        assert reader.k == len(reader.tokens), text
        return +value


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
