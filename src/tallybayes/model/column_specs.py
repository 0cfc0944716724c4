"""What the user says of the columns: which ones, and what they are.

A column is named by its name or number, several by a tuple of those, and all that are not named by
``...``. What it is, is a family, the name of one, or a kind; "auto" leaves that to the data, and
"drop" leaves the column out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import encode_classes
from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.families import Family
from tallybayes.families.categorical import Unseen
from tallybayes.families.registry import default_family, family_named
from tallybayes.kinds import Intervals, is_kind
from tallybayes.model.recipe import family_for
from tallybayes.schema import Schema
from tallybayes.sources import Matrix, Source, SparseMatrix

Array = NDArray[Any]


AUTO, DROP = "auto", "drop"


class Best:
    """The wish that the family which suits a column best be found."""

    def __repr__(self) -> str:
        return "best"


BEST = Best()


class ColumnSpec(NamedTuple):
    """What was said of all columns, or of some by name: families and kinds."""

    of_all: Any
    by_name: Mapping[str, Any]

    @property
    def wants_best(self) -> bool:
        """Whether families are to be found."""
        return any(word is BEST for word in (self.of_all, *self.by_name.values()))

    def best_wanted(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose families are to be found."""
        if self.of_all is BEST:
            return [name for name in names if name not in self.by_name]
        wanted = [name for name, word in self.by_name.items() if word is BEST]
        for name in wanted:
            if name not in names:
                raise TallyBayesError(f"there is no column {name!r}; {did_you_mean(name, names)}")
        return wanted

    def with_best(self, found: Mapping[str, Family]) -> ColumnSpec:
        """Return the same with the families that were found."""
        stated = {name: word for name, word in self.by_name.items() if word is not BEST}
        return ColumnSpec(None, {**found, **stated})


def column_spec(columns: Any, names: Sequence[str], *, later: bool = False) -> ColumnSpec:
    """Read the parameter `columns` for columns of these names; others may come `later`."""
    if _is_word(columns, AUTO):
        return ColumnSpec(None, {})
    if not isinstance(columns, Mapping):
        meant = _meaning(columns, "columns")
        if meant is not BEST and not is_kind(getattr(meant, "kind", meant)):
            raise TallyBayesError(
                f"columns is {columns!r}; expected 'auto', a family, or a mapping of columns to "
                "families"
            )
        return ColumnSpec(meant, {})
    rest: Any = None
    together: dict[str, Any] = {}
    by_name: dict[str, Any] = {}
    for key, word in columns.items():
        meant = None if _is_word(word, AUTO) else _meaning(word, f"columns[{key!r}]")
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


def kept_columns(columns: Any, names: Sequence[str]) -> list[str] | None:
    """Return the columns that are left where some are said to be dropped; None where none is.

    Examples
    --------
    >>> kept_columns({"age": "gaussian", "income": "auto", ...: "drop"}, ["age", "id", "income"])
    ['age', 'income']
    """
    if without_dropped(columns) is columns:
        return None
    said: dict[str, bool] = {}
    for key, word in columns.items():
        for name in key if isinstance(key, tuple | frozenset) else (key,):
            if isinstance(name, int | np.integer):
                raise TallyBayesError(
                    f"columns has the number {name}; where some columns are dropped, name the "
                    "others by their names (those of an array are 'x0', 'x1', ...)"
                )
            said[name] = _is_word(word, DROP)
    rest = _is_word(columns.get(...), DROP)
    return [name for name in names if not said.get(name, rest)]


def without_dropped(columns: Any) -> Any:
    """Return what is said of the columns that are not dropped."""
    if not isinstance(columns, Mapping) or not any(_is_word(w, DROP) for w in columns.values()):
        return columns
    return {key: word for key, word in columns.items() if not _is_word(word, DROP)}


def _is_word(said: Any, word: str) -> bool:
    return isinstance(said, str) and said == word


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


def _meaning(word: Any, where: str) -> Any:
    """Return a family or a kind."""
    if word is None or word in (DROP, "ignore"):
        raise TallyBayesError(
            f"{where} is {word!r}; to leave a column out, say columns={{name: 'drop'}}, or drop it "
            "from X"
        )
    if isinstance(word, str):
        return BEST if word == "best" else family_named(word, where, ("best",))()
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


def families_for(
    schema: Schema, spec: ColumnSpec, alpha: float, unseen: Unseen
) -> tuple[tuple[Family, ...], dict[str, Family]]:
    """Return the families of all columns of a kind, and those of single columns by name."""
    alpha = number(alpha, "alpha", least=0.0)
    if unseen not in ("ignore", "smooth", "error"):
        raise TallyBayesError(f"unseen is {unseen!r}; it must be 'ignore', 'smooth' or 'error'")
    stated = {
        name: word.with_defaults(alpha, unseen)
        for name, word in spec.by_name.items()
        if isinstance(word, Family) and name in schema.places
    }
    for_all = (spec.of_all,) if isinstance(spec.of_all, Family) else ()
    defaults: list[Family] = []
    for group in schema.groups:
        family = family_for(group.kind, for_all)
        if family not in defaults:  # several columns of text may be of one kind
            defaults.append(family)
    return tuple(family.with_defaults(alpha, unseen) for family in defaults), stated


def _open_family(word: Any) -> Family | None:
    """Return the family that has to see labels before it knows what to count, if that is meant."""
    family = default_family(word) if isinstance(word, Intervals) else word
    if isinstance(family, Family) and family.needs_labels():
        return None if isinstance(word, Intervals) and word.edges is not None else family
    return None


def needs_labels(spec: ColumnSpec) -> bool:
    """Tell whether labels are needed to know what the columns are."""
    return any(_open_family(word) for word in (spec.of_all, *spec.by_name.values()))


class Resolved(NamedTuple):
    """What is said of the columns, for the schema and to be remembered.

    They differ in columns without a value yet: the schema has them in one interval, and what they
    are stays open until values arrive.
    """

    said: Any
    spec: ColumnSpec


def resolved(spec: ColumnSpec, source: Source, y: Any, weights: Array | None) -> Resolved:
    """Let families that depend on labels find what to count: the edges of intervals."""
    if not needs_labels(spec):
        return Resolved(spec.of_all or spec.by_name, spec)
    labels = encode_classes(y, source.n_rows)
    words: Mapping[str, Any] = spec.by_name
    if spec.of_all is not None:
        words = {**dict.fromkeys(source.names, spec.of_all), **spec.by_name}
    said, remembered = dict(words), dict(words)
    for place, name in enumerate(source.names):
        family = _open_family(words.get(name))
        if family is not None:
            x = _numbers(source, name, place)
            found: Any = family.resolved(x, labels.codes, len(labels.labels), weights)
            word = words[name]
            said[name] = found if word is family else replace(word, edges=found.kind.edges)
            if not np.isnan(x if weights is None else x[weights > 0.0]).all():
                remembered[name] = said[name]
    return Resolved(said, ColumnSpec(spec.of_all, remembered))


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
