"""How the factor of a value is worked out by hand, family by family.

`derivation` is open: a family of one's own registers its own, and is shown by its number otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.families.bins import BinsParameters
from tallybayes.families.categorical import CategoricalParameters
from tallybayes.families.counts import (
    BernoulliParameters,
    MultinomialParameters,
    PoissonParameters,
)
from tallybayes.families.gaussian import NormalParameters
from tallybayes.families.parameters import ColumnInfo, Parameters, safe_log
from tallybayes.families.smoothing import Ratios, alpha_of_each, guess_for_unseen
from tallybayes.families.text import TextParameters
from tallybayes.rendering.formula import (
    LONGEST,
    PI,
    Formula,
    chain,
    density,
    equation,
    exp,
    factorial,
    in_product,
    log,
    number,
    of,
    powered,
    product,
    rounded,
    sqrt,
)

Floats = NDArray[np.float64]

ANY_CLASS = "c", "k", "class", "any class"  # the first that is no class itself
STATED = "the probabilities are stated: the model comes without its counts"
POOLED = "; a class without any takes what all classes have together"
ELSEWHERE = (
    "complement weights are no probabilities: a word counts the inverse of its share in all other "
    "classes together"
)
NORMALISED = (
    "complement weights are no probabilities: the weight of a word is the logarithm of its share "
    "in all other classes together, over the sum of these logarithms, and it counts exp(weight)"
)
MOST_ABSENT = 300  # absent words whose exact product is worked out
FEW_CLASSES = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A value whose factor is to be worked out.

    Parameters
    ----------
    family, counted, info
        What its parameters were estimated by and from; nothing was counted of stated ones.
    unit
        The place of its column among the parameters, or of the word among the words of a text.
    column, value, detail
        What it is called, its value, and what that is taken for, as they are written.
    raw
        The value itself.
    logs
        What it adds to the score of each class.
    classes
        The classes, as they are written.
    count, weight, exponent
        How often it occurs, what that counts, and the exponent of a calibration.
    """

    family: Any
    counted: Any
    info: ColumnInfo
    unit: int
    column: str
    value: str
    detail: str
    raw: Any
    logs: tuple[float, ...]
    classes: tuple[str, ...]
    count: float = 1.0
    weight: float = 1.0
    exponent: float = 1.0

    @property
    def any_class(self) -> str:
        """What stands for any class."""
        return next((each for each in ANY_CLASS if each not in self.classes), ANY_CLASS[-1])


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a factor comes about: in words, for any class, and for each class.

    Parameters
    ----------
    title, how
        What it is of, and how such factors come about.
    general
        The factor without numbers, for any class.
    lines
        For each class the formulas that lead to it.
    factors
        For each class what stands in the product.
    logs
        The logarithm of its value, which is what the model adds up.
    """

    title: str
    how: str
    general: Formula
    lines: tuple[tuple[Formula, ...], ...]
    factors: tuple[Formula, ...]
    logs: tuple[float, ...] = ()

    @property
    def spread(self) -> float:
        """How much it tells the classes apart."""
        return math.inf if -math.inf in self.logs else max(self.logs) - min(self.logs)


@singledispatch
def derivation(parameters: Parameters, asked: Question) -> Derivation:
    """Work out the factor of a value: shown by its number, unless its family knows better."""
    what = f"{asked.column} = {asked.value}"
    return _of_numbers(asked, what, "f", "the value at the record of the class's distribution")


def _of_numbers(asked: Question, what: str, named: str, how: str) -> Derivation:
    """Show a factor by its value in each class."""
    lines = tuple(
        (chain(of(named, what, label), density(each)),)
        for label, each in zip(asked.classes, asked.logs, strict=True)
    )
    general = of(named, what, asked.any_class)
    return Derivation(what, how, general, lines, tuple(map(in_product, asked.logs)))


@dataclass(frozen=True, slots=True)
class _Estimate:
    """A probability or rate with its working."""

    working: Formula
    value: float

    @property
    def factor(self) -> Formula:
        """The estimate as it stands in a product: counted out, but not reduced."""
        if self.working.op != "/":
            return self.working
        above, below = self.working.parts
        if above.exact is None or below.exact is None:
            return in_product(self.log)
        if below.exact == 1:
            return number(above.exact)
        return _written(above.exact) / _written(below.exact)

    @property
    def log(self) -> float:
        """The logarithm of the value."""
        return math.log(self.value) if self.value > 0.0 else -math.inf

    def shown(self, what: Formula) -> Formula:
        """Return the equation from what is estimated to its value."""
        if self.working.exact is None:
            return equation(what, self.working, log=self.log)
        return equation(what, self.working, self.factor)


def _written(exact: Fraction) -> Formula:
    """Write an exact number as a decimal if that is short."""
    short = f"{float(exact):.6g}"
    few = "e" not in short and Fraction(short) == exact
    return number(float(exact)) if few else number(exact)


def _estimates(ratios: Ratios, k: int, m: float = 0.0) -> list[_Estimate]:
    """Return one for each class: (count + added)/(total + added_total), added being m p."""
    pooled = ratios.pooled()
    shape = pooled.count.shape
    wide = [np.broadcast_to(part, shape)[:, k].tolist() for part in (
        pooled.count, pooled.added, pooled.total, pooled.added_total, pooled.p)]  # fmt: skip
    found = []
    for count, added, total, more, p in zip(*wide, strict=True):
        above, below = number(count), number(total)
        if added or more:
            above = above + (number(m) * number(added / m) if m and added else number(added))
        below = below + number(more) if more else below
        nothing = not total + more > 0.0
        found.append(_Estimate(_meant(p) if nothing else above / below, p))
    return found


def estimated(ratios: Ratios, place: int) -> tuple[Formula, ...]:
    """Return an estimate of each class with its working: (0 + 1)/(3 + 3) = 1/6 = 0.1667."""
    found = []
    for each in _estimates(ratios, place):
        _, *steps = equation("", each.working, log=each.log).parts
        found.append(replace(chain(*steps), exact=each.working.exact))
    return tuple(found)


def _stated(logs: Floats) -> list[_Estimate]:
    """Return probabilities that were stated."""
    return [_Estimate(_meant(p), p) for p in np.exp(logs).tolist()]


def _meant(p: float) -> Formula:
    """Return a stated number; being kept as a logarithm cost it its last digits."""
    short = float(f"{p:.6g}")
    rounding = 3e-16 * (1.0 + abs(math.log(p))) * p if p > 0.0 else 0.0
    return number(short if abs(short - p) <= rounding else p)


def _of_probabilities(
    asked: Question, title: str, how: str, what: str, estimates: Sequence[_Estimate]
) -> Derivation:
    """Derive a factor that is a probability, as often as it counts."""
    powers = asked.weight, asked.exponent
    lines = tuple(
        (each.shown(of("P", what, label)),)
        for label, each in zip(asked.classes, estimates, strict=True)
    )
    factors = tuple(powered(each.factor, *powers) for each in estimates)
    return Derivation(title, how, powered(of("P", what, asked.any_class), *powers), lines, factors)


def _without(totals: Any) -> str:
    """Say what becomes of classes of which nothing was counted, if there are such."""
    return "" if np.all(np.asarray(totals) > 0.0) else POOLED


@derivation.register
def _(tables: CategoricalParameters, asked: Question) -> Derivation:
    """Derive the probability of a category, or of the interval of a number."""
    intervals = isinstance(tables, BinsParameters)
    title = f"{asked.column} = {asked.value}" + (f", {asked.detail}" if asked.detail else "")
    what = f"{asked.column} {asked.detail}" if intervals else f"{asked.column} = {asked.value}"
    place = tables.place(asked.unit, asked.raw)
    ratios = tables.ratios(asked.unit)
    if ratios is None:
        logs = tables.log_unseen[:, asked.unit]
        if place is not None:
            logs = tables.select([asked.unit]).log_probabilities[:, place]
        return _of_probabilities(asked, title, STATED, what, _stated(logs))
    m = getattr(asked.family, "m", None)
    if place is None:
        ratios, place = _unseen(asked, ratios, tables.labels[asked.unit]), 0
    n = len(tables.labels[asked.unit])
    how = "the class's rows with the value, over all its rows with a value"
    if intervals:
        how = "the class's rows in the interval, over all its rows with a value"
    alpha = float(alpha_of_each(asked.family.alpha, asked.info.names)[asked.unit])
    if m is not None:
        how += f"; the m-estimate adds m p above and m = {m:.6g} below"
    elif alpha:
        how += (
            f"; alpha = {alpha:.6g} is added to each of {n} {'interval' if intervals else 'value'}s"
        )
    else:
        how += f"; nothing is added{_without(ratios.total)}"
    return _of_probabilities(asked, title, how, what, _estimates(ratios, place, m or 0.0))


def _unseen(asked: Question, ratios: Ratios, labels: Sequence[Any]) -> Ratios:
    """Return the fractions behind a value that no row has."""
    family = asked.family
    total = np.broadcast_to(ratios.total, ratios.count.shape)[:, :1]
    more = np.broadcast_to(ratios.added_total, ratios.count.shape)[:, :1]
    added = np.full(total.shape, float(alpha_of_each(family.alpha, asked.info.names)[asked.unit]))
    if getattr(family, "m", None) is not None:
        name = str(asked.info.names[asked.unit])
        guess = guess_for_unseen(family.p, asked.info.classes, labels, name)
        added = family.m * guess[:, None]
    return Ratios(np.zeros(total.shape), added, total, more)


@derivation.register
def _(switches: BernoulliParameters, asked: Question) -> Derivation:
    """Derive the probability of a column that is on or off."""
    title = f"{asked.column} = {asked.value}, {asked.detail}"
    ratios = switches.ratios(asked.unit)
    how = STATED
    if ratios is None:
        estimates = _stated(switches.log_present[:, asked.unit])
    else:
        estimates = _estimates(ratios, 0)
        alpha = float(np.max(ratios.added))
        added = f"alpha = {alpha:.6g} is added to both outcomes" if alpha else "nothing is added"
        how = (
            f"the class's rows above {switches.threshold:.6g} (on), over all its rows with a "
            f"value; {added}{'' if alpha else _without(ratios.total)}; off is 1 less on"
        )
    if asked.detail == "off":
        absent = np.exp(switches.log_absent[:, asked.unit]).tolist()
        estimates = [_opposite(each, p) for each, p in zip(estimates, absent, strict=True)]
    return _of_probabilities(asked, title, how, f"{asked.column} {asked.detail}", estimates)


def _opposite(estimate: _Estimate, value: float) -> _Estimate:
    """Return one less an estimate."""
    one = number(1)
    factor = estimate.factor
    if factor.op == "/" and factor.exact is not None:
        above, below = factor.parts
        return _Opposite(one - factor, value, (below - above, below))
    return _Opposite(one - factor, value, None)


@dataclass(frozen=True, slots=True)
class _Opposite(_Estimate):
    """One less a probability: worked out as such, and a fraction in the product."""

    parts: tuple[Formula, Formula] | None = None

    @property
    def factor(self) -> Formula:
        """What is left, as it stands in a product."""
        if self.parts is None or self.parts[0].exact is None or self.parts[1].exact is None:
            return number(self.working.exact) if self.working.exact else in_product(self.log)
        return _written(self.parts[0].exact) / _written(self.parts[1].exact)


@derivation.register
def _(bag: MultinomialParameters, asked: Question) -> Derivation:
    """Derive the share of a word in a bag; of a complement, its share everywhere else."""
    title = f"{asked.column}, {_often(asked.count)}"
    ratios = bag.ratios(asked.unit)
    assert ratios is not None
    return _of_share(bag, asked, title, "columns")


def _of_share(
    bag: MultinomialParameters, asked: Question, title: str, words: str, before: str = ""
) -> Derivation:
    """Derive a word's factor; `words` are what there are many of."""
    how = before + _how_shares(bag, asked.classes, words)
    estimates = _estimates(bag.ratios(asked.unit), 0)
    what = asked.column
    if not bag.complement:
        return _of_probabilities(asked, title, how, what, estimates)
    logs = bag.fractions.elsewhere().log()
    but = [f"all but {label}" for label in asked.classes]
    lines = [(each.shown(of("P", what, c)),) for each, c in zip(estimates, but, strict=True)]
    powers = asked.weight, asked.exponent
    if not getattr(asked.family, "norm", False):
        inverse = [_inverse(each.factor) for each in estimates]
        general = powered(1 / of("P", what, f"all but {asked.any_class}"), *powers)
        inverted = tuple(powered(each, *powers) for each in inverse)
        return Derivation(title, f"{ELSEWHERE}; {how}", general, tuple(lines), inverted)
    counts = [number(power) for power in powers if power != 1.0]
    factors, shown = [], []
    for c, label in enumerate(asked.classes):
        total = float(logs[c].sum())
        weight = float(logs[c, asked.unit]) / total if total else 0.0
        value = rounded(math.log(weight), 5, zeros=True) if weight else number(0)
        steps = [log(estimates[c].factor) / number(total)] if total else []
        shown.append((*lines[c], chain(of("weight", what, label), *steps, value)))
        factors.append(exp(product([*counts, value])))
    general = exp(product([*counts, of("weight", what, asked.any_class)]))
    return Derivation(title, f"{NORMALISED}; {how}", general, tuple(shown), tuple(factors))


def _inverse(factor: Formula) -> Formula:
    """Return one over a number."""
    if factor.op != "/":
        return 1 / factor
    above, below = factor.parts
    return below / above


def _how_shares(bag: MultinomialParameters, classes: Sequence[str], words: str) -> str:
    """Say how shares come about: which totals, and what is added."""
    said = "the class's count of the word, over its count of all words"
    if bag.complement:
        said = "a share is the count of the word, over that of all words"
    totals = np.broadcast_to(bag.fractions.total, (len(classes), 1))[:, 0]
    if len(classes) <= FEW_CLASSES:
        has = (f"{label} has {n:.6g}" for label, n in zip(classes, totals, strict=True))
        said += f" ({', '.join(has)})"
    alpha = np.unique(bag.fractions.added).tolist()
    if alpha == [0.0]:
        return f"{said}; nothing is added{_without(totals)}"
    what = "an alpha" if len(alpha) > 1 else f"alpha = {alpha[0]:.6g}"
    return f"{said}; {what} is added to each of {bag.weights.shape[1]} {words}"


def _often(n: float) -> str:
    """Write how often something occurs: once, twice, 3 times."""
    if n in (1.0, 2.0):
        return "once" if n == 1.0 else "twice"
    return f"{n:.6g} times"


@derivation.register
def _(rates: PoissonParameters, asked: Question) -> Derivation:
    """Derive the probability of so many events."""
    x, what = asked.count, f"{asked.column} = {asked.count:.10g}"
    ratios = rates.ratios(asked.unit)
    how = STATED
    if ratios is None:
        estimates = _stated(safe_log(rates.rate[:, asked.unit]))
    else:
        estimates = _estimates(ratios, 0)
        how = "P(x) = rate^x exp(-rate)/x!, where the rate is the class's events over its rows"
        how += _without(asked.counted.weight)
    named = "P" if asked.exponent == 1.0 else "factor"  # x! is not raised to the exponent
    lines, factors = [], []
    for label, each, total in zip(asked.classes, estimates, asked.logs, strict=True):
        above = exp(-each.factor)
        above = powered(each.factor, x) * above if x else above
        tempered = powered(above, asked.exponent)
        if x > 1.0 or not x.is_integer():
            below = factorial(number(x))
            tempered = above / below if asked.exponent == 1.0 else 1 / below * tempered
        rate = each.shown(of("rate", asked.column, label))
        lines.append((rate, chain(of(named, what, label), tempered, density(total))))
        certain = each.working.exact == 0 and asked.exponent != 0.0
        factors.append(number(int(x == 0.0)) if certain else in_product(total))
    general = of(named, what, asked.any_class)
    return Derivation(what, how, general, tuple(lines), tuple(factors))


@derivation.register
def _(normals: NormalParameters, asked: Question) -> Derivation:
    """Derive the density of a bell curve."""
    what = f"{asked.column} = {asked.value}"
    curve = f"log {asked.column}" if normals.log else asked.column
    lines, notes = [], []
    for c, label in enumerate(asked.classes):
        mean, variance = (float(v[c, asked.unit]) for v in (normals.mean, normals.variance))
        before: tuple[Formula, ...] = ()
        if asked.counted is not None:
            before, note = _moments(asked, c, mean, variance, curve, label)
            notes += [note] if note else []
        shown = _density(mean, variance, asked, normals.log)
        head = _density_of(what, label, asked, normals.log)
        lines.append((*before, chain(head, shown, density(asked.logs[c]))))
    of_logs = " of the logarithm" if normals.log else ""
    how = f"a bell curve with the mean and the variance{of_logs} of the class's values"
    if asked.counted is None:
        how = "a bell curve with a stated mean and variance"
    elif asked.family.ddof:
        how += f"; the variance divides by n - {asked.family.ddof:g}"
    general = _density_of(what, asked.any_class, asked, normals.log)
    factors = tuple(map(in_product, asked.logs))
    return Derivation(what, "; ".join([how, *notes]), general, tuple(lines), factors)


def _density_of(what: str, label: str, asked: Question, logged: bool) -> Formula:
    """Name a density with its exponent; the 1/x of a log-normal one is not raised to it."""
    if logged and asked.exponent != 1.0:
        return of("factor", what, label)
    return powered(of("f", what, label), asked.exponent)


def _density(mean: float, variance: float, asked: Question, logged: bool) -> Formula:
    """Write the density with its numbers."""
    x, spread = number(float(asked.raw), 10), number(variance)
    point = log(x) if logged else x
    off = (point - number(mean, _digits(mean, variance))) ** 2
    bell = exp(-(off / (2 * spread)))
    root = sqrt(2 * PI * spread)
    if logged and asked.exponent == 1.0:
        return 1 / (x * root) * bell
    height = powered(1 / root * bell, asked.exponent)
    return 1 / x * height if logged else height


def _digits(mean: float, variance: float) -> int:
    """Return how many digits of a mean matter, as far as it lies from zero."""
    far = abs(mean) / math.sqrt(variance)
    return min(16, 6 + max(0, math.ceil(math.log10(far)))) if far > 0.0 else 6


def _moments(
    asked: Question, c: int, mean: float, variance: float, what: str, label: str
) -> tuple[tuple[Formula, ...], str]:
    """Show mean and variance with the sums that they come from, and say what is unusual."""
    n, m2 = (float(part[c, asked.unit]) for part in (asked.counted.weight, asked.counted.m2))
    ddof = float(asked.family.ddof)
    of_mean, of_variance = of("mean", what, label), of("variance", what, label)
    centre, spread = number(mean, _digits(mean, variance)), number(variance)
    alone = chain(of_variance, spread)
    if n <= 0.0:
        none = f"{label} has no values and takes mean and variance of all rows"
        return (chain(of_mean, centre), alone), none
    first = chain(of_mean, number(mean * n, _digits(mean, variance)) / number(n), centre)
    free = n - ddof
    if free <= 1e-9 * ddof:
        few = f"{label} has too few values for a variance of its own and takes that of the others"
        return (first, alone), few
    if not math.isclose(m2 / free, variance, rel_tol=1e-9):
        lifted = f"the variance of {label} was lifted: no variance may be near to zero"
        return (first, alone), lifted
    below = number(n) - number(ddof) if ddof else number(n)
    return (first, chain(of_variance, number(m2) / below, spread)), ""


@derivation.register
def _(text: TextParameters, asked: Question) -> Derivation:
    """Derive the factor of one word, or of all that are absent; `unit` is its number."""
    bag, alpha = text.plain, text.text.added
    title = f"{asked.column}, {_often(asked.count)}"
    if asked.weight not in (asked.count, 1.0):
        title += f", which counts {asked.weight:.6g}"
    if isinstance(bag, MultinomialParameters):
        once = "a word counts once a document; " if text.text.event == "boolean" else ""
        word = replace(asked, family=text.text.like())
        return _of_share(bag, word, title, "different words", once)
    added = f"alpha = {alpha:.6g} is added to both outcomes" if alpha else "nothing is added"
    how = (
        f"the class's documents with the word, over all its documents; {added}; words that are "
        "absent count 1 less that"
    )
    if asked.unit >= 0:
        ratios = bag.ratios(asked.unit)
        assert ratios is not None
        return _of_probabilities(asked, title, how, asked.column, _estimates(ratios, 0))
    return _absent(bag, asked, how)


def _absent(bag: BernoulliParameters, asked: Question, how: str) -> Derivation:
    """Derive the one factor of all words that are absent, of which `raw` has the numbers."""
    lines, factors = [], []
    for c, (label, total) in enumerate(zip(asked.classes, asked.logs, strict=True)):
        together = in_product(total)
        if len(asked.raw) <= MOST_ABSENT and bag.fractions is not None:
            each = bag.fractions[[c]][..., asked.raw]
            absent = [number(1) - _estimates(each, k)[0].factor for k in range(len(asked.raw))]
            exact = product([number(part.exact) for part in absent if part.exact is not None])
            known = all(part.exact is not None for part in absent)
            if known and exact.exact is not None and len(str(exact.exact)) <= LONGEST:
                together = powered(number(exact.exact), asked.exponent)
        head = powered(of("P", asked.column, label), asked.exponent)
        lines.append((chain(head, together, density(total)),))
        factors.append(together)
    general = powered(of("P", asked.column, asked.any_class), asked.exponent)
    title = f"{asked.column}, the product of 1 - P(word) of each"
    return Derivation(title, how, general, tuple(lines), tuple(factors))
