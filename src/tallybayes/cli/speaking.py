"""Options of every command: how it speaks."""

from __future__ import annotations

import click

from tallybayes.cli.command import OUTPUT, Function, option
from tallybayes.cli.session import Session


def output_options(command: Function) -> Function:
    """Add what every command has: how it speaks."""
    for names, about in (
        (("--debug",), "On an error, show where it arose."),
        (("--no-progress",), "Show no progress bar."),
        (("-q", "--quiet"), "Say nothing but results and errors."),
        (("--json",), "Print one JSON object instead of text."),
    ):
        command = option(
            *names,
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_remember,
            help=about,
            section=OUTPUT,
        )(command)
    return command


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Keep what was asked of the output where an error can find it."""
    if value and param.name is not None:
        session = ctx.ensure_object(Session)
        setattr(session, param.name, True)
        if not ctx.resilient_parsing:
            ctx.with_resource(session.speaking())
        if param.name == "debug":
            session.show_all_warnings()
