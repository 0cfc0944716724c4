"""Options that several commands share, and how their values become what the workflows take.

Options of one kind arrive at a command together, as one argument: `read`, `spec`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.command import OWN, Function, argument, option
from tallybayes.cli.parameters import FAMILIES, PLACE, ColumnFamily, Prior

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.files import ReadOptions

READING, COLUMNS, MODEL = "Reading", "Columns", "Model"
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")


def together(
    into: str, make: Callable[..., Any], *options: Callable[[Function], Function]
) -> Callable[[Function], Function]:
    """Make a decorator that adds options and hands their values over as one argument."""

    def decorate(command: Function) -> Function:
        @wraps(command)
        def called(*args: Any, **values: Any) -> Any:
            made = make(**{name: values.pop(name) for name in names})
            return command(*args, **{into: made}, **values)

        before = len(getattr(called, "__click_params__", ()))
        for each in reversed(options):
            each(called)
        names = [each.name for each in called.__click_params__[before:]]  # type: ignore[attr-defined]
        return called

    return decorate


def _read_options(**values: Any) -> ReadOptions:
    """Make of the reading options what the workflows take."""
    from tallybayes.sources.files import ReadOptions

    if not values["missing"]:  # the library knows the usual ones
        del values["missing"]
    return ReadOptions(header=not values.pop("no_header"), **values)


def _sign(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read a sign that is hard to type in a shell."""
    return "\t" if value in ("\\t", "tab") else value


_reading = together(
    "read",
    _read_options,
    option(
        "--format",
        type=click.Choice(FORMATS),
        help="Format of the data, if the names of the files do not tell.",
        section=READING,
    ),
    option(
        "--delimiter",
        metavar="CHAR",
        callback=_sign,
        help="What stands between values; found out if not given.",
        section=READING,
    ),
    option(
        "--quote",
        metavar="CHAR",
        default='"',
        help='What stands around values.  [default: "]',
        section=READING,
    ),
    option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files, such as latin-1.  [default: utf-8]",
        section=READING,
    ),
    option(
        "--decimal",
        metavar="CHAR",
        default=".",
        help="Decimal mark of numbers.  [default: .]",
        section=READING,
    ),
    option(
        "--missing",
        metavar="TEXT",
        multiple=True,
        help="Text that stands for no value, in place of the usual: empty, NA, NULL, ?.",
        section=READING,
    ),
    option(
        "--no-header",
        is_flag=True,
        help="The first line is a row; columns are called x0, x1, and so on.",
        section=READING,
    ),
    option(
        "--bad-rows",
        type=click.Choice(("error", "skip", "report")),
        default="error",
        help="What to do with a row that does not fit: stop, set it aside, or list it too."
        "  [default: error]",
        section=READING,
    ),
)


def reading_options(command: Function) -> Function:
    """Add how data is read: `read`."""
    return _reading(command)


def spec_of(**values: Any) -> ModelSpec:
    """Make of the specification options what the workflows take."""
    from tallybayes.model.specification import ModelSpec, parse_column

    columns: Any = {}
    for name, family in map(parse_column, values.pop("columns")):
        if name in columns:
            raise click.UsageError(f"Column {name!r} is stated twice, with --column.")
        columns[name] = family
    if values.pop("families") == "best":  # whatever is not stated
        return ModelSpec(columns=columns or "auto", **values).with_families("best")
    return ModelSpec(columns=columns or "auto", **values)


SPECIFICATION = (
    option(
        "--column",
        "columns",
        type=ColumnFamily(),
        multiple=True,
        metavar="NAME=FAMILY",
        help="State the family of a column, with options if you like: income=gaussian, "
        f"status=categorical:alpha=0.5,unseen=smooth. Families: {', '.join(FAMILIES)}.",
        section=COLUMNS,
    ),
    option(
        "--text",
        multiple=True,
        metavar="NAME",
        help="Take a column as text and count its words.",
        section=COLUMNS,
    ),
    option(
        "--drop",
        multiple=True,
        metavar="NAME",
        help="Leave a column out: an identifier, say.",
        section=COLUMNS,
    ),
    option(
        "--only",
        multiple=True,
        metavar="NAME",
        help="Use this column and others named so, no more.",
        section=COLUMNS,
    ),
    option(
        "--families",
        type=click.Choice(("auto", "best")),
        default="auto",
        help="Families of all other columns: by their type, or those that predict held-out rows "
        "best.  [default: auto]",
        section=COLUMNS,
    ),
    option(
        "--alpha",
        type=float,
        default=1.0,
        metavar="NUMBER",
        help="Smoothing: what is added to every count; 0 is none.  [default: 1]",
        section=MODEL,
    ),
    option(
        "--prior",
        type=Prior(),
        default="empirical",
        metavar="PRIOR",
        help="empirical (shares in the data), uniform, or stated: 'No=0.7,Yes=0.3'."
        "  [default: empirical]",
        section=MODEL,
    ),
    option(
        "--unseen",
        type=click.Choice(("ignore", "smooth", "error")),
        default="ignore",
        help="What a category never seen does.  [default: ignore]",
        section=MODEL,
    ),
    option(
        "--positive",
        metavar="CLASS",
        help="The class that wins no ties, and that scores are of.",
        section=MODEL,
    ),
    option(
        "--calibration",
        type=click.Choice(("temperature", "weights")),
        help="Mend over-confident probabilities: one exponent, or one a column.",
        section=MODEL,
    ),
)


def specification_options(command: Function) -> Function:
    """Add what the model is to be: `spec`."""
    return together("spec", spec_of, *SPECIFICATION)(command)


def wish_options(command: Function) -> Function:
    """Add the same options, whose values arrive as they are typed: `wish`."""
    return together("wish", dict, *SPECIFICATION)(command)


def weight_option(section: str = OWN) -> Callable[[Function], Function]:
    """Add the column of weights."""
    return option(
        "--weight",
        metavar="NAME",
        help="The column that says how often each row counts.",
        section=section,
    )


def target_option(*, required: bool = True) -> Callable[[Function], Function]:
    """Add which column is predicted."""
    return option(
        "--target",
        "-t",
        metavar="NAME",
        required=required,
        help="The column to predict.",
    )


def labels_option(command: Function) -> Function:
    """Add which column of the data holds the labels, where the model says what is predicted."""
    return option(
        "--target",
        "-t",
        metavar="NAME",
        help="The column of the data that holds the class, if it is not called as in the model.",
    )(command)


def seed_option(command: Function) -> Function:
    """Add what makes chance repeatable."""
    return option("--seed", type=int, metavar="N", help="Make chance repeatable.")(command)


def data_argument(
    about: str = "Files, folders, patterns or - for standard input.",
) -> Callable[[Function], Function]:
    """Add the data to read."""
    return argument("data", type=PLACE, nargs=-1, required=True, about=about)


def model_argument(
    about: str = "A model file, as fit writes it; - for standard input.",
) -> Callable[[Function], Function]:
    """Add the model to use."""
    return argument("model", type=PLACE, about=about)
