"""What `tune` found as aligned text, as HTML and as what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tallybayes.metrics import GREATER_IS_BETTER
from tallybayes.metrics.tables import html_table, text_table

if TYPE_CHECKING:
    from tallybayes.validation.tuning.tuning import Tuned

MOST_SHOWN = 20
WIDEST = 48


def as_text(tuned: Tuned) -> str:
    """Return the table and what there is to say about it as lines of text."""
    below = [*_below(tuned), *(f"note: {note}" for note in tuned.notes)]
    return "\n\n".join([_title(tuned), text_table(*_table(tuned)), "\n".join(below)])


def as_html(tuned: Tuned) -> str:
    """Return the same as a section of HTML."""
    table = html_table(_title(tuned), *_table(tuned))
    below = "".join(f"<p>{escape(line)}</p>" for line in _below(tuned))
    notes = "".join(f"<li>{escape(note)}</li>" for note in tuned.notes)
    notes = f'<ul aria-label="Notes">{notes}</ul>' if notes else ""
    return f'<section aria-label="Tuning">{table}{below}{notes}</section>'


def as_dict(tuned: Tuned) -> dict[str, Any]:
    """Return the same as dicts and lists; what is undefined or was not worked out is None."""
    return {
        "score": tuned.score,
        "greater_is_better": GREATER_IS_BETTER[tuned.score],
        "held_out": tuned.held_out,
        "best_params": _plain(tuned.best_params),
        "best_score": _or_none(tuned.best_score),
        "rule": tuned.rule,
        "candidates": [
            {
                "params": _plain(candidate.params),
                "score": _or_none(candidate.score),
                "standard_error": _or_none(candidate.standard_error),
                "training": _or_none(candidate.training),
                "chosen": place == tuned.chosen,
            }
            for place, candidate in enumerate(tuned.candidates)
        ],
        "nested": None if tuned.nested is None else tuned.nested.to_dict(),
        "notes": list(tuned.notes),
    }


def listed(params: Mapping[str, Any]) -> str:
    """Write parameters in one line."""
    if not params:
        return "the model as it is"
    return ", ".join(f"{name}={_short(value)}" for name, value in params.items())


def _title(tuned: Tuned) -> str:
    n = len(tuned.candidates)
    which = "greater" if GREATER_IS_BETTER[tuned.score] else "less"
    return (
        f"{n} candidate{'s' if n > 1 else ''}, by {tuned.score} ({which} is better) of "
        f"{tuned.held_out}"
    )


def _table(tuned: Tuned) -> tuple[list[str], list[list[str]]]:
    """Return a header and lines: the best candidates, and the chosen one wherever it stands."""
    names = list(dict.fromkeys(name for each in tuned.candidates for name in each.params))
    lines = []
    for rank, place in enumerate(tuned.ranked, start=1):
        if rank > MOST_SHOWN and place != tuned.chosen:
            continue
        candidate = tuned.candidates[place]
        lines.append(
            [
                f"{rank} chosen" if place == tuned.chosen else str(rank),
                *(_short(candidate.params[n]) if n in candidate.params else "" for n in names),
                _decimals(candidate.score),
                _decimals(candidate.standard_error),
                _decimals(candidate.training),
            ]
        )
    return ["place", *names, tuned.score, "standard error", "training"], lines


def _below(tuned: Tuned) -> list[str]:
    """Return what is said below the table."""
    rest = len(tuned.candidates) - len(_table(tuned)[1])
    said = [f"and {rest} more candidate{'s' if rest > 1 else ''}"] if rest else []
    said.append(f"chosen: {listed(tuned.best_params)}; {tuned.rule}")
    training = tuned.candidates[tuned.chosen].training
    numbers = f"training {_decimals(training)} / held-out {_decimals(tuned.best_score)}"
    if tuned.nested is None:
        said.append(f"{tuned.score}: {numbers}")
        said.append(
            "the held-out score is optimistic: the candidate was chosen by it; nested=5 scores "
            "the choice itself too"
        )
        return said
    said.append(f"{tuned.score}: {numbers} / nested {_decimals(tuned.nested[tuned.score])}")
    said.append(
        "nested: rows that had no part in fitting or choosing the model that predicts them; "
        f"{tuned.nested.notes[0]}"
    )
    return said


def _decimals(value: float | None) -> str:
    """Write a score with four decimals; nothing if it was not worked out."""
    if value is None:
        return ""
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _short(value: Any) -> str:
    """Write a parameter on one line, cut if it is long."""
    value = value.item() if isinstance(value, np.generic) else value
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can hold them; what it cannot hold is written out."""
    found = {}
    for name, value in params.items():
        value = value.item() if isinstance(value, np.generic) else value
        found[name] = value if isinstance(value, str | bool | int | float | None) else repr(value)
    return found
