"""Models that learn: opened from the store, kept up with it, told of events in groups.

Every process follows the log of each model by itself. Estimating a model anew takes longer than
counting an event, so it happens here, in a thread, and requests get the newest that is ready. What
several requests have to learn at the same time goes to the store together.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.live import Answered, LiveModel, LiveState
from tallybayes.service.faults import Fault, busy
from tallybayes.service.settings import Settings
from tallybayes.service.shelf import Shelf, Shelved
from tallybayes.store import Store, StoreError, open_store

STORE = "events.db"
OFTEN = 0.25  # seconds between two looks at what others have learnt
SOON = 0.02  # seconds in which events gather before the model is estimated anew
SELDOM = 60.0  # seconds between two rounds of tidying
TOGETHER = 2_000  # events of several requests that are appended as one
THREADS = 4
READ_ONLY = "it was started with --read-only"

Told = tuple[Sequence[dict[str, Any]], "asyncio.Future[list[Answered]]"]


class Follower:
    """What keeps the models of a process up with the store."""

    def __init__(self, settings: Settings, shelf: Shelf, log: Callable[..., None]) -> None:
        self.settings, self.shelf, self.log = settings, shelf, log
        self.store: Store | None = None
        self.fault: str | None = None
        self.threads = ThreadPoolExecutor(THREADS, "tallybayes-learning")
        self.news: set[asyncio.Event] = set()
        self._opening, self._following = RLock(), Lock()
        self._faults: dict[str, str] = {}  # of single models, by their logs
        self._told: dict[tuple[Shelved, str], deque[Told]] = {}
        self._wake = asyncio.Event()
        self._tidied = time.monotonic()
        self._task: asyncio.Task[None] | None = None
        shelf.opened = self.opened

    @property
    def address(self) -> str:
        """Where the store is."""
        return self.settings.store or os.fspath(Path(self.settings.folder) / STORE)

    @property
    def why_not(self) -> str | None:
        """Why nothing can be learnt now."""
        return READ_ONLY if self.settings.read_only else self.fault

    @property
    def reason(self) -> str | None:
        """Why nothing can be learnt, or what is wrong with a model."""
        return self.why_not or next(iter(self._faults.values()), None)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Note a fault of the store, and that it is gone."""
        try:
            yield
        except StoreError as error:
            self._noted(f"the store: {error}")
            raise
        except OSError as error:
            self._noted(f"the store: {error}")
            raise StoreError(str(error)) from error

    def _noted(self, fault: str | None) -> None:
        if fault != self.fault:
            self.log("store", fault=fault)
        self.fault = fault

    def open(self) -> Store | None:
        """Open the store if it is not; read-only, only if it is there."""
        with self._opening:
            if self.store is None:
                there = "://" in self.address or Path(self.address).exists()
                if self.settings.read_only and not there:
                    return None
                with self._noting():
                    self.store = open_store(self.address)
                self._noted(None)
            return self.store

    # ---- models

    def opened(self, shelved: Shelved) -> None:
        """Have a model learn that has learnt before; if that fails it is what its file says."""
        try:
            store = self.open()
            if store is not None and store.snapshot_positions(shelved.log):
                self._learning(store, shelved)
        except StoreError as error:
            self._noted(f"the store: {error}")
        except TallyBayesError as error:
            self._fault_of_model(shelved, error)

    def learner(self, shelved: Shelved) -> LiveModel:
        """Return a model that learns, from now on if it has not before."""
        if self.settings.read_only:
            raise Fault(403, f"nothing is learnt: {READ_ONLY}", "read_only")
        if shelved.live is None:
            store = self.open()
            assert store is not None
            with self._noting():
                self._learning(store, shelved)
        live = shelved.live
        assert live is not None
        return live

    def _learning(self, store: Store, shelved: Shelved) -> None:
        with self._opening:
            if shelved.live is None:
                live = LiveModel.open(store, shelved.log, shelved.seed, self.settings.live)
                shelved.state, shelved.live = _estimated(live), live

    def follow(self) -> bool:
        """Apply what was learnt anywhere; tell whether there was anything."""
        store, news = self.open(), False
        if store is None:
            return False
        # one at a time, so that a state never gives way to an older one
        with self._following, self._noting():
            logs = store.logs()
            for shelved in self.shelf.all_open():
                before = shelved.state
                try:
                    self._follow(store, shelved, logs.get(shelved.log))
                except StoreError:
                    raise
                except Exception as error:  # which takes no other model along
                    self._fault_of_model(shelved, error)
                news = news or shelved.state is not before
            if time.monotonic() - self._tidied > (SOON if self.fault else SELDOM):
                self._tidied = time.monotonic()
                self._faults.clear()  # those that last come again
                if not self.settings.read_only:
                    store.expire()
                    if self.fault:
                        store.probe()
                self._noted(None)
        return news

    def _follow(self, store: Store, shelved: Shelved, last: int | None) -> None:
        """Apply what was learnt of a model, whose log ends there if it has one."""
        if last is None and shelved.live is not None and shelved.log not in store.logs():
            shelved.live = shelved.state = None  # another deleted it
        if last is not None and shelved.live is None and shelved.log not in self._faults:
            self._learning(store, shelved)
        if (live := shelved.live) is not None:
            live.follow(last) if self.settings.read_only else live.catch_up(last)
            if live.state is not shelved.state:
                shelved.state = _estimated(live)

    def _fault_of_model(self, shelved: Shelved, error: Exception) -> None:
        """Note that a model cannot be kept up with its log; it scores as it is."""
        said = f"the model {shelved.name!r}: {error}"
        if self._faults.get(shelved.log) != said:
            self.log("follower", model=shelved.name, fault=said)
        self._faults[shelved.log] = said

    # ---- what runs beside the requests

    def start(self) -> None:
        """Begin to follow."""
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            start = time.monotonic()
            try:
                if await self.in_thread(self.follow):
                    for event in self.news:
                        event.set()
            except StoreError:
                pass  # which is noted
            except Exception as error:
                self.log("follower", fault=f"{type(error).__name__}: {error}")
            # a model that takes long to estimate leaves as much time to requests
            await asyncio.sleep(max(SOON, min(time.monotonic() - start, OFTEN)))
            try:
                async with asyncio.timeout(OFTEN):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()

    async def in_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        """Do something with the store in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, *given)

    async def tell(
        self, shelved: Shelved, what: str, events: Sequence[dict[str, Any]]
    ) -> list[Answered]:
        """Have a model learn, forget or label events, together with those of other requests."""
        key = shelved, what
        future: asyncio.Future[list[Answered]] = asyncio.get_running_loop().create_future()
        if key in self._told:
            if len(self._told[key]) >= self.settings.limits.requests:
                raise busy()
            self._told[key].append((events, future))
        else:
            self._told[key] = deque([(events, future)])
            task = asyncio.create_task(self._tell(shelved, what))
            task.add_done_callback(lambda _: self._wake.set())
        return await future

    async def _tell(self, shelved: Shelved, what: str) -> None:
        """Tell a model what waits, until nothing does."""
        waiting = self._told[shelved, what]
        while waiting:
            group: list[Told] = []
            n = 0
            while waiting and (not group or n + len(waiting[0][0]) <= TOGETHER):
                group.append(waiting.popleft())
                n += len(group[-1][0])
            try:
                every = [event for events, _ in group for event in events]
                answers = await self.in_thread(self._at_once, shelved, what, every)
            except Exception as error:
                for _, future in group:
                    if not future.done():
                        future.set_exception(error)
            else:
                rest = iter(answers)
                for events, future in group:
                    own = list(islice(rest, len(events)))
                    if not future.done():
                        future.set_result(own)
            self._wake.set()
        del self._told[shelved, what]

    def _at_once(self, shelved: Shelved, what: str, events: list[dict[str, Any]]) -> list[Answered]:
        live = self.learner(shelved)
        with self._noting():
            answers: list[Answered] = getattr(live, what)(events)
        self._noted(None)
        return answers

    async def hold(
        self, shelved: Shelved, records: dict[str, dict[str, Any]], seconds: float
    ) -> None:
        """Keep records whose labels come later."""

        def run() -> None:
            live = self.learner(shelved)
            with self._noting():
                live.hold(records, seconds)

        await self.in_thread(run)

    def forget_all(self, name: str, but: str = "") -> None:
        """Delete all that models of a name have learnt, but for one log."""
        store = self.open()
        if store is not None:
            with self._noting():
                for log in store.logs():
                    if log.rpartition("@")[0] == name and log != but:
                        store.remove(log)

    async def close(self) -> None:
        """Finish what was begun, write snapshots, and let go of the store."""
        if self._task is not None:
            self._task.cancel()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.threads.shutdown(wait=True)
        if self.store is None:
            return
        for shelved in self.shelf.all_open():
            if shelved.live is not None and not self.settings.read_only:
                try:
                    shelved.live.catch_up()
                    shelved.live.snapshot()
                except TallyBayesError as error:  # the log has it all
                    self.log("store", fault=str(error))
        self.store.close()


def _estimated(live: LiveModel) -> LiveState:
    """Return a model as it is now, with all that its first answer would wait for."""
    state = live.state
    if state.fitted.tally.classes:
        state.fitted.model.posterior_of({})
    return state
