"""A report of scores as aligned text, as HTML and as what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from tallybayes.metrics.confusion import MEASURES, MOST_CLASSES
from tallybayes.metrics.scores import GREATER_IS_BETTER, NAMES
from tallybayes.metrics.tables import amount, decimals, html_table, shown, text_table

if TYPE_CHECKING:
    from tallybayes.validation.reports.report import Report


class _Table(NamedTuple):
    """A caption, a header and lines."""

    caption: str
    header: list[str]
    lines: list[list[str]]


def as_text(report: Report) -> str:
    """Return the report as lines of text."""
    tables = [f"{table.caption}\n{text_table(*table[1:])}" for table in _tables(report)]
    notes = [f"note: {note}" for note in report.notes]
    return "\n\n".join([_title(report), *tables, *(["\n".join(notes)] if notes else [])])


def as_html(report: Report) -> str:
    """Return the report as a section of HTML."""
    tables = "".join(html_table(*table) for table in _tables(report))
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    listed = f'<ul aria-label="Notes">{notes}</ul>' if notes else ""
    title = escape(_title(report))
    return f'<section aria-label="Scores"><p>{title}</p>{tables}{listed}</section>'


def as_dict(report: Report) -> dict[str, Any]:
    """Return the report as dicts and lists; what is undefined is None."""
    bins = report.reliability
    return {
        "rows": report.rows,
        "classes": list(report.classes),
        "positive": report.positive,
        "leave_one_out": report.leave_one_out,
        "scores": _plain(report.scores),
        "mean": _plain(report.mean),
        "sd": _plain(report.sd),
        "folds": [_plain(each) for each in report.folds],
        "training": None if report.training is None else _plain(report.training),
        "per_class": [
            {"class": label, **_plain(numbers)} for label, numbers in report.per_class.items()
        ],
        "confusion": {
            "rows": "predicted",
            "columns": "true",
            "counts": report.confusion.counts.tolist(),
        },
        "reliability": {
            "edges": bins.edges.tolist(),
            "confidence": [_or_none(value) for value in bins.confidence.tolist()],
            "right": [_or_none(value) for value in bins.right.tolist()],
            "rows": bins.rows.tolist(),
        },
        "rows_with_probability_zero": report.impossible,
        "notes": list(report.notes),
    }


def _title(report: Report) -> str:
    """Say what was held out, and how."""
    how = "in one validation set"
    if report.leave_one_out:
        how = "each left out on its own"
    elif report.folds:
        n = len(report.folds)
        how = f"in {n} fold{'s' if n > 1 else ''}"
    return f"{report.rows} held-out row{'s' if report.rows > 1 else ''}, {how}"


def _tables(report: Report) -> list[_Table]:
    tables = [_overall(report)]
    if len(report.classes) <= MOST_CLASSES:
        rows = "confusion matrix (rows: predicted class, columns: true class)"
        tables += [_by_class(report), _Table(rows, *report.confusion.lines())]
    return tables


def _overall(report: Report) -> _Table:
    """Put the scores beside their means over folds and beside those of the training rows."""
    whose = "macro averages over the classes"
    if report.positive is not None:
        whose = f"those of class {report.positive!r}"
    columns = {"held out": report.scores}
    if report.folds:
        columns |= {"mean of folds": report.mean, "sd of folds": report.sd}
    if report.training is not None:
        columns["training"] = report.training
    lines = [
        [
            name if GREATER_IS_BETTER[name] else f"{name} (less is better)",
            *(decimals(values.get(name)) for values in columns.values()),
        ]
        for name in NAMES
    ]
    return _Table(
        f"scores (precision, recall, specificity and f1 are {whose})", ["score", *columns], lines
    )


def _by_class(report: Report) -> _Table:
    """Put the classes below each other, each as the positive one."""
    short = {
        "true_positives": "TP",
        "false_positives": "FP",
        "false_negatives": "FN",
        "true_negatives": "TN",
    }
    lines = [
        [
            shown(label),
            *(amount(numbers[name]) for name in ("rows", *short)),
            *(decimals(numbers[name]) for name in MEASURES),
        ]
        for label, numbers in report.per_class.items()
    ]
    return _Table(
        "each class against the others", ["class", "rows", *short.values(), *MEASURES], lines
    )


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _or_none(value) for name, value in values.items()}
