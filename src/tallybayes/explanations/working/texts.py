"""Terms of a text: one for each word that the model knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tallybayes.explanations import likelihoods
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.ratio import Ratio
from tallybayes.explanations.words import numbers_of
from tallybayes.explanations.working.bags import ELSEWHERE, elsewhere_term, of_shares
from tallybayes.explanations.working.estimates import Estimate
from tallybayes.explanations.working.formula import Of, chain, powered
from tallybayes.explanations.working.numbers import (
    fraction,
    in_a_product,
    plain,
    rounded,
    times,
    to_the,
)
from tallybayes.explanations.working.terms import (
    Term,
    any_class,
    checked,
    counted_term,
    often,
    one_line,
)
from tallybayes.families import TextParameters
from tallybayes.tokenizer.words import in_utf8

Integers = NDArray[np.int64]

MOST_ABSENT = 300  # absent words whose exact product is worked out
ONCE = "a word counts once a document"
PRESENT = "the class's documents with the word, over all its documents"


def of_text(
    weights: TextParameters,
    document: str,
    what: Contribution,
    classes: tuple[str, ...],
    wanted: set[int] | None,
    where: str,
) -> Iterator[Term]:
    """Go through the words of a document that count, or through those whose ids are wanted.

    `where` tells words of several texts apart; it is empty if there is only one.
    """
    present = _present(weights, document)
    words = [word for word in what.words if word.left_out is None]
    known, absent = words[: len(present)], words[len(present) :]  # which are one, if any
    if wanted is not None:
        places = [k for k, word in enumerate(known) if id(word) in wanted]
        known, numbers = [known[k] for k in places], present[places]
        absent = [word for word in absent if id(word) in wanted]
    else:
        numbers = present
    how = _how(weights, classes)
    if weights.text.event == "complement":
        ratios = _elsewhere(weights, numbers)
    else:
        ratios = likelihoods.of_words(weights, numbers.tolist())
    for word, line in zip(known, ratios, strict=True):
        name = f'"{one_line(word.value)}"{where}'
        title = f"{name}, {often(word.times)}"
        if word.counted not in (word.times, 1.0):
            title += f", which counts {word.counted:.6g}"
        if weights.text.event == "complement":
            yield elsewhere_term(title, how, name, line, word, classes)
            continue
        estimates = [Estimate.of(each) for each in line]
        yield counted_term(
            title,
            how,
            name,
            estimates,
            word.log_likelihood,
            classes,
            word.counted,
            word.exponent,
        )
    for word in absent:
        yield _absent(weights, present, word, classes, where)


def _present(weights: TextParameters, document: str) -> Integers:
    """Return the numbers of the words that are there, in the order in which they first occur."""
    terms = list(dict.fromkeys(in_utf8(term) for term in weights.text.words.terms(document)))
    numbers = numbers_of(weights, terms).values()
    return np.array(list(dict.fromkeys(n for n in numbers if n >= 0)), np.int64)


def _elsewhere(weights: TextParameters, numbers: Integers) -> list[tuple[Ratio, ...]]:
    """Return the shares of some words in all other classes together."""
    alpha = weights.text.added
    counts, totals = weights.counts_of(numbers), weights.class_totals
    others = counts.sum(axis=1, keepdims=True) - counts
    below, more = totals.sum() - totals, alpha * len(weights.terms)
    return [
        tuple(
            Ratio((n + alpha) / (total + more), n, alpha, total, more)
            for n, total in zip(row, below.tolist(), strict=True)
        )
        for row in others.tolist()
    ]


def _how(weights: TextParameters, classes: Sequence[str]) -> str:
    """Say how the probabilities of words come about."""
    text, alpha = weights.text, weights.text.added
    if text.event == "bernoulli":
        added = f"alpha = {alpha:.6g} is added to both outcomes" if alpha else "nothing is added"
        return f"{PRESENT}; {added}; words that are absent count 1 less that"
    totals = weights.class_totals
    elsewhere = text.event == "complement"
    words = "different words"
    shares = of_shares(len(weights.terms), [alpha], totals, classes, words, elsewhere)
    if elsewhere:
        return f"{ELSEWHERE}; {shares}"
    return f"{ONCE}; {shares}" if text.event == "boolean" else shares


def _absent(
    weights: TextParameters,
    present: Integers,
    what: Contribution,
    classes: Sequence[str],
    where: str,
) -> Term:
    """Return the one term of all words that are absent."""
    numbers = np.setdiff1d(np.arange(len(weights.terms)), present)
    exact: list[Fraction | None] = [None] * len(classes)
    if len(numbers) <= MOST_ABSENT:
        ratios = likelihoods.of_words(weights, numbers.tolist())
        each = [[_opposite(line[c]) for line in ratios] for c in range(len(classes))]
        exact = [times(factors) for factors in each]
    exact = list(checked([to_the(p, what.exponent) for p in exact], what.log_likelihood))
    name = "1 word absent" if len(numbers) == 1 else f"{len(numbers)} words absent"
    name += where
    lines, factors = [], []
    for label, p, log in zip(classes, exact, what.log_likelihood, strict=True):
        short = fraction(p)
        head = powered(Of("P", name, label), plain(what.exponent))
        lines.append((chain(head, short, rounded(log)),))
        factors.append(in_a_product(log) if short is None else short)
    return Term(
        f"{name}, the product of 1 - P(word) of each",
        _how(weights, classes),
        powered(Of("P", name, any_class(classes)), plain(what.exponent)),
        tuple(lines),
        tuple(factors),
        what.log_likelihood,
        tuple(exact),
    )


def _opposite(ratio: Ratio) -> Fraction | None:
    exact = Estimate.of(ratio).exact
    return None if exact is None else 1 - exact
