"""An explanation as aligned text: the evidence by strength, the posterior, and a sentence."""

from __future__ import annotations

import math
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING

from tallybayes.explanations.contrast import Contrast, Evidence, bits
from tallybayes.explanations.contribution import Contribution
from tallybayes.metrics.tables import amount, html_table, shown, text_table

if TYPE_CHECKING:
    from tallybayes.explanations.explanation import Explanation

MOST_LINES = 20
MOST_CLASSES = 4
WIDEST = 96  # characters of a line of prose
MOST_DIGITS = 1e8  # beyond, logarithms are written with an exponent
NEAR = 1e-4  # probabilities nearer to 0 or 1 are written by their distance


def as_text(explanation: Explanation, contrast: Contrast) -> str:
    """Return the explanation as lines of text."""
    said = (fill(line, WIDEST) for line in _said(explanation, contrast))
    table = _aligned(_cells(explanation, contrast))
    return "\n".join([_title(explanation, contrast), table, *said])


def as_html(explanation: Explanation, contrast: Contrast) -> str:
    """Return the explanation as a table and paragraphs."""
    head, *lines = _cells(explanation, contrast)
    said = "".join(f"<p>{escape(line)}</p>" for line in _said(explanation, contrast))
    return html_table(_title(explanation, contrast), head, lines) + said


def _said(explanation: Explanation, contrast: Contrast) -> list[str]:
    """Say what the table does not, and what comes of it all."""
    return [
        *_texts(explanation, contrast),
        *_left_out(explanation),
        *(f"note: {note}" for note in explanation.notes),
        _sentence(explanation, contrast),
    ]


def _title(explanation: Explanation, contrast: Contrast) -> str:
    one, other = shown(contrast.one), shown(contrast.other)
    return f"{explanation.target}: log-likelihoods, and the evidence for {one} against {other}"


def _cells(explanation: Explanation, contrast: Contrast) -> list[list[str]]:
    """Put prior, evidence and posterior below each other, and headings above."""
    classes = list(range(len(explanation.classes)))
    if len(classes) > MOST_CLASSES:
        classes = [explanation.classes.index(each) for each in (contrast.one, contrast.other)]

    def line(
        name: str, value: str, times: str, logs: tuple[float, ...], weight: float
    ) -> list[str]:
        numbers = [_log(logs[c]) for c in classes]
        return [name, value, times, *numbers, _bits(weight), odds_text(weight)]

    used = [each for each in contrast.evidence if each.contribution.left_out is None]
    head = ["column", "value", "times", *(shown(explanation.classes[c]) for c in classes)]
    lines = [line("prior", explanation.prior_power, "", explanation.log_prior, contrast.prior)]
    for each in used[:MOST_LINES]:
        what = each.contribution
        value, times = value_text(what), amount(what.times)
        lines.append(line(shown(what.column), value, times, what.log_likelihood, each.bits))
    if len(used) > MOST_LINES:
        lines.append(_rest(used[MOST_LINES:], len(classes)))
    lines.append(line("joint", "", "", explanation.joint, contrast.total))
    numbers = [probability(explanation.posterior[c]) for c in classes]
    lines.append(["posterior", "", "", *numbers, "", ""])
    cells = [[*head, "bits", "odds"], *lines]
    # counts and words only have something to say here
    if all(each.contribution.times == 1.0 for each in used[:MOST_LINES]):
        cells = [[*row[:2], *row[3:]] for row in cells]
    return cells


def _aligned(cells: list[list[str]]) -> str:
    """Align the table, with names and values to the left."""
    wide = max(len(row[1]) for row in cells)
    return text_table(
        [cells[0][0], cells[0][1].ljust(wide), *cells[0][2:]],
        [[row[0], row[1].ljust(wide), *row[2:]] for row in cells[1:]],
    )


def _rest(rest: list[Evidence], n_classes: int) -> list[str]:
    """Sum up what is not shown line by line."""
    weight = sum(each.bits for each in rest if not math.isnan(each.bits))
    empty = [""] * (n_classes + 1)
    return ["others", f"{len(rest)} weaker ones", *empty, _bits(weight), odds_text(weight)]


def _texts(explanation: Explanation, contrast: Contrast) -> list[str]:
    """Add up the words of each text."""
    one, other = map(explanation.classes.index, (contrast.one, contrast.other))
    lines = []
    for each in explanation.contributions:
        if len(each.words) > 1:
            weight = bits(each.log_likelihood[one], each.log_likelihood[other])
            said = f"{_bits(weight)} bits, {odds_text(weight)}"
            lines.append(f"{shown(each.column)}, all words together: {said}")
    return lines


def _left_out(explanation: Explanation) -> list[str]:
    """Name what the model leaves out, with the reason."""
    reasons: dict[str, list[str]] = {}
    for each in explanation.pieces:
        if each.left_out is not None:
            reasons.setdefault(each.left_out, []).append(_name(each))
    return [f"left out: {_listed(names)} ({reason})" for reason, names in reasons.items()]


def _listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _sentence(explanation: Explanation, contrast: Contrast) -> str:
    """Say the answer, and what speaks most for it and against it."""
    place = explanation.classes.index(explanation.decision)
    said = f"The answer is {shown(explanation.decision)}"
    said += f", with a probability of {probability(explanation.posterior[place])}"
    strongest = []
    sides = (("for it", 1.0), ("against it", -1.0))
    if contrast.one != explanation.decision:
        sides = ((f"for {shown(contrast.one)}", 1.0), (f"for {shown(contrast.other)}", -1.0))
    for side, sign in sides:
        speaking = [each for each in contrast.evidence if sign * each.bits > 0.0]
        if speaking:
            what, odds = _name(speaking[0].contribution), odds_text(speaking[0].bits)
            strongest.append(f"{what} speaks most {side} ({odds})")
    return f"{said}; {', '.join(strongest)}." if strongest else f"{said}."


def _name(what: Contribution) -> str:
    """Name a column with its value, or a word."""
    if what.is_word:
        return f"{value_text(what)!r} in {shown(what.column)}"
    column = shown(what.column)
    return column if what.value is None else f"{column} = {value_text(what)}"


def value_text(what: Contribution) -> str:
    """Write a value on one line, and what it was taken for."""
    value = f"{what.value:.10g}" if isinstance(what.value, float) else shown(what.value)
    return f"{value} {what.detail}" if what.detail else value


def probability(p: float) -> str:
    """Write a probability so that one near 0 or 1 still says how near.

    Examples
    --------
    >>> [probability(p) for p in (0.25, 0.99999999, 1e-9, 1.0)]
    ['0.2500', '1 - 1e-08', '1e-09', '1']
    """
    if p in (0.0, 1.0):
        return f"{p:.0f}"
    if p < NEAR:
        return f"{p:.3g}"
    return f"1 - {1.0 - p:.3g}" if p > 1.0 - NEAR else f"{p:.4f}"


def odds_text(weight: float) -> str:
    """Write odds of so many bits.

    Examples
    --------
    >>> [odds_text(bits) for bits in (1.0, 0.0, -2.0, 4000.0, -math.inf)]
    ['2 : 1', '1 : 1', '1 : 4', '2^4000 : 1', '1 : inf']
    """
    if math.isnan(weight):
        return "-"
    large = abs(weight)
    number = f"{2.0**large:.3g}" if large < 1000.0 or math.isinf(large) else f"2^{large:.0f}"
    return f"1 : {number}" if weight < 0.0 else f"{number} : 1"


def _bits(weight: float) -> str:
    return "-" if math.isnan(weight) else f"{weight + 0.0:+.2f}"


def _log(value: float) -> str:
    return f"{value:.4f}" if abs(value) < MOST_DIGITS else f"{value:.6g}"
