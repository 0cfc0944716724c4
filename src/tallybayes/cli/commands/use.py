"""`tallybayes predict`, `explain`, `inspect` and `sample`: what a model says, and what it is."""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option, refuse
from tallybayes.cli.paths import STANDARD, check_free, deliver_rows, load_model

if TYPE_CHECKING:
    from tallybayes.rendering import Renderable
    from tallybayes.sources.formats import ReadOptions


@command(
    """
    # to standard output, as CSV
    tallybayes predict loan.tally applicants.csv
    # to a file, with the probability of every class and all columns
    tallybayes predict loan.tally applicants.csv --proba --keep-all -o judged.parquet
    # "Yes" from a probability of .2 on, among people of whom half cheat
    tallybayes predict loan.tally applicants.csv --positive Yes --threshold 0.2 --prior uniform
    # in a pipe
    cat mails.jsonl | tallybayes predict spam.tally - --format jsonl --to jsonl --keep id
""",
    options.MODEL,
    options.DATA,
    *options.out(
        "The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output."
    ),
    options.TO,
    option("--proba", bool, "Write the probability of every class."),
    option("--keep", ["NAME"], "Write this column of the data too."),
    option("--keep-all", bool, "Write all columns of the data too."),
    options.USED,
    options.READING,
)
def predict(
    session: Session,
    model: str,
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    to: str | None,
    keep: tuple[str, ...],
    keep_all: bool,
    **how: Any,
) -> None:
    """Predict the class of every row.

    For every row, in order, its most probable class and that probability are written; with
    --threshold or --loss the class that is decided for, and the probability of that. Data is read
    and written in a stream, however large it is; a file appears only when it is complete. Only with
    --as or --json are all predictions kept until the end.
    """
    from tallybayes.workflows.prediction import predict as predicted

    if keep and keep_all:
        raise click.UsageError("--keep-all keeps every column; leave out --keep.")
    check_free(session, None if out == STANDARD else out, force, (model, *data))
    stored = load_model(model, data)
    how["keep"] = None if keep_all else keep
    if out in (None, STANDARD):  # a bar would stand among the predictions
        session.no_progress |= sys.stdout is not None and sys.stdout.isatty()

    def write(place: str | IO[bytes], to: str | None) -> Renderable:
        with session.progress():
            found = predicted(stored, list(data), place, to=to, **how)
        session.say_rejected(found, how["read"])
        return found

    deliver_rows(session, "predictions", out, to, write)


EVIDENCE, PARTS, WORKING, CHANGES = "evidence", "parts", "working", "counterfactuals"
# options that go with one of them only have a section of their own
SECTION = {each: f"With --show {each}" for each in (EVIDENCE, CHANGES)}
SHOW = (
    "What each value says for and against each class; the same, with each way in which columns are "
    "counted; the whole arithmetic, from the counts on; or the smallest changes of one or two "
    "values that change the answer.  [default: evidence]"
)


@command(
    """
    # a record that you type
    tallybayes explain loan.tally --set owner=No --set status=Married --set income=120
    # the same as JSON
    tallybayes explain loan.tally --record '{"owner": "No", "income": 120}'
    # the third row of a file
    tallybayes explain loan.tally applicants.csv --row 3
    # the whole arithmetic, from the counts on, for a notebook or a blackboard
    tallybayes explain loan.tally --set status=Married --show working --as markdown
    # the smallest changes that change the answer, but not of status
    tallybayes explain loan.tally --set income=120 --show counterfactuals --keep status
""",
    options.MODEL,
    argument("data", options.PLACE, "Rows to take one from: the first, or see --row.", nargs=-1),
    option("--set values", ["NAME=VALUE"], "The value of a column; columns not set are missing."),
    option("--record", "JSON", "All values, as a JSON object."),
    option("--row", click.IntRange(min=1), "The number of a row of the data, if not the first."),
    option("--show", (EVIDENCE, PARTS, WORKING, CHANGES), SHOW, default=EVIDENCE),
    option("--for one", "CLASS", "The class it speaks for.", section=SECTION[EVIDENCE]),
    option("--against other", "CLASS", "The class it speaks against.", section=SECTION[EVIDENCE]),
    option("--to", "CLASS", "The answer that they shall lead to.", section=SECTION[CHANGES]),
    option("--keep", ["NAME"], "A column that stays.", section=SECTION[CHANGES]),
    options.READING,
)
def explain(
    session: Session,
    model: str,
    data: tuple[str, ...],
    values: tuple[str, ...],
    record: str | None,
    row: int | None,
    read: ReadOptions,
    **how: Any,
) -> None:
    """Show what speaks for each class, factor by factor.

    The logarithms of the prior and of each factor are shown, which add up to the score of each
    class; and what each column says for the class that wins, against the next best.
    """
    from tallybayes.workflows.records import explain as explained, record_in, record_of

    for name, section in SECTION.items():
        if name != how["show"]:
            refuse(f"Say --show {name}, or leave out", section)
    if sum((bool(values), record is not None, bool(data))) != 1:
        raise click.UsageError("Give one record: with --set, with --record, or as a row of DATA.")
    if row is not None and not data:
        raise click.UsageError("Say which data --row is a row of.")
    typed = options.pairs(values, "--set") if record is None else _record(record)
    stored = load_model(model, data)
    given = record_in(stored, [*data], row or 1, read=read) if data else record_of(stored, typed)
    session.show(explained(stored, given, **how))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its names and values; a name that is there twice is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise click.UsageError(f"The record names {twice!r} twice; give it one value.")
    return found


def _record(text: str) -> dict[str, Any]:
    """Read a record that was typed as JSON."""
    example = """write for example '{"income": 120, "status": "Married"}'."""
    try:
        record = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"The record is no JSON ({error}); {example}") from None
    if not isinstance(record, dict):
        raise click.UsageError(f"The record is not a JSON object; {example}")
    return record


@command(
    """
    # all of a small model
    tallybayes inspect loan.tally
    # one column
    tallybayes inspect loan.tally --column status
    # the 20 most informative words of each text
    tallybayes inspect spam.tally --words 20
""",
    options.MODEL,
    option("--column columns", ["NAME"], "Show this column, and others named so."),
    option("--words", click.IntRange(min=1), "How many words of a text.", default=10),
)
def inspect(session: Session, model: str, columns: tuple[str, ...], words: int) -> None:
    """Show what a model has counted and estimated.

    Priors, tables of likelihoods as fractions and decimals, means and variances, the most
    informative words, how many parameters there are, how large the file is and where it comes from.
    """
    from tallybayes.report.inspection import inspect_model

    path = None if model == STANDARD else model
    inspection = inspect_model(load_model(model), path, columns=columns or None, words=words)
    session.show(inspection)
    if inspection.is_cut:
        session.say("There is more: --column NAME shows all of a column, --words N more words.")


@command(
    """
    # three rows
    tallybayes sample loan.tally -n 3
    # applicants who would cheat, the same every time
    tallybayes sample loan.tally -n 100 --given cheat=Yes --seed 1 -o cheats.csv
""",
    options.MODEL,
    option("-n n", click.IntRange(1, 10**9), "How many rows.  [default: 10]", default=10),
    option("--given", ["NAME=VALUE"], "What is known: the class, or the value of a column."),
    option("--seed", int, "Make chance repeatable."),
    *options.out(
        "The file to write: .csv, .tsv, .parquet, .arrow or .jsonl; - is standard output."
    ),
    options.TO,
)
def sample(
    session: Session, model: str, out: str | None, force: bool, to: str | None, **how: Any
) -> None:
    """Draw plausible rows from a model.

    A class is drawn by the prior (or by what is given), then each column given the class.
    """
    from tallybayes.rendering import Document
    from tallybayes.workflows.records import sample as drawn

    how["given"] = options.pairs(how["given"], "--given")
    check_free(session, None if out == STANDARD else out, force, (model,))
    stored = load_model(model)

    def write(place: str | IO[bytes], to: str | None) -> Renderable:
        n = drawn(stored, out=place, to=to, **how)
        return Document((f"{n:,} rows were drawn.",), how)

    deliver_rows(session, "records", out, to, write)
