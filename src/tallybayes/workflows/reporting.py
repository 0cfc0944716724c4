"""A report on a stored model, with its scores on labelled rows if there are any."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.model.plans import source_of
from tallybayes.modelfile import Stored
from tallybayes.rendering import Part
from tallybayes.report.contents import MOST_ROWS, Sample
from tallybayes.report.page import ModelReport, model_report
from tallybayes.sources import arrow_memory
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import RejectedRows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.evaluation import predict_labelled
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import source_names


class Reservoir:
    """A uniform random sample of the rows of Arrow tables that pass by once.

    Every row draws a number, and those with the least numbers stay: any set of rows is as likely to
    be kept as any other of that size. `table` has them in their order, `numbers` says which of all
    rows they are.

    Examples
    --------
    >>> import pyarrow
    >>> kept = Reservoir(3)
    >>> for start in (0, 5):
    ...     kept.add(pyarrow.table({"n": range(start, start + 5)}))
    >>> kept.table.column("n").to_pylist() == kept.numbers.tolist(), len(kept.numbers)
    (True, 3)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size, self._random, self._seen = size, np.random.default_rng(seed), 0
        self._drawn, self.numbers = np.empty(0), np.empty(0, np.int64)
        self.table: Any = None

    def add(self, table: Any) -> None:
        """Let the rows of a table pass by."""
        import pyarrow

        n = table.num_rows
        drawn = np.concatenate([self._drawn, self._random.random(n)])
        numbers = np.concatenate([self.numbers, np.arange(self._seen, self._seen + n)])
        tables = [table] if self.table is None else [self.table, table]
        stay = np.sort(np.argsort(drawn)[: self._size])
        self._seen, self._drawn, self.numbers = self._seen + n, drawn[stay], numbers[stay]
        both = pyarrow.concat_tables(tables, promote_options="permissive")
        self.table = both.take(arrow_memory.from_numbers(stay))


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
        As for `evaluate`.
    title
        The title of the page.
    path
        The file of the model, to be named in the report.
    options
        What is to be typed, word by word, so that data is read and judged the same way.
    """
    start, read, rejected = time.perf_counter(), read or ReadOptions(), RejectedRows()
    more: dict[str, Any] = {}
    if data is not None:
        kept = Reservoir(MOST_ROWS)
        more["predictions"], rejected = predict_labelled(
            stored, open_rows(data, read), target, weight, read, kept.add
        )
        columns = source_of(kept.table, stored.fitted.model.schema.names)
        more |= {"sample": Sample(columns, kept.numbers), "data": source_names(data)}
    page = model_report(
        stored.fitted, stored.provenance, title=title, path=path, options=options, **more
    )
    if out is not None:
        page.save(out)
    return Reported(rejected, time.perf_counter() - start, page)
