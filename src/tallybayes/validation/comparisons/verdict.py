"""The answer of a comparison in words a student understands, and the numbers behind it.

A small p-value shows a difference. A large one shows nothing: neither that the models differ nor
that they are equally good, and the words never say that they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tallybayes.metrics.tables import html_table, text_table
from tallybayes.validation.comparisons.significance import McNemar, PairedT

if TYPE_CHECKING:
    from tallybayes.validation.comparisons.outcome import Comparison, Pair

MOST_LISTED = 6
WIDTH = 88
Table = tuple[str, list[str], list[list[str]]]


def in_words(found: Comparison) -> str:
    """Return the answer in words."""
    return _of_two(found) if len(found.pairs) == 1 else _of_many(found)


def as_text(found: Comparison) -> str:
    """Return the answer, the tables and the notes as lines of text."""
    tables = [text_table(header, lines) for _, header, lines in _tables(found)]
    notes = [_wrapped(note) for note in _notes(found)]
    return "\n\n".join([_wrapped(in_words(found)), *tables, *notes])


def as_html(found: Comparison) -> str:
    """Return the answer, the tables and the notes as HTML."""
    tables = "".join(html_table(*table) for table in _tables(found))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(found))
    return f"<div><p>{escape(in_words(found))}</p>{tables}{notes}</div>"


def as_dict(found: Comparison) -> dict[str, Any]:
    """Return everything as plain values."""
    return {
        "sentence": in_words(found),
        "score": found.score_name,
        "greater_is_better": found.greater_is_better,
        "level": found.level,
        "rows": found.rows,
        "models": [
            {
                "name": name,
                "mean": found.means[name],
                "sd": found.deviations.get(name),
                "scores": list(scores),
            }
            for name, scores in found.scores.items()
        ],
        "pairs": [_finite(asdict(pair)) for pair in found.pairs],
        "notes": _notes(found),
    }


def _of_two(found: Comparison) -> str:
    """Say of two models which is better, if that is shown."""
    (pair,) = found.pairs
    test = pair.test
    if isinstance(test, McNemar):
        said, source = _right_rows(found, pair, test), f"McNemar's test, {_p(pair.p)}"
        if test.only_a + test.only_b == 0:
            return f"{said} {_not_shown('So')}"
    else:
        said, source = _mean_scores(found, pair), _which_t(test)
        if test.sd == 0.0 and not test.mean:
            return f"{said} {_not_shown('So')}"
        if test.sd == 0.0:
            return (
                f"{said} It is the same in every fold, so the t-test has no spread to measure "
                "chance by; its p-value of 0 says little, and less the fewer the folds."
            )
    odds = f"Two equally good models would differ at least this much {_often(pair.p)} ({source})"
    if pair.better is None:
        return f"{said} {odds}, so chance may explain it: {_not_shown('')}"
    is_better = "is right more often" if isinstance(test, McNemar) else "is the better one"
    verdict = f"{pair.better} {is_better} on data like this."
    return f"{said} {odds}, so chance is an unlikely reason: {verdict}"


def _not_shown(start: str) -> str:
    words = "no difference is shown, which does not mean that the models are equally good."
    return f"{start} {words}".strip()


def _right_rows(found: Comparison, pair: Pair, test: McNemar) -> str:
    """Say how often two models are right, and on how many rows only one is."""
    first, second = _best_first(found, pair)
    means = {name: _value(found, mean) for name, mean in found.means.items()}
    differing = test.only_a + test.only_b
    if not differing:
        return f"{first} and {second} are right on the same rows, {means[first]} of {found.rows}."
    only = {pair.a: test.only_a, pair.b: test.only_b}
    rows = "row" if differing == 1 else "rows"
    return (
        f"{first} is right on {means[first]} of the {found.rows} rows, {second} on "
        f"{means[second]}. On {differing} {rows} only one of them is right: {first} on "
        f"{only[first]}, {second} on {only[second]}."
    )


def _mean_scores(found: Comparison, pair: Pair) -> str:
    """Say what two models score on average over the folds, and how far apart they are."""
    first, second = _best_first(found, pair)
    k, name = len(found.scores[first]), found.score_name.replace("_", " ")
    lower = "" if found.greater_is_better else " (lower is better)"
    of = {
        each: f"{_value(found, found.means[each])} (standard deviation "
        f"{_value(found, found.deviations[each])})"
        for each in (first, second)
    }
    sign = 1.0 if first == pair.a else -1.0
    points = " percentage points" if found.score_name == "accuracy" else ""
    ends = [_gap(found, end) for end in sorted((sign * pair.low, sign * pair.high))]
    interval = f", its {_percent(found)} confidence interval {ends[0]} to {ends[1]}"
    return (
        f"Over {k} folds, {first} has a mean {name}{lower} of {of[first]}, {second} of "
        f"{of[second]}. The mean difference is {_gap(found, sign * pair.difference)}{points}"
        f"{interval if pair.low < pair.high else ''}."
    )


def _which_t(test: PairedT) -> str:
    """Name the t-test that decides, and the p-value of the other."""
    if test.corrected is None:
        return f"paired t-test, {_p(test.p)}"
    return (
        f"paired t-test, corrected because the folds share training rows, {_p(test.corrected.p)}; "
        f"uncorrected, {_p(test.p)}"
    )


def _of_many(found: Comparison) -> str:
    """Say of several models which pairs are shown to differ."""
    name = found.score_name.replace("_", " ")
    order = sorted(found.names, key=lambda each: found.means[each], reverse=found.greater_is_better)
    listed = ", ".join(f"{each} {_value(found, found.means[each])}" for each in order)
    if found.rows is None:
        k = len(found.scores[order[0]])
        lower = "" if found.greater_is_better else ", lower is better"
        said = f"Mean {name} over {k} folds{lower}: {listed}."
        by = "corrected paired t-tests" if _corrected(found) else "paired t-tests"
    else:
        said, by = f"Right answers on {found.rows} rows: {listed}.", "McNemar's test"
    shown = [pair for pair in found.pairs if pair.better]
    open_ = [pair for pair in found.pairs if not pair.better]
    said += f" All {len(found.pairs)} pairs were compared by {by}, with Holm's adjustment"
    said += " for the number of pairs."
    if shown:
        better = [
            f"{each.better} over {each.worse} ({_p(each.adjusted)})"
            for each in sorted(shown, key=lambda each: each.adjusted)
        ]
        said += f" Shown to be better (adjusted p): {_listed(better, '; ')}."
    if open_:
        pairs = "any pair" if not shown else _listed([f"{p.a} and {p.b}" for p in open_], "; ")
        said += f" No difference is shown between {pairs}, which does not mean that they are"
        said += " equally good."
    return said


def _listed(items: Sequence[str], between: str) -> str:
    """List a few items, and say how many more there are."""
    more = len(items) - MOST_LISTED
    kept = [*items[:MOST_LISTED], *([f"and {more} more, see the table"] if more > 0 else [])]
    return between.join(kept)


def _tables(found: Comparison) -> list[Table]:
    """Return the tables: caption, header and lines."""
    name = found.score_name.replace("_", " ")
    if found.rows is None:
        header = ["model", f"mean {name}", "standard deviation"]
        models = [
            [each, f"{found.means[each]:.4f}", f"{found.deviations[each]:.4f}"]
            for each in found.names
        ]
    else:
        header = ["model", name, "right", "rows"]
        models = [
            [each, f"{mean:.4f}", str(round(mean * found.rows)), str(found.rows)]
            for each, mean in found.means.items()
        ]
    counts = [] if found.rows is None else ["only 1st right", "only 2nd right"]
    many = ["Holm p"] if len(found.pairs) > 1 else []
    tests = ["pair", "test", *counts, "difference", f"{_percent(found)} interval", "statistic"]
    lines = [line for pair in found.pairs for line in _lines(pair, bool(many))]
    return [
        ("The models", header, models),
        ("The pairs", [*tests, "p", *many], lines),
    ]


def _lines(pair: Pair, many: bool) -> list[list[str]]:
    """Return the lines of a pair: one for each test."""
    test, both = pair.test, f"{pair.a} - {pair.b}"
    if isinstance(test, McNemar):
        name = "McNemar, exact" if test.exact else "McNemar, chi-squared"
        counts = [str(test.only_a), str(test.only_b)]
        rows = [(name, counts, pair.low, pair.high, test.statistic, test.p, pair.adjusted)]
    else:
        plain = pair.adjusted if pair.plain_adjusted is None else pair.plain_adjusted
        rows = [("paired t", [], test.low, test.high, test.t, test.p, plain)]
        if test.corrected is not None:
            by = test.corrected
            rows.insert(0, ("corrected t", [], by.low, by.high, by.t, by.p, pair.adjusted))
    return [
        [
            both,
            name,
            *counts,
            f"{pair.difference:+.4f}",
            f"{low:+.4f} to {high:+.4f}",
            f"{statistic:.4g}",
            f"{p:.3g}",
            *([f"{adjusted:.3g}"] if many else []),
        ]
        for name, counts, low, high, statistic, p, adjusted in rows
    ]


def _notes(found: Comparison) -> list[str]:
    """Return what a careful reader should know of these numbers."""
    notes = [
        f"A difference counts as shown if {'the adjusted p' if len(found.pairs) > 1 else 'p'} is "
        f"below {found.level:g}. Differences are those of the first model minus the second."
    ]
    if found.rows is None and _corrected(found):
        notes[0] += " The corrected t-test decides: the plain one finds differences too easily."
    elif found.rows is None:
        notes[0] += (
            " Folds share training rows, so that the plain t-test finds differences too easily; "
            "with n_train and n_test the corrected one decides."
        )
    if len(found.pairs) > 1:
        notes.append("The intervals are those of each pair by itself, not adjusted.")
    same = [f"{pair.a} - {pair.b}" for pair in found.pairs if getattr(pair.test, "note", "")]
    if same:
        notes.append(
            f"{_listed(same, '; ')}: all the differences are equal, so there is no spread to "
            "measure chance by."
        )
    first = found.pairs[0]
    outside = first.low > 0.0 or first.high < 0.0
    if len(found.pairs) == 1 and found.rows is not None and outside and first.better is None:
        notes.append(
            "The interval leaves out zero although no difference is shown: the test is the more "
            "cautious of the two."
        )
    return notes


def _corrected(found: Comparison) -> bool:
    return any(isinstance(p.test, PairedT) and p.test.corrected for p in found.pairs)


def _best_first(found: Comparison, pair: Pair) -> tuple[str, str]:
    """Return the two names, that of the better mean first."""
    ahead = pair.difference >= 0.0 if found.greater_is_better else pair.difference <= 0.0
    return (pair.a, pair.b) if ahead else (pair.b, pair.a)


def _value(found: Comparison, value: float) -> str:
    """Write a score: an accuracy in per cent."""
    return f"{100.0 * value:.1f} %" if found.score_name == "accuracy" else f"{value:.4f}"


def _gap(found: Comparison, value: float) -> str:
    """Write a difference of scores: one of accuracies in percentage points."""
    return f"{100.0 * value:.1f}" if found.score_name == "accuracy" else f"{value:.4f}"


def _wrapped(text: str) -> str:
    """Break text into lines, but not between a number and its unit."""
    for kept in (" %", "p = ", "p < "):
        text = text.replace(kept, kept.replace(" ", "\xa0"))
    return fill(text, WIDTH).replace("\xa0", " ")


def _percent(found: Comparison) -> str:
    return f"{100.0 * (1.0 - found.level):g} %"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.3g}"


def _often(p: float) -> str:
    """Say how often something of this probability happens."""
    if p >= 0.995:
        return "in nearly every such comparison"
    if p >= 0.01:
        return f"in about {100.0 * p:.0f} of 100 such comparisons"
    if p >= 0.001:
        return f"in about {1000.0 * p:.0f} of 1,000 such comparisons"
    return "in fewer than 1 of 1,000 such comparisons"


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Replace infinite numbers by None, which every file format knows."""
    found = {}
    for key, value in values.items():
        infinite = isinstance(value, float) and math.isinf(value)
        found[key] = _finite(value) if isinstance(value, dict) else None if infinite else value
    return found
