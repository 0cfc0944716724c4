"""`tallybayes fit` and `tune`: learn a model from data and save it."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option
from tallybayes.cli.paths import STANDARD, check_free, save_model


@command(
    """
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
    # the rows of a query
    tallybayes fit --sql 'select * from loans' --db bank.duckdb -t paid -o loans.tally
""",
    options.DATA_OR_SQL,
    options.TARGET,
    *options.out("The model file to write: name.tally. Needed unless --dry-run."),
    option("--dry-run", bool, "Show what is understood of the first rows; write nothing."),
    option("--no-scores", bool, "Do not leave rows out to score the model: faster."),
    options.WEIGHT,
    *options.SQL,
    options.SPECIFICATION,
    options.READING,
)
def fit(
    session: Session,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    dry_run: bool,
    no_scores: bool,
    sql: str | None,
    db: str | None,
    **how: Any,
) -> None:
    """Learn a model from data and save it.

    Every column gets the family that suits its type: decimal numbers a bell curve, text and
    yes-or-no a table of shares. --column says otherwise for one, --text takes it as words. What was
    understood is printed, and how well the model predicts rows that it has not seen: each row is
    predicted by the model of all others, exactly.
    """
    from tallybayes.workflows.training import preview, train

    rows = options.rows_of(data, sql, db)
    if dry_run:
        looked = preview(rows, **how)
        session.say_rejected(looked, how["read"])
        session.show(looked, out=None)
        return
    if out is None:
        raise click.UsageError("Say where to write the model, -o name.tally, or try --dry-run.")
    check_free(session, out, force, data)
    with session.progress():
        trained = train(rows, scores=not no_scores, **how)
    save_model(session, out, trained.stored)
    session.say_rejected(trained, how["read"])
    if out == STANDARD:
        session.say(f"{trained.stored.provenance.rows:,} rows in {trained.seconds:.2f} s")
    else:
        session.report(trained, f"Saved as {out} after {trained.seconds:.2f} s.", out=out)


TRY = (
    "Values to try of alpha, prior, unseen, calibration, missing or joints, in all combinations; "
    "0.01..10:50 are 50 values.  [default: 12 of alpha]"
)
NESTED = "Folds that judge the whole procedure, the choice included; 0 for none.  [default: 5]"
SIMPLEST = "Take the simplest that is at most one standard error worse than the best."


@command(
    """
    # find the smoothing
    tallybayes tune mails.csv -t label --text body -o spam.tally
    # try values of your own
    tallybayes tune loan.csv -t cheat --try alpha=0.1,1,10 --try prior=empirical,uniform
    # judge by folds and the f1 score
    tallybayes tune loan.csv -t cheat --folds 5 --score f1
""",
    options.DATA,
    options.TARGET,
    *options.out("The model file to write, with the best options."),
    option("--try tried", ["OPTION=VALUE,..."], TRY),
    option("--score", "NAME", "What counts.  [default: log_loss]", default="log_loss"),
    option("--nested", click.IntRange(min=0), NESTED, default=5, section=options.IN_FOLDS),
    option("--simplest", bool, SIMPLEST),
    options.WEIGHT,
    options.LOO,
    options.TRIED,
    options.READING,
)
def tune(
    session: Session,
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
    from tallybayes.workflows.evaluation import tune_spec

    how |= {"grid": options.grid(tried) or None, "nested": nested or None, **held}
    check_free(session, out, force, data)
    with session.progress():
        tuned = tune_spec(list(data), one_standard_error=simplest, **how)
    if out is not None:
        save_model(session, out, tuned.stored)
    session.say_rejected(tuned, how["read"])
    if out != STANDARD:
        session.show(tuned, *([f"Saved as {out}."] if out else []), out=out)
