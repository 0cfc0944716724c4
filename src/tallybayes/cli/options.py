"""Options that several commands share, and how their values become what the workflows take.

Options of one kind arrive at a command together, as one argument: `read`, `spec`, `held`. What was
not typed is not handed on, so that the library alone says what holds then; a test looks whether the
help tells the truth about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.main import OWN, Function, argument, made_option, option, with_parameters

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.files import ReadOptions

READING, COLUMNS, MODEL, HELD = "Reading", "Columns", "Model", "Held-out rows"
PLACE = click.Path(readable=False, allow_dash=True)  # also a folder, a pattern, an address
CHOICES = {
    "prior": ("empirical", "uniform"),
    "unseen": ("ignore", "smooth", "error"),
    "calibration": ("temperature", "weights"),
    "families": ("auto", "best"),
}
# section, names, what the value is, help
READ = (
    (READING, "--format", "NAME", "Format of the data, if the names of the files do not tell."),
    (READING, "--delimiter", "CHAR", "What stands between values; found out if not given."),
    (READING, "--quote", "CHAR", 'What stands around values.  [default: "]'),
    (READING, "--encoding", "NAME", "Encoding of text files: latin-1, say.  [default: utf-8]"),
    (READING, "--decimal", "CHAR", "Decimal mark of numbers.  [default: .]"),
    (READING, "--missing", ["TEXT"], "What stands for no value, instead of: empty, NA, NULL, ?."),
    (READING, "--no-header", bool, "The first line is a row; columns are named x0, x1, and so on."),
    (READING, "--bad-rows", ("error", "skip", "report"),
     "What to do with a row that does not fit: stop, set it aside, or list it too."
     "  [default: error]"),
)  # fmt: skip
SPECIFICATION = (
    (COLUMNS, "--column columns", ["NAME=FAMILY"],
     "State the family of a column, with options if you like: income=gaussian, "
     "status=categorical:alpha=0.5,unseen=smooth. Families: {families}."),
    (COLUMNS, "--text", ["NAME"], "Take a column as text and count its words."),
    (COLUMNS, "--drop", ["NAME"], "Leave a column out: an identifier, say."),
    (COLUMNS, "--only", ["NAME"], "Use this column and others named so, no more."),
    (COLUMNS, "--families", CHOICES["families"],
     "Families of all other columns: by their type, or those that predict held-out rows best."
     "  [default: auto]"),
    (MODEL, "--alpha", float, "Smoothing: what is added to every count; 0 is none.  [default: 1]"),
    (MODEL, "--prior", "PRIOR",
     "empirical (shares in the data), uniform, or stated: 'No=0.7,Yes=0.3'.  [default: empirical]"),
    (MODEL, "--unseen", CHOICES["unseen"], "What a category never seen does.  [default: ignore]"),
    (MODEL, "--positive", "CLASS", "The class that wins no ties, and that scores are of."),
    (MODEL, "--calibration", CHOICES["calibration"],
     "Mend over-confident probabilities: one exponent, or one a column."),
)  # fmt: skip


def together(
    into: str, make: Callable[..., Any], rows: Iterable[tuple[str, str, Any, str]]
) -> Callable[[Function], Function]:
    """Make a decorator that adds options and hands what was typed over as one argument."""

    def decorate(command: Function) -> Function:
        added = [made_option(*row, section=section) for section, *row in rows]

        @wraps(command)
        def called(*args: Any, **values: Any) -> Any:
            given = {str(each.name): values.pop(each.name) for each in added}
            said = {k: v for k, v in given.items() if v not in (None, ()) and v is not False}
            return command(*args, **{into: make(**said)}, **values)

        return with_parameters(lambda: added)(called)

    return decorate


def _read_options(**said: Any) -> ReadOptions:
    """Make of the reading options what the workflows take."""
    from tallybayes.sources.files import ReadOptions

    if said.get("delimiter") in ("\\t", "tab"):  # hard to type in a shell
        said["delimiter"] = "\t"
    return ReadOptions(header=not said.pop("no_header", False), **said)


def spec_of(**said: Any) -> ModelSpec:
    """Make of the specification options what the workflows take."""
    from tallybayes.model.specification import ModelSpec, parse_column

    columns: Any = {}
    for text in said.pop("columns", ()):
        name, sign, family = text.partition("=")
        if not (name and sign and family):
            raise click.UsageError(
                f"--column {text!r} is not of the form NAME=FAMILY, such as income=gaussian."
            )
        name, family = parse_column(text)
        if name in columns:
            raise click.UsageError(f"Column {name!r} is stated twice, with --column.")
        columns[name] = family
    if "prior" in said:
        said["prior"] = _prior(said["prior"])
    families = said.pop("families", "auto")
    return ModelSpec(columns=columns or "auto", **said).with_families(families)


def _prior(text: str) -> str | dict[str, float]:
    """Read a word, or CLASS=P,CLASS=P."""
    if text in CHOICES["prior"]:
        return text
    stated: dict[str, float] = {}
    for part in text.split(","):
        label, _, share = part.rpartition("=")
        p = _number(share)
        if not label.strip() or p is None:
            hint = "empirical, uniform, or the prior of every class: 'No=0.7,Yes=0.3'"
            raise click.UsageError(f"--prior {text!r} is not a prior; expected {hint}.")
        stated[label.strip()] = p
    return stated


def pairs(texts: Iterable[str], name: str) -> dict[str, str]:
    """Read NAME=VALUE, cut at the first sign of equality; each name may come once."""
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not (key and sign):
            raise click.UsageError(f"{name} {text!r} is not of the form NAME=VALUE.")
        if key in found:
            raise click.UsageError(f"{name} {key}=... is there twice.")
        found[key] = value
    return found


def grid(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Read OPTION=VALUE,VALUE,... or OPTION=LEAST..GREATEST:NUMBER."""
    found: dict[str, list[Any]] = {}
    for name, text in pairs(texts, "--try").items():
        if name == "alpha":
            known = "numbers: 0.1,1,10 or 0.01..10:50"
            values: list[Any] = _numbers(text)
            wrong: list[Any] = [] if values else [text]
        elif name in CHOICES:
            words = (*CHOICES[name], *(["none"] if name == "calibration" else []))
            known, values = ", ".join(words), text.split(",")
            wrong = [value for value in values if value not in words]
        else:
            known, values, wrong = ", ".join(("alpha", *CHOICES)), [], [name]
        if wrong:
            raise click.UsageError(f"--try {name}={text}: {wrong[0]!r} is not one of {known}.")
        values = [None if value == "none" else value for value in values]
        found["columns" if name == "families" else name] = values
    return found


def _numbers(text: str) -> list[float]:
    """Read numbers, or so many between two that grow by the same factor; none if there are none."""
    ends, colon, many = text.partition(":")
    least, dots, greatest = ends.partition("..")
    if not (dots and colon):
        found = [_number(part) for part in text.split(",")]
        return [] if None in found else [each for each in found if each is not None]
    low, high = _number(least), _number(greatest)
    if low is None or high is None or not 0.0 < low < high or not many.isdecimal():
        return []
    n = int(many)
    return [low * (high / low) ** (k / (n - 1)) for k in range(n)] if n > 1 else []


def _number(text: str) -> float | None:
    """Read a finite number."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _held(**said: Any) -> dict[str, Any]:
    """Return how rows are held out, as the workflows take it; nothing if nothing was said."""
    ways = [said.pop(name) for name in ("folds", "loo", "split") if name in said]
    if len(ways) > 1:
        raise click.UsageError("Choose one of --folds, --loo and --split.")
    if not ways:
        return said
    way = "loo" if ways[0] is True else ways[0]
    if said.get("repeats", 1) > 1 and not isinstance(way, int):
        raise click.UsageError("--repeats draws folds anew; it goes with --folds only.")
    if isinstance(way, float) and not 0.0 < way < 1.0:
        raise click.UsageError(f"--split {way:g} is no share; it lies between 0 and 1.")
    return {**said, "folds": way}


SEED = "What the shuffling begins with; the same number, the same folds.  [default: 0]"
FOLDS = "Hold rows out in so many folds."
LOO = "Hold each row out on its own."
SPLIT = (HELD, "--split", float, "Hold out this share of the rows, once: 0.2.")
reading = together("read", _read_options, READ)
specification = together("spec", spec_of, SPECIFICATION)
specification_as_typed = together("said", dict, SPECIFICATION)
folds = together(
    "held",
    _held,
    (
        (HELD, "--folds", click.IntRange(min=2), f"{FOLDS}  [default: 10]"),
        (HELD, "--loo", bool, LOO),
        SPLIT,
        (HELD, "--repeats", click.IntRange(min=1), "Draw the folds so many times.  [default: 1]"),
        (HELD, "--seed", click.IntRange(min=0), SEED),
    ),
)
folds_or_loo = together(
    "held",
    _held,
    (
        (HELD, "--folds", click.IntRange(min=2), FOLDS),
        (HELD, "--loo", bool, f"{LOO}  [default]"),
        SPLIT,
        (HELD, "--seed", click.IntRange(min=0), SEED),
    ),
)


def target(*, required: bool = True) -> Callable[[Function], Function]:
    """Add which column is predicted."""
    return option("--target -t", "NAME", "The column to predict.", required=required)


def weight(section: str = OWN) -> Callable[[Function], Function]:
    """Add the column of weights."""
    about = "The column that says how often each row counts."
    return option("--weight", "NAME", about, section=section)


def data(
    about: str = "Files, folders, patterns or - for standard input.",
) -> Callable[[Function], Function]:
    """Add the data to read."""
    return argument("data", PLACE, about, nargs=-1, required=True)


def model(
    about: str = "A model file, as fit writes it; - for standard input.",
) -> Callable[[Function], Function]:
    """Add the model to use."""
    return argument("model", PLACE, about)


def out(about: str, *, required: bool = False) -> Callable[[Function], Function]:
    """Add the file to write, and the leave to overwrite it."""
    return with_parameters(
        lambda: [
            made_option("--out -o", PLACE, about, required=required),
            made_option("--force -f", bool, "Overwrite the file if it exists."),
        ]
    )


LABELS = "The column of the data that holds the class, if it is not called as in the model."
TO = "Format of the output, if the name of the file does not tell.  [default: csv]"
labels = option("--target -t", "NAME", LABELS)
to = option("--to", "NAME", TO)
