"""One record explained: log prior and contributions add up to the score, in the open.

log s_c = log P(c) + sum_j log P(x_j | c), and the posterior is s_c over the sum of all s. What
`explain` shows are those terms as the model itself computes them, so they add up to the model's
joint log-likelihood to within rounding, for every family and with a calibration's exponents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from tallybayes.batches import batches
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.columns import contributions
from tallybayes.explanations.contrast import Contrast
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.plain import plain_number, plain_numbers
from tallybayes.explanations.subject import model_of, subject_of
from tallybayes.explanations.tables import as_html, as_text
from tallybayes.kernels.scoring import shares
from tallybayes.metrics.tables import shown
from tallybayes.model import Fitted, Model
from tallybayes.model.model import winners_of
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from tallybayes.explanations.working import Working

IMPOSSIBLE = (
    "no class allows this record, so the posterior is the prior; where a probability of zero is "
    "the reason, smooth with alpha > 0"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a record gets its answer; make it with `explain`. It prints as a table.

    Numbers for several classes are in the order of `classes`.

    Parameters
    ----------
    target
        The name of what is predicted.
    classes
        The classes.
    prior, log_prior
        What is believed before anything is known of the record; the logarithm has been multiplied
        by the exponent.
    prior_exponent
        The calibration's exponent of the prior.
    contributions
        What each column adds, in the order of the columns.
    joint
        The model's joint log-likelihood: log prior and contributions added up.
    posterior
        The probability of each class.
    decision
        The class that the model predicts.
    notes
        What a reader should know.
    """

    target: str
    classes: tuple[Label, ...]
    prior: tuple[float, ...]
    log_prior: tuple[float, ...]
    prior_exponent: float
    contributions: tuple[Contribution, ...]
    joint: tuple[float, ...]
    posterior: tuple[float, ...]
    decision: Label
    notes: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[Contribution, ...]:
        """The smallest parts that add up: every column, and of a text every word."""
        return tuple(piece for each in self.contributions for piece in each.pieces)

    @property
    def prior_power(self) -> str:
        """The exponent of the prior as it is written behind it: nothing if it is 1."""
        return "" if self.prior_exponent == 1.0 else f"^ {self.prior_exponent:.4g}"

    @property
    def running_totals(self) -> tuple[tuple[float, ...], ...]:
        """The log prior, and the sum after each contribution: the last one is the joint."""
        steps = [self.log_prior, *(each.log_likelihood for each in self.contributions)]
        return tuple(map(tuple, np.cumsum(np.array(steps), axis=0).tolist()))

    @property
    def runner_up(self) -> Label | None:
        """The most probable of the other classes; the first of equals. None if there are none."""
        others = [k for k, label in enumerate(self.classes) if label != self.decision]
        if not others:
            return None
        # probabilities may be too small to tell apart; their logarithms are not
        return self.classes[max(others, key=lambda k: (self.posterior[k], self.joint[k]))]

    def against(self, one: Label | None = None, other: Label | None = None) -> Contrast:
        """Weigh the evidence for one class against another.

        Parameters
        ----------
        one
            The class that evidence speaks for; the decision when not given.
        other
            The class that it speaks against; the decision when not given, or if that is the `one`,
            its runner-up.

        Examples
        --------
        >>> from tallybayes import stated
        >>> chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.5, "b": 0.5}}
        >>> model = stated({"a": 0.5, "b": 0.5}, chances)
        >>> contrast = explain(model, {"red": True}).against("a", "b")
        >>> round(contrast.total, 9), round(contrast.odds, 9)
        (3.0, 8.0)
        """
        for label in (one, other):
            if label is not None and label not in self.classes:
                hint = did_you_mean(label, self.classes)
                raise TallyBayesError(f"{label!r} is not a class; {hint}")
        one = self.decision if one is None else one
        if other is None:
            other = self.runner_up if one == self.decision else self.decision
        if other is None or one == other:
            raise TallyBayesError(
                f"evidence is for one class against another, not for {one!r} against itself; give "
                "two different classes"
            )
        a, b = self.classes.index(one), self.classes.index(other)
        return Contrast.of(
            one,
            other,
            (self.log_prior[a], self.log_prior[b]),
            (self.joint[a], self.joint[b]),
            [(each, each.log_likelihood[a], each.log_likelihood[b]) for each in self.pieces],
        )

    def to_text(self, one: Label | None = None, other: Label | None = None) -> str:
        """Return a table with the evidence for one class against another: see `against`."""
        if self.runner_up is None:
            return f"{self.target}: {shown(self.decision)} is the only class"
        return as_text(self, self.against(one, other))

    def to_html(self, one: Label | None = None, other: Label | None = None) -> str:
        """Return the same table in HTML, with what is left out and the answer below it."""
        if self.runner_up is None:
            return f"<p>{escape(self.to_text())}</p>"
        return as_html(self, self.against(one, other))

    _repr_html_ = to_html

    def to_dict(self, one: Label | None = None, other: Label | None = None) -> dict[str, Any]:
        """Return everything as JSON can hold it: -inf as text, what is undefined as None.

        Parameters
        ----------
        one, other
            As for `against`.
        """
        several = self.runner_up is not None
        return {
            "target": self.target,
            "classes": list(self.classes),
            "prior": plain_numbers(self.prior),
            "log_prior": plain_numbers(self.log_prior),
            "prior_exponent": plain_number(self.prior_exponent),
            "contributions": [each.to_dict() for each in self.contributions],
            "running_totals": [plain_numbers(each) for each in self.running_totals],
            "joint": plain_numbers(self.joint),
            "posterior": plain_numbers(self.posterior),
            "decision": self.decision,
            "against": self.against(one, other).to_dict() if several else None,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.to_text()


@overload
def explain(
    model: Model | Fitted | Any, record: Mapping[str, Any], show: Literal["evidence"] = "evidence"
) -> Explanation: ...
@overload
def explain(
    model: Model | Fitted | Any, record: Mapping[str, Any], show: Literal["working"]
) -> Working: ...
def explain(
    model: Model | Fitted | Any,
    record: Mapping[str, Any],
    show: Literal["evidence", "working"] = "evidence",
) -> Explanation | Working:
    """Explain the answer for one record.

    Parameters
    ----------
    model
        The model, or an estimator that was fitted.
    record
        A value for each column; columns that it does not have are missing. The target may be in
        the record and is not looked at.
    show : {"evidence", "working"}
        What each value says for and against each class; or the whole arithmetic from the counts
        on, as on a blackboard, for which the model has to be an estimator (what `estimate` returned
        has no counts).

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {"owner": ["Yes", "No", "No", "No"], "status": ["Single", "Single", None, "Wed"]}
    >>> model = estimate(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat"))
    >>> explanation = explain(model, {"owner": "No", "status": "Single"})
    >>> print(explanation)
    cheat: log-likelihoods, and the evidence for No against Yes
    column     value        No      Yes   bits      odds
    prior              -0.2877  -1.3863  +1.58     3 : 1
    status     Single  -0.2877  -1.0986  +1.17  2.25 : 1
    owner      No      -0.5108  -0.4055  -0.15  1 : 1.11
    joint              -1.0862  -2.8904  +2.60  6.07 : 1
    posterior           0.8587   0.1413
    The answer is No, with a probability of 0.8587; status = Single speaks most for it (2.25 : 1),
    owner = No speaks most against it (1 : 1.11).
    >>> explanation.decision
    'No'
    """
    if not isinstance(record, Mapping):
        raise TallyBayesError(
            f"a record must be a mapping from columns to values, not {type(record).__name__}; "
            "a row of a pandas table has to_dict()"
        )
    if show not in ("evidence", "working"):
        raise TallyBayesError(f"show is {show!r}; say 'evidence' or 'working'")
    if show == "working":
        from tallybayes.explanations.working import working

        return working(subject_of(model), record)
    model = model_of(model)
    schema = model.schema
    for name in record:
        if name != schema.target:
            schema.place_of(name)
    source = as_source({name: [record.get(name)] for name in schema.names})
    joint = model.joint_log_likelihood(source)  # which also refuses what is no count or infinite
    (batch,) = batches(source, schema)
    impossible = bool(np.isneginf(joint).all())
    posterior = joint.copy()
    if impossible:
        posterior[0] = model.prior
    else:
        shares(posterior)
    score = posterior if impossible else joint
    winner = int(winners_of(score, model.prior, model.classes, model.positive)[0])
    return Explanation(
        schema.target,
        model.classes,
        _numbers(model.prior),
        _numbers(model.log_prior),
        1.0 if model.calibration is None else float(model.calibration.prior),
        contributions(model, batch, record),
        _numbers(joint[0]),
        _numbers(posterior[0]),
        model.classes[winner],
        (IMPOSSIBLE,) if impossible else (),
    )


def _numbers(values: Any) -> tuple[float, ...]:
    numbers: Sequence[float] = np.asarray(values, np.float64).tolist()
    return tuple(numbers)
