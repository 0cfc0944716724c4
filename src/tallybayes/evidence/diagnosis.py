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

What columns say together. Columns that were counted together would add a term to the score, what
they say beyond what each says alone. Those that promise to help are found as `SemiNaiveBayes` finds
them, which weighs what columns repeat, and several views of each, first: by a score test on the
rows' leave-one-out terms, that says how many nats of log-loss they would gain.

What columns look like. With the model's mean and standard deviation of each class, z = (x - mean_c)
/ sd_c of a Gaussian column would be standard normal. How far it is from that is told by the
correlation of the sorted z with the normal quantiles of their places (Filliben 1975). Below 0.985
the difference matters; among few rows chance alone goes lower, and the limit with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tallybayes.arrays import Array, Floats, Mask
from tallybayes.batches import Batch, Block, Coded, Sparse, encode_classes, encoded, take_rows
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.evidence.search import weigh_evidence
from tallybayes.explanations.explanation import model_of
from tallybayes.families.parameters import safe_log
from tallybayes.kernels.scoring import log_sum_exp
from tallybayes.kind import about
from tallybayes.model import Factor, Model, Recipe
from tallybayes.model.doubts import doubts
from tallybayes.model.gaps import ERRORS, WORTH, is_evidence, sentence_of, telling
from tallybayes.rendering import Part, Renderable, Table
from tallybayes.rendering.words import composed, counted, listed, quoted
from tallybayes.sources import Source, SparseMatrix, as_source, selected, taken
from tallybayes.sources.dates import laid_out
from tallybayes.sources.weights import weights_of
from tallybayes.validation.held_out_terms import is_joint

SEVERAL = 3  # axes of numbers by row, unit and column
MOST_CELLS = 40_000_000  # rows times columns times classes
MOST_COLUMNS = 200  # that are paired, or held against a bell curve: those that tell most
MOST_TRIED = 40  # columns that are looked at together: those that tell most
MOST_LINES, MOST_NAMED = 20, 6
LONGEST = 100  # characters of what is named in a sentence
TIE = 9  # decimals of bits beyond which there is only rounding
LISTED, WARNED = 0.3, 0.5  # lower limits of rank correlations
PAIRED = 20  # rows that have a value of both
SHAPED = 30  # rows below which no shape can be told
ROWS_SHAPED = 1_000  # that suffice for it
STRAIGHT, LEANING, SKEWED, HEAVY, FEW_VALUES = 0.985, 0.1, 0.5, 0.5, 10

TOO_FEW = "too few rows to tell"
NORMAL = "close to normal"
RIGHT = "skewed to the right"

# captions, and the columns with their formats: the first fields of what they show
TABLES = {
    "information": (
        "what the columns tell of the class, of {:.3f} bits there are to know",
        {"column": "label", "taken for": "label", "bits": "score", "standard error": "score",
         "share": "percent", "rows": "count"},
    ),
    "dependence": (
        "columns that say the same thing within the classes",
        {"column": "label", "with": "label", "rank correlation": "score", "at least": "score",
         "rows": "count"},
    ),
    "joints": (
        "columns that would help if they were counted together",
        {"columns": "text", "nats": "score", "nats a row": "score"},
    ),
    "normality": (
        "columns that are taken for normal",
        {"column": "label", "rows": "count", "Q-Q": "score", "skewness": "score",
         "excess kurtosis": "score", "shape": "label", "family to try": "text"},
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnInformation:
    """What a column tells of the class; a bag of counts, a text and a sparse matrix are one each.

    The information in `bits` may be negative for rows that the model has not seen. `error` is its
    standard error, `share` the same as a share of all there is to know: of the entropy of the
    classes. `family` is what the model takes the column for, and `rows` have a value of it.
    """

    column: str
    family: str
    bits: float
    error: float
    share: float
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
    """Two columns that say the same thing within the classes; `a` tells more of them, or as much.

    `strength` is the rank correlation of their evidence within the classes, `low` the lower end of
    its 95 % interval, `rows` those with a value of both. A pair is `warned` of where it counts
    twice what it says: both are informative, and `low` is above 0.5.
    """

    a: str
    b: str
    strength: float
    low: float
    rows: int
    warned: bool


@dataclass(frozen=True, slots=True)
class PromisingJoint:
    """Columns ("age x income") that would help if they were counted together.

    What they say together, weighed, promises to lower the log-loss of all rows by `gain` nats, that
    is `per_row` on average, once everything else is weighed. `columns` are what
    `SemiNaiveBayes(joints=[...])` takes.
    """

    title: str
    gain: float
    per_row: float
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """The shape of a column that the model takes for normal, or log-normal, said in a `word`.

    `correlation` is that of the Q-Q picture: 1 for a straight line. `skewness` and `kurtosis` are
    those of z over all classes, the latter in excess of the normal one. `better` is the family to
    try where the shape is not normal: log-normal for numbers above 0 that are skewed to the right,
    else bins.
    """

    column: str
    rows: int
    correlation: float
    skewness: float
    kurtosis: float
    word: str
    better: str

    @property
    def normal(self) -> bool | None:
        """Whether it is close to normal; None if there are too few rows to tell."""
        return None if self.word == TOO_FEW else self.word == NORMAL


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Renderable):
    """What labelled rows say of a model's columns; make it with `diagnose`. It prints as tables.

    Attributes
    ----------
    rows, entropy
        How many rows were looked at, and what there is to know of their class, in bits.
    information
        How much each column tells of the class, the most telling first: see `ColumnInformation`.
    dependence
        Pairs of columns whose evidence goes together within the classes, the strongest first: see
        `DependentPair`.
    joints
        Pairs and triples of columns that would help if they were counted together, what gains most
        first: see `PromisingJoint`.
    normality
        The shapes of the columns that are taken for normal and nothing else: see `ColumnShape`.
    warnings
        What to do something about: columns that repeat each other, mislead, or are not normal.
    notes
        What a reader should know: which rows and columns were not looked at.
    """

    rows: int
    entropy: float
    information: tuple[ColumnInformation, ...]
    dependence: tuple[DependentPair, ...]
    joints: tuple[PromisingJoint, ...]
    normality: tuple[ColumnShape, ...]
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
        for name, (caption, columns) in TABLES.items():
            rows = [astuple(each)[: len(columns)] for each in getattr(self, name)]
            if rows or name == "information":
                title = caption.format(self.entropy)
                yield Table.of(title, columns.items(), rows, most=MOST_LINES, name=name)
        yield from (f"warning: {each}" for each in self.warnings)
        yield from (f"note: {each}" for each in self.notes)


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
    normal is not, with the family to try; and it names columns that would help if they were counted
    together, as `SemiNaiveBayes` does, and by how much.

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
    columns say the same thing within the classes, so that it is counted twice: 'radius' and \
'around' (1.00); drop the second of each pair, or use calibration="weights"
    """
    rows = _Rows.of(fitted, X, y, sample_weight, most_rows, seed)
    columns = rows.columns()
    n, told = len(rows.w), rows.told(columns)
    notes = list(rows.notes)
    if len(told) > MOST_COLUMNS:
        notes.append(f"only the {MOST_COLUMNS} columns that tell most were held to each other")
    if n < PAIRED:
        notes.append(f"too few rows to see which columns repeat each other: {PAIRED} are needed")
    information = tuple(each for each, _ in told)
    pairs = _dependence(rows, told[:MOST_COLUMNS])
    names = [each.column for each in information]
    joints, shapes = tuple(_joints(rows, names[:MOST_TRIED])), _shapes(rows, names)
    notes += _advice(joints)
    warnings = tuple(_warnings(information, pairs, shapes))
    warnings += tuple(map(str, doubts(rows.model.schema)))
    if gaps := rows.telling_gaps():
        warnings += (sentence_of(gaps),)
    return Diagnosis(n, rows.entropy, information, pairs, joints, shapes, warnings, tuple(notes))


def better_families(fitted: Any, X: Any, y: Any, sample_weight: Any = None) -> dict[str, str]:
    """Return what to try for columns that are taken for normal and are not, the farthest first."""
    rows = _Rows.of(fitted, X, y, sample_weight, ROWS_SHAPED, 0)
    names = [each.column for each, _ in rows.told(rows.columns())]
    shapes = sorted(_shapes(rows, names), key=lambda each: each.correlation)
    return {each.column: each.better for each in shapes if each.better}


class _Columns(NamedTuple):
    """What columns are taken for, and what they say of rows, by row, column and class."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    terms: Floats
    present: Mask


class _Rows(NamedTuple):
    """A model, and labelled rows as it reads them; weights are above 0, and 1 at most."""

    model: Model
    source: Source
    batch: Batch
    y: Array
    w: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, fitted: Any, X: Any, y: Any, weights: Any, most: int, seed: int) -> _Rows:
        """Read the rows, at most so many; `notes` say which were left out."""
        model = model_of(fitted)
        source = fitted.source_of(X) if hasattr(fitted, "source_of") else as_source(X)
        source = laid_out(source, model.schema.dates, model.schema.names)
        labels = encode_classes(y, source.n_rows)
        place = {label: k for k, label in enumerate(model.classes)}
        codes = np.array([place.get(label, -1) for label in labels.labels], np.int64)[labels.codes]
        given = weights_of(weights, source.n_rows)
        w = np.ones(source.n_rows) if given is None else given
        rows = np.flatnonzero((codes >= 0) & (w > 0.0))
        if not len(rows):
            hint = did_you_mean(next(iter(labels.labels), None), model.classes)
            raise TallyBayesError(f"no row that counts has a class of the model; {hint}")
        notes = []
        if unknown := int(((codes < 0) & (w > 0.0)).sum()):
            unknown_rows = counted(unknown, "row")
            notes.append(f"{unknown_rows} of classes that the model does not know were left out")
        units = 1 if isinstance(source, SparseMatrix) else max(len(source.names), 1)
        most = min(whole(most, "most_rows", 1), MOST_CELLS // (units * len(model.classes)) or 1)
        if len(rows) > most:
            notes.append(f"{most:,} of {len(rows):,} rows were looked at, drawn at random")
            rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
        w = w[rows] / w[rows].max()
        batch = Batch(slice(0, len(rows)), _encoded(model, source, rows))
        source = source if len(rows) == source.n_rows else taken(source, rows)
        return cls(model, source, batch, codes[rows], w, tuple(notes))

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

    @property
    def weighed(self) -> bool:
        """Whether the model has weights for columns, several views of them, and joints."""
        return self.model.calibration is not None and self.model.calibration.how == "evidence"

    def telling_gaps(self) -> list[str]:
        """Return the columns whose gaps would tell of the class, and are ignored."""
        schema, found = self.model.schema, list[str]()
        rows = np.bincount(self.y, minlength=len(self.model.classes))
        for factor in self.model.factors:
            gaps = ~_present(factor.block_of(self.batch))
            own = schema.groups[factor.group] not in schema.extra
            if own and gaps.shape[1] == len(factor.names):  # those of a bag are of all together
                missing = np.stack([gaps[self.y == c].sum(axis=0) for c in range(len(rows))])
                places = np.flatnonzero(telling(missing, rows)).tolist()
                found += [str(factor.names[k]) for k in places]
        return [name for name in found if not is_evidence(schema, name)]

    def columns(self) -> _Columns:
        """Return what the columns say of the rows; what is counted of several is no column."""
        schema, n_classes = self.model.schema, len(self.model.classes)
        names: list[str] = []
        labels, parts, there = [], [], []
        for factor in self.model.factors:
            block, known = factor.block_of(self.batch), _present(factor.block_of(self.batch))
            parameters = factor.scored if self.weighed else factor.parameters
            if is_joint(factor, block):
                known = np.asarray(known.any(axis=1, keepdims=True))
                out = np.zeros((len(self.y), n_classes))
                parameters.add_log_likelihood(block, out)
                parts.append(out[:, None])
                names.append(factor.title)
            else:
                subjects = schema.subjects_of(schema.groups[factor.group])
                parts.append(parameters.log_prob(block))
                names += [str(subjects[place]) for place in factor.places]
            there.append(known)
            labels += [factor.label] * known.shape[1]
        terms, present = np.concatenate(parts, axis=1), np.concatenate(there, axis=1)
        if schema.extra:
            own = set(names[: -sum(map(len, schema.extra))])
            places = {name: [k for k, x in enumerate(names) if x == name] for name in sorted(own)}
            terms = np.stack([terms[:, some].sum(axis=1) for some in places.values()], axis=1)
            present = np.stack([present[:, some].any(axis=1) for some in places.values()], axis=1)
            names, labels = list(places), [labels[some[0]] for some in places.values()]
        return _Columns(tuple(names), tuple(labels), terms, present)

    def told(self, columns: _Columns) -> list[tuple[ColumnInformation, Floats]]:
        """Return what columns tell, all in all and row by row (NaN without a value).

        The most telling comes first, and of equals the first column.
        """
        terms, present, n_classes = columns.terms, columns.present, len(self.model.classes)
        place = {str(name): k for k, name in enumerate(self.model.schema.names)}
        mixed = log_sum_exp((terms + safe_log(self.shares)).reshape(-1, n_classes))
        mixed = mixed.reshape(present.shape)
        own = terms[np.arange(len(self.y)), :, self.y]
        with np.errstate(invalid="ignore"):  # what is impossible in every class says nothing
            bits = np.where(np.isneginf(mixed) | ~present, 0.0, (own - mixed) / np.log(2.0))
            # not by matrix products, whose threads cost more than so short a sum
            means = np.einsum("i,ij->j", self.w, bits) / self.w.sum()
            squares = np.einsum("i,ij->j", self.w**2, (bits - means) ** 2)
        errors = np.sqrt(squares) / self.w.sum()
        shares = means / self.entropy if self.entropy > 0.0 else np.zeros(len(means))
        bits[~present] = np.nan
        numbers = (each.tolist() for each in (means, errors, shares, present.sum(axis=0)))
        information = list(map(ColumnInformation, columns.names, columns.labels, *numbers))
        # which of two equals comes out a last digit ahead is chance
        first = [place.get(name, 0) for name in columns.names]
        order = sorted(range(len(first)), key=lambda j: (-round(means[j], TIE), first[j]))
        return [(information[j], bits[:, j]) for j in order]


def _encoded(model: Model, source: Source, rows: Array) -> tuple[Block, ...]:
    """Encode some rows, with checks."""
    if isinstance(source, SparseMatrix):  # which may be broken: it is not cut before a look
        return tuple(take_rows(block, rows) for block in _checked(model, source))
    try:
        return _checked(model, source if len(rows) == source.n_rows else taken(source, rows))
    except TallyBayesError:
        _checked(model, source)  # which has the number of the row among all
        raise


def _checked(model: Model, source: Source) -> tuple[Block, ...]:
    """Encode all rows; counts that are no counts, and infinite numbers, are refused."""
    blocks, everything = encoded(source, model.schema), np.arange(source.n_rows)
    for group, block in zip(model.schema.groups, blocks, strict=True):
        for some in (None, everything):
            group.kind.refuse_unusable(block, model.schema.names_of(group), 0, some)
    return blocks


def _present(block: Any) -> Mask:
    """Mark the values that are there, by row and column."""
    if isinstance(block, np.ndarray):
        there = ~np.isnan(block)
        return there if there.ndim < SEVERAL else np.asarray(there.all(axis=SEVERAL - 1))
    if isinstance(block, Sparse):
        return np.ones((block.n_rows, 1), bool)
    if isinstance(block, Coded):
        return np.asarray((block.codes >= 0) | (block.labels is None))
    missing = np.zeros(len(block), bool) if block.missing is None else block.missing
    return np.asarray(~missing[:, None])


def _dependence(
    rows: _Rows, told: Sequence[tuple[ColumnInformation, Floats]]
) -> tuple[DependentPair, ...]:
    """Return the pairs whose evidence goes together within the classes, the strongest first."""
    if len(told) < 2 or len(rows.w) < PAIRED:
        return ()
    bits = np.stack([of_rows for _, of_rows in told], axis=1)
    strength, low, n = _rank_correlations(bits, rows.y, rows.w)
    pairs = []
    for i, j in np.argwhere(np.triu(low > LISTED, 1)).tolist():
        a, b = told[i][0], told[j][0]
        warned = bool(low[i, j] > WARNED) and a.is_informative and b.is_informative
        warned &= not rows.weighed  # which takes care of it
        r, least = float(strength[i, j]), float(low[i, j])
        pairs.append(DependentPair(a.column, b.column, r, least, int(n[i, j]), warned))
    return tuple(sorted(pairs, key=lambda pair: -round(pair.strength, TIE)))


def _rank_correlations(bits: Floats, y: Array, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rank correlations within classes of all pairs, their lower limits, and the rows."""
    from scipy.stats import rankdata

    there = ~np.isnan(bits)
    ranks = np.zeros(bits.shape)
    for of_class in (y == c for c in np.unique(y)):
        known, weight = there[of_class], w[of_class][:, None] * there[of_class]
        ranked = rankdata(bits[of_class], axis=0, nan_policy="omit")
        ranked = np.where(known, ranked / np.maximum(known.sum(axis=0), 1), 0.0)
        mean = (weight * ranked).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
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


def _joints(rows: _Rows, names: Sequence[str]) -> Iterator[PromisingJoint]:
    """Go through the columns that promise to help together, what gains most first.

    A model that has joints has found its own.
    """
    model = rows.model
    own = replace(model.schema, extra=())
    schema = own.without([name for name in own.names if str(name) not in names])
    several = len(schema.names) > 1 and len(np.unique(rows.y)) > 1 and len(rows.y) >= PAIRED
    if not several or model.joints() or isinstance(rows.source, SparseMatrix):
        return
    families = {
        str(name): factor.family
        for factor in model.factors
        for name in factor.names
        if factor.counted is not None and name in schema.names
    }
    labels = np.array(model.classes, dtype=object)[rows.y]
    source = selected(rows.source, own.names, schema.names)
    recipe = Recipe(columns=families, prior=model.counted.prior)
    try:
        found = weigh_evidence(source, labels, rows.w, schema, recipe)
    except TallyBayesError:  # leave-one-out has no closed form for these options
        return
    gains: dict[tuple[str, ...], float] = {}
    for group in found.schema.extra:
        for unit, title in enumerate(found.schema.names_of(group)):
            columns = tuple(str(schema.names[place]) for place in group.columns(unit))
            if title in found.calibration.gains:
                gains[columns] = max(found.calibration.gains[title], gains.get(columns, 0.0))
    for columns, gain in sorted(gains.items(), key=lambda pair: -pair[1]):
        yield PromisingJoint(composed(about, columns), gain, gain / float(rows.w.sum()), columns)


def _advice(joints: Sequence[PromisingJoint]) -> list[str]:
    """Say how columns are counted together."""
    if not joints:
        return []
    best = joints[0]
    return [
        f"{listed([composed(' with '.join, best.columns)], longest=LONGEST)} would help most, by "
        f"{best.gain:.3g} nats of log-loss, {best.per_row:.3g} a row; SemiNaiveBayes() finds and "
        f"weighs such columns, and joints=[{best.columns}] states which"
    ]


def _shapes(rows: _Rows, order: Sequence[str]) -> tuple[ColumnShape, ...]:
    """Return the shapes of the columns that are taken for normal, those that tell most first."""
    place = {name: k for k, name in enumerate(order)}
    shapes = []
    for factor in () if rows.weighed else rows.model.factors:
        block: Any = factor.block_of(rows.batch)
        z = factor.parameters.normal_residuals(block, rows.y)
        if z is None:
            continue
        for j, name in enumerate(map(str, factor.names)):
            known = ~np.isnan(z[:, j])
            if place[name] < MOST_COLUMNS and known.any():
                shapes.append(_shape(name, factor, block[known, j], z[known, j], rows.y[known]))
    return tuple(sorted(shapes, key=lambda each: place[each.column]))


def _shape(name: str, factor: Factor, values: Floats, z: Floats, y: Array) -> ColumnShape:
    """Measure one column, and say its shape in a word."""
    from scipy.stats import kurtosis, probplot, skew

    n, distinct = len(z), len(np.unique(values))
    r = skewness = excess = np.nan
    if distinct > 2:
        r, skewness, excess = float(probplot(z)[1][2]), float(skew(z)), float(kurtosis(z))
    lean = sum(_lean(z[y == c]) * np.mean(y == c) for c in np.unique(y))
    if n < SHAPED or (distinct > FEW_VALUES and np.isnan(r)):  # a class of each row, too
        word = TOO_FEW
    elif distinct <= FEW_VALUES:
        word = "few distinct values"
    elif r >= min(STRAIGHT, 1.0 - 0.76 * n**-0.8):
        word = NORMAL
    elif abs(lean) >= max(LEANING, 2.5 / np.sqrt(n)) and skewness * np.sign(lean) >= SKEWED:
        word = RIGHT if lean > 0.0 else "skewed to the left"
    else:
        word = "heavy tails" if excess >= HEAVY else "an uneven shape"
    better = "" if word in (TOO_FEW, NORMAL) else "bins"
    if word == RIGHT and values.min() > 0.0 and not getattr(factor.family.kind, "log", False):
        better = "log_normal"
    return ColumnShape(name, n, r, skewness, excess, word, better)


def _lean(z: Floats) -> float:
    """Return how far the outer twentieths lie to one side of the median: -1 to 1.

    A single number far out makes a sample skewed, and shifts the mean of its class, but not this.
    """
    low, middle, high = np.quantile(z, (0.05, 0.5, 0.95))
    return float((high + low - 2.0 * middle) / (high - low)) if high > low else 0.0


def _warnings(
    information: Sequence[ColumnInformation],
    pairs: Sequence[DependentPair],
    shapes: Sequence[ColumnShape],
) -> Iterator[str]:
    """Say what to do something about."""
    if repeated := [
        f"{quoted(p.a)} and {quoted(p.b)} ({p.strength:.2f})" for p in pairs if p.warned
    ]:
        yield (
            "columns say the same thing within the classes, so that it is counted twice: "
            f'{_named(repeated)}; drop the second of each pair, or use calibration="weights"'
        )
    misleading = [each for each in information if each.is_misleading]
    if zero := [quoted(each.column) for each in misleading if each.assigns_zero]:
        alone = len(information) == 1
        yield (
            "columns have values that the model holds to be impossible in the class of the row, so "
            f"that no other can save it: {_named(zero)}; smooth with alpha above 0, "
            + ("or use another family" if alone else "use another family, or drop them")
        )
    wrong = [quoted(each.column) for each in misleading if not each.assigns_zero]
    if wrong and len(information) == 1:
        yield (
            f"column {wrong[0]}, the only one, predicts these rows worse than no column at all: it "
            'is too sure of itself; use another family, or calibration="weights"'
        )
    elif wrong:
        yield (
            "columns tell less than nothing, for alone they predict these rows worse than no "
            f"column at all: {_named(wrong)}; use another family, or drop them"
        )
    if better := [shape for shape in shapes if shape.better]:
        words = _named([f"{quoted(shape.column)} ({shape.word})" for shape in better])
        remedy = _named([f"{shape.column!r}: {shape.better!r}" for shape in better])
        yield (
            f"columns are taken for normal but are not: {words}; try columns={{{remedy}}}, or "
            "SemiNaiveBayes(), which counts each in several ways and weighs these"
        )


def _named(names: Sequence[str]) -> str:
    return listed(names, MOST_NAMED, last=",", longest=LONGEST).replace(" , ", ", ")
