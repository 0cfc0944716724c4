"""A report on a stored model, with its scores on labelled rows if there are any."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tallybayes.model.plans import source_of
from tallybayes.modelfile import Stored
from tallybayes.rendering import Part
from tallybayes.report.contents import MOST_ROWS, Sample
from tallybayes.report.page import ModelReport, model_report
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.row_stream import RejectedRows
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.evaluation import predict_labelled
from tallybayes.workflows.outcomes import Outcome
from tallybayes.workflows.planning import source_names
from tallybayes.workflows.weighing import Reservoir


@dataclass(frozen=True, slots=True, eq=False)
class Reported(Outcome):
    """The page that was written."""

    page: ModelReport

    def document(self) -> Iterator[Part]:
        """Say what the page is about."""
        yield f"{self.page}."

    def facts(self) -> dict[str, Any]:
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
        table, numbers = kept.drawn()
        columns = source_of(table, stored.fitted.model.schema)
        more |= {"sample": Sample(columns, numbers), "data": source_names(data)}
    page = model_report(
        stored.fitted, stored.provenance, title=title, path=path, options=options, **more
    )
    if out is not None:
        page.save(out)
    return Reported(rejected, time.perf_counter() - start, page)
