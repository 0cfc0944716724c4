"""`tallybayes demo`: walk through the examples of the lectures."""

from __future__ import annotations

import io
import json
import shlex
import textwrap
from contextlib import chdir, redirect_stderr, redirect_stdout
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.command import argument, command, option
from tallybayes.cli.parameters import PLACE
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.workflows.demos import Demo, Step

NAMES = ("spam", "customers", "loan")
WIDTH = 88


@command(
    ("words, smoothing and a spam filter", "tallybayes demo spam"),
    ("bell curves", "tallybayes demo customers"),
    ("categories and numbers together", "tallybayes demo loan"),
    ("keep the data to go on with it", "tallybayes demo loan --save loans"),
)
@argument("name", type=click.Choice(NAMES), about="Which example.")
@option(
    "--save",
    type=PLACE,
    metavar="FOLDER",
    help="Also write the data to this folder; with --quiet, do no more.",
)
@output_options
@click.pass_context
def demo(context: click.Context, name: str, save: str | None) -> None:
    """Walk through the examples of three lectures on naive Bayes.

    The data is shipped with tallybayes. Each step shows a command as you would type it, what it
    prints (the commands really run, in a temporary folder) and what the lecture says about it.
    """
    from tallybayes.workflows.demos import DEMOS

    session = context.ensure_object(Session)
    group = context.find_root().command
    assert isinstance(group, click.Group)
    shown = DEMOS[name]
    saved = [str(path) for path in shown.save(save)] if save else []
    session.written += saved
    if saved and session.quiet and not session.json:
        return
    if not session.json:
        click.echo(_opening(shown))
    steps = []
    with TemporaryDirectory() as folder, chdir(folder):
        shown.save(".")
        for step in shown.steps:
            steps.append(_run(group, step, session))
    if session.json:
        session.result("", {"demo": name, "title": shown.title, "steps": steps, "saved": saved})
    elif saved:
        click.echo(f"\nThe data is in {', '.join(saved)}: go on with it.")


def _run(group: click.Group, step: Step, session: Session) -> dict[str, Any]:
    """Run the command of a step, and show what it printed and what to look at."""
    from tallybayes.cli.main import main

    if not session.json:
        click.echo(f"\n{_wrapped(step.about)}\n\n  $ {step.command}")
    args = shlex.split(step.command)[1:]
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    said = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        code = main([*args, "--json"] if session.json else args, group)
    if code:
        click.echo(said.getvalue(), err=True, nl=False)
        raise click.exceptions.Exit(code)
    printed.seek(0)
    text = printed.read()
    if not session.json:
        click.echo(textwrap.indent(text + said.getvalue(), "  "))
        click.echo(_wrapped(step.note))
    result = json.loads(text) if session.json else None
    return {"command": step.command, "result": result, "note": step.note}


def _opening(shown: Demo) -> str:
    """Return the title, the question and the data."""
    lines = [shown.title, "=" * len(shown.title), "", _wrapped(shown.opening)]
    for name in shown.files:
        lines += ["", f"  $ cat {name}", textwrap.indent(shown.text(name).rstrip(), "  ")]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
