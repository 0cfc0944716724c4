"""Which twin of a kernel to use: plain NumPy for small inputs, numba for large ones.

Importing numba takes 0.3 s, loading its cache 0.5 s, and the first compilation on a machine some
seconds. A ten-row table must not wait for any of it; once numba is loaded it pays off early, and
once a kernel was used for some type of data, always.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tallybayes.kernels import plain, terminal

WORTH_LOADING = 1_000_000  # cells
WORTH_CALLING = 2_000  # cells, once numba is loaded
OFTEN = 50  # calls with fewer cells that make it worth while too

_compiled: ModuleType | None = None
_text: ModuleType | None = None
_warm: set[tuple[object, ...]] = set()
_calls: dict[tuple[object, ...], int] = {}


def loops_for(n_cells: int, *used: object) -> ModuleType:
    """Return the module of kernels, `compiled` or `plain`, that suits so many cells.

    `used` names the kernel and the types it is used for: if it has been compiled for them, it is
    the faster one for a single cell too; so it is compiled when it is called often.
    """
    if used in _warm:
        return load_compiled()
    large = n_cells >= (WORTH_LOADING if _compiled is None else WORTH_CALLING)
    if _compiled is not None and used and not large:
        _calls[used] = _calls.get(used, 0) + 1
        large = _calls[used] > OFTEN
    if not large:
        return plain
    if used:
        _warm.add(used)
    return load_compiled()


def is_loaded() -> bool:
    """Tell whether the compiled kernels are at hand."""
    return _compiled is not None


def expect(n_cells: int) -> None:
    """Prepare for so many cells in all, even if they arrive in small blocks."""
    if n_cells >= WORTH_LOADING:
        load_compiled()


def load_compiled() -> ModuleType:
    """Import the compiled kernels for numbers, categories and counts."""
    global _compiled
    if _compiled is None:
        _compiled = _imported("compiled", "moments")
    return _compiled


def text_is_loaded() -> bool:
    """Tell whether the compiled kernels for text are at hand."""
    return _text is not None


def load_text() -> ModuleType:
    """Import the compiled kernels for text, and those for everything else."""
    global _text
    if _text is None:
        load_compiled()
        _text = _imported("compiled_bags", "bags")
    return _text


def _imported(name: str, kernel: str) -> ModuleType:
    """Import a module of kernels; say so on a terminal if one of them has yet to be compiled."""
    module = import_module(f"tallybayes.kernels.{name}")
    listening = not terminal.silent and sys.stderr is not None and sys.stderr.isatty()
    if listening and not _is_cached(getattr(module, kernel)):
        print("tallybayes: compiling kernels, once on this machine ...", file=sys.stderr)
    return module


def _is_cached(kernel: Any) -> bool:
    """Tell whether numba has compiled a kernel on this machine before."""
    folder = getattr(getattr(kernel, "_cache", None), "cache_path", None)
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-*.nbi"
    return folder is not None and any(Path(folder).glob(name))
