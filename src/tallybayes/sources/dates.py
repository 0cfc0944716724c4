"""Dates as columns: year, month, weekday, hour, and the days that have gone by.

A date tells little as it is: hardly two are equal, and what comes again is hidden in a number that
only grows. So a column `when` is laid out as `when.year`, `when.month` and so on, which are columns
like any other from there on. The hour is there if some row has a time of day, and `when.elapsed` is
in days since 1970 began.

Where dates have a time zone, the parts are those of the clocks there, whatever zone later dates
come in; `elapsed` is the same everywhere. Dates without a zone are taken as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.sources.columns import ArrayColumn, ArrowColumn, Column
from tallybayes.sources.labels import is_missing
from tallybayes.sources.tables import Frame, Source

PARTS = ("year", "month", "weekday", "hour", "elapsed")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAY = 86_400e6  # microseconds
ENOUGH = 200  # values that tell whether a column of text holds dates
_DAY, _TIME = r"\d{4}-\d{2}-\d{2}", r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
ZONED = rf"^\s*{_DAY}[T ]{_TIME} ?(?:Z|[+-]\d{{2}}:?\d{{2}})\s*$"
LIKE_A_DATE = rf"^\s*{_DAY}(?:[T ]{_TIME} ?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?\s*$"
_like_a_date = re.compile(LIKE_A_DATE)


@dataclass(frozen=True, slots=True)
class Dates:
    """The word for a column of dates: "date", or "date:Europe/Berlin" with the zone of its parts.

    Examples
    --------
    >>> Dates.meant("date:Europe/Berlin"), Dates.meant("gaussian")
    (Dates(zone='Europe/Berlin'), None)
    """

    zone: str = ""

    @staticmethod
    def meant(word: Any) -> Dates | None:
        """Return what is meant by a word, if that is dates."""
        name, _, zone = word.partition(":") if isinstance(word, str) else ("", "", "")
        return Dates(zone) if name == "date" else None


def parts_of(name: str) -> list[str]:
    """Return the names of the columns that a column of dates is laid out as."""
    return [f"{name}.{part}" for part in PARTS]


def titles_of_parts(title: str) -> list[str]:
    """Return what people read for those columns, if this is what they read for the dates.

    Examples
    --------
    >>> titles_of_parts("application")[1]
    "application's month"
    """
    return [f"{title}'s {'days gone by' if part == PARTS[-1] else part}" for part in PARTS]


def inputs_of(names: Iterable[str], dates: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return columns as the data have them: the parts of dates as one.

    Examples
    --------
    >>> inputs_of(["x", "when.year", "when.hour"], [("when", "")])
    ('x', 'when')
    """
    whole = {part: name for name, _ in dates for part in parts_of(name)}
    return tuple(dict.fromkeys(whole.get(name, name) for name in names))


def holds_dates(column: Column) -> bool:
    """Tell whether a column holds dates, by its type or by what its first values look like."""
    if column.type == "date":
        return True
    if column.type not in ("text", "categorical"):
        return False
    dates = 0
    try:
        for value in map(column.value, range(min(len(column), ENOUGH))):
            if not is_missing(value) and value != "":
                if not (isinstance(value, str) and _like_a_date.match(value)):
                    return False
                dates += 1
    except UnicodeDecodeError:  # of which others have more to say
        return False
    return dates > 0


def with_dates(
    frame: Frame, said: Mapping[str, Any], known: Collection[tuple[str, str]] = ()
) -> Frame:
    """Lay out the columns that hold dates, unless something else was said of them.

    What was said is a `Dates`, None for what the data say, or any other word. Of those `known` the
    zone is kept.
    """
    zones = {name: zone for name, zone in known if name in frame.columns}
    for name, column in frame.columns.items():
        word = said.get(name)
        if isinstance(word, Dates) or (word is None and name not in zones and holds_dates(column)):
            stated = word.zone if isinstance(word, Dates) else ""
            # where only distances from it are written, that is UTC
            zones[name] = stated or str(_stamps(name, column).type.tz or "")
    found: Frame = laid_out(frame, tuple(zones.items()))
    return found


def laid_out(
    source: Source, dates: Collection[tuple[str, str]], names: Collection[str] | None = None
) -> Any:
    """Lay out columns of dates, which have these zones, as the columns of these `names`.

    Without names they are all that tell something: a column of whole days has no hours.

    Examples
    --------
    >>> from tallybayes.sources import as_source
    >>> frame = laid_out(as_source({"when": ["2024-02-29 18:30", None]}), [("when", "")])
    >>> {name: column.value(0) for name, column in frame.columns.items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'when.year': 2024, 'when.month': 'February', 'when.weekday': 'Thursday', 'when.hour': 18,
     'when.elapsed': 19782.770833333332}
    """
    if not isinstance(source, Frame) or not dates:
        return source
    zones, columns = dict(dates), dict[str, Column]()
    for name, column in source.columns.items():
        there = {name: column}
        if name in zones and (names is None or name not in names):
            there = _parts(name, column, zones[name], names)
        for part, values in there.items():
            if part in columns or (part != name and part in source.columns):
                raise TallyBayesError(
                    f"column {part!r} is there, and also a part of the dates in {name!r}; rename "
                    "one of them"
                )
            columns[part] = values
    held = tuple(each for each in dates if each[0] in source.columns)
    return replace(source, columns=columns, dates=(*source.dates, *held))


def laid_out_record(
    record: Mapping[str, Any], dates: Collection[tuple[str, str]], names: Collection[str]
) -> Mapping[str, Any]:
    """Lay out the dates of one record."""
    there = [each for each in dates if each[0] in record]
    if not there:
        return record
    columns = {name: ArrayColumn(name, [record[name]]) for name, _ in there}
    parts = laid_out(Frame(columns, 1), there, names).columns
    others = {name: value for name, value in record.items() if name not in columns}
    return {**others, **{name: column.value(0) for name, column in parts.items()}}


def _parts(name: str, column: Column, zone: str, names: Collection[str] | None) -> dict[str, Any]:
    """Return the parts of one column."""
    import pyarrow
    from pyarrow import compute

    stamps = _stamps(name, column)
    try:
        local = instants = stamps
        if zone and stamps.type.tz:
            local = compute.local_timestamp(stamps.cast(pyarrow.timestamp("us", zone)))
        elif zone:
            instants = compute.assume_timezone(
                stamps, zone, ambiguous="earliest", nonexistent="earliest"
            )
    except pyarrow.ArrowInvalid:
        raise TallyBayesError(
            f"column {name!r}: there is no time zone {zone!r}; name one such as Europe/Berlin, or "
            "UTC"
        ) from None
    if stamps.type.tz and not zone:
        raise TallyBayesError(
            f"column {name!r} has a time zone, and dates that were counted had none; take it off, "
            "or fit anew with zones"
        )

    def named(codes: Any, labels: Any) -> Any:
        chunks = [
            pyarrow.DictionaryArray.from_arrays(each.cast("int32"), pyarrow.array(labels))
            for each in codes.chunks
        ]
        kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.array(labels).type)
        return pyarrow.chunked_array(chunks, kind)

    def part(which: str) -> Any:
        if which == "year":
            return compute.year(local)
        if which == "month":
            return named(compute.subtract(compute.month(local), 1), MONTHS)
        if which == "weekday":
            return named(compute.day_of_week(local), WEEKDAYS)
        if which == "hour":
            return named(compute.hour(local), range(24))
        # past the year 2255 microseconds are more than a float holds each of: it takes the nearest
        return compute.divide(instants.cast("int64").cast("float64", safe=False), DAY)

    wanted = parts_of(name) if names is None else [n for n in parts_of(name) if n in names]
    if names is None:
        midnight = compute.equal(compute.floor_temporal(local, unit="day"), local)
        if compute.all(midnight).as_py() is not False:
            wanted.remove(f"{name}.hour")
    return {each: ArrowColumn(each, part(each.rpartition(".")[2])) for each in wanted}


def _stamps(name: str, column: Column) -> Any:
    """Return a column as Arrow's timestamps in microseconds."""
    import pyarrow

    values: Any = column.raw
    try:
        if isinstance(values, np.ndarray):
            if values.dtype.kind == "M":
                values = values.astype("datetime64[us]")
            else:
                values = [None if is_missing(v) or v == "" else v for v in values.tolist()]
                odd = next((v for v in values if not isinstance(v, str | date | int | None)), None)
                if odd is not None:
                    values = [v.astype("datetime64[us]").item() for v in values]
            values = pyarrow.chunked_array([pyarrow.array(values)])
        kind = values.type
        if pyarrow.types.is_dictionary(kind):
            values = values.cast(kind.value_type)
        if pyarrow.types.is_null(values.type):
            return values.cast(pyarrow.timestamp("us"))
        if pyarrow.types.is_temporal(values.type):
            return values.cast(
                pyarrow.timestamp("us", getattr(values.type, "tz", None)), safe=False
            )
        if column.type in ("text", "categorical"):
            return _parsed(name, values.cast("string"))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, AttributeError, ValueError) as error:
        if isinstance(error, TallyBayesError):
            raise
    raise TallyBayesError(
        f"column {name!r} holds {column.type} values, where dates were expected; declare it as "
        "something else"
    )


def _parsed(name: str, texts: Any) -> Any:
    """Read dates as ISO 8601 has them; all of a column with a zone if some have one."""
    import pyarrow
    from pyarrow import compute

    texts = compute.utf8_trim_whitespace(texts)
    texts = compute.if_else(compute.equal(texts, ""), pyarrow.scalar(None, "string"), texts)
    zoned = compute.fill_null(compute.match_substring_regex(texts, ZONED), False)
    nothing = pyarrow.scalar(None, "string")
    aware = compute.if_else(
        zoned, compute.replace_substring(texts, " ", "T", max_replacements=1), nothing
    )
    aware = compute.replace_substring(aware, " ", "")
    naive = compute.if_else(zoned, nothing, texts)
    try:
        aware = aware.cast(pyarrow.timestamp("us", "UTC"))
        naive = naive.cast(pyarrow.timestamp("us"))
    except pyarrow.ArrowInvalid:
        bad = [row for row, text in enumerate(texts.to_pylist()) if not _is_date(text)]
        what = f"holds {str(texts[bad[0]])[:40]!r}" if bad else "holds something"
        raise TallyBayesError(
            f"column {name!r} {what} in row {bad[0] if bad else 0}, where a date was expected; "
            "write it as 2024-05-31 or 2024-05-31T18:30:00+02:00",
            {row: f"column {name!r}: {str(texts[row])[:40]!r} is not a date" for row in bad},
        ) from None
    if not compute.any(zoned).as_py():
        return naive
    return compute.coalesce(aware, compute.assume_timezone(naive, "UTC"))


def _is_date(text: str | None) -> bool:
    try:
        return text is None or bool(_like_a_date.match(text) and datetime.fromisoformat(text))
    except ValueError:
        return False
