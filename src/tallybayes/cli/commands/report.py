"""`tallybayes report`: a page about a model that people keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import command, option, refuse
from tallybayes.cli.models import load_model
from tallybayes.cli.options import (
    READING,
    labels_option,
    model_argument,
    reading_options,
    weight_option,
)
from tallybayes.cli.outputs import check_free, out_option, standard_output
from tallybayes.cli.parameters import PLACE, STANDARD
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions


@command(
    ("what the model is", "tallybayes report loan.tally -o report.html"),
    (
        "how good it is too, on rows it has not seen",
        "tallybayes report loan.tally --data test.csv -o report.html",
    ),
    (
        "a page with a title of its own, in place of an old one",
        'tallybayes report loan.tally --data test.csv --title "Loans 2026" -o report.html --force',
    ),
)
@model_argument()
@option(
    "--data",
    "-d",
    type=PLACE,
    multiple=True,
    metavar="FILE",
    help="Labelled rows to judge the model by, and others named so.",
)
@out_option("The file to write, such as report.html; - is standard output.", required=True)
@option("--title", metavar="TEXT", help="The title of the page.")
@labels_option
@weight_option()
@reading_options
@output_options
@click.pass_context
def report(
    context: click.Context,
    model: str,
    data: tuple[str, ...],
    out: str,
    force: bool,
    title: str | None,
    target: str | None,
    weight: str | None,
    read: ReadOptions,
) -> None:
    """Write a report on a model: one page of HTML.

    The page needs no network and nothing else: what the model is and where it comes from, its
    tables and pictures, examples explained, and how to make it again. With --data also its scores
    with intervals, and warnings where its assumptions do not hold.
    """
    from tallybayes.workflows.reporting import report as reported
    from tallybayes.workflows.streams import Aside

    session, aside = context.ensure_object(Session), Aside()
    if not data:
        refuse(context, (READING,), "There is no data to read: name it with --data, or leave out")
        for name, value in (("--target", target), ("--weight", weight)):
            if value is not None:
                raise click.UsageError(f"{name} is a column of the data; name that with --data.")
    if out == STANDARD and session.json:
        raise click.UsageError("With --json, standard output is taken; name a file with -o.")
    check_free(out, force, (model, *data))
    stored = load_model(model, data)
    with session.progress() as bar:
        made = reported(
            stored,
            None if out == STANDARD else out,
            data=list(data) or None,
            target=target,
            weight=weight,
            read=read,
            title=title,
            path=None if model == STANDARD else model,
            names=data,
            progress=bar,
            aside=aside,
        )
    tell_aside(session, aside, read)
    if out == STANDARD:
        stream = standard_output(session, binary=False)
        stream.write(made.html.encode("utf-8"))
        stream.flush()
        return
    session.written.append(out)
    facts = {"path": out, **made.to_dict()}
    session.report(f"{made}.\nSaved as {out}.", with_aside(facts, aside, read))
