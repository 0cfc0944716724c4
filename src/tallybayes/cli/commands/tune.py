"""`tallybayes tune`: try options on held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import command, option
from tallybayes.cli.holding_out import HELD, holding_out_options
from tallybayes.cli.models import save_model
from tallybayes.cli.options import (
    data_argument,
    reading_options,
    specification_options,
    target_option,
    weight_option,
)
from tallybayes.cli.outputs import check_free, out_option
from tallybayes.cli.parameters import STANDARD, Grid
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options
from tallybayes.cli.typed import pairs_once

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.files import ReadOptions


@command(
    ("find the smoothing", "tallybayes tune mails.csv -t label --text body -o spam.tally"),
    (
        "try values of your own",
        "tallybayes tune loan.csv -t cheat --try alpha=0.1,1,10 --try prior=empirical,uniform",
    ),
    ("judge by folds and the f1 score", "tallybayes tune loan.csv -t cheat --folds 5 --score f1"),
)
@data_argument()
@target_option()
@out_option("The model file to write, with the best options.")
@option(
    "--try",
    "tried",
    type=Grid(),
    multiple=True,
    metavar="OPTION=VALUE,...",
    help="Values to try of alpha, prior, unseen, calibration or families, in all combinations; "
    "0.01..10:50 are 50 values.  [default: 12 of alpha]",
)
@option("--score", default="log_loss", metavar="NAME", help="What counts.  [default: log_loss]")
@option(
    "--nested",
    type=click.IntRange(min=0),
    default=5,
    metavar="N",
    help="Folds in which the whole procedure is judged, the choice included; 0 for none.  "
    "[default: 5]",
    section=HELD,
)
@option(
    "--simplest",
    is_flag=True,
    help="Take the simplest that is at most one standard error worse than the best.",
)
@weight_option()
@holding_out_options("loo", repeats=False)
@specification_options
@reading_options
@output_options
@click.pass_obj
def tune(
    session: Session,
    data: tuple[str, ...],
    target: str,
    out: str | None,
    force: bool,
    tried: tuple[tuple[str, tuple[Any, ...]], ...],
    score: str,
    nested: int,
    simplest: bool,
    weight: str | None,
    held: dict[str, Any],
    spec: ModelSpec,
    read: ReadOptions,
) -> None:
    """Try options on held-out rows and keep the best.

    Counting is done once, however many values are tried. The best of many scores is too good, so
    the whole procedure is judged too, by rows that had no part in the choice.
    """
    from tallybayes.workflows.streams import Aside
    from tallybayes.workflows.tuning import tune_spec

    aside = Aside()
    check_free(out, force, data)
    if out == STANDARD and session.json:
        raise click.UsageError("With --json, standard output is taken; name a file with -o.")
    with session.progress() as bar:
        tuned, stored = tune_spec(
            list(data),
            target,
            spec,
            pairs_once(tried, "--try") or None,
            score=score,
            nested=nested or None,
            one_standard_error=simplest,
            weight=weight,
            read=read,
            progress=bar,
            aside=aside,
            **held,
        )
    tell_aside(session, aside, read)
    text = str(tuned)
    if out is not None:
        save_model(session, out, stored)
        text = f"{text}\n\nSaved as {out}."
    if out != STANDARD:
        session.result(text, {**with_aside(tuned.to_dict(), aside, read), "out": out})
