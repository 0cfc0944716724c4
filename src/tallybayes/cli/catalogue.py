"""Which commands there are, in the order of the help, and where each one lives.

The short help stands here and not with the commands, so that `tallybayes --help` imports none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """Where a command lives, as module:name, and what it does, in a line."""

    where: str
    about: str


def _entry(where: str, about: str) -> Entry:
    return Entry(f"tallybayes.cli.commands.{where}", about)


SECTIONS: Mapping[str, Mapping[str, Entry]] = {
    "Learn": {
        "fit": _entry("fit:fit", "Learn a model from data and save it."),
        "tune": _entry("tune:tune", "Try options on held-out rows and keep the best."),
    },
    "Use": {
        "predict": _entry("predict:predict", "Predict the class of every row."),
        "explain": _entry("explain:explain", "Show what speaks for each class, factor by factor."),
        "inspect": _entry("inspect:inspect", "Show what a model has counted and estimated."),
        "sample": _entry("sample:sample", "Draw plausible rows from a model."),
    },
    "Judge": {
        "evaluate": _entry("evaluate:evaluate", "Score a model, or a way to make one."),
        "compare": _entry("compare:compare", "Tell which of several models is better."),
        "report": _entry("report:report", "Write a page about a model that people keep."),
    },
    "Change": {
        "update": _entry("change:update", "Learn more rows."),
        "forget": _entry("change:forget", "Take rows away again, as if never seen."),
        "merge": _entry("change:merge", "Add models of different rows together."),
    },
    "Rest": {
        "demo": _entry("demo:demo", "Walk through the examples of three lectures."),
        "warmup": _entry("warmup:warmup", "Compile all kernels ahead of time."),
        "completion": _entry("completion:completion", "Print what makes a shell complete words."),
    },
}
