"""The command reference of the documentation, written from the commands themselves.

`python -m tallybayes.cli.reference` prints it; a test compares it with `docs/commands.md`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click

from tallybayes.cli.main import NAME, OUTPUT, OWN, SECTIONS, SETTINGS, Command, tallybayes

INTRODUCTION = """\
# Commands

This page is written by `python -m tallybayes.cli.reference`; the tests compare it with the
commands.

{about}

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

These options belong to every command, and may also stand before it:

{options}
"""
FAMILIES = """\
## Families

`--column NAME=FAMILY:OPTION=VALUE,OPTION=VALUE` states the family of a column. Several values are
separated by semicolons (`bins:edges=18;65`, `text:ngrams=1;2`), values for each class named
(`categorical:m=3,p=Yes:1/3;No:2/3`). Without options the family takes `--alpha` and `--unseen`.
`best` finds the family that predicts held-out rows best. What the options mean is in
[arithmetic](arithmetic.md) and [text](text.md).

{table}
"""
WIDE = 1000  # no line is wrapped, whatever the terminal


def reference() -> str:
    """Return the page."""
    context = click.Context(tallybayes, info_name=NAME, terminal_width=WIDE, **SETTINGS)
    params = tallybayes.get_params(context)
    output = [
        each
        for each in params
        if isinstance(each, click.Option) and getattr(each, "section", "") == OUTPUT
    ]
    about = _paragraphs(tallybayes.help or "")
    page = [
        INTRODUCTION.format(about=about, options=_table(output, context)),
        FAMILIES.format(table=_families()),
    ]
    for section, entries in SECTIONS.items():
        page.append(f"## {section}\n")
        for name in entries:
            command = tallybayes.get_command(context, name)
            assert isinstance(command, Command)
            own = click.Context(command, context, info_name=name, terminal_width=WIDE)
            page += _of(command, name, own)
    return "\n".join(page)


def _families() -> str:
    """Return a table of the families and their options, with what they are if not stated."""
    from tallybayes.families import FAMILIES as KNOWN
    from tallybayes.tokenizer import Words

    rows, meant = [], {"unseen": "ignore"}
    for name, family in sorted(KNOWN.items()):
        parts = [family().with_defaults(1.0, "ignore"), *([Words()] if name == "text" else [])]
        options = [
            f"`{option}={_typed(meant.get(option, getattr(part, option)))}`"
            for part in parts
            for option in part.__struct_fields__
            if option not in ("words", "idf")
        ]
        rows.append((f"`{name}`", ", ".join(options).replace("=`", "`")))
    return _rows(("family", "options, with what they are if not stated, if anything"), rows)


def _typed(value: Any) -> str:
    """Return a value as it is typed."""
    from tallybayes.families import RelativeFloor

    if value is None:
        return ""
    if isinstance(value, RelativeFloor):
        return _typed(value.fraction)
    if isinstance(value, tuple | frozenset):
        return ";".join(map(_typed, value))
    if isinstance(value, float):
        return repr(float(value))  # 1.0 may be a share where 1 is a number
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of(command: Command, name: str, context: click.Context) -> Iterator[str]:
    """Yield what there is to say about a command."""
    yield f"### {NAME} {name}\n"
    yield f"    {context.get_usage().removeprefix('Usage: ')}\n"
    yield _paragraphs(command.help or "") + "\n"
    if command.arguments:
        rows = [(f"`{each.make_metavar(context)}`", each.about) for each in command.arguments]
        yield _rows(("argument", ""), rows) + "\n"
    for section, options in command.sections(context).items():
        if section != OUTPUT:
            yield _table(options, context, "option" if section == OWN else section) + "\n"
    yield "\n".join(["```sh", *command.examples, "```\n"])


def _table(options: list[click.Option], context: click.Context, heading: str = "option") -> str:
    """Return a table of options."""
    records = [each.get_help_record(context) for each in options]
    return _rows((heading, ""), [(f"`{names}`", about) for names, about in filter(None, records)])


def _rows(heading: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    """Return a table of two columns."""
    cells = [[" ".join(text.split()).replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {left} | {right} |" for left, right in cells]
    return "\n".join(
        [f"| {heading[0]} | {heading[1]} |".replace("|  |", "| |"), "|---|---|", *lines]
    )


def _paragraphs(text: str) -> str:
    """Return the paragraphs of a docstring, each on a line."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


if __name__ == "__main__":
    click.echo(reference(), nl=False)
