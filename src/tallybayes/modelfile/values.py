"""Families, priors and calibrations as plain JSON, and back, exactly.

A value of a class that is known here is ``{"Gaussian": {"ddof": 1.0, ...}}``: its name, and its
fields by name. Beside those there are only three special forms, each with one key:

- ``{"float": "nan"}``: a number that JSON has no name for;
- ``{"pairs": [[key, value], ...]}``: a mapping, whose keys may be numbers;
- ``{"counted": 2}``: the words of the schema's group 2, which may have long lists of weights.

Lists are tuples. A field that a file does not state has its default, so that files stay readable
when a family gets a new option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.families import FAMILIES, AdditiveFloor, ByClass, ByValue, RelativeFloor
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile.hints import fits, hints_of
from tallybayes.modelfile.trouble import Newer, require
from tallybayes.priors import Empirical, Fixed, Uniform
from tallybayes.schema import Kind
from tallybayes.tallies.container import kind_from, plain_kind
from tallybayes.tokenizer import Words

PRIORS: tuple[type, ...] = (Empirical, Uniform, Fixed)
_PARTS: tuple[type, ...] = (RelativeFloor, AdditiveFloor, ByValue, ByClass, Calibration)
_FIXED: Mapping[str, Any] = {each.__name__: each for each in (*PRIORS, *_PARTS)}
_FLOATS = {"nan": nan, "inf": float("inf"), "-inf": -float("inf")}


def _known() -> Mapping[str, Any]:
    """Return all classes whose values can be stored, by name."""
    return {**_FIXED, **{each.__name__: each for each in FAMILIES.values()}}


def to_plain(value: Any, counted: Sequence[Kind], where: str) -> Any:
    """Return a value as plain JSON; `counted` are the kinds of the schema's groups.

    `where` names the value in errors: "column 'mail'", "the prior".
    """
    value = item(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else {"float": repr(float(value))}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list):
        return [to_plain(each, counted, where) for each in value]
    if isinstance(value, Mapping):
        pairs = value.items()
        return {"pairs": [[to_plain(each, counted, where) for each in pair] for pair in pairs]}
    if isinstance(value, Words):
        if value in counted:
            return {"counted": counted.index(value)}
        refuse_functions(value, where)
        return {"Words": plain_kind(value)}
    kind: Any = type(value)
    if kind not in _known().values():
        raise TallyBayesError(
            f"{where}: {value!r} cannot be stored in a model file, which holds only what "
            "tallybayes itself knows; use one of its own families, or @register yours"
        )
    stated = {name: getattr(value, name) for name in kind.__struct_fields__}
    for name, hint in hints_of(kind).items():
        if not fits(stated[name], hint):
            raise TallyBayesError(
                f"{where}: {name} of {kind.__name__} is {stated[name]!r}, which cannot be stored; "
                f"it must be {getattr(hint, '__name__', hint)}"
            )
    if isinstance(value, Calibration) and not _is_sound(value):
        raise TallyBayesError(f"{where} cannot be stored: it is not sound; fit it anew")
    return {kind.__name__: {k: to_plain(v, counted, where) for k, v in stated.items()}}


def item(value: Any) -> Any:
    """Return NumPy's numbers as Python's, which they are when they come back."""
    return value.item() if isinstance(value, np.generic) else value


def refuse_functions(words: Words, where: str) -> None:
    """Refuse words that a function makes: a file that could hold it could run it."""
    if callable(words.tokens):
        raise TallyBayesError(
            f"{where} takes its words from a function, which cannot be stored in a model file; "
            "use tokens='words', 'unicode', 'whitespace' or 'characters', or keep the words apart "
            "by blanks and use 'whitespace'"
        )


def from_plain(plain: Any, counted: Sequence[Kind]) -> Any:
    """Return the value that `to_plain` described; anything else is an error."""
    if isinstance(plain, list):
        return tuple(from_plain(each, counted) for each in plain)
    if not isinstance(plain, dict):
        return plain
    ((name, inside),) = plain.items()
    if name == "unstated":  # so files of before say None
        require(inside in (1.0, "ignore"), "what nobody stated is not what it was")
        return None
    if name == "float":
        return _FLOATS[inside]
    if name == "pairs":
        return _mapping(inside, counted)
    if name == "counted":
        require(type(inside) is int and 0 <= inside < len(counted), "a group is not there")
        return counted[inside]
    if name == "Words":
        return kind_from(name, inside)
    if name not in _known():
        raise Newer(f"it has {name}, of which this one does not know")
    kind = _known()[name]
    hints = hints_of(kind)
    if kind is Calibration:  # files of before state curves, which only isotonic ones had
        require(inside.get("how") != "isotonic", "it has an isotonic calibration, which is gone")
        inside = {key: each for key, each in inside.items() if key != "curves"}
    stated = {key: from_plain(each, counted) for key, each in inside.items()}
    for key, value in stated.items():
        require(key in hints and fits(value, hints[key]), f"{key!r} of {name} is not what it was")
    built = kind(**stated)
    if isinstance(built, Calibration):
        require(_is_sound(built), "its calibration is not sound")
    return built


def _mapping(pairs: Any, counted: Sequence[Kind]) -> dict[Any, Any]:
    """Return the mapping that pairs describe."""
    found = {from_plain(key, counted): from_plain(value, counted) for key, value in pairs}
    require(len(found) == len(pairs), "a key is there twice")
    return found


def _is_sound(calibration: Calibration) -> bool:
    """Tell whether a calibration could have been fitted: it does not check itself."""
    exponents = (*calibration.exponents.values(), calibration.default, calibration.prior)
    return all(isfinite(each) and each >= 0.0 for each in exponents) and calibration.rows >= 0
