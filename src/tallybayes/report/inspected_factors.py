"""From what was counted and estimated to the tables that show it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations import likelihoods
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    Complement,
    MultinomialParameters,
    NormalParameters,
    Parameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.families.bins import interval
from tallybayes.families.parameters import CONSTANT, NEVER_COUNTED
from tallybayes.model import Fitted, Model, most_informative
from tallybayes.model.factors import FactorPlan
from tallybayes.report.inspected_tables import (
    ClassMoments,
    InspectedTable,
    Likelihoods,
    NumberMoments,
    TopWord,
    TopWords,
)
from tallybayes.sources.labels import Label
from tallybayes.tallies import Moments
from tallybayes.tokenizer import Terms

Floats = NDArray[np.float64]

# unless a column is asked for by name
MOST_TABLES = 1000  # of the columns of one family
MOST_CELLS = 20_000  # ratios of one table
FEW_COLUMNS = 20  # lines of one table that are all shown, however few are asked for


class Wish(NamedTuple):
    """Which columns are looked into (None: all), and how many words or columns are listed.

    Tables of columns that are asked for by name are shown whole.
    """

    columns: Collection[str] | None
    words: int

    @property
    def whole(self) -> bool:
        """Whether nothing is cut."""
        return self.columns is not None


def tables_of(fitted: Fitted, wish: Wish) -> Iterator[InspectedTable]:
    """Go through the tables of a model."""
    model = fitted.model
    tally = fitted.tally.with_classes(fitted.classes)
    every = fitted.recipe.plan(tally)
    for share, factor in zip(every, model.factors, strict=True):
        names = map(str, share.info.names)
        wanted = wish.columns
        places = [j for j, name in enumerate(names) if wanted is None or name in wanted]
        if places:
            yield from _of_factor(model, share, factor.parameters, places, wish)


def _of_factor(
    model: Model, share: FactorPlan, parameters: Parameters, places: list[int], wish: Wish
) -> Iterator[InspectedTable]:
    """Go through the tables of the columns that one family estimates."""
    some = places if wish.whole else places[:MOST_TABLES]
    if isinstance(parameters, TextParameters):
        yield _words(model, share, parameters, wish.words)
    elif isinstance(parameters, NormalParameters):
        yield from (_moments(share, parameters, j) for j in some)
    elif isinstance(parameters, CategoricalParameters):
        yield from (_values(model, share, parameters, j, wish) for j in some)
    else:
        assert isinstance(
            parameters, BernoulliParameters | MultinomialParameters | PoissonParameters
        )
        yield _columns(model, share, parameters, places, wish)


def _values(
    model: Model, share: FactorPlan, tables: CategoricalParameters, j: int, wish: Wish
) -> Likelihoods:
    """Return the table of a column of categories, or of intervals."""
    labels, name = tables.labels[j], str(share.info.names[j])
    lines = list(range(len(labels)))
    room = max(1, MOST_CELLS // max(1, len(share.info.classes)))
    if len(labels) > room and not wish.whole:
        block: Any = share.counted.select([j])
        total = dict(zip(block.labels[0], block.weight.sum(axis=0).tolist(), strict=True))
        lines = sorted(lines, key=lambda k: -total.get(labels[k], 0.0))[:room]
    ratios = likelihoods.of_values(tables, j, lines)
    head, named = "value", [labels[k] for k in lines]
    if isinstance(tables, BinsParameters):
        head, named = "interval", [interval(tables.edges[j], k) for k in lines]
    return Likelihoods(
        (name,),
        str(share.family),
        f"P({head} | {model.schema.target})",
        head,
        tuple(zip(named, ratios, strict=True)),
        len(labels) - len(lines),
        "" if labels else NEVER_COUNTED,
    )


def _moments(share: FactorPlan, normals: NormalParameters, j: int) -> NumberMoments:
    """Return the means and variances of a numeric column."""
    family: Any = share.family
    assert isinstance(share.counted, Moments)
    lines = []
    for c in range(len(share.info.classes)):
        rows, weight = int(share.counted.rows[c, j]), float(share.counted.weight[c, j])
        mean, variance = float(normals.mean[c, j]), float(normals.variance[c, j])
        note = _note_of_variance(weight, family.ddof, float(share.counted.m2[c, j]), variance)
        sd = math.sqrt(variance) if variance >= 0.0 else math.nan
        lines.append(ClassMoments(rows, weight, mean, sd, variance, note))
    note = ""
    if not normals.used[j]:
        note = NEVER_COUNTED if np.isnan(normals.mean[:, j]).any() else f"left out: {CONSTANT}"
    log = normals.log
    name = str(share.info.names[j])
    return NumberMoments((name,), str(family), float(family.ddof), log, tuple(lines), note)


def _note_of_variance(weight: float, ddof: float, m2: float, variance: float) -> str:
    """Say where a variance comes from that is not simply that of its class."""
    if not weight:
        return "no values here: those of all classes"
    freedom = weight - ddof
    if freedom <= 1e-9 * ddof:
        return "too few values here: the variance within all classes"
    return "" if math.isclose(m2 / freedom, variance, rel_tol=1e-9) else "lifted by the floor"


def _columns(
    model: Model,
    share: FactorPlan,
    parameters: BernoulliParameters | MultinomialParameters | PoissonParameters,
    places: list[int],
    wish: Wish,
) -> Likelihoods:
    """Return the table of columns that stand for one line each."""
    names, target = [str(name) for name in share.info.names], model.schema.target
    chosen = places
    if len(places) > max(wish.words, FEW_COLUMNS) and not wish.whole:
        telling = _telling(parameters, model.prior)
        chosen = sorted(places, key=lambda j: -telling[j])[: wish.words]
    if isinstance(parameters, BernoulliParameters):
        ratios = likelihoods.of_columns(parameters, chosen)
        title = f"P(above {parameters.threshold:g} | {target})"
        silent = (parameters.log_present == 0.0).all(0) & (parameters.log_absent == 0.0).all(0)
    elif isinstance(parameters, PoissonParameters):
        ratios = likelihoods.of_columns(parameters, chosen)
        title, silent = "events a row", np.isnan(parameters.rate).any(axis=0)
    else:
        ratios = likelihoods.of_columns(parameters, chosen)
        title, silent = f"P(column | {target})", np.zeros(len(names), bool)
        if isinstance(share.family, Complement):
            title = f"P(column | any other {target}), whose -log is the score"
    known = [(names[j], line) for j, line in zip(chosen, ratios, strict=True) if not silent[j]]
    never = [names[j] for j in chosen if silent[j]]
    return Likelihoods(
        tuple(names[j] for j in chosen),
        str(share.family),
        title,
        "column",
        tuple(known),
        len(places) - len(chosen),
        f"{', '.join(never)}: {NEVER_COUNTED}" if never else "",
    )


def _telling(
    parameters: BernoulliParameters | MultinomialParameters | PoissonParameters, prior: Floats
) -> Floats:
    """Return how much each column tells the classes apart: the information in its frequencies."""
    if isinstance(parameters, BernoulliParameters):
        p = np.exp(parameters.log_present)
        return _divergence(p, prior) + _divergence(np.exp(parameters.log_absent), prior)
    if isinstance(parameters, PoissonParameters):
        return _divergence(np.nan_to_num(parameters.rate), prior)
    return _divergence(parameters.fractions.p, prior)


def _divergence(p: Floats, prior: Floats) -> Floats:
    """Return sum_c P(c) p_c log(p_c / p) for each column, with p the mean of all p_c."""
    mean = prior @ p
    ratio = np.divide(p, mean, out=np.ones(p.shape), where=(p > 0.0) & (mean > 0.0))
    return np.asarray(prior @ (p * np.log(ratio)))


def _words(model: Model, share: FactorPlan, weights: TextParameters, n: int) -> TopWords:
    """Return the words that speak most for each class."""
    name = str(share.info.names[0])
    found: dict[Label, Any] = {}
    if len(model.classes) > 1:
        found = most_informative(model, n, column=name)
    by_class = []
    for c, label in enumerate(model.classes):
        telling = found.get(label, [])
        ratios = likelihoods.of_words(
            weights, [_number(weights, str(each.value)) for each in telling]
        )
        by_class.append(
            tuple(
                TopWord(str(each.value), line[c], _exp(each.log_ratio), each.here, each.elsewhere)
                for each, line in zip(telling, ratios, strict=True)
            )
        )
    event = weights.text.event
    what = "a document has the word" if event == "bernoulli" else "word"
    title = f"P({what} | {model.schema.target})"
    documents = tuple(weights.counted.rows[:, 0].tolist())
    return TopWords(
        (name,), str(share.family), len(weights.terms), documents, tuple(by_class), title
    )


def _number(weights: TextParameters, word: str) -> int:
    """Return the number of a word; a bucket's is in its name."""
    if isinstance(weights.terms, Terms):
        return weights.terms.number(word)
    return int(word.removeprefix("#"))


def _exp(log: float) -> float:
    return math.exp(log) if log < 700.0 else math.inf
