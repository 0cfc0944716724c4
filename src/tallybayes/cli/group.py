"""The group of all commands; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from tallybayes.cli.catalogue import SECTIONS, Entry


class LazyGroup(click.Group):
    """Commands by section, of which only the one that runs is imported."""

    sections: Mapping[str, Mapping[str, Entry]] = SECTIONS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, in the order of the catalogue."""
        return [name for entries in self.sections.values() for name in entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        for entries in self.sections.values():
            if cmd_name in entries:
                module, _, name = entries[cmd_name].where.partition(":")
                command = getattr(import_module(module), name)
                assert isinstance(command, click.Command)
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
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing them."""
        width = max(map(len, self.list_commands(ctx)))
        for section, entries in self.sections.items():
            with formatter.section(section):
                formatter.write_dl(
                    [(f"{name:<{width}}", each.about) for name, each in entries.items()]
                )
