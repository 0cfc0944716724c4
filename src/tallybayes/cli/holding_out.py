"""Options that say which rows are held out to judge a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tallybayes.cli.command import Function, option
from tallybayes.cli.options import together

HELD = "Held-out rows"


def _chosen(
    folds: int | None, loo: bool, split: float | None, seed: int, repeats: int = 1
) -> dict[str, Any]:
    """Return how rows are held out, as the workflows take it; nothing if nothing was said."""
    if sum((folds is not None, loo, split is not None)) > 1:
        raise click.UsageError("Choose one of --folds, --loo and --split.")
    if repeats > 1 and (loo or split is not None):
        raise click.UsageError("--repeats draws folds anew; it goes with --folds only.")
    said: Any = "loo" if loo else folds if split is None else split
    found = {"seed": seed} if repeats == 1 else {"seed": seed, "repeats": repeats}
    return found if said is None else {**found, "folds": said}


def holding_out_options(default: str, *, repeats: bool) -> Callable[[Function], Function]:
    """Add which rows are held out: `held`, with `folds`, `repeats` and `seed` where given."""
    options = [
        option(
            "--folds",
            type=click.IntRange(min=2),
            metavar="N",
            help=f"Hold rows out in so many folds.{_default(default, 'folds')}",
            section=HELD,
        ),
        option(
            "--loo",
            is_flag=True,
            help=f"Hold each row out on its own.{_default(default, 'loo')}",
            section=HELD,
        ),
        option(
            "--split",
            type=float,
            metavar="SHARE",
            callback=_share,
            help="Hold out this share of the rows, once: 0.2.",
            section=HELD,
        ),
        option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="What the shuffling begins with; the same number, the same folds.  [default: 0]",
            section=HELD,
        ),
    ]
    if repeats:
        options.insert(
            3,
            option(
                "--repeats",
                type=click.IntRange(min=1),
                default=1,
                metavar="N",
                help="Draw the folds so many times.  [default: 1]",
                section=HELD,
            ),
        )
    return together("held", _chosen, *options)


def _default(default: str, of: str) -> str:
    """Say what holds if nothing is said."""
    what, _, value = default.partition(" ")
    return f"  [default{f': {value}' if value else ''}]" if what == of else ""


def _share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse what is no share."""
    if value is not None and not 0.0 < value < 1.0:
        raise click.BadParameter(f"{value:g} is no share; it lies between 0 and 1.", ctx, param)
    return value
