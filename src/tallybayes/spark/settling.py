"""From a Spark data frame to a job: what its columns are, by first rows and what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark.ml.functions import vector_to_array
from pyspark.sql import Column, DataFrame, functions as F  # noqa: N812

from tallybayes.engines.count_job import CountJob, VectorColumn
from tallybayes.errors import Option, TallyBayesError
from tallybayes.evidence import search
from tallybayes.families import FAMILIES
from tallybayes.model.specification import ModelSpec, parse_family
from tallybayes.sources.dates import Dates
from tallybayes.sources.formats import BadRows, ReadOptions
from tallybayes.spark.passes import column

SAMPLE_ROWS = 10_000
WIDEST = 10_000  # vectors whose values are columns beside others
SOURCE = "the Spark data frame"
SIZE = "__tallybayes_size_"

Vectors = Mapping[str, Any]  # by name: what the values are called, or how many are counts


class Settled(NamedTuple):
    """How rows are counted, the columns that takes, and what there is to know of vectors."""

    job: CountJob
    rows: DataFrame
    vectors: Vectors


def settled(
    df: DataFrame,
    target: str,
    spec: ModelSpec,
    weight: str | None,
    bad_rows: BadRows,
    *more: Column,
) -> Settled:
    """Settle from first rows what columns are; of the best model also what its evidence weighs.

    Parameters
    ----------
    df, target, spec, weight, bad_rows
        As for `tallybayes.spark.fit`.
    *more
        Columns that are read beside those.
    """
    ReadOptions(bad_rows=bad_rows)
    for name in df.columns:
        if df.columns.count(name) > 1:
            raise TallyBayesError(f"two columns are named {name!r}; rename one of them")
    spec = replace(spec, columns=_families(spec.columns))
    names = spec.chosen(df.columns, target, weight)
    kept = list(map(column, [target, *([weight] if weight else [])]))
    vectors = [name for name in names if is_vector(df, name)]
    first = df.limit(SAMPLE_ROWS).select(
        *(parts_of(name) if name in vectors else column(name) for name in names),
        *kept,
        *(_size(name) for name in vectors),
    )
    table = first.toArrow()
    sizes = {name: _largest(table.column(SIZE + name), name) for name in vectors}
    table = table.drop_columns([SIZE + name for name in vectors])
    if len(names) == len(vectors) == 1 and _are_counts(table.column(names[0]), names[0], spec):
        ((name, size),) = sizes.items()
        job = CountJob.of_vectors(name, size, target, spec, weight, bad_rows)
        return Settled(job, df.select(parts_of(name), *kept, *more), sizes)
    spread = [_spread(df, name, size, names) for name, size in sizes.items()]
    said = _of_values(spec, spread)
    job = CountJob.of(table, target, said, weight=weight, bad_rows=bad_rows, vectors=spread)
    job = replace(job, spec=replace(job.spec, drop=spec.drop))
    chosen = [*columns_of(df, names), *kept]
    rows = df.select(*chosen, *more)
    if not job.spec.plain:
        n, few = rows.count(), df.select(*chosen)
        sample = few if n <= search.MOST_ROWS else few.sample(fraction=search.MOST_ROWS / n, seed=0)
        job = job.weighed(sample.toArrow())
    return Settled(job, rows, {each.name: list(each.names) for each in spread})


def _families(columns: Any) -> Any:
    """Read families that are written with options, as on the command line."""
    if isinstance(columns, Mapping):
        return {name: _families(word) for name, word in columns.items()}
    if not isinstance(columns, str) or ":" not in columns or Dates.meant(columns):
        return columns
    return parse_family(columns)


def is_vector(df: DataFrame, name: str) -> bool:
    """Tell whether a column holds vectors of Spark's machine learning."""
    return name in df.columns and type(df.schema[name].dataType).__name__ == "VectorUDT"


def columns_of(df: DataFrame, names: Sequence[str]) -> Iterator[Column]:
    """Go through columns as they are read: vectors as arrays."""
    for name in names:
        yield vector_to_array(column(name)).alias(name) if is_vector(df, name) else column(name)


def parts_of(name: str) -> Column:
    """Return a column of vectors as they are stored: values, and indices of those that are set."""
    unwrapped = F.unwrap_udt(column(name))
    parts = [unwrapped.getField(part).alias(part) for part in ("indices", "values")]
    return F.when(column(name).isNotNull(), F.struct(*parts)).alias(name)


def _size(name: str) -> Column:
    """Return how many values the vectors of a column have."""
    unwrapped = F.unwrap_udt(column(name))
    values = F.size(unwrapped.getField("values"))
    return F.coalesce(unwrapped.getField("size"), values).alias(SIZE + name)


def _largest(sizes: Any, name: str) -> int:
    from pyarrow import compute

    most: int | None = compute.max(sizes).as_py()
    if most is None or most < 0:
        drop = Option("drop", (name,))
        raise TallyBayesError(
            f"column {name!r} has no vector in the first {SAMPLE_ROWS:,} rows, so nobody knows "
            f"how many values it has; leave it out ({drop})",
            remedy=drop,
        )
    return most


def _are_counts(first: Any, name: str, spec: ModelSpec) -> bool:
    """Tell whether vectors are sparse at first, and what was said of them lets them be counts."""
    from pyarrow import compute

    said = spec.columns.get(name, "auto") if isinstance(spec.columns, Mapping) else spec.columns
    word: Any = FAMILIES[said]() if isinstance(said, str) and said in FAMILIES else said
    may = word == "auto" or getattr(word, "kind", word).counted_as == "counts"
    full = compute.is_null(compute.struct_field(first.drop_null(), "indices"))
    return bool(may and not compute.any(full).as_py())


def _spread(df: DataFrame, name: str, size: int, others: Sequence[str]) -> VectorColumn:
    """Name the values of vectors: as the assembler that made them says, or by number."""
    if size > WIDEST:
        raise TallyBayesError(
            f"column {name!r} has vectors of {size:,} values; as numbers, or beside other columns, "
            f"at most {WIDEST:,} can be: fit sparse ones alone, as counts"
        )
    told: dict[int, str] = {}
    attributes = (df.schema[name].metadata or {}).get("ml_attr", {}).get("attrs", {})
    for some in attributes.values():
        told |= {each["idx"]: each["name"] for each in some if "name" in each}
    names = [told.get(place, "") for place in range(size)]
    clear = all(names) and len(set(names)) == size and not set(others).intersection(names)
    return VectorColumn(name, tuple(names if clear else [f"{name}[{k}]" for k in range(size)]))


def _of_values(spec: ModelSpec, vectors: Sequence[VectorColumn]) -> ModelSpec:
    """Return the specification with what was said of vectors said of each of their values."""
    names_of = {each.name: each.names for each in vectors}

    def values(*names: Any) -> tuple[Any, ...]:
        return tuple(value for name in names for value in names_of.get(name, (name,)))

    columns = spec.columns
    if isinstance(columns, Mapping):
        columns = {value: word for name, word in columns.items() for value in values(name)}
    return replace(spec, columns=columns, only=values(*spec.only), drop=())
