"""What a user says of a model: which columns, what they are, how to smooth, which prior.

A column is named by its name or number, several by a tuple of those, and all that are not named by
``...``. What it is, is a family, the name of one, or a kind; "auto" leaves that to the data, "best"
to held-out rows, and "drop" leaves the column out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import Option, TallyBayesError, did_you_mean, number
from tallybayes.families import FAMILIES, ByClass, Family, RelativeFloor, Text
from tallybayes.families.categorical import Unseen
from tallybayes.families.registry import default_family, family_named
from tallybayes.kinds import Intervals, is_kind
from tallybayes.model.calibration import How
from tallybayes.model.recipe import family_for
from tallybayes.schema import Schema, no_column
from tallybayes.sources import Matrix, Source, SparseMatrix
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Words

Array = NDArray[Any]

AUTO, BEST, DROP = "auto", "best", "drop"


def _is(word: Any, meant: str) -> bool:
    return isinstance(word, str) and word == meant


class ColumnSpec(NamedTuple):
    """What was said of all columns, or of some by name: families and kinds, or "best"."""

    of_all: Any
    by_name: Mapping[str, Any]

    @property
    def declared(self) -> Any:
        """What a schema takes: a word for all columns, or words by name."""
        return self.by_name if self.of_all is None else self.of_all

    @property
    def wants_best(self) -> bool:
        """Whether families are to be found."""
        return any(_is(word, BEST) for word in (self.of_all, *self.by_name.values()))

    @property
    def needs_labels(self) -> bool:
        """Whether labels are needed to know what the columns are."""
        return any(_open_family(word) for word in (self.of_all, *self.by_name.values()))

    def of(self, name: str) -> Any:
        """Return what was said of one column."""
        return self.by_name.get(name, self.of_all)

    def best_wanted(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose families are to be found."""
        if _is(self.of_all, BEST):
            return [name for name in names if name not in self.by_name]
        wanted = [name for name, word in self.by_name.items() if _is(word, BEST)]
        for name in wanted:
            if name not in names:
                raise no_column(name, names)
        return wanted

    def with_best(self, chosen: Mapping[str, Family]) -> ColumnSpec:
        """Return the same with the families that were found."""
        stated = {name: word for name, word in self.by_name.items() if not _is(word, BEST)}
        return ColumnSpec(None, {**chosen, **stated})

    def families(
        self, schema: Schema, alpha: float, unseen: Unseen
    ) -> tuple[tuple[Family, ...], dict[str, Family]]:
        """Return the families of all columns of a kind, and those of single columns by name."""
        alpha = number(alpha, "alpha", least=0.0)
        if unseen not in ("ignore", "smooth", "error"):
            raise TallyBayesError(f"unseen is {unseen!r}; it must be 'ignore', 'smooth' or 'error'")
        stated = {
            name: word.with_defaults(alpha, unseen)
            for name, word in self.by_name.items()
            if isinstance(word, Family) and name in schema.places
        }
        for_all = (self.of_all,) if isinstance(self.of_all, Family) else ()
        defaults: list[Family] = []
        for group in schema.groups:
            family = family_for(group.kind, for_all)
            if family not in defaults:  # several columns of text may be of one kind
                defaults.append(family)
        return tuple(family.with_defaults(alpha, unseen) for family in defaults), stated


def column_spec(columns: Any, names: Sequence[str], *, later: bool = False) -> ColumnSpec:
    """Read the parameter `columns` for columns of these names; others may come `later`."""
    if _is(columns, AUTO):
        return ColumnSpec(None, {})
    if not isinstance(columns, Mapping):
        meant = _meaning(columns, "columns")
        if not _is(meant, BEST) and not is_kind(getattr(meant, "kind", meant)):
            raise TallyBayesError(
                f"columns is {columns!r}; expected 'auto', a family, or a mapping of columns to "
                "families"
            )
        return ColumnSpec(meant, {})
    rest: Any = None
    together: dict[str, Any] = {}
    by_name: dict[str, Any] = {}
    for key, word in columns.items():
        meant = None if _is(word, AUTO) else _meaning(word, f"columns[{key!r}]")
        if key is ...:
            rest = meant
            continue
        if isinstance(key, str | int | np.integer) and not isinstance(key, bool):
            name = _name(key, names)
            if name in names or not later:
                by_name[name] = meant
            continue
        for name in _several(key, names, later):
            if together.get(name, meant) != meant:
                raise TallyBayesError(
                    f"column {name!r} is named twice, as {together[name]} and as {meant}; "
                    "name it on its own to say which"
                )
            together[name] = meant
    others = {} if rest is None else dict.fromkeys(names, rest)
    said = {**others, **together, **by_name}
    return ColumnSpec(None, {name: meant for name, meant in said.items() if meant is not None})


def _meaning(word: Any, where: str) -> Any:
    """Return a family, a kind, or "best"."""
    if word is None or word in (DROP, "ignore"):
        raise TallyBayesError(
            f"{where} is {word!r}; to leave a column out, say columns={{name: 'drop'}}, or drop it "
            "from X"
        )
    if isinstance(word, str):
        return BEST if word == BEST else family_named(word, where, (BEST,))()
    return word() if isinstance(word, type) else word


def _name(key: Any, names: Sequence[str]) -> str:
    """Return the name of a column that is given by its name or number."""
    if isinstance(key, str):
        return key  # the schema knows whether there is such a column
    if str(key) in names:
        return str(key)
    if not -len(names) <= key < len(names):
        raise TallyBayesError(f"there is no column number {key}; there are {len(names)} columns")
    return str(names[key])


def _several(key: Any, names: Sequence[str], later: bool) -> list[str]:
    """Return the names of columns that are named together."""
    if not isinstance(key, tuple | frozenset):
        raise TallyBayesError(
            f"columns has the key {key!r}; expected a name, a number, or a tuple of them (choose "
            "names with a comprehension: {name: 'gaussian' for name in X if ...})"
        )
    found = [_name(each, names) for each in key]
    found = [name for name in found if name in names] if later else found
    if not found and not later:
        raise TallyBayesError(f"columns has the key {key!r}, which names no column")
    return found


def kept_columns(columns: Any, names: Sequence[str]) -> list[str] | None:
    """Return the columns that are left where some are said to be dropped; None where none is.

    Examples
    --------
    >>> kept_columns({"age": "gaussian", "income": "auto", ...: "drop"}, ["age", "id", "income"])
    ['age', 'income']
    """
    if without_dropped(columns) is columns:
        return None
    dropped: dict[str, bool] = {}
    for key, word in columns.items():
        for name in key if isinstance(key, tuple | frozenset) else (key,):
            if isinstance(name, int | np.integer):
                raise TallyBayesError(
                    f"columns has the number {name}; where some columns are dropped, name the "
                    "others by their names (those of an array are 'x0', 'x1', ...)"
                )
            dropped[name] = _is(word, DROP)
    rest = _is(columns.get(...), DROP)
    return [name for name in names if not dropped.get(name, rest)]


def without_dropped(columns: Any) -> Any:
    """Return what is said of the columns that are not dropped."""
    if not isinstance(columns, Mapping) or not any(_is(word, DROP) for word in columns.values()):
        return columns
    return {key: word for key, word in columns.items() if not _is(word, DROP)}


def dropped_names(columns: Any) -> list[str | None]:
    """Return the names of the columns that are dropped; None stands for all that are not named."""
    names: list[str | None] = []
    for key, word in columns.items() if isinstance(columns, Mapping) else ():
        if _is(word, DROP):
            each = key if isinstance(key, tuple | frozenset) else (key,)
            names += [None if name is ... else name for name in each]
    return names


def without_numbers(columns: Any) -> Any:
    """Leave out what is said of columns by number, which means the columns of the first table."""
    if not isinstance(columns, Mapping):
        return columns
    named = {
        tuple(each for each in key if isinstance(each, str))
        if isinstance(key, tuple)
        else key: word
        for key, word in columns.items()
    }
    return {key: word for key, word in named.items() if not isinstance(key, int | np.integer)}


class Resolved(NamedTuple):
    """What is said of the columns, for the schema and to be remembered.

    They differ in columns without a value yet: the schema has them in one interval, and what they
    are stays open until values arrive.
    """

    declared: Any
    spec: ColumnSpec


def resolve(spec: ColumnSpec, source: Source, y: Any, weights: Array | None) -> Resolved:
    """Let families that depend on labels find what to count: the edges of intervals."""
    if not spec.needs_labels:
        return Resolved(spec.declared, spec)
    labels = encode_classes(y, source.n_rows)
    words = dict(spec.by_name)
    if spec.of_all is not None:
        words = {**dict.fromkeys(source.names, spec.of_all), **words}
    declared, remembered = dict(words), dict(words)
    for place, name in enumerate(source.names):
        family = _open_family(words.get(name))
        if family is not None:
            x = _numbers(source, name, place)
            found: Any = family.resolved(x, labels.codes, len(labels.labels), weights)
            word = words[name]
            declared[name] = (
                found if word is family else structs.replace(word, edges=found.kind.edges)
            )
            if not np.isnan(x if weights is None else x[weights > 0.0]).all():
                remembered[name] = declared[name]
    return Resolved(declared, ColumnSpec(spec.of_all, remembered))


def _open_family(word: Any) -> Family | None:
    """Return the family that has to see labels before it knows what to count, if that is meant."""
    family = default_family(word) if isinstance(word, Intervals) else word
    if isinstance(family, Family) and family.needs_labels():
        return None if isinstance(word, Intervals) and word.edges is not None else family
    return None


def _numbers(source: Source, name: str, place: int) -> Array:
    """Return the numbers of one column."""
    if isinstance(source, SparseMatrix):
        raise TallyBayesError(
            f"column {name!r} of a sparse matrix cannot be cut into intervals; pass X.toarray() or "
            "count it (Count, Binary)"
        )
    if isinstance(source, Matrix):
        values = source.values[:, place]
    else:
        values = source.columns[name].numbers(slice(0, source.n_rows))
    return np.asarray(values, np.float64)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How a model is to be made of a table that has its target among its columns.

    Parameters
    ----------
    columns
        "auto", "best", a family, or a mapping of columns to families: as for `NaiveBayes`.
    text
        Columns of text, of which the words are counted.
    drop
        Columns to leave out.
    only
        Columns to use, if not all.
    alpha, prior, unseen, positive, calibration
        As for `NaiveBayes`. Labels may be given as text.

    Examples
    --------
    >>> ModelSpec(columns={"income": "gaussian"}, text=("subject",)).declared
    {'subject': 'text', 'income': 'gaussian'}
    """

    columns: Any = AUTO
    text: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    alpha: float = 1.0
    prior: Any = "empirical"
    unseen: Unseen = "ignore"
    positive: Label | None = None
    calibration: How | None = None

    @property
    def declared(self) -> Any:
        """What is said of the columns, text included, as `NaiveBayes` takes it."""
        texts = dict.fromkeys(self.text, "text")
        if isinstance(self.columns, Mapping):
            return {**texts, **self.columns}
        if _is(self.columns, AUTO):
            return texts or AUTO
        return {**texts, ...: self.columns} if texts else self.columns

    @property
    def _words(self) -> Mapping[Any, Any]:
        return self.declared if isinstance(self.declared, Mapping) else {...: self.declared}

    @property
    def needs_all_rows(self) -> str:
        """Why the model cannot be made from a stream, or nothing."""
        if any(_is(word, BEST) for word in self._words.values()):
            return "families are chosen by leaving rows out"
        return "" if self.calibration is None else "the calibration is fitted by leaving rows out"

    def chosen(self, names: Sequence[str], target: str, weight: str | None) -> tuple[str, ...]:
        """Return the columns to use, of all that there are."""
        if target not in names:
            raise no_column(target, names, "to predict")
        declared = {name for name in self._words if isinstance(name, str)}
        for name in (*self.drop, *self.only, *declared, *([weight] if weight else [])):
            if name not in names:
                raise no_column(name, names)
            if name == target:
                raise TallyBayesError(
                    f"{name!r} is what is predicted; it cannot be dropped, declared, or be one of "
                    "the columns too"
                )
            if name in self.drop and (name in declared or name in self.only):
                raise TallyBayesError(f"column {name!r} is dropped and asked for; do one of both")
        if weight in declared:
            raise TallyBayesError(
                f"column {weight!r} says how often each row counts ({Option('weight')}); it cannot "
                "be declared as one of the columns too",
                remedy=Option("weight"),
            )
        used = {*(self.only or names), *declared} - {target, weight, *self.drop}
        if not used:
            raise TallyBayesError(
                f"no column is left to predict {target!r} from; drop fewer, or add some to the data"
            )
        return tuple(name for name in names if name in used)

    def for_labels(self, labels: tuple[Label, ...]) -> ModelSpec:
        """Return the specification with labels that were given as text turned into real ones."""
        positive, prior, columns = self.positive, self.prior, self.columns
        if positive is not None:
            positive = label_of(positive, labels)
        if isinstance(prior, Mapping):
            prior = {label_of(label, labels): p for label, p in prior.items()}
        if isinstance(columns, Mapping):
            columns = {name: _for_labels(word, labels) for name, word in columns.items()}
        else:
            columns = _for_labels(columns, labels)
        return replace(self, columns=columns, positive=positive, prior=prior)

    def with_families(self, word: Any) -> ModelSpec:
        """Return the specification with a word for all columns of which nothing is declared."""
        declared = dict(self.columns) if isinstance(self.columns, Mapping) else {}
        declared.pop(..., None)
        if isinstance(word, Mapping):
            return replace(self, columns={**declared, **word})
        if _is(word, AUTO) or not declared:
            return replace(self, columns=declared or word)
        return replace(self, columns={...: word, **declared})

    def without_choices(self) -> ModelSpec:
        """Return what is known of the columns before families are chosen for them."""
        if not isinstance(self.declared, Mapping):
            return replace(self, columns=AUTO) if _is(self.columns, BEST) else self
        stated = {name: word for name, word in self.declared.items() if not _is(word, BEST)}
        return replace(self, columns=stated, text=())


def _for_labels(word: Any, labels: tuple[Label, ...]) -> Any:
    """Return a family whose guesses by class are for real labels."""
    relabelled = getattr(getattr(word, "p", None), "relabelled", None)
    if relabelled is None:
        return word
    return structs.replace(word, p=relabelled(lambda label: label_of(label, labels)))


def label_of(word: Label, labels: tuple[Label, ...]) -> Label:
    """Return the label that is meant: an equal one, or one that is written alike.

    Examples
    --------
    >>> label_of("1", (0, 1)), label_of("true", (False, True)), label_of("new", ("old",))
    (1, True, 'new')
    """
    if not isinstance(word, str) or word in labels:
        return word
    for label in labels:
        if not isinstance(label, str) and str(label).lower() == word.lower():
            return label
    kinds = {type(label) for label in labels}
    for kind in (int, float):
        if kinds == {kind}:
            try:
                return kind(word)
            except ValueError:
                pass
    return word


_WORDS = set(Words.__struct_fields__)


def parse_column(text: str) -> tuple[str, Any]:
    """Read a column and its family: ``status=categorical:alpha=1``.

    Examples
    --------
    >>> parse_column("status=categorical:alpha=1,unseen=smooth")
    ('status', Categorical(alpha=1.0, unseen='smooth'))
    """
    name, rest = _cut(text)
    if not name or not rest:
        raise TallyBayesError(
            f"{text!r} does not say what a column is; write NAME=FAMILY, for example "
            "income=gaussian or status=categorical:alpha=1"
        )
    return name, parse_family(rest)


def _cut(text: str) -> tuple[str, str]:
    """Cut before the family; a name may have "=" and ":" too."""
    parts = text.split("=")
    for place in range(1, len(parts)):
        word = parts[place].partition(":")[0]
        if _word(word) in (*FAMILIES, BEST):
            return "=".join(parts[:place]), "=".join(parts[place:])
    name, _, rest = text.partition("=")
    return name, rest


def _word(text: str) -> str:
    return text.strip().lower().replace("-", "_")


def parse_family(text: str) -> Any:
    """Read a family with options: ``bins:edges=18;65``, ``text:ngrams=1;2,event=bernoulli``."""
    word, _, rest = text.partition(":")
    word = _word(word)
    if word not in (*FAMILIES, BEST):
        raise TallyBayesError(
            f"there is no family {word!r}; {did_you_mean(word, (*FAMILIES, BEST))}"
        )
    options = dict(_option(part) for part in rest.split(",") if part.strip())
    if word == BEST:
        if options:
            raise TallyBayesError("'best' takes no options")
        return BEST
    kind: Any = FAMILIES[word]
    known = set(kind.__struct_fields__) | (_WORDS if kind is Text else set())
    known -= {"words", "idf"}  # which take more than can be typed
    for name in options:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise TallyBayesError(f"{word} has no option {name!r}; {hint}")
    if kind is Text:
        of_words = {name: options.pop(name) for name in list(options) if name in _WORDS}
        return Text(Words(**of_words), **options)
    return kind(**options)


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise TallyBayesError(f"{text.strip()!r} is not an option; write name=value")
    name = name.strip()
    if name in ("stop_words", "vocabulary"):
        return name, tuple(word.strip() for word in value.split(";") if word.strip())
    found = _value(value.strip())
    if name == "edges" and isinstance(found, int | float):
        return name, (found,)
    return name, RelativeFloor(found) if name == "floor" else found


def _value(text: str) -> Any:
    """Read a number, a truth value, several of them (1;2), or a word; Yes:1/3;No:2/3 by class."""
    pairs = [part.partition(":") for part in text.split(";") if part]
    if pairs and all(colon for _, colon, _ in pairs):
        return ByClass({label.strip(): _value(p.strip()) for label, _, p in pairs})
    if ";" in text:
        return tuple(_value(part) for part in text.split(";") if part)
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float, lambda word: float(Fraction(word))):
        try:
            return kind(text)
        except (ValueError, ZeroDivisionError):
            pass
    return text
