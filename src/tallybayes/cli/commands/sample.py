"""`tallybayes sample`: plausible rows."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli.command import command, option
from tallybayes.cli.json_rows import JsonRows
from tallybayes.cli.models import load_model
from tallybayes.cli.options import model_argument, seed_option
from tallybayes.cli.outputs import check_free, is_binary, out_option, standard_output, to_option
from tallybayes.cli.parameters import STANDARD, Pair
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options
from tallybayes.cli.typed import pairs_once


@command(
    ("three rows", "tallybayes sample loan.tally -n 3"),
    (
        "applicants who would cheat, the same every time",
        "tallybayes sample loan.tally -n 100 --given cheat=Yes --seed 1 -o cheats.csv",
    ),
)
@model_argument()
@option("-n", "n", type=click.IntRange(min=1), default=10, help="How many rows.  [default: 10]")
@option(
    "--given",
    type=Pair(),
    multiple=True,
    metavar="NAME=VALUE",
    help="What is known: the class, or the value of a column.",
)
@seed_option
@out_option("The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output.")
@to_option
@output_options
@click.pass_obj
def sample(
    session: Session,
    model: str,
    n: int,
    given: tuple[tuple[str, str], ...],
    seed: int | None,
    out: str | None,
    force: bool,
    to: str | None,
) -> None:
    """Draw plausible rows from a model.

    A class is drawn by the prior (or by what is given), then each column given the class.
    """
    from tallybayes.workflows.records import sample as drawn

    to_standard = out in (None, STANDARD)
    if not to_standard:
        check_free(out, force, (model,))
    elif session.json and to not in (None, "jsonl"):
        raise click.UsageError(f"With --json, rows are JSON; leave out --to {to}, or name a file.")
    stored = load_model(model)
    known = pairs_once(given, "--given")
    facts = {"n": n, "given": known, "seed": seed, "out": out}
    if not to_standard:
        drawn(stored, n, str(out), given=known, seed=seed, to=to)
        session.written.append(str(out))
        session.report(f"{n:,} rows were drawn.\nSaved as {out}.", facts)
        return
    stream: Any = standard_output(session, binary=is_binary("", to))
    if not session.json:
        drawn(stored, n, stream, given=known, seed=seed, to=to)
        return
    rows: Any = JsonRows(stream, "records")
    drawn(stored, n, rows, given=known, seed=seed, to="jsonl")
    rows.finish({**facts, "out": None, "warnings": session.warned})
