"""A diagnosis as aligned text, as HTML, and as what JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tallybayes.explanations.plain import plain_number
from tallybayes.metrics.tables import html_table, shown, text_table
from tallybayes.validation.diagnosis.dependence import DependentPair
from tallybayes.validation.diagnosis.information import ColumnInformation
from tallybayes.validation.diagnosis.normality import NormalityOfColumn

if TYPE_CHECKING:
    from tallybayes.validation.diagnosis.diagnosis import Diagnosis

MOST_LINES = 20
WIDEST = 96
LEAST_P = 1e-12  # below, tests are not that exact

Table = tuple[str, list[str], list[list[str]], int]  # title, header, lines, how many more


def tables_of(diagnosis: Diagnosis) -> list[Table]:
    """Return the tables that have lines, each with its title."""
    told = diagnosis.information
    title = f"what the columns tell of the class, of {diagnosis.entropy:.3f} bits there are to know"
    header = ["column", "taken for", "bits", "share", "rows"]
    tables = [_cut(title, header, [_of_information(each) for each in told])]
    lines = [_of_pair(each) for each in diagnosis.dependence]
    header = ["columns", "as strong as a correlation of", "p", "rows"]
    tables.append(_cut("columns that depend on each other, given the class", header, lines))
    lines = [_of_normality(each) for each in diagnosis.normality]
    header = ["column", "Q-Q", "skewness", "kurtosis", "rows", "shape", "family that fits better"]
    tables.append(_cut("columns that are taken for normal", header, lines))
    return [table for table in tables if table[2]]


def _cut(title: str, header: list[str], lines: list[list[str]]) -> Table:
    return title, header, lines[:MOST_LINES], max(len(lines) - MOST_LINES, 0)


def _of_information(told: ColumnInformation) -> list[str]:
    numbers = [f"{told.bits:z.4f}", f"{100.0 * told.share:z.1f} %"]
    if told.rules_out:
        numbers = ["-infinity", ""]
    return [shown(told.column), told.family, *numbers, str(told.rows)]


def _of_pair(pair: DependentPair) -> list[str]:
    names = f"{shown(pair.a)}, {shown(pair.b)}"
    p = f"{pair.p:.2g}" if pair.p >= LEAST_P else f"< {LEAST_P:g}"
    return [names, f"{pair.strength:.2f}", p, str(pair.rows)]


def _of_normality(column: NormalityOfColumn) -> list[str]:
    better = "" if column.better is None else column.better.name
    if column.tried and column.better is None:
        better = "no other is clearly better"
    name = shown(column.column) + (" (its logarithm)" if column.family == "log_normal" else "")
    numbers = [f"{column.correlation:z.3f}", f"{column.skewness:z.2f}", f"{column.kurtosis:z.2f}"]
    return [name, *numbers, str(column.rows), column.short_word, better]


def as_text(diagnosis: Diagnosis) -> str:
    """Return the tables, the warnings and the notes as lines of text."""
    parts = [f"{diagnosis.rows} rows"]
    for title, header, lines, more in tables_of(diagnosis):
        table = _aligned(header, lines)
        parts.append(f"{title}\n{table}" + (f"\n... {more} more" if more else ""))
    parts += [fill(f"warning: {each}", WIDEST) for each in diagnosis.warnings]
    notes = [fill(f"note: {each}", WIDEST) for each in diagnosis.notes]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _aligned(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Align a table: names and words to the left, numbers to the right."""
    words = {"taken for", "shape", "family that fits better"}
    cells = [list(header), *map(list, lines)]
    for k, name in enumerate(header):
        if name in words:
            wide = max(len(line[k]) for line in cells)
            for line in cells:
                line[k] = line[k].ljust(wide)
    return text_table(cells[0], cells[1:])


def as_html(diagnosis: Diagnosis) -> str:
    """Return the same as HTML that needs nothing else."""
    parts = []
    if diagnosis.warnings:
        parts.append(_list("Warnings", diagnosis.warnings))
    for title, header, lines, more in tables_of(diagnosis):
        parts.append(html_table(title, header, lines))
        parts += [f"<p>{more} more are not shown.</p>"] if more else []
    if diagnosis.notes:
        parts.append(_list("Notes", diagnosis.notes))
    body = "".join(parts)
    return f'<section aria-label="Diagnosis"><p>{diagnosis.rows} rows</p>{body}</section>'


def _list(name: str, sentences: Sequence[str]) -> str:
    lines = "".join(f"<li>{escape(each)}</li>" for each in sentences)
    return f'<ul aria-label="{name}">{lines}</ul>'


def as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return everything but the points of pictures as JSON can hold it."""
    return {
        "rows": diagnosis.rows,
        "entropy": diagnosis.entropy,
        "information": [
            {
                "column": each.column,
                "family": each.family,
                "bits": plain_number(each.bits),
                "share": plain_number(each.share),
                "error": plain_number(each.error),
                "rows": each.rows,
            }
            for each in diagnosis.information
        ],
        "dependence": [
            {
                "columns": [each.a, each.b],
                "strength": each.strength,
                "nats": plain_number(each.nats),
                "p": each.p,
                "rows": each.rows,
                "warned": each.warned,
            }
            for each in diagnosis.dependence
        ],
        "normality": [_dict_of_normality(each) for each in diagnosis.normality],
        "warnings": list(diagnosis.warnings),
        "notes": list(diagnosis.notes),
    }


def _dict_of_normality(column: NormalityOfColumn) -> dict[str, Any]:
    return {
        "column": column.column,
        "family": column.family,
        "rows": column.rows,
        "skewness": plain_number(column.skewness),
        "kurtosis": plain_number(column.kurtosis),
        "correlation": plain_number(column.correlation),
        "top_value": plain_number(column.top_value),
        "top_share": column.top_share,
        "distinct": column.distinct,
        "word": column.word,
        "normal": column.normal,
        "better": None if column.better is None else column.better._asdict(),
        "tried": column.tried,
    }
