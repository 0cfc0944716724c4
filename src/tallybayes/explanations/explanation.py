"""One record explained: log prior and terms add up to the score, in the open.

log s_c = log P(c) + sum_j log P(x_j | c), and the posterior is s_c over the sum of all s. What
`explain` shows are those terms as the model itself computes them, so they add up to the model's
joint log-likelihood to within rounding, for every family and with a calibration's exponents.

The odds of two classes are P(a | x) / P(b | x) = P(a) / P(b) prod_j P(x_j | a) / P(x_j | b). The
base-2 logarithm of a factor is its weight of evidence: n bits multiply the odds by 2^n.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from tallybayes.batches import Batch, Block, Coded, dense
from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.explanations.plain import plain_value
from tallybayes.kernels.scoring import shares
from tallybayes.model import Factor, Fitted, Model
from tallybayes.model.model import winners_of
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import bits as bits_text
from tallybayes.rendering.words import label, listed, probability
from tallybayes.rendering.words import odds as odds_text
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label

if TYPE_CHECKING:
    from tallybayes.explanations.working import Working

IMPOSSIBLE = (
    "no class allows this record, so the posterior is the prior; where a probability of zero is "
    "the reason, smooth with alpha > 0"
)
MISSING = "missing"
NO_WEIGHT = "its exponent is 0"
NO_KNOWN_WORD = "it has no word that the model knows"
LARGEST = 1000.0  # bits of odds that a float can hold
MOST_LINES = 20
MOST_CLASSES = 4


@dataclass(frozen=True, slots=True)
class Term:
    """What one column, or one word of a text, adds to the score of each class.

    Parameters
    ----------
    column
        The name of the column.
    value
        The value in the record, None if it is missing; of a word, the word itself.
    log_likelihood
        What is added to the logarithm of each class's score: 0 if it is left out.
    count
        How often it occurs: of a word, and of a column that counts; otherwise 1.
    weight
        What that counts: the same, unless words count once a document, by their logarithm, their
        idf or their norm.
    exponent
        The calibration's exponent, which is in the log-likelihood already.
    left_out
        Why the model leaves it out; None if it does not.
    detail
        What the value was taken for, if that is something else: its interval, or "on" and "off".
    words
        The terms of a text's words, which add up to its own.
    is_word
        Whether this is one of those.
    """

    column: str
    value: Any
    log_likelihood: tuple[float, ...]
    count: float = 1.0
    weight: float = 1.0
    exponent: float = 1.0
    left_out: str | None = None
    detail: str = ""
    words: tuple[Term, ...] = ()
    is_word: bool = field(default=False, repr=False)
    numbers: tuple[int, ...] = field(default=(), repr=False)

    @property
    def smallest_terms(self) -> tuple[Term, ...]:
        """The smallest parts: the words of a text, or the column itself."""
        return self.words or (self,)

    @property
    def title(self) -> str:
        """The column with its value, or a word."""
        if self.is_word:
            return f"{label(self.value)!r} in {label(self.column)}"
        return label(self.column) if self.value is None else f"{label(self.column)} = {self.shown}"

    @property
    def shown(self) -> str:
        """The value on one line, and what it was taken for."""
        value = "" if self.value is None else label(self.value)
        return f"{value} {self.detail}" if self.detail else value


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a term says for one class against another.

    `bits` are NaN where it is impossible in both classes, which says nothing of the two.
    """

    term: Term
    bits: float

    @property
    def odds(self) -> float:
        """What it multiplies the odds by, inf beyond what a float can hold."""
        return odds_of(self.bits)


@dataclass(frozen=True, slots=True)
class Contrast(Renderable):
    """The evidence for one class against another; it prints as a table.

    Parameters
    ----------
    one, other
        The two classes; evidence for the first counts positive.
    prior
        The bits of the prior.
    evidence
        That of each column, and of each word of a text, the strongest first; what is left out
        comes last.
    total
        The bits of prior and evidence together.
    explanation
        What it is taken from.
    """

    one: Label
    other: Label
    prior: float
    evidence: tuple[Evidence, ...]
    total: float
    explanation: Explanation = field(repr=False)

    @property
    def odds(self) -> float:
        """The odds of the one class against the other, inf beyond what a float can hold."""
        return odds_of(self.total)

    def document(self) -> Iterator[Part]:
        """Show prior, evidence and posterior, what is left out, and the answer."""
        yield self._table()
        yield from self._texts()
        yield from self.explanation.left_out_notes("left out: {}")
        yield from (f"note: {note}" for note in self.explanation.notes)
        yield self._sentence()

    def _table(self) -> Table:
        found = self.explanation
        places = list(range(len(found.classes)))
        if len(places) > MOST_CLASSES:
            places = [found.classes.index(each) for each in (self.one, self.other)]
        used = [each for each in self.evidence if each.term.left_out is None]

        def line(name: str, value: Any, times: Any, logs: Any, weight: float) -> list[Any]:
            return [name, value, times, *(logs[c] for c in places), weight, weight]

        rows = [line("prior", found.prior_power, None, found.log_prior, self.prior)]
        for each in used[:MOST_LINES]:
            what = each.term
            rows.append(line(what.column, what.shown, what.count, what.log_likelihood, each.bits))
        if len(used) > MOST_LINES:
            rest = used[MOST_LINES:]
            weight = sum(each.bits for each in rest if not math.isnan(each.bits))
            weaker = f"{len(rest)} weaker ones"
            rows.append(["others", weaker, None, *[None] * len(places), weight, weight])
        rows.append(line("joint", None, None, found.joint, self.total))
        chances = [probability(found.posterior[c]) for c in places]
        rows.append(["posterior", None, None, *chances, None, None])
        columns = [
            ("column", "label"),
            ("value", "text"),
            ("count", "count"),
            *((label(found.classes[c]), "score") for c in places),
            ("bits", "bits"),
            ("odds", "odds"),
        ]
        # counts and words only have something to say here
        if all(each.term.count == 1.0 for each in used[:MOST_LINES]):
            del columns[2]
            rows = [[*row[:2], *row[3:]] for row in rows]
        caption = (
            f"{label(found.target)}: log-likelihoods, and the evidence for {label(self.one)} "
            f"against {label(self.other)}"
        )
        return Table.of(caption, columns, rows, name="evidence")

    def _texts(self) -> Iterator[str]:
        """Add up the words of each text."""
        one, other = map(self.explanation.classes.index, (self.one, self.other))
        for each in self.explanation.terms:
            if len(each.words) > 1:
                weight = bits(each.log_likelihood[one], each.log_likelihood[other])
                said = (
                    "-" if math.isnan(weight) else f"{bits_text(weight)} bits, {odds_text(weight)}"
                )
                yield f"{label(each.column)}, all words together: {said}"

    def _sentence(self) -> str:
        """Say the answer, and what is most evidence for it and against it."""
        found = self.explanation
        place = found.classes.index(found.decision)
        said = f"The answer is {label(found.decision)}"
        said += f", with a probability of {probability(found.posterior[place])}"
        sides = (("for it", 1.0), ("against it", -1.0))
        if self.one != found.decision:
            sides = ((f"for {label(self.one)}", 1.0), (f"for {label(self.other)}", -1.0))
        strongest = []
        for side, sign in sides:
            speaking = [each for each in self.evidence if sign * each.bits > 0.0]
            if speaking:
                what, odds = speaking[0].term.title, odds_text(speaking[0].bits)
                strongest.append(f"{what} speaks most {side} ({odds})")
        return f"{said}; {', '.join(strongest)}." if strongest else f"{said}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; bits that are NaN are None."""
        found: dict[str, Any] = plain(
            {
                "one": self.one,
                "other": self.other,
                "prior_bits": self.prior,
                "prior_odds": odds_of(self.prior),
                "evidence": [
                    {
                        "column": each.term.column,
                        "value": each.term.value,
                        "count": each.term.count,
                        "bits": each.bits,
                        "odds": each.odds,
                        "left_out": each.term.left_out,
                    }
                    for each in self.evidence
                ],
                "total_bits": self.total,
                "total_odds": self.odds,
            }
        )
        return found

    def __str__(self) -> str:
        return self.to_text()


@dataclass(frozen=True, slots=True)
class Explanation(Renderable):
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
    terms
        What each column adds, in the order of the columns.
    joint
        The model's joint log-likelihood: log prior and terms added up.
    posterior
        The probability of each class.
    decision
        The class that the model predicts.
    notes
        What a reader should know.
    prior_exponent
        The calibration's exponent of the prior.
    """

    target: str
    classes: tuple[Label, ...]
    prior: tuple[float, ...]
    log_prior: tuple[float, ...]
    terms: tuple[Term, ...]
    joint: tuple[float, ...]
    posterior: tuple[float, ...]
    decision: Label
    notes: tuple[str, ...] = ()
    prior_exponent: float = 1.0

    @property
    def smallest_terms(self) -> tuple[Term, ...]:
        """The smallest parts that add up: every column, and of a text every word."""
        return tuple(piece for each in self.terms for piece in each.smallest_terms)

    @property
    def prior_power(self) -> str:
        """The exponent of the prior as it is written behind it: nothing if it is 1."""
        return "" if self.prior_exponent == 1.0 else f"^ {self.prior_exponent:.4g}"

    @property
    def running_totals(self) -> tuple[tuple[float, ...], ...]:
        """The log prior, and the sum after each term: the last one is the joint."""
        steps = [self.log_prior, *(each.log_likelihood for each in self.terms)]
        return tuple(map(tuple, np.cumsum(np.array(steps), axis=0).tolist()))

    @property
    def runner_up(self) -> Label | None:
        """The most probable of the other classes; the first of equals. None if there are none."""
        others = [k for k, each in enumerate(self.classes) if each != self.decision]
        if not others:
            return None
        # probabilities may be too small to tell apart; their logarithms are not
        return self.classes[max(others, key=lambda k: (self.posterior[k], self.joint[k]))]

    def left_out_notes(self, sentence: str) -> Iterator[str]:
        """Name what the model leaves out, with the reasons."""
        reasons: dict[str, list[str]] = {}
        for each in self.smallest_terms:
            if each.left_out is not None:
                reasons.setdefault(each.left_out, []).append(each.title)
        for reason, names in reasons.items():
            yield sentence.format(f"{_listed(names)} ({reason})")

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
        for each in (one, other):
            if each is not None and each not in self.classes:
                hint = did_you_mean(each, self.classes)
                raise TallyBayesError(f"{each!r} is not a class; {hint}")
        one = self.decision if one is None else one
        if other is None:
            other = self.runner_up if one == self.decision else self.decision
        if other is None or one == other:
            raise TallyBayesError(
                f"evidence is for one class against another, not for {one!r} against itself; give "
                "two different classes"
            )
        a, b = self.classes.index(one), self.classes.index(other)
        evidence = [
            Evidence(each, bits(each.log_likelihood[a], each.log_likelihood[b]))
            for each in self.smallest_terms
        ]
        return Contrast(
            one,
            other,
            bits(self.log_prior[a], self.log_prior[b]),
            tuple(sorted(evidence, key=_strength)),
            bits(self.joint[a], self.joint[b]),
            self,
        )

    def document(self) -> Iterable[Part]:
        """Show the evidence for the decision against its runner-up; see `against` for others."""
        if self.runner_up is None:
            return [f"{label(self.target)}: {label(self.decision)} is the only class"]
        return self.against().document()

    def to_dict(self, one: Label | None = None, other: Label | None = None) -> dict[str, Any]:
        """Return everything as JSON can hold it: -inf as text, what is undefined as None.

        Parameters
        ----------
        one, other
            As for `against`.
        """
        several = self.runner_up is not None
        return {
            **plain(replace(self, terms=(), notes=())),
            "terms": plain(self.terms),
            "running_totals": plain(self.running_totals),
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
        on, as on a blackboard.

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
    <BLANKLINE>
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
    model = model_of(model)
    if show == "working":
        from tallybayes.explanations.working import working

        return working(model, record)
    schema = model.schema
    for name in record:
        if name != schema.target:
            schema.place_of(name)
    source = as_source({name: [record.get(name)] for name in schema.names})
    joint = np.empty((1, len(model.classes)))
    (batch,) = model.joint_by_batch(source, joint)  # which refuses what is no count or infinite
    impossible = bool(np.isneginf(joint).all())
    posterior = model.prior[None].copy() if impossible else joint.copy()
    if not impossible:
        shares(posterior)
    score = posterior if impossible else joint
    winner = int(winners_of(score, model.prior, model.classes, model.positive)[0])
    return Explanation(
        schema.target,
        model.classes,
        _numbers(model.prior),
        _numbers(model.log_prior),
        _terms(model, batch, record),
        _numbers(joint[0]),
        _numbers(posterior[0]),
        model.classes[winner],
        (IMPOSSIBLE,) if impossible else (),
        model.prior_exponent,
    )


def model_of(given: Any) -> Model:
    """Return the model of an estimator, or of what was fitted; any other thing is refused."""
    found = given.fitted_ if hasattr(type(given), "fitted_") else given
    found = found.model if isinstance(found, Fitted) else found
    if not isinstance(found, Model):
        raise TallyBayesError(
            f"{type(given).__name__} is no model; give an estimator that was fitted, or what "
            "estimate() returned"
        )
    return found


def _terms(model: Model, batch: Batch, record: Mapping[str, Any]) -> tuple[Term, ...]:
    """Return what each column adds, in the order of the schema, then what is counted beside."""
    schema, found = model.schema, {}
    for factor in model.factors:
        block = factor.block_of(batch)
        logs = (factor.scored.log_prob(block)[0] + 0.0).tolist()  # no -0.0
        beside = schema.groups[factor.group] in schema.extra
        for unit, name in enumerate(map(str, factor.names)):
            value = _encoded(block, unit) if beside else plain_value(record.get(name))
            found[name] = _term(factor, unit, name, value, tuple(logs[unit]))
    own = [str(name) for name in schema.names]
    return tuple(found[name] for name in dict.fromkeys([*own, *found]))


def _encoded(block: Block, unit: int) -> Any:
    """Return what a kind made of the columns that it reads, which is what its factor is about."""
    if isinstance(block, Coded):
        code = int(block.codes[0, unit])
        if block.labels is None:
            return code
        return None if code < 0 else block.labels[unit][code]
    return plain_value(dense(block)[0, unit])


def _term(factor: Factor, unit: int, name: str, value: Any, logs: tuple[float, ...]) -> Term:
    """Ask the parameters what there is to say of a value."""
    parameters, exponent = factor.parameters, factor.exponent(unit)
    reason = MISSING if value is None else parameters.left_out(unit, value)
    if reason is not None:
        return Term(name, value, logs, exponent=exponent, left_out=reason)
    times = parameters.occurrences(unit, value)
    if exponent == 0.0:
        return Term(name, value, logs, times, times, exponent, NO_WEIGHT)
    detail, pieces = parameters.detail(unit, value), factor.scored.pieces(unit, value)
    if pieces == []:
        return Term(name, value, logs, exponent=exponent, left_out=NO_KNOWN_WORD)
    words = tuple(
        Term(
            name,
            piece.value,
            piece.logs,
            piece.count,
            piece.weight,
            exponent if piece.left_out is None else 1.0,
            piece.left_out,
            is_word=True,
            numbers=piece.numbers if not piece.absent else (-1, *piece.numbers),
        )
        for piece in pieces or ()
    )
    return Term(name, value, logs, times, times, exponent, None, detail, words)


def bits(one: float, other: float) -> float:
    """Return the weight of evidence of two logarithms of likelihoods."""
    if one == other == -math.inf:
        return math.nan
    return (one - other) / math.log(2.0)


def odds_of(weight: float) -> float:
    """Return the odds of so many bits."""
    return math.inf if weight > LARGEST else 2.0**weight


def _strength(each: Evidence) -> tuple[bool, float]:
    """Order evidence: the strongest first, what says nothing of the two, and what is left out."""
    nothing = -1.0 if math.isnan(each.bits) else abs(each.bits)
    return each.term.left_out is not None, -nothing


def _listed(names: list[str]) -> str:
    return listed(names) if len(names) > 1 else "".join(names)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, np.float64).tolist())
