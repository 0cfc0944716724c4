"""What each value of a record adds to the score of each class, as the model adds it up.

A column's contribution is log P(x | c), times the exponent of a calibrated model. It is asked of
the same parameters that score records, so contributions and log prior add up to the joint
log-likelihood. A factor that the model leaves out adds 0 to every class, and says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tallybayes.batches import Batch, Block, Coded, dense
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.plain import plain_value
from tallybayes.explanations.words import words_of
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    Parameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.bins import interval
from tallybayes.families.parameters import NEVER_SEEN
from tallybayes.model import Factor, Model
from tallybayes.tokenizer import Documents

MISSING = "missing"
NO_WEIGHT = "its exponent is 0"


def contributions(
    model: Model, batch: Batch, record: Mapping[str, Any]
) -> tuple[Contribution, ...]:
    """Return what each column adds, in the order of the schema; the batch holds the record."""
    found = {
        each.column: each
        for factor in model.factors
        for each in _of_factor(model, factor, batch, record)
    }
    return tuple(found[name] for name in model.schema.names)


def _of_factor(
    model: Model, factor: Factor, batch: Batch, record: Mapping[str, Any]
) -> Iterator[Contribution]:
    """Go through the columns of one factor."""
    block, scored = factor.block_of(batch), factor.scored
    logs = (scored.log_prob(block)[0] + 0.0).tolist()  # no -0.0
    counts = (
        dense(block)[0].tolist()
        if isinstance(scored, MultinomialParameters | PoissonParameters)
        else None
    )
    for j, name in enumerate(map(str, factor.names)):
        exponent = exponent_of(factor, j)
        value = plain_value(record.get(name))
        reason = MISSING if value is None else factor.parameters.left_out(j, value)
        reason = reason or (NO_WEIGHT if exponent == 0.0 else None)
        times = 1.0 if counts is None or reason else counts[j]
        yield Contribution(
            name,
            value,
            tuple(logs[j]),
            times,
            times,
            exponent,
            reason,
            "" if reason else _detail(scored, block, j, value),
            () if reason else _words(scored, name, block),
        )


def exponent_of(factor: Factor, j: int) -> float:
    """Return the exponent of a column; one may stand for all."""
    if factor.exponents is None:
        return 1.0
    return float(factor.exponents[j if len(factor.exponents) > 1 else 0])


def _seen(tables: CategoricalParameters, block: Block, j: int) -> bool:
    """Tell whether a category was counted or declared."""
    assert isinstance(block, Coded)
    code = int(block.codes[0, j])
    value = code if block.labels is None else block.labels[j][code]
    return value in tables.labels[j]


def _detail(parameters: Parameters, block: Block, j: int, value: Any) -> str:
    """Say what a value was taken for, if it is not the value itself."""
    if isinstance(parameters, BinsParameters):
        assert isinstance(block, Coded)
        return f"in {interval(parameters.edges[j], int(block.codes[0, j]))}"
    if isinstance(parameters, BernoulliParameters):
        return "on" if value > parameters.threshold else "off"
    if isinstance(parameters, CategoricalParameters) and not _seen(parameters, block, j):
        return f"{NEVER_SEEN}, smoothed"
    return ""


def _words(parameters: Parameters, name: str, block: Block) -> tuple[Contribution, ...]:
    """Return the contributions of a text's words; other columns have none."""
    if not isinstance(parameters, TextParameters):
        return ()
    assert isinstance(block, Documents)
    return words_of(parameters, name, block.strings()[0])
