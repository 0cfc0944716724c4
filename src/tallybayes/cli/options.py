"""Options that several commands share, and how their values become what the workflows take.

Options of one kind arrive at a command together, as one argument: `read`, `spec`, `held`. What was
not typed is not handed on, so that the library alone says what holds then; a test looks whether the
help tells the truth about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from tallybayes.cli.main import Together, argument, option
from tallybayes.cli.paths import STANDARD

if TYPE_CHECKING:
    from tallybayes.model.specification import ModelSpec
    from tallybayes.sources.formats import ReadOptions

IN_READING, IN_COLUMNS, IN_MODEL, IN_FOLDS = "Reading", "Columns", "Model", "Held-out rows"
IN_USE, IN_DECISION = "Prior and positive class", "Decision"
PLACE = click.Path(readable=False, allow_dash=True)  # also a folder, a pattern, an address
CHOICES = {
    "prior": ("smoothed", "empirical", "uniform"),
    "unseen": ("ignore", "smooth", "error"),
    "calibration": ("temperature", "weights", "words"),
    "missing": ("ignore", "evidence"),
    "joints": ("auto", "none"),
}
# names, what the value is, help
READING_OPTIONS = (
    ("--format", "NAME", "Format of the data, if the names of the files do not tell."),
    ("--delimiter", "CHAR", "What stands between values; found out if not given."),
    ("--quote", "CHAR", 'What stands around values.  [default: "]'),
    ("--encoding", "NAME", "Encoding of text files: latin-1, say.  [default: utf-8]"),
    ("--decimal", "CHAR", "Decimal mark of numbers.  [default: .]"),
    ("--na", ["TEXT"], "What stands for no value, instead of: empty, NA, NULL, ?."),
    ("--no-header", bool, "The first line is a row; columns are named x0, x1, and so on."),
    ("--bad-rows", ("error", "skip", "report"),
     "What to do with a row that does not fit: stop, set it aside, or list it too."
     "  [default: error]"),
)  # fmt: skip
COLUMN_OPTIONS = (
    ("--column columns", ["NAME=FAMILY"],
     "State the family of a column, with options if you like: income=gaussian, "
     "status=categorical:alpha=0.5,unseen=smooth. Families: {families}."),
    ("--text", ["NAME"], "Take a column as text and count its words."),
    ("--drop", ["NAME"], "Leave a column out: an identifier, say."),
    ("--only", ["NAME"], "Use this column and others named so, no more."),
    ("--title titles", ["NAME=TEXT"],
     "What sentences, tables and pictures call a column: DebtRatio='debts per income'."),
)  # fmt: skip
MODEL_OPTIONS = (
    ("--plain", bool, "Take naive Bayes as in lectures, not the best model."),
    ("--joints", "JOINTS",
     "Columns that are counted together: auto, none, or stated: 'age,income;age,status'."
     "  [default: auto]"),
    ("--alpha", float, "Smoothing: what is added to every count; 0 is none.  [default: 1]"),
    ("--unseen", CHOICES["unseen"], "What a category never seen does.  [default: ignore]"),
    ("--label labels", ["CLASS=NAME"],
     "What sentences, tables and pictures call a class: 1=default. What predict writes stays."),
    ("--calibration", CHOICES["calibration"],
     "With --plain, mend over-confident probabilities: one exponent, one a column or also a word."),
    ("--missing", CHOICES["missing"],
     "With --plain, what a missing value does: nothing, or it is a value.  [default: ignore]"),
)  # fmt: skip
USE_OPTIONS = (
    ("--prior", "PRIOR",
     "empirical (shares in the data, as --plain has it), smoothed (with a row more of each class, "
     "as the best model has it), uniform, or stated: 'No=0.7,Yes=0.3'."),
    ("--positive", "CLASS", "The class that wins no ties, and that scores are of."),
)  # fmt: skip
DECISION_OPTIONS = (
    ("--threshold", float,
     "Say the positive one of two classes from this probability on; the last one if none is "
     "named."),
    ("--loss losses", ["TRUE:SAID=COST"],
     "What it costs to say a class where another is true: spam:ham=1, ham:spam=10. Other mistakes "
     "cost 1; what is said costs least on average."),
)  # fmt: skip


def _read_options(**said: Any) -> ReadOptions:
    """Make of the reading options what the workflows take."""
    from tallybayes.sources.formats import ReadOptions

    if said.get("delimiter") in ("\\t", "tab"):  # hard to type in a shell
        said["delimiter"] = "\t"
    if "na" in said:
        said["missing"] = said.pop("na")
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
    for name, typed in (("labels", "--label"), ("titles", "--title")):
        if name in said:
            said[name] = pairs(said[name], typed)
    if "losses" in said:
        said["losses"] = _losses(said["losses"])
    if "joints" in said:
        said["joints"] = joints(said["joints"])
    return ModelSpec(columns=columns or "auto", **said)


def joints(text: str) -> str | list[tuple[str, ...]] | None:
    """Read a word, or columns behind commas, units of them behind semicolons."""
    if text in CHOICES["joints"]:
        return None if text == "none" else text
    units = [tuple(name.strip() for name in unit.split(",")) for unit in text.split(";")]
    if not all(len(unit) > 1 and all(unit) for unit in units):
        raise click.UsageError(
            f"--joints {text!r} is not auto, none, or columns such as 'age,income;age,status'."
        )
    return units


def _prior(text: str) -> str | dict[str, float]:
    """Read a word, or CLASS=P,CLASS=P."""
    if text in CHOICES["prior"]:
        return text
    stated = pairs(text.split(","), "--prior")
    return {label.strip(): _number(p, "--prior") for label, p in stated.items()}


def _losses(texts: Iterable[str]) -> dict[str, float]:
    """Read TRUE:SAID=COST; what is a class is known later."""
    found: dict[str, float] = {}
    for text in texts:
        key, sign, cost = text.rpartition("=")
        if not (sign and ":" in key):
            raise click.UsageError(
                f"--loss {text!r} is not of the form TRUE:SAID=COST, such as spam:ham=10."
            )
        if key in found:
            raise click.UsageError(f"--loss {key}=... is there twice.")
        found[key] = _number(cost, f"--loss {key}")
    return found


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
    """Read OPTION=VALUE,VALUE,... or alpha=LEAST..GREATEST:NUMBER."""
    found: dict[str, list[Any]] = {}
    for name, text in pairs(texts, "--try").items():
        if name == "alpha":
            found[name] = _numbers(text)
            continue
        words = (*CHOICES.get(name, ()), *(["none"] if name == "calibration" else []))
        for word in text.split(",") if words else [name]:
            if word not in words:
                known = ", ".join(words or ("alpha", *CHOICES))
                raise click.UsageError(f"--try {name}={text}: {word!r} is not one of {known}.")
        values = [None if word == "none" else word for word in text.split(",")]
        found[name] = values
    return found


def _numbers(text: str) -> list[float]:
    """Read numbers, or so many between two that grow by the same factor."""
    ends, colon, many = text.partition(":")
    least, dots, greatest = ends.partition("..")
    if not (dots and colon):
        return [_number(part, "--try alpha") for part in text.split(",")]
    low, high = _number(least, "--try alpha"), _number(greatest, "--try alpha")
    if not (0.0 < low < high and many.isdecimal() and int(many) > 1):
        raise click.UsageError(f"--try alpha={text} is no range; write 0.01..10:50.")
    n = int(many)
    return [low * (high / low) ** (k / (n - 1)) for k in range(n)]


def _number(text: str, name: str) -> float:
    """Read a finite number."""
    with suppress(ValueError):
        if math.isfinite(found := float(text)):
            return found
    raise click.UsageError(f"{name}: {text!r} is not a number.")


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


def _in(section: str, rows: Iterable[tuple[str, Any, str]]) -> tuple[click.Option, ...]:
    """Make options of a section."""
    return tuple(option(*row, section=section) for row in rows)


def out(about: str, *, required: bool = False) -> tuple[click.Option, click.Option]:
    """Return the file to write, and the leave to overwrite it."""
    force = option("--force -f", bool, "Overwrite the file if it exists.")
    named: Any = lambda ctx, param, name: STANDARD if name == "/dev/stdout" else name  # noqa: E731
    return option("--out -o", PLACE, about, required=required, callback=named), force


SQL = (
    option("--sql", "QUERY", "Take the rows of this query instead of files; DuckDB runs it."),
    option("--db", PLACE, "The file of DuckDB that --sql asks; without it, a query names files."),
)


def rows_of(data: tuple[str, ...], sql: str | None, db: str | None) -> Any:
    """Return what holds the rows: files, or a query."""
    if bool(data) == (sql is not None):
        raise click.UsageError("Name files with the rows, or a query with --sql: one of the two.")
    if sql is None:
        if db is not None:
            raise click.UsageError("--db goes with --sql, the query of that database.")
        return list(data)
    from tallybayes.sources.query import SqlQuery

    return SqlQuery.of(sql, db)


_USE, _DECISION = _in(IN_USE, USE_OPTIONS), _in(IN_DECISION, DECISION_OPTIONS)
_SPECIFICATION = _in(IN_COLUMNS, COLUMN_OPTIONS) + _in(IN_MODEL, MODEL_OPTIONS) + _USE
READING = Together("read", _read_options, _in(IN_READING, READING_OPTIONS))
SPECIFICATION = Together("spec", spec_of, _SPECIFICATION + _DECISION)
TRIED = Together("spec", spec_of, _SPECIFICATION)
USED = Together("use", spec_of, _USE + _DECISION)
_FOLDS, _LOO, _FEW, _EACH, _SPLIT, _REPEATS, _SEED = _in(
    IN_FOLDS,
    (
        ("--folds", click.IntRange(2), "Hold rows out in so many folds.  [default: 10]"),
        ("--loo", bool, "Hold each row out on its own."),
        (
            "--folds",
            click.IntRange(2),
            "Hold rows out in so many folds.  [default: 5, with --plain each row]",
        ),
        ("--loo", bool, "Hold each row out on its own."),
        ("--split", float, "Hold out this share of the rows, once: 0.2."),
        ("--repeats", click.IntRange(1), "Draw the folds so many times.  [default: 1]"),
        ("--seed", click.IntRange(0), "The same seed, the same folds.  [default: 0]"),
    ),
)
FOLDS = Together("held", _held, (_FOLDS, _LOO, _SPLIT, _REPEATS, _SEED))
LOO = Together("held", _held, (_FEW, _EACH, _SPLIT, _SEED))
WEIGHT = option("--weight", "NAME", "The column that says how often each row counts.")
TARGET = option("--target -t", "NAME", "The column to predict.", required=True)
TARGET_IF = option("--target -t", "NAME", "The column to predict.")
LABELS = option(
    "--target -t",
    "NAME",
    "The column of the data that holds the class, if it is not called as in the model.",
)
TO = option(
    "--to", "NAME", "Format of the output, if the name of the file does not tell.  [default: csv]"
)
FILES = "Files, folders, patterns or - for standard input."
DATA = argument("data", PLACE, FILES, nargs=-1, required=True)
DATA_OR_SQL = argument("data", PLACE, FILES, nargs=-1)
MODEL = argument("model", PLACE, "A model file, as fit writes it; - for standard input.")
OLD_MODEL = argument("model", PLACE, "The model file to change.")
