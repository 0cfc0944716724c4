"""A report on a model: one HTML page that needs no network, no script and no other file.

The template holds the words, the style sheet the looks, `Contents` the numbers. Everything that is
not markup already is escaped.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Fitted
from tallybayes.modelfile import Provenance
from tallybayes.rendering import words
from tallybayes.rendering.document import STYLE
from tallybayes.report.contents import MEANINGS, Contents, Sample
from tallybayes.sources.atomic_file import replacing

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SECTIONS = {
    "summary": "Summary",
    "model": "The model",
    "data": "Data and provenance",
    "scores": "Scores",
    "evidence": "What tells the classes apart",
    "columns": "Columns, drawn",
    "examples": "Examples explained",
    "warnings": "Do the assumptions hold?",
    "parameters": "All parameters",
    "reproduce": "How to reproduce it",
}
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "numba", "matplotlib")
LONGEST = 60  # characters of a label
LONGEST_TITLE = 120
LONGEST_HINT = 300  # of what is shown of a label when it is pointed at
HEIGHT = 720  # pixels of the report in a notebook


@dataclass(frozen=True, slots=True, eq=False)
class ModelReport:
    """A report on a model; make it with `model_report`. It prints as a line; notebooks show it.

    `html` is the whole page, `scores` are those of the data if there was any, and `warnings` what
    the page warns of.
    """

    html: str
    title: str
    scores: ClassificationReport | None = None
    warnings: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of its sections, in order."""
        return tuple(SECTIONS)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all; one that is there is replaced."""
        with replacing(path) as file:
            file.write(self.html.encode("utf-8"))

    def to_dict(self) -> dict[str, Any]:
        """Return what is in the report in short, as JSON can hold it."""
        return {
            "title": self.title,
            "bytes": len(self.html.encode("utf-8")),
            "sections": list(self.sections),
            "scores": None if self.scores is None else self.scores.to_dict()["scores"],
            "report_warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        size = len(self.html.encode("utf-8"))
        return f"{self.title}: {len(self.sections)} sections, {size:,} bytes of HTML"

    def __repr__(self) -> str:
        return f"<ModelReport {self}>"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, so that its style stays in there."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" sandbox="" '
            f'width="100%" height="{HEIGHT}" '
            'style="border: 1px solid #e3e7ec; border-radius: 8px"></iframe>'
        )


def model_report(
    fitted: Fitted,
    provenance: Provenance | None = None,
    *,
    predictions: Predictions | None = None,
    sample: Sample | None = None,
    title: str | None = None,
    path: str | None = None,
    data: Sequence[str] = (),
    options: Sequence[str] = (),
) -> ModelReport:
    """Write a report on a model.

    Parameters
    ----------
    fitted
        The model.
    provenance
        Where it comes from; None if it was never saved.
    predictions, sample
        What the model says of labelled rows, and some of these rows: see `evaluate`. Without them
        the report has no scores.
    title
        The title of the page; made from what is predicted if not given.
    path
        The file of the model.
    data
        What the labelled rows are called.
    options
        What is to be typed, word by word, so that they are read and judged the same way.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> report = model_report(Fitted(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat")))
    >>> report.title, report.sections[:3]
    ('Naive Bayes for cheat', ('summary', 'model', 'data'))
    """
    contents = Contents(
        fitted, provenance, predictions, sample, path, tuple(data), tuple(options), title
    )
    name = (
        f"Naive Bayes for {words.title_of(fitted.model.schema.target)}" if title is None else title
    )
    short = words.label(name, LONGEST_TITLE)
    template = _environment().get_template("report.html.j2")
    page = template.render(
        c=contents,
        title=short,
        sections=SECTIONS,
        meanings=MEANINGS,
        policy=POLICY,
        style=Path(__file__).with_name("report.css").read_text(encoding="utf-8") + STYLE,
        version=_own_version(),
        model_file=shlex.quote(path or "MODEL.tally"),
        made_with=list(_made(contents)),
    )
    html = "\n".join(map(words.printable, page.split("\n")))  # paths and dates are a user's too
    return ModelReport(html, short, contents.scores, contents.warnings)


@cache
def _environment() -> Environment:
    """Return the environment of the template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tallybayes.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": _label,
        "labels": _labels,
        "counted": words.counted,
        "count": words.count,
        "percent": words.percent,
        "probability": words.probability,
        "quoted": shlex.quote,
    }
    return environment


def _label(value: object, most: int = LONGEST) -> Any:
    """Write what a user named: on one line, cut if it is long, its direction its own affair."""
    from markupsafe import Markup

    short, whole = words.label(value, most), words.label(value, LONGEST_HINT)
    if short == whole:
        return Markup("<bdi>{}</bdi>").format(short)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, short)


def _labels(names: Iterable[object], last: str = "and", most: int = 6, longest: int = 40) -> Any:
    """Write several names for a sentence; those beyond the most are only counted."""
    from markupsafe import Markup

    shown = [_label(name, longest) for name in names]
    if len(shown) > most:
        shown[most:] = [f"{len(shown) - most:,} more"]
    return Markup(f" {last} ").join(filter(None, [Markup(", ").join(shown[:-1]), *shown[-1:]]))


def _made(contents: Contents) -> Iterator[tuple[str, str]]:
    """Go through what made the page: when, from what, by which versions."""
    yield "This page was made", datetime.now(UTC).isoformat(timespec="seconds")
    if contents.path is not None and Path(contents.path).is_file():
        with Path(contents.path).open("rb") as file:
            yield "SHA-256 of the model file", hashlib.file_digest(file, "sha256").hexdigest()
    yield "tallybayes", _own_version()
    made = contents.provenance
    if made is not None and made.version != _own_version():
        yield "Model written by", f"tallybayes {made.version}"
    yield "Python", f"{platform.python_version()} on {platform.system()}"
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # some is not needed for all
            yield name, version(name)


def _own_version() -> str:
    return str(sys.modules["tallybayes"].__version__)
