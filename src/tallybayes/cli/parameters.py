"""Types of what is typed: how it is checked while parsing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    Typed = click.ParamType[Any]
else:
    Typed = click.ParamType  # early versions have no parameter

FAMILIES = (
    *("gaussian", "log_normal", "categorical", "bins", "bernoulli"),
    *("multinomial", "complement", "poisson", "text", "best"),
)
STANDARD = "-"
PLACE = click.Path(readable=False, allow_dash=True)  # also a folder, a pattern, an address


class Pair(Typed):
    """NAME=VALUE, which becomes a pair."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Cut at the first sign of equality."""
        if isinstance(value, tuple):
            return value
        name, sign, rest = str(value).partition("=")
        if not (name and sign):
            self.fail(f"{value!r} is not of the form NAME=VALUE.", param, ctx)
        return name, rest


class ColumnFamily(Typed):
    """NAME=FAMILY or NAME=FAMILY:option=value,..., which stays text for the workflow to read."""

    name = "name=family"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Look whether there is a name and a family."""
        name, sign, rest = str(value).partition("=")
        if not (name and sign and rest):
            hint = f"{value!r} is not of the form NAME=FAMILY, such as income=gaussian."
            self.fail(hint, param, ctx)
        return str(value)


class Prior(Typed):
    """A way to find the prior, or the prior of every class."""

    name = "prior"
    words = ("empirical", "uniform")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | dict[str, float]:
        """Read a word, or CLASS=P,CLASS=P."""
        if isinstance(value, dict) or value in self.words:
            return value  # type: ignore[no-any-return]
        stated: dict[str, float] = {}
        for part in str(value).split(","):
            label, sign, share = part.rpartition("=")
            p = _number(share)
            if not (sign and label.strip() and p is not None):
                hint = "empirical, uniform, or the prior of every class: 'No=0.7,Yes=0.3'"
                self.fail(f"{value!r} is not a prior; expected {hint}.", param, ctx)
            stated[label.strip()] = p
        return stated


class Grid(Typed):
    """OPTION=VALUE,VALUE,... or OPTION=LEAST..GREATEST:NUMBER, which becomes a pair."""

    name = "option=values"
    words: Mapping[str, tuple[str, ...]] = {
        "alpha": (),
        "prior": ("empirical", "uniform"),
        "unseen": ("ignore", "smooth", "error"),
        "calibration": ("none", "temperature", "weights"),
        "families": ("auto", "best"),
    }

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, list[Any]]:
        """Read an option and its values."""
        name, sign, rest = str(value).partition("=")
        if not sign or name not in self.words:
            known = ", ".join(self.words)
            self.fail(f"{value!r} is not OPTION=VALUE,...; options are {known}.", param, ctx)
        if name == "alpha":
            found = _numbers(rest)
            if not found:
                hint = "alpha=0.1,1,10 or alpha=0.01..10:50"
                self.fail(f"{rest!r} are no values of alpha; write {hint}.", param, ctx)
            return name, found
        values: list[Any] = [word.strip() for word in rest.split(",")]
        for word in values:
            if word not in self.words[name]:
                known = ", ".join(self.words[name])
                self.fail(f"{word!r} is no value of {name}; it is one of {known}.", param, ctx)
        if name == "calibration":
            values = [None if word == "none" else word for word in values]
        return "columns" if name == "families" else name, values


def _numbers(text: str) -> list[float]:
    """Read numbers, or so many between two that grow by the same factor; none if there are none."""
    ends, colon, many = text.partition(":")
    least, dots, greatest = ends.partition("..")
    if not (dots and colon):
        found = [_number(part) for part in text.split(",")]
        return [] if None in found else [each for each in found if each is not None]
    low, high = _number(least), _number(greatest)
    if low is None or high is None or not 0.0 < low < high or not many.isdecimal():
        return []
    n = int(many)
    return [low * (high / low) ** (k / (n - 1)) for k in range(n)] if n > 1 else []


def _number(text: str) -> float | None:
    """Read a finite number."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
