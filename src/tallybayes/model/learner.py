"""A model that learns single records in place, in microseconds.

`Fitted` is a value: a tally, and the model that follows. To count one record into it and to
estimate again takes more than a millisecond, nearly all of it NumPy's overhead. A `Learner` does
not estimate again: its units (`families.running`) keep what they score by up to date, a few
logarithms for each record, and the records wait to be counted in batches, in the way in which all
records are counted. So its tally is the tally of one pass, and what it answers is what the model
of that tally answers.

What is odd about a record (a value of another type, a new class, a column that is not there) is
left to the careful path: what waits is counted, then this record alone, with all the errors that
there are. Families that have no short way (`Family.running`) have the model estimated again when a
record is scored after others were learnt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import Any

from tallybayes.families.running import log_of
from tallybayes.families.terms import Scores
from tallybayes.kind import ODD, Reader
from tallybayes.model.factors import Factor
from tallybayes.model.model import Model
from tallybayes.model.recipe import Fitted
from tallybayes.model.records import Posterior, posterior_from, table_of
from tallybayes.priors import Empirical
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally

MOST_WAITING = 1_000  # records, unless the tally is large
CELLS_A_RECORD = 200  # of the tally: adding to it costs no more than counting the records
LEAST_WEIGHT, MOST_WEIGHT = 1e-50, 1e50  # of a record that is counted with others

Read = Callable[[Mapping[str, Any]], tuple[list[Any], list[Any]]]
Learn = Callable[[Any, int, float], None]
Score = Callable[[Any], Scores]


class Learner:
    """A model that learns and scores one record at a time.

    Records are learnt in any order, with any weights, in between new classes, new categories and
    missing values; at any moment the posterior is that of the model of all records learnt so far,
    and `fitted` is what was counted. What is refused changes nothing. Several threads may use it at
    once: they take turns.

    Parameters
    ----------
    fitted
        What was counted before, perhaps nothing, and how models are estimated. It stays as it is.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted, Learner
    >>> day = Tally.of({"visits": [1.0, 2.0, 9.0, 8.0]}, ["no", "no", "yes", "yes"])
    >>> learner = Learner(Fitted(day))
    >>> learner.learn({"visits": 7.0}, "yes")
    >>> max(learner.posterior_of({"visits": 6.5}).items(), key=lambda item: item[1])[0]
    'yes'
    >>> learner.fitted.tally.rows.tolist()
    [2, 3]
    """

    def __init__(self, fitted: Fitted) -> None:
        self._given, self._recipe, self._schema = fitted, fitted.recipe, fitted.tally.schema
        self._names = [str(name) for name in self._schema.names]
        self._known = frozenset((*self._names, self._schema.target))
        self._lock = RLock()
        self._waiting: list[tuple[list[Any], Label, float]] = []
        self._become(copy(fitted.tally))

    def learn(self, record: Mapping[str, Any], label: Label, weight: float = 1.0) -> None:
        """Learn a record; if it is refused, nothing has changed.

        Parameters
        ----------
        record
            Its values by column; columns that it does not have are missing.
        label
            Its class.
        weight
            How many times it counts.
        """
        with self._lock:
            try:
                c, values, cells = self._admitted(record, label, weight)
            except ODD:
                self._learn_alone(record, label, weight)
            else:
                self._take_in(values, cells, label, c, float(weight))

    def forget(self, record: Mapping[str, Any], label: Label, weight: float = 1.0) -> None:
        """Take a record away that was learnt, with the weight that it had.

        It takes the careful path. What cannot be right is refused, and nothing has changed.

        Parameters
        ----------
        record, label, weight
            As it was learnt.
        """
        with self._lock:
            self._become(self._counted() - self._alone(record, label, weight))

    def posterior_of(self, record: Mapping[str, Any]) -> Posterior:
        """Return P(c | x) by all that was learnt so far: see `Model.posterior_of`."""
        with self._lock:
            try:
                posterior = self._scored(self._read(record)[1])
            except ODD:
                posterior = None
            return self._model.posterior_of(record) if posterior is None else posterior

    def test_then_learn(
        self, record: Mapping[str, Any], label: Label, weight: float = 1.0
    ) -> Posterior:
        """Learn a record, and return the posterior that it had before: progressive validation.

        The record is read once, so that this takes less than one after the other.

        Parameters
        ----------
        record, label, weight
            As for `learn`.
        """
        with self._lock:
            try:
                c, values, cells = self._admitted(record, label, weight)
                posterior = self._scored(cells)
            except ODD:
                posterior = None
            if posterior is None:
                posterior = self._model.posterior_of(record)
                self.learn(record, label, weight)
            else:
                self._take_in(values, cells, label, c, float(weight))
            return posterior

    @property
    def fitted(self) -> Fitted:
        """What was counted so far, and how models are estimated from it."""
        with self._lock:
            fitted, given = Fitted(copy(self._counted()), self._recipe), self._given
            same = given.labels is not None and fitted.classes == given.classes
            return replace(fitted, labels=given.labels) if same else fitted

    def _become(self, tally: Tally) -> None:
        """Take over a tally, of which neither the readers nor the units know yet."""
        self._settle(tally)
        self._read: Read = self._read_first
        self._units: _Units | None = None  # until the first record is scored

    def _settle(self, tally: Tally) -> None:
        """Keep a tally in which everything is counted."""
        self._tally, self._fitted = tally, Fitted(tally, self._recipe)
        cells = sum(part.size for block in tally.blocks for part in block.parts().values())
        self._most_waiting = max(MOST_WAITING, cells // CELLS_A_RECORD)

    def _counted(self) -> Tally:
        """Count the records that wait, and return the tally."""
        if self._waiting:
            rows, labels, weights = zip(*self._waiting, strict=True)
            columns = dict(zip(self._names, map(list, zip(*rows, strict=True)), strict=True))
            w = None if weights.count(1.0) == len(weights) else weights
            self._settle(self._tally + Tally.of(columns, [*labels], w, schema=self._schema))
            self._waiting.clear()
        return self._tally

    @property
    def _model(self) -> Model:
        """The model of all records."""
        self._counted()
        return self._fitted.model

    def _alone(self, record: Mapping[str, Any], label: Label, weight: float) -> Tally:
        """Count one record; everything that is wrong with it is an error."""
        table = table_of(self._schema, record)
        return Tally.of(table, [label], [weight], schema=self._schema)

    def _learn_alone(self, record: Mapping[str, Any], label: Label, weight: float) -> None:
        tally = self._counted() + self._alone(record, label, weight)
        self._recipe.require(tally)
        self._become(tally)

    def _read_first(self, record: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """Find out how values are read, by the values that were counted, and read a record."""
        tally, schema = self._tally, self._schema
        readers: dict[int, Reader] = {}
        for group, block in zip(schema.groups, tally.blocks, strict=True):
            labels = block.stored_labels() or ((),) * len(group)
            for unit, (kind, known) in enumerate(zip(schema.kinds_of(group), labels, strict=True)):
                reader = kind.reader(known)
                if reader is None:
                    raise LookupError  # what the kind takes is known when it is counted
                if group not in schema.extra:
                    place = group.columns(unit)[0]
                    family = self._recipe.family_of(schema, schema.names[place])
                    readers[place] = _known_only(reader, known) if family.is_stated else reader
        self._classes = {label: c for c, label in enumerate(self._fitted.classes)}
        self._label_type = type(self._fitted.classes[0]) if self._classes else None
        in_order = [readers[place] for place in range(len(self._names))]
        names, columns = self._names, self._known

        def read(record: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
            if not record.keys() <= columns:
                raise LookupError
            get = record.get
            values = [get(name) for name in names]
            return values, [reader(value) for reader, value in zip(in_order, values)]  # noqa: B905

        self._read = read
        return read(record)

    def _admitted(
        self, record: Mapping[str, Any], label: Label, weight: float
    ) -> tuple[int, list[Any], list[Any]]:
        """Return a record's class, and its values as they are and encoded; ODD asks for care."""
        values, cells = self._read(record)
        if type(label) is not self._label_type or not LEAST_WEIGHT < weight < MOST_WEIGHT:
            raise LookupError
        return self._classes[label], values, cells

    def _take_in(self, values: list[Any], cells: list[Any], label: Label, c: int, w: float) -> None:
        """Let a record that can be counted wait, and tell the units."""
        self._waiting.append((values, label, w))
        if self._units is not None:
            self._units.learn(cells, c, w)
        if len(self._waiting) >= self._most_waiting:
            self._counted()

    def _scored(self, cells: list[Any]) -> Posterior | None:
        """Return the posterior by what the units know; None asks for care."""
        if self._units is None or (self._units.blank and self._waiting):
            self._units = _Units(self._model)
        return self._units.posterior(cells)


def _known_only(reader: Reader, known: Sequence[Label]) -> Reader:
    """Read values that were counted; of others it may not be stated what they need."""
    values = frozenset(known)

    def read(value: Any) -> Any:
        if (cell := reader(value)) is not None and cell not in values:
            raise LookupError
        return cell

    return read


class _Units:
    """The prior and the units of a model, which learn in place; `blank` if they cannot."""

    def __init__(self, model: Model) -> None:
        self._model, prior = model, model.counted.prior
        self._weight = model.counted.weight.tolist()
        self._start = model.log_prior.tolist()
        self._learns: list[tuple[int, Learn]] = []
        self._scores: list[tuple[int, Score]] = []
        self._share = prior.share if isinstance(prior, Empirical) else None
        if self._share is not None:  # without the total, which is the same in all classes
            self._start = [*map(self._of_prior, range(len(self._weight)))]
        self.blank = not all(map(self._has_units, model.factors))

    def _has_units(self, factor: Factor) -> bool:
        """Take over the units of a factor, if it has any."""
        group, units = self._model.schema.groups[factor.group], factor.running()
        if units is None or group in self._model.schema.extra:
            return False
        for place, unit in zip(factor.places, units, strict=True):
            (column,) = group.columns(place)
            self._learns.append((column, unit.learn))
            self._scores.append((column, unit.score))
        return True

    def _of_prior(self, c: int) -> float:
        """Return what a class scores beforehand; one that is ruled out stays so."""
        log = log_of(self._share(self._weight[c])) if self._share else 0.0
        if log == -math.inf:
            return log
        return self._model.prior_exponent * log + self._model.constants[c]

    def learn(self, cells: list[Any], c: int, w: float) -> None:
        """Learn a record."""
        if self.blank:
            return
        self._weight[c] += w
        if self._share is not None:
            self._start[c] = self._of_prior(c)
        for column, learn in self._learns:
            cell = cells[column]
            if cell is not None:
                learn(cell, c, w)

    def posterior(self, cells: list[Any]) -> Posterior | None:
        """Return the posterior of a record; None asks for care."""
        if self.blank:
            return None
        scores = [
            score(cell) for column, score in self._scores if (cell := cells[column]) is not None
        ]
        return posterior_from(self._model.classes, self._start, scores)
