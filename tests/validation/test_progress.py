"""A line on the terminal for work that takes long, and silence otherwise."""

import io
from types import SimpleNamespace

import pytest

from tallybayes.validation import progress as module
from tallybayes.validation.progress import progress


class Terminal(io.StringIO):
    """What is written to a terminal, or to something else."""

    terminal = True

    def isatty(self):
        return self.terminal


@pytest.fixture
def terminal(monkeypatch):
    """Stand in for the terminal, and for the clock, which goes on only when it is told to."""
    written = Terminal()
    written.now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: written.now))
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=written))
    return written


def worked(items, terminal, seconds=1.0, last=None):
    """Go through items, each of which takes so many seconds, up to the last one."""
    seen = []
    for item in progress(items, "fold by fold"):
        seen.append(item)
        terminal.now += seconds
        if item == last:
            break
    return seen


@pytest.mark.parametrize(("items", "seconds"), [([], 60.0), (["a"], 0.0), (list(range(50)), 1.0)])
def test_all_items_come_in_their_order_and_nothing_is_written_elsewhere(items, seconds, terminal):
    assert worked(items, terminal, seconds) == items
    terminal.terminal = False
    before = terminal.getvalue()
    assert worked(items, terminal, seconds) == items
    assert terminal.getvalue() == before


def test_slow_work_says_how_far_it_has_come_and_wipes_it_away(terminal):
    worked(range(8), terminal, last=6)
    lines = [line.strip() for line in terminal.getvalue().split("\r") if line.strip()]
    assert lines[0] == "tallybayes: fold by fold, 3 of 8, 5 s to go"
    assert lines[-1] == "tallybayes: fold by fold, 6 of 8, 2 s to go"
    assert len(lines) == 4
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\r" + " " * 72 + "\r")
