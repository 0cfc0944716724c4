"""What the user says of the columns: which ones, and what they are.

A column is named by its name or number; several by a tuple of those, by a regular expression, or by
a function of the table such as scikit-learn's `make_column_selector`. What it is, is a family, the
name of one, or a kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.families import (
    Bernoulli,
    Bins,
    Categorical,
    Complement,
    Family,
    Gaussian,
    LogNormal,
    Multinomial,
    Poisson,
    Text,
)
from tallybayes.families.categorical import Unseen
from tallybayes.families.smoothing import Unstated, UnstatedWord
from tallybayes.kinds import is_kind
from tallybayes.model.estimation import family_for
from tallybayes.schema import Schema

FAMILIES: Mapping[str, Callable[[], Family]] = {
    "gaussian": Gaussian,
    "log_normal": LogNormal,
    "categorical": Categorical,
    "bins": Bins,
    "bernoulli": Bernoulli,
    "multinomial": Multinomial,
    "complement": Complement,
    "poisson": Poisson,
    "text": Text,
}


class Best:
    """The wish that the family which suits a column best be found."""

    def __repr__(self) -> str:
        return "best"


BEST = Best()


class ColumnSpec(NamedTuple):
    """What was said of all columns, or of some by name: families and kinds."""

    of_all: Any
    by_name: Mapping[str, Any]


def wishes(columns: Any, X: Any, names: Sequence[str], *, later: bool = False) -> ColumnSpec:
    """Read the parameter `columns` for the columns that X has; others may come `later`."""
    if isinstance(columns, str) and columns == "auto":
        return ColumnSpec(None, {})
    if not isinstance(columns, Mapping):
        meant = _meaning(columns, "columns")
        if meant is not BEST and not is_kind(getattr(meant, "kind", meant)):
            raise TallyBayesError(
                f"columns is {columns!r}; expected 'auto', a family, or a mapping of columns to "
                "families"
            )
        return ColumnSpec(meant, {})
    by_selector: dict[str, Any] = {}
    by_name: dict[str, Any] = {}
    for key, word in columns.items():
        meant = _meaning(word, f"columns[{key!r}]")
        if isinstance(key, str | int | np.integer) and not isinstance(key, bool):
            name = _name(key, names)
            if name in names or not later:
                by_name[name] = meant
            continue
        for name in _selected(key, X, names, later):
            if by_selector.get(name, meant) != meant:
                raise TallyBayesError(
                    f"column {name!r} is selected twice, as {by_selector[name]} and as {meant}; "
                    "name it on its own to say which"
                )
            by_selector[name] = meant
    return ColumnSpec(None, {**by_selector, **by_name})


def without_numbers(columns: Any) -> Any:
    """Leave out what is said of columns by number, which means the columns of the first table."""
    if not isinstance(columns, Mapping):
        return columns
    named = {
        tuple(each for each in key if isinstance(each, str))
        if isinstance(key, tuple)
        else key: word
        for key, word in columns.items()
    }
    return {key: word for key, word in named.items() if not isinstance(key, int | np.integer)}


def _meaning(word: Any, where: str) -> Any:
    """Return a family or a kind."""
    if word is None or word in ("drop", "ignore"):
        raise TallyBayesError(f"{where} is {word!r}; to leave a column out, drop it from X")
    if isinstance(word, str):
        if word == "best":
            return BEST
        if word not in FAMILIES:
            known = (*FAMILIES, "best")
            raise TallyBayesError(f"{where} is {word!r}; {did_you_mean(word, known)}")
        return FAMILIES[word]()
    return word() if isinstance(word, type) else word


def _name(key: Any, names: Sequence[str]) -> str:
    """Return the name of a column that is given by its name or number."""
    if isinstance(key, str):
        return key  # the schema knows whether there is such a column
    if str(key) in names:
        return str(key)
    if not -len(names) <= key < len(names):
        raise TallyBayesError(f"there is no column number {key}; there are {len(names)} columns")
    return str(names[key])


def _selected(key: Any, X: Any, names: Sequence[str], later: bool) -> list[str]:
    """Return the names of the columns that a selector means."""
    if isinstance(key, re.Pattern):
        found = [name for name in names if key.search(name)]
    elif callable(key):
        answer = key(X)
        if isinstance(answer, str | int | np.integer):
            answer = [answer]
        if len(answer) == len(names) and all(isinstance(each, bool | np.bool_) for each in answer):
            found = [name for name, chosen in zip(names, answer, strict=True) if chosen]
        else:
            found = [_name(each, names) for each in answer]
    elif isinstance(key, tuple | frozenset):
        found = [_name(each, names) for each in key]
        found = [name for name in found if name in names] if later else found
    else:
        raise TallyBayesError(
            f"columns has the key {key!r}; expected a name, a number, a tuple of them, a compiled "
            "regular expression, or a function of the table"
        )
    if not found and not later:
        raise TallyBayesError(f"columns has the key {key!r}, which selects no column")
    return found


def families_for(
    schema: Schema, wish: ColumnSpec, alpha: float, unseen: Unseen
) -> tuple[tuple[Family, ...], dict[str, Family]]:
    """Return the families of all columns of a kind, and those of single columns by name."""
    alpha = number(alpha, "alpha", least=0.0)
    if unseen not in ("ignore", "smooth", "error"):
        raise TallyBayesError(f"unseen is {unseen!r}; it must be 'ignore', 'smooth' or 'error'")
    stated = {
        name: smoothed(word, alpha, unseen)
        for name, word in wish.by_name.items()
        if hasattr(word, "estimate") and name in schema.places
    }
    for_all = (wish.of_all,) if hasattr(wish.of_all, "estimate") else ()
    defaults: list[Family] = []
    for group in schema.groups:
        family = family_for(group.kind, for_all)
        if family not in defaults:  # several columns of text may be of one kind
            defaults.append(family)
    return tuple(smoothed(family, alpha, unseen) for family in defaults), stated


def smoothed(family: Any, alpha: float, unseen: Unseen) -> Family:
    """Return the family with the estimator's alpha and unseen, unless it says otherwise.

    Edges are left to the schema, so that columns that differ only in them are one family's.
    """
    changes: dict[str, Any] = {"edges": None} if isinstance(family, Bins) else {}
    if isinstance(getattr(family, "alpha", None), Unstated) and getattr(family, "m", None) is None:
        changes["alpha"] = alpha
    if isinstance(getattr(family, "unseen", None), UnstatedWord):
        changes["unseen"] = unseen
    changed: Family = replace(family, **changes) if changes else family
    return changed
