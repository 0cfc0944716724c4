"""`tallybayes completion`: the script that makes a shell complete words."""

from __future__ import annotations

import click

from tallybayes.cli.console import Session
from tallybayes.cli.main import COMPLETE, NAME, argument, command


@command("""
    # for bash, in ~/.bashrc
    eval "$(tallybayes completion bash)"
    # for zsh, in ~/.zshrc
    eval "$(tallybayes completion zsh)"
    # for fish
    tallybayes completion fish > ~/.config/fish/completions/tallybayes.fish
""")
@argument("shell", click.Choice(("bash", "zsh", "fish")), "Which shell.")
def completion(session: Session, shell: str) -> None:
    """Print a script; once a shell has run it, the Tab key completes what you type.

    Commands, options, their choices and names of files are completed.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None
    root = click.get_current_context().find_root().command
    # whether or not that shell is here to be asked for its version
    script = ShellComplete.source(completer(root, {}, NAME, COMPLETE))
    if session.form is None:  # at once, since shells run it whenever they start
        click.echo(script)
    else:
        from tallybayes.rendering import Document, Verbatim

        session.show(Document((Verbatim(script),), {"shell": shell, "script": script}))
