"""`tallybayes update`, `forget` and `merge`: change a model file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import argument, command, option
from tallybayes.cli.models import read_model, refuse_standard, save_model
from tallybayes.cli.options import (
    data_argument,
    labels_option,
    model_argument,
    reading_options,
    weight_option,
)
from tallybayes.cli.outputs import check_free, out_option
from tallybayes.cli.parameters import PLACE, STANDARD
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.modelfile import Stored
    from tallybayes.sources.files import ReadOptions


@command(
    ("learn yesterday's rows too", "tallybayes update loan.tally yesterday.csv"),
    ("from a pipe", "zcat more.csv.gz | tallybayes update loan.tally -"),
)
@model_argument("The model file to change.")
@data_argument()
@labels_option
@weight_option()
@reading_options
@output_options
@click.pass_obj
def update(session: Session, /, **asked: Any) -> None:
    """Learn more rows.

    The model becomes the one of all rows together. Any number of updates may run at once, and none
    is lost: the file is locked while it changes, and replaced in one step.
    """
    from tallybayes.workflows.changing import update as updated

    _change(session, updated, **asked)


@command(
    ("a customer wants to be forgotten", "tallybayes forget loan.tally customer.csv"),
    ("take back a bad file", "tallybayes forget loan.tally 'imports/bad-*.csv'"),
)
@model_argument("The model file to change.")
@data_argument("The rows to forget, as they were learned.")
@labels_option
@weight_option()
@reading_options
@output_options
@click.pass_obj
def forget(session: Session, /, **asked: Any) -> None:
    """Take rows away again, as if never seen.

    The model becomes the one that never saw these rows. What cannot be right is refused, such as
    rows that were never learned, and the file stays as it was.
    """
    from tallybayes.workflows.changing import forget as forgotten

    _change(session, forgotten, **asked)


def _change(
    session: Session,
    change: Callable[..., Any],
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    read: ReadOptions,
) -> None:
    """Change a model file, and say what became of it."""
    refuse_standard(model)
    with session.progress() as bar:
        changed = change(model, list(data), target=target, weight=weight, read=read, progress=bar)
    session.written.append(model)
    tell_aside(session, changed.aside, read)
    facts = with_aside(changed.to_dict(), changed.aside, read)
    session.report(str(changed), {**facts, "model": model})


@command(
    ("the models of two branches", "tallybayes merge north.tally south.tally -o both.tally"),
    ("add to a model that is in use", "tallybayes merge today.tally --into all.tally"),
)
@argument("models", type=PLACE, nargs=-1, required=True, about="Model files.")
@out_option("The model file to write.")
@option("--into", type=PLACE, metavar="MODEL", help="The model file to add the others to.")
@output_options
@click.pass_obj
def merge(
    session: Session, models: tuple[str, ...], out: str | None, force: bool, into: str | None
) -> None:
    """Add models of different rows together.

    The result is the model of all rows, as if it had learned them at once. Smoothing, prior and the
    positive class are those of the first model, or of the one that the others are added to.
    """
    from tallybayes.modelfile import changing
    from tallybayes.workflows.changing import merge as merged

    if (out is None) == (into is None):
        raise click.UsageError("Say where the result goes: -o FILE for a new one, or --into MODEL.")
    if into is not None:
        refuse_standard(into)
        others = _read(models)
        with changing(into) as change:
            stored = merged([change.stored, *others], [into, *models])
            change.save(stored)
        session.written.append(into)
    else:
        assert out is not None
        if len(models) < 2:
            raise click.UsageError("Merging takes two models; name another one.")
        if out == STANDARD and session.json:
            raise click.UsageError("With --json, standard output is taken; name a file with -o.")
        check_free(out, force, models, "add the others to it with --into")
        stored = merged(_read(models), models)
        save_model(session, out, stored)
    if out != STANDARD:
        _tell(session, stored, str(into or out))


def _read(models: tuple[str, ...]) -> list[Stored]:
    """Read models, of which one may come from standard input."""
    return [read_model(name, models[:place]) for place, name in enumerate(models)]


def _tell(session: Session, stored: Stored, where: str) -> None:
    """Say what the merged model has counted."""
    tally = stored.fitted.tally
    counted = list(zip(tally.classes, tally.rows.tolist(), strict=True))
    total = sum(rows for _, rows in counted)
    shown = ", ".join(f"{rows:,} {label!r}" for label, rows in counted[:10])
    facts = {
        "rows": total,
        "classes": [{"label": label, "rows": rows} for label, rows in counted],
        "out": where,
    }
    session.report(f"{where} has {total:,} rows now{f': {shown}' if shown else ''}", facts)
