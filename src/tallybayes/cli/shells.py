"""Completion of words by the shell, through click's own mechanism.

Bash takes `income=ga` for three words; here they are put together again, so that what follows the
sign can be completed too.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
)

SHELLS = ("bash", "zsh", "fish")
BREAKS = ("=", ":")  # where bash breaks words


class Bash(BashComplete):
    """Bash, with words put together again that it broke."""

    def source(self) -> str:
        """Return the script, whether or not there is a bash here to look at."""
        return ShellComplete.source(self)

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before, and the one to complete."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        glue = False
        for word in (*args, incomplete):
            if words and (glue or word in BREAKS):
                words[-1] += word
            else:
                words.append(word)
            glue = word in BREAKS
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Return what bash is to put in place of the last part of the word."""
        value = str(item.value)
        _, incomplete = self.get_completion_args()
        kept = max(incomplete.rfind(sign) for sign in BREAKS) + 1
        return f"{item.type},{value[kept:] if value.startswith(incomplete[:kept]) else value}"


def script(group: click.Group, shell: str, name: str, variable: str) -> str:
    """Return what a shell has to run once to complete the words of the command."""
    return _class_of(shell)(group, {}, name, variable).source()


def complete(group: click.Group, name: str, variable: str) -> int:
    """Do what a shell asks for through the environment."""
    shell, _, instruction = os.environ[variable].partition("_")
    if shell not in SHELLS or instruction not in ("source", "complete"):
        return 1
    asked = _class_of(shell)(group, {}, name, variable)
    click.echo(asked.source() if instruction == "source" else asked.complete())
    return 0


def _class_of(shell: str) -> type[ShellComplete]:
    """Return the class that knows a shell."""
    add_completion_class(Bash, "bash")
    found = get_completion_class(shell)
    assert found is not None
    return found
