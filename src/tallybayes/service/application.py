"""The application: who may call it, how much is done at once, and how an endpoint is answered.

Whatever comes in passes here once: names and sites it may come from, the number of requests, the
role, the size and the time of the body. Whatever goes wrong goes out as a fault, and what was done
is counted and logged, without the data.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response
from starlette.routing import Route, Router

from tallybayes.rendering import plain
from tallybayes.service.faults import Fault, busy, fault_of
from tallybayes.service.follower import Follower
from tallybayes.service.gauges import Gauges
from tallybayes.service.settings import Role, Settings
from tallybayes.service.shelf import Shelf, Shelved

THREADS = 2  # for what takes longer than a few records
BIG = 1 << 16  # bytes of a body that a thread decodes
JSON = "application/json"
SAFE = [(b"x-content-type-options", b"nosniff")]
PREFLIGHT = {  # what a browser asks before a page of another site may call
    "access-control-allow-methods": "GET, POST, PUT, DELETE",
    "access-control-allow-headers": "authorization, content-type, inference-header-content-length",
    "access-control-max-age": "600",
}
SHOWN = b"x-request-id, retry-after, content-disposition, inference-header-content-length"
# as pages are that need no network; so they can neither load nor run what is in data
SAFE_PAGE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_encoder = msgspec.json.Encoder(enc_hook=plain)  # numbers of NumPy's, names that have titles
_heard: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("heard", default=None)


class Call:
    """A request on its way: what came, and what is asked of it."""

    def __init__(self, service: Application, scope: Any, number: str) -> None:
        self.service, self.scope, self.id = service, scope, number
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.endpoint: Endpoint | None = None
        self.bytes, self.arriving = 0, False
        self.sends = [*SAFE, (b"x-request-id", number.encode())]  # headers of any answer
        self.body: Any = b""
        self.query: Any = None
        self.model: Shelved

    def header(self, name: bytes) -> str | None:
        """Return a header as text."""
        found = self.headers.get(name)
        return None if found is None else found.decode("latin-1")

    @property
    def name(self) -> str:
        """The name of a model in the path."""
        name: str = self.scope["path_params"]["model"]
        return name


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """What can be asked for: a path, who may, what comes and goes, and the function that answers.

    A function that is no coroutine runs in a thread. A body is JSON of the type `request`, handed
    on as it came if `raw`, or any `bytes` of at most `upload` size; an answer is of the type
    `answer`, or of another media type, and takes no longer than the limit if `hasty`.
    """

    method: str
    path: str
    role: Role
    function: Callable[[Call], Any]
    request: Any = None
    answer: Any = None
    query: Any = None
    media: str = JSON
    raw: bool = False
    hasty: bool = True
    needs_model: bool = True
    changes: bool = False
    status: int = 200

    @property
    def route(self) -> Route:
        """How the router finds it."""
        route = Route(self.path, self, methods=[self.method])
        if route.methods is not None and self.method == "GET":
            route.methods.discard("HEAD")
        return route

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        call: Call = scope["call"]
        service, call.endpoint = call.service, self
        service.permit(call, self.role, self.changes)
        if self.query is not None:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            call.query = msgspec.convert(dict(pairs), self.query, strict=False)
        async with asyncio.timeout(service.settings.limits.seconds if self.hasty else None):
            if self.request is not None:
                call.body = await service.read(call, self, receive)
            if self.needs_model and "model" in scope["path_params"]:
                call.model = service.shelf.at_hand(call.name) or await service.in_thread(
                    service.shelf.open, call.name
                )
            if inspect.iscoroutinefunction(self.function):
                answer = await self.function(call)
            else:
                answer = await service.in_thread(self.function, call)
        if not isinstance(answer, Response):
            answer = Response(_encoder.encode(answer), self.status, media_type=JSON)
        await answer(scope, receive, send)


ENDPOINTS: list[Endpoint] = []


def at(
    method: str, *paths: str, role: Role = Role.score, **how: Any
) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    """Have a function answer what is asked for at some paths."""

    def decorate(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        ENDPOINTS.extend(Endpoint(method, path, role, function, **how) for path in paths)
        return function

    return decorate


class Application:
    """The service as an ASGI application; make it with `application`."""

    def __init__(self, settings: Settings, endpoints: Sequence[Endpoint]) -> None:
        self.settings, self.endpoints = settings, tuple(endpoints)
        self.shelf, self.gauges = Shelf(settings.folder), Gauges()
        self.follower = Follower(settings, self.shelf, self.log)
        self.router = Router([endpoint.route for endpoint in endpoints], redirect_slashes=False)
        self.decoders = {
            each: msgspec.json.Decoder(each)
            for each in {endpoint.request for endpoint in endpoints} - {None, bytes}
        }
        self.threads = ThreadPoolExecutor(THREADS, "tallybayes")
        self.running = self.waiting = self.bytes = 0
        self._ids = map(
            f"{os.getpid():x}-{time.time_ns() // 1_000_000_000:x}-{{:x}}".format, count()
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer whatever comes in, once."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._lifespan(receive, send)
            return
        start, status = time.perf_counter(), 0
        call = scope["call"] = Call(self, scope, next(self._ids))
        scope["app"] = self  # has the router raise what it does not find

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] += call.sends
            await send(message)

        self.running += 1
        try:
            elsewhere = self._admit(call)
            if elsewhere and scope["method"] == "OPTIONS":
                await Response(None, 204, PREFLIGHT)(scope, receive, sending)
            else:
                await self.router(scope, receive, sending)
        except Exception as error:
            if isinstance(error, TimeoutError) and call.arriving:
                error = Fault(408, "the body did not arrive in time", "timeout")
            fault = fault_of(error)
            if fault.status == 500:
                self.log("bug", id=call.id, trace=traceback.format_exc())
            if status:
                raise  # in the middle of an answer, which the server breaks off
            await fault.response()(scope, receive, sending)
        finally:
            self.running -= 1
            self.bytes -= call.bytes
            self._done(call, status, time.perf_counter() - start)

    def _admit(self, call: Call) -> bool:
        """Refuse what comes by another name or from another site, or while there is too much.

        Tell whether it comes from another site, whose pages may read the answer.
        """
        host, origin = call.header(b"host"), call.header(b"origin")
        if host is None or not self.settings.answers_to(host):
            shown = "nothing" if host is None else repr(host[:100])
            raise Fault(
                403,
                f"the service is not called {shown}; if it is, start it with --allow-host",
                "host",
            )
        own = origin is None or origin.partition("://")[2] == host
        if not own and origin not in self.settings.origins:
            raise Fault(403, f"pages of {str(origin)[:100]!r} may not call this service", "origin")
        if not own:
            call.sends += [
                (b"access-control-allow-origin", str(origin).encode("latin-1")),
                (b"access-control-expose-headers", SHOWN),
                (b"vary", b"origin"),
            ]
        if self.running > self.settings.limits.requests:
            raise busy()
        return not own

    def permit(self, call: Call, needed: Role, changes: bool) -> None:
        """Refuse whoever may not do this."""
        if changes and self.settings.read_only:
            raise Fault(403, "the service was started with --read-only", "read_only")
        if needed is Role.anyone:
            return
        scheme, _, token = (call.header(b"authorization") or "").partition(" ")
        role = self.settings.role_of(token.strip() if scheme.lower() == "bearer" else None)
        if role < needed:
            if role is Role.anyone:
                why = "this takes a token; send it as: Authorization: Bearer TOKEN"
                raise Fault(401, why, WWW_Authenticate="Bearer")
            raise Fault(403, f"this takes a token of the role {needed.name}, not {role.name}")

    async def read(self, call: Call, endpoint: Endpoint, receive: Any) -> Any:
        """Return the body of a request, decoded, if it is neither too large nor too slow."""
        limits = self.settings.limits
        most = limits.upload if endpoint.request is bytes else limits.body
        if call.header(b"content-encoding") not in (None, "identity"):
            raise Fault(415, "the body is compressed; send it as it is")
        parts, more, call.arriving = [], True, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Fault(400, "the client went away")
            part, more = message.get("body", b""), message.get("more_body", False)
            parts.append(part)
            call.bytes += len(part)
            self.bytes += len(part)
            if call.bytes > most:
                raise Fault(413, f"the body has more than {most:,} bytes; send parts of it")
            if self.bytes > limits.memory:
                raise busy()
        call.arriving = False
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        if endpoint.raw or endpoint.request is bytes:
            return body
        decode = self.decoders[endpoint.request].decode
        return await self.in_thread(decode, body) if len(body) > BIG else decode(body)

    async def in_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        """Do something that takes longer than a few records in a thread, unless too many wait."""
        if self.waiting >= self.settings.limits.waiting:
            raise busy()
        self.waiting += 1
        context = contextvars.copy_context()
        future = asyncio.get_running_loop().run_in_executor(self.threads, context.run, work, *given)
        future.add_done_callback(self._finished)
        return await asyncio.shield(future)  # what has begun holds its place until it is done

    def _finished(self, future: asyncio.Future[Any]) -> None:
        self.waiting -= 1
        if not future.cancelled():
            future.exception()  # of what nobody waits for any more

    def _done(self, call: Call, status: int, seconds: float) -> None:
        endpoint = call.endpoint
        path, method = ("other", "other") if endpoint is None else (endpoint.path, endpoint.method)
        self.gauges.answered(path, method, status, seconds)
        if self.settings.log == "all" or (self.settings.log == "errors" and status >= 400):
            more = (
                {"model": model}
                if (model := call.scope.get("path_params", {}).get("model"))
                else {}
            )
            more |= {"bytes": call.bytes} if call.bytes else {}
            took = round(seconds * 1000, 3)
            self.log(
                "request", id=call.id, method=method, endpoint=path, status=status, ms=took, **more
            )

    def log(self, event: str, **facts: Any) -> None:
        """Write a line of the log: an object of JSON, which never holds data."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        with suppress(OSError, AttributeError):
            sys.stderr.write(json.dumps({**line, **facts}) + "\n")

    async def _lifespan(self, receive: Any, send: Any) -> None:
        """Begin and end with the server."""
        await receive()
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _hear
        self.follower.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await asyncio.to_thread(self.threads.shutdown, wait=True, cancel_futures=True)
        await self.follower.close()
        await send({"type": "lifespan.shutdown.complete"})


def html(text: str) -> Response:
    """Return a page that a browser loads nothing for, and runs nothing of."""
    return Response(text, headers={"content-security-policy": SAFE_PAGE}, media_type="text/html")


def _hear(message: Warning | str, *_: Any, **__: Any) -> None:
    """Note a warning of the library for the request that it is about."""
    if (heard := _heard.get()) is not None and len(heard) < 100 and str(message) not in heard:
        heard.append(str(message))


@contextmanager
def hearing() -> Iterator[list[str]]:
    """Collect what the library warns of meanwhile, also in a thread."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def application(settings: Settings) -> Application:
    """Make the service of its settings.

    Parameters
    ----------
    settings
        Where its models are, who may do what, how much of it.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes.service import Settings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(application(Settings(folder)).endpoints) > 20
    True
    """
    from tallybayes.service import endpoints, learning  # noqa: F401  (which there are)

    return Application(settings, ENDPOINTS)
