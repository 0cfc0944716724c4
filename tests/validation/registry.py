"""Families and options that rows are held out of: what all tests of held-out rows go over."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.model import Recipe
from tiers import some

CLASSES = ("a", "b", "c")
NAN = float("nan")
PRIORS = (
    tb.Empirical(),
    tb.Empirical(alpha=1.5),
    tb.Uniform(),
    tb.Fixed({"a": 0.5, "b": 0.3, "c": 0.2}),
)
WEIGHTS = (0.0, 0.1, 0.7, 1.0, 1.0, 2.0, 3.0)
EIGHTHS_OF_WEIGHT = (0.0, 0.125, 0.75, 1.0, 1.0, 2.0, 3.0)  # whose sums are exact


def matrix(dtype=float):
    return lambda rows: np.array(rows, dtype)


def sparse(rows):
    return csr_array(np.array(rows, float))


def table(*names):
    return lambda rows: {name: [row[k] for row in rows] for k, name in enumerate(names)}


@dataclass(frozen=True)
class Setting:
    """Columns, the values of their cells, and how a model is estimated from them.

    `closed` says whether leave-one-out has a closed form, without weights and with them.
    """

    name: str
    cells: tuple[tuple[Any, ...], ...]
    source: Callable[[list[tuple[Any, ...]]], Any]
    kinds: tuple[Any, ...]
    families: tuple[Any, ...] = ()
    columns: dict[str, Any] = field(default_factory=dict)
    closed: tuple[bool, bool] = (True, True)
    weights: tuple[float, ...] = WEIGHTS

    def __repr__(self) -> str:
        return self.name

    @property
    def names(self):
        source = self.source([(0,) * len(self.kinds)])
        return [*source] if isinstance(source, dict) else [f"x{j}" for j in range(len(self.kinds))]

    @property
    def schema(self):
        return tb.Schema.of(self.names, self.kinds)

    def recipe(self, prior=PRIORS[0]):
        return Recipe(self.families, self.columns, prior)

    def rows(self, min_size=2, max_size=9, classes=CLASSES):
        label, weight = st.sampled_from(classes), st.sampled_from(self.weights)
        row = st.tuples(label, weight, st.tuples(*map(st.sampled_from, self.cells)))
        return st.lists(row, min_size=min_size, max_size=max_size)

    def examples(self, n, seed=0):
        """Return n rows, the same every time."""
        rng = np.random.default_rng(seed)
        return [
            (
                CLASSES[rng.integers(3)],
                self.weights[rng.integers(len(self.weights))],
                tuple(values[rng.integers(len(values))] for values in self.cells),
            )
            for _ in range(n)
        ]


EIGHTHS = [k / 8 for k in (-801, -40, -13, -3, 0, 1, 2, 9, 17, 33, 500)]
NUMBERS = (*EIGHTHS, 1.0, 1.0, 2.0, NAN)
GAPLESS = (*EIGHTHS, 1.0, 1.0, 2.0)
TWO_NUMBERS = (1.0, 2.0)
FAR = tuple(x + 1e4 for x in EIGHTHS)
CONSTANT = (3.0,)
POSITIVE = (0.125, 0.5, 1.0, 1.0, 2.5, 7.0, 33.0, 1e-3, 1e4, NAN)
INTEGERS = (-7, -1, 0, 0, 1, 2, 3, 9, 12)
CODES = (0, 1, 1, 2, 3)
COLOURS = ("red", "red", "green", "blue", None)
COUNTS = (0, 0, 0, 1, 1, 2, 7)
FRACTIONS = (0.0, 0.0, 0.25, 1.0, 1.0, 2.5)
MAYBE = (0.0, 0.0, 1.0, 2.0, NAN)
BITS = (0, 1)
DOCUMENTS = (
    "red green", "red red blue", "green", "blue blue grey", "red", "grey red", "only once here",
    "twice", "twice red", "", "!", None,
)  # fmt: skip
SOME_COLOURS = {"red": 0.5, "green": 0.3, "blue": 0.2}
BY_VALUE = tb.ByValue(SOME_COLOURS)
BY_CLASS = tb.ByClass({"a": 0.2, "b": 0.3, "c": 0.1})
BY_BOTH = tb.ByClass({"a": BY_VALUE, "b": tb.ByValue(dict.fromkeys(SOME_COLOURS, 0.3)), "c": 0.1})
IDF = tb.Idf({"red": 0.5, "green": 1.5, "blue": 2.0, "grey": 0.75, "never": 3.0})


def numbers(name, family, cells=(NUMBERS, NUMBERS, TWO_NUMBERS), source=None):
    kinds = (family.kind,) * len(cells)
    return Setting(name, cells, source or matrix(), kinds, (family,))


def categories(name, family, kind=None):
    kinds = (kind or tb.Categories(), tb.Categories())
    return Setting(name, (COLOURS, COLOURS), table("colour", "other"), kinds, (family,))


def counts(name, family, cells=COUNTS, source=None, closed=(True, True), width=3):
    kinds = (family.kind,) * width
    return Setting(name, (cells,) * width, source or matrix(), kinds, (family,), closed=closed)


def text(closed=(True, True), words=tb.Words(), **options):  # noqa: B008
    family = tb.Text(words, **options)
    said = ", ".join(f"{key}={value}" for key, value in options.items())
    name = f"text, {words!r}, {said}" if words != tb.Words() else f"text, {said or 'as is'}"
    # without a missing document a share of documents means more of them, and may leave no word
    shares = isinstance(family.min_df, float) or family.max_df != 1.0
    cells = DOCUMENTS[:-1] if shares else DOCUMENTS
    # rounding must not decide which of equally good words are chosen
    chosen = family.best is not None or family.max_features is not None
    weights = EIGHTHS_OF_WEIGHT if chosen else WEIGHTS
    kinds, families = (words,), (family,)
    return Setting(name, (cells,), table("mail"), kinds, families, closed=closed, weights=weights)


RELATIVE, ADDITIVE = tb.RelativeFloor, tb.AdditiveFloor
ALWAYS, UNLESS_WEIGHTED, ANEW = (True, True), (True, False), (False, False)
EVENTS = {
    "multinomial": ALWAYS,
    "boolean": ALWAYS,
    "bernoulli": UNLESS_WEIGHTED,
    "complement": ALWAYS,
}

EVERY_SETTING = (
    numbers("gaussian", tb.Gaussian()),
    numbers("gaussian, maximum likelihood", tb.Gaussian(ddof=0)),
    numbers("gaussian, high floor", tb.Gaussian(floor=RELATIVE(0.05))),
    numbers("gaussian, high floor, no gaps", tb.Gaussian(floor=RELATIVE(0.05)),
            (GAPLESS, INTEGERS)),
    numbers("gaussian, low variances", tb.Gaussian(ddof=0, floor=RELATIVE(0.2)),
            (GAPLESS, TWO_NUMBERS, CONSTANT)),
    numbers("gaussian, added floor", tb.Gaussian(ddof=0, floor=ADDITIVE(1e-3))),
    numbers("gaussian, added floor of ddof 1", tb.Gaussian(floor=ADDITIVE(0.1))),
    numbers("gaussian, added fixed floor", tb.Gaussian(ddof=0, floor=ADDITIVE(0.1, of=4.0))),
    numbers("gaussian, nothing added", tb.Gaussian(ddof=0, floor=ADDITIVE(0.0, of=1.0))),
    numbers("gaussian, constant column", tb.Gaussian(), (CONSTANT, NUMBERS)),
    numbers("gaussian, constant column, added floor", tb.Gaussian(floor=ADDITIVE(0.1)),
            (CONSTANT, NUMBERS)),
    numbers("gaussian far from zero", tb.Gaussian(), (FAR, FAR)),
    numbers("gaussian, single precision", tb.Gaussian(), (NUMBERS, NUMBERS), matrix(np.float32)),
    numbers("gaussian of integers", tb.Gaussian(), (INTEGERS, INTEGERS), matrix(np.int64)),
    numbers("log-normal", tb.LogNormal(), (POSITIVE, POSITIVE)),
    numbers("log-normal, added floor", tb.LogNormal(ddof=0, floor=ADDITIVE(0.01)), (POSITIVE,) * 2),
    categories("categories", tb.Categorical()),
    categories("categories, unsmoothed", tb.Categorical(alpha=0)),
    categories("categories, alpha .3", tb.Categorical(alpha=0.3)),
    categories("categories, an alpha a column", tb.Categorical(alpha=(0, 2.0))),
    categories("categories, unseen smoothed", tb.Categorical(unseen="smooth")),
    categories("categories, unseen impossible", tb.Categorical(alpha=0, unseen="smooth")),
    categories("categories, unseen refused", tb.Categorical(unseen="error")),
    categories("m-estimate", tb.Categorical(m=3)),
    categories("m-estimate of 0", tb.Categorical(m=0)),
    categories("m-estimate, unseen smoothed", tb.Categorical(m=3, unseen="smooth")),
    categories("m-estimate, p", tb.Categorical(m=2, p=0.25, unseen="smooth")),
    categories("m-estimate, p by value", tb.Categorical(m=2, p=BY_VALUE)),
    categories("m-estimate, p by class", tb.Categorical(m=2, p=BY_CLASS, unseen="smooth")),
    categories("m-estimate, p by both", tb.Categorical(m=2, p=BY_BOTH)),
    categories("declared values", tb.Categorical(unseen="smooth"),
               tb.Categories(("green", "grey"))),
    categories("declared values, unseen refused", tb.Categorical(unseen="error"),
               tb.Categories(("red", "green", "blue"))),
    Setting("integer categories", (CODES, CODES), matrix(np.int64), (tb.Categories(),) * 2),
    Setting("integer categories, unseen smoothed", (CODES, CODES), matrix(np.int32),
            (tb.Categories(),) * 2, (tb.Categorical(0.5, unseen="smooth"),)),
    *(Setting(f"bins, alpha {alpha}", (NUMBERS, NUMBERS), matrix(),
              (tb.Intervals((-1.0, 1.0, 2.5)), tb.Intervals((0.0,))), (tb.Bins(alpha=alpha),))
      for alpha in (1.0, 0.0)),
    counts("bernoulli", tb.Bernoulli()),
    counts("bernoulli, unsmoothed", tb.Bernoulli(alpha=0)),
    counts("bernoulli, an alpha a column", tb.Bernoulli(alpha=(0.0, 0.5, 2.0))),
    counts("bernoulli, missing values", tb.Bernoulli(0.5), MAYBE),
    counts("bernoulli, unsmoothed, missing values", tb.Bernoulli(0.0, threshold=1.0), MAYBE),
    counts("bernoulli of bits", tb.Bernoulli(), BITS, matrix(np.uint8)),
    counts("bernoulli of truths", tb.Bernoulli(), BITS, matrix(bool)),
    counts("sparse bernoulli", tb.Bernoulli(threshold=1.0), COUNTS, sparse),
    counts("sparse bernoulli, unsmoothed", tb.Bernoulli(alpha=0), COUNTS, sparse),
    counts("multinomial", tb.Multinomial()),
    counts("multinomial, unsmoothed", tb.Multinomial(alpha=0)),
    counts("multinomial, an alpha a column", tb.Multinomial(alpha=(0.0, 0.5, 2.0))),
    counts("multinomial, missing values", tb.Multinomial(0.1), MAYBE),
    counts("multinomial of integers", tb.Multinomial(), COUNTS, matrix(np.int64)),
    counts("multinomial of fractions", tb.Multinomial(), FRACTIONS, matrix(np.float32)),
    counts("sparse multinomial", tb.Multinomial(), COUNTS, sparse),
    counts("sparse multinomial, unsmoothed", tb.Multinomial(alpha=0), COUNTS, sparse),
    counts("complement", tb.Complement()),
    counts("complement, missing values", tb.Complement(0.1), MAYBE),
    counts("complement, normalised", tb.Complement(norm=True), closed=ANEW),
    counts("sparse complement", tb.Complement(0.5), COUNTS, sparse),
    counts("sparse complement, normalised", tb.Complement(norm=True), COUNTS, sparse, ANEW),
    counts("poisson", tb.Poisson()),
    counts("poisson, unsmoothed", tb.Poisson(alpha=0)),
    counts("poisson, missing values", tb.Poisson(0.5), MAYBE),
    counts("poisson, unsmoothed, missing values", tb.Poisson(0), MAYBE),
    counts("poisson of integers", tb.Poisson(), COUNTS, matrix(np.int64)),
    counts("sparse poisson", tb.Poisson(), COUNTS, sparse),
    counts("sparse poisson, unsmoothed", tb.Poisson(0), COUNTS, sparse),
    *(text(closed, event=event) for event, closed in EVENTS.items()),
    text(event="multinomial", alpha=0),
    text(event="boolean", alpha=0),
    text(ANEW, event="bernoulli", alpha=0),
    *(text(UNLESS_WEIGHTED, event=event, **limits) for event in EVENTS for limits in (
        {"min_df": 2}, {"max_df": 2}, {"min_df": 0.25, "max_df": 0.5}, {"max_df": 0.4})),
    *(text(closed, event=event, vocabulary=("red", "grey", "never"))
      for event, closed in EVENTS.items()),
    text(words=tb.Words(tf="log")),
    text(event="boolean", length_power=0.5),
    text(length_power=0.5, length_offset=7.0),
    text(words=tb.Words(tf="log"), event="complement", length_power=1.0),
    text(words=tb.Words(tf="log"), event="complement"),
    text(words=tb.Words(ngrams=(1, 2))),
    text(words=tb.Words(ngrams=(1, 2)), event="boolean", alpha=0.1),
    text(UNLESS_WEIGHTED, words=tb.Words("characters", (1, 2)), min_df=2),
    text(ANEW, best=3),
    text(ANEW, best=3, event="bernoulli"),
    text(ANEW, max_features=3, event="complement"),
    text(ANEW, max_features=3, min_df=2),
    text(ANEW, words=tb.Words(norm="l2")),
    text(ANEW, words=tb.Words(idf=IDF)),
    text(ANEW, words=tb.Words(idf=IDF, norm="l2", tf="log"), event="complement"),
    Setting("mixed", (NUMBERS, COLOURS, MAYBE, POSITIVE, DOCUMENTS, COUNTS),
            table("income", "colour", "on", "size", "mail", "visits"),
            (tb.Numeric(), tb.Categories(), tb.Binary(), tb.Numeric(log=True), tb.Words(),
             tb.Count())),
    Setting("mixed, with families of their own",
            (NUMBERS, NUMBERS, COLOURS, COLOURS, COUNTS, COUNTS),
            table("income", "age", "colour", "other", "visits", "calls"),
            (tb.Numeric(), tb.Numeric(), tb.Categories(), tb.Categories(("grey",)), tb.Count("v"),
             tb.Count("c")),
            columns={
                "age": tb.Gaussian(ddof=0, floor=ADDITIVE(0.1)),
                "other": tb.Categorical(m=2, unseen="smooth"),
                "visits": tb.Poisson(bag="v"),
                "calls": tb.Complement(bag="c"),
            }),
    Setting("two texts", (DOCUMENTS, DOCUMENTS), table("subject", "body"), (tb.Words(),) * 2,
            columns={"subject": tb.Text(event="boolean"), "body": tb.Text(min_df=2)},
            closed=UNLESS_WEIGHTED),
    Setting("text that is refitted, beside numbers", (NUMBERS, DOCUMENTS), table("income", "mail"),
            (tb.Numeric(), tb.Words()), (tb.Text(best=2),), closed=ANEW,
            weights=EIGHTHS_OF_WEIGHT),
)  # fmt: skip

# One of each family, event model, form of the data and way of leaving rows out.
CORE = (
    "gaussian",
    "gaussian, high floor",
    "gaussian, constant column, added floor",
    "log-normal",
    "categories",
    "categories, unseen impossible",
    "m-estimate, p by both",
    "declared values",
    "integer categories, unseen smoothed",
    "bins, alpha 1.0",
    "bernoulli, missing values",
    "sparse bernoulli",
    "sparse bernoulli, unsmoothed",
    "multinomial of fractions",
    "sparse multinomial",
    "complement",
    "complement, normalised",
    "poisson, unsmoothed",
    "sparse poisson",
    "text, event=multinomial",
    "text, event=boolean, min_df=2",
    "text, event=bernoulli",
    "text, event=complement",
    "text, best=3",
    "mixed",
    "mixed, with families of their own",
)


def setting_of(name):
    return next(each for each in EVERY_SETTING if each.name == name)


SETTINGS = some(EVERY_SETTING, tuple(map(setting_of, CORE)))
