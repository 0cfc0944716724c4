"""Examples explained: the evidence in bits, the working, and what would change the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tallybayes.explanations import Explanation, explain
from tallybayes.explanations.explanation import Contrast, Contribution, Evidence
from tallybayes.explanations.working import working
from tallybayes.metrics.tables import amount
from tallybayes.rendering.words import odds as odds_text
from tallybayes.rendering.words import probability
from tallybayes.report.blocks import (
    Section,
    bullets,
    command,
    count,
    decimal,
    folded,
    minus,
    note,
    paragraph,
    picture,
    table,
)
from tallybayes.report.html import Html, element, joined, label, listed
from tallybayes.report.material import Material
from tallybayes.report.sections.chosen import Example, chosen
from tallybayes.report.sections.reproduce import quoted

if TYPE_CHECKING:
    from tallybayes.explanations.counterfactuals import Change

LINES_SHOWN = 12  # in the table and in the picture of it
CLASSES_SHOWN = 4
MOST_STEPS = 240  # factors times classes, whose working is shown
LONGEST_WORKING = 200_000  # characters
MOST_CHANGES = 5
FEW_COLUMNS = 100  # among which changes are sought


def examples(material: Material) -> Section:
    """Return the section of examples."""
    found = chosen(material)
    return Section(
        "examples",
        "Examples explained",
        joined(
            _opening(material, found),
            [_example(material, each, k) for k, each in enumerate(found)],
            _own(material),
        ),
    )


def _opening(material: Material, found: list[Example]) -> Html:
    if not found:
        return paragraph(
            "There is nothing to explain: the model has one class, or cannot draw records."
        )
    if material.evaluation is None or material.rows is None:
        said = "No data was given, so these records are drawn from the model itself, with seed 0."
    elif len(material.rows) < len(material.evaluation):
        said = f"Chosen among {len(material.rows):,} rows of the data, drawn at random."
    else:
        said = "Chosen among all rows of the data."
    return paragraph(
        said,
        " Evidence is in bits: each bit for a class doubles its odds, each bit against it halves "
        "them, and all bits add up.",
    )


def _own(material: Material) -> Html:
    """Say how to explain another record."""
    model = quoted(material.path or "MODEL.tally")
    return joined(
        paragraph("Any other row is explained by:"),
        command(f"tallybayes explain {model} DATA.csv --row 1"),
    )


def _example(material: Material, example: Example, number: int) -> Html:
    explanation = explain(material.model, example.record)
    contrast = explanation.against()
    return element(
        "article",
        element("h3", example.title),
        paragraph(example.about, " ", _answer(explanation, example)),
        _table(explanation, contrast, number),
        _left_out(explanation),
        [note(said) for said in explanation.notes],
        _waterfall(explanation),
        _changes(material, example, explanation),
        _working(material, example, explanation),
    )


def _answer(explanation: Explanation, example: Example) -> Html:
    """Say what the answer is, and what is true."""
    place = explanation.classes.index(explanation.decision)
    parts: list[object] = [
        "The answer is ",
        element("strong", label(explanation.decision)),
        f", with a probability of {minus(probability(explanation.posterior[place]))}",
    ]
    if example.true == explanation.decision:
        parts.append(", which is right.")
    elif example.true is not None:
        parts += ["; the truth is ", element("strong", label(example.true)), "."]
    return joined(*parts)


def _table(explanation: Explanation, contrast: Contrast, number: int) -> Html:
    """Put prior, evidence and posterior below each other."""
    classes = list(range(len(explanation.classes)))
    if len(classes) > CLASSES_SHOWN:
        classes = [explanation.classes.index(each) for each in (contrast.one, contrast.other)]

    def line(name: object, value: object, logs: tuple[float, ...], bits: float) -> list[object]:
        return [name, value, *(decimal(logs[c]) for c in classes), _bits(bits), _odds(bits)]

    used = [each for each in contrast.evidence if each.contribution.left_out is None]
    lines = [line("prior", explanation.prior_power, explanation.log_prior, contrast.prior)]
    for each in used[:LINES_SHOWN]:
        what = each.contribution
        lines.append(line(label(what.column, 40), _value(what), what.log_likelihood, each.bits))
    if len(used) > LINES_SHOWN:
        lines.append(_rest(used[LINES_SHOWN:], len(classes)))
    foot = [line("together", "", explanation.joint, contrast.total)]
    shares = [minus(probability(explanation.posterior[c])) for c in classes]
    foot.append(["posterior", "", *shares, "", ""])
    names = [joined("log ", label(explanation.classes[c], 20)) for c in classes]
    caption = joined("Evidence for ", label(contrast.one), " against ", label(contrast.other))
    head = ["column", "value", *names, "bits", "odds"]
    return table(caption, head, lines, words=(1,), foot=foot, name=f"example {number + 1}")


def _value(what: Contribution) -> Html:
    """Show a value, how often it occurs, and what it was taken for."""
    shown = minus(f"{what.value:.10g}") if isinstance(what.value, float) else what.value
    times = f" × {amount(what.times)}" if what.is_word and what.times != 1.0 else ""  # noqa: RUF001
    return joined(label(shown), times, f" {what.detail}" if what.detail else "")


def _rest(rest: list[Evidence], n_classes: int) -> list[object]:
    """Sum up what is not shown line by line."""
    bits = sum(each.bits for each in rest if not math.isnan(each.bits))
    empty = [""] * n_classes
    return [count(len(rest), "weaker one"), "", *empty, _bits(bits), _odds(bits)]


def _bits(bits: float) -> str:
    return "–" if math.isnan(bits) else minus(f"{bits + 0.0:+.2f}")  # noqa: RUF001


def _odds(bits: float) -> str:
    return odds_text(bits).replace("inf", "∞")


def _left_out(explanation: Explanation) -> list[Html]:
    """Name what the model leaves out, with the reason."""
    reasons: dict[str, list[Html]] = {}
    for each in explanation.pieces:
        if each.left_out is not None:
            name = label(each.value if each.is_word else each.column, 40)
            reasons.setdefault(each.left_out, []).append(name)
    return [note("Left out: ", listed(names), f" ({why})") for why, names in reasons.items()]


def _waterfall(explanation: Explanation) -> Html:
    from tallybayes.plots.waterfall import WaterfallDisplay

    return picture(WaterfallDisplay.from_explanation(explanation, most=LINES_SHOWN))


def _changes(material: Material, example: Example, explanation: Explanation) -> Html | None:
    """List the smallest changes that would change the answer."""
    from tallybayes.explanations.counterfactuals import counterfactuals

    if len(example.record) > FEW_COLUMNS:
        return None
    found = counterfactuals(material.fitted, example.record)
    remarks = [note(remark) for remark in found.notes]
    if not found.found:
        return joined(
            note("No change of one or two values was found that would change the answer."), remarks
        )
    lines = []
    for each in found.found[:MOST_CHANGES]:
        steps = [_step(step) for step in each.changes]
        lines.append(
            joined(
                listed(steps),
                "; then the answer is ",
                element("strong", label(each.decision, 40)),
                f" ({minus(probability(each.probability))})",
                f"; {each.reach}" if each.reach else "",
            )
        )
    return joined(element("h4", "What would change the answer"), bullets(lines), remarks)


def _step(step: Change) -> Html:
    """Say what changes: a value, or a word of a text."""
    if step.how != "set":
        word = step.after if step.how == "added" else step.before
        return joined(label(step.column, 40), f": {step.how} ", label(word, 40))
    return joined(label(step.column, 40), ": ", _side(step.before), " → ", _side(step.after))


def _side(value: object) -> Html:
    """Show a value before or after a change."""
    if value is None:
        return element("em", "missing")
    return label(minus(f"{value:.10g}") if isinstance(value, float) else value)


def _working(material: Material, example: Example, explanation: Explanation) -> Html:
    """Fold the whole calculation away."""
    factors = len(explanation.pieces)
    if factors * len(explanation.classes) <= MOST_STEPS:
        shown = working(material.fitted, example.record).to_html(styled=False)
        if len(shown) <= LONGEST_WORKING:
            return folded("The whole calculation", Html(shown))
    return note(f"The whole calculation of {factors:,} factors is too long to show here.")
