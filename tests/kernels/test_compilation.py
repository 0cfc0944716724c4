"""Compiled loops are kept on disk; where that cannot be, work goes on with one warning."""

import errno
import importlib.util
import io
import sys
import warnings
from unittest.mock import Mock

import numpy as np
import pytest

from tallybayes.errors import TallyBayesWarning
from tallybayes.kernels import compilation

SOURCE = """
from tallybayes.kernels.compilation import loop

@loop("contract")
def total(x):
    sum = 0.0
    for i in range(len(x)):
        sum += x[i]
    return sum
"""
ONES = np.ones(3)


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(compilation, "_told", set())


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """Return a function that makes the loop anew, as a new process does."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    file = tmp_path / "loops.py"
    file.write_text(SOURCE)

    def made():
        spec = importlib.util.spec_from_file_location("loops", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.total

    return made


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Leave no place to keep anything."""
    (tmp_path / "__pycache__").write_text("a file, where a folder is wanted")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "/dev/null")


def kept(tmp_path):
    return sorted(each for each in (tmp_path / "__pycache__").iterdir() if "total" in each.name)


def hits(loop):
    """Call it, and tell whether it was loaded."""
    assert loop(ONES) == 3.0
    return sum(loop.stats.cache_hits.values())


def test_a_loop_is_compiled_once_and_loaded_from_then_on(loop, tmp_path):
    assert [hits(loop()) for _ in range(3)] == [0, 1, 1]
    assert [each.suffix for each in kept(tmp_path)] == [".nbc", ".nbi"]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [b"", b"\x80\x04cut", b"not a pickle\n" * 40])
def test_a_file_that_was_cut_or_damaged_is_replaced(loop, tmp_path, suffix, damage):
    loop()(ONES)
    for file in kept(tmp_path):
        if file.suffix == suffix:
            file.write_bytes(damage)
    assert [hits(loop()) for _ in range(2)] == [0, 1]


@pytest.fixture
def full(monkeypatch):
    """Leave no room on the disk."""
    no_room = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(compilation.caching.IndexDataCacheFile, "_save_data", no_room)


@pytest.mark.parametrize(("trouble", "told"), [("full", "No space left"), ("nowhere", "no folder")])
def test_without_a_place_or_room_the_loop_is_compiled_and_that_is_told_once(
    loop, trouble, told, request
):
    request.getfixturevalue(trouble)
    with pytest.warns(TallyBayesWarning, match=f"{told}.*NUMBA_CACHE_DIR") as said:
        assert [hits(loop()) for _ in range(2)] == [0, 0]
    assert len(said) == 1


def test_loops_that_came_with_an_image_are_used_by_those_who_may_not_write(loop, monkeypatch):
    loop()(ONES)
    refuse = Mock(side_effect=PermissionError("read-only"))
    monkeypatch.setattr(compilation.caching.tempfile, "TemporaryFile", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hits(loop()) == 1
    monkeypatch.setattr(compilation.caching.os, "replace", refuse)
    with pytest.warns(TallyBayesWarning, match="NUMBA_CACHE_DIR"):
        loop()(ONES.astype(np.float32))


@pytest.fixture
def started(monkeypatch):
    """List what processes would have been started."""
    popen = Mock()
    monkeypatch.setattr(compilation.subprocess, "Popen", popen)
    return popen.call_args_list


def test_loops_that_were_never_compiled_are_compiled_elsewhere_once(loop, started):
    for _ in range(2):
        assert not compilation.kept_or_compiling([loop()], "pass")
    assert [call.args for call in started] == [([sys.executable, "-c", "pass"],)]
    loop()(ONES)
    assert compilation.kept_or_compiling([loop()], "pass")


@pytest.mark.usefixtures("nowhere")
def test_no_process_compiles_what_cannot_be_kept(loop, started):
    with pytest.warns(TallyBayesWarning, match="NUMBA_CACHE_DIR"):
        assert not compilation.kept_or_compiling([loop()], "pass")
    assert started == []


@pytest.mark.parametrize("terminal", [True, False])
def test_compiling_is_announced_on_a_terminal_once(loop, monkeypatch, terminal):
    stderr = io.StringIO()
    stderr.isatty = lambda: terminal
    monkeypatch.setattr("sys.stderr", stderr)
    for kind in (np.float64, np.float32):
        loop()(ONES.astype(kind))
    assert stderr.getvalue().count("compiling loops") == terminal
