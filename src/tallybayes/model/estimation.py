"""From a tally to a model: the choice of families, smoothing and prior costs no pass over data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.families import (
    Bernoulli,
    Categorical,
    Family,
    Gaussian,
    Multinomial,
    Poisson,
    Text,
)
from tallybayes.families.parameters import Columns
from tallybayes.model.factors import Factor
from tallybayes.model.model import Model
from tallybayes.priors import Empirical, Fixed, Prior, Uniform
from tallybayes.schema import Binary, Categories, Count, Group, Kind, Schema
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally
from tallybayes.tokenizer import Words


def estimate(
    tally: Tally,
    *families: Family,
    columns: Mapping[str, Family] | None = None,
    prior: Prior | None = None,
    positive: Label | None = None,
) -> Model:
    """Estimate a model from a tally.

    Parameters
    ----------
    tally
        What was counted.
    *families
        For all columns of the kind that the family needs; the defaults are ``Gaussian()``,
        ``Categorical()``, ``Bernoulli()``, ``Multinomial()`` and ``Text()``.
    columns
        For single columns, by name.
    prior
        ``Empirical()`` when not given, or ``Uniform()``, ``Fixed({...})``.
    positive
        A class that wins only when its score is strictly greater than all others.

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
    if not tally.classes:
        raise TallyBayesError("the tally is empty: count some labelled rows before estimating")
    schema = tally.schema
    for place, family in enumerate(families):
        _check_family(family, "a default")
        for other in families[:place]:
            if same_kind(family.kind, other.kind):
                raise TallyBayesError(
                    f"{other} and {family} are for the same columns; give one of them, or say "
                    "which column takes which with columns={name: family}"
                )
        if not any(same_kind(family.kind, group.kind) for group in schema.groups):
            raise TallyBayesError(
                f"{family} applies to no column: none was counted as {family.kind}; declare it "
                f"before counting, for example Tally.of(X, y, columns={{name: {family}}})"
            )
    chosen = dict(columns or {})
    for name, family in chosen.items():
        _check_family(family, f"column {name!r}")
        kind = schema.kind(name)
        if not same_kind(family.kind, kind):
            raise TallyBayesError(
                f"column {name!r} was counted as {kind}, but {type(family).__name__} needs "
                f"{family.kind}; count it anew with columns={{{name!r}: {family}}}"
            )
    factors = [
        factor
        for number, group in enumerate(schema.groups)
        for factor in _factors(tally, number, group, family_for(group.kind, families), chosen)
    ]
    if prior is not None and not isinstance(prior, Empirical | Uniform | Fixed):
        raise TallyBayesError(
            f"prior is {prior!r}; use Empirical(), Uniform() or Fixed({{label: p, ...}})"
        )
    probabilities = (prior or Empirical()).probabilities(tally.classes, tally.weight)
    return Model(schema, tally.classes, probabilities, tuple(factors), positive)


def _check_family(family: Any, where: str) -> None:
    if isinstance(family, type) or not hasattr(family, "estimate"):
        name = getattr(family, "__name__", "Gaussian")
        raise TallyBayesError(f"{where}: {family!r} is not a family; use for example {name}()")


def same_kind(wanted: Kind, counted: Kind) -> bool:
    """Tell whether a family's kind is the one that was counted, whatever values were declared."""
    if isinstance(wanted, Categories):
        return isinstance(counted, Categories)
    return wanted == counted


def family_for(kind: Kind, families: tuple[Family, ...]) -> Family:
    """Return the family for columns of a kind for which none is chosen by name."""
    for family in families:
        if same_kind(family.kind, kind):
            return family
    if isinstance(kind, Categories):
        return Categorical()
    if isinstance(kind, Binary):
        return Bernoulli(threshold=kind.threshold)
    if isinstance(kind, Words):
        return Text(kind)
    return Multinomial(bag=kind.bag) if isinstance(kind, Count) else Gaussian()


def _factors(
    tally: Tally, number: int, group: Group, default: Family, chosen: Mapping[str, Family]
) -> list[Factor]:
    """Estimate the columns of one group, those of one family together."""
    schema: Schema = tally.schema
    names = schema.names_of(group)
    members: list[tuple[Family, list[int]]] = []
    for place, name in enumerate(names) if chosen else ():
        family = chosen.get(name, default)
        for known, places in members:
            if known == family:
                places.append(place)
                break
        else:
            members.append((family, [place]))
    in_bag = [family for family, _ in members if not isinstance(family, Poisson)]
    if isinstance(group.kind, Count) and len(in_bag) > 1:
        raise TallyBayesError(
            f"the columns of the bag {group.kind.bag!r} share their total, so they need one "
            "family; alpha may be a list of one number a column, and another bag is named when "
            "counting"
        )
    if len(members) <= 1:
        family = members[0][0] if members else default
        members = [(family, [])]
    out = []
    for family, places in members:
        block = tally.blocks[number].take(places) if places else tally.blocks[number]
        of_these = [names[place] for place in places] if places else names
        declared = [schema.declared.get(name, ()) for name in of_these] if schema.declared else None
        facts = Columns(tally.classes, of_these, declared or [()] * len(of_these))
        parameters = family.estimate(block, facts)
        out.append(Factor(number, tuple(places) or None, parameters))
    return out
