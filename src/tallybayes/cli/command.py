"""Commands whose help has its options in sections, and ends with examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import click

Function = Callable[..., Any]

OWN, OUTPUT = "Options", "Output"
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Option(click.Option):
    """An option that belongs to a section of the help."""

    def __init__(self, *args: Any, section: str = OWN, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class Argument(click.Argument):
    """An argument that the help explains."""

    def __init__(self, *args: Any, about: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.about = about


class Command(click.Command):
    """A command with sections of options, and examples."""

    def __init__(self, *args: Any, examples: Sequence[tuple[str, str]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    @property
    def arguments(self) -> list[Argument]:
        """The arguments that are explained."""
        return [each for each in self.params if isinstance(each, Argument)]

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options by section; those of the command itself come first."""
        found: dict[str, list[click.Option]] = {OWN: []}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and not each.hidden:
                section = getattr(each, "section", OUTPUT)  # --help is click's own
                found.setdefault(section, []).append(each)
        return {section: options for section, options in found.items() if options}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options section by section."""
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(
                    [(each.make_metavar(ctx), each.about) for each in self.arguments]
                )
        for section, options in self.sections(ctx).items():
            records = [each.get_help_record(ctx) for each in options]
            with formatter.section(section):
                formatter.write_dl([record for record in records if record])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        if self.examples:
            with formatter.section("Examples"):
                for about, line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}# {about}\n")
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def command(*examples: tuple[str, str], name: str | None = None) -> Callable[[Function], Command]:
    """Make a command of a function; each example is what it does, and what to type."""
    return click.command(name=name, cls=Command, examples=examples, context_settings=SETTINGS)


def option(*names: str, **attributes: Any) -> Callable[[Function], Function]:
    """Give a function an option."""
    return click.option(*names, cls=Option, **attributes)


def argument(*names: str, **attributes: Any) -> Callable[[Function], Function]:
    """Give a function an argument."""
    return click.argument(*names, cls=Argument, **attributes)


def refuse(context: click.Context, sections: Collection[str], why: str) -> None:
    """Refuse options of some sections, if any was typed."""
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        typed = source is not None and source.name == "COMMANDLINE"
        if typed and getattr(each, "section", None) in sections:
            raise click.UsageError(f"{why} {each.opts[-1]}.", context)
