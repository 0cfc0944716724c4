"""Where messages are: files, mboxes, Maildirs, folders of files, and standard input."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from tallybayes.errors import TallyBayesError
from tallybayes.spam.messages import MOST_BYTES

STANDARD = "-"
LONGEST_LINE = 1 << 16  # bytes that are read at once of a line without end

# the line before each message of an mbox: who sent it, and when it came
_ENVELOPE = re.compile(rb"From (?:[^\n]*\d\d:\d\d[^\n]*\d{4}|\S+@\S+|MAILER-DAEMON|-)[^\n]*\n?\Z")
_HEADER = re.compile(rb">?[!-9;-~]+[ \t]*:|From |>From ")
_QUOTED = re.compile(rb">+From ")
_NO_MAIL = re.compile(
    r"(?i)\.|dovecot|maildirfolder|maildirsize|courier|subscriptions|uidvalidity|cmds\Z"
)


class FoundMail(NamedTuple):
    """A message, and where it was: a path, and in an mbox its number after a #."""

    name: str
    raw: bytes


def messages_in(paths: Iterable[str | os.PathLike[str]]) -> Iterator[FoundMail]:
    r"""Go through all messages of some places, in order; only the first part of long ones is kept.

    Parameters
    ----------
    paths
        Files with a message or an mbox each, Maildirs, folders of such files, or "-".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1").write_text("Subject: one\n\nHi")
    ...     _ = Path(folder, "2").write_text("From a@b  Jan 1 10:00:00 2024\nSubject: two\n")
    ...     [(Path(found.name).name, found.raw) for found in messages_in([folder])]
    [('1', b'Subject: one\n\nHi'), ('2', b'Subject: two\n')]
    """
    for path in paths:
        if os.fspath(path) == STANDARD:
            yield from _messages("standard input", sys.stdin.buffer)
            continue
        for file in files_in(path):
            try:
                with file.open("rb") as stream:
                    yield from _messages(str(file), stream)
            except OSError as error:
                if isinstance(error, FileNotFoundError) and file != Path(path):
                    continue  # a mailbox changes while it is read
                raise TallyBayesError(f"cannot read {file}: {error.strerror or error}") from error


def files_in(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Go through the files of a place in the order of their names: those that can be mail.

    Of a Maildir they are in cur and new, and its folders are Maildirs of their own; of another
    folder all that are not hidden, those in its folders too.
    """
    place = Path(path)
    try:
        if not stat.S_ISDIR(place.stat().st_mode):
            yield place
            return
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise TallyBayesError(f"cannot read {place}: {why}; check the path") from error
    names = {entry.name for entry in entries}
    maildir = {"cur", "new"} <= names
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name in ("cur", "new") if maildir else not entry.name.startswith("."):
                yield from files_in(entry.path)
        elif not maildir and not _NO_MAIL.match(entry.name) and entry.is_file():
            yield Path(entry.path)


def _messages(name: str, stream: IO[bytes]) -> Iterator[FoundMail]:
    """Go through the messages of a file: one, or those of an mbox."""
    first = stream.readline(LONGEST_LINE)
    if not _ENVELOPE.match(first):
        yield FoundMail(name, first + stream.read(max(0, MOST_BYTES - len(first))))
        return
    kept: list[bytes] = []
    number, size, blank, waiting, more = 1, 0, False, b"", False

    def whole() -> FoundMail:
        return FoundMail(name if number == 1 and not more else f"{name}#{number}", b"".join(kept))

    while line := stream.readline(LONGEST_LINE):
        if waiting:
            if _HEADER.match(line):  # it is the beginning of the next one
                more = True
                yield whole()
                number, kept, size = number + 1, [], 0
            else:
                size += len(waiting)
                kept.append(waiting)
            waiting = b""
        if blank and _ENVELOPE.match(line):
            waiting, blank = line, False
            continue
        blank = not line.strip()
        if size < MOST_BYTES:
            kept.append(line[1:] if _QUOTED.match(line) else line)
            size += len(line)
    if waiting:
        kept.append(waiting)
    yield whole()
