"""`tallybayes spam serve`: the doors through which mail is judged, and learning beside them."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallybayes.errors import TallyBayesError
from tallybayes.spam.desk import Desk, OnFault, log
from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.milter import MilterSession
from tallybayes.spam.proxy import ProxySession
from tallybayes.spam.shared_filter import Only, SharedFilter, SharedOptions
from tallybayes.spam.verdict import Cutoffs
from tallybayes.store import StoreError, open_store

if TYPE_CHECKING:
    from tallybayes.spam.maildir_watch import MaildirWatch

NAME = "mail"  # of the site's log
OFTEN = 1.0  # seconds between two looks at what others have learnt
GRACE = 20.0  # seconds in which messages are finished when the server stops
BACKLOG = 256

Serving = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MailSettings:
    """What the server is told when it starts.

    Parameters
    ----------
    store
        Where the filter is: a file, or the address of a PostgreSQL.
    model
        The filter to begin with, where the store is new.
    milter, smtp, lmtp
        Where to listen: HOST:PORT or unix:PATH.
    forward
        Where mail that came by SMTP or LMTP goes, by the same protocol.
    watch
        The Maildirs of users, with * for their names: /home/*/Maildir.
    learn
        What is learnt of the mail that users move: all of it, what the filter was wrong about
        ("errors"), or that and what it was unsure of.
    share
        What a message counts for the user who moved it, beside one of the site's; 0: all users
        teach the site.
    on_fault
        What becomes of mail that cannot be judged.
    cutoffs
        Other ones than the filter's.
    connections
        How many are served at once, at each door; more of them wait.
    longest
        The bytes that a message by SMTP or LMTP may have.
    keep
        How the filter is kept.
    """

    store: str
    model: str | None = None
    milter: str | None = None
    smtp: str | None = None
    lmtp: str | None = None
    forward: str | None = None
    watch: tuple[str, ...] = ()
    learn: Only = "unsure"
    share: float = 0.0
    on_fault: OnFault = "pass"
    cutoffs: Cutoffs | None = None
    connections: int = 100
    longest: int = 100_000_000
    keep: SharedOptions = field(default_factory=SharedOptions)

    def __post_init__(self) -> None:
        if not (self.milter or self.smtp or self.lmtp or self.watch):
            raise TallyBayesError(
                "the server has nothing to do; say where to listen (milter, smtp, lmtp), or which "
                "Maildirs to watch"
            )
        if (self.smtp or self.lmtp) and not self.forward:
            raise TallyBayesError(
                "mail that comes by SMTP or LMTP has to go on; say where with forward"
            )
        for place in (self.milter, self.smtp, self.lmtp, self.forward):
            if place and (place == self.forward or not place.startswith("unix:")):
                address(place)


def serve(settings: MailSettings, ready: Callable[[str], None] = print) -> None:
    """Run the server until it is told to stop.

    Parameters
    ----------
    settings
        What it does.
    ready
        Is told where it listens once it does.
    """
    with open_store(settings.store) as store:
        seed = None if settings.model is None else MailFilter.open(settings.model)
        site = SharedFilter.open(store, NAME, seed, settings.keep)
        del seed
        desk = Desk(store, site, settings.share, settings.on_fault, settings.cutoffs)
        asyncio.run(_Server(settings, desk).run(ready))
        with suppress(StoreError):  # the log has it all
            site.snapshot()


class _Server:
    """What runs: doors, the watch over Maildirs, and what keeps the filter up."""

    def __init__(self, settings: MailSettings, desk: Desk) -> None:
        self.settings, self.desk = settings, desk
        self._sessions: dict[asyncio.Task[Any], MilterSession | ProxySession] = {}
        self._refitting: Any = None

    async def run(self, ready: Callable[[str], None]) -> None:
        """Serve until a signal comes, then finish what was begun."""
        stop = asyncio.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        doors = []
        tasks = [asyncio.create_task(self._follow())]
        try:
            for kind, place in self._doors():
                doors.append(await listening(place, self._session(kind)))
                for socket in doors[-1].sockets:
                    name = socket.getsockname()
                    shown = name if isinstance(name, str) else f"{name[0]}:{name[1]}"
                    ready(f"{kind} at {shown}")
            if self.settings.watch:
                watch = _watch()(self.desk, self.settings.watch, self.settings.learn)
                tasks.append(asyncio.create_task(watch.run(stop)))
                ready(f"watching {', '.join(self.settings.watch)}")
            await stop.wait()
        finally:
            for door in doors:
                door.close()
            until = time.monotonic() + GRACE
            while time.monotonic() < until and any(s.busy for s in self._sessions.values()):
                await asyncio.sleep(0.02)
            for task in [*tasks, *self._sessions]:
                task.cancel()
            await asyncio.gather(*tasks, *self._sessions, return_exceptions=True)
            if self._refitting is not None:
                self._refitting[1].terminate()
            self.desk.threads.shutdown(wait=True)
            log("stopped")

    def _doors(self) -> list[tuple[str, str]]:
        of = self.settings
        doors = (("milter", of.milter), ("smtp", of.smtp), ("lmtp", of.lmtp))
        return [(kind, place) for kind, place in doors if place]

    def _session(self, kind: str) -> Serving:
        """Return what serves a connection of a kind."""
        turns, forward = asyncio.Semaphore(self.settings.connections), self.settings.forward or ""

        def made(*streams: Any) -> MilterSession | ProxySession:
            if kind == "milter":
                return MilterSession(self.desk, *streams)
            reader, writer = streams
            return ProxySession(
                self.desk, reader, writer, address(forward), self.settings.longest, kind == "lmtp"
            )

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            session = made(reader, writer)
            self._sessions[task] = session
            try:
                async with turns:
                    await session.run()
            except (EOFError, OSError, TimeoutError):
                pass  # the other side is gone, or rests for too long
            except Exception as error:  # whatever came was not what is spoken here
                log("protocol", door=kind, fault=type(error).__name__)
            finally:
                del self._sessions[task]
                writer.close()

        return run

    async def _follow(self) -> None:
        """Keep up with the store, and have weights fitted when it is time."""
        loop, fault = asyncio.get_running_loop(), None
        while True:
            try:
                await loop.run_in_executor(self.desk.threads, self.desk.follow)
                self._refit()
                now = None
            except Exception as error:
                now = (
                    f"{type(error).__name__}: {error}"
                    if isinstance(error, StoreError)
                    else (type(error).__name__)
                )
            if now != fault:
                log("store", fault=now)
            fault = now
            await asyncio.sleep(OFTEN)

    def _refit(self) -> None:
        """Begin to fit weights in a process beside, if it is time and none is at it."""
        due = self.desk.site.refit_due
        if self._refitting is not None and self._refitting[1].is_alive():
            return
        if due and (self._refitting is None or self._refitting[0] != due):
            context = multiprocessing.get_context("spawn")
            given = self.settings.store, self.settings.keep, due
            process = context.Process(target=refit, args=given, daemon=True)
            process.start()
            self._refitting = due, process


def _watch() -> type[MaildirWatch]:
    """Return what watches, or say what it needs."""
    try:
        from tallybayes.spam.maildir_watch import MaildirWatch
    except ModuleNotFoundError as error:
        raise TallyBayesError(
            f"watching Maildirs needs {error.name}, which is not here: pip install "
            "'tallybayes[mail]'"
        ) from None
    return MaildirWatch


def refit(address: str, options: SharedOptions, due: int) -> None:
    """Fit the weights of a filter in a process of its own."""
    with suppress(OSError):
        os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open_store(address) as store:
        adopted = SharedFilter.open(store, NAME, None, options).refit(due)
    log("weights", number=due, adopted=adopted)


async def listening(place: str, session: Serving) -> asyncio.Server:
    """Listen at HOST:PORT or unix:PATH."""
    try:
        if place.startswith("unix:"):
            path = place.removeprefix("unix:")
            server = await asyncio.start_unix_server(session, path, backlog=BACKLOG)
            Path(path).chmod(0o666)  # the folder says who may
            return server
        host, port = address(place)
        return await asyncio.start_server(session, host, port, backlog=BACKLOG)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise TallyBayesError(
            f"{place} cannot be listened at ({why}); choose another place"
        ) from None


def address(place: str) -> tuple[str, int]:
    """Return the host and port of HOST:PORT."""
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise TallyBayesError(f"{place!r} is no place; say HOST:PORT or unix:PATH")
    return host.strip("[]") or "127.0.0.1", int(port)
