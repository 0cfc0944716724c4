"""Whole jobs on files and tables: train, predict, evaluate, compare, explain, change, report.

The command line only parses what the user writes, and renders what these functions return.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "training": ("Trained", "preview", "train"),
    "prediction": ("Predicted", "predict"),
    "evaluation": ("TunedModel", "compare", "evaluate", "tune_spec"),
    "changing": ("Changed", "forget", "learned", "merge", "merge_into", "update"),
    "records": ("explain", "inspect", "record_in", "record_of", "sample"),
    "reporting": ("Reported", "report"),
    "warmup": ("warm_up",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    """Import what is asked for: most jobs need a part of the library only."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
