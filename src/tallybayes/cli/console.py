"""One run of a command: its streams, the form of its result, its warnings, errors, exit code.

Results go to standard output, everything else to standard error. With --json, standard output gets
one object (the warnings are in it), and standard error nothing, or one object with the error.
Exit codes: 0 all went well; 1 the data or the wish was at fault; 2 the command line was; 130
Ctrl-C; 141 nobody reads the output any more.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from tallybayes.kernels.progress import Listener, listening

if TYPE_CHECKING:
    from tallybayes.errors import Option
    from tallybayes.rendering import Renderable
    from tallybayes.sources.formats import ReadOptions
    from tallybayes.workflows.outcomes import Outcome

FORMS = ("text", "markdown", "latex", "html", "json")
FAULT, USAGE, INTERRUPTED, CLOSED = 1, 2, 130, 141
NUMBERS = r"[\d.,]+| \(and in .* more folds\)"
PATIENCE = 0.5  # seconds of work before a bar is shown
REMEDIES = {
    errno.ENOENT: "; check how the name is written, and the current folder",
    errno.EACCES: "; you need the right to read or write it",
    errno.ENOSPC: "; make room, or write elsewhere",
    errno.EISDIR: "; name a file in it",
}


def printable(text: str, escaped: bool = False) -> str:
    r"""Return text in which nothing is left that a terminal takes for a command.

    Examples
    --------
    >>> printable("a\x1b[41m\x9b"), printable('"é\x9b"', escaped=True)
    ('a�[41m�', '"é\\u009b"')
    """
    for character in set(text) - {"\n", "\t"}:
        if not character.isprintable():
            safe = json.dumps(character)[1:-1] if escaped else "\N{REPLACEMENT CHARACTER}"
            text = text.replace(character, safe)
    return text


@dataclass(slots=True)
class Session:
    """What was asked of the output, and what has been said so far."""

    form: str | None = None
    quiet: bool = False
    debug: bool = False
    no_progress: bool = False
    error_code: int | None = None  # of all errors, where a command has one of its own
    warned: list[str] = field(default_factory=list)
    bar: Progress | None = None

    @property
    def json(self) -> bool:
        """Whether the result is one JSON object."""
        return self.form == "json"

    @property
    def silent(self) -> bool:
        """Whether nothing is to be told of work that takes long."""
        return self.quiet or self.no_progress or self.json

    def show(self, result: Renderable | str, *more: str, **facts: Any) -> None:
        """Print a result in the form that was asked for.

        Sentences that follow it are for people, other facts for JSON.
        """
        if sys.stdout is None:
            raise OSError("standard output is closed")
        if self.json:
            from tallybayes.rendering import plain

            found = {} if isinstance(result, str) else result.to_dict()
            narrow = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
            values = plain({**found, **facts, "warnings": self.warned})
            text = json.dumps(values, ensure_ascii=narrow, allow_nan=False)
        elif self.form in (None, "text"):
            text = str(result)
            text = ("\n\n" if "\n" in text else "\n").join((text, *more))
        else:
            from tallybayes.rendering import Document

            parts = [result] if isinstance(result, str) else result.document()
            text = getattr(Document((*parts, *more)), f"to_{self.form}")().rstrip("\n")
        click.echo(printable(text, escaped=self.json))

    def report(self, result: Renderable | str, *more: str, **facts: Any) -> None:
        """Print what a command did, which --quiet leaves out."""
        if self.json or not self.quiet:
            self.show(result, *more, **facts)

    def line(self, text: str) -> None:
        """Print a line of a result that has many, as soon as it is there."""
        click.echo(printable(text, escaped=self.json))

    def say_rejected(self, outcome: Outcome, read: ReadOptions) -> None:
        """Say which rows were set aside, or how many."""
        rejected = outcome.rejected
        if read.bad_rows == "report":
            for line in rejected.lines:
                self.say(f"set aside: {line}")
        elif rejected.count:
            first = rejected.lines[0]
            self.say(f"rows set aside: {rejected.count:,}, the first of them {first}")

    def say(self, text: str) -> None:
        """Tell a person something that is no result, above a bar if there is one."""
        if not (self.quiet or self.json):
            self._tell(text)

    def _tell(self, text: str) -> None:
        if self.bar is not None:
            self.bar.end()
        with suppress(OSError):  # nobody listens
            click.echo(printable(f"tallybayes: {text}"), err=True)

    @contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """Show the progress of what is done meanwhile; it is on a terminal only."""
        if self.silent or sys.stderr is None or not sys.stderr.isatty():
            yield None
            return
        self.bar = Progress()
        try:
            with listening(self.bar):
                yield self.bar
        finally:
            self.bar.end()
            self.bar = None

    def warn(self, message: Warning | str, *where: Any, **more: Any) -> None:
        """Say a warning that has not been said yet."""
        text = in_flags(str(message), getattr(message, "remedies", ()))
        said = {re.sub(NUMBERS, "", each) for each in self.warned}  # of other rows or folds, too
        if re.sub(NUMBERS, "", text) not in said:
            self.warned.append(text)
            self.say(f"warning: {text}")

    def failed(self, error: BaseException) -> int:
        """Say what went wrong, and return the exit code."""
        if isinstance(error, BrokenPipeError):
            abandon_output()
            return CLOSED
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
            return USAGE if self.error_code is None else self.error_code
        if self.debug:
            import traceback

            traceback.print_exception(error)
        text, code = sentence_of(error), FAULT
        if isinstance(error, KeyboardInterrupt):
            text, code = "interrupted; no file was left half-written", INTERRUPTED
        elif isinstance(error, click.UsageError):
            code = USAGE
            if error.ctx is not None and not self.json:
                with suppress(OSError):
                    click.echo(error.ctx.get_usage(), err=True)
                text += f" Try '{error.ctx.command_path} --help'."
        if self.json:
            with suppress(OSError):
                click.echo(json.dumps({"error": text, "warnings": self.warned}), err=True)
        else:
            self._tell(f"error: {text}")
        return code if self.error_code is None else self.error_code


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
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)!r}: "
        why = (error.strerror or str(error) or type(error).__name__).lower()
        text = f"{where}{why}{REMEDIES.get(error.errno or 0, '')}"
    else:
        text = (
            f"this is a bug in tallybayes ({type(error).__name__}: {error}); run the command again "
            "with --debug and report what it prints"
        )
    return " ".join(text.split())


def in_flags(text: str, remedies: Iterable[Option]) -> str:
    """Write the options that a message names as they are typed.

    Examples
    --------
    >>> from tallybayes.errors import Option
    >>> skip = Option("bad_rows", "skip")
    >>> in_flags(f"leave such rows out with {skip}", [skip])
    'leave such rows out with --bad-rows skip'
    """
    for each in remedies:
        name, value = each.name.replace("_", "-"), each.value
        if isinstance(value, Mapping):
            words = [
                [f"--{kind}", column]
                if name == "columns" and kind in ("drop", "text")
                else [f"--{name.removesuffix('s')}", f"{column}={kind}"]
                for column, kind in value.items()
            ]
        elif value is ... or isinstance(value, bool):
            words = [[f"--no-{name}" if value is False else f"--{name}"]]
        else:
            values = value if isinstance(value, list | tuple) else [value]
            words = [[f"--{name}", str(one)] for one in values]
        text = text.replace(str(each), " ".join(map(shlex.join, words)))
    return text


def abandon_output() -> None:
    """Let what is still to be written go nowhere, so that the interpreter ends in silence."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class Progress(Listener):
    """A bar drawn by rich once some work has taken half a second; told of from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bar: Any = None
        self.begin("")

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """Start with some work; without a number of bytes there is no time left to tell."""
        self.end()
        self._what, self._total = what, total_bytes
        self._rows = self._bytes = 0
        self._start = time.monotonic()

    def advance(self, rows: int, bytes: int = 0) -> None:  # noqa: A002 - what workflows call it
        """So many more rows and bytes are done."""
        with self._lock:
            self._rows += rows
            self._bytes += bytes
            seconds = time.monotonic() - self._start
            if seconds > PATIENCE:
                if self._bar is None:
                    self._draw()
                speed = f"{self._rows:,} rows, {self._rows / seconds:,.0f} rows/s"
                self._bar.update(self._bar.task_ids[0], completed=self._bytes, speed=speed)

    def _draw(self) -> None:
        """Start rich's bar, which is imported only now."""
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=24),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[speed]}"),
            progress.TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.add_task(self._what, total=self._total, speed="")
        self._bar.start()

    def end(self) -> None:
        """All is done, or a message comes: leave no trace on the terminal."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
