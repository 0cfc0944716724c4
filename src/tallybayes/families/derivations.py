"""How the factor of a value is worked out by hand, family by family.

`derivation` is open: a family of one's own registers its own, and is shown by its number otherwise.
There are two shapes of it: an estimate from counts, (0 + 1)/(3 + 3) = 1/6, and the value of a curve
with its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from tallybayes.families.categorical import ANY_OTHER, CategoricalParameters
from tallybayes.families.counts import (
    BernoulliParameters,
    MultinomialParameters,
    PoissonParameters,
)
from tallybayes.families.gaussian import NormalParameters
from tallybayes.families.interaction import CellCounts, InteractionParameters
from tallybayes.families.joint_gaussian import JointNormalParameters
from tallybayes.families.parameters import NEVER_SEEN, ColumnInfo, Parameters
from tallybayes.families.smoothing import Ratios
from tallybayes.families.text import TextParameters
from tallybayes.rendering import Table
from tallybayes.rendering.formula import (
    LONGEST,
    PI,
    Formula,
    chain,
    density,
    equation,
    exp,
    factorial,
    fraction,
    in_product,
    log,
    number,
    of,
    powered,
    product,
    rounded,
    sqrt,
    total,
)
from tallybayes.rendering.words import label as label_of

ANY_CLASS = "c", "k", "class", "any class"  # the first that is no class itself
STATED = "the probabilities are stated: the model comes without its counts"
POOLED = "; a class without any takes what all classes have together"
ELSEWHERE = (
    "complement weights are no probabilities: a word counts the inverse of its share in all other "
    "classes together; "
)
BEYOND = (
    "what columns say together beyond what each says alone: log P({} | class), less log P of each; "
    "the former is an m-estimate, (n + m p)/(N + m), of which p is the product of the latter and m "
    "is {:.6g} for each cell that there is"
)
TOGETHER = "", "", "both", "all three"
LONGEST_NAME = 24  # characters of a column that is counted together with others
NORMALISED = (
    "complement weights are no probabilities: the weight of a word is the logarithm of its share "
    "in all other classes together, over the sum of these logarithms, and it counts exp(weight)"
)
MOST_ABSENT = 300  # absent words whose exact product is worked out


def any_class(names: Sequence[str]) -> str:
    """Return what stands for any class of these names."""
    return next((each for each in ANY_CLASS if each not in names), ANY_CLASS[-1])


@dataclass(frozen=True, slots=True)
class Question:
    """A value whose factor is to be worked out: as it is written, and what is known of it."""

    family: Any  # what its parameters were estimated by,
    counted: Any  # and from: nothing, if they are stated
    info: ColumnInfo
    unit: int  # the place of its column among the parameters, or of the word in a text
    column: str
    value: str
    detail: str  # what the value is taken for
    raw: Any  # the value itself
    logs: tuple[float, ...]  # what it adds to the score of each class
    classes: tuple[str, ...]
    reads: tuple[str, ...]  # the columns that it is about
    count: float = 1.0  # how often it occurs,
    weight: float = 1.0  # and what that counts
    exponent: float = 1.0  # of a calibration

    @property
    def what(self) -> str:
        """The column with its value, if it has one."""
        return f"{self.column} = {self.value}" if self.value else self.column

    @property
    def any_class(self) -> str:
        """What stands for any class."""
        return any_class(self.classes)

    @property
    def often(self) -> str:
        """What occurs how often: once, twice, 3 times."""
        times = {1.0: "once", 2.0: "twice"}.get(self.count, f"{self.count:.6g} times")
        counts = "" if self.weight in (self.count, 1.0) else f", which counts {self.weight:.6g}"
        return f"{self.column}, {times}{counts}"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a factor comes about: in words, for any class, and for each class."""

    title: str
    how: str  # in words
    general: Formula  # the factor without numbers, for any class
    lines: tuple[tuple[Formula, ...], ...]  # for each class the formulas that lead to it
    factors: tuple[Formula, ...]  # for each class what stands in the product
    logs: tuple[float, ...] = ()  # its value, as the model adds it up
    counts: Table | None = None  # what it comes from, where formulas alone do not show it
    line: str = ""  # the title of all that is counted of its columns, if that is more


@singledispatch
def derivation(parameters: Parameters, asked: Question) -> Derivation:
    """Work out the factor of a value: shown by its number, unless its family knows better."""
    return _of_curves(asked, "f", "the value at the record of the class's distribution")


def _of_curves(
    asked: Question,
    named: str,
    how: str,
    before: Sequence[tuple[Formula, ...]] = (),
    steps: Sequence[Formula] = (),
) -> Derivation:
    """Derive a factor by its value in each class, with the steps and the lines that lead to it."""
    named = named if asked.exponent == 1.0 else "factor"
    lines = []
    for c, (label, value) in enumerate(zip(asked.classes, asked.logs, strict=True)):
        last = chain(of(named, asked.what, label), *steps[c : c + 1], density(value))
        lines.append((*(before[c] if before else ()), last))
    general = of(named, asked.what, asked.any_class)
    return Derivation(asked.what, how, general, tuple(lines), tuple(map(in_product, asked.logs)))


class _Estimate(NamedTuple):
    """A probability or rate with its working."""

    working: Formula
    log: float

    @property
    def factor(self) -> Formula:
        """The estimate as it stands in a product: counted out, but not reduced."""
        if self.working.op != "/":
            return self.working
        above, below = (part.exact for part in self.working.parts)
        if above is None or below is None:
            return in_product(self.log)
        return number(above) if below == 1 else number(above) / number(below)

    def shown(self, what: Formula) -> Formula:
        """Return the equation from what is estimated to its value."""
        counted_out = () if self.working.exact is None else (self.factor,)
        return equation(what, self.working, *counted_out, log=self.log)


def _estimates(ratios: Ratios, m: float = 0.0) -> list[_Estimate]:
    """Return one for each class: (count + added)/(total + added_total), added being m p."""
    pooled, estimates = ratios.pooled()[:, 0], []
    parts = pooled.count, pooled.added, pooled.total, pooled.added_total, ratios.p[:, 0]
    for count, added, every, more, p in zip(*(part.tolist() for part in parts), strict=True):
        above, below = number(count), number(every)
        if added or more:
            above += number(m) * number(added / m) if m and added else number(added)
        below = below + number(more) if more else below
        working = above / below if every + more > 0.0 else number(p)
        estimates.append(_Estimate(working, math.log(p) if p > 0.0 else -math.inf))
    return estimates


def estimated(ratios: Ratios, place: int) -> tuple[Formula, ...]:
    """Return an estimate of each class with its working: (0 + 1)/(3 + 3) = 1/6 = 0.1667."""
    formulas = []
    for each in _estimates(ratios[:, [place]]):
        _, *steps = equation("", each.working, log=each.log).parts
        formulas.append(replace(chain(*steps), exact=each.working.exact))
    return tuple(formulas)


def _stated(log: float) -> _Estimate:
    """Return a stated number; being kept as a logarithm cost it its last digits."""
    p, rounding = math.exp(log), 3e-16 * (1.0 + abs(log))
    short = float(f"{p:.6g}")
    return _Estimate(number(short if abs(short - p) <= rounding * p else p), log)


def _of_estimates(
    asked: Question,
    title: str,
    how: str,
    what: str,
    estimates: Sequence[_Estimate],
    elsewhere: bool = False,
) -> Derivation:
    """Derive a probability, as often as it counts; or the inverse of one in all other classes."""
    given = [f"all but {each}" if elsewhere else each for each in (*asked.classes, asked.any_class)]
    factors = [*(each.factor for each in estimates), of("P", what, given[-1])]
    if elsewhere:
        parts: Any = ((*each.parts,) if each.op == "/" else (each, 1) for each in factors)
        factors = [below / above for above, below in parts]
    *raised, general = (powered(each, asked.weight, asked.exponent) for each in factors)
    lines = tuple(
        (each.shown(of("P", what, label)),) for label, each in zip(given, estimates, strict=False)
    )
    return Derivation(title, how, general, lines, tuple(raised))


def _of_value(
    asked: Question, where: str, ratios: Ratios | None, to: str, m: float | None = None
) -> Derivation:
    """Derive the probability of a value, or of what it is taken for."""
    title = f"{asked.what}, {asked.detail}" if asked.detail else asked.what
    known = asked.detail and not asked.detail.startswith(NEVER_SEEN)
    what = f"{asked.column} {asked.detail}" if known else asked.what
    if ratios is None:
        return _of_estimates(asked, title, STATED, what, [*map(_stated, asked.logs)])
    how = f"the class's rows {where}, over all its rows with a value"
    if m is None:
        how += _smoothing(ratios, to)
    else:
        how += f"; the m-estimate adds m p above and m = {m:.6g} below"
    return _of_estimates(asked, title, how, what, _estimates(ratios, m or 0.0))


def _smoothing(ratios: Ratios, to: str) -> str:
    """Say what is added to the counts, or what becomes of classes of which nothing was counted."""
    alpha = np.unique(ratios.added).tolist()
    if not any(alpha):
        return "; nothing is added" + ("" if np.all(np.asarray(ratios.total) > 0.0) else POOLED)
    what = "an alpha" if len(alpha) > 1 else f"alpha = {alpha[0]:.6g}"
    return f"; {what} is added to {to}"


@derivation.register
def _(tables: CategoricalParameters, asked: Question) -> Derivation:
    """Derive the probability of a category, or of the interval of a number."""
    ratios, labels, kind = tables.ratios(asked.unit), tables.labels[asked.unit], tables.shows[0]
    place = tables.place(asked.unit, asked.raw)
    if place is not None:
        ratios = None if ratios is None else ratios[:, [place]]
    elif ratios is not None:
        more, _ = asked.family.added(asked.info, asked.unit, (ANY_OTHER,), len(labels))
        ratios = replace(ratios[:, :1], count=np.zeros(more.shape), added=more)
    where = f"{'in' if kind == 'interval' else 'with'} the {kind}"
    m = getattr(asked.family, "m", None)
    return _of_value(asked, where, ratios, f"each of {len(labels)} {kind}s", m)


@derivation.register
def _(curve: JointNormalParameters, asked: Question) -> Derivation:
    """Derive what numbers say together by the curve that they have, over those that each has."""
    return _of_curves(asked, "term", "one bell curve of all columns, over the product of theirs")


@derivation.register
def _(cells: InteractionParameters, asked: Question) -> Derivation:
    """Derive what columns say together, or the share of a part in another view of one."""
    kind = cells.kinds[asked.unit]
    (parts,) = kind.units
    codes = np.unravel_index(asked.raw, kind.shape)
    said = [
        part.said(_brief(name), int(code))
        for part, name, code in zip(parts, asked.reads, codes, strict=True)
    ]
    counts = CellCounts.of_unit(asked.family, asked.counted, asked.unit, kind)
    sides, n, m = counts.ratios(asked.raw)
    if len(parts) == 1:
        how = "the class's rows there, over all its rows; "
        if parts[0].smooth:
            how += "rows count in the parts around their own too, by a bell curve; "
        how += f"alpha = {asked.family.alpha:.6g} is added to each of {parts[0].size} parts"
        return _of_estimates(asked, asked.what, how, said[0], _estimates(sides))
    alone = [_estimates(sides[:, [k]]) for k in range(len(parts))]
    both = ", ".join(said)
    lines, factors = [], []
    for c, label in enumerate(asked.classes):
        shares = [of_classes[c] for of_classes in alone]
        above = number(float(n[c])) + product([number(m), *(each.factor for each in shares)])
        together = above / (number(float(counts.total[c])) + number(m))
        naive = math.fsum(each.log for each in shares)
        log_p = math.log((n[c] + m * math.exp(naive)) / (counts.total[c] + m))
        what = of("term", asked.column, label)
        logs = total([number(log_p), *(number(-each.log) for each in shares)])
        lines.append((
            *(each.shown(of("P", one, label)) for each, one in zip(shares, said, strict=True)),
            chain(of("P", both, label), together, rounded(log_p)),
            chain(what, exp(logs), exp(number(log_p - naive)), rounded(log_p - naive)),
        ))  # fmt: skip
        exact = (together / product([each.factor for each in shares])).exact
        factor = replace(in_product(log_p - naive), exact=exact)
        if exact is not None and len(str(exact)) <= LONGEST:
            factor = fraction(exact)
        factors.append(powered(factor, asked.exponent))
    table = Table.of(
        "rows that were counted",
        [("class", "text"), *((each, "count") for each in (*said, TOGETHER[len(said)], "in all"))],
        zip(asked.classes, *sides.count.T, n, counts.total, strict=True),
    )
    how = BEYOND.format(TOGETHER[len(said)], asked.family.m)
    general = powered(of("term", asked.column, asked.any_class), asked.exponent)
    return Derivation(asked.what, how, general, tuple(lines), tuple(factors), counts=table)


def _brief(name: str) -> str:
    return label_of(name, LONGEST_NAME)


@derivation.register
def _(switches: BernoulliParameters, asked: Question) -> Derivation:
    """Derive the probability of a column that is on or off."""
    ratios, side = switches.ratios(asked.unit), "above"
    if asked.detail == "off":
        ratios, side = ratios and ratios.opposite(), "not above"
    where = f"{side} {switches.threshold:.6g} ({asked.detail})"
    return _of_value(asked, where, ratios, "both outcomes")


@derivation.register
def _of_share(
    bag: MultinomialParameters, asked: Question, words: str = "columns", once: str = ""
) -> Derivation:
    """Derive the share of a word in a bag; of a complement, its share everywhere else."""
    if bag.complement and getattr(asked.family, "norm", False):
        return _of_curves(replace(asked, value=f"{asked.count:.10g}"), "factor", NORMALISED)
    how = "the class's count of the word, over its count of all words"
    if bag.complement:
        how = f"{ELSEWHERE}a share is the count of the word, over that of all words"
    how += _smoothing(bag.fractions, f"each of {bag.weights.shape[1]} {words}")
    estimates = _estimates(bag.ratios(asked.unit))
    return _of_estimates(asked, asked.often, once + how, asked.column, estimates, bag.complement)


@derivation.register
def _(rates: PoissonParameters, asked: Question) -> Derivation:
    """Derive the probability of so many events."""
    x, estimates = asked.count, _estimates(rates.fractions[:, [asked.unit]])
    how = "P(x) = rate^x exp(-rate)/x!, where the rate is the class's events over its rows"
    how += "" if np.all(asked.counted.weight > 0.0) else POOLED
    before, steps = [], []
    for label, each in zip(asked.classes, estimates, strict=True):
        before.append((each.shown(of("rate", asked.column, label)),))
        shown = powered(each.factor, x) * exp(-each.factor) if x else exp(-each.factor)
        if asked.exponent != 1.0:  # to which x! is not raised
            shown = 1 / factorial(number(x)) * powered(shown, asked.exponent)
        elif x > 1.0 or not x.is_integer():
            shown = shown / factorial(number(x))
        steps.append(shown)
    return _of_curves(replace(asked, value=f"{x:.10g}"), "P", how, before, steps)


@derivation.register
def _(normals: NormalParameters, asked: Question) -> Derivation:
    """Derive the density of a bell curve; the 1/x of a log-normal one has no exponent."""
    unit, counted, x = asked.unit, asked.counted, number(float(asked.raw), 10)
    point, of_logs, column = x, "", asked.column
    if normals.log:
        point, of_logs, column = log(x), " of the logarithm", f"log {asked.column}"
    if counted is None:
        how, remarks, ddof = ["a bell curve with a stated mean and variance"], None, 0.0
    else:
        how = [f"a bell curve with the mean and the variance{of_logs} of the class's values"]
        remarks, ddof = asked.family.remarks(counted, normals, unit), asked.family.ddof
        how += [f"the variance divides by n - {ddof:g}"] if ddof else []
    before, steps = [], []
    for c, label in enumerate(asked.classes):
        mean, variance = float(normals.mean[c, unit]), float(normals.variance[c, unit])
        centre, spread = number(mean, digits := _digits(mean, variance)), number(variance)
        means, variances = [of("mean", column, label)], [of("variance", column, label)]
        if remarks and remarks[c]:
            how.append(f"{label}: {remarks[c]}")
        elif remarks:
            n = float(counted.weight[c, unit])
            below = number(n) - number(ddof) if ddof else number(n)
            means.append(number(mean * n, digits) / number(n))
            variances.append(number(float(counted.m2[c, unit])) / below)
        before.append((chain(*means, centre), chain(*variances, spread)))
        bell, root = exp(-((point - centre) ** 2 / (2 * spread))), sqrt(2 * PI * spread)
        if normals.log and asked.exponent == 1.0:
            steps.append(1 / (x * root) * bell)
        else:
            height = powered(1 / root * bell, asked.exponent)
            steps.append(1 / x * height if normals.log else height)
    return _of_curves(asked, "f", "; ".join(how), before, steps)


def _digits(mean: float, variance: float) -> int:
    """Return how many digits of a mean matter, as far as it lies from zero."""
    far = abs(mean) / math.sqrt(variance)
    return min(16, 6 + max(0, math.ceil(math.log10(far)))) if far > 0.0 else 6


@derivation.register
def _(text: TextParameters, asked: Question) -> Derivation:
    """Derive the factor of one word, or of all that are absent; `unit` is its number."""
    bag = text.plain
    if isinstance(bag, MultinomialParameters):
        once = "a word counts once a document; " if text.text.event == "boolean" else ""
        return _of_share(bag, asked, "different words", once)
    assert bag.fractions is not None
    how = "the class's documents with the word, over all its documents"
    how += _smoothing(bag.fractions, "both outcomes") + "; words that are absent count 1 less that"
    if asked.unit >= 0:
        estimates = _estimates(bag.fractions[:, [asked.unit]])
        return _of_estimates(asked, asked.often, how, asked.column, estimates)
    # all words that are absent are one factor; `raw` has their numbers
    factors = list(map(in_product, asked.logs))
    if len(asked.raw) <= MOST_ABSENT:
        absent = bag.fractions[:, asked.raw].opposite()
        words = (_estimates(absent[:, [k]]) for k in range(len(asked.raw)))
        for c, by_word in enumerate(zip(*words, strict=True)):
            exact = product([each.factor for each in by_word]).exact
            if exact is not None and len(str(exact)) <= LONGEST:
                factors[c] = powered(number(exact), asked.exponent)
    found = _of_curves(replace(asked, value=""), "P", how, steps=factors)
    title = f"{found.title}, the product of 1 - P(word) of each"
    return replace(found, title=title, factors=tuple(factors))
