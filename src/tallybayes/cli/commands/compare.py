"""`tallybayes compare`: which of several models is better."""

from __future__ import annotations

import shlex
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.bad_rows import tell_aside, with_aside
from tallybayes.cli.command import argument, command, option, refuse
from tallybayes.cli.holding_out import HELD, holding_out_options
from tallybayes.cli.models import is_model, load_model
from tallybayes.cli.options import (
    COLUMNS,
    MODEL,
    reading_options,
    spec_of,
    target_option,
    weight_option,
    wish_options,
)
from tallybayes.cli.parameters import PLACE, STANDARD
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.modelfile import Stored
    from tallybayes.sources.files import ReadOptions

SPECS = "Ways to make models"


@command(
    ("two models on a test file", "tallybayes compare old.tally new.tally test.csv"),
    (
        "two ways to make models, on the same folds",
        "tallybayes compare loan.csv -t cheat --spec 'curve:' --spec 'bins: --column income=bins'",
    ),
    (
        "smoothing, on repeated folds, by the log-loss",
        "tallybayes compare mails.csv -t label --text body --score log_loss --repeats 3 "
        "--spec 'a lot: --alpha 1' --spec 'little: --alpha 0.1'",
    ),
)
@argument(
    "files",
    type=PLACE,
    nargs=-1,
    required=True,
    metavar="[MODEL MODEL...] DATA...",
    about="Model files and data to test them on; or only data, with --target and --spec.",
)
@target_option(required=False)
@option(
    "--spec",
    "specs",
    multiple=True,
    metavar="'NAME: OPTIONS'",
    help="A way to make models: a name, and the options that fit would get. Options outside of it "
    "hold for all.",
    section=SPECS,
)
@option(
    "--score",
    default="accuracy",
    metavar="NAME",
    help="What counts, over several folds.  [default: accuracy]",
    section=SPECS,
)
@weight_option(section=SPECS)
@option(
    "--level",
    type=float,
    default=0.05,
    metavar="P",
    help="How small a p-value shows a difference.  [default: 0.05]",
)
@holding_out_options("folds 10", repeats=True)
@wish_options
@reading_options
@output_options
@click.pass_context
def compare(
    context: click.Context,
    files: tuple[str, ...],
    target: str | None,
    specs: tuple[str, ...],
    score: str,
    level: float,
    weight: str | None,
    held: dict[str, Any],
    wish: dict[str, Any],
    read: ReadOptions,
) -> None:
    """Tell which of several models is better, and whether that may be chance.

    Models are compared on rows that none has seen. Ways to make models are compared on the same
    held-out rows, with a test that takes into account that folds share rows.
    """
    from tallybayes.workflows.streams import Aside

    session, aside = context.ensure_object(Session), Aside()
    names = tuple(takewhile(is_model, files))
    data = list(files[len(names) :])
    if not data:
        raise click.UsageError("Name the data to compare the models on.")
    with session.progress() as bar:
        if names:
            from tallybayes.workflows.comparison import compare_models

            refuse(context, (COLUMNS, MODEL, HELD, SPECS), "The models are made already: leave out")
            found = compare_models(
                _loaded(names, data),
                data,
                target=target,
                level=level,
                read=read,
                progress=bar,
                aside=aside,
            )
        else:
            from tallybayes.workflows.comparison import compare_specs

            if target is None or not specs:
                raise click.UsageError("Name model files first, or give --target and --spec.")
            found = compare_specs(
                _specs(specs, wish),
                data,
                target,
                score=score,
                level=level,
                weight=weight,
                read=read,
                progress=bar,
                aside=aside,
                **held,
            )
    tell_aside(session, aside, read)
    session.result(str(found), with_aside(found.to_dict(), aside, read))


def _loaded(names: tuple[str, ...], data: list[str]) -> dict[str, Stored]:
    """Load models; they are called by the names of their files, as short as tells them apart."""
    if len(set(names)) < max(2, len(names)):
        raise click.UsageError("Comparing takes two different model files; name another one.")
    stems = ["standard input" if name == STANDARD else Path(name).stem for name in names]
    called = stems if len(set(stems)) == len(stems) else names
    return {short: load_model(name, data) for short, name in zip(called, names, strict=True)}


def _specs(texts: tuple[str, ...], common: dict[str, Any]) -> dict[str, ModelSpec]:
    """Return the specifications by name; what is said for all is part of each."""
    specs: dict[str, ModelSpec] = {}
    for text in texts:
        name, colon, options = text.partition(":")
        name = name.strip()
        if not (colon and name):
            raise click.UsageError(f"--spec {text!r} has no name; write 'NAME: OPTIONS'.")
        if name in specs:
            raise click.UsageError(f"Two specifications are called {name!r}.")
        specs[name] = spec_of(**_joined(common, _own(name, options)))
    if len(specs) < 2:
        raise click.UsageError("Comparing takes two specifications; give another --spec.")
    return specs


def _own(name: str, options: str) -> dict[str, Any]:
    """Return what was said of one specification."""
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise click.UsageError(f"--spec {name!r}: {error}.") from None
    try:
        context = _specification.make_context(name, words)
    except click.UsageError as error:
        raise click.UsageError(f"--spec {name!r}: {error.format_message()}") from None
    sources = {each: context.get_parameter_source(each) for each in context.params}
    return {
        each: value
        for each, value in context.params.items()
        if (source := sources[each]) is not None and source.name == "COMMANDLINE"
    }


def _joined(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return both; lists go together, otherwise the own word counts."""
    both = {
        name: (*common[name], *value) if isinstance(value, tuple) else value
        for name, value in own.items()
    }
    return {**common, **both}


@click.command(add_help_option=False)
@wish_options
def _specification(wish: dict[str, Any]) -> None:
    """Take the options of one specification."""
