"""The manifest of a model file: everything in it but the arrays, typed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from tallybayes.errors import TallyBayesError
from tallybayes.families import Family
from tallybayes.families.registry import storable
from tallybayes.kinds import KINDS, Kind
from tallybayes.metrics.decisions import Rule
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.model.worth import Worth
from tallybayes.priors import Prior
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tallies.container import Arrays, TallyManifest, any_of, require

F = TypeVar("F", bound=Family)
K = TypeVar("K", bound=Kind)
LabelType = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "str", "object",
]  # fmt: skip


class Provenance(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a model comes from.

    Parameters
    ----------
    created, changed
        When the model was first made, and last changed: ISO 8601, in UTC.
    version
        The version of tallybayes that wrote it last.
    sources
        What was read, as the user wrote it.
    rows, skipped
        How many rows were counted, and how many were set aside.
    history
        A line for each change.

    Examples
    --------
    >>> made = Provenance.now("loan.csv", 10)
    >>> made.then("update more.csv: 5 rows", rows=5, source="more.csv").history
    ('fit loan.csv: 10 rows', 'update more.csv: 5 rows')
    """

    created: str
    changed: str
    version: str
    sources: tuple[str, ...]
    rows: int
    skipped: int
    history: tuple[str, ...]

    @classmethod
    def now(
        cls, source: str | None, rows: int, skipped: int = 0, said: str | None = None
    ) -> Provenance:
        """Return the provenance of a model that is made now.

        Parameters
        ----------
        source
            What was read; None if that has no name.
        rows, skipped
            How many rows were counted, and how many were set aside.
        said
            The first line of the history: "fit loan.csv: 10 rows" when not given.
        """
        first = said or " ".join(["fit", *_names(source)]) + f": {rows} row{'s' * (rows != 1)}"
        time = _time()
        return cls(time, time, _version(), _names(source), rows, skipped, (_text(first),))

    def then(self, line: str, rows: int, skipped: int = 0, source: str | None = None) -> Provenance:
        """Return the provenance after a change that is made now.

        Parameters
        ----------
        line
            What was done: a line of the history.
        rows, skipped
            How many rows came, negative if they went, and how many were set aside.
        source
            What was read, if anything.
        """
        return structs.replace(
            self,
            changed=_time(),
            version=_version(),
            sources=(*self.sources, *_names(source)),
            rows=self.rows + rows,
            skipped=self.skipped + skipped,
            history=(*self.history, _text(line)),
        )


def _text(text: str) -> str:
    """Write what is no Unicode in the name of a file as Python would."""
    return text.encode("utf-8", "backslashreplace").decode()


def _names(source: str | None) -> tuple[str, ...]:
    return () if source is None else (_text(source),)


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _version() -> str:
    # the package itself stands above all layers, so nothing in them imports it
    return str(sys.modules["tallybayes"].__version__)


class Manifest(Struct, Generic[F, K], frozen=True, forbid_unknown_fields=True):
    """What is in a model file beside its arrays: the tally, the recipe, and the rest."""

    tally: TallyManifest[K]
    families: tuple[F, ...]
    columns: dict[str, F]
    prior: Prior
    positive: Label | None
    calibration: Calibration | None
    declared_classes: tuple[Label, ...]
    label_type: LabelType | None
    provenance: Provenance
    estimator: dict[str, Any] | None
    worth: Worth | None = None
    rule: Rule | None = None

    @staticmethod
    def of(
        fitted: Fitted, provenance: Provenance, estimator: Mapping[str, Any] | None
    ) -> Manifest[Family, Kind]:
        """Describe a model; what could not be read again is refused."""
        recipe, tally = fitted.recipe, fitted.tally
        any_of([*recipe.families, *recipe.columns.values()], storable())
        for label, rows in zip(tally.classes, tally.rows.tolist(), strict=True):
            if not rows:
                raise TallyBayesError(
                    f"the tally has the class {label!r} without a row of it; leave it out of the "
                    "tally, and name it among the declared classes"
                )
        return Manifest(
            tally.manifest(),
            recipe.families,
            dict(recipe.columns),
            recipe.prior,
            recipe.positive,
            recipe.calibration,
            recipe.declared_classes,
            _label_type(fitted),
            provenance,
            None if estimator is None else dict(estimator),
            fitted.worth,
            recipe.rule,
        )

    @staticmethod
    def form() -> Any:
        """Return the type as which it is read: one with all that is registered."""
        manifest: Any = Manifest
        return manifest[any_of((), storable()), any_of((), KINDS)]

    def fitted(self, arrays: Arrays) -> Fitted:
        """Put together what was taken apart; anything else is an error."""
        tally = Tally.from_parts(self.tally, arrays)
        recipe = Recipe(
            self.families,
            self.columns,
            self.prior,
            self.positive,
            self.calibration,
            self.declared_classes,
            self.rule,
        )
        labels = _labels(self.label_type, recipe.classes(tally))
        return Fitted(tally, recipe, labels, self.worth)


def _label_type(fitted: Fitted) -> LabelType | None:
    """Return the type of the labels that `predict` returns; they are the classes."""
    labels = fitted.labels
    if labels is None:
        return None
    name: Any = {"U": "str", "O": "object"}.get(labels.dtype.kind, labels.dtype.name)
    if name not in get_args(LabelType) or tuple(labels.tolist()) != fitted.classes:
        raise TallyBayesError(
            f"the labels are shown as {labels!r}, which cannot be stored: they must be the classes "
            f"{fitted.classes!r}, as text, numbers or booleans"
        )
    return name  # type: ignore[no-any-return]


def _labels(name: LabelType | None, classes: tuple[Label, ...]) -> NDArray[Any] | None:
    """Return the classes as an array of the type that `_label_type` named."""
    if name is None:
        return None
    if name == "object":
        return np.fromiter(classes, dtype=object, count=len(classes))
    labels = np.array(classes, dtype=name)
    require(tuple(labels.tolist()) == classes)
    return labels
