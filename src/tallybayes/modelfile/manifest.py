"""The manifest: everything in a model file but the arrays, as strict JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.families import Family
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile.archive import MARK
from tallybayes.modelfile.hints import fits, hints_of
from tallybayes.modelfile.provenance import Provenance
from tallybayes.modelfile.stored import Stored
from tallybayes.modelfile.trouble import Damaged, Newer, require
from tallybayes.modelfile.values import (
    PRIORS,
    from_plain,
    item,
    refuse_functions,
    to_plain,
)
from tallybayes.schema import Kind
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.container import label_from, plain_label, plain_labels
from tallybayes.tokenizer import Words

Array = NDArray[Any]

FORMAT = 1  # the version that is written, and the greatest that is read
LARGEST = 256 * 2**20  # bytes of a manifest
_NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
)  # fmt: skip
_KEYS = {
    "tallybayes", "tally", "families", "columns", "prior", "positive", "calibration", "announced",
    "shown_as", "reasons", "provenance", "estimator",
}  # fmt: skip


def describe(stored: Stored) -> tuple[dict[str, Any], list[Array]]:
    """Take apart what is stored into plain data and arrays."""
    fitted, recipe = stored.fitted, stored.fitted.recipe
    _refuse(fitted)
    tally, arrays = fitted.tally.to_plain()
    counted = [group.kind for group in fitted.tally.schema.groups]
    columns = {
        name: to_plain(family, counted, f"column {name!r}")
        for name, family in recipe.columns.items()
    }
    provenance = {name: getattr(stored.provenance, name) for name in hints_of(Provenance)}
    if not _sound(provenance):
        raise TallyBayesError(f"{stored.provenance!r} has values of other types than it should")
    manifest = {
        "tallybayes": FORMAT,
        "tally": tally,
        "families": [to_plain(each, counted, "a default family") for each in recipe.families],
        "columns": columns,
        "prior": to_plain(recipe.prior, counted, "the prior"),
        "positive": None if recipe.positive is None else plain_label(item(recipe.positive)),
        "calibration": to_plain(recipe.calibration, counted, "the calibration"),
        "announced": plain_labels(map(item, recipe.declared_classes)),
        "shown_as": _shown_as(fitted),
        "reasons": dict(recipe.reasons),
        "provenance": provenance,
        "estimator": None if stored.estimator is None else _plain(stored.estimator),
    }
    return manifest, arrays


def _plain(value: Any) -> Any:
    """Return plain data as JSON has it: tuples become lists; what JSON would change is refused."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or type(value) in (str, bool, int, float):
        return value
    raise TallyBayesError(
        f"the estimator section holds {value!r}; it may hold text, finite numbers, lists, and "
        "mappings with text as keys"
    )


def _refuse(fitted: Fitted) -> None:
    """Refuse what could be written, but not be read again."""
    schema = fitted.tally.schema
    for group in schema.groups:
        if isinstance(group.kind, Words):
            refuse_functions(group.kind, f"column {schema.names_of(group)[0]!r}")
    for label, rows in zip(fitted.tally.classes, fitted.tally.rows.tolist(), strict=True):
        if not rows:
            raise TallyBayesError(
                f"the tally has the class {label!r} without a row of it; leave it out of the "
                "tally, and name it among the declared classes"
            )
    reasons = fitted.recipe.reasons
    if not fits(reasons, Mapping[str, str]):
        raise TallyBayesError(f"the reasons are {reasons!r}; they must be text by column")


def _shown_as(fitted: Fitted) -> str | None:
    """Return the type of the labels that `predict` returns; they are the classes."""
    labels = fitted.labels
    if labels is None:
        return None
    name = {"U": "str", "O": "object"}.get(labels.dtype.kind, labels.dtype.name)
    if name not in (*_NUMBERS, "str", "object") or tuple(labels.tolist()) != fitted.classes:
        raise TallyBayesError(
            f"the labels are shown as {labels!r}, which cannot be stored: they must be the classes "
            f"{fitted.classes!r}, as text, numbers or booleans"
        )
    return name


def _labels(name: Any, classes: tuple[Label, ...]) -> Array | None:
    """Return the classes as an array of the type that `_shown_as` named."""
    if name is None:
        return None
    require(name in (*_NUMBERS, "str", "object"), "its labels are of a type that is unknown")
    if name == "object":
        return np.fromiter(classes, dtype=object, count=len(classes))
    labels = np.array(classes, dtype=name)
    require(tuple(labels.tolist()) == classes, "its labels are not its classes")
    return labels


def build(manifest: Mapping[str, Any], arrays: list[Array]) -> Stored:
    """Put together what `describe` took apart; anything else is an error."""
    require(set(manifest) == _KEYS, "its manifest has other parts than it should")
    tally = Tally.from_plain(manifest["tally"], arrays)
    counted = [group.kind for group in tally.schema.groups]
    reasons, estimator = manifest["reasons"], manifest["estimator"]
    require(fits(reasons, Mapping[str, str]), "its reasons are no text")
    require(estimator is None or isinstance(estimator, dict), "its estimator is none")
    calibration = from_plain(manifest["calibration"], counted)
    positive = manifest["positive"]
    recipe = Recipe(
        tuple(_known(each, counted, (Family,)) for each in manifest["families"]),
        {name: _known(each, counted, (Family,)) for name, each in manifest["columns"].items()},
        _known(manifest["prior"], counted, PRIORS),
        None if positive is None else label_from(positive),
        calibration,
        tuple(label_from(each) for each in manifest["announced"]),
        reasons,
    )
    require(isinstance(calibration, Calibration | None), "its calibration is none")
    classes = recipe.classes(tally)
    require(len(classes) >= len(tally.classes), "its classes do not go together")
    fitted = Fitted(tally, recipe, _labels(manifest["shown_as"], classes))
    return Stored(fitted, _provenance(manifest["provenance"]), estimator)


def _known(plain: Any, counted: Sequence[Kind], kinds: tuple[type, ...]) -> Any:
    """Return a family or a prior, as the place asks for."""
    value = from_plain(plain, counted)
    require(isinstance(value, kinds), f"{type(value).__name__} stands where it does not belong")
    return value


def _provenance(plain: Any) -> Provenance:
    stated: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in plain.items()
    }
    require(_sound(stated), "its provenance is not sound")
    return Provenance(**stated)


def _sound(provenance: Mapping[str, Any]) -> bool:
    """Tell whether there is a value of the right type for every field, and no other."""
    hints = hints_of(Provenance)
    same = set(provenance) == set(hints)
    return same and all(fits(value, hints[name]) for name, value in provenance.items())


def to_json(manifest: Mapping[str, Any]) -> bytes:
    """Return the manifest as JSON, the version of the format first."""
    try:
        text = json.dumps(manifest, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TallyBayesError(
            f"the model holds what no model file can ({error}); only text, finite numbers, lists "
            "and mappings with text as keys can be stored"
        ) from error
    encoded = text.encode("ascii")
    assert encoded.startswith(MARK)
    return encoded


def from_json(raw: bytes) -> dict[str, Any]:
    """Return the manifest, if this version can read it."""
    manifest = json.loads(
        raw.decode("utf-8"),
        object_pairs_hook=_distinct,
        parse_float=_finite,
        parse_constant=_no_number,
    )
    version = manifest.get("tallybayes")
    require(type(version) is int and version >= 1, "its format has no version")
    if version > FORMAT:
        raise Newer(f"its format is {version}, and this one reads up to {FORMAT}")
    found: dict[str, Any] = manifest
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping; of two equal keys only one would be heard."""
    found = dict(pairs)
    require(len(found) == len(pairs), "its manifest says something twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    require(isfinite(number), "a number is beyond all bounds")
    return number


def _no_number(text: str) -> Any:
    raise Damaged(f"{text} stands where a number should")
