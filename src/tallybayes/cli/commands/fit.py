"""`tallybayes fit`: learn a model from data and save it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import command, option
from tallybayes.cli.models import save_model
from tallybayes.cli.options import (
    data_argument,
    reading_options,
    specification_options,
    target_option,
    weight_option,
)
from tallybayes.cli.outputs import check_free, out_option, standard_output
from tallybayes.cli.parameters import STANDARD
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.files import ReadOptions


@command(
    ("learn to predict the column cheat", "tallybayes fit loan.csv --target cheat -o loan.tally"),
    (
        "say what columns are, and smooth less",
        "tallybayes fit loan.csv -t cheat --column income=bins --alpha 0.5 -o loan.tally",
    ),
    (
        "count the words of a column",
        "tallybayes fit mails.csv -t label --text subject --positive spam -o spam.tally",
    ),
    (
        "look first what is understood of a lake of files",
        "tallybayes fit 'lake/*.parquet' -t outcome --drop id --dry-run",
    ),
    ("at the end of a pipe", "zcat log.csv.gz | tallybayes fit - -t status -o log.tally"),
)
@data_argument()
@target_option()
@out_option("The model file to write: name.tally. Needed unless --dry-run.")
@option("--dry-run", is_flag=True, help="Show what is understood of the first rows; write nothing.")
@option("--no-scores", is_flag=True, help="Do not leave rows out to score the model: faster.")
@weight_option()
@specification_options
@reading_options
@output_options
@click.pass_obj
def fit(
    session: Session,
    data: tuple[str, ...],
    target: str,
    out: str | None,
    force: bool,
    dry_run: bool,
    no_scores: bool,
    spec: ModelSpec,
    weight: str | None,
    read: ReadOptions,
) -> None:
    """Learn a model from data and save it.

    Every column gets the family that suits its type: decimal numbers a bell curve, text and
    yes-or-no a table of shares. --column says otherwise for one, --text takes it as words. What was
    understood is printed, and how well the model predicts rows that it has not seen: each row is
    predicted by the model of all others, exactly.
    """
    from tallybayes.workflows.training import look, train

    if dry_run:
        looked = look(list(data), target, spec, weight=weight, read=read)
        tell_aside(session, looked.aside, read)
        facts = with_aside(looked.to_dict(), looked.aside, read)
        session.result(str(looked), {**facts, "out": None})
        return
    if out is None:
        raise click.UsageError("Say where to write the model, -o name.tally, or try --dry-run.")
    check_free(out, force, data)
    if out == STANDARD:
        if session.json:
            raise click.UsageError("With --json, standard output is taken; name a file with -o.")
        standard_output(session, binary=True)
    with session.progress() as bar:
        trained = train(
            list(data),
            target,
            spec,
            weight=weight,
            read=read,
            scores=not no_scores,
            progress=bar,
        )
    save_model(session, out, trained.stored)
    tell_aside(session, trained.aside, read)
    if out == STANDARD:
        session.say(f"{trained.stored.provenance.rows:,} rows in {trained.seconds:.2f} s")
        return
    done = f"\nSaved as {out} after {trained.seconds:.2f} s."
    facts = with_aside(trained.to_dict(), trained.aside, read)
    session.report(f"{trained}\n{done}", {**facts, "out": out})
