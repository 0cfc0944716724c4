"""From a tally to a model: the choice of families, smoothing and prior costs no pass over data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tallybayes.errors import TallyBayesError
from tallybayes.families import (
    Bernoulli,
    Bins,
    Categorical,
    Family,
    Gaussian,
    LogNormal,
    Multinomial,
    Poisson,
    Text,
)
from tallybayes.families.parameters import ColumnInfo
from tallybayes.model.calibration import Calibration
from tallybayes.model.factors import Factor
from tallybayes.model.model import Model
from tallybayes.priors import Empirical, Fixed, Prior, Uniform
from tallybayes.schema import (
    Binary,
    Categories,
    Count,
    Group,
    Intervals,
    Kind,
    Numeric,
    Schema,
)
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally, TallyBlock
from tallybayes.tokenizer import Words


def estimate(
    tally: Tally,
    *families: Family,
    columns: Mapping[str, Family] | None = None,
    prior: Prior | None = None,
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
        ``Empirical()`` when not given, or ``Uniform()``, ``Fixed({...})``.
    positive
        A class that wins only when its score is strictly greater than all others.
    calibration
        Exponents of the columns, or curves for the posterior, that were fitted before.

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
    for default in families:
        if isinstance(default, Bins):
            _check_edges(default, schema, chosen)
    factors = []
    for each in shares(tally, families, chosen):
        parameters, exponents = each.family.estimate(each.block, each.facts), None
        if calibration is not None and calibration.how != "isotonic":
            exponents = calibration.exponents_of(each.facts.names, each.whole)
        factors.append(Factor(each.group, each.places or None, parameters, exponents))
    if prior is not None and not isinstance(prior, Empirical | Uniform | Fixed):
        raise TallyBayesError(
            f"prior is {prior!r}; use Empirical(), Uniform() or Fixed({{label: p, ...}})"
        )
    probabilities = (prior or Empirical()).probabilities(tally.classes, tally.weight)
    return Model(schema, tally.classes, probabilities, tuple(factors), positive, calibration)


def _check_family(family: Any, where: str) -> None:
    if isinstance(family, type) or not hasattr(family, "estimate"):
        name = getattr(family, "__name__", "Gaussian")
        raise TallyBayesError(f"{where}: {family!r} is not a family; use for example {name}()")


def _check_edges(family: Bins, schema: Schema, chosen: Mapping[str, Family]) -> None:
    """Refuse a family for all columns of intervals whose edges are not those of a column."""
    for name, edges in schema.edges.items():
        if name not in chosen and family.edges not in (None, edges):
            raise TallyBayesError(
                f"column {name!r} was counted as {schema.kind(name)}, but {family} has other "
                "edges; leave them out, Bins(alpha=...), or count anew"
            )


def _without_edges(family: Family) -> Family:
    return replace(family, edges=None) if isinstance(family, Bins) else family


def same_kind(wanted: Kind, counted: Kind) -> bool:
    """Tell whether a family's kind is the one that was counted, whatever values were declared.

    Where no edges are wanted or known, any are right.
    """
    if isinstance(wanted, Categories):
        return isinstance(counted, Categories)
    if isinstance(wanted, Intervals) and isinstance(counted, Intervals):
        return None in (wanted.edges, counted.edges) or wanted.edges == counted.edges
    return wanted == counted


def applicable(families: Sequence[Family], schema: Schema) -> tuple[Family, ...]:
    """Return the families that are for some column of a schema."""
    kinds = [group.kind for group in schema.groups]
    return tuple(each for each in families if any(same_kind(each.kind, kind) for kind in kinds))


def family_for(kind: Kind, families: tuple[Family, ...]) -> Family:
    """Return the family for columns of a kind for which none is chosen by name."""
    for family in families:
        if same_kind(family.kind, kind):
            return family
    if isinstance(kind, Categories):
        return Categorical()
    if isinstance(kind, Intervals):
        return Bins()
    if isinstance(kind, Numeric) and kind.log:
        return LogNormal()
    if isinstance(kind, Binary):
        return Bernoulli(threshold=kind.threshold)
    if isinstance(kind, Words):
        return Text(kind)
    return Multinomial(bag=kind.bag) if isinstance(kind, Count) else Gaussian()


class Share(NamedTuple):
    """The columns of one group that one family estimates; `places` are empty if that is all."""

    group: int
    places: tuple[int, ...]
    family: Family
    block: TallyBlock
    facts: ColumnInfo
    kind: Kind

    @property
    def whole(self) -> str:
        """What the columns are called where they stand for one: a bag of counts, a text."""
        first = str(self.facts.names[0]) if len(self.facts.names) else ""
        if isinstance(self.kind, Words):
            return first
        if isinstance(self.kind, Count) and not isinstance(self.family, Poisson):
            return f"bag {self.kind.bag!r}"
        return f"{type(self.family).__name__} columns from {first!r}"


def shares(
    tally: Tally, families: Sequence[Family], columns: Mapping[str, Family]
) -> Iterator[Share]:
    """Go through what each family estimates of a tally."""
    # the schema has the edges of bins, and columns of equal families go together
    chosen = {name: _without_edges(family) for name, family in columns.items()}
    for number, group in enumerate(tally.schema.groups):
        default = _without_edges(family_for(group.kind, tuple(families)))
        yield from _shares_of_group(tally, number, group, default, chosen)


def _shares_of_group(
    tally: Tally, number: int, group: Group, default: Family, chosen: Mapping[str, Family]
) -> Iterator[Share]:
    """Go through the families of one group, each with all its columns."""
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
    for family, places in members:
        block = tally.blocks[number].take(places) if places else tally.blocks[number]
        of_these = [names[place] for place in places] if places else names
        said: Mapping[str, Any] = schema.edges or schema.declared
        if schema.edges and schema.declared:
            said = {**schema.edges, **schema.declared}
        declared = [said.get(name, ()) for name in of_these] if said else None
        facts = ColumnInfo(tally.classes, of_these, declared or [()] * len(of_these))
        yield Share(number, tuple(places), family, block, facts, group.kind)
