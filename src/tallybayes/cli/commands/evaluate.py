"""`tallybayes evaluate`: how good a model is, or a way to make one."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, refuse
from tallybayes.cli.options import COLUMNS, HELD, MODEL, PLACE
from tallybayes.cli.paths import is_model, load_model

FILES = "A model file and data to test it on; or only data, with --target."


@command("""
    # a model on a test file
    tallybayes evaluate loan.tally test.csv
    # a way to make models, on ten folds
    tallybayes evaluate loan.csv --target cheat
    # each row left out in turn, with another family
    tallybayes evaluate loan.csv -t cheat --loo --column income=bins
""")
@argument("files", PLACE, FILES, nargs=-1, required=True, metavar="[MODEL] DATA...")
@options.target(required=False)
@options.weight()
@options.folds
@options.specification
@options.reading
def evaluate(
    session: Session,
    /,
    files: tuple[str, ...],
    held: dict[str, Any],
    spec: Any,
    target: str | None,
    **how: Any,
) -> None:
    """Score a model, or a way to make one.

    With a model file, the data are rows that the model has not seen. Without one, models are made
    from the data as fit would make them, and judged by rows that were held out: in folds, each on
    its own, or once.
    """
    from tallybayes.workflows import evaluation
    from tallybayes.workflows.streams import Aside

    aside = Aside()
    with session.progress() as bar:
        how |= {"progress": bar, "aside": aside}
        if is_model(files[0]):
            refuse((COLUMNS, MODEL, HELD), "The model is made already: leave out")
            if len(files) < 2:
                raise click.UsageError("Name the data to test the model on.")
            stored, data = load_model(files[0], files[1:]), list(files[1:])
            report = evaluation.evaluate_model(stored, data, target=target, **how)
        elif target is None:
            raise click.UsageError("Name a model file first, or say what to predict: --target.")
        else:
            report = evaluation.evaluate(list(files), target, spec, **how, **held)
    session.show(report, **session.rejected(aside, how["read"]))
