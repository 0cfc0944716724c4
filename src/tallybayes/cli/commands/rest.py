"""`tallybayes demo`, `warmup` and `completion`: everything else."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from tallybayes.cli.console import Session
from tallybayes.cli.main import COMPLETE, NAME, argument, command, main, option
from tallybayes.cli.options import PLACE

if TYPE_CHECKING:
    from tallybayes.rendering import Part


@command(
    """
    # words, smoothing and a spam filter
    tallybayes demo spam
    # bell curves
    tallybayes demo customers
    # categories and numbers together
    tallybayes demo loan
    # keep the data to go on with it
    tallybayes demo loan --save loans
""",
    argument("name", click.Choice(("spam", "customers", "loan")), "Which example."),
    option("--save", PLACE, "Also write the data to this folder; with --quiet, do no more."),
)
def demo(session: Session, name: str, save: str | None) -> None:
    """Walk through the examples of three lectures on naive Bayes.

    The data is shipped with tallybayes. Each step shows a command as you would type it, what it
    prints (the commands really run, in a temporary folder) and what the lecture says about it.
    """
    from tallybayes.cli.demos import DEMOS
    from tallybayes.rendering import Document, Heading, Verbatim

    shown = DEMOS[name]
    saved = [str(path) for path in shown.save(save)] if save else []
    if saved and session.quiet and not session.json:
        return
    parts: list[Part] = [Heading(shown.title, 1), shown.opening]
    parts += [Verbatim(f"$ cat {file}\n{shown.text(file)}") for file in shown.files]
    steps = []
    with TemporaryDirectory() as folder, chdir(folder):
        shown.save(".")
        for step in shown.steps:
            text = _printed(step.command, session)
            parts += [Heading(step.about, 3), Verbatim(f"$ {step.command}\n{text}"), step.note]
            result = json.loads(text) if session.json else None
            steps.append({"command": step.command, "result": result, "note": step.note})
    data = {"demo": name, "title": shown.title, "steps": steps, "saved": saved}
    closing = [f"The data is in {', '.join(saved)}: go on with it."] if saved else []
    session.show(Document(tuple(parts), data), *closing)


def _printed(typed: str, session: Session) -> str:
    """Run a command and return what it prints; if it fails, so does the demonstration."""
    args = [*shlex.split(typed)[1:], *(["--json"] if session.json else [])]
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    said = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        code = main(args)
    if code:
        click.echo(said.getvalue(), err=True, nl=False)
        raise click.exceptions.Exit(code)
    printed.seek(0)
    return printed.read() + said.getvalue()


@command(
    """
    # once after an installation, or while an image is built
    tallybayes warmup
    # in a script
    tallybayes warmup --quiet
""",
)
def warmup(session: Session) -> None:
    """Compile all kernels ahead of time.

    Loops over millions of rows are compiled when they are first needed, once on a machine, which
    takes a minute or two. This does it now. Small files never need it.
    """
    from tallybayes.workflows.warmup import warm_up

    done = {}
    for what, seconds in warm_up():
        done[what] = seconds
        session.say(f"{what}: {seconds:.1f} s")
    took = sum(done.values())
    session.report(f"All kernels are ready after {took:.1f} s.", steps=done, seconds=took)


@command(
    """
    # for bash, in ~/.bashrc
    eval "$(tallybayes completion bash)"
    # for zsh, in ~/.zshrc
    eval "$(tallybayes completion zsh)"
    # for fish
    tallybayes completion fish > ~/.config/fish/completions/tallybayes.fish
""",
    argument("shell", click.Choice(("bash", "zsh", "fish")), "Which shell."),
)
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
