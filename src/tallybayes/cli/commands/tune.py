"""`tallybayes tune`: try options on held-out rows."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, check_free, save_model

TRY = (
    "Values to try of alpha, prior, unseen, calibration or families, in all combinations; "
    "0.01..10:50 are 50 values.  [default: 12 of alpha]"
)
NESTED = "Folds that judge the whole procedure, the choice included; 0 for none.  [default: 5]"
SIMPLEST = "Take the simplest that is at most one standard error worse than the best."


@command("""
    # find the smoothing
    tallybayes tune mails.csv -t label --text body -o spam.tally
    # try values of your own
    tallybayes tune loan.csv -t cheat --try alpha=0.1,1,10 --try prior=empirical,uniform
    # judge by folds and the f1 score
    tallybayes tune loan.csv -t cheat --folds 5 --score f1
""")
@options.data()
@options.target()
@options.out("The model file to write, with the best options.")
@option("--try tried", ["OPTION=VALUE,..."], TRY)
@option("--score", "NAME", "What counts.  [default: log_loss]", default="log_loss")
@option("--nested", click.IntRange(min=0), NESTED, default=5, section=options.HELD)
@option("--simplest", bool, SIMPLEST)
@options.weight()
@options.folds_or_loo
@options.specification
@options.reading
def tune(
    session: Session,
    /,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    tried: tuple[str, ...],
    nested: int,
    simplest: bool,
    held: dict[str, Any],
    **how: Any,
) -> None:
    """Try options on held-out rows and keep the best.

    Counting is done once, however many values are tried. The best of many scores is too good, so
    the whole procedure is judged too, by rows that had no part in the choice.
    """
    from tallybayes.workflows.streams import Aside
    from tallybayes.workflows.tuning import tune_spec

    how |= {"grid": options.grid(tried) or None, "nested": nested or None, **held}
    check_free(session, out, force, data)
    aside = Aside()
    with session.progress() as bar:
        tuned, stored = tune_spec(
            list(data), one_standard_error=simplest, progress=bar, aside=aside, **how
        )
    if out is not None:
        save_model(session, out, stored)
    facts = session.rejected(aside, how["read"])
    if out != STANDARD:
        session.show(tuned, *([f"Saved as {out}."] if out else []), **facts, out=out)
