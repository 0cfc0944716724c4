"""`tallybayes completion`: the script that makes a shell complete words."""

from __future__ import annotations

import click

from tallybayes.cli.command import argument, command
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

SHELLS = ("bash", "zsh", "fish")


@command(
    ("for bash, in ~/.bashrc", 'eval "$(tallybayes completion bash)"'),
    ("for zsh, in ~/.zshrc", 'eval "$(tallybayes completion zsh)"'),
    ("for fish", "tallybayes completion fish > ~/.config/fish/completions/tallybayes.fish"),
)
@argument("shell", type=click.Choice(SHELLS), about="Which shell.")
@output_options
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script; once a shell has run it, the Tab key completes what you type.

    Commands, options, families and names of files are completed, and the names of columns once the
    command line names a CSV or JSON lines file.
    """
    from tallybayes.cli.main import COMPLETE, NAME
    from tallybayes.cli.shells import script

    root = context.find_root().command
    assert isinstance(root, click.Group)
    text = script(root, shell, NAME, COMPLETE)
    context.ensure_object(Session).result(text, {"shell": shell, "script": text})
