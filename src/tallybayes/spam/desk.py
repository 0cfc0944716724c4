"""What the doors of a mail server have in common: they hand in messages and get fields, or advice.

Judging takes milliseconds and happens in threads. What goes wrong with it never keeps mail: the
message passes without fields, or is deferred, as was chosen.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from tallybayes.spam.features import features
from tallybayes.spam.messages import Message
from tallybayes.spam.passing import fields_of
from tallybayes.spam.shared_filter import SharedFilter, users_of
from tallybayes.spam.token_table import Own
from tallybayes.spam.verdict import Cutoffs, Verdict
from tallybayes.store import Store

OnFault = Literal["pass", "defer"]
THREADS = 4
PATIENCE = 120.0  # seconds in which a message has its turn and is judged; servers wait for 300
MOST_USERS = 100  # whose own mail is in memory


class Desk:
    """Where messages are judged, by the site's filter and the users' own.

    Parameters
    ----------
    store, name
        Where the filter is.
    site
        The filter.
    share
        What a message that a user taught counts beside one of the site's; 0: users have nothing of
        their own.
    on_fault
        What becomes of a message that cannot be judged.
    cutoffs
        Other ones than the filter's.
    """

    def __init__(
        self,
        store: Store,
        site: SharedFilter,
        share: float = 0.0,
        on_fault: OnFault = "pass",
        cutoffs: Cutoffs | None = None,
    ) -> None:
        self.store, self.site, self.share = store, site, share
        self.on_fault, self.cutoffs = on_fault, cutoffs
        self.threads = ThreadPoolExecutor(THREADS, "tallybayes-mail")
        self.known: set[str] = set()
        self._filters: OrderedDict[str, SharedFilter] = OrderedDict()
        self._own: dict[str, tuple[tuple[int, int], Own]] = {}
        self.follow()

    async def fields(self, raw: bytes, recipients: Sequence[str]) -> list[str] | None:
        """Return the fields for a message: none if it cannot be judged; None to defer it."""
        start = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                loop = asyncio.get_running_loop()
                verdict = await loop.run_in_executor(self.threads, self.judge, raw, recipients)
            fields = fields_of(verdict)
        except Exception as error:
            log("fault", what=type(error).__name__, trace=_places(error), then=self.on_fault)
            return None if self.on_fault == "defer" else []
        log(
            "mail",
            answer=verdict.answer,
            bytes=len(raw),
            ms=round(1e3 * (time.perf_counter() - start), 1),
        )
        return fields

    def judge(self, raw: bytes, recipients: Sequence[str] = ()) -> Verdict:
        """Judge a message for its recipients: by what one of them taught, if it is one."""
        columns = features(Message(raw))
        user = self.user_of(recipients[0]) if self.share and len(recipients) == 1 else None
        own = None if user is None else self._own_of(user)
        return self.site.judge(columns, self.cutoffs, own)

    # ---- users

    def user_of(self, address: str) -> str | None:
        """Return the user with an address, by the whole or by what stands before the @."""
        local, _, domain = address.lower().rpartition("@")
        local = (local or domain).partition("+")[0]
        return next((name for name in (f"{local}@{domain}", local) if name in self.known), None)

    def filter_of(self, user: str | None) -> SharedFilter:
        """Return what learns from a user: the site's filter, or one of their own."""
        if user is None or not self.share:
            return self.site
        found = self._filters.get(user)
        if found is None:
            found = SharedFilter.open(self.store, f"{self.site.name}/{user}")
            self.known.add(user)
            self._filters[user] = found
            while len(self._filters) > MOST_USERS:
                self._own.pop(self._filters.popitem(last=False)[0], None)
        self._filters.move_to_end(user)
        return found

    def _own_of(self, user: str) -> Own:
        mine = self.filter_of(user)
        at = self.site.position, mine.position
        known = self._own.get(user)
        if known is None or known[0] != at:
            known = self._own[user] = at, self.site.owned(mine, self.share)
        return known[1]

    # ---- following

    def follow(self) -> None:
        """Keep up with what other processes learnt, and do what is due."""
        self.site.tidy()
        if self.share:
            self.known = set(users_of(self.store, self.site.name))
            for user, mine in list(self._filters.items()):
                if user in self.known:
                    mine.tidy()
                else:  # who was removed
                    self._filters.pop(user, None)
                    self._own.pop(user, None)


def _places(error: BaseException) -> list[str]:
    """Return where an error came from, without what it says, which may hold data."""
    return [f"{at.name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)[-5:]]


def log(event: str, **facts: Any) -> None:
    """Write a line of the log: an object of JSON, which never holds anything of a message."""
    line = {"time": round(time.time(), 3), "event": event, **facts}
    print(json.dumps(line), file=sys.stderr, flush=True)
