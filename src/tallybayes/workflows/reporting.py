"""A report on a stored model, with its scores on labelled rows if there are any."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.model.plans import source_of
from tallybayes.modelfile import Stored
from tallybayes.rendering import Part
from tallybayes.report.contents import MOST_ROWS, Sample
from tallybayes.report.page import ModelReport, model_report
from tallybayes.sources import arrow_memory
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import IN_MEMORY, RejectedRows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.evaluation import predict_labelled
from tallybayes.workflows.outcomes import Outcome


class Reservoir:
    """A uniform random sample of the rows of Arrow tables that pass by once.

    Every row draws a number, and those with the least numbers stay: any set of rows is as likely to
    be kept as any other of that size.

    Examples
    --------
    >>> import pyarrow
    >>> kept = Reservoir(3)
    >>> for start in (0, 5):
    ...     kept.add(pyarrow.table({"n": range(start, start + 5)}))
    >>> table, numbers = kept.rows()
    >>> table.column("n").to_pylist() == numbers.tolist(), len(numbers)
    (True, 3)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._random = np.random.default_rng(seed)
        self._seen = 0
        self._tables: list[Any] = []
        self._drawn = np.empty(0)
        self._numbers = np.empty(0, np.int64)

    def add(self, table: Any) -> None:
        """Let the rows of a table pass by."""
        drawn = self._random.random(table.num_rows)
        full = len(self._drawn) >= self._size
        lucky = np.flatnonzero(drawn < (self._drawn.max() if full else 1.0))
        if len(lucky):
            self._tables.append(table.take(arrow_memory.from_numbers(lucky)))
            self._drawn = np.concatenate([self._drawn, drawn[lucky]])
            self._numbers = np.concatenate([self._numbers, lucky + self._seen])
        self._seen += table.num_rows
        if len(self._drawn) > 2 * self._size:
            self.rows()

    def rows(self) -> tuple[Any, NDArray[np.int64]]:
        """Return the rows that stay, in their order, and their numbers among all rows."""
        import pyarrow

        table = pyarrow.concat_tables(self._tables, promote_options="permissive")
        if len(self._drawn) > self._size:
            stay = np.sort(np.argpartition(self._drawn, self._size - 1)[: self._size])
            table = table.take(arrow_memory.from_numbers(stay))
            self._drawn, self._numbers = self._drawn[stay], self._numbers[stay]
        self._tables = [table]
        return table, self._numbers


@dataclass(frozen=True, slots=True, eq=False)
class Reported(Outcome):
    """The page that was written."""

    page: ModelReport

    def document(self) -> Iterator[Part]:
        """Say what the page is about."""
        yield f"{self.page}."

    def facts(self) -> dict[str, Any]:
        """Return what is on the page as JSON can hold it."""
        return self.page.to_dict()


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
    names: Sequence[str] | None = None,
    options: Sequence[str] = (),
) -> Reported:
    """Write a report on a stored model: one page of HTML.

    Parameters
    ----------
    stored
        The model.
    out
        The file to write; none is written when not given.
    data
        Labelled rows to judge the model by, as for `train`. Without them the report has no scores.
    target, weight, read
        As for `evaluate_model`.
    title
        The title of the page.
    path
        The file of the model, to be named in the report.
    names
        What the data is called in the report; the names of its files when not given.
    options
        What is to be typed, word by word, so that data is read and judged the same way.
    """
    start, read, rejected = time.perf_counter(), read or ReadOptions(), RejectedRows()
    more: dict[str, Any] = {}
    if data is not None:
        rows, kept = open_rows(data, read), Reservoir(MOST_ROWS)
        more["predictions"], rejected = predict_labelled(
            stored, rows, target=target, weight=weight, read=read, shown=kept.add
        )
        table, places = kept.rows()
        more["sample"] = Sample(source_of(table, stored.fitted.model.schema.names), places)
        files = () if rows.files == IN_MEMORY else rows.files
        more |= {"data": tuple(files if names is None else names), "options": list(options)}
    page = model_report(stored.fitted, stored.provenance, title=title, path=path, **more)
    if out is not None:
        page.save(out)
    return Reported(rejected, time.perf_counter() - start, page)
