"""`tallybayes inspect`: what a model has counted and estimated."""

from __future__ import annotations

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, load_model


@command("""
    # all of a small model
    tallybayes inspect loan.tally
    # one column
    tallybayes inspect loan.tally --column status
    # the 20 most telling words of each text
    tallybayes inspect spam.tally --words 20
""")
@options.model()
@option("--column columns", ["NAME"], "Show this column, and others named so.")
@option("--words", click.IntRange(min=1), "How many words of a text.")
def inspect(session: Session, model: str, columns: tuple[str, ...], words: int | None) -> None:
    """Show what a model has counted and estimated.

    Priors, tables of likelihoods as fractions and decimals, means and variances, the most telling
    words, how many parameters there are, how large the file is and where it comes from.
    """
    from tallybayes.report.inspection import inspect_model

    more = {} if words is None else {"words": words}
    path = None if model == STANDARD else model
    inspection = inspect_model(load_model(model), path=path, columns=columns or None, **more)
    session.show(inspection)
    if inspection.is_cut:
        session.say("There is more: --column NAME shows all of a column, --words N more words.")
