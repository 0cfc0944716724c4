"""One run of a command: what was asked of its output, and the two streams it writes to.

Results go to standard output, everything else to standard error. With --json, standard output gets
one object (the warnings are in it), and standard error nothing, or one object with the error.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import click

from tallybayes.cli.flags import in_flags
from tallybayes.cli.progress import Progress, Silence
from tallybayes.kernels import terminal


@dataclass(slots=True)
class Session:
    """What was asked of the output, and what has been said so far."""

    json: bool = False
    quiet: bool = False
    debug: bool = False
    no_progress: bool = False
    warned: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    bar: Progress | Silence = field(default_factory=Silence)

    def result(self, text: str, facts: Mapping[str, Any]) -> None:
        """Print what a command found, for people or as JSON."""
        if self.json:
            from tallybayes.cli.plain_values import as_json

            narrow = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
            text = as_json({**facts, "warnings": self.warned}, only_ascii=narrow)
        click.echo(text)

    def report(self, text: str, facts: Mapping[str, Any]) -> None:
        """Print what a command did, which --quiet leaves out."""
        if self.json or not self.quiet:
            self.result(text, facts)

    def say(self, text: str) -> None:
        """Tell a person something that is no result."""
        if not (self.quiet or self.json):
            self._tell(text)

    def complain(self, text: str) -> None:
        """Say what went wrong."""
        if self.json:
            from tallybayes.cli.plain_values import as_json

            facts = {"error": text, "warnings": self.warned}
            with suppress(OSError):
                click.echo(as_json(facts, only_ascii=True), err=True)
        else:
            self._tell(f"error: {text}")

    def _tell(self, text: str) -> None:
        """Write a line to standard error, above a bar if there is one."""
        self.bar.pause()
        with suppress(OSError):  # nobody listens
            click.echo(f"tallybayes: {text}", err=True)

    @contextmanager
    def progress(self) -> Iterator[Progress | Silence]:
        """Give what workflows tell their progress to; it is on a terminal only."""
        listening = sys.stderr is not None and sys.stderr.isatty()
        self.bar = Progress() if listening and not self.calm else Silence()
        try:
            with self.speaking():
                yield self.bar
        finally:
            self.bar.end()
            self.bar = Silence()

    @property
    def calm(self) -> bool:
        """Whether nothing is to be told of work that takes long."""
        return self.quiet or self.no_progress or self.json

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Let the library speak on the terminal only if this session may."""
        before, terminal.silent = terminal.silent, self.calm
        try:
            yield
        finally:
            terminal.silent = before

    @contextmanager
    def hearing_warnings(self) -> Iterator[None]:
        """Show the warnings of the library as messages, each once, and hide those of others."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = self._warn
            yield

    def show_all_warnings(self) -> None:
        """Let warnings of other packages be heard too."""
        warnings.simplefilter("always")

    def _warn(self, message: Warning | str, *where: Any, **more: Any) -> None:
        """Say a warning that has not been said yet."""
        text = in_flags(str(message), getattr(message, "remedies", ()))
        if text not in self.warned:
            self.warned.append(text)
            self.say(f"warning: {text}")
