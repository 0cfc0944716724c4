"""`tallybayes explain`: what speaks for each class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option, refuse
from tallybayes.cli.paths import load_model

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions
    from tallybayes.sources.labels import Label

EVIDENCE, WORKING, CHANGES = "evidence", "working", "counterfactuals"
# options that go with one of them only have a section of their own
SECTION = {each: f"With --show {each}" for each in (EVIDENCE, CHANGES)}
SHOW = (
    "What each value says for and against each class; the whole arithmetic, from the counts on; or "
    "the smallest changes of one or two values that change the answer.  [default: evidence]"
)


@command("""
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
""")
@options.model()
@argument("data", options.PLACE, "Rows to take one from, with --row.", nargs=-1)
@option("--set values", ["NAME=VALUE"], "The value of a column; columns not set are missing.")
@option("--record", "JSON", "All values, as a JSON object.")
@option("--row", click.IntRange(min=1), "The number of a row of the data.")
@option("--show", (EVIDENCE, WORKING, CHANGES), SHOW, default=EVIDENCE)
@option("--for one", "CLASS", "The class it speaks for.", section=SECTION[EVIDENCE])
@option("--against other", "CLASS", "The class it speaks against.", section=SECTION[EVIDENCE])
@option("--to", "CLASS", "The answer that they shall lead to.", section=SECTION[CHANGES])
@option("--keep", ["NAME"], "A column that stays.", section=SECTION[CHANGES])
@options.reading
def explain(
    session: Session,
    model: str,
    data: tuple[str, ...],
    values: tuple[str, ...],
    record: str | None,
    row: int | None,
    show: str,
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
    from tallybayes.rendering import Document
    from tallybayes.workflows.records import record_in, record_of

    for name, section in SECTION.items():
        if name != show:
            refuse([section], f"Say --show {name}, or leave out")
    if sum((bool(values), record is not None, bool(data))) != 1:
        raise click.UsageError("Give one record: with --set, with --record, or DATA with --row.")
    if bool(data) != (row is not None):
        raise click.UsageError("DATA and --row go together: which row of which data.")
    typed = options.pairs(values, "--set") if record is None else _record(record)
    stored = load_model(model, data)
    if row is not None:
        given = record_in(stored, list(data), row, read=read)
    else:
        given = record_of(stored, typed)
    classes = stored.fitted.model.classes
    if show == WORKING:
        session.show(explained(stored.fitted, given, "working"))
    elif show == CHANGES:
        session.show(counterfactuals(stored.fitted, given, _class(to, classes), keep=keep))
    else:
        pair = _class(one, classes), _class(other, classes)
        found = explained(stored.fitted, given)
        shown = found if found.runner_up is None else found.against(*pair)
        session.show(Document(tuple(shown.document()), found.to_dict(*pair)))


def _record(text: str) -> dict[str, Any]:
    """Read a record that was typed as JSON."""
    example = """write for example '{"income": 120, "status": "Married"}'."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"The record is no JSON ({error}); {example}") from None
    if not isinstance(record, dict):
        raise click.UsageError(f"The record is not a JSON object; {example}")
    return record


def _class(word: str | None, classes: tuple[Label, ...]) -> Label | None:
    """Return the class that is meant, if one was typed."""
    from tallybayes.model.specification import label_of

    return None if word is None else label_of(word, classes)
