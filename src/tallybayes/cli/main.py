"""The command `tallybayes`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

from tallybayes import __version__
from tallybayes.cli.command import SETTINGS
from tallybayes.cli.failures import abandon_output, code_of
from tallybayes.cli.group import LazyGroup
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

NAME = "tallybayes"
COMPLETE = "_TALLYBAYES_COMPLETE"


@click.group(cls=LazyGroup, context_settings=SETTINGS)
@click.version_option(__version__, message="%(prog)s %(version)s")
@output_options
def tallybayes() -> None:
    """Naive Bayes that is exact, fast and shows its working.

    A model is a file that ends in .tally. Data are CSV, Parquet, Arrow or JSON lines: files,
    folders, patterns such as 'logs/*.csv', or - for standard input. Results go to standard output,
    messages to standard error.
    """


def main(args: Sequence[str] | None = None, group: click.Group = tallybayes) -> int:
    """Run a command and return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if COMPLETE in os.environ:  # a shell asks how a word goes on
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, NAME, COMPLETE, os.environ[COMPLETE])
    session = Session()
    try:
        with session.hearing_warnings(), _orderly():
            return _run(group, given, session)
    except (Exception, KeyboardInterrupt) as error:
        session.json = session.json or (isinstance(error, click.UsageError) and "--json" in given)
        return code_of(error, session)


def _run(group: click.Group, args: list[str], session: Session) -> int:
    """Run a command; all it printed has arrived when this returns."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = 0
    try:
        with group.make_context(NAME, args, obj=session) as context:
            group.invoke(context)
    except click.exceptions.Exit as done:
        code = done.exit_code
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            abandon_output()
            raise
    return code


@contextmanager
def _orderly() -> Iterator[None]:
    """When the system asks to end, end as after an error: temporary files are removed."""
    try:
        before = signal.signal(signal.SIGTERM, _stop)
    except ValueError:  # not in the main thread, which alone hears signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise what ends the program."""
    sys.exit(128 + number)
