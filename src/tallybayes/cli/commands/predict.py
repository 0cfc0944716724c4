"""`tallybayes predict`: the class of every row."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, check_free, load_model, print_rows


@command("""
    # to standard output, as CSV
    tallybayes predict loan.tally applicants.csv
    # to a file, with the probability of every class and all columns
    tallybayes predict loan.tally applicants.csv --proba --keep-all -o judged.parquet
    # in a pipe
    cat mails.jsonl | tallybayes predict spam.tally - --format jsonl --to jsonl --keep id
""")
@options.model()
@options.data()
@options.out("The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output.")
@options.to
@option("--proba", bool, "Write the probability of every class.")
@option("--keep", ["NAME"], "Write this column of the data too.")
@option("--keep-all", bool, "Write all columns of the data too.")
@options.reading
def predict(
    session: Session,
    /,
    model: str,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    to: str | None,
    keep: tuple[str, ...],
    keep_all: bool,
    **how: Any,
) -> None:
    """Predict the class of every row.

    For every row, in order, its most probable class and that probability are written. Data is read
    and written in a stream, however large it is; a file appears only when it is complete. Only with
    --as or --json are all predictions kept until the end.
    """
    from tallybayes.workflows.prediction import predict as predicted

    if keep and keep_all:
        raise click.UsageError("--keep-all keeps every column; leave out --keep.")
    printing = out is None or out == STANDARD
    if not printing:
        check_free(session, out, force, (model, *data))
    stored = load_model(model, data)
    how["keep"] = None if keep_all else keep

    def write(place: str | IO[bytes], to: str | None) -> Any:
        with session.progress() as bar:
            return predicted(stored, list(data), place, to=to, progress=bar, **how)

    if printing:
        # a bar would stand among the predictions
        session.no_progress |= sys.stdout is not None and sys.stdout.isatty()
        found, rows = print_rows(session, "predictions", to, write)
        facts = session.rejected(found.aside, how["read"])
        if rows is None:
            session.say(f"{found}, in {found.seconds:.2f} s")
        else:
            session.show(rows, **{**found.to_dict(), **facts}, out=None)
    else:
        found = write(str(out), to)
        session.written.append(str(out))
        facts = session.rejected(found.aside, how["read"])
        session.report(found, f"Saved as {out} after {found.seconds:.2f} s.", **facts, out=out)
