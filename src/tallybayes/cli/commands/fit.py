"""`tallybayes fit`: learn a model from data and save it."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, check_free, save_model, standard_output


@command("""
    # learn to predict the column cheat
    tallybayes fit loan.csv --target cheat -o loan.tally
    # say what columns are, and smooth less
    tallybayes fit loan.csv -t cheat --column income=bins --alpha 0.5 -o loan.tally
    # count the words of a column
    tallybayes fit mails.csv -t label --text subject --positive spam -o spam.tally
    # look first what is understood of a lake of files
    tallybayes fit 'lake/*.parquet' -t outcome --drop id --dry-run
    # at the end of a pipe
    zcat log.csv.gz | tallybayes fit - -t status -o log.tally
""")
@options.data()
@options.target()
@options.out("The model file to write: name.tally. Needed unless --dry-run.")
@option("--dry-run", bool, "Show what is understood of the first rows; write nothing.")
@option("--no-scores", bool, "Do not leave rows out to score the model: faster.")
@options.weight()
@options.specification
@options.reading
def fit(
    session: Session,
    /,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    dry_run: bool,
    no_scores: bool,
    **how: Any,
) -> None:
    """Learn a model from data and save it.

    Every column gets the family that suits its type: decimal numbers a bell curve, text and
    yes-or-no a table of shares. --column says otherwise for one, --text takes it as words. What was
    understood is printed, and how well the model predicts rows that it has not seen: each row is
    predicted by the model of all others, exactly.
    """
    from tallybayes.workflows.training import look, train

    if dry_run:
        looked = look(list(data), **how)
        session.show(looked, **session.rejected(looked.aside, how["read"]), out=None)
        return
    if out is None:
        raise click.UsageError("Say where to write the model, -o name.tally, or try --dry-run.")
    check_free(session, out, force, data)
    if out == STANDARD:
        standard_output(binary=True)
    with session.progress() as bar:
        trained = train(list(data), scores=not no_scores, progress=bar, **how)
    save_model(session, out, trained.stored)
    facts = session.rejected(trained.aside, how["read"])
    if out == STANDARD:
        session.say(f"{trained.stored.provenance.rows:,} rows in {trained.seconds:.2f} s")
    else:
        session.report(trained, f"Saved as {out} after {trained.seconds:.2f} s.", **facts, out=out)
