"""Which twin of a kernel to use: plain NumPy for small work, numba for large work.

Importing numba takes 0.3 s, loading its cache as long, and the first compilation on a machine some
seconds. A ten-row table must not wait for any of it. The size of the work alone decides, never
what ran before: twins differ in the last digits, and the same call must give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.kernels import plain
from tallybayes.kernels.threads import over_rows

# Cells (times classes, where each class is scored) from which on compiled loops are used. Just
# below, NumPy takes 1 to 5 ms; loading the loops takes a hundred times as long.
LARGE = 200_000
# Bytes of text that take as long to read in plain Python as the loops for text to compile.
WORTH_COMPILING = 50_000_000

_whole: ContextVar[int] = ContextVar("cells of the work that a call is part of", default=0)
_loaded: dict[str, ModuleType | None] = {}
_text_is_ready = False


def is_large(n_cells: int = 0) -> bool:
    """Tell whether so many cells, or the work that they are part of, pay for compiled loops."""
    return max(n_cells, _whole.get()) >= LARGE


def loops_for(n_cells: int) -> ModuleType:
    """Return the module of kernels, `compiled` or `plain`, that suits so many cells."""
    return load_compiled() if is_large(n_cells) else plain


def run(
    kernel: str, n_rows: int, n_cells: int, arguments: Callable[[slice], tuple[Any, ...]]
) -> list[Any]:
    """Call the twin of a kernel that suits so many cells on blocks of rows, on all threads.

    `arguments` returns what to call it with for a block; returned is what each block gave.
    """
    twin = getattr(loops_for(n_cells), kernel)
    return over_rows(lambda rows: twin(*arguments(rows)), n_rows, n_cells)


@contextmanager
def part_of(n_cells: int) -> Iterator[None]:
    """Choose the twins inside the block for work of so many cells, of which calls do a part."""
    before = _whole.set(max(n_cells, _whole.get()))
    try:
        yield
    finally:
        _whole.reset(before)


def load_compiled() -> ModuleType:
    """Import the compiled kernels for numbers, categories and counts, or else the plain ones."""
    return _imported("compiled") or plain


def text_is_loaded() -> bool:
    """Tell whether the compiled kernels for text are at hand."""
    return _text_is_ready


def load_text(n_bytes: float = math.inf) -> Any:
    """Import the compiled kernels for text; None if so many bytes are read sooner without them.

    Compiling them, once on a machine, takes longer than reading some documents in plain Python. So
    another process compiles while these are read; both readers give the same counts.
    """
    global _text_is_ready
    module = _imported("compiled_text")
    if module is not None and not _text_is_ready:
        _text_is_ready = n_bytes >= WORTH_COMPILING or module.are_kept()
    return module if _text_is_ready else None


def _imported(name: str) -> ModuleType | None:
    """Import a module of kernels, once; None if numba cannot be loaded."""
    if name not in _loaded:
        try:
            _loaded[name] = import_module(f"tallybayes.kernels.{name}")
        except (ImportError, OSError, MemoryError, RuntimeError) as error:
            if all(_loaded.values()):
                warn(
                    f"numba cannot be loaded ({error}), so large data take longer; give the "
                    "process more memory, or install numba anew",
                    TallyBayesWarning,
                )
            _loaded[name] = None
    return _loaded[name]
