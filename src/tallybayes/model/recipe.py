"""From a tally to a model: the choice of families, smoothing and prior costs no pass over data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array
from tallybayes.errors import TallyBayesError
from tallybayes.families import Family
from tallybayes.families.parameters import ColumnInfo, safe_log
from tallybayes.families.registry import default_family
from tallybayes.families.smoothing import LAPLACE
from tallybayes.metrics.decisions import Rule
from tallybayes.model.calibration import Calibration
from tallybayes.model.factors import Factor
from tallybayes.model.model import ClassCounts, Model
from tallybayes.model.worth import Worth
from tallybayes.priors import Empirical, Fixed, Prior, prior_of
from tallybayes.schema import Count, Intervals, Kind, Schema
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tallies import Tally
from tallybayes.value import Stated

EMPIRICAL = Empirical()
UNSTATED = LAPLACE, "ignore"  # the smoothing, and what is done with unseen values


@dataclass(frozen=True, slots=True)
class Recipe:
    """What turns a tally into a model.

    Parameters
    ----------
    families
        For all columns of the kind that the family needs.
    columns
        For single columns, by name.
    prior, positive, calibration
        As for `estimate`.
    declared_classes
        Classes that belong to the model whether or not a row of them was counted.
    rule
        How a class is decided for, if not by the greatest probability.

    Examples
    --------
    >>> from tallybayes import Categorical, Tally
    >>> tally = Tally.of({"status": ["Single", "Married", "Married"]}, ["Yes", "No", "No"])
    >>> Recipe((Categorical(alpha=0),)).model(tally).posterior_of({"status": "Single"})["Yes"]
    1.0
    """

    families: tuple[Family, ...] = ()
    columns: Mapping[str, Family] = field(default_factory=dict)
    prior: Prior = EMPIRICAL
    positive: Label | None = None
    calibration: Calibration | None = None
    declared_classes: tuple[Label, ...] = ()
    rule: Rule | None = None

    def classes(self, tally: Tally) -> tuple[Label, ...]:
        """Return all classes, counted or declared."""
        if not self.declared_classes or self.declared_classes == tally.classes:
            return tally.classes
        return sorted_labels((*tally.classes, *self.declared_classes), "the labels")

    def family_of(self, schema: Schema, name: str) -> Family:
        """Return the family that estimates a column."""
        stated = self.columns.get(name)
        return family_for(schema.kind(name), self.families) if stated is None else stated

    def model(self, tally: Tally) -> Model:
        """Estimate a model."""
        classes = self.classes(tally)
        if not classes:
            raise TallyBayesError("the tally is empty: count some labelled rows before estimating")
        tally, calibration = tally.with_classes(classes), self.calibration
        if calibration is not None and not self.prior.learnt:
            calibration = structs.replace(calibration, prior=1.0)
        factors = list(self.factors(tally))
        for place, factor in enumerate(factors):
            if calibration is not None:
                factors[place] = factor = replace(
                    factor,
                    exponents=calibration.exponents_of(factor.names, factor.title),
                    weights=calibration.words.get(factor.title),
                )
            factor.parameters  # noqa: B018  (what cannot be estimated is refused now)
        counts = ClassCounts(self.prior, tally.rows, tally.weight)
        more = self.positive, calibration, self.rule
        return Model(tally.schema, classes, tuple(factors), counts, *more)

    def require(self, tally: Tally) -> None:
        """Refuse classes and values of which nothing is stated, where each needs something."""
        classes = self.classes(tally)
        if isinstance(self.prior, Fixed):
            self.prior.require(classes)
        if classes and any(family.is_stated for family in (*self.families, *self.columns.values())):
            for factor in self.factors(tally.with_classes(classes)):
                if factor.family.is_stated:
                    factor.parameters  # noqa: B018

    def factors(self, tally: Tally) -> Iterator[Factor]:
        """Go through what each family estimates of a tally, before any calibration."""
        schema = tally.schema
        self._check(schema)
        # columns of equal families go together
        chosen = {n: family.with_defaults(*UNSTATED) for n, family in self.columns.items()}
        declared = {**schema.edges, **schema.declared}
        for number, group in enumerate(schema.groups):
            names, block = schema.names_of(group), tally.blocks[number]
            default = family_for(group.kind, self.families).with_defaults(*UNSTATED)
            for family, units in _shared_out(names, group.kind, default, chosen):
                some = [names[place] for place in units] if units else names
                values = [declared.get(name, ()) for name in some] if declared else ()
                kinds = schema.kinds_of(group) if group in schema.extra else ()
                info = ColumnInfo(tally.classes, some, values, kinds)
                counted = block.select(units) if units else block
                yield Factor(number, tuple(units), group.kind, info, family, counted)

    def _check(self, schema: Schema) -> None:
        """Refuse families that are for no column, or for one that was counted otherwise."""
        for place, family in enumerate(self.families):
            _check_family(family, "a default")
            for other in self.families[:place]:
                if family.kind.fits(other.kind):
                    raise TallyBayesError(
                        f"{other} and {family} are for the same columns; give one of them, or say "
                        "which column takes which with columns={name: family}"
                    )
            if not any(family.kind.fits(group.kind) for group in schema.groups):
                raise TallyBayesError(
                    f"{family} applies to no column: none was counted as {family.kind}; declare it "
                    f"before counting, for example Tally.of(X, y, columns={{name: {family}}})"
                )
            for name in schema.edges if isinstance(family.kind, Intervals) else ():
                kind = schema.kind(name)
                if name not in self.columns and not family.kind.fits(kind):
                    raise TallyBayesError(
                        f"column {name!r} was counted as {kind}, but {family} has other edges; "
                        "leave them out, Bins(alpha=...), or count again"
                    )
        for name, family in self.columns.items():
            _check_family(family, f"column {name!r}")
            kind = schema.kind(name)
            if not family.kind.fits(kind):
                raise TallyBayesError(
                    f"column {name!r} was counted as {kind}, but {type(family).__name__} needs "
                    f"{family.kind}; count it again with columns={{{name!r}: {family}}}"
                )


def estimate(
    tally: Tally,
    *families: Family,
    columns: Mapping[str, Family] | None = None,
    prior: Any = None,
    positive: Label | None = None,
    calibration: Calibration | None = None,
) -> Model:
    """Estimate a model from a tally.

    Parameters
    ----------
    tally
        What was counted.
    *families
        For all columns of the kind that the family needs; the defaults are ``Gaussian()``,
        ``Categorical()``, ``Bernoulli()``, ``Multinomial()`` and ``Text()``, and for logarithms and
        intervals ``LogNormal()`` and ``Bins()``.
    columns
        For single columns, by name.
    prior
        ``Empirical()`` when not given, or ``Uniform()``, ``Fixed({...})``, as for `NaiveBayes`.
    positive
        A class that wins only when its score is strictly greater than all others.
    calibration
        Exponents of the prior and of the columns that were fitted before.

    Examples
    --------
    >>> from tallybayes import Categorical, Tally, estimate
    >>> tally = Tally.of({"status": ["Single", "Married", "Married"]}, ["Yes", "No", "No"])
    >>> estimate(tally).posterior_of({"status": "Single"})["Yes"]
    0.5714285714285714
    >>> estimate(tally, Categorical(alpha=0)).posterior_of({"status": "Single"})["Yes"]
    1.0
    """
    if not isinstance(tally, Tally):
        raise TallyBayesError(
            f"estimate() takes a tally, not {type(tally).__name__}; count first: "
            "estimate(Tally.of(X, y))"
        )
    by_name = dict(columns or {})
    recipe = Recipe(families, by_name, prior_of(prior or EMPIRICAL), positive, calibration)
    return recipe.model(tally)


@dataclass(frozen=True, eq=False)
class Fitted(Stated):
    """A tally and how to estimate from it; the model is worked out when it is first needed.

    So a stream of small batches pays for counting only. `labels` are all classes as `predict`
    returns them: a thread that predicts while another one learns reads one of these, and nothing
    else. `worth` is how good the model is by leave-one-out, if that is known.
    """

    tally: Tally
    recipe: Recipe = field(default_factory=Recipe)
    labels: Array | None = None
    worth: Worth | None = None

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """All classes, counted or declared."""
        return self.recipe.classes(self.tally)

    @cached_property
    def model(self) -> Model:
        """The model."""
        return self.recipe.model(self.tally)

    def using(
        self, prior: Prior | None = None, positive: Label | None = None, rule: Rule | None = None
    ) -> Fitted:
        """Return the same model with another prior, positive class or rule of decision.

        With another prior each class becomes more or less probable by as much as its prior does,
        in a calibrated model too.
        """
        recipe, calibration = self.recipe, self.recipe.calibration
        if prior is not None and calibration is not None:  # what it made of the old prior stays
            with np.errstate(invalid="ignore"):
                more = (self.model.prior_exponent - 1.0) * safe_log(self.model.prior)
            added = np.add(self.model.constants, np.where(np.isfinite(more), more, 0.0)).tolist()
            constants = dict(zip(self.classes, added, strict=True))
            calibration = structs.replace(calibration, prior=1.0, constants=constants)
        recipe = replace(
            recipe,
            prior=recipe.prior if prior is None else prior,
            positive=recipe.positive if positive is None else positive,
            calibration=calibration,
            rule=recipe.rule if rule is None else rule,
        )
        return replace(self, recipe=recipe, worth=self.worth if prior is None else None)


def _check_family(family: Any, where: str) -> None:
    if isinstance(family, type) or not hasattr(family, "estimate"):
        name = getattr(family, "__name__", "Gaussian")
        raise TallyBayesError(f"{where}: {family!r} is not a family; use for example {name}()")


def applicable(families: Sequence[Family], schema: Schema) -> tuple[Family, ...]:
    """Return the families that are for some column of a schema."""
    kinds = [group.kind for group in schema.groups]
    return tuple(each for each in families if any(each.kind.fits(kind) for kind in kinds))


def family_for(kind: Kind, families: Sequence[Family]) -> Family:
    """Return the family for columns of a kind for which none is chosen by name."""
    for family in families:
        if family.kind.fits(kind):
            return family
    return default_family(kind)


def _shared_out(
    names: Sequence[str], kind: Kind, default: Family, chosen: Mapping[str, Family]
) -> list[tuple[Family, list[int]]]:
    """Return the families of a group, each with the places of its units; none stands for all."""
    members: list[tuple[Family, list[int]]] = []
    for place, name in enumerate(names) if chosen else ():
        family = chosen.get(name, default)
        same = [units for known, units in members if known == family]
        if same:
            same[0].append(place)
        else:
            members.append((family, [place]))
    if isinstance(kind, Count) and sum(family.joint for family, _ in members) > 1:
        raise TallyBayesError(
            f"the columns of the bag {kind.bag!r} share their total, so they need one family; "
            "alpha may be a list of one number a column, and another bag is named when counting"
        )
    return members if len(members) > 1 else [(members[0][0] if members else default, [])]
