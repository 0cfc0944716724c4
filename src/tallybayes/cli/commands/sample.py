"""`tallybayes sample`: plausible rows."""

from __future__ import annotations

from typing import IO, Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, check_free, load_model, print_rows


@command("""
    # three rows
    tallybayes sample loan.tally -n 3
    # applicants who would cheat, the same every time
    tallybayes sample loan.tally -n 100 --given cheat=Yes --seed 1 -o cheats.csv
""")
@options.model()
@option("-n n", click.IntRange(min=1), "How many rows.  [default: 10]", default=10)
@option("--given", ["NAME=VALUE"], "What is known: the class, or the value of a column.")
@option("--seed", int, "Make chance repeatable.")
@options.out("The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output.")
@options.to
def sample(
    session: Session,
    /,
    model: str,
    n: int,
    given: tuple[str, ...],
    seed: int | None,
    out: str | None,
    force: bool,
    to: str | None,
) -> None:
    """Draw plausible rows from a model.

    A class is drawn by the prior (or by what is given), then each column given the class.
    """
    from tallybayes.workflows.records import sample as drawn

    known = options.pairs(given, "--given")
    printing = out is None or out == STANDARD
    if not printing:
        check_free(session, out, force, (model,))
    stored = load_model(model)
    facts = {"n": n, "given": known, "seed": seed, "out": None if printing else out}

    def write(place: str | IO[bytes], to: str | None) -> Any:
        return drawn(stored, n, place, given=known, seed=seed, to=to)

    if printing:
        _, rows = print_rows(session, "records", to, write)
        if rows is not None:
            session.show(rows, **facts)
    else:
        write(str(out), to)
        session.written.append(str(out))
        session.report(f"{n:,} rows were drawn.", f"Saved as {out}.", **facts)
