"""A model as plain data that another language can compute with: its prior, and a term a column.

The score of a class is its `log_prior` plus, for each column, the `exponent` times what its `term`
gives for the value that it `reads`; no term is more than a table, a line or a parabola. Numbers
that JSON has not are text: "-inf". `web/naive_bayes.js` computes with it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tallybayes.errors import TallyBayesError, whole
from tallybayes.families.terms import Lookup, UnitTerm
from tallybayes.model.column import ModelColumn
from tallybayes.rendering.words import plain
from tallybayes.tallies.blocks import Support

if TYPE_CHECKING:
    from tallybayes.model.model import Model

VERSION = 1
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
        "notes": [note for column in columns if (note := _note(column))],
    }
    as_json: dict[str, Any] = plain(payload)
    return as_json


def _column(column: ModelColumn, most_words: int) -> dict[str, Any]:
    """Return the term of a unit, the column that it reads, and what that can be."""
    if len(column.reads) > 1 or not column.factor.kind.takes_plain_values:
        raise _unknown(column, f"{column.factor.kind!r} makes something else of the values")
    support, default = column.support, Support()
    said = {each.name: getattr(support, each.name) for each in fields(Support)}
    return {
        "name": column.name,
        "reads": column.reads[0],
        "exponent": column.exponent,
        "support": {k: v for k, v in said.items() if v != getattr(default, k)},
        "term": _term(column).payload(most_words),
    }


def _term(column: ModelColumn) -> UnitTerm:
    """Return what scores a value; of a family that does not say it, a table of the known values."""
    term = column.factor.parameters.term(column.unit)
    if term is not None:
        return term
    values = column.support.values
    if not values or column.support.intervals:
        family = type(column.factor.family).__name__
        raise _unknown(column, f"{family} is only known by the log_prob of its parameters")
    rows = dict(zip(values, column.log_prob(values).tolist(), strict=True))
    return Lookup(rows, len(column.classes))


def _unknown(column: ModelColumn, why: str) -> TallyBayesError:
    """Build the error about a column that only the library can score."""
    return TallyBayesError(
        f"column {column.name!r} cannot be written down: {why}; give the parameters a method "
        "term(unit) that returns a Lookup, Steps, Quadratic or Linear of tallybayes.families.terms"
    )


def _note(column: dict[str, Any]) -> str:
    """Say so if words were left out."""
    term = column["term"]
    if not term.get("left_out"):
        return ""
    known = len(term["words"])
    return (
        f"{column['name']}: only the {known:,} most informative of {known + term['left_out']:,} "
        "words are here, so that posteriors of texts with other words differ"
    )
