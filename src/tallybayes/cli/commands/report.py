"""`tallybayes report`: a page about a model that people keep."""

from __future__ import annotations

from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import command, option, refuse
from tallybayes.cli.paths import STANDARD, check_free, load_model, standard_output


@command("""
    # what the model is
    tallybayes report loan.tally -o report.html
    # how good it is too, on rows it has not seen
    tallybayes report loan.tally --data test.csv -o report.html
    # a page with a title of its own, in place of an old one
    tallybayes report loan.tally --data test.csv --title "Loans 2026" -o report.html --force
""")
@options.model()
@option(
    "--data -d",
    options.PLACE,
    "Labelled rows to judge the model by, and others named so.",
    multiple=True,
)
@options.out("The file to write, such as report.html; - is standard output.", required=True)
@option("--title", "TEXT", "The title of the page.")
@options.labels
@options.weight()
@options.reading
def report(
    session: Session, /, model: str, data: tuple[str, ...], out: str, force: bool, **how: Any
) -> None:
    """Write a report on a model: one page of HTML.

    The page needs no network and nothing else: what the model is and where it comes from, its
    tables and pictures, examples explained, and how to make it again. With --data also its scores
    with intervals, and warnings where its assumptions do not hold.
    """
    from tallybayes.workflows.reporting import report as reported
    from tallybayes.workflows.streams import Aside

    aside = Aside()
    if not data:
        refuse((options.READING,), "There is no data to read: name it with --data, or leave out")
        for name in ("target", "weight"):
            if how[name] is not None:
                raise click.UsageError(f"--{name} is a column of the data; name that with --data.")
    check_free(session, out, force, (model, *data))
    how |= {"data": list(data) or None, "names": data, "path": None if model == STANDARD else model}
    stored = load_model(model, data)
    with session.progress() as bar:
        place = None if out == STANDARD else out
        made = reported(stored, place, progress=bar, aside=aside, **how)
    facts = session.rejected(aside, how["read"])
    if out == STANDARD:
        stream = standard_output(binary=False)
        stream.write(made.html.encode("utf-8"))
        stream.flush()
    else:
        session.written.append(out)
        session.report(f"{made}.", f"Saved as {out}.", path=out, **made.to_dict(), **facts)
