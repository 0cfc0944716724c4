"""Compile a loop with numba, and keep the result on disk where that is possible.

numba's own cache ends the work where there is no place for it, where the disk is full, or where a
file was cut. Here the work goes on, with one warning. And a loop that was kept is loaded without
numba's registries of everything that could be compiled, which takes two thirds of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, ClassVar

import numba
from numba.core import caching as numba_caching
from numba.core.runtime.nrt import rtsys

from tallybayes.errors import TallyBayesWarning, warn
from tallybayes.kernels import terminal

# Up to here it is known what of numba a loop needs that is loaded, not compiled.
KNOWN = (0, 68)
PATIENCE = 1.0  # seconds of compiling before a word is said on the terminal
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
        _say("compiling loops in the background, once on this machine; later it is faster")
        here = Path(__file__).parents[2]
        path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
        with suppress(OSError):
            compiler = subprocess.Popen(
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it may end after this process
            )
            compiler.returncode = 0  # nobody waits for it
    return False


def _say(what: str) -> bool:
    """Say what takes long, if there is a terminal, and no program that says such things itself."""
    listening = not terminal.silent and sys.stderr is not None and sys.stderr.isatty()
    if listening:
        print(f"tallybayes: {what} ...", file=sys.stderr)
    return listening


def _tell(why: str) -> None:
    """Warn, once in a process."""
    if REMEDY not in _told:
        _told.add(REMEDY)
        warn(f"{why}, so every process compiles them anew; {REMEDY}", TallyBayesWarning)


class _Forgetful(caching.NullCache):  # type: ignore[misc]
    """Keeps nothing; numba asks it before it compiles a loop, and tells it afterwards.

    Once compiling has taken a second in all, that is said on a terminal.
    """

    spent: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self._begun: list[tuple[float, Timer]] = []  # a loop may need another one

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return nothing: numba compiles the loop now."""
        timer = Timer(max(0.0, PATIENCE - _Forgetful.spent), _announce)
        timer.daemon = True
        self._begun.append((time.perf_counter(), timer))
        with suppress(RuntimeError):  # there may be no room for a thread
            timer.start()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Note that the loop is compiled."""
        if self._begun:
            start, timer = self._begun.pop()
            timer.cancel()
            _Forgetful.spent += time.perf_counter() - start


def _announce() -> None:
    """Say, once in a process, that loops are being compiled."""
    if "compiling" not in _told and _say("compiling loops, once on this machine"):
        _told.add("compiling")


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

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._compiling = _Forgetful()

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
        return found if found is not None else self._compiling.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a loop, if there is room."""
        self._compiling.save_overload(sig, data)
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _tell(f"compiled loops cannot be kept in {self.cache_path} ({error})")
