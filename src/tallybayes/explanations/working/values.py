"""Terms of categories, intervals and switches: probabilities of one value."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.batches import Block, Coded
from tallybayes.explanations import likelihoods
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.ratio import Ratio
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import Formula, Product
from tallybayes.explanations.working.numbers import plain
from tallybayes.explanations.working.terms import Term, counted_term, one_line
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    Categorical,
    CategoricalParameters,
)
from tallybayes.families.smoothing import alpha_of_each, guess_for_unseen
from tallybayes.model.factors import FactorPlan
from tallybayes.tallies import Codes

STATED = "the probabilities are stated: the model comes without its counts"
POOLED = "; a class without any takes what all classes have together"


def pooled(totals: Any) -> str:
    """Say what becomes of classes of which nothing was counted, if there are such."""
    return "" if np.all(totals > 0.0) else POOLED


def of_category(
    share: FactorPlan | None,
    tables: CategoricalParameters,
    block: Block,
    j: int,
    what: Contribution,
    classes: tuple[str, ...],
) -> Term:
    """Return the term of a category, or of a number's interval."""
    assert isinstance(block, Coded)
    code = int(block.codes[0, j])
    value: Any = code
    if block.labels is not None and not isinstance(tables, BinsParameters):
        value = block.labels[j][code]
    labels, column = tables.labels[j], one_line(what.column)
    sign = "" if isinstance(tables, BinsParameters) else "= "
    said = what.detail if isinstance(tables, BinsParameters) else one_line(what.value)
    name = f"{column} {sign}{said}"
    title = f"{column} = {one_line(what.value)}"
    title += f", {what.detail}" if what.detail else ""
    place = labels.index(value) if value in labels else None
    if share is None:
        start = sum(map(len, tables.labels[:j]))
        logs = tables.log_unseen[:, j]
        if place is not None:
            logs = tables.log_probabilities[:, start + place]
        estimates, how = [Estimate.stated(p) for p in np.exp(logs).tolist()], STATED
    else:
        if place is None:
            ratios = _of_unseen(share, tables, j)
        else:
            (ratios,) = likelihoods.of_values(tables, j, [place])
        extras = _extras(share, ratios)
        estimates = [Estimate.of(r, extra) for r, extra in zip(ratios, extras, strict=True)]
        how = _how(share, j, len(labels), isinstance(tables, BinsParameters))
    return counted_term(
        title, how, name, estimates, what.log_likelihood, classes, exponent=what.exponent
    )


def _of_unseen(share: FactorPlan, tables: CategoricalParameters, j: int) -> tuple[Ratio, ...]:
    """Return the probability of a value with no rows."""
    assert isinstance(share.counted, Codes)
    family: Any = share.family
    labels, name = tables.labels[j], share.info.names[j]
    total = share.counted.select([j]).with_labels((labels,)).weight.sum(axis=1)
    if family.m is None:
        alpha = float(alpha_of_each(family.alpha, share.info.names)[j])
        extra, more = np.full(len(total), alpha), alpha * len(labels)
    else:
        extra = family.m * guess_for_unseen(family.p, share.info.classes, labels, name)
        more = family.m
    p = np.exp(tables.log_unseen[:, j])
    parts = zip(p.tolist(), extra.tolist(), total.tolist(), strict=True)
    return tuple(Ratio(value, 0.0, add, n, more) for value, add, n in parts)


def _extras(share: FactorPlan, ratios: tuple[Ratio, ...]) -> list[Formula | None]:
    """Say how what is added comes about: for the m-estimate as m times p."""
    family = share.family
    if not isinstance(family, Categorical) or not family.m:
        return [None] * len(ratios)
    m = family.m
    return [Product((plain(m), plain(each.added / m))) if each.added else None for each in ratios]


def _how(share: FactorPlan, j: int, n_values: int, intervals: bool) -> str:
    """Say how the probabilities of a column come about."""
    family: Any = share.family
    what = "interval" if intervals else "value"
    here = "in the interval" if intervals else "with the value"
    said = f"the class's rows {here}, over all its rows with a value"
    if getattr(family, "m", None) is not None:
        return f"{said}; the m-estimate adds m p above and m = {_number(family.m)} below"
    alpha = float(alpha_of_each(family.alpha, share.info.names)[j])
    if not alpha:
        block: Any = share.counted.select([j])
        return f"{said}; nothing is added{pooled(block.weight.sum(axis=1))}"
    return f"{said}; alpha = {_number(alpha)} is added to each of {n_values} {what}s"


def of_switch(
    share: FactorPlan | None,
    switches: BernoulliParameters,
    j: int,
    what: Contribution,
    classes: tuple[str, ...],
) -> Term:
    """Return the term of a column that is on or off."""
    column, on = one_line(what.column), what.detail == "on"
    present, absent = np.exp(switches.log_present[:, j]), np.exp(switches.log_absent[:, j])
    how = STATED
    if share is None:
        estimates = [Estimate.stated(p) for p in present.tolist()]
    else:
        (ratios,) = likelihoods.of_columns(switches, [j])
        estimates = [Estimate.of(each) for each in ratios]
        family: Any = share.family
        alpha = float(alpha_of_each(family.alpha, share.info.names)[j])
        block: Any = share.counted
        more = f"; nothing is added{pooled(block.weight)}"
        if alpha:
            more = f"; alpha = {_number(alpha)} is added to both outcomes"
        how = (
            f"the class's rows above {_number(switches.threshold)} (on), over all its rows with a "
            f"value{more}; off is 1 less on"
        )
    if not on:
        both = zip(estimates, absent.tolist(), strict=True)
        estimates = [each.opposite(value) for each, value in both]
    name = f"{column} {what.detail}"
    title = f"{column} = {one_line(what.value)}, {what.detail}"
    return counted_term(
        title, how, name, estimates, what.log_likelihood, classes, exponent=what.exponent
    )


def _number(x: float) -> str:
    return f"{x:.6g}"
