"""Files that commands read and write: models, rows, standard input and output.

What is written must not be there yet, or --force says so; what is read is never overwritten.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from tallybayes.cli.console import Session, printable
from tallybayes.errors import TallyBayesError

if TYPE_CHECKING:
    from tallybayes.modelfile import Stored
    from tallybayes.rendering import Renderable

STANDARD = "-"


def load_model(name: str, data: Sequence[str] = ()) -> Stored:
    """Read the model to use, from a file or from standard input, which is then not data too."""
    stored = read_model(name, data)
    if not stored.fitted.tally.classes:
        where = "standard input" if name == STANDARD else name
        raise TallyBayesError(
            f"{where}: everything was forgotten that the model had learned, so it says nothing; "
            "update it with some rows first"
        )
    return stored


def read_model(name: str, others: Sequence[str] = ()) -> Stored:
    """Read a model, even if it has learned nothing; nobody else reads standard input then."""
    from tallybayes.modelfile import load

    if name != STANDARD:
        return load(name)
    if STANDARD in others:
        raise click.UsageError("Standard input can be read only once; name a file beside it.")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise TallyBayesError("there is no standard input to read; give the name of a file")
    if stream.isatty():
        raise click.UsageError("A model cannot be typed; name its file, or pipe one in.")
    return load(stream, "standard input")


def is_model(name: str) -> bool:
    """Tell whether a file, or what comes from standard input, is meant to be a model."""
    from tallybayes.modelfile import is_model_file
    from tallybayes.tallies.container import BEGINNING, version_of

    if name != STANDARD:
        return name.endswith(".tally") or is_model_file(name)
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and version_of("model file", peek(BEGINNING)) is not None


def refuse_standard(name: str) -> None:
    """Refuse to change a model in a pipe, which cannot be written back."""
    if name == STANDARD:
        raise click.UsageError("A model from standard input cannot be changed; name its file.")


def save_model(session: Session, out: str, stored: Stored) -> None:
    """Write a model to a file, or to standard output."""
    from tallybayes.modelfile import dump_bytes, save

    if out == STANDARD:
        stream = standard_output(session, binary=True)
        stream.write(dump_bytes(stored))
        stream.flush()
    else:
        save(out, stored)


def check_free(
    session: Session,
    out: str | None,
    force: bool,
    inputs: Iterable[str] = (),
    remedy: str = "name another file",
    binary: bool = True,
) -> None:
    """Refuse a file that must not or cannot be written, before any work is done.

    What is read is never overwritten, not even with leave; the remedy says what to do instead.
    """
    if out == STANDARD:
        standard_output(session, binary=binary)
    if out is None or out == STANDARD:
        return
    path = Path(out)
    if path.is_file():
        if any(_holds(each, path) for each in inputs):
            raise TallyBayesError(f"{out!r} is one of the files that are read; {remedy}")
        if not force:
            raise TallyBayesError(
                f"{out!r} exists; overwrite it with --force, or name another file"
            )
    from tallybayes.sources.atomic_file import replacing

    with suppress(_NotYetError), replacing(out):  # a folder that cannot be written says so
        raise _NotYetError


class _NotYetError(Exception):
    """A file can be written, and will be once there is something to write."""


def _holds(name: str, path: Path) -> bool:
    """Tell whether a file is what is read: itself, in a folder, or by a pattern."""
    if name == STANDARD or "://" in name:
        return False
    from tallybayes.sources.files import find_files

    with suppress(TallyBayesError, OSError):  # what is wrong with it is said when it is read
        return any(each.path and path.samefile(each.path) for each in find_files(name))
    return False


class _Terminal(io.RawIOBase):
    """A terminal that shows bytes of text, and takes none of them for a command."""

    def write(self, data: Any) -> int:
        """Show some whole lines."""
        sys.stdout.write(printable(bytes(data).decode("utf-8", "replace")))
        return len(data)


def standard_output(session: Session, *, binary: bool) -> IO[bytes]:
    """Return standard output for data; a terminal gets no binary data."""
    if session.form is not None:
        how = "--json" if session.json else f"--as {session.form}"
        raise click.UsageError(f"With {how}, standard output is taken; name a file with -o.")
    if sys.stdout is None:
        raise TallyBayesError("standard output is closed; name a file with -o")
    if binary and sys.stdout.isatty():
        raise click.UsageError("Binary data is not for a terminal; name a file with -o.")
    sys.stdout.flush()
    stream: Any = getattr(sys.stdout, "buffer", sys.stdout)
    if isinstance(stream, io.RawIOBase):  # python -u, where a write may end half-way
        return open(stream.fileno(), "wb", closefd=False)
    return _Terminal() if sys.stdout.isatty() else stream  # type: ignore[return-value]


def deliver_rows(
    session: Session,
    name: str,
    out: str | None,
    to: str | None,
    write: Callable[[str | IO[bytes], str | None], Renderable],
) -> None:
    """Write rows to a file or to standard output; in another form they are collected, and shown.

    `write` writes them in a format, and returns what there is to say about them.
    """
    if out is not None and out != STANDARD:
        session.report(write(out, to), f"Saved as {out}.", out=out)
    elif session.form is None:
        from tallybayes.sources.row_writers import format_for

        stream = standard_output(session, binary=format_for(None, to).binary)
        session.say(str(write(stream, to)))
    elif to is not None:
        raise click.UsageError(f"Rows are shown as {session.form}; leave out --to {to}, or use -o.")
    else:
        from tallybayes.rendering import Document, Table

        lines = io.BytesIO()
        found = write(lines, "jsonl")
        rows = [json.loads(line) for line in lines.getvalue().splitlines()]
        columns = [(column, "label") for column in rows[0]] if rows else []
        table = Table.of("", columns, [row.values() for row in rows])
        shown = Document((table if rows else "There are no rows.",), {name: rows})
        session.show(shown, **found.to_dict(), out=None)
