"""Posteriors and decisions for records, columns and Arrow tables, each the quickest way there is.

A few records are scored one by one in plain Python; NumPy and Arrow are for many.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.model import Model
from tallybayes.model.plans import PredictPlan
from tallybayes.modelfile import Stored
from tallybayes.service.faults import Fault
from tallybayes.service.settings import Limits
from tallybayes.sources.dates import parts_of
from tallybayes.sources.labels import Label
from tallybayes.sources.row_stream import refuse_lacking

FEW = 32  # records that are scored one by one
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = b"ARROW1\x00\x00"
DICTIONARY, RECORDS = 2, 3  # headers of messages of Arrow

Answers = tuple[list[list[float]], list[Label]]


def of_records(model: Model, records: Sequence[Mapping[str, Any]]) -> Answers:
    """Return the posterior of each record, and the class decided for: as `Model.judged` has it.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"], target="cheat")
    >>> of_records(estimate(tally), [{"status": "Single"}])[1]
    ['Yes']
    """
    if len(records) > FEW:
        for place, record in enumerate(records):
            if not record.keys() <= {*model.schema.names, model.schema.target}:
                with _row(place):
                    model.table_of(record)
        records = [model.schema.laid_out(record) for record in records]
        return of_columns(model, {n: [r.get(n) for r in records] for n in model.schema.names})
    probabilities, decisions = [], []
    for place, record in enumerate(records):
        with _row(place):
            posterior = model.posterior_of(record)
        probabilities.append([*posterior.values()])
        if model.rule is None:
            decisions.append(decided(posterior, model.positive))
        else:
            row = np.array([[*posterior.values()]])
            (said,) = model.rule.places(row, model.classes, model.positive)
            decisions.append(model.classes[said])
    return probabilities, decisions


class _row:  # noqa: N801 - a context manager, which a generator would make five times slower
    """Name the record that an error is about: it is the first row of a table of its own."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, TallyBayesError):
            why = str(error).replace(" in row 0", "").replace("row 0 ", "it ")
            raise TallyBayesError(f"record {self.place}: {why}", [self.place], error.remedies)


def decided(posterior: Mapping[Label, float], positive: Label | None) -> Label:
    """Return the most probable class: the first of equals, the positive one only if it has none.

    Examples
    --------
    >>> decided({"no": 0.5, "yes": 0.5}, None), decided({"no": 0.5, "yes": 0.5}, "no")
    ('no', 'yes')
    """
    best = max(posterior, key=posterior.__getitem__)
    if best == positive:
        others = (label for label, p in posterior.items() if p == posterior[best])
        return next((label for label in others if label != positive), best)
    return best


def of_columns(model: Model, columns: Mapping[str, Any]) -> Answers:
    """Return the same of values by column; columns that are not there are missing."""
    n_rows = len(next(iter(columns.values())))
    for name in columns:
        if name not in (model.schema.target, *model.schema.inputs):
            model.schema.place_of(name)
    table = {n: columns[n] for n in model.schema.inputs if n in columns}
    there = {part for name in table for part in (name, *parts_of(name))}
    others = (str(name) for name in model.schema.names if name not in there)
    table |= {name: columns.get(name, [None] * n_rows) for name in others}
    posterior, places = model.judged(table)
    return posterior.tolist(), [model.classes[place] for place in places.tolist()]


def of_arrow(
    stored: Stored, body: bytes, limits: Limits, proba: bool, keep: Sequence[str]
) -> bytes:
    """Return what `PredictPlan` makes of a table, as an Arrow stream like the one that came."""
    import pyarrow

    table = arrow_table(body, limits)
    plan = PredictPlan.of(stored.fitted, keep, proba)
    refuse_lacking((*plan.model.schema.inputs, *keep), table.column_names, "the table")
    out = BytesIO()
    answer = plan.table(table)
    with pyarrow.ipc.new_stream(out, answer.schema) as writer:
        writer.write_table(answer)
    return out.getvalue()


def arrow_table(body: bytes, limits: Limits) -> Any:
    """Read a stream of Arrow, no larger in memory than it was sent, and check all of it."""
    import pyarrow

    if body.startswith(ARROW_FILE):
        raise Fault(415, f"this is a file of Arrow; send a stream ({ARROW})")
    n = 0
    try:
        for message in pyarrow.ipc.MessageReader.open_stream(pyarrow.BufferReader(body)):
            n += rows_in(message.metadata.to_pybytes())
            if n > limits.rows:
                raise Fault(413, f"the table has more than {limits.rows:,} rows; send parts")
        reader = pyarrow.ipc.open_stream(body)
        if len(reader.schema) > limits.columns:
            raise Fault(413, f"the table has more than {limits.columns:,} columns")
        table = reader.read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, struct.error, IndexError) as error:
        raise Fault(400, f"the table is no Arrow stream that can be read: {error}") from None
    return table


def rows_in(metadata: bytes) -> int:
    """Return how many rows a message of Arrow claims to have; compressed ones are refused.

    A few bytes may claim any number of empty rows, or unpack to any size. The metadata is a table
    of flatbuffers: (version, type of the header, header, ...), where the header of records is
    (length, nodes, buffers, compression), and that of a dictionary (id, records, ...).
    """

    def field(table: int, number: int) -> int:
        """Return where a field of a table is, 0 if it is left out."""
        fields = table - struct.unpack_from("<i", metadata, table)[0]
        size: int = struct.unpack_from("<H", metadata, fields)[0]
        if 4 + 2 * number >= size:
            return 0
        offset: int = struct.unpack_from("<H", metadata, fields + 4 + 2 * number)[0]
        return offset and table + offset

    def table_at(place: int) -> int:
        return place + int(struct.unpack_from("<I", metadata, place)[0])

    message = table_at(0)
    kind = metadata[place] if (place := field(message, 1)) else 0
    if kind not in (DICTIONARY, RECORDS) or not (place := field(message, 2)):
        return 0
    records = table_at(place)
    if kind == DICTIONARY:
        if not (place := field(records, 1)):
            return 0
        records = table_at(place)
    if field(records, 3):
        raise Fault(415, "the table is compressed; send it uncompressed, or in the body of parts")
    length: int = (
        struct.unpack_from("<q", metadata, place)[0] if (place := field(records, 0)) else 0
    )
    return abs(length)
