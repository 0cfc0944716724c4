"""A line on the terminal for work that takes long, and silence otherwise."""

import io
from types import SimpleNamespace

import pytest

from tallybayes.validation import progress as module
from tallybayes.validation.progress import progress


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Stand in for the clock: it goes on only when it is told to."""
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def terminal(monkeypatch):
    """Stand in for the terminal."""
    written = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=written))
    return written


def worked(items, clock, seconds):
    """Go through items, each of which takes so many seconds."""
    seen = []
    for item in progress(items, "fold by fold"):
        seen.append(item)
        clock[0] += seconds
    return seen


@pytest.mark.parametrize(("items", "seconds"), [([], 60.0), (["a"], 0.0), (list(range(50)), 1.0)])
def test_all_items_come_in_their_order(items, seconds, clock, terminal):
    assert worked(items, clock, seconds) == items


def test_nothing_is_written_where_there_is_no_terminal(clock, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=written))
    assert worked(range(5), clock, 60.0) == [0, 1, 2, 3, 4]
    assert written.getvalue() == ""


def test_slow_work_says_how_far_it_has_come(clock, terminal):
    worked(range(8), clock, 1.0)
    lines = [line.strip() for line in terminal.getvalue().split("\r") if line.strip()]
    assert lines[0] == "tallybayes: fold by fold, 3 of 8, 5 s to go"
    assert lines[-1] == "tallybayes: fold by fold, 7 of 8, 1 s to go"
    assert len(lines) == 5
    assert "\n" not in terminal.getvalue()


def test_it_is_wiped_away_too_when_the_work_ends_early(clock, terminal):
    for item in progress(range(8), "fold by fold"):
        clock[0] += 1.0
        if item == 5:
            break
    assert "5 of 8" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r" + " " * 72 + "\r")
