"""`tallybayes explain`: what speaks for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallybayes.cli.command import argument, command, option, refuse
from tallybayes.cli.models import load_model
from tallybayes.cli.options import model_argument, reading_options
from tallybayes.cli.parameters import PLACE, Pair
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options
from tallybayes.cli.typed import json_record, pairs_once

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions
    from tallybayes.sources.labels import Label


EVIDENCE, WORKING, CHANGES = "evidence", "working", "counterfactuals"
# options that go with one of them only have a section of their own
SECTION = {each: f"With --show {each}" for each in (EVIDENCE, WORKING, CHANGES)}


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
    (
        "the whole arithmetic, from the counts on, for a notebook or a blackboard",
        "tallybayes explain loan.tally --set status=Married --show working --as markdown",
    ),
    (
        "the smallest changes that change the answer, but not of status",
        "tallybayes explain loan.tally --set income=120 --show counterfactuals --keep status",
    ),
)
@model_argument()
@argument("data", type=PLACE, nargs=-1, about="Rows to take one from, with --row.")
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
@option(
    "--show",
    type=click.Choice(list(SECTION)),
    default=EVIDENCE,
    show_default=True,
    help="What each value says for and against each class; the whole arithmetic, from the counts "
    "on; or the smallest changes of one or two values that change the answer.",
)
@option("--for", "one", metavar="CLASS", help="The class it speaks for.", section=SECTION[EVIDENCE])
@option(
    "--against",
    "other",
    metavar="CLASS",
    help="The class it speaks against.",
    section=SECTION[EVIDENCE],
)
@option(
    "--as",
    "form",
    type=click.Choice(["text", "markdown", "latex", "html"]),
    default="text",
    help="How it is written.",
    section=SECTION[WORKING],
)
@option(
    "--to", metavar="CLASS", help="The answer that they shall lead to.", section=SECTION[CHANGES]
)
@option(
    "--keep", metavar="NAME", multiple=True, help="A column that stays.", section=SECTION[CHANGES]
)
@reading_options
@output_options
@click.pass_context
def explain(
    context: click.Context,
    model: str,
    data: tuple[str, ...],
    values: tuple[tuple[str, str], ...],
    record: str | None,
    row: int | None,
    show: str,
    form: str,
    one: str | None,
    other: str | None,
    to: str | None,
    keep: tuple[str, ...],
    read: ReadOptions,
) -> None:
    """Show what speaks for each class, factor by factor.

    The logarithms of the prior and of each factor are shown, which add up to the score of each
    class; and what each column says for the class that wins, against the next best.
    """
    from tallybayes.explanations import counterfactuals
    from tallybayes.explanations import explain as explained
    from tallybayes.workflows.records import record_in, record_of

    session = context.ensure_object(Session)
    for name, section in SECTION.items():
        if name != show:
            refuse(context, [section], f"Say --show {name}, or leave out")
    if sum((bool(values), record is not None, bool(data))) != 1:
        raise click.UsageError("Give one record: with --set, with --record, or DATA with --row.")
    if bool(data) != (row is not None):
        raise click.UsageError("DATA and --row go together: which row of which data.")
    stored = load_model(model, data)
    if row is not None:
        given = record_in(stored, list(data), row, read=read)
    else:
        typed = pairs_once(values, "--set") if record is None else json_record(record)
        given = record_of(stored, typed)
    classes = stored.fitted.model.classes
    if show == WORKING:
        shown = explained(stored.fitted, given, "working")
        session.result(getattr(shown, f"to_{form}")(), shown.to_dict())
    elif show == CHANGES:
        changes = counterfactuals(stored.fitted, given, _class(to, classes), keep=keep)
        session.result(str(changes), changes.to_dict())
    else:
        pair = _class(one, classes), _class(other, classes)
        found = explained(stored.fitted, given)
        text = str(found if found.runner_up is None else found.against(*pair))
        session.result(text, found.to_dict(*pair))


def _class(word: str | None, classes: tuple[Label, ...]) -> Label | None:
    """Return the class that is meant, if one was typed."""
    from tallybayes.model.specification import label_of

    return None if word is None else label_of(word, classes)
