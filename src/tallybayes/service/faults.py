"""What a client is told when something does not work: one shape of JSON, a status and a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tallybayes.errors import Option, TallyBayesError
from tallybayes.store import StoreError

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "refused",
    429: "busy",
    500: "bug",
    503: "unavailable",
}
MOST_RECORDS = 100  # that a fault lists
BUG = "this is a bug in tallybayes; the log of the service has more about it, under the same id"


class FaultAnswer(msgspec.Struct, omit_defaults=True):
    """What every request gets that cannot be answered otherwise."""

    error: str
    code: str
    records: list[int] = []
    events: list[dict[str, Any]] = []


class Fault(Exception):  # noqa: N818 - the word for what a client is told
    """A request that is not answered, with the status that says so."""

    def __init__(self, status: int, message: str, code: str = "", **headers: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code or CODES.get(status, "bad_request")
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.records: list[int] = []
        self.events: list[dict[str, Any]] = []

    def response(self) -> Response:
        """Return what is sent."""
        body = msgspec.json.encode(FaultAnswer(str(self), self.code, self.records, self.events))
        return Response(body, self.status, self.headers, "application/json")


def busy() -> Fault:
    """Return what is said when too much is asked for at once."""
    return Fault(429, "too many requests at once; try again in a second", Retry_After="1")


def fault_of(error: Exception) -> Fault:
    """Return what a client is told of an error.

    Examples
    --------
    >>> fault_of(TallyBayesError("rows do not fit", [3])).records
    [3]
    """
    if isinstance(error, Fault):
        return error
    if isinstance(error, StoreError):
        message = f"{error}. Records are scored all the same; events may be sent again"
        return Fault(503, message, "store", Retry_After="1")
    if isinstance(error, TallyBayesError):
        fault = Fault(422, in_json(str(error), error.remedies))
        fault.records = [int(row) for row in list(error.rows)[:MOST_RECORDS]]
        return fault
    if isinstance(error, HTTPException):  # of the router
        what = {404: "there is nothing here", 405: "this cannot be done here"}
        message = f"{what.get(error.status_code, error.detail)}; /docs lists what there is"
        fault = Fault(error.status_code, message)
        fault.headers = dict(error.headers or {})
        return fault
    if isinstance(error, msgspec.ValidationError):
        return Fault(400, f"the request does not fit: {error}; /docs has its form")
    if isinstance(error, msgspec.DecodeError | RecursionError | UnicodeDecodeError):
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Fault(400, f"the request is no JSON: {why}")
    if isinstance(error, TimeoutError):
        return Fault(503, "this took too long; ask for less at once", "timeout", Retry_After="1")
    if isinstance(error, MemoryError):
        return Fault(503, "there is not enough memory; ask for less at once", Retry_After="5")
    return Fault(500, BUG)


def in_json(text: str, remedies: Iterable[Option]) -> str:
    """Write the options that a message names as fields of a request.

    Examples
    --------
    >>> in_json("leave it out: drop='id'", [Option("drop", "id")])
    'leave it out: "drop": "id"'
    """
    for each in remedies:
        value: Any = each.value
        if isinstance(value, Mapping):
            value = dict(value)
        written = "..." if value is ... else msgspec.json.encode(value, enc_hook=str).decode()
        text = text.replace(str(each), f'"{each.name}": {written}')
    return text
