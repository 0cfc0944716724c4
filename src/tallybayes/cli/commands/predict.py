"""`tallybayes predict`: the class of every row."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import command, option
from tallybayes.cli.models import load_model
from tallybayes.cli.options import data_argument, model_argument, reading_options
from tallybayes.cli.outputs import check_free, is_binary, out_option, standard_output, to_option
from tallybayes.cli.parameters import STANDARD
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.modelfile import Stored
    from tallybayes.sources.files import ReadOptions


@command(
    ("to standard output, as CSV", "tallybayes predict loan.tally applicants.csv"),
    (
        "to a file, with the probability of every class and all columns",
        "tallybayes predict loan.tally applicants.csv --proba --keep-all -o judged.parquet",
    ),
    (
        "in a pipe",
        "cat mails.jsonl | tallybayes predict spam.tally - --format jsonl --to jsonl --keep id",
    ),
)
@model_argument()
@data_argument()
@out_option("The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output.")
@to_option
@option("--proba", is_flag=True, help="Write the probability of every class.")
@option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="Write this column of the data too.",
)
@option("--keep-all", is_flag=True, help="Write all columns of the data too.")
@reading_options
@output_options
@click.pass_obj
def predict(
    session: Session,
    model: str,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    to: str | None,
    proba: bool,
    keep: tuple[str, ...],
    keep_all: bool,
    read: ReadOptions,
) -> None:
    """Predict the class of every row.

    For every row, in order, its most probable class and that probability are written. Data is read
    and written in a stream, however large it is; a file appears only when it is complete.
    """
    if keep and keep_all:
        raise click.UsageError("--keep-all keeps every column; leave out --keep.")
    asked: dict[str, Any] = {
        "proba": proba,
        "keep": None if keep_all else keep,
        "read": read,
    }
    if out in (None, STANDARD):
        _print(session, load_model(model, data), list(data), to, asked)
        return
    assert out is not None
    check_free(out, force, (model, *data))
    found = _predict(session, load_model(model, data), list(data), out, to, asked)
    session.written.append(out)
    text = f"{found}\nSaved as {out} after {found.seconds:.2f} s."
    tell_aside(session, found.aside, read)
    session.report(text, {**with_aside(found.to_dict(), found.aside, read), "out": out})


def _print(
    session: Session, stored: Stored, data: list[str], to: str | None, asked: dict[str, Any]
) -> None:
    """Write the predictions to standard output; as JSON, they are part of the one object."""
    if not session.json:
        stream = standard_output(session, binary=is_binary("", to))
        found = _predict(session, stored, data, stream, to, asked)
        tell_aside(session, found.aside, asked["read"])
        session.say(f"{str(found).splitlines()[0]}, in {found.seconds:.2f} s")
        return
    if to not in (None, "jsonl"):
        raise click.UsageError(f"With --json, rows are JSON; leave out --to {to}, or name a file.")
    from tallybayes.cli.json_rows import JsonRows

    rows: Any = JsonRows(standard_output(session, binary=False), "predictions")
    found = _predict(session, stored, data, rows, "jsonl", asked)
    facts = with_aside(found.to_dict(), found.aside, asked["read"])
    rows.finish({**facts, "out": None, "warnings": session.warned})


def _predict(
    session: Session,
    stored: Stored,
    data: list[str],
    out: str | IO[bytes],
    to: str | None,
    asked: dict[str, Any],
) -> Any:
    """Predict, and say how far it has come, unless that would stand among the predictions."""
    from tallybayes.workflows.prediction import predict as predicted

    session.no_progress = session.no_progress or (
        not isinstance(out, str) and sys.stdout is not None and sys.stdout.isatty()
    )
    with session.progress() as bar:
        return predicted(stored, data, out, to=to, progress=bar, **asked)
