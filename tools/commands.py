"""The command reference of the documentation, written from the commands themselves.

`python tools/commands.py` prints it; a test compares it with `docs/commands.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from msgspec import Struct, structs

from tallybayes.cli.main import NAME, SECTIONS, SETTINGS, tallybayes

INTRODUCTION = """\
# Commands

This page is written by `python tools/commands.py`; the tests compare it with the commands.

```
{help}
```

## What holds for all commands

- **Streams.** Results go to standard output, messages and progress to standard error. `-` is
  standard input or output.
- **Files.** `-o FILE` never overwrites a file, unless `--force` says so; a file appears only when
  it is complete. Ctrl-C leaves nothing half-written.
- **Forms.** `--as text`, `markdown`, `latex` or `html` writes the result as a document, `--as json`
  (or `--json`) as one object, in which `warnings` lists what would have been said, infinities are
  text and what is undefined is `null`. If a command fails with `--json`, standard error gets an
  object with `error` and `warnings`, and nothing else. Rows (`predict`, `sample`) are CSV unless a
  form is asked for, which keeps all of them in memory; `--to jsonl` is a stream of JSON.
- **Exit codes.** 0: done. 1: something is wrong with the data or the wish, and the message says
  what to do. 2: the command line is wrong. 130: Ctrl-C. 141: nobody reads the output any more
  (`| head`).
- **Terminals.** A progress bar appears after half a second, on terminals only, without colours if
  `NO_COLOR` is set, and not at all with `TERM=dumb`. Names in data and models reach a terminal
  without their control characters. `tallybayes completion` prints what makes a shell complete
  commands, options, their choices and files.
- **Before or behind.** The options above belong to every command, and may also stand behind it.
"""
FAMILIES = """\
## Families

`--column NAME=FAMILY:OPTION=VALUE,OPTION=VALUE` states the family of a column. Several values are
separated by semicolons (`bins:edges=18;65`, `text:ngrams=1;2`), values for each class named
(`categorical:m=3,p=Yes:1/3;No:2/3`). Without options the family takes `--alpha` and `--unseen`.
What the options mean is in [arithmetic](arithmetic.md) and [text](text.md).
"""
WIDTH = 100  # of a line, whatever the terminal


def reference() -> str:
    """Return the page."""
    context = click.Context(tallybayes, info_name=NAME, terminal_width=WIDTH, **SETTINGS)
    page = [INTRODUCTION.format(help=tallybayes.get_help(context)), FAMILIES, _families()]
    for section, entries in SECTIONS.items():
        page.append(f"## {section}\n")
        for name in entries:
            page += _commands(tallybayes.get_command(context, name), context, name)
    return "\n".join(page)


def _commands(command: Any, parent: click.Context, name: str) -> Iterator[str]:
    """Go through the help of a command, or of the commands of a group."""
    own = click.Context(command, parent, info_name=name, terminal_width=WIDTH)
    yield f"### {own.command_path}\n\n```\n{command.get_help(own)}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(own):
            yield from _commands(command.get_command(own, each), own, each)


def _families() -> str:
    """Return a table of the families and their options, with what they are if not stated."""
    from tallybayes.families import FAMILIES
    from tallybayes.tokenizer import Words

    lines = ["| family | options, with what they are if not stated, if anything |", "|---|---|"]
    for name, family in sorted(FAMILIES.items()):
        parts: list[Any] = [family().with_defaults(1.0, "ignore")]
        parts += [Words()] if name == "text" else []
        values = {k: v for part in parts for k, v in structs.asdict(part).items()}
        values |= {"unseen": "ignore"} if "unseen" in values else {}
        typed = [f"`{k}={_typed(v)}`" for k, v in values.items() if k not in ("words", "idf")]
        lines.append(f"| `{name}` | {', '.join(typed).replace('=`', '`')} |")
    return "\n".join([*lines, ""])


def _typed(value: Any) -> str:
    """Return a value as it is typed."""
    if isinstance(value, Struct):  # of one number
        return _typed(structs.astuple(value)[0])
    if isinstance(value, tuple | frozenset):
        return ";".join(map(_typed, value))
    if isinstance(value, float):
        return repr(float(value))  # 1.0 may be a share where 1 is a number
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    click.echo(reference(), nl=False)
