"""`tallybayes evaluate`: how good a model is, or a way to make one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import argument, command, refuse
from tallybayes.cli.holding_out import HELD, holding_out_options
from tallybayes.cli.models import is_model, load_model
from tallybayes.cli.options import (
    COLUMNS,
    MODEL,
    reading_options,
    specification_options,
    target_option,
    weight_option,
)
from tallybayes.cli.parameters import PLACE
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.files import ReadOptions


@command(
    ("a model on a test file", "tallybayes evaluate loan.tally test.csv"),
    ("a way to make models, on ten folds", "tallybayes evaluate loan.csv --target cheat"),
    (
        "each row left out in turn, with another family",
        "tallybayes evaluate loan.csv -t cheat --loo --column income=bins",
    ),
)
@argument(
    "files",
    type=PLACE,
    nargs=-1,
    required=True,
    metavar="[MODEL] DATA...",
    about="A model file and data to test it on; or only data, with --target.",
)
@target_option(required=False)
@weight_option()
@holding_out_options("folds 10", repeats=True)
@specification_options
@reading_options
@output_options
@click.pass_context
def evaluate(
    context: click.Context,
    files: tuple[str, ...],
    target: str | None,
    held: dict[str, Any],
    spec: ModelSpec,
    weight: str | None,
    read: ReadOptions,
) -> None:
    """Score a model, or a way to make one.

    With a model file, the data are rows that the model has not seen. Without one, models are made
    from the data as fit would make them, and judged by rows that were held out: in folds, each on
    its own, or once.
    """
    from tallybayes.workflows.streams import Aside

    session, aside = context.ensure_object(Session), Aside()
    with session.progress() as bar:
        if is_model(files[0]):
            from tallybayes.workflows.evaluation import evaluate_model

            refuse(context, (COLUMNS, MODEL, HELD), "The model is made already: leave out")
            if len(files) < 2:
                raise click.UsageError("Name the data to test the model on.")
            report = evaluate_model(
                load_model(files[0], files[1:]),
                list(files[1:]),
                target=target,
                weight=weight,
                read=read,
                progress=bar,
                aside=aside,
            )
        else:
            from tallybayes.workflows.evaluation import evaluate as evaluated

            if target is None:
                raise click.UsageError("Name a model file first, or say what to predict: --target.")
            report = evaluated(
                list(files),
                target,
                spec,
                weight=weight,
                read=read,
                progress=bar,
                aside=aside,
                **held,
            )
    tell_aside(session, aside, read)
    session.result(str(report), with_aside(report.to_dict(), aside, read))
