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

from tallybayes.kernels import plain

WORTH_LOADING = 1_000_000  # cells
WORTH_CALLING = 2_000  # cells, once numba is loaded

_compiled: ModuleType | None = None
_text: ModuleType | None = None
_warm: set[tuple[object, ...]] = set()


def loops_for(n_cells: int, *used: object) -> ModuleType:
    """Return the module of kernels, `compiled` or `plain`, that suits so many cells.

    `used` names the kernel and the types it is used for: if it has been compiled for them, it is
    the faster one for a single cell too.
    """
    if used in _warm:
        return load_compiled()
    if n_cells >= (WORTH_LOADING if _compiled is None else WORTH_CALLING):
        if used:
            _warm.add(used)
        return load_compiled()
    return plain


def is_loaded() -> bool:
    """Tell whether the compiled kernels are at hand."""
    return _compiled is not None


def expect(n_cells: int) -> None:
    """Prepare for so many cells in all, even if they arrive in small blocks."""
    if n_cells >= WORTH_LOADING:
        load_compiled()


def load_compiled() -> ModuleType:
    """Import the compiled kernels; on a terminal, say so when they have yet to be compiled."""
    global _compiled
    if _compiled is None:
        loaded = import_module("tallybayes.kernels.compiled")
        if sys.stderr.isatty() and not _is_cached(loaded):
            print("tallybayes: compiling kernels, once on this machine ...", file=sys.stderr)
        _compiled = loaded
    return _compiled


def text_is_loaded() -> bool:
    """Tell whether the compiled kernels for text are at hand."""
    return _text is not None


def load_text() -> ModuleType:
    """Import the compiled kernels for text, and those for everything else."""
    global _text
    if _text is None:
        load_compiled()
        _text = import_module("tallybayes.kernels.compiled_bags")
    return _text


def _is_cached(compiled: ModuleType) -> bool:
    """Tell whether numba has compiled kernels on this machine before."""
    folder = getattr(getattr(compiled.moments, "_cache", None), "cache_path", None)
    return folder is not None and any(Path(folder).glob("compiled.*.nbi"))
