"""The model: prior and parameters in, scores, posteriors, decisions and samples out.

For a record x and a class c the score is s_c = P(c) prod_i P(x_i | c); divided by the sum over the
classes it is the posterior. All of it is computed with logarithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats
from tallybayes.batches import Batch, Block, batches, cells_of
from tallybayes.errors import TallyBayesError, TallyBayesWarning, number, warn, whole
from tallybayes.families.parameters import safe_log
from tallybayes.kernels.choice import part_of
from tallybayes.kernels.scoring import log_sum_exp, shares
from tallybayes.metrics.confusion import place_of
from tallybayes.metrics.decisions import Rule
from tallybayes.metrics.predictions import winners
from tallybayes.model.calibration import Calibration
from tallybayes.model.column import ModelColumn
from tallybayes.model.factors import Factor
from tallybayes.model.records import RecordScorer, record_scorer, table_of
from tallybayes.priors import Fractions, Prior
from tallybayes.rendering.words import plain
from tallybayes.schema import Schema, no_column
from tallybayes.sources import Source, as_source
from tallybayes.sources.labels import Label
from tallybayes.value import Stated

PAYLOAD_VERSION = 2
MOST_WORDS = 5_000
MOST_LOOKED_AT = 1_000  # columns of which it is told whether only whole numbers were counted


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """The rows of each class and their weights, and the prior that is made of them."""

    prior: Prior
    rows: NDArray[np.int64]
    weight: Floats


@dataclass(eq=False, repr=False)
class Model(Stated):
    """A naive Bayes model, estimated from a tally or stated by hand.

    Parameters
    ----------
    schema : Schema
        The columns.
    classes : tuple
        The classes, sorted: the order of the columns of every array that the model returns.
    factors : tuple of Factor
        The parameters of the columns.
    counted : ClassCounts
        The rows of each class, and the prior.
    positive : label or None
        The class that wins only when its score is strictly greater than all others.
    calibration : Calibration or None
        What corrects over-confidence, if it was fitted.
    rule : Threshold, Losses or None
        How a class is decided for, if not by the greatest probability.

    Attributes
    ----------
    prior : array
        The prior probability of each class.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"income": [125.0, 100.0, 95.0, 85.0], "owner": ["Yes", "No", "No", "No"]}
    >>> model = estimate(Tally.of(table, ["No", "No", "Yes", "Yes"], target="cheat"))
    >>> model.predict({"income": [120.0, 90.0], "owner": ["Yes", "No"]}).tolist()
    ['No', 'Yes']
    """

    schema: Schema
    classes: tuple[Label, ...]
    factors: tuple[Factor, ...]
    counted: ClassCounts
    positive: Label | None = None
    calibration: Calibration | None = None
    rule: Rule | None = None
    prior: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.prior = self.counted.prior.probabilities(self.classes, self.counted.weight)
        if self.positive is not None:
            place_of(self.positive, self.classes, "the positive class ")

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.classes[:6])) + (", ..." if len(self.classes) > 6 else "")
        return f"Model({len(self.schema.names)} columns, classes {names})"

    @property
    def prior_exponent(self) -> float:
        """What a calibration raises the prior to."""
        return 1.0 if self.calibration is None else float(self.calibration.prior)

    @property
    def constants(self) -> tuple[float, ...]:
        """What a calibration adds to the score of each class."""
        added = {} if self.calibration is None else self.calibration.constants
        return tuple(added.get(label, 0.0) for label in self.classes)

    @property
    def prior_fractions(self) -> Fractions:
        """What the prior of each class comes from, if it comes from counts."""
        return self.counted.prior.fractions(self.counted.weight)

    @property
    def prior_how(self) -> str:
        """How the prior comes about, in words."""
        return self.counted.prior.how(int(self.counted.rows.sum()), self.counted.weight)

    @property
    def free_parameters(self) -> int:
        """How many numbers can be chosen freely: probabilities that sum to one lose one."""
        return len(self.classes) - 1 + sum(f.parameters.sizes[0] for f in self.factors)

    @property
    def table_entries(self) -> int:
        """How many numbers the tables of priors and distributions show."""
        return len(self.classes) + sum(f.parameters.sizes[1] for f in self.factors)

    def joint_log_likelihood(self, X: Any) -> Floats:
        """Return log s_c = log P(c) + sum_i log P(x_i | c) for each row and class.

        In a calibrated model each of the terms is multiplied by its exponent.
        """
        source = as_source(X)
        out = np.empty((source.n_rows, len(self.classes)))
        for _ in self.joint_by_batch(source, out):
            pass
        return out

    def joint_by_batch(self, source: Source, out: Floats) -> Iterator[Batch]:
        """Go through the rows as they were encoded, after their log scores are in `out`."""
        out[:] = self.log_prior
        for batch in batches(source, self.schema):
            part = out[batch.rows]
            self._check(batch)
            try:
                with part_of(cells_of(source)):
                    for factor in self.factors:
                        factor.scored.add_log_likelihood(factor.block_of(batch), part)
            except TallyBayesError as error:
                raise error.moved(batch.rows.start) from None
            if not (finite := np.isfinite(part[:, 0])).all():
                self._check(batch, np.flatnonzero(~finite))
            yield batch

    def joint_of(self, blocks: Sequence[Block], n_rows: int) -> Floats:
        """Return the same for rows that were encoded, and checked, before."""
        out = np.tile(self.log_prior, (n_rows, 1))
        batch = Batch(slice(0, n_rows), tuple(blocks))
        for factor in self.factors:
            factor.scored.add_log_likelihood(factor.block_of(batch), out)
        return out

    def _check(self, batch: Batch, impossible: Array | None = None) -> None:
        """Refuse what cannot be scored: negative counts, infinite numbers."""
        for group, block in zip(self.schema.groups, batch.blocks, strict=True):
            names = self.schema.names_of(group)
            group.kind.refuse_unusable(block, names, batch.rows.start, impossible)

    def scores(self, X: Any) -> Floats:
        """Return the lectures' s_c = P(c) prod_i P(x_i | c); long records underflow to 0."""
        return np.exp(self.joint_log_likelihood(X))

    def log_posterior(self, X: Any) -> Floats:
        """Return log P(c | x) for each row and class."""
        joint = self.joint_log_likelihood(X)
        impossible = np.isneginf(joint.max(axis=1))
        if impossible.any():
            _warn_of_impossible(impossible)
            joint[impossible] = safe_log(self.prior)
        joint -= log_sum_exp(joint)[:, None]
        return joint

    def posterior(self, X: Any) -> Floats:
        """Return P(c | x) for each row and class; every row sums to one."""
        return self.posterior_from(self.joint_log_likelihood(X))

    def posterior_from(self, joint: Floats) -> Floats:
        """Turn log scores into posteriors, in place."""
        if shares(joint):
            impossible = joint.max(axis=1) == 0.0
            _warn_of_impossible(impossible)
            joint[impossible] = self.prior
        return joint

    def posterior_of(self, record: Mapping[str, Any]) -> dict[Label, float]:
        """Return P(c | x) of one record, in microseconds.

        Columns that the record does not have are missing: their factors are left out. The target
        may be in the record and is not looked at.
        """
        posterior = None if self._record_scorer is None else self._record_scorer(record)
        if posterior is None:
            # something is unusual: the careful path knows all the rules and has all the errors
            row = self.posterior(self.table_of(record))[0]
            posterior = dict(zip(self.classes, row.tolist(), strict=True))
        return posterior

    def table_of(self, record: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return a record as a table of one row; columns that it does not have are missing."""
        return table_of(self.schema, record)

    @cached_property
    def log_prior(self) -> Floats:
        """The logarithm of the prior, times its exponent in a calibrated model, and the constants.

        A class that the prior rules out stays impossible, whatever the exponent.
        """
        logs = safe_log(self.prior)
        if self.calibration is not None:
            np.multiply(logs, self.calibration.prior, out=logs, where=np.isfinite(logs))
            logs += self.constants
        return logs

    @cached_property
    def _record_scorer(self) -> RecordScorer | None:
        return record_scorer(self.schema, self.classes, self.log_prior, self.factors)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, or the one that the model's rule decides for.

        Ties go to the first class in order; a named positive class wins only when it is strictly
        more probable than all others.
        """
        chosen: Array = np.array(self.classes)[self.winners(X)]
        return chosen

    def winners(self, X: Any) -> NDArray[np.intp]:
        """Return the place of the most probable class of each row: see `predict`."""
        scores = self.joint_log_likelihood(X)
        if self.rule is not None:
            return self.judged_from(scores)[1]
        return winners_of(scores, self.prior, self.classes, self.positive)

    def judged(self, X: Any) -> tuple[Floats, NDArray[np.intp]]:
        """Return what `posterior` and `winners` return, for which the rows are scored once."""
        return self.judged_from(self.joint_log_likelihood(X))

    def judged_from(self, scores: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Return the same from log scores, which are overwritten."""
        if self.rule is not None:
            posterior = self.posterior_from(scores)
            return posterior, self.rule.places(posterior, self.classes, self.positive)
        places = winners_of(scores, self.prior, self.classes, self.positive)
        return self.posterior_from(scores), places

    def decide(self, X: Any, losses: Mapping[Any, Mapping[Any, float]] | None = None) -> Array:
        """Return the decision of least expected loss for each row.

        Without losses every mistake costs the same (0/1 loss), and that is what `predict` does.

        Parameters
        ----------
        X
            The rows.
        losses
            For each decision the loss in each class: ``{"block": {"spam": 0, "ham": 10},
            "deliver": {"spam": 1, "ham": 0}}``. Decisions need not be classes. Ties go to the
            decision named first.
        """
        if losses is None:
            return self.predict(X)
        if not isinstance(losses, Mapping) or not losses:
            raise TallyBayesError(
                "losses must say what each decision costs in each class: "
                "{decision: {class: loss, ...}, ...}"
            )
        table = []
        for decision, row in losses.items():
            where = f"losses of {decision!r}: "
            for label in row:
                place_of(label, self.classes, where)
            whats = {label: f"{where}the loss in class {label!r}" for label in self.classes}
            table.append([number(row.get(label), what) for label, what in whats.items()])
        expected = self.posterior(X) @ np.array(table).T
        chosen: Array = np.array(list(losses))[expected.argmin(axis=1)]
        return chosen

    @cached_property
    def units(self) -> dict[str, ModelColumn]:
        """The columns, and what is counted beside them, by name."""
        views: dict[str, list[ModelColumn]] = {}
        units = {
            str(name): ModelColumn(self.schema, self.classes, factor, unit, views)
            for factor in self.factors
            for unit, name in enumerate(factor.names)
        }
        for column in units.values():
            views.setdefault(column.subject, []).append(column)
        return units

    def column(self, name: str) -> ModelColumn:
        """Return one column on its own: its distributions, and the values it may have."""
        if str(name) not in self.units:
            raise no_column(str(name), self.schema.names)
        return self.units[str(name)]

    def columns(self) -> Iterator[ModelColumn]:
        """Go through the columns, in the order of the table."""
        return map(self.column, self.schema.names)

    def joints(self) -> list[ModelColumn]:
        """Return what is counted of several columns together, what gained most first."""
        together = {each.subject: each for each in self.units.values() if len(each.reads) > 1}
        return sorted((each.views[0] for each in together.values()), key=self.gain, reverse=True)

    def gain(self, joint: ModelColumn) -> float:
        """Return what columns together promised when they were chosen, in nats of all rows."""
        gains = {} if self.calibration is None else self.calibration.gains
        return max(gains.get(view.name, 0.0) for view in joint.views)

    def payload(self, most_words: int = MOST_WORDS) -> dict[str, Any]:
        """Return all that is needed to compute posteriors elsewhere, as plain data for JSON.

        The score of a class is its `log_prior` plus, for each column, the `exponent` times what its
        `term` gives for the value that it `reads`; further views of a column, and columns together,
        are columns too, and may read several. No term is more than a table, a line, a parabola or
        a quadratic form.
        Numbers that JSON has not are text: "-inf". `tallybayes/web/naive_bayes.js` computes with it
        in a browser: see docs/explanations.md.

        Parameters
        ----------
        most_words
            How many words of a text it has, the most informative ones. If it leaves out any, its
            `notes` say so.

        Examples
        --------
        >>> from tallybayes import Tally, estimate
        >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"], target="cheat")
        >>> payload = estimate(tally).payload()
        >>> payload["classes"], payload["columns"][0]["term"]["values"]
        (['No', 'Yes'], ['Married', 'Single'])
        """
        whole(most_words, "most_words", 1)
        columns = [column.payload(most_words) for column in self.units.values()]
        notes = []
        if self.rule is not None:
            said = self.rule.words(self.classes, self.positive, self.schema.target)
            notes.append(f"what is computed here is the most probable class; in the model {said}")
        for name, term in ((column["name"], column["term"]) for column in columns):
            if left_out := term.get("left_out"):
                known = len(term["words"])
                notes.append(
                    f"{name}: only the {known:,} most informative of {known + left_out:,} words "
                    "are here, so that posteriors of texts with other words differ"
                )
        payload: dict[str, Any] = plain(
            {
                "version": PAYLOAD_VERSION,
                "target": self.schema.target,
                "classes": self.classes,
                "positive": self.positive,
                "prior": self.prior,
                "log_prior": self.log_prior,
                "columns": columns,
                "notes": notes,
            }
        )
        return payload

    def sample(
        self, n: int, given: Mapping[str, Any] | None = None, seed: Any = None
    ) -> dict[str, Array]:
        """Draw whole plausible records: a class by the prior, then each column by itself.

        Within a class columns are independent, as naive Bayes takes them to be. Further views of a
        column, and columns that are counted together, draw nothing: a model with weights for them
        tells classes apart, but says not how rows come about. They have their say where values are
        given, for these change how probable the classes are. Of a column of up to
        1,000 in which only whole numbers were counted whole numbers are drawn.

        Parameters
        ----------
        n
            How many.
        given
            Values that the records shall have: of columns, of the target, or of both. What is
            given of the columns changes how probable the classes are.
        seed
            A number that makes the draw repeatable, or a NumPy generator.

        Returns
        -------
        dict
            An array for every column, and for the target.
        """
        whole(n, "n", 0)
        if not isinstance(given, Mapping | None):
            raise TallyBayesError(
                f"given is {given!r}; give a mapping: {{{self.schema.target!r}: label}}"
            )
        fixed, rng, schema = dict(given or {}), np.random.default_rng(seed), self.schema
        label = fixed.pop(schema.target, None)
        for name in fixed:
            if name not in schema.names:  # what is counted beside them cannot be given
                raise no_column(name, [*schema.names, schema.target])
        if label is not None:
            classes = np.full(n, place_of(label, self.classes, "given: "))
        else:
            p = np.array(list(self.posterior_of(fixed).values())) if fixed else self.prior
            classes = rng.choice(len(p), size=n, p=p / p.sum())
        records = dict.fromkeys(map(str, schema.names), classes)
        for factor in self.factors:
            if factor.group < len(schema.groups) - len(schema.extra):
                values = factor.parameters.sample(rng, classes)
                if values is None:
                    values = [self.column(name).sample(rng, classes) for name in factor.names]
                drawn = zip(map(str, factor.names), values, strict=True)
                records.update((name, self._as_counted(name, x)) for name, x in drawn)
        records.update({name: np.full(n, value) for name, value in fixed.items()})
        return {**records, schema.target: np.array(self.classes)[classes]}

    def _as_counted(self, name: str, values: Array) -> Array:
        """Return what was drawn of a column, as whole numbers where only such were counted."""
        if getattr(values, "dtype", None) != np.float64 or len(self.schema.names) > MOST_LOOKED_AT:
            return values
        support = self.column(name).support
        return np.rint(values) if support.whole and support.density else values


def winners_of(
    joint: Floats,
    prior: Floats,
    classes: Sequence[Label],
    positive: Label | None,
    numbers: NDArray[np.int64] | None = None,
) -> NDArray[np.intp]:
    """Return the place of the class with the greatest score in each row: see `winners`.

    Where no class is possible the prior decides, which may be one for all rows or one a row; a
    warning tells their `numbers`.
    """
    places = winners(joint, classes, positive)
    impossible = np.isneginf(joint[np.arange(len(joint)), places])
    if impossible.any():
        _warn_of_impossible(impossible, numbers)
        of_rows = np.broadcast_to(prior, joint.shape)[impossible]
        places[impossible] = winners(of_rows, classes, positive)
    return places


def _warn_of_impossible(
    impossible: NDArray[np.bool_], numbers: NDArray[np.int64] | None = None
) -> None:
    """Say that rows have likelihood zero in every class."""
    first = int(np.argmax(impossible))
    warn(
        f"row {first if numbers is None else int(numbers[first])} is impossible in every class "
        f"({int(impossible.sum())} such rows), so its posterior is the prior; where a "
        "probability of zero is the reason, smooth with alpha > 0",
        TallyBayesWarning,
    )
