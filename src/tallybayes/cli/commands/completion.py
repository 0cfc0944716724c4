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

    Commands, options, their choices and names of files are completed.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from tallybayes.cli.main import COMPLETE, NAME

    completer = get_completion_class(shell)
    assert completer is not None
    # whether or not that shell is here to be asked for its version
    text = ShellComplete.source(completer(context.find_root().command, {}, NAME, COMPLETE))
    context.ensure_object(Session).result(text, {"shell": shell, "script": text})
