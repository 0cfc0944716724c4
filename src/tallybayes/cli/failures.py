"""What became of a command that failed: an exit code, and a sentence with a remedy.

0 all went well; 1 the data or the wish was at fault; 2 the command line was; 130 Ctrl-C; 141 nobody
reads the output any more.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

import click

from tallybayes.cli.flags import in_flags
from tallybayes.cli.session import Session

FAULT, USAGE, INTERRUPTED, CLOSED = 1, 2, 130, 141


def code_of(error: BaseException, session: Session) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        abandon_output()
        return CLOSED
    if session.debug and not isinstance(error, click.exceptions.NoArgsIsHelpError):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        session.complain(_interrupted(session))
        return INTERRUPTED
    if isinstance(error, click.UsageError):
        _show_usage(error, session)
        return USAGE
    session.complain(sentence_of(error))
    return FAULT


def sentence_of(error: BaseException) -> str:
    """Return what went wrong, in one line."""
    from tallybayes.errors import TallyBayesError

    if isinstance(error, TallyBayesError):
        text = in_flags(str(error), error.remedies)
    elif isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, MemoryError):
        text = "there is not enough memory; use fewer columns (--only, --drop) or smaller files"
    elif isinstance(error, OSError):
        text = _of_the_system(error)
    else:
        text = (
            f"this is a bug in tallybayes ({type(error).__name__}: {error}); run the command again "
            "with --debug and report what it prints"
        )
    return " ".join(text.split())


def _of_the_system(error: OSError) -> str:
    """Say what the operating system refused."""
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)!r}: "
    why = (error.strerror or str(error) or type(error).__name__).lower()
    remedies = {
        errno.ENOENT: "; check how the name is written, and the current folder",
        errno.EACCES: "; you need the right to read or write it",
        errno.ENOSPC: "; make room, or write elsewhere",
        errno.EISDIR: "; name a file in it",
    }
    return f"{where}{why}{remedies.get(error.errno or 0, '')}"


def _interrupted(session: Session) -> str:
    """Say that the user stopped the command, and what is left of it."""
    if session.written:
        return f"interrupted; already written: {', '.join(session.written)}"
    return "interrupted; no file was left half-written"


def _show_usage(error: click.UsageError, session: Session) -> None:
    """Show how the command is used, and what was wrong."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    remedy = ""
    if error.ctx is not None and not session.json:
        with suppress(OSError):
            click.echo(error.ctx.get_usage(), err=True)
        remedy = f" Try '{error.ctx.command_path} --help'."
    session.complain(f"{sentence_of(error)}{remedy}")


def abandon_output() -> None:
    """Let what is still to be written go nowhere, so that the interpreter ends in silence."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
