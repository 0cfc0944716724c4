"""The report: one page of HTML that needs nothing else, to be opened, printed and kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from tallybayes.metrics import ClassificationReport, Predictions
from tallybayes.model import Fitted
from tallybayes.modelfile import Provenance
from tallybayes.modelfile.writing import replace_file
from tallybayes.rendering.document import STYLE as WORKING_STYLE
from tallybayes.report.blocks import Section
from tallybayes.report.evaluated import Sample
from tallybayes.report.html import Html, element, joined, label, one_line, shortened
from tallybayes.report.material import Material, gathered
from tallybayes.report.sections.columns import columns
from tallybayes.report.sections.evidence import evidence
from tallybayes.report.sections.examples import examples
from tallybayes.report.sections.parameters import parameters
from tallybayes.report.sections.reproduce import reproduce
from tallybayes.report.sections.scores import scores
from tallybayes.report.sections.summary import summary
from tallybayes.report.sections.the_data import the_data
from tallybayes.report.sections.the_model import the_model
from tallybayes.report.sections.warnings import warnings
from tallybayes.report.style import STYLE

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST_TITLE = 120
HEIGHT = 720  # pixels of the report in a notebook
SECTIONS: tuple[Callable[[Material], Section], ...] = (
    summary,
    the_model,
    the_data,
    scores,
    evidence,
    columns,
    examples,
    warnings,
    parameters,
    reproduce,
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelReport:
    """A report on a model; make it with `model_report`. It prints as a line; notebooks show it.

    Parameters
    ----------
    html
        The whole page.
    title
        Its title.
    sections
        The names of its sections, in order.
    scores
        The scores, if there was data.
    warnings
        What the report warns of.
    """

    html: str
    title: str
    sections: tuple[str, ...]
    scores: ClassificationReport | None = None
    warnings: tuple[str, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path
            The file; one that is there is replaced.
        """

        def write(file: IO[bytes]) -> None:
            file.write(self.html.encode("utf-8"))

        replace_file(path, write)

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
        return element(
            "iframe",
            srcdoc=self.html,
            title=self.title,
            sandbox="",
            width="100%",
            height=str(HEIGHT),
            style="border: 1px solid #e3e7ec; border-radius: 8px",
        )


def model_report(
    fitted: Fitted,
    provenance: Provenance | None = None,
    *,
    evaluation: Predictions | None = None,
    rows: Sample | None = None,
    title: str | None = None,
    path: str | None = None,
    data: Sequence[str] = (),
    options: Sequence[str] = (),
    notes: Iterable[str] = (),
) -> ModelReport:
    """Write a report on a model.

    Parameters
    ----------
    fitted
        The model.
    provenance
        Where it comes from; None if it was never saved.
    evaluation, rows
        What the model says of labelled rows, and some of these rows: see `judged_here`. Without
        them the report has no scores.
    title
        The title of the page; made from what is predicted if not given.
    path
        The file of the model.
    data
        What the labelled rows are called.
    options
        What is to be typed, word by word, so that they are read and judged the same way.
    notes
        Sentences to add to the scores.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> table = {"status": ["Single", "Single", "Married", "Single"]}
    >>> report = model_report(Fitted(Tally.of(table, ["No", "No", "No", "Yes"], target="cheat")))
    >>> report.title, report.sections[:3]
    ('Naive Bayes for cheat', ('summary', 'model', 'data'))
    """
    from matplotlib import style

    from tallybayes.plots.style import unattached
    from tallybayes.plots.svg import DRAWING

    material = gathered(
        fitted,
        provenance,
        evaluation,
        rows,
        path=path,
        data=data,
        options=options,
        title=title,
        notes=notes,
    )
    # whatever the user's own pictures look like; these settings are the whole process's, so one
    # report at a time
    with DRAWING, style.context("default"), unattached():
        made = [make(material) for make in SECTIONS]
    name = title if title is not None else f"Naive Bayes for {material.target}"
    return ModelReport(
        _page(shortened(one_line(name), LONGEST_TITLE), made, material),
        shortened(one_line(name), LONGEST_TITLE),
        tuple(each.id for each in made),
        material.scores,
        material.warnings,
    )


def _page(title: str, sections: Sequence[Section], material: Material) -> str:
    """Put the sections together."""
    version = str(sys.modules["tallybayes"].__version__)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"tallybayes {version}"),
        element("title", title),
        element("style", Html(STYLE + WORKING_STYLE)),
    )
    links = [element("li", element("a", each.title, href=f"#{each.id}")) for each in sections]
    body = element(
        "body",
        element("a", "Skip to the report", href="#content", class_="skip"),
        element(
            "div",
            element("header", element("h1", label(title, LONGEST_TITLE)), _origin(material)),
            element(
                "div",
                element("nav", element("ol", links), aria_label="Contents"),
                element(
                    "main",
                    [each.html for each in sections],
                    element("footer", f"Written by tallybayes {version}."),
                    id="content",
                    tabindex="-1",
                ),
                class_="columns",
            ),
            class_="page",
        ),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _origin(material: Material) -> Html:
    """Say below the title which model it is."""
    parts: list[object] = []
    if material.path is not None:
        parts += ["Model ", label(material.path, 100), ". "]
    if material.data:
        more = f" and {len(material.data) - 1:,} more" if len(material.data) > 1 else ""
        parts += ["Judged by ", label(material.data[0], 100), more, "."]
    return element("p", joined(*parts)) if parts else Html("")
