"""`tallybayes compare`: which of several models is better."""

from __future__ import annotations

import shlex
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option, refuse
from tallybayes.cli.options import COLUMNS, HELD, MODEL, PLACE
from tallybayes.cli.paths import STANDARD, is_model, load_model

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.modelfile import Stored

SPECS = "Ways to make models"
FILES = "Model files and data to test them on; or only data, with --target and --spec."
SPEC = (
    "A way to make models: a name, and the options that fit would get. Options outside of it hold "
    "for all."
)
SCORE = "What counts, over several folds.  [default: accuracy]"
LEVEL = "How small a p-value shows a difference.  [default: 0.05]"


@command("""
    # two models on a test file
    tallybayes compare old.tally new.tally test.csv
    # two ways to make models, on the same folds
    tallybayes compare loan.csv -t cheat --spec 'curve:' --spec 'bins: --column income=bins'
    # smoothing, on repeated folds, by the log-loss
    tallybayes compare mails.csv -t label --text body --score log_loss --repeats 3 \
      --spec 'a lot: --alpha 1' --spec 'little: --alpha 0.1'
""")
@argument("files", PLACE, FILES, nargs=-1, required=True, metavar="[MODEL MODEL...] DATA...")
@options.target(required=False)
@option("--spec specs", ["'NAME: OPTIONS'"], SPEC, section=SPECS)
@option("--score", "NAME", SCORE, default="accuracy", section=SPECS)
@options.weight(section=SPECS)
@option("--level", float, LEVEL, default=0.05)
@options.folds
@options.specification_as_typed
@options.reading
def compare(
    session: Session,
    /,
    files: tuple[str, ...],
    target: str | None,
    specs: tuple[str, ...],
    score: str,
    weight: str | None,
    held: dict[str, Any],
    said: dict[str, Any],
    **how: Any,
) -> None:
    """Tell which of several models is better, and whether that may be chance.

    Models are compared on rows that none has seen. Ways to make models are compared on the same
    held-out rows, with a test that takes into account that folds share rows.
    """
    from tallybayes.workflows import comparison
    from tallybayes.workflows.streams import Aside

    aside = Aside()
    names = tuple(takewhile(is_model, files))
    data = list(files[len(names) :])
    if not data:
        raise click.UsageError("Name the data to compare the models on.")
    with session.progress() as bar:
        how |= {"progress": bar, "aside": aside}
        if names:
            refuse((COLUMNS, MODEL, HELD, SPECS), "The models are made already: leave out")
            found = comparison.compare_models(_loaded(names, data), data, target=target, **how)
        elif target is None or not specs:
            raise click.UsageError("Name model files first, or give --target and --spec.")
        else:
            how |= {"score": score, "weight": weight, **held}
            found = comparison.compare_specs(_specs(specs, said), data, target, **how)
    session.show(found, **session.rejected(aside, how["read"]))


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
        name, colon, words = text.partition(":")
        name = name.strip()
        if not (colon and name):
            raise click.UsageError(f"--spec {text!r} has no name; write 'NAME: OPTIONS'.")
        if name in specs:
            raise click.UsageError(f"Two specifications are called {name!r}.")
        try:
            own = _own.main(shlex.split(words), standalone_mode=False)
        except ValueError as error:
            raise click.UsageError(f"--spec {name!r}: {error}.") from None
        except click.UsageError as error:
            raise click.UsageError(f"--spec {name!r}: {error.format_message()}") from None
        # of both, lists go together, otherwise the own word counts
        both = {k: (*common.get(k, ()), *v) if isinstance(v, tuple) else v for k, v in own.items()}
        specs[name] = options.spec_of(**{**common, **both})
    if len(specs) < 2:
        raise click.UsageError("Comparing takes two specifications; give another --spec.")
    return specs


@click.command(add_help_option=False)
@options.specification_as_typed
def _own(said: dict[str, Any]) -> dict[str, Any]:
    """Take the options of one specification."""
    return said
