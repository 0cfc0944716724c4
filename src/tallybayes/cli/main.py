"""The command `tallybayes`: which commands there are, how they are made, and how they are run.

Each command is imported when it is asked for; what it does, in a line, stands here, so that
`tallybayes --help` imports none. Every command gets the session, and the options of its output.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click

from tallybayes import __version__
from tallybayes.cli.console import FORMS, Session

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
    "Rest": {
        "demo": "Walk through the examples of three lectures.",
        "warmup": "Compile all kernels ahead of time.",
        "completion": "Print what makes a shell complete words.",
    },
}
MODULES = {"update": "change", "forget": "change", "merge": "change"}

Function = Callable[..., Any]


class Option(click.Option):
    """An option that belongs to a section of the help."""

    def __init__(self, *args: Any, section: str = OWN, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the names and the help, in which all families are named that there are."""
        if self.help and "{families}" in self.help:
            from tallybayes.families import FAMILIES

            self.help = self.help.format(families=", ".join((*FAMILIES, "best")))
        return super().get_help_record(ctx)


def made_option(names: str, kind: Any, about: str, **more: Any) -> Option:
    """Make an option of its names, what its value is, and its help.

    The value is a flag (bool), one of several words (a tuple), text (a word for it), any number of
    texts (a list with a word for them), or of a type.
    """
    if kind is bool:
        more["is_flag"] = True
    elif isinstance(kind, tuple):
        more["type"] = click.Choice(kind)
    elif isinstance(kind, str | list):
        more |= {"metavar": kind if isinstance(kind, str) else kind[0]}
        more["multiple"] = isinstance(kind, list)
    else:
        metavar = {"path": "FILE", "integer range": "N"}.get(getattr(kind, "name", ""), "NUMBER")
        more = {"type": kind, "metavar": metavar, **more}
    return Option(names.split(), help=about, **more)


def option(names: str, kind: Any, about: str, **more: Any) -> Callable[[Function], Function]:
    """Give a function an option: see `made_option`."""
    return with_parameters(lambda: [made_option(names, kind, about, **more)])


def with_parameters(make: Callable[[], list[Any]]) -> Callable[[Function], Function]:
    """Give a function parameters, in this order, before those that it has."""

    def decorate(function: Function) -> Function:
        # click wants the last one first
        known: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
        known += reversed(make())
        return function

    return decorate


class Argument(click.Argument):
    """An argument that the help explains."""

    def __init__(self, *args: Any, about: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.about = about


def argument(name: str, kind: Any, about: str, **more: Any) -> Callable[[Function], Function]:
    """Give a function an argument."""
    return with_parameters(lambda: [Argument([name], type=kind, about=about, **more)])


class Command(click.Command):
    """A command with options in sections, those of its output last, and examples."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += output_options()
        self.examples = inspect.cleandoc(examples).splitlines()

    @property
    def arguments(self) -> list[Argument]:
        """The arguments that are explained."""
        return [each for each in self.params if isinstance(each, Argument)]

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options by section; those of the command itself come first."""
        found: dict[str, list[click.Option]] = {OWN: []}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option):
                section = getattr(each, "section", OUTPUT)  # --help is click's own
                found.setdefault(section, []).append(each)
        return {section: options for section, options in found.items() if options}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options section by section."""
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(a.make_metavar(ctx), a.about) for a in self.arguments])
        for section, options in self.sections(ctx).items():
            with formatter.section(section):
                formatter.write_dl([r for each in options if (r := each.get_help_record(ctx))])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def output_options() -> list[Option]:
    """Return what every command has: how it speaks."""
    how: dict[str, Any] = {
        "is_eager": True,
        "expose_value": False,
        "callback": _remember,
        "section": OUTPUT,
    }
    rows = (
        ("--as form", FORMS, "How the result is written: as a document, or as one JSON object."),
        ("--json", bool, "Print one JSON object: short for --as json."),
        ("-q --quiet", bool, "Say nothing but results and errors."),
        ("--no-progress", bool, "Show no progress bar."),
        ("--debug", bool, "On an error, show where it arose."),
    )
    return [made_option(*row, **how) for row in rows]


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep what was asked of the output where an error can find it."""
    if value:
        session = ctx.ensure_object(Session)
        name, value = ("form", "json") if param.name == "json" else (param.name, value)
        setattr(session, str(name), value)
        if not ctx.resilient_parsing:
            ctx.with_resource(session.speaking())
        if session.debug:
            session.show_all_warnings()


def command(examples: str) -> Callable[[Function], Command]:
    """Make a command of a function that takes the session first.

    Each example is what it does, behind a #, and what to type.
    """

    def decorate(function: Function) -> Command:
        made = click.command(cls=Command, examples=examples, context_settings=SETTINGS)
        return made(click.pass_obj(function))

    return decorate


def refuse(sections: Collection[str], why: str) -> None:
    """Refuse options of some sections, if any was typed."""
    context = click.get_current_context()
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        typed = source is not None and source.name == "COMMANDLINE"
        if typed and getattr(each, "section", None) in sections:
            raise click.UsageError(f"{why} {each.opts[-1]}.", context)


class LazyGroup(click.Group):
    """Commands by section, of which only the one that runs is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, in the order of the help."""
        return [name for entries in SECTIONS.values() for name in entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"tallybayes.cli.commands.{MODULES.get(cmd_name, cmd_name)}")
        command: Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of an unknown one, say which was probably meant."""
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            from tallybayes.errors import did_you_mean

            ctx.fail(f"There is no command {args[0]!r}; {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing them."""
        width = max(map(len, self.list_commands(ctx)))
        for section, entries in SECTIONS.items():
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


tallybayes.params += output_options()


def main(args: Sequence[str] | None = None, group: click.Group = tallybayes) -> int:
    """Run a command and return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if COMPLETE in os.environ:  # a shell asks how a word goes on
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, NAME, COMPLETE, os.environ[COMPLETE])
    session = Session()
    try:
        with session.captured_warnings(), _orderly():
            return _run(group, given, session)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, click.UsageError) and "--json" in given:
            session.form = "json"
        return session.failed(error)


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
    session.flush()
    return code


@contextmanager
def _orderly() -> Iterator[None]:
    """When the system asks to end, end as after an error: temporary files are removed."""
    asked = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    heard = [number for number in asked if signal.getsignal(number) is not signal.SIG_IGN]
    try:
        before = {number: signal.signal(number, _stop) for number in heard}
    except ValueError:  # not in the main thread, which alone hears signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise what ends the program."""
    sys.exit(128 + number)
