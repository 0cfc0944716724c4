"""Running the service: a process, or several on one port of which dead ones are replaced.

Processes inherit one socket, so whoever is free takes the next connection; what waits there when a
process dies is taken by another. They share nothing else but the store and the folder of models.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from tallybayes.errors import Option, TallyBayesError
from tallybayes.service import gauges
from tallybayes.service.application import application
from tallybayes.service.faults import Fault, FaultAnswer
from tallybayes.service.learning import STREAM
from tallybayes.service.settings import Settings

HEADERS = 10.0  # seconds in which the first request of a connection begins
IDLE = 75.0  # seconds that a connection may rest between requests
UNREAD = 30.0  # seconds that a client may leave an answer unread
GRACE = 30  # seconds in which requests are finished when the service stops
BACKLOG = 1024
HUNG = 30  # seconds in which a worker says that it is there, also while it starts
LOOK = 1.0  # seconds between two looks at whether the first process is there


class Connection(HttpToolsProtocol):
    """A connection that can neither rest for ever, nor be one too many."""

    most: int  # of a process, by its limits
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        self._await(HEADERS)
        if len(self.connections) > self.most:
            self._refuse(Fault(429, "too many connections; try again in a second"))

    def _await(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def on_headers_complete(self) -> None:
        """Stop to wait: the application has its own time for the body."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, which begins behind what is left of this one."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._await(IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was waited for."""
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End with the service, also in the middle of a stream, which has no end."""
        super().shutdown()
        scope: Any = {} if self.cycle is None else self.cycle.scope
        if "call" in scope and getattr(scope["call"].endpoint, "media", "") == STREAM:
            self.transport.close()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop to wait: the client reads."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(Fault(400, msg))

    def _refuse(self, fault: Fault) -> None:
        body = msgspec.json.encode(FaultAnswer(str(fault), fault.code))
        head = f"HTTP/1.1 {fault.status} Refused\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


class _Server(uvicorn.Server):
    """A server that ends in order when it is told to, as a success."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit, self.should_exit = self.should_exit, True


class _Line(logging.Formatter):
    """A line of the log, as the application writes them."""

    def format(self, record: logging.LogRecord) -> str:
        facts = {"event": "server", "level": record.levelname.lower(), "says": record.getMessage()}
        if record.exc_info:
            facts["trace"] = self.formatException(record.exc_info)
        return json.dumps(facts)


def _made(settings: Settings, first: int) -> Any:
    """Make the application, in the process that was started first or in one of its workers."""
    Connection.most = settings.limits.connections
    if os.getpid() != first:
        threading.Thread(target=_end_with, args=(first,), daemon=True).start()
    logger, handler = logging.getLogger("uvicorn.error"), logging.StreamHandler()
    handler.setFormatter(_Line())
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.WARNING)
    return application(settings)


def _end_with(first: int) -> None:
    """End this worker when the process that would replace it is gone, so that the port is free."""
    while os.getppid() == first:
        time.sleep(LOOK)
    os.kill(os.getpid(), signal.SIGTERM)


def serve(settings: Settings, ready: Callable[[str], None] = print) -> None:
    """Run the service until it is told to stop.

    Parameters
    ----------
    settings
        Where it listens, and all else.
    ready
        Is told the address once connections are taken.
    """
    with listening(settings) as listener:
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            partial(_made, settings, os.getpid()),
            factory=True,
            http=Connection,
            ws="none",
            lifespan="on",
            workers=settings.workers,
            timeout_keep_alive=int(IDLE),
            timeout_graceful_shutdown=GRACE,
            timeout_worker_healthcheck=HUNG,
            access_log=False,
            proxy_headers=False,
            log_config=None,
            server_header=False,
            backlog=BACKLOG,
        )
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        ready(f"http://{host}:{port}")
        if settings.workers == 1:
            _Server(config).run([listener])
            return
        with gauges.share():
            Multiprocess(config, [listener]).run()


def listening(settings: Settings) -> socket.socket:
    """Return a socket that connections arrive at, or say why there can be none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server(
            (settings.host, settings.port), family=family, backlog=BACKLOG, dualstack_ipv6=False
        )
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise TallyBayesError(
            f"{settings.host}:{settings.port} cannot be listened at ({why.lower()}); choose "
            f"another port: {Option('port')}",
            remedy=Option("port"),
        ) from None
