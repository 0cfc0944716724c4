"""`tallybayes update`, `forget` and `merge`: change a model file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option
from tallybayes.cli.paths import STANDARD, check_free, read_model, refuse_standard, save_model


@command(
    """
    # learn yesterday's rows too
    tallybayes update loan.tally yesterday.csv
    # from a pipe
    zcat more.csv.gz | tallybayes update loan.tally -
""",
    options.OLD_MODEL,
    options.DATA,
    options.LABELS,
    options.WEIGHT,
    options.READING,
)
def update(session: Session, **asked: Any) -> None:
    """Learn more rows.

    The model becomes the one of all rows together. Any number of updates may run at once, and none
    is lost: the file is locked while it changes, and replaced in one step.
    """
    from tallybayes.workflows.changing import update as updated

    _change(session, updated, **asked)


@command(
    """
    # a customer wants to be forgotten
    tallybayes forget loan.tally customer.csv
    # take back a bad file
    tallybayes forget loan.tally 'imports/bad-*.csv'
""",
    options.OLD_MODEL,
    argument(
        "data", options.PLACE, "The rows to forget, as they were learned.", nargs=-1, required=True
    ),
    options.LABELS,
    options.WEIGHT,
    options.READING,
)
def forget(session: Session, **asked: Any) -> None:
    """Take rows away again, as if never seen.

    The model becomes the one that never saw these rows. What cannot be right is refused, such as
    rows that were never learned, and the file stays as it was.
    """
    from tallybayes.workflows.changing import forget as forgotten

    _change(session, forgotten, **asked)


def _change(
    session: Session, change: Callable[..., Any], model: str, data: tuple[str, ...], **how: Any
) -> None:
    """Change a model file, and say what became of it."""
    refuse_standard(model)
    with session.progress():
        changed = change(model, list(data), **how)
    session.say_rejected(changed, how["read"])
    session.report(changed, model=model)


@command(
    """
    # the models of two branches
    tallybayes merge north.tally south.tally -o both.tally
    # add to a model that is in use
    tallybayes merge today.tally --into all.tally
""",
    argument("models", options.PLACE, "Model files.", nargs=-1, required=True),
    *options.out("The model file to write."),
    option("--into", options.PLACE, "The model file to add the others to."),
)
def merge(
    session: Session, models: tuple[str, ...], out: str | None, force: bool, into: str | None
) -> None:
    """Add models of different rows together.

    The result is the model of all rows, as if it had learned them at once. Smoothing, prior and the
    positive class are those of the first model, or of the one that the others are added to.
    """
    from tallybayes.workflows import changing

    if (out is None) == (into is None):
        raise click.UsageError("Say where the result goes: -o FILE for a new one, or --into MODEL.")
    if out is not None and len(models) < 2:
        raise click.UsageError("Merging takes two models; name another one.")
    refuse_standard(into or "")
    check_free(session, out, force, models, "add the others to it with --into")
    read = [read_model(name, models[:place]) for place, name in enumerate(models)]
    if out is not None:
        merged = changing.merge(read, models)
        save_model(session, out, merged.stored)
    else:
        merged = changing.merge_into(str(into), read, models)
    if out != STANDARD:
        session.report(merged, out=into or out)
