"""One record explained: log prior and terms add up to the score, in the open.

log s_c = log P(c) + sum_j log P(x_j | c), and the posterior is s_c over the sum of all s. What
`explain` shows are those terms as the model itself computes them, so they add up to the model's
joint log-likelihood to within rounding, for every family and with a calibration's exponents.

The odds of two classes are P(a | x) / P(b | x) = P(a) / P(b) prod_j P(x_j | a) / P(x_j | b). The
base-2 logarithm of a factor is its weight of evidence: n bits multiply the odds by 2^n.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from tallybayes.batches import Batch, Block, Coded, dense
from tallybayes.errors import TallyBayesError
from tallybayes.families.parameters import safe_log
from tallybayes.kind import MOST_NAMED
from tallybayes.metrics.confusion import place_of
from tallybayes.model import Factor, Fitted, Model
from tallybayes.rendering import Folded, Part, Renderable, Table, plain
from tallybayes.rendering.words import (
    LONGEST,
    class_label,
    class_name,
    label,
    labels,
    listed,
    odds as odds_text,
    probability,
    title_of,
)
from tallybayes.sources import Frame, Source, as_source, record_at
from tallybayes.sources.columns import as_number
from tallybayes.sources.labels import Label, is_missing

if TYPE_CHECKING:
    from tallybayes.explanations.working import Working

IMPOSSIBLE = (
    "no class allows this record, so the posterior is the prior; where a probability of zero is "
    "the reason, smooth with alpha > 0"
)
Record = Mapping[str, Any]
MISSING = "missing"
NO_WEIGHT = "its exponent is 0"
NO_KNOWN_WORD = "it has no word that the model knows"
LARGEST = 1000.0  # bits of odds that a float can hold
LONGEST_TITLE = 80
SEVERAL = 3  # axes of numbers by row, unit and column
SMALLEST = 1e-9  # constant of a class that is shown
LONGEST_PART = 14  # of the name of several columns that is too long, or of their values
UNFOLD = "each way in which columns are counted, by itself"
PART = "·"  # before what is a part of the line above
MOST_LINES = 20
MOST_CLASSES = 4


@dataclass(frozen=True, slots=True)
class Term:
    """What one column, several together, or one word of a text adds to the score of each class.

    Parameters
    ----------
    column, value
        The name of the column ("age x hours" of columns that are counted together), and its value,
        None if it is missing; of a word, the word itself.
    log_likelihood
        What is added to the logarithm of each class's score, with a calibration's `exponent`, which
        each of several `parts` has for itself.
    count, weight
        How often it occurs, of a word and of a column that counts; and what that counts: the same,
        unless words count once a document, by their logarithm, their idf or their norm.
    left_out, detail
        Why the model leaves it out, if it does; and what the value was taken for, if that is
        something else: its interval, or "on" and "off".
    words
        The terms of a text's words, which add up to its own; each of them `is_word`.
    parts
        The terms of all that is counted of the columns, if that is more than one thing: they add up
        to this one. The `column` of a part is its own name, as `Model.column` takes it, and
        `called` is what it is called among the others.
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
    parts: tuple[Term, ...] = ()
    called: str = field(default="", repr=False)
    together: bool = field(default=False, repr=False)  # whether it is of several columns
    raw: Any = field(default=None, repr=False)  # what the parameters know the value as
    is_word: bool = field(default=False, repr=False)
    numbers: tuple[int, ...] = field(default=(), repr=False)

    @property
    def title(self) -> str:
        """The column with its value ("age with hours = 30, 40"), or a word."""
        if self.is_word:
            return f"{label(self.value)!r} in {label(self.column)}"
        column = _brief(self.column, " x ") if self.together else label(self.column)
        if self.together:
            column = column.replace(" x ", " with ", 1).replace(" x ", " and ")
        return f"{column} = {self.shown}" if self.shown else column

    @property
    def shown(self) -> str:
        """The value on one line, and what it was taken for; that it is missing if that counts."""
        if self.value is None:
            return "" if self.left_out else MISSING
        several = self.together and isinstance(self.value, str)
        value = _brief(self.value, ", ") if several else label(self.value)
        return f"{value} {self.detail}" if self.detail else value

    @property
    def used(self) -> tuple[Term, ...]:
        """The parts that say something: the term itself if there are no others."""
        return tuple(part for part in self.parts or (self,) if part.left_out is None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a term says for one class against another: NaN `bits` if it is impossible in both.

    Of a term of several, `parts` are what each says that says something.
    """

    term: Term
    bits: float
    parts: tuple[Evidence, ...] = ()

    @property
    def odds(self) -> float:
        """What it multiplies the odds by, inf beyond what a float can hold."""
        return _odds(self.bits)


@dataclass(frozen=True, slots=True)
class Contrast(Renderable):
    """The evidence for one class against another; it prints as a table.

    Evidence for the `one` counts positive, in bits: that of the `prior`, of each column and of each
    word of a text, the strongest first and what is left out last, and their `total`.
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
        return _odds(self.total)

    @property
    def _places(self) -> tuple[int, int]:
        classes = self.explanation.classes
        return classes.index(self.one), classes.index(self.other)

    def document(self) -> Iterator[Part]:
        """Show prior, evidence and posterior, what is left out, and the answer."""
        yield self._table(self.explanation.unfolded)
        if not self.explanation.unfolded and any(each.parts for each in self.evidence):
            yield Folded(UNFOLD, (self._table(unfolded=True),))
        yield from self.explanation.left_out_notes("left out: {}")
        yield from (f"note: {note}" for note in self.explanation.notes)
        yield self._sentence()

    def _table(self, unfolded: bool) -> Table:
        whole = self.explanation
        few = len(whole.classes) <= MOST_CLASSES
        shown = whole.classes if few else (self.one, self.other)
        places = range(len(whole.classes)) if few else self._places
        used = [each for each in self.evidence if each.term.left_out is None]
        constants = whole.constants or (0.0,) * len(whole.classes)
        logs = tuple(np.subtract(whole.log_prior, constants).tolist())
        bits = (constants[self._places[0]] - constants[self._places[1]]) / math.log(2.0)
        rows: list[tuple[Any, ...]] = [
            ("prior", whole.prior_power, None, None, logs, self.prior - bits)
        ]
        rows += [("constants", None, None, None, constants, bits)] * bool(whole.constants)
        for line in used[:MOST_LINES]:
            for each in (line, *(line.parts if unfolded else ())):
                term, said = each.term, (each.term.log_likelihood, each.bits)
                name = _brief(term.column, " x ") if each is line else f"{PART} {term.called}"
                rows.append((name, term.shown, term.count, term.exponent, *said))
        if rest := [each.bits for each in used[MOST_LINES:]]:
            weight = sum(x for x in rest if not math.isnan(x))
            rows.append(("others", f"{len(rest)} weaker ones", None, None, None, weight))
        posterior = [probability(p) for p in whole.posterior]
        rows.append(("joint", None, None, None, whole.joint, self.total))
        rows.append(("posterior", None, None, None, posterior, None))
        # only counts and words have something to say in those columns
        counts = any(count not in (None, 1.0) for _, _, count, _, _, _ in rows)
        exponents = len({each.term.exponent for each in used if each.term.is_word}) > 1
        return Table.of(
            f"{label(whole.target)}: log-likelihoods, and the evidence for "
            f"{whole.named(self.one)} against {whole.named(self.other)}",
            [
                ("column", "text"),
                ("value", "text"),
                *[("count", "count")] * counts,
                *[("exponent", "score")] * exponents,
                *((each, "score") for each in labels(class_label(whole.target, c) for c in shown)),
                ("bits", "bits"),
                ("odds", "odds"),
            ],
            [
                (
                    *(name, value, *[count] * counts, *[power] * exponents),
                    *(*(logs and logs[c] for c in places), bits, bits),
                )
                for name, value, count, power, logs, bits in rows
            ],
            name="evidence",
        )

    def _sentence(self) -> str:
        """Say the answer, and what is most evidence for it and against it."""
        whole = self.explanation
        sure = probability(whole.posterior[whole.classes.index(whole.decision)])
        answer = f"The answer is {whole.named(whole.decision)}, with a probability of {sure}"
        sides = "for it", "against it"
        if self.one != whole.decision:
            sides = f"for {whole.named(self.one)}", f"for {whole.named(self.other)}"
        strongest = [
            f"{best.term.title} speaks most {side} ({odds_text(best.bits)})"
            for side, sign in zip(sides, (1.0, -1.0), strict=True)
            for best in [each for each in self.evidence if sign * each.bits > 0.0][:1]
        ]
        return f"{answer}; {', '.join(strongest)}." if strongest else f"{answer}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; bits that are NaN are None."""
        keys = "column", "value", "count", "left_out"
        data: dict[str, Any] = plain(
            {
                "one": self.one,
                "other": self.other,
                "prior_bits": self.prior,
                "evidence": [
                    {
                        **{key: getattr(each.term, key) for key in keys},
                        "bits": each.bits,
                        "parts": [
                            {**{key: getattr(part.term, key) for key in keys}, "bits": part.bits}
                            for part in each.parts
                        ],
                    }
                    for each in self.evidence
                ],
                "total_bits": self.total,
            }
        )
        return data


@dataclass(frozen=True, slots=True)
class Explanation(Renderable):
    """Why a record gets its answer; make it with `explain`. It prints as a table.

    Parameters
    ----------
    target, classes
        The name of what is predicted, and the classes: the order of all numbers.
    prior, log_prior
        What is believed before anything is known of the record; the logarithm has been multiplied
        by the exponent of a calibration, `prior_exponent`, and has its `constants` of the classes.
    terms
        What each column adds, in the order of the columns, and behind them columns together.
    joint, posterior
        The model's joint log-likelihood, which is log prior and terms added up; and the probability
        of each class.
    decision
        The class that the model predicts.
    notes
        What a reader should know.
    unfolded
        Whether the parts of terms are shown below them.
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
    constants: tuple[float, ...] = ()
    unfolded: bool = field(default=False, repr=False, compare=False)

    @property
    def smallest_terms(self) -> tuple[Term, ...]:
        """What is shown line by line: columns, columns together, and of a text every word."""
        return tuple(part for each in self.terms for part in each.words or (each,))

    @property
    def prior_power(self) -> str:
        """The exponent of the prior as it is written behind it: nothing if it is 1."""
        return "" if self.prior_exponent == 1.0 else f"^ {self.prior_exponent:.4g}"

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
        for reason, titles in reasons.items():
            yield sentence.format(f"{listed(titles, longest=LONGEST_TITLE)} ({reason})")

    def named(self, value: Label) -> str:
        """Write a class in a sentence."""
        return class_name(self.target, value)

    def against(self, one: Label | None = None, other: Label | None = None) -> Contrast:
        """Weigh the evidence for one class against another.

        Parameters
        ----------
        one, other
            The class that evidence speaks for, and the one that it speaks against: the decision and
            its runner-up when not given; the `one` alone is weighed against the decision.

        Examples
        --------
        >>> from tallybayes import stated
        >>> chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.5, "b": 0.5}}
        >>> model = stated({"a": 0.5, "b": 0.5}, chances)
        >>> contrast = explain(model, {"red": True}).against("a", "b")
        >>> round(contrast.total, 9), round(contrast.odds, 9)
        (3.0, 8.0)
        """
        one = self.decision if one is None else one
        if other is None:
            other = self.runner_up if one == self.decision else self.decision
        if other is None or one == other:
            raise TallyBayesError(
                f"evidence is for one class against another, not for {one!r} against itself; give "
                "two different classes"
            )
        a, b = (place_of(each, self.classes) for each in (one, other))

        def weigh(logs: Sequence[float]) -> float:
            same = logs[a] == logs[b] == -math.inf
            return math.nan if same else (logs[a] - logs[b]) / math.log(2.0)

        def order(evidence: Evidence) -> tuple[bool, float]:
            """Put what is left out last, and before it what says nothing of the two."""
            strength = -1.0 if math.isnan(evidence.bits) else abs(evidence.bits)
            return evidence.term.left_out is not None, -strength

        def of(term: Term) -> Evidence:
            parts = sorted(map(of, term.used), key=order) if term.parts else ()
            return Evidence(term, weigh(term.log_likelihood), tuple(parts))

        strongest = tuple(sorted(map(of, self.smallest_terms), key=order))
        return Contrast(one, other, weigh(self.log_prior), strongest, weigh(self.joint), self)

    def document(self) -> Iterable[Part]:
        """Show the evidence for the decision against its runner-up; see `against` for others."""
        if self.runner_up is None:
            return [f"{label(self.target)}: {label(self.decision)} is the only class"]
        return self.against().document()

    def to_dict(self, one: Label | None = None, other: Label | None = None) -> dict[str, Any]:
        """Return everything as JSON can hold it, with the evidence `against` another class."""
        against = None if self.runner_up is None else self.against(one, other).to_dict()
        return {**plain(self), "against": against}


@overload
def explain(
    model: Any, record: Record, show: Literal["evidence", "parts"] = ...
) -> Explanation: ...
@overload
def explain(model: Any, record: Record, show: Literal["working"]) -> Working: ...
def explain(
    model: Any, record: Record, show: Literal["evidence", "parts", "working"] = "evidence"
) -> Explanation | Working:
    """Explain the answer for one record.

    Parameters
    ----------
    model
        The model, or an estimator that was fitted.
    record
        A value for each column; columns that it does not have are missing. The target may be in
        the record and is not looked at. An estimator also takes a row of a table or an array, and
        `TextNB` a text.
    show : {"evidence", "parts", "working"}
        What each value says for and against each class; the same, with everything that is counted
        of a column, or of columns together, below its line; or the whole arithmetic from the counts
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
    if show not in ("evidence", "parts", "working"):
        raise TallyBayesError(f"show is {show!r}; say 'evidence', 'parts' or 'working'")
    record = model.record_of(record) if hasattr(model, "record_of") else record
    model = model_of(model)
    source = as_source(model.table_of(record))
    record = model.schema.laid_out(record)
    joint = np.empty((1, len(model.classes)))
    (batch,) = model.joint_by_batch(source, joint)  # which refuses what is no count or infinite
    impossible = bool(np.isneginf(joint).all())
    score = safe_log(model.prior)[None] if impossible else joint.copy()
    posterior, (winner,) = model.judged_from(score)
    notes: tuple[str, ...] = (IMPOSSIBLE,) if impossible else ()
    if model.rule is not None:
        said = model.rule.words(model.classes, model.positive, model.schema.target)
        notes += (f"By the model's rule {said}.",)
    explanation = Explanation(
        model.schema.target,
        model.classes,
        tuple(model.prior.tolist()),
        tuple(model.log_prior.tolist()),
        _terms(model, batch, record),
        tuple(joint[0].tolist()),
        tuple(posterior[0].tolist()),
        model.classes[winner],
        notes,
        model.prior_exponent,
        model.constants if max(map(abs, model.constants)) > SMALLEST else (),
        show == "parts",
    )
    if show != "working":
        return explanation
    from tallybayes.explanations.working import working

    return working(model, explanation)


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


def _terms(model: Model, batch: Batch, record: Record) -> tuple[Term, ...]:
    """Return what each column adds, in the order of the schema, then columns together."""
    schema, values = model.schema, {name: plain_value(x) for name, x in record.items()}
    found: dict[str, list[Term]] = {str(name): [] for name in schema.names}
    reads: dict[str, tuple[str, ...]] = {}
    for factor in model.factors:
        block, group = factor.block_of(batch), schema.groups[factor.group]
        logs = (factor.scored.log_prob(block)[0] + 0.0).tolist()  # no -0.0
        subjects, beside = schema.subjects_of(group), group in schema.extra
        for unit, name in enumerate(map(str, factor.names)):
            place = factor.places[unit]
            subject = str(subjects[place])
            value = _encoded(block, unit) if beside else values.get(name)
            term = _term(factor, unit, name, value, tuple(logs[unit]))
            if beside:
                columns = tuple(str(schema.names[k]) for k in group.columns(place))
                reads[subject] = columns
                missing = any(values.get(column) is None for column in columns)
                if term.left_out is not None and missing:
                    term = replace(term, value=None, left_out=MISSING)
                elif value is not None:
                    shown = schema.kind(name).shown(value)
                    term = replace(term, value=shown, raw=value)
            called = name.removeprefix(subject).strip() or factor.label
            found.setdefault(subject, []).append(replace(term, called=called))
    return tuple(
        _line(subject, [values.get(name) for name in reads.get(subject, (subject,))], parts)
        for subject, parts in found.items()
    )


def _line(subject: str, values: Sequence[Any], parts: Sequence[Term]) -> Term:
    """Add up all that is counted of a column, or of columns together."""
    own, together = parts[0], len(values) > 1
    if len(parts) == 1 and own.column == subject:
        return replace(own, together=together)
    value = own.value
    if together:
        shown = [MISSING if value is None else label(value) for value in values]
        shown = shown if len(shown) <= MOST_NAMED else [shown[0], "...", shown[-1]]
        value = ", ".join(shown) if any(part.left_out is None for part in parts) else None
    logs = tuple(map(math.fsum, zip(*(part.log_likelihood for part in parts), strict=True)))
    reason = own.left_out if all(part.left_out for part in parts) else None
    line = Term(subject, value, logs, own.count, left_out=reason, parts=tuple(parts))
    return replace(line, together=together)


def _encoded(block: Block, unit: int) -> Any:
    """Return what a kind made of the columns that it reads, which is what its factor is about."""
    if isinstance(block, Coded):
        code = int(block.codes[0, unit])
        if block.labels is None:
            return code
        return None if code < 0 else block.labels[unit][code]
    if isinstance(block, np.ndarray) and block.ndim == SEVERAL:  # numbers of several columns
        return None if np.isnan(block[0, unit]).any() else tuple(block[0, unit].tolist())
    return plain_value(dense(block)[0, unit])


def _term(factor: Factor, unit: int, name: str, value: Any, logs: tuple[float, ...]) -> Term:
    """Ask the parameters what there is to say of a value."""
    parameters, exponent = factor.parameters, factor.exponent(unit)
    reason = MISSING if value is None else parameters.left_out(unit, value)
    if reason is not None:
        return Term(name, value, logs, exponent=exponent, left_out=reason)
    count = parameters.occurrences(unit, value)
    if exponent == 0.0:
        return Term(name, value, logs, count, count, exponent, NO_WEIGHT)
    pieces, detail = factor.scored.pieces(unit, value), parameters.detail(unit, value)
    words = []
    for each in pieces or ():  # words, and all that are absent
        numbers = (-1, *each.numbers) if each.absent else each.numbers
        shared = each.value, each.logs, each.count, each.weight, each.exponent, each.left_out
        words.append(Term(name, *shared, is_word=True, numbers=numbers))
    reason = NO_KNOWN_WORD if pieces == [] else None
    return Term(name, value, logs, count, count, exponent, reason, detail, tuple(words))


def record_in(model: Model, source: Source, row: int) -> dict[str, Any]:
    """Return a row by the names of a model's columns; a matrix goes by their order."""
    record, names = record_at(source, row), list(map(str, model.schema.names))
    if not isinstance(source, Frame):
        record = dict(zip(names, record.values(), strict=True))
    return {name: plain_value(record.get(name)) for name in names}


def plain_value(value: Any) -> Any:
    """Return a value of a record as Python has it: None where it is missing."""
    value = as_number(value)
    if is_missing(value):
        return None
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def _brief(name: str, between: str) -> str:
    """Write the names of columns, or their values, on a line: long ones shortened one by one."""
    name = title_of(name)
    if len(name) <= LONGEST or between not in name:
        return label(name)
    return between.join(label(part, LONGEST_PART) for part in name.split(between))


def _odds(weight: float) -> float:
    return math.inf if weight > LARGEST else 2.0**weight
