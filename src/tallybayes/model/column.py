"""One column of a model on its own: its distributions, and the values it may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.batches import Block, batches, encoded
from tallybayes.errors import CannotDrawError, TallyBayesError, did_you_mean
from tallybayes.families import Parameters
from tallybayes.families.terms import Lookup
from tallybayes.kind import about
from tallybayes.model.factors import Factor
from tallybayes.rendering.words import composed
from tallybayes.schema import Kind, Schema
from tallybayes.sources import Frame, Source, as_source, selected
from tallybayes.sources.labels import Label
from tallybayes.tallies.blocks import Support

DRAWS = 2000  # by which columns of which nothing was counted show what they may be
MOST_LISTED = 20
GRID = 513  # numbers among which values are drawn where a family says no more than log_prob


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A column of a model: made by `Model.column`.

    Examples
    --------
    >>> from tallybayes import NaiveBayes
    >>> table = {"status": ["Single", "Married", "Single"], "income": [90.0, 125.0, 70.0]}
    >>> column = NaiveBayes().fit(table, ["Yes", "No", "No"]).model_.column("status")
    >>> column.support.names
    ('Married', 'Single')
    >>> np.exp(column.log_prob(["Single"])).round(3).tolist()
    [[0.5, 0.667]]
    """

    schema: Schema
    classes: tuple[Label, ...]
    factor: Factor
    unit: int
    beside: Mapping[str, Sequence[ModelColumn]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.factor.names[self.unit])

    @property
    def kind(self) -> Kind:
        """What was counted of it."""
        return self.schema.kind(self.name)

    @cached_property
    def parameters(self) -> Parameters:
        """The distributions themselves."""
        return self.factor.parameters.select([self.unit])

    @cached_property
    def scored(self) -> Parameters:
        """What predictions use: the distributions with a calibration's exponents."""
        return self.factor.scored.select([self.unit])

    @property
    def exponent(self) -> float:
        """What a calibration raises its factor to."""
        return self.factor.exponent(self.unit)

    @property
    def silence(self) -> str | None:
        """Why it says nothing at all, if that is so."""
        return self.factor.parameters.silence(self.unit)

    def left_out(self, value: Any) -> str | None:
        """Say why the factor of a value that is there is left out, if it is."""
        return self.factor.parameters.left_out(self.unit, value)

    def detail(self, value: Any) -> str:
        """Say what a value was taken for, if that is something else: its interval, on or off."""
        return self.factor.parameters.detail(self.unit, value)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the columns that it reads: itself, unless it is counted beside them."""
        places = self.schema.groups[self.factor.group].columns(self.factor.places[self.unit])
        return tuple(str(self.schema.names[place]) for place in places)

    @property
    def views(self) -> Sequence[ModelColumn]:
        """All ways in which what it reads is counted, itself among them: their terms add up."""
        return self.beside.get(self.subject, (self,))

    @property
    def subject(self) -> str:
        """What its views are about: the column, or "age x income" of several."""
        return composed(about, self.reads)

    @cached_property
    def _alone(self) -> Schema:
        """The schema of what it reads, and of what is counted of that."""
        columns = Schema(self.reads, tuple(self.schema.kind(name) for name in self.reads))
        beside = self.reads != (self.name,)
        return columns.with_extra(self.kind, self.reads) if beside else columns

    def rows_of(self, source: Source) -> Frame:
        """Return a table of only the columns that it reads."""
        known = source.names if isinstance(source, Frame) else self.schema.names
        for name in self.reads:
            if name not in known:
                raise TallyBayesError(f"X has no column {name!r}; {did_you_mean(name, known)}")
        return selected(source, self.schema.names, self.reads)

    def encoded(self, source: Source) -> Block:
        """Return the column of some rows as the parameters read it."""
        return encoded(self.rows_of(source), self._alone)[-1]

    def log_prob(self, values: Sequence[Any]) -> Floats:
        """Return log P(value | class) for each value (down) and class (across).

        Where it reads several columns, a value is a tuple of theirs.
        """
        return self._asked(self.parameters, values)

    def evidence(self, values: Sequence[Any]) -> Floats:
        """Return what each value (down) adds to the score of each class (across), in all views."""
        terms = (each._asked(each.scored, values) for each in self.views)
        return sum(terms, np.zeros((len(values), len(self.classes))))

    def payload(self, most_words: int) -> dict[str, Any]:
        """Return its term, the columns that it reads and what it can be, as plain data."""
        support, default = self.support, Support()
        if not self.factor.kind.takes_plain_values:
            raise self._cannot_be_written(f"{self.factor.kind!r} makes something else of values")
        term = self.factor.parameters.term(self.unit)
        if term is None:  # its family does not say it: a table of the known values
            if not support.values or support.intervals:
                family = type(self.factor.family).__name__
                why = f"{family} is only known by the log_prob of its parameters"
                raise self._cannot_be_written(why)
            rows = self.log_prob(support.values).tolist()
            term = Lookup(dict(zip(support.values, rows, strict=True)), len(self.classes))
        if self.reads != (self.name,):  # what columns can be, they say themselves
            support = default
        told = {each.name: getattr(support, each.name) for each in fields(Support)}
        return {
            "name": self.name,
            "reads": self.reads,
            "exponent": self.exponent,
            "support": {k: v for k, v in told.items() if v != getattr(default, k)},
            "term": term.payload(most_words),
        }

    def _cannot_be_written(self, why: str) -> TallyBayesError:
        return TallyBayesError(
            f"column {self.name!r} cannot be written down: {why}; give the parameters a method "
            "term(unit) that returns a Lookup, Steps, Quadratic or Linear of "
            "tallybayes.families.terms"
        )

    def _asked(self, parameters: Parameters, values: Sequence[Any]) -> Floats:
        if not len(values):
            return np.zeros((0, len(self.classes)))
        columns = [values] if len(self.reads) == 1 else zip(*values, strict=True)
        table = {name: list(column) for name, column in zip(self.reads, columns, strict=True)}
        (batch,) = batches(as_source(table), self._alone)
        return parameters.log_prob(batch.blocks[-1])[:, 0, :] + 0.0  # no -0.0

    def sample(self, rng: np.random.Generator, classes: NDArray[np.int64]) -> NDArray[Any]:
        """Draw among the values that were counted, by their probabilities."""
        values = () if self.factor.counted is None else self.support.grid(GRID)
        if not len(values):
            raise CannotDrawError(
                f"column {self.name!r} cannot be drawn: {type(self.parameters).__name__} has no "
                "sample(), and the counts do not tell which values there are"
            )
        logs = self.log_prob(values).T[classes]
        ends = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        at = (ends < rng.random((len(classes), 1)) * ends[:, -1:]).sum(axis=1)
        chosen: NDArray[Any] = np.array(values)[at]
        return chosen

    @cached_property
    def shown(self) -> Support:
        """The support as pictures show it: with values that were declared and never counted."""
        seen = self.support
        declared = self.schema.declared.get(self.name, ()) if seen.values else ()
        unseen = tuple(each for each in declared if each not in seen.values)
        names = tuple(map(self.kind.named, unseen))
        return replace(seen, values=seen.values + unseen, names=seen.names + names)

    @cached_property
    def support(self) -> Support:
        """What the column can be, as far as was counted, or else by what it would draw."""
        if self.silence is not None:
            return Support()
        if self.factor.counted is not None:
            return self.factor.counted.support(self.unit, self.kind) or Support()
        classes = np.arange(DRAWS) % len(self.classes)
        drawn = self.parameters.sample(np.random.default_rng(0), classes)
        if drawn is None:
            return Support()
        values = np.unique(drawn[0])
        if len(values) <= MOST_LISTED or values.dtype.kind not in "iuf":
            listed = tuple(values.tolist())
            return Support(listed, tuple(self.detail(x) or str(x) for x in listed))
        whole = bool((values == np.round(values)).all())
        return Support(
            span=(float(values[0]), float(values[-1])),
            whole=whole,
            density=not whole,
            spread=float(np.std(drawn[0])),
            centres=tuple(float(drawn[0][classes == c].mean()) for c in range(len(self.classes))),
        )
