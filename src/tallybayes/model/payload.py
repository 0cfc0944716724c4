"""A model as plain data that another language can compute with: its prior, and a term a column.

The score of a class is its `log_prior` plus, for each column, the `exponent` times what its `term`
gives for the value that it `reads`; further views of a column, and columns together, are columns
too, and may read several. No term is more than a table, a line or a parabola. Numbers that JSON has
not are text: "-inf". `web/naive_bayes.js` computes with it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tallybayes.errors import TallyBayesError, whole
from tallybayes.families.terms import CellTerms, Lookup
from tallybayes.model.column import ModelColumn
from tallybayes.rendering.words import plain
from tallybayes.tallies.blocks import Support

if TYPE_CHECKING:
    from tallybayes.model.model import Model

VERSION = 2
MOST_WORDS = 5_000


def payload_of(model: Model, most_words: int) -> dict[str, Any]:
    """Return what `Model.payload` returns."""
    whole(most_words, "most_words", 1)
    columns = [_column(column, most_words) for column in model.units.values()]
    payload = {
        "version": VERSION,
        "target": model.schema.target,
        "classes": model.classes,
        "positive": model.positive,
        "prior": model.prior,
        "log_prior": model.log_prior,
        "columns": columns,
        "notes": [_note(column) for column in columns if column["term"].get("left_out")],
    }
    as_json: dict[str, Any] = plain(payload)
    return as_json


def _column(column: ModelColumn, most_words: int) -> dict[str, Any]:
    """Return the term of a unit, the column that it reads, and what that can be."""
    support, default, kind = column.support, Support(), column.factor.kind
    if not kind.takes_plain_values:
        raise _unknown(column, f"{kind!r} makes something else of the values")
    term = column.factor.parameters.term(column.unit)
    if term is None:  # its family does not say it: a table of the known values
        if not support.values or support.intervals:
            family = type(column.factor.family).__name__
            raise _unknown(column, f"{family} is only known by the log_prob of its parameters")
        rows = column.log_prob(support.values).tolist()
        term = Lookup(dict(zip(support.values, rows, strict=True)), len(column.classes))
    if isinstance(term, CellTerms):  # its columns say what they can be
        support = default
    told = {each.name: getattr(support, each.name) for each in fields(Support)}
    return {
        "name": column.name,
        "reads": column.reads,
        "exponent": column.exponent,
        "support": {k: v for k, v in told.items() if v != getattr(default, k)},
        "term": term.payload(most_words),
    }


def _unknown(column: ModelColumn, why: str) -> TallyBayesError:
    """Build the error about a column that only the library can score."""
    return TallyBayesError(
        f"column {column.name!r} cannot be written down: {why}; give the parameters a method "
        "term(unit) that returns a Lookup, Steps, Quadratic or Linear of tallybayes.families.terms"
    )


def _note(column: dict[str, Any]) -> str:
    """Say that words were left out."""
    left_out, known = column["term"]["left_out"], len(column["term"]["words"])
    return (
        f"{column['name']}: only the {known:,} most informative of {known + left_out:,} words are "
        "here, so that posteriors of texts with other words differ"
    )
