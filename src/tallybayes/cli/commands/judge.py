"""`tallybayes evaluate`, `compare` and `report`: how good a model is, or a way to make one."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option, refuse, typed
from tallybayes.cli.options import IN_COLUMNS, IN_FOLDS, IN_MODEL, IN_READING, PLACE
from tallybayes.cli.paths import STANDARD, check_free, is_model, load_model, standard_output

ONE_MODEL = "A model file and data to test it on; or only data, with --target."


@command(
    """
    # a model on a test file
    tallybayes evaluate loan.tally test.csv
    # a way to make models, on ten folds
    tallybayes evaluate loan.csv --target cheat
    # where missing a "Yes" costs ten times as much as a false alarm
    tallybayes evaluate loan.tally test.csv --loss Yes:No=10
    # each row left out in turn, with another family
    tallybayes evaluate loan.csv -t cheat --loo --column income=bins
""",
    argument("files", PLACE, ONE_MODEL, nargs=-1, required=True, metavar="[MODEL] DATA..."),
    options.TARGET_IF,
    options.WEIGHT,
    options.FOLDS,
    options.SPECIFICATION,
    options.READING,
)
def evaluate(
    session: Session,
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

    with session.progress():
        if is_model(files[0]):
            refuse("The model is made already: leave out", IN_COLUMNS, IN_MODEL, IN_FOLDS)
            if len(files) < 2:
                raise click.UsageError("Name the data to test the model on.")
            stored, data = load_model(files[0], files[1:]), list(files[1:])
            found = evaluation.evaluate(stored, data, target, use=spec, **how)
        elif target is None:
            raise click.UsageError("Name a model file first, or say what to predict: --target.")
        else:
            found = evaluation.evaluate(spec, list(files), target, **how, **held)
    session.say_rejected(found, how["read"])
    session.show(found)


WAYS = "Ways to make models are compared from Python, by tallybayes.validation.compare."
FILES = "Model files, and then data to test them on."
LEVEL = "How small a p-value shows a difference.  [default: 0.05]"


@command(
    """
    # two models on a test file
    tallybayes compare old.tally new.tally test.csv
    # where rows are counted more than once
    tallybayes compare old.tally new.tally test.csv --weight often
""",
    argument("files", PLACE, FILES, nargs=-1, required=True, metavar="MODEL MODEL... DATA..."),
    options.LABELS,
    options.WEIGHT,
    option("--level", float, LEVEL, default=0.05),
    option("--spec", ["OPTIONS"], WAYS, hidden=True),
    options.READING,
)
def compare(session: Session, files: tuple[str, ...], spec: tuple[str, ...], **how: Any) -> None:
    """Tell which of several models is better, and whether that may be chance.

    Models are compared on rows that none has seen. Ways to make models are compared from Python:
    tallybayes.validation.compare takes estimators.
    """
    from tallybayes.workflows.evaluation import compare as compared

    if spec:
        raise click.UsageError(WAYS)
    names = tuple(takewhile(is_model, files))
    data = list(files[len(names) :])
    if len(set(names)) < max(2, len(names)):
        raise click.UsageError("Comparing takes two different model files; name another one.")
    if not data:
        raise click.UsageError("Name the data to compare the models on.")
    stems = ["standard input" if name == STANDARD else Path(name).stem for name in names]
    called = stems if len(set(stems)) == len(stems) else names
    with session.progress():
        models = {short: load_model(n, data) for short, n in zip(called, names, strict=True)}
        found = compared(models, data, **how)
    session.say_rejected(found, how["read"])
    session.show(found)


@command(
    """
    # what the model is
    tallybayes report loan.tally -o report.html
    # how good it is too, on rows it has not seen
    tallybayes report loan.tally test.csv -o report.html
    # a page with a title of its own, in place of an old one
    tallybayes report loan.tally test.csv --title "Loans 2026" -o report.html --force
""",
    options.MODEL,
    argument("more", PLACE, "Labelled rows to judge the model by.", nargs=-1, metavar="[DATA...]"),
    option("--data -d", PLACE, "The same, as an option.", multiple=True),
    *options.out("The file to write, such as report.html; - is standard output.", required=True),
    option("--title", "TEXT", "The title of the page."),
    options.LABELS,
    options.WEIGHT,
    options.READING,
)
def report(
    session: Session,
    model: str,
    more: tuple[str, ...],
    data: tuple[str, ...],
    out: str,
    force: bool,
    **how: Any,
) -> None:
    """Write a report on a model: one page of HTML.

    The page needs no network and nothing else: what the model is and where it comes from, its
    tables and pictures, examples explained, and how to make it again. With data also its scores
    with intervals, and warnings where its assumptions do not hold.
    """
    from tallybayes.workflows.reporting import report as reported

    of_data, data = (IN_READING, "--target", "--weight"), (*more, *data)
    if not data:
        refuse("There is no data: name it behind the model, or leave out", *of_data)
    check_free(session, out, force, (model, *data), binary=False)
    how |= {"data": list(data) or None, "path": None if model == STANDARD else model}
    stored = load_model(model, data)
    how["options"] = []
    for name, value in typed(*of_data):  # to read and judge the same way again
        values = value if isinstance(value, tuple) else (value,)
        how["options"] += [name] if value is True else [w for one in values for w in (name, one)]
    with session.progress():
        made = reported(stored, None if out == STANDARD else out, **how)
    session.say_rejected(made, how["read"])
    if out == STANDARD:
        stream = standard_output(session, binary=False)
        stream.write(made.page.html.encode("utf-8"))
        stream.flush()
    else:
        session.report(made, f"Saved as {out}.", path=out)
