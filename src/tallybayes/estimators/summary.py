"""What a fitted model took each column for, and why: as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import islice

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.model import Fitted
from tallybayes.schema import MOST_CATEGORIES
from tallybayes.tallies import Codes, Tally

MOST_COLUMNS = 50


def as_text(fitted: Fitted) -> str:
    """Return the summary as lines of text."""
    lines = [("column", "family", "why"), *_lines(fitted)]
    wide, wider = (max(len(line[k]) for line in lines) for k in range(2))
    table = [f"{name:<{wide}}  {family:<{wider}}  {why}" for name, family, why in lines]
    return "\n".join([_rows(fitted), *(line.rstrip() for line in table), *_rest(fitted)])


def as_html(fitted: Fitted) -> str:
    """Return the summary as a table that opens on a click."""
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in _lines(fitted)
    )
    rest = "".join(f"<p>{escape(line)}</p>" for line in _rest(fitted))
    return (
        f"<details><summary>{escape(_rows(fitted))}</summary><table><thead><tr><th>column</th>"
        f"<th>family</th><th>why</th></tr></thead><tbody>{body}</tbody></table>{rest}</details>"
    )


def _rows(fitted: Fitted) -> str:
    tally = fitted.tally
    of_classes = zip(tally.rows.tolist(), tally.classes, strict=True)
    shown = ", ".join(f"{n} {label!r}" for n, label in islice(of_classes, 10))
    more = ", ..." if len(tally.classes) > 10 else ""
    return f"{int(tally.rows.sum())} rows: {shown}{more}"


def _lines(fitted: Fitted) -> Iterator[tuple[str, str, str]]:
    """Go through the columns: name, family and the reason for it."""
    schema, recipe = fitted.tally.schema, fitted.recipe
    for name, _, reason in islice(schema, MOST_COLUMNS):
        shown, calibration = str(recipe.family_of(schema, name)), recipe.calibration
        if calibration is not None and name in calibration.exponents:
            shown += f" ^ {calibration.exponents[name]:.3f}"
        yield name, shown, fitted.why(name, reason)


def _rest(fitted: Fitted) -> list[str]:
    more = len(fitted.tally.schema.names) - MOST_COLUMNS
    lines = [f"... and {more} more columns"] if more > 0 else []
    calibration = fitted.recipe.calibration
    return lines if calibration is None else [*lines, calibration.headline]


def warn_of_outgrown(before: Tally, after: Tally) -> None:
    """Say so when integers that were taken for categories turn out to have many values."""
    for group, old, new in zip(after.schema.groups, before.blocks, after.blocks, strict=True):
        if isinstance(old, Codes) and isinstance(new, Codes) and old.labels != new.labels:
            names = after.schema.names_of(group)
            for name, few, many in zip(names, old.labels, new.labels, strict=True):
                inferred = after.schema.reason(name).startswith("integers")
                if inferred and len(few) <= MOST_CATEGORIES < len(many):
                    warn(
                        f"column {name!r} has {len(many)} distinct integers by now; it counts as "
                        "categories because the first batch had few. If it is a number on a scale, "
                        f"fit anew with columns={{{name!r}: 'gaussian'}}",
                        TallyBayesWarning,
                    )
