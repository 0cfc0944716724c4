"""Families and the reasons for them, in a few words."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from tallybayes.model.fitted import Fitted


def described(family: Any) -> str:
    """Write a family with its alpha, and with what differs from the defaults.

    Examples
    --------
    >>> from tallybayes import Categorical, Gaussian
    >>> described(Categorical(alpha=0.5)), described(Gaussian(ddof=0))
    ('Categorical(alpha=0.5)', 'Gaussian(ddof=0)')
    """
    said = []
    for each in fields(family):
        value = getattr(family, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if each.name == "alpha" and getattr(family, "m", None) is None:
            said.append(f"alpha={value}")
        elif each.name != "alpha" and value != default:
            said.append(f"{each.name}={value!r}")
    return f"{type(family).__name__}({', '.join(said)})"


def why(fitted: Fitted, name: str, reason: str) -> str:
    """Say why a column has its family: the reason of the schema, after that of a choice."""
    if name not in fitted.reasons:
        return reason
    return fitted.reasons[name] + ("" if reason == "declared" else f"; {reason}")
