"""A model held against labelled rows: what its columns tell, repeat, and look like.

What a column tells. With rows (x_i, c_i) of weight w_i and the classes' shares P(c) in these rows,
row i tells b_i = log2 P(x_i | c_i) - log2 sum_c P(c) P(x_i | c) bits, and the column their mean
I = sum_i w_i b_i / sum_i w_i: by so much it shortens the message that names the class. A missing
value tells nothing. For the relative frequencies of the same rows this is the mutual information of
column and class; of rows that a model has not seen it may be less than nothing. The standard error
is sqrt(sum_i w_i^2 (b_i - I)^2) / sum_i w_i.

What columns repeat. Naive Bayes adds up what columns say, so what counts twice is evidence that
goes up and down together within a class. It is measured by the rank correlation of b within the
classes (b rises with the log odds of the own class against the rest), whatever the families. Its
95 % interval is Fisher's, with the variance 1.06 / (n - k - 2) of ranks (Fieller, Hartley and
Pearson 1957) for n rows of k classes.

What columns look like. With the model's mean and standard deviation of each class, z = (x - mean_c)
/ sd_c of a Gaussian column would be standard normal. How far it is from that is told by the
correlation of the sorted z with the normal quantiles of their places (Filliben 1975). Below 0.985
the difference matters; among few rows chance alone goes lower, and the limit with it. Many rows
make every difference significant, so significance alone says nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Batch, Coded, Sparse, encode_classes, encoded, take_rows
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.explanations.explanation import model_of
from tallybayes.families import Family
from tallybayes.families.parameters import safe_log
from tallybayes.families.registry import FAMILIES
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.model import Factor, Model
from tallybayes.rendering import Part, Renderable, Table, plain
from tallybayes.rendering.words import counted, listed
from tallybayes.sources import Source, SparseMatrix, as_source, taken
from tallybayes.sources import Table as TableSource
from tallybayes.sources.weights import weights_of
from tallybayes.validation.family_choice import FEWEST_ROWS, best_families
from tallybayes.validation.held_out_terms import is_joint, terms_of

Array = NDArray[Any]
Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2_000_000  # rows times columns times classes
MOST_CELLS = 40_000_000  # rows times columns
MOST_COLUMNS = 200  # that are paired, or held against a bell curve: those that tell most
MOST_TRIED, ROWS_TRIED = 30, 5000  # columns for which other families are tried, and rows
MOST_LINES, MOST_GROUPS, MOST_NAMED = 20, 10, 6
LONGEST = 100  # characters of what is named in a sentence
WORTH = 0.01  # share of what there is to know
ERRORS = 2.0  # standard errors
TIE = 1e-9  # bits that are equal but for rounding
LISTED, WARNED = 0.3, 0.5  # lower limits of rank correlations
PAIRED = 20  # rows that have a value of both
SHAPED = 30  # rows below which no shape can be told
STRAIGHT, LEANING, SKEWED, HEAVY, FEW_VALUES = 0.985, 0.1, 0.5, 0.5, 10

TOO_FEW = "too few rows to tell"
NORMAL = "close to normal"


@dataclass(frozen=True, slots=True)
class ColumnInformation:
    """What a column tells of the class.

    Attributes
    ----------
    column, family
        Its name, and what the model takes it for. A bag of counts, a text and a sparse matrix are
        one each.
    bits
        The information; it may be negative for rows that the model has not seen.
    share
        The same as a share of all there is to know: of the entropy of the classes.
    error
        The standard error of `bits`; NaN where these are minus infinity.
    rows
        How many rows have a value of it.
    """

    column: str
    family: str
    bits: float
    share: float
    error: float
    rows: int

    @property
    def is_informative(self) -> bool:
        """Whether it says anything worth speaking of, right or wrong: a hundredth of all."""
        # minus infinity has no error
        return abs(self.share) > WORTH and not abs(self.bits) <= ERRORS * self.error

    @property
    def assigns_zero(self) -> bool:
        """Whether the model gives values of it the probability 0 in the class that they have."""
        return self.bits == -np.inf

    @property
    def is_misleading(self) -> bool:
        """Whether it tells less than nothing: alone, it predicts worse than the shares do."""
        return self.is_informative and self.bits < 0.0


@dataclass(frozen=True, slots=True)
class DependentPair:
    """Two columns that say the same thing within the classes.

    Attributes
    ----------
    a, b
        The columns; `a` tells more of the class, or as much.
    strength
        The rank correlation of their evidence within the classes.
    low
        The lower end of its 95 % interval.
    rows
        The rows that were compared: those with a value of both.
    warned
        Whether they count twice what they say: both are informative, and `low` is above 0.5.
    """

    a: str
    b: str
    strength: float
    low: float
    rows: int
    warned: bool


class BetterFamily(NamedTuple):
    """A family that predicts held-out rows better than the present one, by their mean log-loss."""

    name: str
    loss: float
    loss_now: float


@dataclass(frozen=True, slots=True)
class NormalityOfColumn:
    """The shape of a column that the model takes for normal, or log-normal.

    Attributes
    ----------
    column, family
        Its name, and the name of its family.
    rows, distinct
        How many rows have a value of it, and how many different values there are.
    skewness, kurtosis
        Of z over all classes; the kurtosis is the excess over the normal one.
    correlation
        That of the Q-Q picture: 1 for a straight line.
    word
        The shape in a word.
    better
        The family that predicts held-out rows better; None if there is none, or none was tried.
    tried
        Whether other families were tried.
    """

    column: str
    family: str
    rows: int
    distinct: int
    skewness: float
    kurtosis: float
    correlation: float
    word: str
    better: BetterFamily | None = None
    tried: bool = False

    @property
    def normal(self) -> bool | None:
        """Whether it is close to normal; None if there are too few rows to tell."""
        return None if self.word == TOO_FEW else self.word == NORMAL


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Renderable):
    """What labelled rows say of a model's columns; make it with `diagnose`. It prints as tables.

    Attributes
    ----------
    rows
        How many rows were looked at.
    entropy
        What there is to know of the class, in bits.
    information
        How much each column tells of the class, the most telling first: see `ColumnInformation`.
    dependence
        Pairs of columns whose evidence goes together within the classes, the strongest first: see
        `DependentPair`.
    normality
        The shapes of the columns that are taken for normal: see `NormalityOfColumn`.
    warnings
        What to do something about: columns that repeat each other, mislead, or are not normal.
    notes
        What a reader should know: which rows and columns were not looked at.
    """

    rows: int
    entropy: float
    information: tuple[ColumnInformation, ...]
    dependence: tuple[DependentPair, ...]
    normality: tuple[NormalityOfColumn, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def too_few_rows(self) -> bool:
        """Whether there are too few rows to see which columns repeat each other."""
        return self.rows < PAIRED

    def __repr__(self) -> str:
        return f"<Diagnosis: {self.rows} rows, {len(self.warnings)} warnings>"

    def document(self) -> Iterator[Part]:
        """Show the tables, the warnings and the notes."""
        yield counted(self.rows, "row")
        head = ("column", "label"), ("taken for", "label"), ("bits", "score")
        yield Table.of(
            f"what the columns tell of the class, of {self.entropy:.3f} bits there are to know",
            (*head, ("standard error", "score"), ("share", "percent"), ("rows", "count")),
            [(i.column, i.family, i.bits, i.error, i.share, i.rows) for i in self.information],
            most=MOST_LINES,
            name="information",
        )
        if self.dependence:
            head = ("column", "label"), ("with", "label"), ("rank correlation", "score")
            yield Table.of(
                "columns that say the same thing within the classes",
                (*head, ("at least", "score"), ("rows", "count")),
                [(p.a, p.b, p.strength, p.low, p.rows) for p in self.dependence],
                most=MOST_LINES,
                name="dependence",
            )  # fmt: skip
        if self.normality:
            head = ("column", "label"), ("Q-Q", "score"), ("skewness", "score")
            yield Table.of(
                "columns that are taken for normal",
                (*head, ("excess kurtosis", "score"), ("rows", "count"), ("shape", "label"),
                 ("family that fits better", "label")),
                [(n.column, n.correlation, n.skewness, n.kurtosis, n.rows, n.word,
                  None if n.better is None else n.better.name) for n in self.normality],
                most=MOST_LINES,
                name="normality",
            )  # fmt: skip
        yield from (f"warning: {each}" for each in self.warnings)
        yield from (f"note: {each}" for each in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        pairs = [{"columns": [p.a, p.b], **plain(p)} for p in self.dependence]
        shapes = [{**plain(each), "normal": each.normal} for each in self.normality]
        return {**plain(self), "dependence": pairs, "normality": shapes}


def diagnose(
    fitted: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    most_rows: int = 20_000,
    seed: int = 0,
) -> Diagnosis:
    """Hold a model against labelled rows, which may be those it was fitted on.

    It says how much each column tells of the class, warns where two columns say the same thing
    twice (their evidence is then counted twice), and where a column that the model takes for
    normal is not, with the family that would fit.

    Parameters
    ----------
    fitted
        An estimator after `fit`, a `Fitted` or a `Model`.
    X, y
        The rows and their labels. Rows that the model has not seen tell more honestly how much it
        knows; columns may then tell less than nothing.
    sample_weight
        How much each row counts. A row of weight 1000 is still one row: nothing changes when all
        weights are doubled.
    most_rows, seed
        If there are more rows, so many of them are drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["no", "yes"], 200)
    >>> radius = rng.normal(np.where(y == "yes", 12.0, 10.0), 1.0)
    >>> table = {"radius": radius, "around": 6.28 * radius + rng.normal(0.0, 0.5, 400)}
    >>> found = diagnose(Fitted(Tally.of(table, y)), table, y)
    >>> print(found.warnings[0])
    'radius' and 'around' say the same thing twice: within the classes their evidence has a rank \
correlation of 1.00, so it is counted twice; drop one of them ('around' tells less), or use \
calibration="weights"
    """
    rows = _Rows.of(fitted, X, y, sample_weight, most_rows, seed)
    told = rows.units()
    notes = list(rows.notes)
    if len(told) > MOST_COLUMNS:
        notes.append(f"only the {MOST_COLUMNS} columns that tell most were held to each other")
    pairs = _dependence(rows, told[:MOST_COLUMNS])
    if len(rows.y) < PAIRED:
        notes.append(f"too few rows to see which columns repeat each other: {PAIRED} are needed")
    information = tuple(unit.told for unit in told)
    shapes = _with_families(_normality(rows, [unit.told.column for unit in told]), rows)
    calibration = rows.model.calibration
    weighted = calibration is not None and calibration.how == "weights"
    warnings = (
        *_of_dependence(pairs, information, weighted),
        *_of_information(information),
        *_of_normality(shapes),
    )
    entropy = rows.entropy
    return Diagnosis(len(rows.y), entropy, information, pairs, shapes, warnings, tuple(notes))


def column_information(fitted: Any, X: Any, y: Any) -> tuple[ColumnInformation, ...]:
    """Return what each column tells of labelled rows, the most telling first."""
    rows = _Rows.of(fitted, X, y, None, len(y), 0)
    return tuple(unit.told for unit in rows.units())


class _Unit(NamedTuple):
    """What a unit tells, row by row (NaN where it has no value), and all in all."""

    bits: Floats
    told: ColumnInformation


class _Rows(NamedTuple):
    """A model, and labelled rows as it reads them: class codes, and weights above 0, at most 1."""

    model: Model
    source: Source
    batch: Batch
    y: NDArray[np.int64]
    w: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, fitted: Any, X: Any, y: Any, weights: Any, most: int, seed: int) -> _Rows:
        """Read the rows, at most so many; `notes` say which were left out."""
        model = model_of(fitted)
        source = fitted.source_of(X) if hasattr(fitted, "source_of") else as_source(X)
        labels = encode_classes(y, source.n_rows)
        place = {label: k for k, label in enumerate(model.classes)}
        codes = np.array([place.get(label, -1) for label in labels.labels], np.int64)[labels.codes]
        given = weights_of(weights, source.n_rows)
        w = np.ones(source.n_rows) if given is None else given
        if not ((codes >= 0) & (w > 0.0)).any():
            hint = did_you_mean(next(iter(labels.labels), None), model.classes)
            raise TallyBayesError(f"no row that counts has a class of the model; {hint}")
        notes = []
        if unknown := int(((codes < 0) & (w > 0.0)).sum()):
            rows_ = counted(unknown, "row")
            notes.append(f"{rows_} of classes that the model does not know were left out")
        rows = np.flatnonzero((codes >= 0) & (w > 0.0))
        limit = whole(most, "most_rows", 1)
        if not isinstance(source, SparseMatrix):
            limit = max(1, min(limit, MOST_CELLS // max(len(source.names), 1)))
        if len(rows) > limit:
            notes.append(f"{limit:,} of {len(rows):,} rows were looked at, drawn at random")
            rows = np.sort(np.random.default_rng(seed).choice(rows, limit, replace=False))
        source, batch = _encoded(model, source, rows)
        return cls(model, source, batch, codes[rows], w[rows] / w[rows].max(), tuple(notes))

    @property
    def shares(self) -> Floats:
        """The share of each class in these rows."""
        shares: Floats = np.bincount(self.y, self.w, len(self.model.classes)) / self.w.sum()
        return shares

    @property
    def entropy(self) -> float:
        """What there is to know of the class, in bits."""
        there = self.shares[self.shares > 0.0]
        return float(-(there * np.log2(there)).sum()) + 0.0

    def units(self) -> list[_Unit]:
        """Return what the units tell, the most telling first, of equals the first column."""
        place = {str(name): k for k, name in enumerate(self.model.schema.names)}
        entropy, total = self.entropy, self.w.sum()
        found = []
        for factor in self.model.factors:
            block = factor.block_of(self.batch)
            joint = is_joint(factor, block)
            bits, there = self._bits(factor, block), _present(block)
            if joint:
                there = np.asarray(there.any(axis=1, keepdims=True))
            bits[~there] = 0.0
            # not by matrix products, whose threads cost more than so short a sum
            means = np.einsum("i,ij->j", self.w, bits) / total
            with np.errstate(invalid="ignore"):
                squares = np.einsum("i,ij->j", self.w**2, (bits - means) ** 2)
            bits[~there] = np.nan
            rows = there.sum(axis=0)
            for j, name in enumerate([factor.title] if joint else map(str, factor.names)):
                mean, error = float(means[j]), float(np.sqrt(squares[j]) / total)
                share = mean / entropy if entropy > 0.0 else 0.0
                told = ColumnInformation(name, factor.label, mean, share, error, int(rows[j]))
                found.append((place.get(str(factor.names[j]), 0), _Unit(bits[:, j], told)))
        in_table = [unit for _, unit in sorted(found, key=lambda each: each[0])]
        return [in_table[k] for k in _greatest_first([unit.told.bits for unit in in_table])]

    def _bits(self, factor: Factor, block: Any) -> Floats:
        """Return log2 P(x | own class) - log2 sum_c P(c) P(x | c), by row and unit."""
        n_classes, log_shares = len(self.model.classes), safe_log(self.shares)
        step = max(1, CELLS_AT_ONCE // max(len(factor.names) * n_classes, 1))
        step = len(self.y) if is_joint(factor, block) else step
        parts = []
        for start in range(0, len(self.y), step):
            some = np.arange(start, min(start + step, len(self.y)))
            terms = terms_of(factor, take_rows(block, some), n_classes)
            mixed = log_sum_exp((terms + log_shares).reshape(-1, n_classes))
            mixed = mixed.reshape(terms.shape[:2])
            own = terms[np.arange(len(some)), :, self.y[some]]
            with np.errstate(invalid="ignore"):  # what is impossible in every class says nothing
                parts.append(np.where(np.isneginf(mixed), 0.0, (own - mixed) / np.log(2.0)))
        return np.concatenate(parts)


def _encoded(model: Model, source: Source, rows: Array) -> tuple[Source, Batch]:
    """Encode some rows; counts that are no counts, and infinite numbers, are refused."""
    sparse = isinstance(source, SparseMatrix)  # which may be broken: it is not cut before a look
    source = source if sparse or len(rows) == source.n_rows else taken(source, rows)
    blocks = []
    for group, block in zip(model.schema.groups, encoded(source, model.schema), strict=True):
        names = model.schema.names_of(group)
        if sparse:
            group.kind.refuse_unusable(block, names, 0)
            block = take_rows(block, rows)
        elif isinstance(block, np.ndarray):
            for bad in (np.isinf(block), block < 0.0):
                for row in np.flatnonzero(bad.any(axis=1))[:1]:
                    alone, number = block[row : row + 1], int(rows[row])
                    group.kind.refuse_unusable(alone, names, number)
                    group.kind.refuse_unusable(alone, names, number, np.arange(1))
        blocks.append(block)
    return source, Batch(slice(0, len(rows)), tuple(blocks))


def _present(block: Any) -> NDArray[np.bool_]:
    """Mark the values that are there, by row and column."""
    if isinstance(block, np.ndarray):
        return ~np.isnan(block)
    if isinstance(block, Sparse):
        return np.ones((block.n_rows, 1), bool)
    if isinstance(block, Coded):
        return np.asarray((block.codes >= 0) | (block.labels is None))
    missing = np.zeros(len(block), bool) if block.missing is None else block.missing
    return np.asarray(~missing[:, None])


def _greatest_first(values: Sequence[float]) -> list[int]:
    """Return the places of values from the greatest down; equals, but for rounding, as they stand.

    Which of two equals comes out a last digit ahead is chance, and must not decide what is said.

    Examples
    --------
    >>> _greatest_first([0.1, 0.3, 0.1 + 0.2, 0.7])
    [3, 1, 2, 0]
    """
    order = sorted(range(len(values)), key=lambda k: -values[k])
    tied: list[list[int]] = []
    for k in order:
        if tied and (values[tied[-1][-1]] == values[k] or values[tied[-1][-1]] - values[k] <= TIE):
            tied[-1].append(k)
        else:
            tied.append([k])
    return [k for equals in tied for k in sorted(equals)]


def _dependence(rows: _Rows, told: Sequence[_Unit]) -> tuple[DependentPair, ...]:
    """Return the pairs whose evidence goes together within the classes, the strongest first."""
    if len(told) < 2 or len(rows.y) < PAIRED:
        return ()
    strength, low, n = _rank_correlations(np.stack([unit.bits for unit in told], 1), rows.y, rows.w)
    first, second = np.nonzero(np.triu(low > LISTED, 1))
    found = []
    for k in _greatest_first(strength[first, second].tolist()):
        i, j = int(first[k]), int(second[k])
        a, b = told[i].told, told[j].told
        warned = bool(low[i, j] > WARNED) and a.is_informative and b.is_informative
        r, least = float(strength[i, j]), float(low[i, j])
        found.append(DependentPair(a.column, b.column, r, least, int(n[i, j]), warned))
    return tuple(found)


def _rank_correlations(bits: Floats, y: Array, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rank correlations within classes of all pairs, their lower limits, and the rows."""
    from scipy.stats import rankdata

    there = ~np.isnan(bits)
    ranks = np.zeros(bits.shape)
    for c in np.unique(y):
        of_class = y == c
        some, known = bits[of_class], there[of_class]
        ranked = rankdata(some, axis=0, nan_policy="omit") / np.maximum(known.sum(axis=0), 1)
        weight = w[of_class][:, None] * known
        total = np.maximum(weight.sum(axis=0), 1e-300)
        mean = (weight * np.where(known, ranked, 0.0)).sum(axis=0) / total
        ranks[of_class] = np.where(known, ranked - mean, 0.0)
    mask = there.astype(np.float64)
    weighted = w[:, None] * ranks
    squares = (weighted * ranks).T @ mask
    size = np.sqrt(squares * squares.T)
    r = np.divide(weighted.T @ ranks, size, out=np.zeros(size.shape), where=size > 1e-12)
    # a row of weight 1000 is no thousand rows
    weight, of_squares = (mask.T @ (each[:, None] * mask) for each in (w, w * w))
    effective = weight**2 / np.maximum(of_squares, 1e-300)
    freedom = effective - len(np.unique(y)) - 2.0
    spread = np.sqrt(1.06 / np.maximum(freedom, 1e-9))
    low = np.tanh(np.arctanh(np.clip(r, -1.0 + 1e-15, 1.0 - 1e-15)) - 1.96 * spread)
    return np.minimum(r, 1.0), np.where(effective < PAIRED, -1.0, low), mask.T @ mask


def _normality(rows: _Rows, order: Sequence[str]) -> list[NormalityOfColumn]:
    """Return the shapes of the columns that are taken for normal, those that tell most first."""
    place = {name: k for k, name in enumerate(order)}
    found = []
    for factor in rows.model.factors:
        block: Any = factor.block_of(rows.batch)
        z = factor.parameters.normal_residuals(block, rows.y)
        for j, name in enumerate(map(str, factor.names)) if z is not None else ():
            assert z is not None
            known = ~np.isnan(z[:, j])
            if place[name] < MOST_COLUMNS and known.any():
                of = rows.y[known]
                family = _name_of(factor.family)
                found.append(_shape(name, family, z[known, j], block[known, j], of))
    return sorted(found, key=lambda each: place[each.column])


def _name_of(family: Family) -> str:
    """Return the name that a family is registered by, or the one that it is derived from."""
    names = {known: name for name, known in FAMILIES.items()}
    return next((names[c] for c in type(family).__mro__ if c in names), type(family).__name__)


def _shape(name: str, family: str, z: Floats, x: Floats, y: Array) -> NormalityOfColumn:
    """Measure one column, and say its shape in a word."""
    from scipy.stats import kurtosis, probplot, skew

    distinct, n = len(np.unique(x)), len(z)
    if distinct < 3:
        nothing = float("nan")
        word = TOO_FEW if n < SHAPED else "few distinct values"
        return NormalityOfColumn(name, family, n, distinct, nothing, nothing, nothing, word)
    r = float(probplot(z)[1][2])
    skewness, excess = float(skew(z)), float(kurtosis(z))
    lean = sum(_lean(z[y == c]) * np.mean(y == c) for c in np.unique(y))
    clear = abs(lean) >= max(LEANING, 2.5 / np.sqrt(n)) and abs(skewness) >= SKEWED
    if n < SHAPED:
        word = TOO_FEW
    elif distinct <= FEW_VALUES:
        word = "few distinct values"
    elif r >= min(STRAIGHT, 1.0 - 0.76 * n**-0.8):
        word = NORMAL
    elif clear and lean * skewness > 0.0:
        word = f"skewed to the {'right' if lean > 0.0 else 'left'}"
    else:
        word = "heavy tails" if excess >= HEAVY else "an uneven shape"
    return NormalityOfColumn(name, family, n, distinct, skewness, excess, r, word)


def _lean(z: Floats) -> float:
    """Return how far the outer twentieths lie to one side of the median: -1 to 1.

    A single number far out makes a sample skewed, and shifts the mean of its class, but not this.
    """
    low, middle, high = np.quantile(z, (0.05, 0.5, 0.95))
    return float((high + low - 2.0 * middle) / (high - low)) if high > low else 0.0


def _with_families(
    found: Sequence[NormalityOfColumn], rows: _Rows
) -> tuple[NormalityOfColumn, ...]:
    """Try other families on the columns that are not normal."""
    names = [each.column for each in found if each.normal is False][:MOST_TRIED]
    some = np.arange(0, len(rows.y), -(-len(rows.y) // ROWS_TRIED))
    sizes = np.bincount(rows.y[some])  # a class of one row is not both learnt and held out
    if not names or len(some) < FEWEST_ROWS or (sizes > 0).sum() < 2 or sizes.max() < 2:
        return tuple(found)
    source = taken(rows.source, some)
    asked: Sequence[str] = names
    if not isinstance(source, TableSource):  # whose columns go by their place
        place = {str(name): k for k, name in enumerate(rows.model.schema.names)}
        asked = [source.names[place[name]] for name in names]
    tempered = rows.model.calibration is not None
    chosen = best_families(source, asked, rows.y[some], rows.w[some], tempered=tempered)
    better: dict[str, BetterFamily | None] = {}
    for name, choice in zip(names, chosen.values(), strict=True):
        now = next(each.family for each in found if each.column == name)
        gain = choice.losses.get(now, -np.inf) - choice.losses[choice.name]
        better[name] = None
        if choice.name != now and gain > ERRORS * choice.errors.get(now, np.inf):
            better[name] = BetterFamily(choice.name, choice.losses[choice.name], choice.losses[now])
    return tuple(
        replace(each, better=better[each.column], tried=True) if each.column in better else each
        for each in found
    )


def _of_information(told: Sequence[ColumnInformation]) -> Iterator[str]:
    """Warn of columns that tell less than nothing, or rule out what is true."""
    misleading = [each for each in told if each.is_misleading]
    names = [each.column for each in misleading if each.assigns_zero]
    if names:
        has, it = ("has", "it") if len(names) == 1 else ("have", "them")
        yield (
            f"{_quoted(names)} {has} values that the model holds to be impossible in the class of "
            f"the row, so that no other column can save it; smooth {it} (alpha above 0), use "
            f"another family for {it}, or drop {it}"
        )
    names = [each.column for each in reversed(misleading) if not each.assigns_zero]
    if names:
        one = len(names) == 1
        alone, it = (
            ("on its own it predicts", "it") if one else ("on their own they predict", "them")
        )
        yield (
            f"{_quoted(names)} {'tells' if one else 'tell'} less than nothing: {alone} these rows "
            f"worse than no column at all; use another family for {it}, or drop {it}"
        )


def _of_dependence(
    pairs: Sequence[DependentPair], told: Sequence[ColumnInformation], weighted: bool
) -> Iterator[str]:
    """Warn of the columns that say the same thing, a sentence for each group of them.

    In a group every column repeats every other one. A `weighted` model gives them weights already.
    """
    place = {each.column: k for k, each in enumerate(told)}
    strength = {frozenset((pair.a, pair.b)): pair.strength for pair in pairs if pair.warned}
    groups: list[list[str]] = []
    for pair in (pair for pair in pairs if pair.warned):
        mine = [next((g for g in groups if name in g), [name]) for name in (pair.a, pair.b)]
        if mine[0] is mine[1] or any(
            frozenset((a, b)) not in strength for a in mine[0] for b in mine[1]
        ):
            continue
        groups = [group for group in groups if group not in mine]
        groups.append(sorted(mine[0] + mine[1], key=place.__getitem__))
    for group in groups[:MOST_GROUPS]:
        least = min(value for pair, value in strength.items() if pair <= set(group))
        bits = [told[place[name]].bits for name in group]
        yield _repeated(group, least, bits[0] - bits[1] > TIE, weighted)
    if len(groups) > MOST_GROUPS:
        more = counted(len(groups) - MOST_GROUPS, "more group")
        yield f"{more} of columns repeat each other like that"
    across = [pair for pair in strength if not any(pair <= set(group) for group in groups)]
    if across:
        named = [" and ".join(sorted(map(repr, pair))) for pair in across]
        pairs_named = listed(named, MOST_NAMED, longest=LONGEST)
        yield f"further columns repeat each other in pairs: {pairs_named}"


def _repeated(group: Sequence[str], least: float, clearly: bool, weighted: bool) -> str:
    """Warn of one group, whose first column tells most."""
    n = len(group)
    if n == 2:
        times, evidence = "twice", f"their evidence has a rank correlation of {least:.2f}"
        remedy = "drop one of them" + (f" ({group[1]!r} tells less)" if clearly else "")
    else:
        times = f"{n} times"
        evidence = f"the evidence of any two has a rank correlation of at least {least:.2f}"
        remedy = "keep one of them" + (f" ({group[0]!r} tells most)" if clearly else "")
    more = ', or use calibration="weights"'
    if weighted:
        more = '; the model\'s calibration="weights" makes up for a part of it'
    same = "the same thing" if least >= 0.9 else "much the same thing"
    return (
        f"{_quoted(group)} say {same} {times}: within the classes {evidence}, so it is counted "
        f"{times}; {remedy}{more}"
    )


def _of_normality(columns: Sequence[NormalityOfColumn]) -> Iterator[str]:
    """Warn of columns that another family fits better."""
    group = [each for each in columns if each.better is not None]
    if not group:
        return
    named = listed(
        [f"{each.column!r} ({each.word})" for each in group], MOST_NAMED, longest=LONGEST
    )
    taken_for = listed(sorted({each.family for each in group}), last="or")
    is_ = "is" if len(group) == 1 else "are"
    wish = [f"{each.column!r}: {each.better.name!r}" for each in group if each.better]
    more = ", ..." if len(wish) > MOST_NAMED else ""
    yield (
        f"{named} {is_} taken for {taken_for} but {is_} not; rows held out are predicted better "
        f"with columns={{{', '.join(wish[:MOST_NAMED])}{more}}}"
    )


def _quoted(names: Sequence[str]) -> str:
    return listed([repr(name) for name in names], MOST_NAMED, longest=LONGEST)
