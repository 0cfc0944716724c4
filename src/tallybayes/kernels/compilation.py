"""Compile a loop with numba, and keep the result on disk where that is possible.

numba's own cache ends the work where there is no place for it, where the disk is full, or where a
file was cut. Here the work goes on, with one warning. And a loop that was kept is loaded without
numba's registries of everything that could be compiled, which takes two thirds of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching as numba_caching
from numba.core.runtime.nrt import rtsys

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.kernels import progress

# Up to here it is known what of numba a loop needs that is loaded, not compiled.
KNOWN = (0, 68)
REMEDY = "set NUMBA_CACHE_DIR to a folder that can be written"

caching: Any = numba_caching  # has no types
_InTree: Any = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator
_told: set[str] = set()


def loop(*fastmath: str) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of a loop; `fastmath` names what LLVM may do to its arithmetic."""

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(nogil=True, error_model="numpy", fastmath=set(fastmath))
        dispatcher: Any = compiled(function)
        dispatcher._cache = _Forgetful()
        with suppress(OSError):
            try:
                dispatcher._cache = _Kept(function)
            except RuntimeError:  # numba found no place
                _tell("there is no folder to keep compiled loops in")
        return dispatcher

    return decorate


def kept_or_compiling(loops: Sequence[Any], script: str) -> bool:
    """Tell whether loops were compiled on this machine; if not, a process runs a script that does.

    It is started once, and not where its work would be lost.
    """
    if not all(isinstance(each._cache, _Kept) for each in loops):
        return False
    if all(each._cache.holds_something() for each in loops):
        return True
    if script not in _told and sys.executable and not getattr(sys, "frozen", False):
        _told.add(script)
        _announce("compiling loops in the background, once on this machine; later it is faster")
        path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
        with suppress(OSError):
            compiler = subprocess.Popen(
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it may end after this process
            )
            compiler.returncode = 0  # nobody waits for it
    return False


def _announce(what: str = "compiling loops, once on this machine") -> None:
    """Say on a terminal, once in a process, that numba compiles, unless a program speaks itself."""
    if progress.heard() and what not in _told:
        _told.add(what)
        print(f"tallybayes: {what} ...", file=sys.stderr)


def _tell(why: str) -> None:
    """Warn, once in a process."""
    if REMEDY not in _told:
        _told.add(REMEDY)
        warn(f"{why}, so every process compiles them anew; {REMEDY}", TallyBayesWarning)


class _Forgetful(caching.NullCache):  # type: ignore[misc]
    """Keeps nothing, so that numba compiles the loop in every process."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Say that the loop is compiled now."""
        _announce()


class _ReadOnly(_InTree):  # type: ignore[misc]
    """Finds loops that were compiled when an image was built, beside sources nobody may change."""

    def ensure_cache_path(self) -> None:
        """Be content with a folder that holds compiled loops."""
        if not any(Path(self.get_cache_path()).glob("*.nbi")):
            raise OSError("there are no compiled loops here")


class _Places(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Where to keep loops: as numba does it, or where some are that can only be read."""

    _locator_classes: ClassVar[Any] = [
        each
        for known in caching.CompileResultCacheImpl._locator_classes
        for each in ((known, _ReadOnly) if known is _InTree else (known,))
    ]


class _Kept(caching.FunctionCache):  # type: ignore[misc]
    """Keeps a loop on disk for each type of data it was compiled for, as well as it can."""

    _impl_class = _Places

    def holds_something(self) -> bool:
        """Tell whether the loop was compiled for some type of data."""
        with suppress(Exception):  # a damaged file is seen to when the loop is needed
            return bool(self._cache_file._load_index())
        return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the loop, or None for numba to compile it."""
        try:
            if tuple(map(int, numba.__version__.split(".")[:2])) <= KNOWN:
                rtsys.initialize(target_context)
            else:
                target_context.refresh()
            found = self._load_overload(sig, target_context)
        except Exception:  # a file was cut or damaged: what is written next replaces it
            found = None
            with suppress(OSError):
                self.flush()
        if found is None:
            _announce()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a loop, if there is room."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _tell(f"compiled loops cannot be kept in {self.cache_path} ({error})")
