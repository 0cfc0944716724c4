"""From a model and a record to the terms of its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallybayes.batches import Batch, Block, batches, dense
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.explanation import Explanation
from tallybayes.explanations.likelihoods import of_prior
from tallybayes.explanations.working.bags import of_bag
from tallybayes.explanations.working.curves import of_events, of_number
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.terms import Term, class_names, one_line, spread
from tallybayes.explanations.working.texts import of_text
from tallybayes.explanations.working.values import of_category, of_switch
from tallybayes.families import (
    BernoulliParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    Parameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.model import Factor, Fitted, Model
from tallybayes.model.factors import FactorPlan
from tallybayes.priors import Empirical, Fixed
from tallybayes.sources import as_source
from tallybayes.tokenizer import Documents

MOST_NAMES = 8
MANY = 300  # factors, beyond which only the most telling ones are worked out


def most_telling(explanation: Explanation, n: int) -> list[Contribution] | None:
    """Return the n pieces that tell the classes apart most; None if all can be worked out."""
    pieces = [each for each in explanation.pieces if any(each.log_likelihood)]
    if len(pieces) <= MANY:
        return None
    return sorted(pieces, key=lambda each: -spread(each.log_likelihood))[:n]


def terms_of(
    model: Model,
    fitted: Fitted | None,
    explanation: Explanation,
    record: Mapping[str, Any],
    wanted: list[Contribution] | None,
) -> list[Term]:
    """Return the terms of a record, or those of some pieces, in the order of the columns."""
    chosen = None if wanted is None else {id(each) for each in wanted}
    source = as_source({name: [record.get(name)] for name in model.schema.names})
    (batch,) = batches(source, model.schema)
    said = {each.column: each for each in explanation.contributions}
    classes = class_names(model.schema.target, model.classes)
    every: Sequence[FactorPlan | None] = [None] * len(model.factors)
    if fitted is not None:
        tally = fitted.tally.with_classes(fitted.classes)
        every = list(fitted.recipe.plan(tally))
    found: dict[str, list[Term]] = {}
    for share, factor in zip(every, model.factors, strict=True):
        for name, term in _of_factor(model, share, factor, batch, said, classes, chosen):
            found.setdefault(name, []).append(term)
    return [term for each in explanation.contributions for term in found.get(each.column, ())]


def _of_factor(
    model: Model,
    share: FactorPlan | None,
    factor: Factor,
    batch: Batch,
    said: Mapping[str, Contribution],
    classes: tuple[str, ...],
    wanted: set[int] | None,
) -> Iterator[tuple[str, Term]]:
    """Go through the terms of one factor, each with the name of its column."""
    names = model.schema.names_of(model.schema.groups[factor.group])
    block = factor.block_of(batch)
    there = [
        (j, said[str(names[place])])
        for j, place in enumerate(factor.places)
        if _counts(said[str(names[place])], wanted)
    ]
    if isinstance(factor.parameters, MultinomialParameters):
        there = [(j, what) for j, what in there if what.times]
        terms = of_bag(share, factor.parameters, there, classes)
        yield from zip((what.column for _, what in there), terms, strict=True)
        return
    for j, what in there:
        if isinstance(factor.parameters, TextParameters):
            assert isinstance(block, Documents)
            document = block.strings()[0]
            texts = [each for each in model.factors if isinstance(each.parameters, TextParameters)]
            where = f" in {one_line(what.column)}" if len(texts) > 1 else ""
            terms = of_text(factor.parameters, document, what, classes, wanted, where)
        else:
            terms = _of_column(share, factor.parameters, block, j, what, classes)
        for term in terms:
            yield what.column, term


def _counts(what: Contribution, wanted: set[int] | None) -> bool:
    """Tell whether a factor is there; one with an exponent of 0 may leave something behind."""
    if wanted is not None and not any(id(piece) in wanted for piece in what.pieces):
        return False
    return what.left_out is None or any(what.log_likelihood)


def _of_column(
    share: FactorPlan | None,
    parameters: Parameters,
    block: Block,
    j: int,
    what: Contribution,
    classes: tuple[str, ...],
) -> Iterator[Term]:
    """Go through the one term of a column."""
    if isinstance(parameters, CategoricalParameters):
        yield of_category(share, parameters, block, j, what, classes)
    elif isinstance(parameters, BernoulliParameters):
        yield of_switch(share, parameters, j, what, classes)
    elif isinstance(parameters, NormalParameters):
        yield of_number(share, parameters, what, j, classes)
    else:
        assert isinstance(parameters, PoissonParameters)
        yield of_events(share, parameters, float(dense(block)[0, j]), j, what, classes)


def priors_of(model: Model, fitted: Fitted | None) -> tuple[tuple[Estimate, ...], str]:
    """Return the prior of each class, and how it comes about."""
    if fitted is None:
        said = "The prior is stated: the model comes without its counts."
        return tuple(map(Estimate.stated, model.prior.tolist())), said
    tally, prior = fitted.tally.with_classes(fitted.classes), fitted.recipe.prior
    if isinstance(prior, Fixed):
        return tuple(map(Estimate.stated, model.prior.tolist())), "The prior is stated."
    estimates = tuple(Estimate.of(each) for each in of_prior(prior, tally, model.prior))
    if not isinstance(prior, Empirical):
        if len(estimates) == 1:
            return estimates, "There is one class."
        return estimates, f"All {len(model.classes)} classes are alike."
    rows, weight = int(tally.rows.sum()), float(tally.weight.sum())
    said = f"{rows} rows were counted"
    said += "" if weight == rows else f", with weights that add up to {weight:.6g}"
    said += "; the prior is the share of each class"
    more = f", with alpha = {prior.alpha:.6g} added to each" if prior.alpha else ""
    return estimates, f"{said}{more}."


def notes_of(model: Model, explanation: Explanation) -> tuple[str, ...]:
    """Say what is left out and why, and what a calibration does."""
    reasons: dict[str, list[str]] = {}
    for each in explanation.pieces:
        if each.left_out is not None:
            reasons.setdefault(each.left_out, []).append(_name(each))
    notes = [f"Left out: {_listed(names)} ({reason})." for reason, names in reasons.items()]
    for factor in model.factors:
        if isinstance(factor.parameters, MultinomialParameters):
            names = set(map(str, model.schema.names_of(model.schema.groups[factor.group])))
            idle = [c for c in explanation.contributions if c.column in names and not c.times]
            if idle:
                them = "column that counts 0 is" if len(idle) == 1 else "columns that count 0 are"
                notes.append(f"{len(idle)} {them} not shown: a factor to the power 0 is 1.")
    calibration = model.calibration
    if calibration is not None:
        too = ", and so is the prior" if calibration.prior != 1.0 else "; the prior is not"
        notes.append(f"Each factor is raised to its exponent ({calibration.how} calibration){too}.")
    return tuple(notes)


def _name(what: Contribution) -> str:
    """Name a column with its value, or a word."""
    column = one_line(what.column)
    if what.is_word:
        return f'"{one_line(what.value)}" in {column}'
    return column if what.value is None else f"{column} = {one_line(what.value)}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
