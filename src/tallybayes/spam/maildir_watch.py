"""A watch over Maildirs, which learns from what users do with their mail.

A message in the folder Junk is spam. One that was there and is in another folder now is ham, and so
is one that was read and kept. What the filter had said of it stands in its header, so what it was
right about need not be learnt. Messages are known by their content, and that they were in Junk is
noted in the store: it does not matter who moves them, how, or whether the server runs meanwhile.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import NamedTuple

from watchfiles import Change, awatch

from tallybayes.spam.desk import Desk, log
from tallybayes.spam.mailboxes import files_in
from tallybayes.spam.messages import MOST_BYTES, Message
from tallybayes.spam.shared_filter import DAY, Only
from tallybayes.spam.token_table import HAM, SPAM
from tallybayes.store import StoreError

JUNK = {"junk", "spam", "junk e-mail", "bulk mail"}
LEFT_OUT = {"trash", "deleted items", "sent", "sent items", "drafts", "templates", "outbox"}
REMEMBERED = 90 * DAY  # seconds for which it is known that a message was in Junk
TOGETHER = 100  # messages that are learnt at once
AGAIN = 5.0  # seconds after which what failed is tried again, and new users are looked for
_SAID = re.compile(rb"(?im)^X-Tallybayes:[ \t]*(spam|ham|unsure)\b")


class Move(NamedTuple):
    """A message in a Maildir: whose it is, and whether it is junk, or was read."""

    path: Path
    user: str
    junk: bool
    seen: bool


class MaildirWatch:
    """What looks at Maildirs.

    Parameters
    ----------
    desk
        What learns.
    patterns
        Where the Maildirs are, with * for the names of users: /home/*/Maildir; two of them are a
        domain and a user.
    learn
        What of it is learnt: "errors", also what was "unsure", or "all".
    """

    def __init__(self, desk: Desk, patterns: Sequence[str], learn: Only = "unsure") -> None:
        self._desk, self._patterns, self._learn = desk, patterns, learn

    async def run(self, stop: asyncio.Event) -> None:
        """Look at all there is, and then at what changes, until it is time to stop."""
        while not stop.is_set():
            roots, waiting, began = self.roots(), set[Path](), False
            if not roots:
                await asyncio.sleep(1.0)
                continue
            until = time.monotonic() + AGAIN
            watched = awatch(*roots, stop_event=stop, rust_timeout=500, yield_on_timeout=True)
            async for changes in watched:
                waiting |= {Path(path) for what, path in changes if what != Change.deleted}
                again = time.monotonic() > until
                if not began:  # changes are noticed by now
                    began = again = True
                    waiting.update(file for root in roots for file in files_of(root))
                if changes or again:
                    waiting = await self._learnt(waiting, roots)
                if again:
                    until = time.monotonic() + AGAIN
                    if self.roots() != roots:
                        break

    def roots(self) -> dict[Path, str]:
        """Return the Maildirs that there are, and whose they are."""
        found = {}
        for pattern in self._patterns:
            form = re.compile(re.escape(pattern).replace(r"\*", "([^/]+)"))
            for path in glob(pattern):  # noqa: PTH207
                if (match := form.fullmatch(path)) and Path(path, "cur").is_dir():
                    names = [name.lower() for name in match.groups()]
                    user = "@".join(reversed(names[-2:]))
                    found[Path(path)] = user
        return found

    async def _learnt(self, files: Iterable[Path], roots: dict[Path, str]) -> set[Path]:
        """Learn of some files; return those that are to be tried again."""
        loop, failed = asyncio.get_running_loop(), set[Path]()
        by_user: dict[str, list[Move]] = {}
        for file in sorted(files):
            if move := move_of(file, roots):
                by_user.setdefault(move.user, []).append(move)
        for user, moves in by_user.items():
            for k in range(0, len(moves), TOGETHER):
                part = moves[k : k + TOGETHER]
                try:
                    await loop.run_in_executor(self._desk.threads, self.learn, user, part)
                except StoreError as error:
                    log("store", fault=str(error))
                    failed |= {move.path for move in part}
        return failed

    def learn(self, user: str, moves: Sequence[Move]) -> None:
        """Learn what some messages of a user tell."""
        mail, store = self._desk.filter_of(user), self._desk.store
        there = list[tuple[Move, bytes, Message]]()
        for move in moves:
            try:
                with move.path.open("rb") as file:
                    raw = file.read(MOST_BYTES)
            except OSError:  # it was moved again
                continue
            there.append((move, raw, Message(raw)))
        junk = {_key(message): b"junk" for move, _, message in there if move.junk}
        if junk:
            store.hold(mail.name, junk, time.time() + REMEMBERED)
        told = list[tuple[Message, str | None]]()
        for move, raw, message in there:
            moved = not move.junk and store.held(mail.name, _key(message)) is not None
            if not (move.junk or moved or move.seen):
                continue
            label, before = SPAM if move.junk else HAM, mail.label_of(message.digest)
            found = _SAID.search(raw[: raw.replace(b"\r\n", b"\n").find(b"\n\n")])
            said = found[1].decode().lower() if found else mail.classify(message).answer
            if label == HAM and said == SPAM and not moved:
                continue  # it lies where nobody sorts spam out
            wrong = said != label and (said != "unsure" or self._learn == "unsure")
            if before != label and (wrong or before is not None or self._learn == "all"):
                told.append((message, label))
        for outcome in mail.tell(told) if told else ():
            log("moved", outcome=outcome)


def move_of(file: Path, roots: dict[Path, str]) -> Move | None:
    """Return what the place of a file tells of a message, if it is one that tells something."""
    root = next((parent for parent in file.parents if parent in roots), None)
    if root is None or file.parent.name not in ("cur", "new") or file.name.startswith("."):
        return None
    folder = file.parent.parent.relative_to(root).as_posix().lower().strip(".")
    names = {*re.split(r"[./]", folder)}
    flags = file.name.rpartition(":2,")[2] if ":2," in file.name else ""
    if names & LEFT_OUT or "T" in flags or "D" in flags:
        return None
    return Move(file, roots[root], bool(names & JUNK), "S" in flags)


def _key(message: Message) -> str:
    return f"junk:{message.digest.hex()}"


def files_of(root: Path) -> Iterator[Path]:
    """Go through the messages of a Maildir and its folders."""
    yield from files_in(root)
    for folder in sorted(root.iterdir()):
        if (
            folder.is_dir()
            and folder.name not in ("cur", "new", "tmp")
            and (folder / "cur").is_dir()
        ):
            yield from files_in(folder)
