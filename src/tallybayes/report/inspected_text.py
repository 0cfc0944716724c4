"""An inspection as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from tallybayes.metrics.tables import amount, shown, text_table
from tallybayes.report.inspected_tables import (
    InspectedTable,
    Likelihoods,
    NumberMoments,
    TopWords,
)

if TYPE_CHECKING:
    from tallybayes.report.inspection import InspectedColumn, Inspection

WIDEST = 110  # characters of a table with its working; beyond, it is left out
COLUMNS_SHOWN = 50
TABLES_SHOWN = 20
LINES_SHOWN = 20
CLASSES_SHOWN = 12
LONGEST = 40  # characters of a family


def as_text(found: Inspection) -> str:
    """Return the inspection as paragraphs of text."""
    labels = [each.label for each in found.classes]
    parts = [_head(found), _classes(found), _columns(found)]
    tables = found.tables if found.named else found.tables[:TABLES_SHOWN]
    parts += [_table(table, [shown(label) for label in labels], found.named) for table in tables]
    more = len(found.tables) - len(tables)
    if more:
        parts.append(f"... and {more} more tables: see one with --column NAME")
    if found.calibration is not None:
        parts.append(found.calibration.headline)
    return "\n\n".join([*parts, _provenance(found)])


def _head(found: Inspection) -> str:
    """Say what the model is."""
    name = found.path or "a model"
    size = "" if found.size is None else f", {found.size} bytes"
    rows = f"{found.rows} row{'' if found.rows == 1 else 's'}"
    return (
        f"{name}: {found.target} from {found.n_columns} "
        f"column{'' if found.n_columns == 1 else 's'}, {rows}{size}\n"
        f"{found.free_parameters} free parameters, {found.table_entries} entries of tables"
    )


def _classes(found: Inspection) -> str:
    """Write the classes with their priors."""
    weighted = any(each.weight != each.rows for each in found.classes)
    head = ["class", "rows", *(["weight"] if weighted else []), "prior"]
    classes = found.classes[:LINES_SHOWN]
    priors = _aligned([each.prior.parts for each in classes])
    wide = max(map(len, priors))
    lines = [
        [shown(each.label), str(each.rows), *([amount(each.weight)] if weighted else [])]
        for each in classes
    ]
    # the priors begin at the left, whatever numbers stand before them
    said = [
        text_table(
            [*head[:-1], head[-1].ljust(wide)],
            [[*line, prior.ljust(wide)] for line, prior in zip(lines, priors, strict=True)],
        )
    ]
    if len(found.classes) > len(classes):
        said.append(f"... and {len(found.classes) - len(classes)} more classes")
    said.append(f"prior: {found.prior}")
    if found.positive is not None:
        said.append(f"{shown(found.positive)} wins only when it is strictly more probable")
    return "\n".join(said)


def _columns(found: Inspection) -> str:
    """Write a line for each column."""
    columns = found.columns if found.named else found.columns[:COLUMNS_SHOWN]
    tempered = any(each.exponent != 1.0 for each in columns)
    head = ["column", "family", *(["exponent"] if tempered else []), "missing", "why"]
    lines = [head, *(_column(each, tempered, found.named) for each in columns)]
    wide = [max(len(line[k]) for line in lines) for k in range(len(head))]
    numbers = ("exponent", "missing")
    said = [
        "  ".join(
            cell.rjust(width) if name in numbers else cell.ljust(width)
            for name, cell, width in zip(head, line, wide, strict=True)
        ).rstrip()
        for line in lines
    ]
    more = found.n_columns - len(columns)
    if more and not found.named:
        said.append(f"... and {more} more columns: see one with --column NAME")
    return "\n".join(said)


def _column(each: InspectedColumn, tempered: bool, whole: bool) -> list[str]:
    exponent = [f"{each.exponent:.3f}"] if tempered else []
    family = _short(each.family, whole)
    return [shown(each.name), family, *exponent, str(sum(each.missing)), each.why]


def _short(family: str, whole: bool) -> str:
    return family if whole or len(family) <= LONGEST else f"{family[: LONGEST - 3]}..."


def _table(table: InspectedTable, labels: list[str], whole: bool) -> str:
    if isinstance(table, NumberMoments):
        return _moments(table, labels, whole)
    if isinstance(table, TopWords):
        return _words(table, labels, whole)
    return _likelihoods(table, labels, whole)


def _likelihoods(table: Likelihoods, labels: list[str], whole: bool) -> str:
    """Write a line for each value, with as much of the working as there is room for."""
    lines = list(table.lines)
    if len(lines) > LINES_SHOWN and not whole:
        if table.head == "value":  # the frequent ones say most of the column
            lines.sort(key=lambda line: -math.fsum(ratio.count for ratio in line[1]))
        lines = lines[:LINES_SHOWN]
    classes = range(min(len(labels), CLASSES_SHOWN))
    names = [shown(name) for name, _ in lines]
    parts = [[ratios[c].parts for _, ratios in lines] for c in classes]
    rows: list[str] = []
    for first in range(3):  # from the working on, the fraction, or the decimal alone
        across = [_aligned(column, first) for column in parts]
        cells = [[name, *(column[k] for column in across)] for k, name in enumerate(names)]
        rows = _to_the_left([table.head, *(labels[c] for c in classes)], *cells)
        if max(map(len, rows)) <= WIDEST:
            break
    several = len(table.columns) > 1
    title = f"{len(table.columns)} columns" if several else shown(table.columns[0])
    said = [f"{title}: {table.title}, {_short(table.family, whole)}"]
    said += rows if lines else []
    said += [table.note] if table.note else []
    more = table.more + len(table.lines) - len(lines)
    if more:
        how = "--words N" if table.head == "column" else f"--column {table.columns[0]}"
        said.append(f"... and {more} more {table.head}s: see them with {how}")
    if len(labels) > CLASSES_SHOWN:
        said.append(f"... and {len(labels) - CLASSES_SHOWN} more classes: see them with --json")
    return "\n".join(said)


def _aligned(parts: Sequence[tuple[str, ...]], first: int = 0) -> list[str]:
    """Write the parts of ratios below each other, their equal signs aligned."""
    shorter = [each[first:] for each in parts]
    wide = [max(map(len, column)) for column in zip(*shorter, strict=True)]
    lines = []
    for each in shorter:
        line = ""
        for part, width in zip(each, wide, strict=True):
            if line and width:
                line += " = " if part and line.strip() else "   "
            line += part.ljust(width)
        lines.append(line.rstrip())
    return lines


def _to_the_left(*lines: list[str]) -> list[str]:
    """Return the lines of a table whose columns all begin at the left."""
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, wide, strict=True)).rstrip()
        for line in lines
    ]


def _moments(table: NumberMoments, labels: list[str], whole: bool) -> str:
    """Write a line for each class."""
    what = "log x" if table.log else "x"
    title = f"{shown(table.columns[0])}: {what} in each class, {_short(table.family, whole)}"
    ddof = f"; the variance divides by n - {table.ddof:g}" if table.ddof else ""
    n = len(labels) if whole else LINES_SHOWN
    lines = [
        [label, amount(each.weight), *(f"{x:.6g}" for x in (each.mean, each.sd, each.variance))]
        for label, each in zip(labels[:n], table.lines, strict=False)
    ]
    head, *rows = text_table(["class", "n", "mean", "sd", "variance"], lines).splitlines()
    notes = [each.note for each in table.lines[:n]]
    said = [title + ddof, *([table.note] if table.note else []), head]
    said += [f"{row}  {note}".rstrip() for row, note in zip(rows, notes, strict=True)]
    return "\n".join([*said, *_more_classes(len(labels) - n, table.columns[0])])


def _words(table: TopWords, labels: list[str], whole: bool) -> str:
    """Write the words of each class below each other."""
    title = f"{shown(table.columns[0])}: {table.words} words, {_short(table.family, whole)}"
    n = len(labels) if whole else LINES_SHOWN
    said = [f"{title}; {table.title}"]
    for label, words, documents in zip(labels[:n], table.by_class, table.documents, strict=False):
        said.append(f"  {label} ({documents} document{'' if documents == 1 else 's'})")
        chances = _aligned([each.probability.parts for each in words])
        lines = [
            [shown(each.word), chance, f"{each.times:.3g} times as probable as elsewhere"]
            for each, chance in zip(words, chances, strict=True)
        ]
        said += [f"    {line}" for line in _to_the_left(*lines)] or ["    no word speaks for it"]
    if sum(map(len, table.by_class)) < table.words:
        said.append("... and more words: see them with --words N")
    return "\n".join([*said, *_more_classes(len(labels) - n, table.columns[0])])


def _more_classes(more: int, column: str) -> list[str]:
    return [f"... and {more} more classes: see them with --column {column}"] if more > 0 else []


def _provenance(found: Inspection) -> str:
    """Say where the model comes from."""
    made = found.provenance
    skipped = f", {made.skipped} set aside" if made.skipped else ""
    changed = "" if made.changed == made.created else f", changed {made.changed}"
    said = [f"made {made.created}{changed}, by tallybayes {made.version}{skipped}"]
    if made.sources:
        said.append(fill(f"from {', '.join(made.sources)}", WIDEST))
    return "\n".join([*said, *(f"  {line}" for line in made.history[-LINES_SHOWN:])])
