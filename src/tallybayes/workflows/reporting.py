"""A report on a stored model, with its scores on labelled rows if there are any."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from tallybayes.model.plans import source_of
from tallybayes.modelfile import Stored
from tallybayes.report.contents import MOST_ROWS, Sample
from tallybayes.report.page import ModelReport, model_report
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import IN_MEMORY, Rows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.evaluation import judge
from tallybayes.workflows.reservoir import Reservoir
from tallybayes.workflows.streams import Aside, Progress


def _files(rows: Rows) -> tuple[str, ...]:
    """Return the names of files; a table in memory has none."""
    return () if rows.files == IN_MEMORY else rows.files


def typed(target: str | None, weight: str | None, read: ReadOptions) -> list[str]:
    """Return the words to type so that data is read and judged the same way.

    Examples
    --------
    >>> typed("truth", None, ReadOptions(delimiter=";", header=False))
    ['--target', 'truth', '--delimiter', ';', '--no-header']
    """
    words = []
    for name, column in (("--target", target), ("--weight", weight)):
        words += [] if column is None else [name, column]
    for each in fields(read):
        value, name = getattr(read, each.name), f"--{each.name.replace('_', '-')}"
        if value == each.default:
            continue
        if each.name == "header":
            words.append("--no-header")
        elif each.name == "missing":
            words += [word for text in value for word in (name, text)]
        else:
            words += [name, "tab" if value == "\t" else value]
    return words


def report(
    stored: Stored,
    out: str | os.PathLike[str] | None = None,
    *,
    data: Any = None,
    target: str | None = None,
    weight: str | None = None,
    read: ReadOptions | None = None,
    title: str | None = None,
    path: str | None = None,
    names: Iterable[str] | None = None,
    progress: Progress | None = None,
    aside: Aside | None = None,
) -> ModelReport:
    """Write a report on a stored model: one page of HTML.

    Parameters
    ----------
    stored
        The model.
    out
        The file to write; none is written when not given.
    data
        Labelled rows to judge the model by: files, a folder, a pattern, an address, "-", or a
        table (see `open_rows`). Without them the report has no scores.
    target, weight
        The columns of labels and of weights, as for `evaluate_model`.
    read, progress, aside
        As for `evaluate_model`.
    title
        The title of the page.
    path
        The file of the model, to be named in the report.
    names
        What the data is called in the report; the names of its files when not given.
    """
    if data is None:
        made = model_report(stored.fitted, stored.provenance, title=title, path=path)
    else:
        read = read or ReadOptions()
        rows = open_rows(data, read)
        kept = Reservoir(MOST_ROWS)
        judged = judge(
            stored,
            rows,
            target=target,
            weight=weight,
            read=read,
            progress=progress,
            aside=aside,
            shown=kept.add,
        )
        table, places = kept.rows()
        made = model_report(
            stored.fitted,
            stored.provenance,
            predictions=judged,
            sample=Sample(source_of(table, stored.fitted.model.schema.names), places),
            title=title,
            path=path,
            data=tuple(_files(rows) if names is None else names),
            options=typed(target, weight, read),
        )
    if out is not None:
        made.save(out)
    return made
