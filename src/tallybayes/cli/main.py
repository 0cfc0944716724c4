"""The command `tallybayes`: which commands there are, how they are made, and how they are run.

A section of commands is imported when one is asked for; what each does, in a line, stands here, so
that `tallybayes --help` imports none. Every command gets the session, and options for its output.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any, ClassVar, NamedTuple

import click
from click.core import ParameterSource

from tallybayes import __version__
from tallybayes.cli.console import FORMS, Session, abandon_output
from tallybayes.kernels import progress

NAME = "tallybayes"
COMPLETE = "_TALLYBAYES_COMPLETE"
OWN, OUTPUT = "Options", "Output"
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Learn": {
        "fit": "Learn a model from data and save it.",
        "tune": "Try options on held-out rows and keep the best.",
    },
    "Use": {
        "predict": "Predict the class of every row.",
        "explain": "Show what speaks for each class, factor by factor.",
        "inspect": "Show what a model has counted and estimated.",
        "sample": "Draw plausible rows from a model.",
    },
    "Judge": {
        "evaluate": "Score a model, or a way to make one.",
        "compare": "Tell which of several models is better.",
        "report": "Write a page about a model that people keep.",
    },
    "Change": {
        "update": "Learn more rows.",
        "forget": "Take rows away again, as if never seen.",
        "merge": "Add models of different rows together.",
    },
    "Mail": {
        "spam": "Judge mail, by what was learnt of sorted mail.",
    },
    "Serve": {
        "serve": "Answer over HTTP: score, learn, explain.",
    },
    "Rest": {
        "demo": "Walk through the examples of three lectures.",
        "warmup": "Compile all kernels ahead of time.",
        "completion": "Print what makes a shell complete words.",
    },
}


def argument(name: str, kind: Any, about: str, **more: Any) -> click.Argument:
    """Make an argument of its name, its type, and what the help says of it."""
    made: Any = click.Argument([name], type=kind, **more)
    made.about = about
    return made  # type: ignore[no-any-return]


def option(names: str, kind: Any, about: str, section: str = OWN, **more: Any) -> click.Option:
    """Make an option of its names, what its value is, its help, and the section it stands in.

    The value is a flag (bool), one of several words (a tuple), text (a word for it), any number of
    texts (a list with a word for them), or of a type.
    """
    if kind is bool:
        more["is_flag"] = True
    elif isinstance(kind, tuple):
        more["type"] = click.Choice(kind)
    elif isinstance(kind, list):
        more |= {"metavar": kind[0], "multiple": True}
    elif isinstance(kind, str):
        more["metavar"] = kind
    else:
        metavar = {"path": "FILE", "integer range": "N"}.get(getattr(kind, "name", ""), "NUMBER")
        more |= {"type": kind, "metavar": metavar}
    made: Any = click.Option(names.split(), help=about, **more)
    made.section = section
    return made  # type: ignore[no-any-return]


class Together(NamedTuple):
    """Options that a command gets as one argument, made of those that were typed."""

    into: str
    make: Callable[..., Any]
    options: tuple[click.Option, ...]

    def made(self, values: dict[str, Any]) -> Any:
        """Take the values of the options out, and make one of them."""
        given = {str(each.name): values.pop(str(each.name)) for each in self.options}
        typed = {k: v for k, v in given.items() if v not in (None, ()) and v is not False}
        return self.make(**typed)


class Command(click.Command):
    """A command with options in sections, those of its output last, and examples."""

    def __init__(
        self, name: str, examples: str, params: list[click.Parameter], **more: Any
    ) -> None:
        more |= {"params": [*params, *OUTPUT_OPTIONS], "context_settings": SETTINGS}
        super().__init__(name, **more)
        self.examples = inspect.cleandoc(examples).splitlines()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options by section; those of the command come first."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], OWN: []}
        for each in self.get_params(ctx):
            if isinstance(each, click.Argument):
                rows["Arguments"].append((each.make_metavar(ctx), getattr(each, "about", "")))
            elif record := each.get_help_record(ctx):
                names, about = record
                if "{families}" in about:
                    from tallybayes.families import FAMILIES

                    about = about.format(families=", ".join(sorted(FAMILIES)))
                section = getattr(each, "section", OUTPUT)  # --help is click's own
                rows.setdefault(section, []).append((names, about))
        for section, written in rows.items():
            if written:
                with formatter.section(section):
                    formatter.write_dl(written)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep what was asked of the output where an error can find it."""
    if value:
        session = ctx.ensure_object(Session)
        name, value = ("form", "json") if param.name == "json" else (param.name, value)
        setattr(session, str(name), value)


EAGER: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": _remember}
OUTPUT_OPTIONS = [
    option(names, kind, about, OUTPUT, **EAGER)
    for names, kind, about in (
        ("--as form", FORMS, "How the result is written: as a document, or as one JSON object."),
        ("--json", bool, "Print one JSON object: short for --as json."),
        ("-q --quiet", bool, "Say nothing but results and errors."),
        ("--no-progress", bool, "Show no progress bar."),
        ("--debug", bool, "On an error, show where it arose."),
    )
]


def command(
    examples: str, *parameters: click.Parameter | Together
) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function that takes the session first, and then its parameters.

    Each example is what it does, behind a #, and what to type.
    """
    groups = [each for each in parameters if isinstance(each, Together)]
    params: list[Any] = []
    for each in parameters:
        params += each.options if isinstance(each, Together) else [each]

    def decorate(function: Callable[..., None]) -> Command:
        def called(session: Session, /, **values: Any) -> None:
            progress.silent = session.silent
            if session.debug:  # warnings of other packages are heard too
                warnings.simplefilter("always")
            made = {group.into: group.made(values) for group in groups}
            function(session, **values, **made)

        about = inspect.cleandoc(function.__doc__ or "")
        run = click.pass_obj(called)
        return Command(function.__name__, examples, params, callback=run, help=about)

    return decorate


def typed(*wanted: str) -> Iterator[tuple[str, Any]]:
    """Go through the options that were typed, of these names or sections, and their values."""
    context = click.get_current_context()
    for each in context.command.params:
        called, name = {getattr(each, "section", ""), *each.opts}, str(each.name)
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and called & {*wanted}:
            yield max(each.opts, key=len), context.params[name]


def refuse(why: str, *wanted: str) -> None:
    """Refuse options of these names or sections, if any was typed."""
    for name, _ in typed(*wanted):
        raise click.UsageError(f"{why} {name}.", click.get_current_context())


class LazyGroup(click.Group):
    """Commands by section, of which only the one that runs is imported."""

    sections: ClassVar[Mapping[str, Mapping[str, str]]] = SECTIONS
    error_code: ClassVar[int | None] = None  # of all errors, if it is always the same

    def module_of(self, section: str) -> str:
        """Return where the commands of a section are."""
        return f"tallybayes.cli.commands.{section.lower()}"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, in the order of the help."""
        return [name for entries in self.sections.values() for name in entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        for section, entries in self.sections.items():
            if cmd_name in entries:
                command: click.Command = getattr(import_module(self.module_of(section)), cmd_name)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of an unknown one, say which was probably meant."""
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            from tallybayes.errors import did_you_mean

            ctx.fail(f"There is no command {args[0]!r}; {did_you_mean(args[0], names)}")
        found = super().resolve_command(ctx, args)
        if isinstance(found[1], LazyGroup):
            ctx.ensure_object(Session).error_code = found[1].error_code
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing them."""
        width = max(map(len, self.list_commands(ctx)))
        for section, entries in self.sections.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:<{width}}", about) for name, about in entries.items()])


@click.group(cls=LazyGroup, context_settings=SETTINGS)
@click.version_option(__version__, message="%(prog)s %(version)s")
def tallybayes() -> None:
    """Naive Bayes that is exact, fast and shows its working.

    A model is a file that ends in .tally. Data are CSV, Parquet, Arrow or JSON lines: files,
    folders, patterns such as 'logs/*.csv', or - for standard input. Results go to standard output,
    messages to standard error.
    """


tallybayes.params += OUTPUT_OPTIONS


def main(args: Sequence[str] | None = None, group: click.Command = tallybayes) -> int:
    """Run a command and return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if COMPLETE in os.environ:  # a shell asks how a word goes on
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, NAME, COMPLETE, os.environ[COMPLETE])
    session, code = Session(), 0
    try:
        with _orderly(session):
            try:
                with group.make_context(NAME, given, obj=session) as context:
                    group.invoke(context)
            except click.exceptions.Exit as done:
                code = done.exit_code
            try:  # all that was printed has arrived when this returns
                if sys.stdout is not None:
                    sys.stdout.flush()
            except OSError:
                abandon_output()
                raise
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, click.UsageError) and "--json" in given:
            session.form = "json"
        return session.failed(error)
    return code


@contextmanager
def _orderly(session: Session) -> Iterator[None]:
    """Turn warnings of the library into messages, and the wish to end into an orderly end."""

    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)  # as after an error: temporary files are removed

    silent, handlers = progress.silent, {}
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with suppress(ValueError):  # not in the main thread, which alone hears signals
        for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
            if signal.getsignal(number) is not signal.SIG_IGN:
                handlers[number] = signal.signal(number, stop)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = session.warn
            yield
    finally:
        progress.silent = silent
        for number, handler in handlers.items():
            signal.signal(number, handler)
