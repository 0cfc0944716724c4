"""`tallybayes explain`: what speaks for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallybayes.cli.command import argument, command, option
from tallybayes.cli.models import load_model
from tallybayes.cli.options import model_argument, reading_options
from tallybayes.cli.parameters import Pair, Place
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options
from tallybayes.cli.typed import json_record, pairs_once, with_known_names

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions


@command(
    (
        "a record that you type",
        "tallybayes explain loan.tally --set owner=No --set status=Married --set income=120",
    ),
    (
        "the same as JSON",
        """tallybayes explain loan.tally --record '{"owner": "No", "income": 120}'""",
    ),
    ("the third row of a file", "tallybayes explain loan.tally applicants.csv --row 3"),
)
@model_argument()
@argument("data", type=Place(), nargs=-1, about="Rows to take one from, with --row.")
@option(
    "--set",
    "values",
    type=Pair(),
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of a column; columns not set are missing.",
)
@option("--record", metavar="JSON", help="All values, as a JSON object.")
@option("--row", type=click.IntRange(min=1), metavar="N", help="The number of a row of the data.")
@reading_options
@output_options
@click.pass_obj
def explain(
    session: Session,
    model: str,
    data: tuple[str, ...],
    values: tuple[tuple[str, str], ...],
    record: str | None,
    row: int | None,
    read: ReadOptions,
) -> None:
    """Show what speaks for each class, factor by factor.

    The logarithms of the prior and of each factor are shown, which add up to the score of each
    class; and what each column says for the class that wins, against the next best.
    """
    from tallybayes.explanations import explain as explained
    from tallybayes.workflows.records import record_in, record_of

    if sum((bool(values), record is not None, bool(data))) != 1:
        raise click.UsageError("Give one record: with --set, with --record, or DATA with --row.")
    if bool(data) != (row is not None):
        raise click.UsageError("DATA and --row go together: which row of which data.")
    stored = load_model(model, data)
    if row is not None:
        given = record_in(stored, list(data), row, read=read)
    else:
        schema = stored.fitted.tally.schema
        pairs = with_known_names(values, (*schema.names, schema.target))
        typed = pairs_once(pairs, "--set") if record is None else json_record(record)
        given = record_of(stored, typed)
    explanation = explained(stored.fitted.model, given)
    session.result(str(explanation), explanation.to_dict())
