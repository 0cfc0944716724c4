"""Which twin of a kernel to use: plain NumPy for small work, numba for large work.

Importing numba takes 0.3 s, loading its cache as long, and the first compilation on a machine some
seconds. A ten-row table must not wait for any of it. The size of the work alone decides, never
what ran before: twins differ in the last digits, and the same call must give the same answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tallybayes.kernels import plain, terminal
from tallybayes.kernels.threads import over_rows

# Cells (times classes, where each class is scored) from which on compiled loops are used. Just
# below, NumPy takes 1 to 5 ms; loading the loops takes a hundred times as long.
LARGE = 200_000

_whole: ContextVar[int] = ContextVar("cells of the work that a call is part of", default=0)
_compiled: ModuleType | None = None
_text: ModuleType | None = None


def loops_for(n_cells: int) -> ModuleType:
    """Return the module of kernels, `compiled` or `plain`, that suits so many cells."""
    return load_compiled() if max(n_cells, _whole.get()) >= LARGE else plain


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
