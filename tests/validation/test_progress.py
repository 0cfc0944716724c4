"""A line on the terminal for work that takes long, and silence otherwise."""

import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from tallybayes import SemiNaiveBayes
from tallybayes.kernels import progress as reporting
from tallybayes.validation import progress as module
from tallybayes.validation.progress import ProgressLine, progress

LONG = 600.0  # as it is outside of tests


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
    monkeypatch.setattr(module, "LONG", LONG)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: written.now))
    for place in (module, reporting):
        monkeypatch.setattr(place, "sys", SimpleNamespace(stderr=written))
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


def test_short_phases_in_a_row_are_not_silent_together(terminal):
    terminal.now += 1e9  # whatever ran before
    for _ in range(3):  # of 1.5 s
        worked(range(3), terminal, 0.5)
    lines = [line.strip() for line in terminal.getvalue().split("\r") if line.strip()]
    assert lines[0] == "tallybayes: fold by fold, 2 of 3, 0 s to go"  # after 2.5 s
    assert "tallybayes: fold by fold, 0 of 3" in lines
    terminal.now += 10.0  # something else
    before = terminal.getvalue()
    worked(range(3), terminal, 0.5)
    assert terminal.getvalue() == before


def test_notebooks_hear_too_and_programs_that_speak_themselves_do_not(terminal, monkeypatch):
    terminal.terminal = False
    monkeypatch.setattr(Terminal, "__module__", "ipykernel.iostream")
    worked(range(5), terminal)
    assert "fold by fold, 3 of 5" in terminal.getvalue()
    before = terminal.getvalue()
    monkeypatch.setattr(reporting, "silent", True)
    worked(range(5), terminal)
    assert terminal.getvalue() == before


def test_work_on_several_threads_is_one_line_and_work_of_unknown_length_says_what_is_done(terminal):
    line = ProgressLine("pairs")
    terminal.now += 4.0
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: line.advance(1_000), range(999)))
    terminal.now += 4.0
    line.advance(1_000)
    assert "tallybayes: pairs, 1,000 of 1,000, 0 s to go" in terminal.getvalue()
    terminal.now += 4.0
    line.tell(7)
    assert "tallybayes: pairs, 7 so far, 12 s" in terminal.getvalue()


def test_a_search_for_joints_is_never_silent_for_long(terminal, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", -1.0)
    monkeypatch.setattr(module, "EVERY", -1.0)
    x = np.random.default_rng(0).normal(size=(300, 4))
    SemiNaiveBayes().fit(x, x[:, 0] * x[:, 1] > 0)
    said = terminal.getvalue()
    for what in ("leaving rows out of columns", "weighing evidence", "looking at columns together"):
        assert f"tallybayes: {what}, " in said


@pytest.mark.parametrize(("seconds", "said"), [(400.0, True), (60.0, False)])
def test_what_takes_very_long_is_foretold_once_where_nobody_sees_the_line(terminal, seconds, said):
    terminal.terminal = False
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        worked(range(10), terminal, seconds)
    line = "this will take about 60 min more: fold by fold, 1 of 10 are done after 7 min"
    assert [str(each.message) for each in heard] == [line] * said
    assert terminal.getvalue() == ""


def test_work_within_work_is_foretold_while_the_first_part_goes_on(terminal):
    terminal.terminal = False
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in progress(range(10), "fold by fold"):
            terminal.now += 30.0  # what nobody counts
            worked(range(5), terminal, 40.0)
    # a part of 40 s of five, after 30 s: a fold takes 230 s, and nine more come
    line = "this will take about 37 min more: fold by fold, 0 of 10 are done after 70 s"
    assert [str(each.message) for each in heard] == [line]


def test_nothing_is_foretold_where_the_line_says_it_or_silence_was_asked_for(terminal, monkeypatch):
    worked(range(10), terminal, 400.0)  # warnings are errors
    assert "1 of 10, 60 min to go" in terminal.getvalue()
    terminal.terminal = False
    monkeypatch.setattr(reporting, "silent", True)
    worked(range(10), terminal, 400.0)
