"""How to make the same model and the same report again."""

from __future__ import annotations

import hashlib
import platform
import shlex
import sys
from dataclasses import fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tallybayes.errors import TallyBayesError
from tallybayes.modelfile import Provenance, Stored, dump_bytes
from tallybayes.report.blocks import Section, code, command, facts, folded, paragraph, table
from tallybayes.report.html import Html, element, joined, label, one_line, shortened
from tallybayes.report.material import Material

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "numba", "matplotlib")
MOST_COLUMNS = 200


def reproduce(material: Material) -> Section:
    """Return the section about how to reproduce the report."""
    return Section(
        "reproduce",
        "How to reproduce it",
        joined(
            paragraph(
                "A model is its counts and the options below: the same rows and options give the "
                "same numbers, whatever the machine and the order of the rows."
            ),
            element("h3", "Commands"),
            command(*_commands(material)),
            element("h3", "Model and versions"),
            facts(_facts(material)),
            _options(material),
        ),
    )


def _commands(material: Material) -> list[str]:
    """Return what to type to look at the model, to judge it and to make this page."""
    model = quoted(material.path or "MODEL.tally")
    files = [quoted(name) for name in material.data]
    if not files and material.evaluation is not None:  # rows in memory, which have no name
        files = ["DATA.csv"]
    options = [quoted(word) for word in material.options]
    lines = ["# what the model has counted and estimated", f"tallybayes inspect {model}"]
    if files:
        lines += ["# its scores", " ".join(["tallybayes evaluate", model, *files, *options])]
    page = ["tallybayes report", model, *(f"--data {name}" for name in files), *options]
    if material.title is not None:
        page += ["--title", quoted(material.title)]
    return [*lines, "# this page", " ".join([*page, "-o report.html"])]


def quoted(word: str) -> str:
    r"""Return a word as a shell takes it: whole, and with nothing in it that cannot be seen.

    Examples
    --------
    >>> print(quoted("loan.csv"), quoted("my loans.csv"), quoted("two\nlines"))
    loan.csv 'my loans.csv' $'two\x0alines'
    """
    if word.isprintable():
        return shlex.quote(word)
    seen = {"\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(seen.get(c) or (c if c.isprintable() else _bytes(c)) for c in word) + "'"


def _bytes(character: str) -> str:
    of_file = "\udc80" <= character <= "\udcff"  # a byte of a file's name that is not UTF-8
    given = character.encode("utf-8", "surrogateescape" if of_file else "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in given)


def _facts(material: Material) -> list[tuple[object, object]]:
    pairs: list[tuple[object, object]] = [
        ("This page was made", datetime.now(UTC).isoformat(timespec="seconds")),
        fingerprint(material),
        ("tallybayes", _own_version()),
    ]
    if material.provenance is not None and material.provenance.version != _own_version():
        pairs.append(("Model written by", f"tallybayes {material.provenance.version}"))
    pairs.append(("Python", f"{platform.python_version()} on {platform.system()}"))
    pairs += [(name, found) for name in PACKAGES if (found := _version(name))]
    return pairs


def fingerprint(material: Material) -> tuple[str, object]:
    """Return the SHA-256 of the model's file, or of what would be in one."""
    if material.path is not None and Path(material.path).is_file():
        with Path(material.path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return "SHA-256 of the model file", code(digest)
    made = material.provenance
    what = "SHA-256 of the model"
    if made is None:  # the same model has the same counts, whenever it was made
        made = Provenance("", "", _own_version(), (), 0, 0, ())
        what = "SHA-256 of counts and options"
    try:
        content = dump_bytes(Stored(material.fitted, made))
    except TallyBayesError as error:
        return what, f"none: {error}"
    return what, code(hashlib.sha256(content).hexdigest())


def _options(material: Material) -> Html:
    """List the options that the model was estimated with."""
    fitted, schema = material.fitted, material.fitted.tally.schema
    general: list[tuple[object, object]] = [
        ("Prior", code(repr(fitted.recipe.prior))),
        ("Families", code(", ".join(map(str, fitted.recipe.families)) or "the usual")),
    ]
    if fitted.recipe.positive is not None:
        general.append(("Positive class", label(fitted.recipe.positive)))
    if fitted.recipe.calibration is not None:
        general.append(("Calibration", code(fitted.recipe.calibration.how)))
    lines = []
    for name, kind, reason in list(schema)[:MOST_COLUMNS]:
        stated = fitted.recipe.columns.get(str(name))
        family = code(str(stated)) if stated is not None else ""
        lines.append([label(name), code(kind_text(kind)), family, reason])
    head = ["column", "read as", "family, if one was stated", "why"]
    cut = "" if len(schema.names) <= MOST_COLUMNS else f" (the first {MOST_COLUMNS})"
    return joined(
        element("h3", "Options"),
        facts(general),
        folded(
            f"Columns as they are read{cut}",
            table("Columns as they are read", head, lines, words=(1, 2, 3), name="schema"),
        ),
    )


def kind_text(kind: object) -> str:
    """Return what a column is read as, with what differs from the usual."""
    said = []
    for each in fields(kind):  # type: ignore[arg-type]
        value = getattr(kind, each.name)
        if value != each.default:
            said.append(f"{each.name}={shortened(one_line(repr(value)), 60)}")
    return f"{type(kind).__name__}({', '.join(said)})"


def _own_version() -> str:
    return str(sys.modules["tallybayes"].__version__)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
