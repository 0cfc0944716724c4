"""Many records explained at once: arrays of the same numbers that `explain` shows for one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Array, Floats
from tallybayes.batches import Block, cells_of, take_columns
from tallybayes.errors import TallyBayesError, whole
from tallybayes.explanations.explanation import (
    Explanation,
    explain,
    model_of,
    record_in,
)
from tallybayes.families.parameters import Parameters
from tallybayes.kernels.choice import part_of
from tallybayes.metrics.confusion import place_of
from tallybayes.model import Model
from tallybayes.sources import Source, as_source
from tallybayes.sources.labels import Label

MOST_NUMBERS = 1 << 30  # 8 GB


@dataclass(frozen=True, eq=False)
class Explanations:
    """Why many records get their answers; make it with `explain_all`.

    ``explanations[i]`` is the whole `Explanation` of record i, with its words and reasons; all of
    them can be gone through.

    Parameters
    ----------
    model, source
        The model, and the records.
    names
        The columns, and behind them columns that are counted together.
    terms : array of shape (records, names, classes)
        What each column adds to the logarithm of each class's score, in all ways in which it is
        counted: 0 where it is left out. A text is one column. With the `log_prior` of the model
        they add up to `joint`.
    joint, posterior : arrays of shape (records, classes)
        The joint log-likelihood, and what `predict_proba` returns.
    """

    model: Model
    source: Source
    names: tuple[str, ...]
    terms: Floats
    joint: Floats
    posterior: Floats

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in the order of the arrays."""
        return self.model.classes

    @property
    def log_prior(self) -> Floats:
        """The logarithm of the prior of each class, times its exponent in a calibrated model."""
        return self.model.log_prior

    @cached_property
    def winners(self) -> NDArray[np.intp]:
        """The place of the class that is predicted for each record."""
        return self.model.judged_from(self.joint.copy())[1]

    @property
    def decisions(self) -> Array:
        """The class that is predicted for each record."""
        return np.array(self.classes)[self.winners]

    def evidence(self, one: Label | None = None, other: Label | None = None) -> Floats:
        """Weigh the evidence of each record (down) and column (across), in bits.

        NaN where a value is impossible in both classes, which says nothing of the two.

        Parameters
        ----------
        one, other
            The class that evidence speaks for, and the one that it speaks against: the decision on
            each record and its runner-up when not given; the `one` alone is against the decision.
        """
        if len(self.classes) < 2:
            raise TallyBayesError("there is one class only, so nothing to weigh it against")
        a = self.winners if one is None else place_of(one, self.classes)
        b = self.winners if other is None else place_of(other, self.classes)
        rows, a, b = np.broadcast_arrays(np.arange(len(self)), a, b)
        if other is None:
            b = np.where(a == self.winners, self._runners_up(), b)
        if (a == b).any():
            raise TallyBayesError(
                "evidence is for one class against another; give two different classes, none for "
                "each record's decision against its runner-up, or `one` alone"
            )
        with np.errstate(invalid="ignore"):
            return np.asarray((self.terms[rows, :, a] - self.terms[rows, :, b]) / np.log(2.0))

    def strongest(self, n: int = 3, one: Label | None = None, other: Label | None = None) -> Array:
        """Name the n columns of each record whose `evidence` is strongest, either way."""
        whole(n, "n", 1)
        strength = np.nan_to_num(np.abs(self.evidence(one, other)), nan=-1.0, posinf=np.inf)
        best = np.argsort(-strength, axis=1, kind="stable")[:, :n]
        return np.array(self.names, dtype=object)[best]

    def _runners_up(self) -> NDArray[np.intp]:
        """Return the most probable other class of each record, the first of equals."""
        others = self.posterior.copy()
        others[np.arange(len(self)), self.winners] = -1.0
        best = others == others.max(axis=1, keepdims=True)
        # probabilities may be too small to tell apart; their logarithms are not
        logs = np.where(best, np.maximum(self.joint, np.finfo(np.float64).min), -np.inf)
        return np.asarray(logs.argmax(axis=1))

    def __len__(self) -> int:
        return len(self.joint)

    def __getitem__(self, row: int) -> Explanation:
        row = index(row)  # which refuses slices
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no record {row}; there are {len(self)}")
        return explain(self.model, record_in(self.model, self.source, range(len(self))[row]))

    def __repr__(self) -> str:
        return f"<Explanations of {len(self)} records, {len(self.names)} columns>"


def explain_all(model: Model | Any, X: Any) -> Explanations:
    """Explain the answers for many records at once.

    Parameters
    ----------
    model
        The model, or an estimator that was fitted.
    X
        The records: anything that ``model.posterior`` takes.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"owner": ["Yes", "No", "No", "No"], "status": ["Single", "Single", None, "Wed"]}
    >>> model = estimate(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat"))
    >>> found = explain_all(model, {"owner": ["No", "Yes"], "status": ["Single", "Wed"]})
    >>> found.evidence("No", "Yes").round(2).tolist()
    [[-0.15, 1.17], [0.26, -1.42]]
    >>> found.strongest(1).tolist()
    [['status'], ['status']]
    """
    source = model.source_of(X) if hasattr(model, "source_of") else as_source(X)
    model = model_of(model)
    subjects = [model.schema.subjects_of(group) for group in model.schema.groups]
    names = tuple(dict.fromkeys(map(str, chain(model.schema.names, *subjects))))
    place = {name: k for k, name in enumerate(names)}
    numbers = source.n_rows * len(names) * len(model.classes)
    if numbers > MOST_NUMBERS:
        raise TallyBayesError(
            f"explaining {source.n_rows:,} records of {len(names):,} columns and "
            f"{len(model.classes)} classes takes {numbers * 8 / 1e9:,.0f} GB; explain fewer at a "
            "time, or one by one"
        )
    terms = np.zeros((len(names), source.n_rows, len(model.classes)))
    joint = np.empty((source.n_rows, len(model.classes)))
    for batch in model.joint_by_batch(source, joint):
        for factor in model.factors:
            about = subjects[factor.group]
            out = [terms[place[str(about[unit])], batch.rows] for unit in factor.places]
            with part_of(cells_of(source)):
                _add_terms(factor.scored, factor.block_of(batch), out)
    posterior = model.posterior_from(joint.copy())
    return Explanations(model, source, names, terms.transpose(1, 0, 2), joint, posterior)


def _add_terms(parameters: Parameters, block: Block, out: list[Floats]) -> None:
    """Add what each unit says of some rows, by class."""
    if out and len(out[0]) <= len(out):
        terms = parameters.log_prob(block)
        for unit, each in enumerate(out):
            each += terms[:, unit]
        return
    for unit, each in enumerate(out):  # scored as a model of this unit alone
        parameters.select([unit]).add_log_likelihood(take_columns(block, [unit]), each)
