"""Where results are written: a file that must not be there yet, or standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import click

from tallybayes.cli.command import Function, option
from tallybayes.cli.parameters import PLACE, STANDARD
from tallybayes.cli.session import Session
from tallybayes.errors import TallyBayesError

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
BINARY = ("parquet", "arrow")


def out_option(about: str, *, required: bool = False) -> Callable[[Function], Function]:
    """Add the file to write, and the leave to overwrite it."""

    def decorate(command: Function) -> Function:
        force = option("--force", "-f", is_flag=True, help="Overwrite the file if it exists.")
        out = option("--out", "-o", type=PLACE, metavar="FILE", required=required, help=about)
        return out(force(command))

    return decorate


def to_option(command: Function) -> Function:
    """Add the format of rows that are written."""
    return option(
        "--to",
        type=click.Choice(FORMATS),
        help="Format of the output, if the name of the file does not tell.  [default: csv]",
    )(command)


def check_free(
    out: str | None, force: bool, inputs: Iterable[str] = (), remedy: str = "name another file"
) -> None:
    """Refuse a file that must not or cannot be written, before any work is done.

    What is read is never overwritten, not even with leave; the remedy says what to do instead.
    """
    if out is None or out == STANDARD:
        return
    path = Path(out)
    if path.is_dir():
        raise TallyBayesError(f"{out!r} is a folder; name a file to write")
    if path.is_file():
        if any(_holds(each, path) for each in inputs):
            raise TallyBayesError(f"{out!r} is one of the files that are read; {remedy}")
        if not force:
            raise TallyBayesError(
                f"{out!r} exists; overwrite it with --force, or name another file"
            )
    folder = Path(os.path.realpath(path)).parent  # of what a link leads to
    if not folder.is_dir():
        raise TallyBayesError(f"there is no folder {str(path.parent)!r}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise TallyBayesError(
            f"nothing can be written into the folder {str(path.parent)!r}; change its permissions, "
            "or name a file elsewhere"
        )


def _holds(name: str, path: Path) -> bool:
    """Tell whether a file is what is read: itself, in a folder, or by a pattern."""
    if name == STANDARD or "://" in name:
        return False
    from tallybayes.sources.files.places import places

    with suppress(TallyBayesError, OSError):  # what is wrong with it is said when it is read
        return any(each.path and path.samefile(each.path) for each in places(name))
    return False


def standard_output(session: Session, *, binary: bool) -> IO[bytes]:
    """Return standard output for data; a terminal gets no binary data."""
    if sys.stdout is None:
        raise TallyBayesError("standard output is closed; name a file with -o")
    if binary and sys.stdout.isatty():
        raise click.UsageError("Binary data is not for a terminal; name a file with -o.")
    sys.stdout.flush()
    stream: Any = getattr(sys.stdout, "buffer", sys.stdout)
    if isinstance(stream, io.RawIOBase):  # python -u, where a write may end half-way
        return open(stream.fileno(), "wb", closefd=False)
    return stream  # type: ignore[no-any-return]


def is_binary(out: str, to: str | None) -> bool:
    """Tell whether rows are written in a format that is not text."""
    return (to or Path(out).suffix.lstrip(".").lower()) in BINARY
